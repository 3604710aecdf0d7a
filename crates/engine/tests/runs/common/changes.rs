//! Random changes of the rates of links.

use super::draws::Draws;
use super::random::Case;
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Span};
use proptest::collection::vec;
use proptest::prelude::*;

/// A change relative to its network: a time in parts of 2^16 of the run, whether it is moved to a
/// whole number of cell times of the first link, ticks behind that, and the new rate in percent.
pub type Drawn = (u16, bool, u64, u64);

/// Random changes of each link.
pub fn changes() -> impl Strategy<Value = Vec<Vec<Drawn>>> {
    // At simple parts of the rate, cells come and leave at equal instants.
    let percent = prop_oneof![
        4 => Just(0u64),
        4 => proptest::sample::select(vec![10u64, 25, 50, 100, 200, 400]),
        1 => 1u64..500,
    ];
    let behind = prop_oneof![3 => Just(0u64), 1 => 1u64..1_000_000];
    let change = (any::<u16>(), any::<bool>(), behind, percent);
    vec(
        prop_oneof![1 => Just(Vec::new()), 2 => vec(change, 1..6)],
        12,
    )
}

/// The case with these changes at its links. With `feedback`, ports that give feedback have none of
/// them, and otherwise no port gives feedback.
pub fn changed(mut case: Case, drawn: &[Vec<Drawn>], feedback: bool) -> Case {
    let net = &mut case.scenario;
    let (format, duration) = (net.format, net.duration.0);
    let cell = format.cell_time(net.links[0].rate).0;
    let least = format.least_rate().0.max(1_000);
    net.vcs.iter_mut().for_each(|vc| vc.guarantee = None);
    let of_switches = net.switches.iter_mut().map(|s| &mut s.queues);
    let of_links = net.links.iter_mut().map(|l| &mut l.queues);
    if !feedback {
        let queues = of_switches.chain(of_links).flatten();
        queues.for_each(|queue| queue.feedback = None);
    }
    let gives = |queues: &[ClassQueue]| queues.iter().any(|queue| queue.feedback.is_some());
    let giving: Vec<String> = net
        .switches
        .iter()
        .filter(|s| gives(&s.queues))
        .map(|s| s.name.clone())
        .collect();
    for (link, drawn) in net.links.iter_mut().zip(drawn.iter().cycle()) {
        if gives(&link.queues) || giving.contains(&link.from) {
            continue;
        }
        let change = |&(part, aligned, behind, percent): &Drawn| {
            let mut at = u64::from(part) * (duration >> 16);
            if aligned {
                at = at / cell * cell;
            }
            let rate = match percent {
                0 => 0,
                _ => (link.rate.0 / 100 * percent).clamp(least, 1_000_000_000_000),
            };
            RateChange {
                at: Span(at + behind),
                rate: BitRate(rate),
            }
        };
        let mut changes: Vec<RateChange> = drawn.iter().map(change).collect();
        changes.retain(|change| 0 < change.at.0 && change.at.0 < duration);
        changes.sort_by_key(|change| change.at);
        changes.dedup_by_key(|change| change.at);
        link.changes = changes;
        let mut schedulers: Vec<&mut Scheduler> =
            link.scheduler.as_deref_mut().into_iter().collect();
        schedulers.extend(net.switches.iter_mut().map(|switch| &mut switch.scheduler));
        for scheduler in schedulers {
            if matches!(scheduler, Scheduler::GuaranteedRate { .. }) {
                *scheduler = Scheduler::StrictPriority;
            }
        }
    }
    case
}

/// A quarter of the cases with changes that never raise a rate.
pub fn sometimes_slower(case: Case, draws: &mut Draws) -> Case {
    if !draws.chance(25) {
        return case;
    }
    let change = |draws: &mut Draws| {
        let percent = draws.one_of(&[0, 0, 1, 50, 100]);
        (
            draws.below(1 << 16) as u16,
            draws.chance(50),
            draws.below(3) as u64,
            percent,
        )
    };
    let of_link = |draws: &mut Draws| (0..draws.below(4)).map(|_| change(draws)).collect();
    let drawn: Vec<Vec<Drawn>> = (0..8).map(|_| of_link(draws)).collect();
    changed(case, &drawn, true)
}
