//! Initial texts of the reader's fuzzer.

use crate::common::{build::probe, formats::in_ethernet, random};
use crate::oracle_programs::schedulers_of;
use cellyard_engine::format::Format;
use cellyard_engine::registry::Family;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::left_out;
use cellyard_engine::units::Span;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::path::Path;

/// Number of random scenarios drawn for the bases.
const RANDOM: usize = 150;

/// All initial texts: every example, a text with every kind of field in short forms, and random
/// scenarios in full, some of them with jumbo frames.
pub fn all() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).expect("the folder of examples");
    let mut paths: Vec<_> = files.map(|file| file.expect("an entry").path()).collect();
    paths.sort();
    let mut bases: Vec<String> = paths
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a text"))
        .collect();
    bases.push(include_str!("everything.toml").to_string());
    let mut runner = TestRunner::deterministic();
    let strategy = random::cases(300);
    let mut random = |number: usize| {
        let case = strategy.new_tree(&mut runner).expect("a case").current();
        let mut case = case.readable();
        if number.is_multiple_of(5) {
            case = in_ethernet(case, 9_000, false);
            for scheduler in schedulers_of(&mut case.scenario) {
                if let Scheduler::PerVc { unit, .. } = scheduler {
                    *unit = TurnUnit::Byte;
                }
            }
        }
        let mut net = case.scenario;
        net.probes = probes(&net);
        write_toml(&net)
    };
    // Some random scenarios fail the checks of the reader.
    let drawn: Vec<String> = (0..RANDOM).map(&mut random).collect();
    let right = |text: &String| read_toml(text, "", &[]).is_ok();
    bases.extend(drawn.into_iter().filter(right));
    bases
}

/// Probes of some of what can be recorded.
fn probes(net: &Scenario) -> Vec<Probe> {
    let interval = Some(Span(net.duration.0 / 5 + 1));
    let port = net.links.iter().find(|link| link.from.starts_with('s'));
    let mut probes = vec![probe(Observable::Goodput, &net.vcs[0].name, interval)];
    probes.extend(port.map(|port| probe(Observable::Queue, &port.name, None)));
    probes.extend(port.map(|port| probe(Observable::Drops, &port.name, interval)));
    let tcp = net
        .vcs
        .iter()
        .find(|vc| matches!(vc.traffic, Traffic::Tcp(_)));
    const OF_TCP: &[Observable] = &[
        Observable::Acknowledged,
        Observable::Flight,
        Observable::Rtt,
        Observable::Rto,
    ];
    for &what in OF_TCP {
        probes.extend(tcp.map(|vc| probe(what, &vc.name, None)));
    }
    probes
}

#[test]
fn every_base_is_right() {
    let bases = all();
    assert!(bases.len() > 40, "{} bases", bases.len());
    let read = |text: &String| {
        read_toml(text, "base.toml", &[]).unwrap_or_else(|p| panic!("{p:#?}\n{text}"))
    };
    let read: Vec<Scenario> = bases.iter().map(read).collect();
    // A scenario as data names formats in other ways.
    let families = Family::ALL.into_iter().filter(|&f| f != Family::Format);
    let left_out = left_out(&read, &families.collect::<Vec<_>>());
    assert!(left_out.is_empty(), "in no base: {left_out:#?}");
    for format in [Format::AAL5, Format::ETHERNET, Format::ethernet(9_000)] {
        assert!(read.iter().any(|net| net.format == format), "{format:?}");
    }
    let is_of_cells = |net: &Scenario| !net.format.is_aal5() && !net.format.is_ethernet;
    assert!(read.iter().any(is_of_cells));
}
