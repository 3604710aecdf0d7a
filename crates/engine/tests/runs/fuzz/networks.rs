//! Fuzzes random and hostile networks. Every run must keep to `invariants`, be repeatable, and
//! agree under every kernel and with the twin.

use super::campaign::{self, Input, Outcome};
use crate::common::build::{ms, us};
use crate::common::draws::Draws;
use crate::common::hostile::hostile;
use crate::common::random::{self, Case};
use crate::common::{abr, build, differences, invariants};
use cellyard_engine::results::RunResult;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{AbrTally, run_tally};
use cellyard_engine::units::{BitRate, Span};
use cellyard_engine::{Kernel, Options, RunError, run};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::path::Path;

/// A random network.
struct Network(Case);

impl Input for Network {
    fn files(&self) -> Vec<(&'static str, String)> {
        let replication = format!("# replication: {:?}\n", self.0.replication);
        vec![("toml", replication + &write_toml(&self.0.scenario))]
    }
}

/// The case of `strategy` that `draws` determines.
fn drawn(strategy: &impl Strategy<Value = Case>, draws: &mut Draws) -> Case {
    let seed: Vec<u8> = (0..4).flat_map(|_| draws.next().to_le_bytes()).collect();
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    strategy.new_tree(&mut runner).expect("a case").current()
}

/// Outcome of a network under a kernel.
enum Made {
    Result(Box<RunResult>),
    /// The kernel was forced and does not apply.
    Nothing,
    /// An error that says why the run cannot continue.
    Stopped(RunError),
}

fn run_with(case: &Case, kernel: Kernel, digest: bool) -> Result<Made, String> {
    let options = Options {
        kernel,
        digest,
        ..Options::default()
    };
    match run(&case.scenario, case.replication, &options, campaign::over()) {
        Ok(result) => Ok(Made::Result(Box::new(result))),
        Err(RunError::Kernel { .. }) => Ok(Made::Nothing),
        Err(RunError::Scenario(error)) => Err(format!("the reader accepted it: {error}")),
        Err(error) => Ok(Made::Stopped(error)),
    }
}

/// The result on which every kernel agrees, or `None` if every kernel stops.
fn result(case: &Case) -> Result<Option<RunResult>, String> {
    let first = run_with(case, Kernel::Auto, true)?;
    // Without the digest, more cells are handled at once.
    let all = Kernel::ALL.map(|kernel| [(kernel, true), (kernel, false)]);
    for (kernel, digest) in all.into_iter().flatten() {
        let mut other = run_with(case, kernel, digest)?;
        if let (Made::Result(first), Made::Result(other)) = (&first, &mut other)
            && !digest
        {
            other.digest.clone_from(&first.digest);
        }
        match (&first, &other) {
            (_, Made::Nothing) | (Made::Stopped(_), Made::Stopped(_)) => {}
            (Made::Result(first), Made::Result(other)) if first == other => {}
            (Made::Result(_), Made::Result(_)) => {
                let tally = |kernel| run_tally(&case.scenario, case.replication, kernel, digest);
                let counters =
                    tally(kernel).and_then(|a| Ok(differences(&a, &tally(Kernel::Auto)?)));
                return Err(format!("{kernel:?} (left) is not auto:\n{counters:?}"));
            }
            (Made::Stopped(error), Made::Result(_)) => {
                return Err(format!("auto stops, {kernel:?} does not: {error}"));
            }
            (Made::Result(_), Made::Stopped(error)) => {
                return Err(format!("{kernel:?} stops, auto does not: {error}"));
            }
            (Made::Nothing, _) => return Err("no kernel applies".into()),
        }
    }
    match first {
        Made::Result(result) => Ok(Some(*result)),
        Made::Stopped(_) => Ok(None),
        Made::Nothing => Err("no kernel applies".into()),
    }
}

fn check(network: &Network) -> Result<Outcome, String> {
    let text = write_toml(&network.0.scenario);
    let Ok(scenario) = read_toml(&text, "fuzz.toml", &[]) else {
        return Ok(Outcome::Refused);
    };
    // A random case may set options that its kind ignores; the reader's output never does.
    if read_toml(&write_toml(&scenario), "fuzz.toml", &[]).as_ref() != Ok(&scenario) {
        return Err("reads back as another scenario".into());
    }
    let case = Case {
        scenario,
        ..network.0.clone()
    };
    let Some(result) = result(&case)? else {
        return Ok(Outcome::Refused);
    };
    let tally = run_tally(&case.scenario, case.replication, Kernel::Auto, true);
    let tally = tally.map_err(|error| error.to_string())?;
    invariants::check(&case.scenario, &result, &tally)?;
    Ok(Outcome::Accepted)
}

#[test]
fn ordinary_networks_keep_every_invariant() {
    let strategy = random::cases(2_000);
    let make = |draws: &mut Draws| Network(drawn(&strategy, draws).readable());
    let counts = campaign::run("networks", 300, make, check);
    if campaign::is_small() {
        assert!(counts.accepted > 200, "{counts:?}");
    }
}

#[test]
fn hostile_networks_keep_every_invariant_or_are_refused() {
    let strategy = random::cases(300);
    let make = |draws: &mut Draws| Network(hostile(drawn(&strategy, draws), draws));
    let counts = campaign::run("hostile", 1_000, make, check);
    // The campaign is useful only if most cases run.
    if campaign::is_small() {
        assert!(counts.accepted > 500, "{counts:?}");
    }
}

/// Networks that once broke a promise, below `found/`. A first line states the replication.
#[test]
fn networks_that_once_broke_a_promise_keep_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs/fuzz/found");
    let files = std::fs::read_dir(folder).expect("the folder of networks");
    for file in files {
        let path = file.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let number = text.lines().next().and_then(|line| {
            let number = line.strip_prefix("# replication: Some(")?;
            number.strip_suffix(')')?.parse().ok()
        });
        let scenario = read_toml(&text, "found.toml", &[])
            .unwrap_or_else(|problems| panic!("{}: {}", path.display(), problems[0]));
        let case = Case {
            scenario,
            replication: number,
        };
        let found = check(&Network(case));
        assert_eq!(found, Ok(Outcome::Accepted), "{}", path.display());
    }
}

/// The hostile networks are useful only if much happens in them, at each end of the scales.
#[test]
fn hostile_networks_make_everything_happen() {
    let strategy = random::cases(300);
    let mut seen = [0usize; 16];
    for number in 0..600 {
        let mut draws = Draws::of_case(2, number);
        let case = hostile(drawn(&strategy, &mut draws), &mut draws);
        let text = write_toml(&case.scenario);
        let Ok(net) = read_toml(&text, "fuzz.toml", &[]) else {
            continue;
        };
        let tally = run_tally(&net, case.replication, Kernel::Auto, false).expect("it runs");
        let of_tcp = |is: fn(&TcpParams) -> bool| {
            net.vcs
                .iter()
                .any(|vc| matches!(&vc.traffic, Traffic::Tcp(tcp) if is(tcp)))
        };
        let rates = || net.links.iter().map(|link| link.rate.0);
        let cells: u64 = tally.link_cells.iter().sum();
        let of_end_systems = |is: fn(&AbrTally) -> bool| {
            let all = tally.vcs.iter().flat_map(|vc| &vc.abr);
            all.into_iter().any(is)
        };
        // RM cells of Nrm = 2 answer each other for ever, and once made a network take minutes.
        assert!(cells < 200_000, "network {number}: {cells} cells");
        let happened = [
            cells > 100,
            cells > 10_000,
            tally.flows.iter().any(|flow| flow.cells_dropped > 0),
            tally.flows.iter().any(|flow| flow.frames_damaged > 0),
            tally.flows.iter().any(|flow| flow.cells_not_sent > 1_000),
            tally.vcs.iter().any(|vc| vc.sender.timeouts > 0),
            tally.vcs.iter().any(|vc| vc.sender.timeouts > 100),
            tally.vcs.iter().any(|vc| vc.sender.fast_retransmits > 0),
            rates()
                .min()
                .zip(rates().max())
                .is_some_and(|(a, b)| b / a > 10_000),
            net.duration > ms(100_000),
            of_tcp(|tcp| tcp.mss > 60_000) && of_tcp(|tcp| tcp.mss < 50),
            of_tcp(|tcp| tcp.min_rto < us(10) && tcp.rwnd > 1 << 24),
            of_end_systems(|end| end.backward_taken > 100),
            of_end_systems(|end| end.overwritten > 0),
            of_end_systems(|end| end.out_of_rate > 0),
            of_end_systems(|end| end.max_waiting > 1_000),
        ];
        for (count, happened) in seen.iter_mut().zip(happened) {
            *count += usize::from(happened);
        }
    }
    println!("{seen:?} of 600");
    assert!(seen.iter().all(|&n| n >= 4), "{seen:?}");
}

/// Checks that each corrupted number of a result is found.
#[test]
fn a_result_that_breaks_an_invariant_is_found() {
    let second = ms(1_000);
    let tcp = |_| Traffic::Tcp(Box::new(build::tcp()));
    let delay = us(5);
    let net = build::dumbbell(2, delay, second, Some(100), DropPolicy::TailDrop, tcp);
    let case = Case::of(net);
    let right = result(&case).expect("it runs").expect("a result");
    let counts = run_tally(&case.scenario, None, Kernel::Auto, true).expect("it runs");
    let check = |result: &RunResult, tally| invariants::check(&case.scenario, result, tally);
    assert_eq!(check(&right, &counts), Ok(()));
    let spoilt: [fn(&mut RunResult); 17] = [
        |r| r.totals.fairness = Some(0.0),
        |r| r.totals.fairness = Some(1.01),
        |r| r.totals.goodput_mbps = f64::NAN,
        |r| r.totals.efficiency = Some(f64::INFINITY),
        |r| r.vcs[0].goodput_mbps = -1.0,
        |r| r.totals.max_queue_cells += 1,
        |r| r.ports[0].arrived_cells += 1,
        |r| r.ports[0].held_cells += 1,
        |r| r.ports[0].utilisation = 1.001,
        |r| r.ports[0].mean_queue_cells = 1e6,
        |r| {
            r.ports
                .iter_mut()
                .for_each(|p| p.classes[0].buffer_cells = Some(0))
        },
        |r| r.vcs[0].cells_sent = r.vcs[0].cells_delivered - 1,
        |r| r.vcs[0].mean_cell_transfer_delay_s = Some(10.0),
        |r| r.classes[0].cells_sent += 1,
        |r| r.vcs[0].frames_lost = r.vcs[0].frames_sent,
        |r| r.vcs[0].frame_loss_ratio = None,
        |r| r.totals.frame_loss_ratio = Some(0.0),
    ];
    for (number, spoil) in spoilt.into_iter().enumerate() {
        let mut result = right.clone();
        spoil(&mut result);
        assert!(check(&result, &counts).is_err(), "number {number}");
    }
    let mut fast = counts.clone();
    fast.link_cells[0] = 366_793; // one more than 155.52 Mb/s carry in a second
    assert!(check(&right, &fast).is_err());
    let mut early = counts.clone();
    early.vcs[0].delay.min = (delay * 3).0;
    assert!(check(&right, &early).is_err());
}

/// Checks that each corrupted count of an end system is found.
#[test]
fn a_tally_of_end_systems_that_breaks_an_invariant_is_found() {
    let (delay, duration) = (us(5), ms(50));
    let tcp = |_| Traffic::Tcp(Box::new(build::tcp()));
    let mut net = build::dumbbell(2, delay, duration, None, DropPolicy::TailDrop, tcp);
    for vc in &mut net.vcs {
        vc.class = Class::Abr;
        vc.abr = Some(abr::usual());
    }
    abr::tell(&mut net, Feedback::Erica(abr::erica()));
    let case = Case::of(net);
    let result = result(&case).expect("it runs").expect("a result");
    let right = run_tally(&case.scenario, None, Kernel::Auto, true).expect("it runs");
    let check = |tally: &_| invariants::check(&case.scenario, &result, tally);
    assert_eq!(check(&right), Ok(()));
    let spoilt: [fn(&mut AbrTally); 9] = [
        |end| end.acr = -1.0,
        |end| end.acr *= 20.0,
        |end| end.allowed_cells *= 20.0,
        |end| end.forward_taken += 2,
        |end| end.overwritten += 2,
        |end| end.backward_sent += 2,
        |end| end.backward_taken += 1_000,
        |end| end.forward_sent += 4,
        |end| end.forward_sent -= 4,
    ];
    for (number, spoil) in spoilt.into_iter().enumerate() {
        let mut tally = right.clone();
        spoil(&mut tally.vcs[0].abr[0]);
        assert!(check(&tally).is_err(), "number {number}");
    }
}

/// A network that would run for days, run by the child process of the next test.
#[test]
#[ignore = "never ends by itself"]
fn an_endless_case() {
    let counts = campaign::run(
        "endless",
        1,
        |_| {
            let duration = ms(100_000_000);
            let traffic = |_| build::cbr(BitRate(70_000_000));
            let policy = DropPolicy::TailDrop;
            let scenario = build::dumbbell(2, Span::ZERO, duration, Some(10), policy, traffic);
            Network(Case::of(scenario))
        },
        |network| match result(&network.0) {
            Ok(_) => Ok(Outcome::Accepted),
            Err(fault) => Err(fault),
        },
    );
    assert_eq!((counts.accepted, counts.refused), (0, 0), "it was judged");
}

#[test]
fn a_time_limit_ends_a_case_that_is_running() {
    let tests = std::env::current_exe().expect("this program");
    let ended = std::process::Command::new(tests)
        .args(["--exact", "fuzz::networks::an_endless_case", "--ignored"])
        .env("FUZZ_SECONDS", "1")
        .env_remove("FUZZ_CASES")
        .output()
        .expect("it starts");
    let told = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && told.contains("1 passed"),
        "{told}"
    );
}
