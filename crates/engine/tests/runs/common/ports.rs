//! Random settings of ports: class queues with drop policies, policers and feedback, and a
//! scheduler.

use super::abr;
use super::components::{Scale, choice, component, decimal};
use super::draws::Draws;
use super::edges::MOST_CELLS;
use cellyard_engine::registry::Family;
use cellyard_engine::scenario::*;
use cellyard_engine::units::Ratio;
use proptest::option;
use proptest::prelude::*;
use serde_json::json;

/// A random class, more often than not UBR.
pub fn class() -> impl Strategy<Value = Class> {
    prop_oneof![6 => Just(Class::Ubr), 4 => proptest::sample::select(Class::ALL.to_vec())]
}

/// Usual values for a queue of `buffer` cells.
pub fn scale(buffer: Option<u64>) -> Scale {
    Scale {
        buffer,
        cell: 1_000_000,
        is_wide: false,
    }
}

/// Random drop policies with names that are `meant`.
pub fn policy(buffer: Option<u64>, meant: impl Fn(&str) -> bool) -> BoxedStrategy<DropPolicy> {
    component(Family::Drop, scale(buffer), meant)
}

/// Random policies that need minimum rates.
pub fn rate_policy(buffer: Option<u64>) -> BoxedStrategy<DropPolicy> {
    policy(buffer, |name| name.starts_with("gcra") || name == "dfba")
}

/// Random policies of the RED family.
pub fn red_policy(buffer: Option<u64>) -> BoxedStrategy<DropPolicy> {
    policy(buffer, |name| name.ends_with("-red"))
}

/// A random policer.
pub fn police() -> BoxedStrategy<Police> {
    component(Family::Police, scale(None), |_| true)
}

pub fn rest_of_frame() -> impl Strategy<Value = RestOfFrame> {
    choice(Family::Queue, "queue", "rest_of_frame")
}

/// A program about frames or cells that cannot fail; `oracle_programs.rs` has random ones.
fn program(buffer: Option<u64>) -> impl Strategy<Value = DropPolicy> {
    const ABOUT_CELLS: &str = "queue state average = 0.0; vc state seen = 0
        average = 0.75 * average + 0.25 * X
        if begins { seen = seen + 1 }
        if begins and average > R and draw() < Z { refuse }
        if ends and seen > 2 and X > R { tag }";
    let parts = (any::<u64>().no_shrink(), any::<bool>(), any::<bool>());
    parts.prop_map(move |(seed, cells, promises)| {
        let draws = &mut Draws(seed);
        let r = scale(buffer).threshold(draws);
        let z = decimal(0, 1_000, false, draws);
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
    let some = prop_oneof![3 => 1u64..12, 6 => 5u64..60, 1 => Just(1), 1 => Just(MOST_CELLS)];
    let buffers = option::weighted(0.9, some);
    (buffers, rest_of_frame()).prop_flat_map(move |(buffer, rest_of_frame)| {
        let policy = prop_oneof![20 => policy(buffer, |_| true), 1 => program(buffer).boxed()];
        let feedback = option::weighted(0.8, abr::feedback(base)).boxed();
        let parts = (option::weighted(0.12, police()), policy, feedback);
        parts.prop_map(move |(police, drop, feedback)| ClassQueue {
            class,
            buffer: buffer.map(Size::Cells),
            reserve: None,
            alpha: None,
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
        2 => Just(Scheduler::StrictPriority),
        6 => component(Family::Scheduler, scale(None), |_| true),
        1 => ranking(),
    ]
}
