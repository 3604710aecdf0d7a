//! Shared helpers of the tests of whole runs.
//!
//! `build` makes small networks, `random` and `ports` random ones with `components` of the registry,
//! and `hostile` random ones at the edges of what the reader accepts. `edges` has these edges, and
//! `formats` puts random networks into other formats, `changes` changes rates of their links, and `pools`
//! gives pools to their switches.
//! `invariants` checks any result. This module compares tallies.

pub mod abr;
pub mod build;
pub mod changes;
pub mod components;
pub mod draws;
pub mod edges;
pub mod engines;
pub mod formats;
pub mod hostile;
pub mod invariants;
pub mod pools;
pub mod ports;
pub mod probes;
pub mod random;
pub mod trunks;

use cellyard_engine::testing::{FlowKind, Tally};
use std::fmt::Write;

/// Number of random cases: the environment variable `CELLYARD_CASES`, or else the default.
pub fn cases(default: u32) -> u32 {
    std::env::var("CELLYARD_CASES").map_or(default, |text| {
        text.parse().expect("CELLYARD_CASES is a number of cases")
    })
}

/// Number of flows of these VCs.
pub fn flows_of(vcs: &[cellyard_engine::scenario::Vc]) -> usize {
    let flows = vcs.iter().map(|vc| FlowKind::of_vc(vc.abr.is_some()).len());
    flows.sum()
}

/// Proptest settings of every property here.
pub fn config(default_cases: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        max_shrink_iters: 100_000,
        max_shrink_time: 20_000, // milliseconds
        ..proptest::test_runner::Config::with_cases(cases(default_cases))
    }
}

/// Lists every counter in which `left` and `right` differ, one per line. Empty when they are equal.
pub fn differences(left: &Tally, right: &Tally) -> String {
    let mut text = String::new();
    let mut compare = |what: String, l: &dyn std::fmt::Debug, r: &dyn std::fmt::Debug| {
        let (l, r) = (format!("{l:?}"), format!("{r:?}"));
        if l != r {
            writeln!(text, "{what}: {l}\n    is not {r}").expect("writing to a string");
        }
    };
    compare("link_cells".into(), &left.link_cells, &right.link_cells);
    compare(
        "link_data_cells".into(),
        &left.link_data_cells,
        &right.link_data_cells,
    );
    compare("link_lost".into(), &left.link_lost, &right.link_lost);
    compare("link_held".into(), &left.link_held, &right.link_held);
    compare(
        "link_line_time".into(),
        &left.link_line_time,
        &right.link_line_time,
    );
    compare(
        "link_line_work".into(),
        &left.link_line_work,
        &right.link_line_work,
    );
    compare("nics".into(), &left.nics, &right.nics);
    compare("pools".into(), &left.pools, &right.pools);
    for (i, (l, r)) in left.ports.iter().zip(&right.ports).enumerate() {
        compare(format!("port of link {i}"), l, r);
    }
    for (i, (l, r)) in left.flows.iter().zip(&right.flows).enumerate() {
        compare(format!("flow {i}"), l, r);
    }
    for (i, (l, r)) in left.vcs.iter().zip(&right.vcs).enumerate() {
        let bytes = |v: &cellyard_engine::testing::VcTally| {
            (v.measured_bytes, v.delivered_bytes, v.measured_line_bytes)
        };
        compare(format!("vc {i}, bytes delivered"), &bytes(l), &bytes(r));
        compare(format!("vc {i}, sender"), &l.sender, &r.sender);
        compare(format!("vc {i}, end systems"), &l.abr, &r.abr);
        compare(format!("vc {i}, delay"), &l.delay, &r.delay);
        if l.bins != r.bins {
            compare(format!("vc {i}, distribution of delays"), &"left", &"right");
        }
    }
    compare("digest".into(), &left.digest, &right.digest);
    if text.is_empty() && left != right {
        text.push_str("another field of the tallies");
    }
    text
}
