//! Rule: all class queues of a port count the same places, as do the lengths given to their policies.

use super::network::Network;
use super::port::{ClassQueue, DropPolicy};
use super::report::Report;
use super::threshold::{Size, Threshold, Unit};
use crate::ground::class::Class;
use crate::text::notation::show::show_bytes;
use crate::text::program::Value;
use crate::text::registry::MAX_CELLS;

/// Reports queues whose unit differs from that of their port, lengths of their policies in another
/// unit, and times that are no size at the rate of a port.
pub(crate) fn check(network: &Network<'_>, report: &mut Report) {
    let (scenario, topology) = (network.scenario, network.topology);
    // Cells of `aal5` are not counted in bytes.
    if scenario.format.is_aal5() {
        return;
    }
    for (link, at) in network.ports() {
        let unit = topology.unit(scenario, link);
        let switch = topology.switch_of[link].expect("a port leaves a switch");
        let pooled = topology.pools[switch].is_some();
        for &class in &topology.classes[link] {
            let queue = topology.queue(scenario, link, class);
            let mut queues = scenario.links[link].queues.iter();
            let place = network.place_of_setting(link, queues.any(|q| q.class == class));
            let path = format!("{place}.{}", class.name());
            let other = |class: &&Class| {
                let limit = topology.queue(scenario, link, **class).buffer;
                limit.is_some_and(|size| size.unit() == unit)
            };
            let in_memory = topology.memory_cell(scenario, link).is_some();
            let fits = |size: Size| {
                size.unit() == unit || (in_memory && matches!(size, Size::Time { .. }))
            };
            if queue.buffer.is_some_and(|size| !fits(size)) {
                let other = topology.classes[link].iter().find(other);
                let other = match pooled {
                    true => "the pool",
                    false => other.expect("it gave the unit").name(),
                };
                report.add_once(
                    &format!("{path}.buffer"),
                    format!(
                        "counts {}, but {other} at {} counts {}",
                        (!unit).name(),
                        at.name,
                        unit.name()
                    ),
                    format!("the unit of {other}, or \"unlimited\""),
                );
                continue;
            }
            let k = topology.places(scenario, link, class);
            if let (Some(Size::Time { .. }), Some(k)) = (queue.buffer, k)
                && !(1..=MAX_CELLS).contains(&k)
            {
                report.add_once(
                    &format!("{path}.buffer"),
                    format!("is {} at the rate of {}", show_bytes(k), at.name),
                    format!("{} to {}", show_bytes(1), show_bytes(MAX_CELLS)),
                );
                continue;
            }
            lengths_fit(queue, unit, k, &path, report);
        }
    }
}

/// Reports lengths of the policy of `queue` in another unit than the queue's, or beyond its buffer
/// of `k` places.
fn lengths_fit(queue: &ClassQueue, unit: Unit, k: Option<u64>, path: &str, report: &mut Report) {
    if let DropPolicy::Epd {
        threshold: None,
        reserve: None,
    } = queue.drop
        && unit == Unit::Bytes
        && k.is_some()
    {
        report.add_once(
            &format!("{path}.drop"),
            "has no default threshold in a queue that counts bytes".into(),
            "{ policy = \"epd\", threshold = 0.9 }, or a `reserve`".into(),
        );
    }
    for (field, given, is_within) in lengths(&queue.drop) {
        let path = format!("{path}.drop.{field}");
        if given.unit() != unit {
            let buffer = match queue.buffer {
                Some(_) => "",
                None => ", as no buffer of the port is in bytes",
            };
            report.add_once(
                &path,
                format!(
                    "is in {}, but the queue counts {}{buffer}",
                    (!unit).name(),
                    unit.name()
                ),
                format!("{}, or a fraction of the buffer", unit.name()),
            );
        } else if let (Size::Bytes { bytes }, Some(k), true) = (given, k, is_within)
            && bytes > k
        {
            report.add_once(
                &path,
                format!(
                    "is {}, more than the buffer of {}",
                    show_bytes(bytes),
                    show_bytes(k)
                ),
                "at most the buffer".into(),
            );
        }
    }
}

/// Lengths in cells or bytes of a policy, by field, and whether they must be within the buffer.
fn lengths(drop: &DropPolicy) -> Vec<(String, Size, bool)> {
    let of = |field: &str, threshold: &Threshold| {
        let size = match *threshold {
            Threshold::Cells(cells) => Size::Cells(cells),
            Threshold::Bytes(bytes) => Size::Bytes { bytes },
            Threshold::Fraction(_) => return None,
        };
        Some((field.to_string(), size, true))
    };
    match drop {
        DropPolicy::Epd { threshold, reserve } => {
            let given = match threshold {
                Some(threshold) => of("threshold", threshold),
                None => reserve.as_ref().and_then(|r| of("reserve", r)),
            };
            given.into_iter().collect()
        }
        DropPolicy::SelectiveDrop { r, .. } => of("r", r).into_iter().collect(),
        DropPolicy::Fba { r, k_fba, .. } => {
            let k_fba = k_fba.map(|size| ("k_fba".to_string(), size, false));
            of("r", r).into_iter().chain(k_fba).collect()
        }
        DropPolicy::AtmRed(red) | DropPolicy::CellRed(red) | DropPolicy::PacketRed(red) => {
            let both = [("min_th", &red.min_th), ("max_th", &red.max_th)];
            both.into_iter()
                .filter_map(|(field, threshold)| of(field, threshold))
                .collect()
        }
        DropPolicy::Program(program) => {
            let bound = program.written.never_below.as_ref();
            let bound = bound.and_then(|threshold| of("never_below", threshold));
            let own = program
                .written
                .parameters
                .iter()
                .filter_map(|(field, value)| match *value {
                    Value::Cells(cells) => Some((field.clone(), Size::Cells(cells), false)),
                    Value::Bytes(bytes) => Some((field.clone(), Size::Bytes { bytes }, false)),
                    Value::Number(_) | Value::Fraction(_) | Value::Time(_) | Value::Rate(_) => None,
                });
            bound.into_iter().chain(own).collect()
        }
        // Cells of `aal5` have one size, and these policies are defined there alone.
        DropPolicy::GcraEpd { .. }
        | DropPolicy::GcraRoundRobin { .. }
        | DropPolicy::GcraTwoThresholds { .. }
        | DropPolicy::Dfba { .. }
        | DropPolicy::TailDrop
        | DropPolicy::Ppd
        | DropPolicy::DropFromFront
        | DropPolicy::FrameDropFromFront => Vec::new(),
    }
}
