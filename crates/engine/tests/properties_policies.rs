//! Switching a policy on changes the outcome as its paper claims: TCPs on the LAN of the first study with 5 and 15 sources
//! and buffers of 1000, 2000 and 3000 cells, in ensembles (start jitter of 100 us, drawn timer phase and rotation), by the
//! fast engine. A single run is one draw of a chaotic system; what is compared are means over all configurations.

mod common;

use cellyard_engine::scenario::*;
use cellyard_engine::testing::DropReason;
use cellyard_engine::units::{Ratio, Span};
use common::build::{self, OC3};
use common::engines;

const SECONDS: u64 = 10;
const REPLICATIONS: u64 = 3;

/// Efficiency and Jain's fairness index of one run.
fn outcome(sources: usize, buffer: u64, drop: &DropPolicy, replication: u64) -> [f64; 2] {
    let mut net = build::dumbbell(
        sources,
        Span::from_microseconds(5),
        Span::from_milliseconds(1_000 * SECONDS),
        Some(buffer),
        drop.clone(),
        |_| Traffic::Tcp(Box::new(build::tcp())),
    );
    net.ensemble = Ensemble {
        start_jitter: Span::from_microseconds(100),
        timer_phase: true,
        tie_offset: true,
        vbr_phase: true,
    };
    let tally = engines::engine(&net, Some(replication));
    let bytes: Vec<f64> = tally.vcs.iter().map(|v| v.delivered_bytes as f64).collect();
    let sum: f64 = bytes.iter().sum();
    let squares: f64 = bytes.iter().map(|b| b * b).sum();
    let largest = OC3.0 as f64 / 8.0 * SECONDS as f64 * 512.0 / 636.0;
    [sum / largest, sum * sum / (sources as f64 * squares)]
}

/// Means of efficiency and fairness over all configurations and replications.
fn means(drop: DropPolicy) -> [f64; 2] {
    let (mut sums, mut runs) = ([0.0, 0.0], 0.0);
    for sources in [5, 15] {
        for buffer in [1_000, 2_000, 3_000] {
            for replication in 0..REPLICATIONS {
                let found = outcome(sources, buffer, &drop, replication);
                sums = [sums[0] + found[0], sums[1] + found[1]];
                runs += 1.0;
            }
        }
    }
    sums.map(|sum| sum / runs)
}

#[test]
fn each_policy_improves_what_its_paper_says() {
    let r = Threshold::Fraction(Ratio::new(9, 10));
    let z = Ratio::new(8, 10);
    let tail_drop = means(DropPolicy::TailDrop);
    let epd = means(DropPolicy::Epd {
        threshold: None,
        reserve: 200,
    });
    let selective = means(DropPolicy::SelectiveDrop { r, z });
    let fba = means(DropPolicy::Fba { r, z, k_fba: None });
    println!(
        "efficiency, fairness: tail drop {tail_drop:.3?}, EPD {epd:.3?}, selective drop {selective:.3?}, FBA {fba:.3?}"
    );
    let [efficiency, fairness] = [0, 1];
    assert!(epd[efficiency] > tail_drop[efficiency] + 0.1);
    assert!(selective[efficiency] > epd[efficiency]);
    assert!(fba[efficiency] > epd[efficiency]);
    assert!(selective[fairness] > epd[fairness] + 0.02);
    assert!(fba[fairness] > epd[fairness] + 0.02);
}

/// Two sources bring two cells per cell time to a port with room for K. Half of the cells are lost either way. Under tail drop those that
/// get through have waited for K cell times; under drop from front for K arrivals, half as long: the queue holds the youngest.
#[test]
fn drop_from_front_keeps_the_youngest_cells() {
    const K: u64 = 100;
    let cell = OC3.cell_time().exact().expect("whole ticks").0;
    let outcome = |drop| {
        let cells = Traffic::Cbr { rate: OC3 };
        let duration = Span(10_000 * cell);
        let net = build::dumbbell(2, Span::ZERO, duration, Some(K), drop, |_| cells.clone());
        let tally = engines::engine(&net, None);
        let link = build::index_of(&net, "s", "t");
        let port = tally.ports[link].as_ref().expect("it can queue");
        let longest = tally.vcs.iter().map(|v| v.delay.max).max();
        (port.sent(), port.dropped(), longest.unwrap_or(0) / cell)
    };
    let (sent, dropped, longest) = outcome(DropPolicy::TailDrop);
    let (sent_too, pushed_out, shorter) = outcome(DropPolicy::DropFromFront);
    assert_eq!(sent, sent_too);
    assert_eq!(dropped.total(), dropped[DropReason::Full]);
    assert_eq!(pushed_out.total(), pushed_out[DropReason::Front]);
    assert_eq!(dropped.total(), pushed_out.total());
    // One more to pass each port.
    assert!(longest.abs_diff(K + 2) <= 1, "{longest} cell times");
    assert!(shorter.abs_diff(K / 2 + 2) <= 1, "{shorter} cell times");
}
