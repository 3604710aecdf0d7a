//! Tests that ABR brings greedy sources to the max-min fair rates, with explicit rates known
//! beforehand or found by ERICA.

use crate::common;
use crate::common::build::{ms, us};
use crate::common::draws::Draws;
use crate::common::{abr, build};
use cellyard_engine::Kernel;
use cellyard_engine::format::{Clock, Format};
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{Tally, run_tally};
use cellyard_engine::units::{BitRate, Ratio, Span};

/// Rate of host links that are fast enough for all.
const FAST: u64 = 155_520_000;

fn cells_per_second(rate: BitRate) -> f64 {
    rate.0 as f64 / Format::AAL5.cell_bits as f64
}

fn mbps(rate: f64) -> BitRate {
    BitRate((rate * 1e6).round() as u64)
}

/// Endless data: large datagrams at line rate, or a TCP whose window is never reduced.
fn greedy(tcp: bool) -> Traffic {
    if tcp {
        return Traffic::Tcp(Box::new(TcpParams {
            mss: 9_132,
            rwnd: 1 << 20,
            initial_window: 50,
            initial_rto: ms(3_000),
            ..build::tcp()
        }));
    }
    build::datagrams(9_132, BitRate(FAST))
}

/// A VC that takes all it can get. Rates are in cells per second.
#[derive(Clone, Debug)]
struct Wants {
    mcr: f64,
    pcr: f64,
    weight: f64,
    /// Links that limit the VC.
    links: Vec<usize>,
}

/// Max-min fair rates above MCR, by weight. All grow together until a link is full or a PCR is
/// reached.
fn water_filling(vcs: &[Wants], links: &[f64]) -> Vec<f64> {
    let mut rates: Vec<f64> = vcs.iter().map(|vc| vc.mcr).collect();
    let mut grows = vec![true; vcs.len()];
    while grows.contains(&true) {
        let growth = |vc: usize| if grows[vc] { vcs[vc].weight } else { 0.0 };
        let crossing =
            |link: usize| (0..vcs.len()).filter(move |&vc| vcs[vc].links.contains(&link));
        let room = |link: usize| links[link] - crossing(link).map(|vc| rates[vc]).sum::<f64>();
        let speed = |link: usize| crossing(link).map(growth).sum::<f64>();
        let at_link = (0..links.len())
            .filter(|&l| speed(l) > 0.0)
            .map(|l| room(l) / speed(l));
        let at_pcr = (0..vcs.len())
            .filter(|&vc| grows[vc])
            .map(|vc| (vcs[vc].pcr - rates[vc]) / vcs[vc].weight);
        let step = at_link.chain(at_pcr).fold(f64::INFINITY, f64::min).max(0.0);
        for (vc, rate) in rates.iter_mut().enumerate() {
            *rate += growth(vc) * step;
        }
        let nearly = 1e-9;
        let room = |link: usize| {
            let taken: f64 = (0..vcs.len())
                .filter(|&vc| vcs[vc].links.contains(&link))
                .map(|vc| rates[vc])
                .sum();
            links[link] - taken
        };
        let full: Vec<bool> = (0..links.len())
            .map(|l| room(l) <= nearly * links[l])
            .collect();
        for vc in 0..vcs.len() {
            let held = vcs[vc].links.iter().any(|&link| full[link]);
            grows[vc] &= !held && rates[vc] < vcs[vc].pcr * (1.0 - nearly);
        }
    }
    rates
}

/// A random network: a tree of switches, with each VC between its own two hosts. At most 20
/// links, each with its backward link.
struct Random {
    net: Scenario,
    /// Per VC, the links out of switches on its data's path, then on the path back.
    ways: Vec<[Vec<usize>; 2]>,
}

/// Links of the tree from one switch to another.
fn way(parents: &[usize], from: usize, to: usize) -> Vec<usize> {
    let up = |mut s: usize| {
        let mut all = vec![s];
        while s != 0 {
            s = parents[s];
            all.push(s);
        }
        all
    };
    let (mut a, mut b) = (up(from), up(to));
    while a.len() > 1 && b.len() > 1 && a[a.len() - 2] == b[b.len() - 2] {
        a.pop();
        b.pop();
    }
    b.pop();
    a.extend(b.into_iter().rev());
    a
}

/// What varies in a random network.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    /// MCRs and weights.
    Shares,
    /// Neither MCRs nor weights.
    Equal,
    /// Neither, and all data flow away from one switch. No link carries returning cells and
    /// data.
    OneWay,
}

impl Random {
    fn new(draws: &mut Draws, duration: Span, warm_up: Span, kind: Of) -> Random {
        let minimum = kind == Of::Shares;
        let mut net = build::network(duration);
        net.measure.warm_up = warm_up;
        let switches = 1 + draws.below(6);
        let mut parents = vec![0];
        let name = |s: usize| format!("s{s}");
        for s in 0..switches {
            net.switches
                .push(build::switch(name(s), None, DropPolicy::TailDrop));
            if s > 0 {
                parents.push(draws.below(s));
                let rate = mbps(draws.one_of(&[10.0, 20.0, 30.0, 50.0, 100.0]));
                let delay = us(draws.magnitude(1, 500));
                net.links
                    .extend(build::links(&name(parents[s]), &name(s), rate, delay));
            }
        }
        let most = ((20 - (switches - 1)) / 2).min(8);
        let vcs = 1 + draws.below(most);
        for i in 0..vcs {
            let (mut from, to) = (draws.below(switches), draws.below(switches));
            if kind == Of::OneWay {
                let up = way(&parents, to, 0);
                from = draws.one_of(&up);
            }
            let (a, b) = (format!("a{i}"), format!("b{i}"));
            let last = if draws.chance(30) {
                mbps(draws.one_of(&[5.0, 12.0, 40.0]))
            } else {
                mbps(80.0)
            };
            net.hosts.extend([build::host(&a), build::host(&b)]);
            let delay = us(draws.magnitude(1, 500));
            net.links
                .extend(build::links(&a, &name(from), BitRate(FAST), delay));
            net.links.extend(build::links(&name(to), &b, last, delay));
            let route: Vec<String> = way(&parents, from, to).into_iter().map(name).collect();
            let route: Vec<&str> = route.iter().map(String::as_str).collect();
            let mut vc = build::vc(
                &format!("v{i}"),
                &a,
                &b,
                &route,
                Class::Abr,
                greedy(draws.chance(20)),
            );
            let least = if minimum && draws.chance(40) {
                1 + draws.below(5) as u64
            } else {
                0
            };
            vc.weight = if minimum {
                1 + draws.below(3) as u64
            } else {
                1
            };
            vc.abr = Some(AbrParams {
                // Eight times at most a tenth of the lowest rate, 5 Mb/s or more, stays below nine
                // tenths.
                mcr: (least > 0).then_some(BitRate(least * 100_000)),
                icr: Some(BitRate(500_000)),
                pcr: draws
                    .chance(20)
                    .then(|| mbps(draws.one_of(&[3.0, 7.0, 15.0])))
                    .filter(|pcr| pcr.0 <= last.0),
                rif: draws.one_of(&[Ratio::new(1, 1), Ratio::new(1, 16)]),
                ..abr::usual()
            });
            net.vcs.push(vc);
        }
        let ways = net.vcs.iter().map(|vc| {
            let mut names: Vec<&str> = vc.route.iter().map(String::as_str).collect();
            names.insert(0, &vc.from);
            names.push(&vc.to);
            let there = names
                .windows(2)
                .skip(1)
                .map(|w| build::index_of(&net, w[0], w[1]));
            let back = names
                .windows(2)
                .rev()
                .skip(1)
                .map(|w| build::index_of(&net, w[1], w[0]));
            [there.collect(), back.collect()]
        });
        let ways = ways.collect();
        Random { net, ways }
    }

    /// VCs whose receivers may send more than twice what they send, on a link that `vc` crosses or
    /// that shares a VC with such a link.
    fn unused_allocations(&self, tally: &Tally, vc: usize) -> Vec<usize> {
        let seconds = self.net.duration.as_seconds(Clock::AAL5);
        let unused = |&other: &usize| {
            let end = &tally.vcs[other].abr[1];
            let sent = 32.0 * end.forward_sent as f64;
            self.ways[other][1]
                .iter()
                .any(|link| self.beside(vc).contains(link))
                && end.allowed_cells > 2.0 * sent.max(seconds)
        };
        (0..self.ways.len()).filter(unused).collect()
    }

    /// Links that a VC's data cross, and links of the data of other VCs that share a link with it.
    fn beside(&self, vc: usize) -> Vec<usize> {
        let own = &self.ways[vc][0];
        let shares = |ways: &&[Vec<usize>; 2]| ways[0].iter().any(|link| own.contains(link));
        let others = self.ways.iter().filter(shares);
        others.flat_map(|ways| ways[0].clone()).collect()
    }

    fn wants(&self) -> Vec<Wants> {
        let wants = |(vc, ways): (&Vc, &[Vec<usize>; 2])| {
            let abr = vc.abr.expect("it has end systems");
            Wants {
                mcr: abr.mcr.map_or(0.0, cells_per_second),
                pcr: abr
                    .pcr
                    .map_or(cells_per_second(BitRate(FAST)), cells_per_second),
                weight: vc.weight as f64,
                links: ways[0].clone(),
            }
        };
        self.net.vcs.iter().zip(&self.ways).map(wants).collect()
    }
}

fn run(net: &Scenario) -> Tally {
    run_tally(net, None, Kernel::Auto, false).expect("a run without errors")
}

/// Rate of arriving data in the measuring time, in cells per second, including the forward RM cells
/// before them.
fn rate(net: &Scenario, tally: &Tally, vc: usize) -> f64 {
    let seconds = (net.duration - net.measure.warm_up).as_seconds(Clock::AAL5);
    let nrm = net.vcs[vc].abr.expect("it has end systems").nrm as f64;
    tally.vcs[vc].delay.count as f64 / seconds * nrm / (nrm - 1.0)
}

/// Forward RM cells take 1/32 of a source's cells. Turned-round RM cells of the other direction
/// take less than 1/32 of that: 0.1 %.
#[test]
fn with_rates_known_beforehand_greedy_sources_get_the_max_min_fair_ones() {
    let (duration, warm_up) = (ms(330), ms(180));
    let mut worst = 0.0_f64;
    for number in 0..u64::from(common::cases(500)) {
        let mut draws = Draws::of_case(31, number);
        let mut random = Random::new(&mut draws, duration, warm_up, Of::Shares);
        let target = Ratio::new(draws.one_of(&[70, 80, 90]), 100);
        abr::tell(&mut random.net, Feedback::OracleRate { target });
        let links = random
            .net
            .links
            .iter()
            .map(|link| target.as_f64() * cells_per_second(link.rate));
        let fair = water_filling(&random.wants(), &links.collect::<Vec<_>>());
        let tally = run(&random.net);
        for (vc, fair) in fair.into_iter().enumerate() {
            let found = rate(&random.net, &tally, vc);
            let acr = tally.vcs[vc].abr[0].acr;
            // Tolerance of one cell in the measuring time.
            let cell = 1.0 / (duration - warm_up).as_seconds(Clock::AAL5);
            let off = ((found - fair).abs() - cell).max(0.0) / fair;
            worst = worst.max(off);
            assert!(
                off < 0.01 && (acr / fair - 1.0).abs() < 1e-6,
                "network {number}, VC {vc}: {found}, ACR {acr}, not {fair}"
            );
        }
    }
    println!("at most {:.2} % off", 100.0 * worst);
}

/// Max-min fair rates at the target utilisation, when returning RM cells take their part of each
/// link on the way back. Iterates, since that part depends on the rates.
fn rates_at_target(random: &Random, target: f64) -> Vec<f64> {
    let wants = random.wants();
    let full = |link: usize| target * cells_per_second(random.net.links[link].rate);
    let mut rates = vec![0.0; wants.len()];
    for _ in 0..20 {
        let mut links: Vec<f64> = (0..random.net.links.len()).map(full).collect();
        for (vc, ways) in random.ways.iter().enumerate() {
            for &link in &ways[1] {
                links[link] -= rates[vc] / 31.0;
            }
        }
        rates = water_filling(&wants, &links);
    }
    rates
}

/// ERICA over random networks. Returns the number of VCs; those more than 5 % off, by network and
/// VC; and those of them without a known cause. Prints all with their causes.
fn off_with_erica(seed: u64, kind: Of) -> (usize, Vec<(u64, usize)>, Vec<String>) {
    let (duration, warm_up) = (ms(1_000), ms(600));
    let (mut all, mut off, mut without_cause) = (0, Vec::new(), Vec::new());
    for number in 0..u64::from(common::cases(100)) {
        let mut random = Random::new(&mut Draws::of_case(seed, number), duration, warm_up, kind);
        let erica = EricaParams {
            interval: ms(5),
            ..erica_to_the_target()
        };
        abr::tell(&mut random.net, Feedback::Erica(erica));
        let fair = rates_at_target(&random, 0.9);
        let tally = run(&random.net);
        all += fair.len();
        for (vc, &fair) in fair.iter().enumerate() {
            let found = rate(&random.net, &tally, vc);
            if (found / fair - 1.0).abs() <= 0.05 {
                continue;
            }
            off.push((number, vc));
            let causes = random.unused_allocations(&tally, vc);
            let line = format!(
                "network {number}, VC {vc}: {:.3} of its rate; in addition to what comes back for VCs {causes:?}",
                found / fair
            );
            println!("{line}");
            if causes.is_empty() {
                without_cause.push(line);
            }
        }
    }
    println!("{kind:?}: {} of {all} VCs are more than 5 % off", off.len());
    (all, off, without_cause)
}

/// On links that carry data in one direction only, all VCs reach their rates.
///
/// Returning cells come from end systems that use little of their allocation. On links shared with
/// data, that allocation still counts as the largest of the previous interval and raises the
/// others. Then the load exceeds the target. VCs limited there get too much, or too little of
/// another link.
#[test]
fn erica_brings_greedy_sources_to_the_max_min_fair_rates_of_its_target() {
    let (all, off, _) = off_with_erica(33, Of::OneWay);
    assert!(off.len() * 100 <= all, "{off:?}");
    let (all, off, without_cause) = off_with_erica(32, Of::Equal);
    assert!(off.len() * 20 <= all, "{} of {all}", off.len());
    assert!(without_cause.is_empty(), "{without_cause:?}");
}

/// Senders a0, a1, ... over one link between s and t, each to its own host over a link of rate
/// `last` in Mb/s.
fn star(trunk: f64, last: &[f64], feedback: Feedback, tcp: bool) -> Scenario {
    let mut net = build::network(ms(1_500));
    net.measure.warm_up = ms(900);
    let delay = us(100);
    net.switches = ["s", "t"]
        .map(|s| build::switch(s, None, DropPolicy::TailDrop))
        .into();
    net.links.extend(build::links("s", "t", mbps(trunk), delay));
    for (i, &last) in last.iter().enumerate() {
        let (a, b) = (format!("a{i}"), format!("b{i}"));
        net.hosts.extend([build::host(&a), build::host(&b)]);
        net.links
            .extend(build::links(&a, "s", BitRate(FAST), delay));
        net.links.extend(build::links("t", &b, mbps(last), delay));
        let mut vc = build::vc(
            &format!("v{i}"),
            &a,
            &b,
            &["s", "t"],
            Class::Abr,
            greedy(tcp),
        );
        vc.abr = Some(abr::usual());
        net.vcs.push(vc);
    }
    abr::tell(&mut net, feedback);
    net
}

/// Checks that each VC gets the `wanted` rate in Mb/s of cells, including RM cells, within the
/// relative error.
fn gets(net: &Scenario, wanted: &[f64], within: f64) {
    let tally = run(net);
    for (vc, wanted) in wanted.iter().enumerate() {
        let found = rate(net, &tally, vc) * Format::AAL5.cell_bits as f64 / 1e6;
        println!("VC {vc}: {found:.3} Mb/s, wanted {wanted:.3}");
        assert!(
            (found / wanted - 1.0).abs() <= within,
            "VC {vc}: {found}, not {wanted}"
        );
    }
}

fn erica_to_the_target() -> EricaParams {
    EricaParams {
        delta: Ratio::new(0, 1),
        ..abr::erica()
    }
}

#[test]
fn two_sources_on_one_link_converge_to_equal_shares_of_the_target() {
    for tcp in [false, true] {
        for (first, second) in [(None, None), (None, Some(1.0)), (Some(1.0), Some(100.0))] {
            let mut net = star(
                50.0,
                &[FAST as f64 / 1e6; 2],
                Feedback::Erica(erica_to_the_target()),
                tcp,
            );
            net.vcs[1].start = ms(50);
            for (vc, icr) in net.vcs.iter_mut().zip([first, second]) {
                let abr = vc.abr.as_mut().expect("it has end systems");
                abr.icr = icr.map(mbps);
            }
            gets(&net, &[22.5; 2], 0.02);
        }
    }
}

/// The last link of VC 2 has 10 Mb/s, so the target is 9 Mb/s.
#[test]
fn a_source_held_elsewhere_leaves_its_share_to_the_others() {
    for tcp in [false, true] {
        let net = star(
            50.0,
            &[100.0, 100.0, 10.0],
            Feedback::Erica(erica_to_the_target()),
            tcp,
        );
        gets(&net, &[18.0, 18.0, 9.0], 0.03);
    }
}

/// The target is 134.784 of 149.76 Mb/s. VC 1 is limited to 40 Mb/s, and 34.784 remain above the
/// MCRs of the others.
#[test]
fn above_their_mcrs_the_others_share_equally_what_one_that_is_held_elsewhere_leaves() {
    let feedback = Feedback::EricaMcr(erica_to_the_target());
    let mut net = star(149.76, &[155.52, 40.0 / 0.9, 155.52], feedback, false);
    for (vc, mcr) in net.vcs.iter_mut().zip([10.0, 30.0, 50.0]) {
        let abr = vc.abr.as_mut().expect("it has end systems");
        abr.mcr = Some(mbps(mcr));
        abr.icr = Some(mbps(mcr));
    }
    let share = (149.76 * 0.9 - 40.0 - 10.0 - 50.0) / 2.0;
    gets(&net, &[10.0 + share, 40.0, 50.0 + share], 0.02);
}
