//! Tests of sessions: pausing, draining, cancelling and ending runs from outside.

use crate::common::build::{self, OC3};
use crate::common::build::{ms, us};
use crate::common::engines::{result, under};
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{Resolved, expected, run_tally};
use cellyard_engine::units::{BitRate, Time};
use cellyard_engine::{Kernel, Options, RunError, Session, run};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static NEVER: AtomicBool = AtomicBool::new(false);

fn at(milliseconds: u64) -> Time {
    Time::ZERO + ms(milliseconds)
}

/// Two congested ports in a row, recorded by every kind of probe.
const WATCHED: &str = r#"
duration = "300 ms"
host = [{ name = "a", count = 6 }, { name = "c", count = 6 }, { name = "sink" }]
switch = [{ name = "west", ubr = { buffer = "300 cells" } }, { name = "east", ubr = { buffer = "300 cells", drop = "drop-from-front" } }]
link = [
    { from = "a", to = "west", rate = "155.52 Mbps", delay = "5 us" },
    { from = "c", to = "east", rate = "155.52 Mbps", delay = "5 us" },
    { from = "west", to = "east", rate = "155.52 Mbps", delay = "5 ms" },
    { from = "east", to = "sink", rate = "155.52 Mbps", delay = "5 us" },
]
vc = [
    { name = "v", from = "a", to = "sink", traffic = "tcp" },
    { name = "w", from = "c", to = "sink", traffic = "tcp" },
]
probe = [
    { what = "trace", of = "v1" },
    { what = "trace", of = "w1" },
    { what = "queue", of = "west->east" },
    { what = "cwnd", of = "v1" },
    { what = "cwnd", of = "v2", interval = "1 ms" },
    { what = "goodput", of = "v1", interval = "3 ms" },
    { what = "link-share", of = "east->sink", interval = "3 ms" },
    { what = "drops", of = "east->sink", interval = "3 ms" },
]
"#;

#[test]
fn what_is_drained_in_parts_is_what_is_recorded_in_one_go() {
    let net = read_toml(WATCHED, "", &[]).expect("it reads");
    let whole = run(&net, None, &Options::default(), &NEVER).expect("it runs");
    assert!(whole.trace.len() > 100 && whole.series.iter().all(|s| s.value.len() > 20));
    let mut session = Session::new(&net, None, &Options::default()).expect("it can be built");
    let mut series = vec![(Vec::new(), Vec::new()); whole.series.len()];
    let mut trace = Vec::new();
    let mut reached = Time::ZERO;
    for part in 1..=3_000 {
        let until = Time::ZERO + us(100 * part);
        let now = session.advance_until(until, &NEVER).expect("it runs");
        assert!(now >= until.min(session.end()) && now >= reached);
        reached = now;
        let (parts, dropped) = session.drain();
        for (all, part) in series.iter_mut().zip(parts) {
            all.0.extend(part.time_s);
            all.1.extend(part.value);
        }
        trace.extend(dropped);
    }
    let rest = session.finish();
    for ((mut all, last), whole) in series.into_iter().zip(&rest.series).zip(&whole.series) {
        all.0.extend(&last.time_s);
        all.1.extend(&last.value);
        assert_eq!(
            all,
            (whole.time_s.clone(), whole.value.clone()),
            "{}",
            whole.what
        );
    }
    trace.extend(rest.trace.clone());
    assert_eq!(trace, whole.trace);
    assert_eq!(
        (rest.totals, rest.vcs, rest.ports),
        (whole.totals, whole.vcs, whole.ports)
    );
}

fn tcps() -> Scenario {
    let tcp = |_| Traffic::Tcp(Box::new(build::tcp()));
    let delay = us(5);
    build::dumbbell(3, delay, ms(30), None, DropPolicy::TailDrop, tcp)
}

fn unfinished(kernel: Kernel) {
    let net = tcps();
    let mut session = Session::new(&net, None, &under(kernel)).expect("it can be built");
    let reached = session.advance_until(at(1), &NEVER).expect("it runs");
    assert!(at(1) <= reached && reached < session.end());
    session.finish();
}

#[test]
#[should_panic(expected = "the run has not ended")]
fn a_run_that_has_not_ended_has_no_result() {
    unfinished(Kernel::Auto);
}

#[test]
#[should_panic(expected = "the run has not ended")]
fn a_twin_that_has_not_ended_has_no_result() {
    unfinished(Kernel::Twin);
}

#[test]
fn runs_can_be_cancelled_under_every_kernel() {
    let net = tcps();
    for kernel in [Kernel::Auto, Kernel::Slotted, Kernel::Twin] {
        let cancelled = run(&net, None, &under(kernel), &AtomicBool::new(true));
        assert_eq!(cancelled.err(), Some(RunError::Cancelled), "{kernel:?}");
    }
}

/// No host event ends a step in a network of single cells while a burst lasts.
#[test]
fn a_long_burst_can_be_paused_soon() {
    let vbr = |rate| build::vbr(rate, ms(20_000), ms(20_000));
    let (delay, duration) = (us(5), ms(40_000));
    let rates = [BitRate(77_760_000), BitRate(5_184_000)];
    let net = build::dumbbell(2, delay, duration, None, DropPolicy::TailDrop, |i| {
        vbr(rates[i])
    });
    let mut session = Session::new(&net, None, &Options::default()).expect("it can be built");
    let reached = session.advance_until(at(1), &NEVER).expect("it runs");
    assert!(reached < at(50), "{reached:?}");
}

/// Steps are bounded in cells, not in time: at 1 Tb/s, two milliseconds bring a million cells.
#[test]
fn a_burst_at_a_fast_link_can_be_paused_as_soon() {
    let text = r#"
duration = "10 s"
host = [{ name = "a", count = 2 }, { name = "b" }]
switch = [{ name = "w", ubr = { buffer = "10 cells" } }]
link = [{ from = "a", to = "w", rate = "1 Tbps" }, { from = "w", to = "b", rate = "1 Tbps" }]
vc = [{ from = "a", to = "b", class = "ubr", traffic = { kind = "vbr", on = "10 s", off = "1 s" } }]
probe = [{ what = "trace", of = "vc" }]
"#;
    let net = read_toml(text, "", &[]).expect("it reads");
    let mut session = Session::new(&net, None, &Options::default()).expect("it can be built");
    let reached = session.advance_until(Time(1), &NEVER).expect("it runs");
    assert!(reached < Time::ZERO + us(10));
    let (_, dropped) = session.drain();
    assert!(dropped.len() < 20_000, "{}", dropped.len());
    // Checks must be only a bounded number of cells apart, so that the limit of points holds.
    let cancelled = session.advance_until(at(1), &AtomicBool::new(true));
    assert_eq!(cancelled.err(), Some(RunError::Cancelled));
    let (_, dropped) = session.drain();
    assert!(dropped.len() < 20_000, "{}", dropped.len());
}

/// A burst takes more than one step where each cell is handled individually, as on a lossy link.
#[test]
fn a_burst_over_a_lossy_link_goes_bit_by_bit() {
    let text = r#"
duration = "10 s"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "w" }]
link = [{ from = "a", to = "w", rate = "155.52 Mbps" }, { from = "w", to = "b", rate = "155.52 Mbps", lose_probability = 1.0 }]
vc = [{ name = "v", from = "a", to = "b", traffic = { kind = "vbr", on = "5 s", off = "1 s" } }]
probe = [{ what = "trace", of = "v" }]
"#;
    let first_link = text.replacen(
        "rate = \"155.52 Mbps\"",
        "rate = \"155.52 Mbps\", lose_probability = 1.0",
        1,
    );
    let net = read_toml(&first_link, "", &[]).expect("it reads");
    let mut session = Session::new(&net, None, &Options::default()).expect("it can be built");
    session.advance_until(Time(1), &NEVER).expect("it runs");
    let (_, dropped) = session.drain();
    assert!(dropped.len() < 10_000, "{}", dropped.len());
}

/// Sums over many cells that waited long: two bursts at one port, whose queue grows for seconds.
#[test]
fn two_long_bursts_at_one_port_are_the_same_under_each_kernel() {
    let vbr = build::vbr(OC3, ms(3_000), ms(10_000));
    for delay in [us(5), ms(4_000)] {
        let duration = ms(20_000);
        let net = build::dumbbell(2, delay, duration, None, DropPolicy::TailDrop, |_| {
            vbr.clone()
        });
        let [fast, slotted] =
            [Kernel::Auto, Kernel::Slotted].map(|kernel| result(&net, None, kernel));
        assert!(fast.vcs[0].cells_delivered > 1_000_000);
        assert_eq!(fast, slotted);
    }
}

/// Both lose their first cell when its transmission ends, 50 us after the start. The slower one
/// gets there first.
const LOST_AT_ONCE: &str = r#"
duration = "1 ms"
host = [{ name = "a" }, { name = "b" }, { name = "x" }, { name = "y" }]
switch = [{ name = "west" }, { name = "east" }]
link = [
    { from = "a", to = "west", rate = "42.4 Mbps", delay = "20 us" },
    { from = "b", to = "east", rate = "42.4 Mbps", delay = "20 us" },
    { from = "west", to = "x", rate = "42.4 Mbps", delay = "20 us", lose_frames = [0] },
    { from = "east", to = "y", rate = "21.2 Mbps", delay = "20 us", lose_frames = [0] },
]
vc = [
    { name = "v", from = "a", to = "x", traffic = "tcp", start = "10 us" },
    { name = "w", from = "b", to = "y", traffic = "tcp" },
]
probe = [{ what = "trace", of = "v" }, { what = "trace", of = "w" }]
"#;

#[test]
fn what_is_lost_at_one_time_is_told_in_the_order_of_links() {
    let scenario = read_toml(LOST_AT_ONCE, "", &[]).expect("a valid scenario");
    for kernel in [Kernel::Auto, Kernel::Slotted] {
        let trace = result(&scenario, None, kernel).trace;
        let at_once = trace.iter().filter(|d| d.time_s == trace[0].time_s);
        let ports: Vec<_> = at_once.map(|d| d.port.as_str()).collect();
        assert_eq!(ports, ["west->x", "east->y"], "{kernel:?}");
    }
}

/// A drained run may record more than its memory holds at once, but never more than a run may
/// record in total.
#[test]
fn what_is_drained_does_not_count_as_memory_and_counts_as_recorded() {
    let text = |duration: &str| {
        format!(
            r#"
duration = "{duration}"
host = [{{ name = "a", count = 2 }}, {{ name = "b" }}]
switch = [{{ name = "w", ubr = {{ buffer = "10 cells" }} }}]
link = [{{ from = "a", to = "w", rate = "1 Gbps" }}, {{ from = "w", to = "b", rate = "1 Gbps" }}]
vc = [{{ from = "a", to = "b", class = "ubr", traffic = {{ kind = "cbr", rate = "1 Gbps" }} }}]
probe = [{{ what = "queue", of = "w->b", every = 1 }}, {{ what = "trace", of = "vc1" }}]
"#
        )
    };
    let net = read_toml(&text("500 ms"), "", &[]).expect("it reads");
    let options = Options {
        memory: Some(40_000_000),
        pause_above: Some(1_000_000),
        ..Options::default()
    };
    let whole = run(&net, None, &options, &NEVER);
    assert!(matches!(whole, Err(RunError::Grown { .. })));
    let drained = |net: &Scenario| -> Result<usize, RunError> {
        let mut session = Session::new(net, None, &options)?;
        let mut found = 0;
        while session.advance_until(Time::NEVER, &NEVER)? < session.end() {
            let (series, dropped) = session.drain();
            let points = series[0].value.len();
            assert!(points + dropped.len() < 30_000, "{points}");
            found += points + dropped.len();
        }
        Ok(found)
    };
    let found = drained(&net).expect("it runs");
    assert!(found > 1_000_000, "{found}");
    let net = read_toml(&text("10 s"), "", &[]).expect("it reads");
    let Err(RunError::Points { probe, points, all }) = drained(&net) else {
        panic!("there is no limit");
    };
    assert!(
        all > 10_000_000 && points > all / 4 && all < 10_100_000,
        "{all}"
    );
    assert!(probe.contains("the probe"), "{probe}");
}

/// A burst of a thousand million cells takes more than one step, for every caller.
#[test]
fn a_long_burst_is_cancelled_from_another_thread() {
    let vbr = build::vbr(OC3, ms(3_000_000), ms(3_000_000));
    let (delay, duration) = (us(5), ms(3_000_000));
    let net = build::dumbbell(2, delay, duration, Some(100), DropPolicy::TailDrop, |_| {
        vbr.clone()
    });
    for kernel in [Kernel::Auto, Kernel::Slotted] {
        let options = under(kernel);
        let cancel = AtomicBool::new(false);
        let waited = std::thread::scope(|scope| {
            let run = scope.spawn(|| run(&net, None, &options, &cancel).err());
            std::thread::sleep(Duration::from_millis(100));
            assert!(
                !run.is_finished(),
                "the burst is too short to tell anything"
            );
            let asked = Instant::now();
            cancel.store(true, Ordering::Relaxed);
            assert_eq!(run.join().expect("no panic"), Some(RunError::Cancelled));
            asked.elapsed()
        });
        assert!(waited < Duration::from_secs(1), "{kernel:?}: {waited:?}");
    }
}

/// Memory that grows unexpectedly ends the run, and the error names what grew.
#[test]
fn what_a_run_gathers_keeps_the_limit_of_memory() {
    let net = |duration: &str, rest: &str| {
        let text = format!(
            r#"
duration = "{duration}"
host = [{{ name = "a", count = 2 }}, {{ name = "b" }}]
switch = [{{ name = "w", ubr = {{ buffer = "10 cells" }} }}]
link = [{{ from = "a", to = "w", rate = "155.52 Mbps" }}, {{ from = "w", to = "b", rate = "155.52 Mbps" }}]
{rest}
"#
        );
        read_toml(&text, "", &[]).expect("it reads")
    };
    let cells = r#"vc = [{ from = "a", to = "b", class = "ubr", traffic = { kind = "cbr", rate = "155.52 Mbps" } }]"#;
    let watch = |what: &str| format!("{cells}\nprobe = [{{ what = {what} }}]");
    // A frame takes more than half a second on the link and is sent again every millisecond.
    let again = r#"vc = [{ from = "a", to = "b", traffic = { kind = "tcp", mss = "65487 bytes", rwnd = "65487 bytes", granularity = "1 ms",
  min_rto = "1 ms", initial_rto = "1 ms", max_rto = "1 ms" } }]"#;
    let slow = |text: Scenario| {
        let mut net = text;
        net.links
            .iter_mut()
            .for_each(|link| link.rate = BitRate(1_000_000));
        net
    };
    for (scenario, limit, named) in [
        (
            net("1 s", &watch(r#""queue", of = "w->b", every = 1"#)),
            30_000_000,
            "the probe queue of w->b",
        ),
        (
            net("1 s", &watch(r#""trace", of = "vc""#)),
            30_000_000,
            "from the probe trace of vc",
        ),
        (
            slow(net("10000 s", again)),
            1_000_000,
            "frames that wait at hosts",
        ),
    ] {
        let options = Options {
            memory: Some(limit),
            ..Options::default()
        };
        let found = run(&scenario, None, &options, &NEVER).map(|result| result.totals);
        let Err(RunError::Grown { cause, need, .. }) = found else {
            panic!("{named}: {found:?}");
        };
        assert!(cause.contains(named), "{cause}");
        // The excess must be noticed early.
        assert!(limit < need && need < 2 * limit, "{need} of {limit} bytes");
    }
    let watched = net("1 s", &watch(r#""trace", of = "vc""#));
    assert!(run(&watched, None, &Options::default(), &NEVER).is_ok());
}

/// One ABR VC whose RM cells answer each other for ever (Nrm = 2).
const ANSWERING: &str = r#"
duration = "DURATION"
host = [{ name = "a" }, { name = "b" }]
link = [
    { name = "there", from = "a", to = "b", rate = "10 Mbps", delay = "1 ms", duplex = false },
    { name = "back", from = "b", to = "a", rate = "10 Mbps", delay = "1 ms", duplex = false },
]
vc = [{ from = "a", to = "b", class = "abr", stop = "10 ms", abr = { nrm = 2 }, traffic = { kind = "udp", datagram_size = "100 bytes", rate = "1 Mbps" } }]
"#;

#[test]
fn a_twin_that_keeps_more_rm_cells_than_it_may_ends() {
    let text = ANSWERING.replace("DURATION", "10 s");
    let scenario = read_toml(&text, "", &[]).expect("it reads");
    let options = |kernel| Options {
        kernel,
        memory: Some(2_000_000),
        ..Options::default()
    };
    let found = run(&scenario, None, &options(Kernel::Twin), &NEVER).map(|result| result.totals);
    let Err(RunError::Grown {
        cause, need, limit, ..
    }) = found
    else {
        panic!("{found:?}");
    };
    assert!(
        cause.contains("RM cells that the reference engine keeps"),
        "{cause}"
    );
    assert!(limit < need && need < 2 * limit, "{need} of {limit} bytes");
    assert!(run(&scenario, None, &options(Kernel::Auto), &NEVER).is_ok());
}

#[test]
fn rm_cells_that_answer_each_other_are_foreseen() {
    for (duration, pcr, nrm) in [
        ("1 s", "10 Mbps", 2),
        ("10 s", "10 Mbps", 2),
        ("10 s", "1 Mbps", 2),
        ("1 s", "10 Mbps", 4),
        ("1 s", "10 Mbps", 32),
    ] {
        let abr = format!("abr = {{ nrm = {nrm}, pcr = \"{pcr}\" }}");
        let text = ANSWERING.replace("DURATION", duration);
        let text = text.replace("abr = { nrm = 2 }", &abr);
        let scenario = read_toml(&text, "", &[]).expect("it reads");
        let net = Resolved::new(&scenario).expect("it holds together");
        let foreseen = expected(&net).cells;
        let tally = run_tally(&scenario, None, Kernel::Auto, false).expect("it runs");
        let sent = tally.link_cells.iter().sum::<u64>() as f64;
        let ratio = foreseen / sent;
        println!("{duration}, {pcr}, Nrm {nrm}: {foreseen} foreseen, {sent} sent");
        assert!(
            (0.25..4.0).contains(&ratio),
            "{duration}, {pcr}, Nrm {nrm}: {ratio}"
        );
    }
}
