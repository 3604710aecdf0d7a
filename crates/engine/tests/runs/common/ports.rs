//! Random settings of ports: class queues with drop policies, policers and feedback, and a
//! scheduler.

use super::edges::{BELOW_ONE, LEAST, MOST_CELLS, ONE, ZERO, or_edge, tenths};
use super::random::unit;
use super::{abr, red};
use cellyard_engine::scenario::*;
use cellyard_engine::units::Ratio;
use proptest::option;
use proptest::prelude::*;
use serde_json::json;

/// A random class, more often than not UBR.
pub fn class() -> impl Strategy<Value = Class> {
    prop_oneof![6 => Just(Class::Ubr), 4 => proptest::sample::select(Class::ALL.to_vec())]
}

fn decimal() -> impl Strategy<Value = Ratio> {
    tenths(0, 29, [ZERO, LEAST, ONE, Ratio::new(1_000, 1)])
}

/// A random threshold up to the buffer, in cells or as a fraction.
pub fn threshold(buffer: Option<u64>) -> impl Strategy<Value = Threshold> {
    let edges = [0, 1, buffer.unwrap_or(MOST_CELLS)];
    let cells = or_edge(0..=buffer.unwrap_or(40).min(60), edges);
    let twentieths = (0u64..=20).prop_map(|n| Ratio::new(n * 5, 100));
    let fraction = or_edge(twentieths, [ZERO, LEAST, ONE]);
    prop_oneof![
        cells.prop_map(Threshold::Cells),
        fraction.prop_map(Threshold::Fraction)
    ]
}

/// Cells of a threshold, rounded down.
fn cells(threshold: Threshold, buffer: Option<u64>) -> u64 {
    match threshold {
        Threshold::Cells(cells) => cells,
        Threshold::Fraction(part) => part.floor_of(buffer.unwrap_or(40)),
    }
}

/// Two thresholds for `buffer`, the lower one first; sometimes equal.
fn both_thresholds(buffer: Option<u64>) -> impl Strategy<Value = (Threshold, Threshold)> {
    let equal = prop::bool::weighted(0.25);
    (threshold(buffer), threshold(buffer), equal).prop_map(move |(one, other, equal)| {
        match (equal, cells(one, buffer) <= cells(other, buffer)) {
            (true, _) => (one, one),
            (false, true) => (one, other),
            (false, false) => (other, one),
        }
    })
}

/// Random policies that need minimum rates.
pub fn rate_policy(buffer: Option<u64>) -> impl Strategy<Value = DropPolicy> {
    let parts = (
        both_thresholds(buffer),
        any::<bool>(),
        any::<bool>(),
        tenths(0, 10, [ZERO, LEAST, ONE]),
        tenths(0, 10, [ZERO, LEAST, ONE]),
    );
    (0..4, parts).prop_map(
        |(which, ((low, high), export_tag, keep_credit, z, alpha))| match which {
            0 => DropPolicy::GcraEpd {
                threshold: high,
                export_tag,
            },
            1 => DropPolicy::GcraRoundRobin {
                threshold: high,
                keep_credit,
                export_tag,
            },
            2 => DropPolicy::GcraTwoThresholds {
                low,
                threshold: high,
                export_tag,
            },
            _ => DropPolicy::Dfba {
                low,
                high,
                z,
                alpha,
            },
        },
    )
}

/// A random policer of either kind, tagging or dropping.
pub fn police() -> impl Strategy<Value = Police> {
    let action = prop_oneof![Just(PoliceAction::Tag), Just(PoliceAction::Drop)];
    let form = prop_oneof![
        Just(GcraForm::LeakyBucket),
        Just(GcraForm::VirtualScheduling)
    ];
    (action, form, any::<bool>()).prop_map(|(action, form, frames)| match frames {
        true => Police::FGcra { action },
        false => Police::Gcra { action, form },
    })
}

/// A program about frames or cells that cannot fail; `oracle_programs.rs` has random ones.
fn program(buffer: Option<u64>) -> impl Strategy<Value = DropPolicy> {
    const ABOUT_CELLS: &str = "queue state average = 0.0; vc state seen = 0
        average = 0.75 * average + 0.25 * X
        if begins { seen = seen + 1 }
        if begins and average > R and draw() < Z { refuse }
        if ends and seen > 2 and X > R { tag }";
    let parts = (threshold(buffer), decimal(), any::<bool>(), any::<bool>());
    parts.prop_map(|(r, z, cells, promises)| {
        let r = match r {
            Threshold::Cells(cells) => json!({ "cells": cells }),
            Threshold::Fraction(fraction) => json!({ "fraction": fraction }),
        };
        let never_below = if promises { r.clone() } else { json!(null) };
        let mut record =
            json!({ "asked": "frames", "export_tag": cells, "R": r, "Z": { "number": z } });
        if cells {
            record["asked"] = json!("cells");
            record["program"] = json!(ABOUT_CELLS);
        } else {
            record["refuse"] = json!("X > R and Y * N > Z * X");
            record["never_below"] = never_below;
        }
        DropPolicy::Program(serde_json::from_value(record).expect("the program is right"))
    })
}

fn class_queue(base: u64, class: Class) -> impl Strategy<Value = ClassQueue> {
    let rest = prop_oneof![
        2 => Just(RestOfFrame::Accept),
        1 => Just(RestOfFrame::DropButEom),
        1 => Just(RestOfFrame::Drop),
    ];
    let some = prop_oneof![3 => 1u64..12, 6 => 5u64..60, 1 => Just(1), 1 => Just(MOST_CELLS)];
    let buffers = option::weighted(0.9, some);
    (buffers, rest).prop_flat_map(move |(buffer, rest_of_frame)| {
        // K_f is at least R; 0 becomes R itself.
        let k_fba = option::of(or_edge(1u64..100, [0, buffer.unwrap_or(40), MOST_CELLS]));
        let most = buffer.unwrap_or(MOST_CELLS);
        let reserve = option::of(or_edge(0..30.min(most), [0, most]));
        let policy = prop_oneof![
            2 => Just(DropPolicy::TailDrop),
            2 => Just(DropPolicy::Ppd),
            2 => (option::of(threshold(buffer)), reserve)
                .prop_map(|(threshold, reserve)| DropPolicy::Epd { threshold, reserve }),
            2 => (threshold(buffer), decimal())
                .prop_map(|(r, z)| DropPolicy::SelectiveDrop { r, z }),
            2 => (threshold(buffer), decimal(), k_fba)
                .prop_map(move |(r, z, k_fba)| DropPolicy::Fba {
                    r,
                    z,
                    k_fba: k_fba.map(|k: u64| k.max(cells(r, buffer))),
                }),
            3 => Just(DropPolicy::DropFromFront),
            2 => rate_policy(buffer).boxed(),
            3 => Just(DropPolicy::FrameDropFromFront),
            2 => red::policy(buffer).boxed(),
            1 => program(buffer).boxed(),
        ];
        let feedback = option::weighted(0.8, abr::feedback(base)).boxed();
        let parts = (option::weighted(0.12, police()), policy.boxed(), feedback);
        parts.prop_map(move |(police, drop, feedback)| ClassQueue {
            class,
            buffer,
            police,
            drop,
            feedback: feedback.filter(|_| class == Class::Abr),
            rest_of_frame,
        })
    })
}

/// Random queues of UBR and some other classes.
pub fn queues(base: u64) -> impl Strategy<Value = Vec<ClassQueue>> {
    let others = proptest::sample::subsequence(Class::ALL[..4].to_vec(), 0..=4);
    others.prop_flat_map(move |mut classes| {
        classes.push(Class::Ubr);
        let queues = classes.into_iter();
        let queues = queues.map(|class| class_queue(base, class).boxed());
        queues.collect::<Vec<_>>()
    })
}

/// A scheduler as a program that cannot fail; `oracle_schedulers.rs` has random ones.
fn ranking() -> impl Strategy<Value = Scheduler> {
    (option::of(class()), 1u64..5).prop_map(|(class, unit)| {
        let record = json!({
            "class": class,
            "state": "queue state turn = 0; vc state last = 0",
            "arrive": "last = max(last, turn - 2)",
            "served": "turn = turn + 1; last = turn",
            "rank": "last * unit - waiting + class_rank",
            "unit": { "number": Ratio::new(unit, 1) },
        });
        Scheduler::Program(serde_json::from_value(record).expect("the program is right"))
    })
}

pub fn scheduler() -> impl Strategy<Value = Scheduler> {
    prop_oneof![
        3 => Just(Scheduler::StrictPriority),
        1 => Just(Scheduler::Fifo),
        2 => (class(), tenths(0, 9, [ZERO, LEAST, BELOW_ONE, Ratio::new(7, 100), Ratio::new(1, 3)]))
            .prop_map(|(class, gr)| Scheduler::GuaranteedRate { class, gr }),
        2 => (class(), unit()).prop_map(|(class, unit)| Scheduler::PerVc { class, unit }),
        1 => ranking(),
    ]
}
