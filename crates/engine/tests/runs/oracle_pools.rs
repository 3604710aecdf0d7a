//! Shared memories of switches: engine and twin on random networks, and cases worked by hand.

use crate::common;
use crate::common::draws::Draws;
use crate::common::engines::{self, agrees, result};
use crate::common::formats::{in_ethernet, in_format, mtus};
use crate::common::pools::pooled;
use crate::common::probes::envelopes;
use crate::common::random::{self, Case};
use crate::oracle_places::in_bytes;
use crate::oracle_programs::{engines_agree_or_stop, queues_of, with_program};
use crate::oracle_schedulers::{random_scheduler, with_schedulers};
use cellyard_engine::format::Format;
use cellyard_engine::results::RunResult;
use cellyard_engine::scenario::{
    DropPolicy, Observable, Probe, ProgramPolicy, Scenario, Size, read_toml,
};
use cellyard_engine::testing::run_tally;
use cellyard_engine::units::{Ratio, Span};
use cellyard_engine::{Kernel, run};
use proptest::prelude::*;
use serde_json::json;
use std::sync::atomic::AtomicBool;

proptest! {
    #![proptest_config(common::config(500))]

    #[test]
    fn engine_and_twin_agree_on_pools(case in random::cases(2_000), seed in any::<u64>()) {
        agrees(&pooled(case, &mut Draws(seed), None))?;
    }

    #[test]
    fn envelopes_of_pools_are_those_of_the_twin(
        case in random::cases(800),
        seed in any::<u64>(),
        cells in 1u64..40,
    ) {
        let case = pooled(case, &mut Draws(seed), None);
        let net = &case.scenario;
        let interval = Some(Span(net.format.cell_time(net.links[0].rate).0 * cells));
        let of_pools = |p: &Probe| matches!(p.what, Observable::Pool | Observable::Threshold);
        let probes = envelopes(net, interval).into_iter().filter(of_pools).collect();
        let watched = Scenario { probes, ..net.clone() };
        let [found, expected] = [Kernel::Auto, Kernel::Twin].map(|kernel| result(&watched, case.replication, kernel));
        prop_assert_eq!(&found.series, &expected.series);
        // Samples and changes are two views of one course, and neither changes the run.
        let of = |interval| {
            let record = |p: &Probe| Probe { interval, envelope: None, ..p.clone() };
            let probes = watched.probes.iter().map(record).collect();
            result(&Scenario { probes, ..net.clone() }, case.replication, Kernel::Auto)
        };
        let [sampled, changes] = [of(interval), of(None)];
        for (sampled, changes) in sampled.series.iter().zip(&changes.series) {
            for (&time, &value) in sampled.time_s.iter().zip(&sampled.value) {
                let before = changes.time_s.iter().rposition(|&t| t < time).unwrap_or(0);
                prop_assert_eq!(value, changes.value[before], "{} at {}", sampled.of, time);
            }
        }
        // As text, since a mean over no time is not equal to itself.
        prop_assert_eq!(format!("{:?}", sampled.ports), format!("{:?}", found.ports));
        prop_assert_eq!(sampled.pools, changes.pools);
    }

    /// Up to 16 ports of one switch.
    #[test]
    fn engine_and_twin_agree_on_pools_of_many_ports(
        case in random::networks(1_500, 1, 16),
        seed in any::<u64>(),
    ) {
        agrees(&pooled(case, &mut Draws(seed), None))?;
    }

    #[test]
    fn engine_and_twin_agree_on_pools_of_packets(
        case in random::networks(1_500, 2, 10),
        mtu in mtus(),
        equal in any::<bool>(),
        bytes in in_bytes(),
        unit in 0..3,
        cell in prop_oneof![20u32..300, 300u32..10_000],
        seed in any::<u64>(),
    ) {
        let case = in_ethernet(case, mtu, equal);
        let (case, cell) = match unit {
            0 => (case, None),
            1 => (bytes.of(case), None),
            _ => (case, Some(cell)),
        };
        agrees(&pooled(case, &mut Draws(seed), cell))?;
    }

    #[test]
    fn engine_and_twin_agree_on_pools_of_equal_cells(
        case in random::cases(1_500),
        cell in 32u64..1_600,
        bytes in in_bytes(),
        in_cells in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let case = in_format(case, Format::cells(cell, 32, 0));
        let case = if in_cells { case } else { bytes.of(case) };
        agrees(&pooled(case, &mut Draws(seed), None))?;
    }

    /// The program is asked where the dynamic threshold is, and the digests are equal.
    #[test]
    fn dynamic_and_static_thresholds_are_programs_too(
        case in random::networks(1_500, 2, 10),
        mtu in mtus(),
        is_static in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let case = in_ethernet(case, mtu, false);
        let mut case = pooled(case, &mut Draws(seed), Some(200));
        for queue in queues_of(&mut case.scenario) {
            queue.drop = DropPolicy::TailDrop;
            (queue.buffer, queue.alpha) = match is_static {
                true => (queue.buffer, None),
                false => (None, queue.alpha),
            };
        }
        let mut restated = case.clone();
        let pooled: Vec<String> = case.scenario.switches.iter().filter(|s| s.pool.is_some()).map(|s| s.name.clone()).collect();
        let net = &mut restated.scenario;
        let of_switches = net.switches.iter_mut().map(|s| (&s.name, &mut s.queues));
        let all = of_switches.chain(net.links.iter_mut().map(|l| (&l.from, &mut l.queues)));
        for queue in all.filter(|(of, _)| pooled.contains(of)).flat_map(|(_, queues)| queues) {
            let program = match (queue.buffer.take(), queue.alpha.take()) {
                (Some(Size::Cells(limit)), _) => static_threshold(limit),
                (_, Some(alpha)) => dynamic_threshold(alpha),
                _ => continue,
            };
            queue.drop = program;
        }
        let digest = |case: &Case| run_tally(&case.scenario, case.replication, Kernel::Auto, true).expect("it runs").digest;
        prop_assert_eq!(digest(&case), digest(&restated));
        agrees(&restated)?;
    }

    #[test]
    fn engine_and_twin_agree_on_pools_with_programs(
        case in random::networks(1_500, 2, 8),
        seeds in any::<[u64; 3]>(),
    ) {
        let mut case = case;
        if let Some(scheduler) = random_scheduler(seeds[0]) {
            case = with_schedulers(case, |_| scheduler.clone());
        }
        if let Some(case) = with_program(case, seeds[1]) {
            engines_agree_or_stop(&pooled(case, &mut Draws(seeds[2]), None))?;
        }
    }
}

/// The program of an example, with one parameter.
fn example(text: &str, parameter: &str, value: serde_json::Value) -> DropPolicy {
    let scenario = read_toml(text, "example", &[]).expect("an example is right");
    let DropPolicy::Program(policy) = &scenario.switches[0].queues[0].drop else {
        panic!("a program")
    };
    let mut written = policy.written.clone();
    let value = serde_json::from_value(value).expect("a parameter");
    assert!(written.parameters.insert(parameter.into(), value).is_some());
    DropPolicy::Program(ProgramPolicy::try_from(written).expect("the example is right"))
}

fn dynamic_threshold(alpha: Ratio) -> DropPolicy {
    let text = include_str!("../../../../python/cellyard/examples/program-dynamic-threshold.toml");
    example(text, "alpha", json!({ "number": alpha }))
}

fn static_threshold(limit: u64) -> DropPolicy {
    let text = include_str!("../../../../python/cellyard/examples/program-static-threshold.toml");
    example(text, "T", json!({ "cells": limit }))
}

/// `n` hosts send short packets (64 stored bytes) or datagrams of `size` bytes to one host each, over
/// the switch `s`, whose links are so slow that nothing leaves during the run after the first packet.
/// VC i sends at `starts[i]` microseconds, for 20 us, a packet each 672 ns if it is short.
fn slow_links(pool: &str, queue: &str, size: u64, starts: &[u64], more: &str) -> Scenario {
    let n = starts.len();
    let vc = |(i, start): (usize, &u64)| {
        let i = i + 1;
        let stop = start + 20;
        format!(
            "[[vc]]\nfrom = \"a{i}\"\nto = \"b{i}\"\nstart = \"{start} us\"\nstop = \"{stop} us\"\n\
             traffic = {{ kind = \"udp\", datagram_size = \"{size} bytes\", rate = \"1 Gbps\" }}\n"
        )
    };
    let vcs: String = starts.iter().enumerate().map(vc).collect();
    let text = format!(
        r#"
duration = "1 ms"
format = "ethernet"
{more}
[[host]]
name = "a"
count = {n}
[[host]]
name = "b"
count = {n}
[[switch]]
name = "s"
pool = {pool}
ubr = {queue}
[[link]]
from = "a"
to = "s"
rate = "10 Gbps"
[[link]]
from = "s"
to = "b"
rate = "8 kbps"
{vcs}"#
    );
    read_toml(&text, "", &[]).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The result of a run on which engine and twin agree.
fn agreed(net: &Scenario) -> RunResult {
    agrees(&Case::of(net.clone())).expect("they agree");
    result(net, None, Kernel::Auto)
}

/// Most packets that waited at each port that can queue.
fn fills(result: &RunResult) -> Vec<u64> {
    let ports = result.ports.iter().filter(|port| port.can_queue);
    ports.map(|port| port.max_queue_cells).collect()
}

/// Of 32 places, 6 queues reserve 2 each and share 20. The first takes x while x < 20 - x: 10. The
/// second leaves 5, the third 2 as 2 < 5 - 2, and so on: 2 - 1, then 1 - 1, then nothing.
#[test]
fn queues_that_fill_one_after_the_other_halve_what_is_free() {
    let starts = [0, 100, 200, 300, 400, 500];
    let pool = "{ buffer = \"32 cells\" }";
    let queue = "{ alpha = \"1\", reserve = \"2 cells\" }";
    let found = agreed(&slow_links(pool, queue, 18, &starts, ""));
    assert_eq!(fills(&found), [12, 7, 5, 3, 3, 2]);
    let pool = &found.pools[0];
    assert_eq!((pool.buffer_places, pool.reserved_places), (32, 12));
    assert_eq!((pool.max_used_places, pool.ports.len()), (32, 6));
    assert!(pool.ports.iter().all(|port| port.tied_refusals == 0));
    // The first cell that the second queue refuses finds 7 places there, of which 5 are shared, and 5
    // free. The last queue has its reserve, and finds nothing free.
    let trace = "[{ what = \"trace\", of = \"vc\" }]";
    let net = slow_links(
        "{ buffer = \"32 cells\" }",
        queue,
        18,
        &starts,
        &format!("probe = {trace}"),
    );
    let drops = result(&net, None, Kernel::Auto).trace;
    let found = |vc: &str| {
        let drop = drops
            .iter()
            .find(|drop| drop.vc == vc)
            .expect("it loses packets");
        let reason = drop.reason.name();
        (
            reason,
            drop.waiting_cells,
            drop.free_places,
            drop.threshold_cells,
            drop.dynamic_threshold_places,
        )
    };
    assert_eq!(
        found("vc2"),
        ("policy", Some(7), Some(5), Some(7.0), Some(7.0))
    );
    assert_eq!(
        found("vc6"),
        ("policy", Some(2), Some(0), Some(2.0), Some(2.0))
    );
    let last = drops.last().and_then(|drop| drop.pool_queues.as_deref());
    assert_eq!(
        last,
        Some("s->b1 12, s->b2 7, s->b3 5, s->b4 3, s->b5 3, s->b6 2")
    );
}

/// Both queues share 9 places without a threshold. The first takes 6, its own limit; of the second,
/// the fourth place is not free.
#[test]
fn a_full_pool_is_the_limit_of_a_queue() {
    let more = "probe = [{ what = \"trace\", of = \"vc\" }]";
    let queue = "{ buffer = \"6 cells\" }";
    let net = slow_links("{ buffer = \"9 cells\" }", queue, 18, &[0, 100], more);
    let drops = result(&net, None, Kernel::Auto).trace;
    let first = |vc: &str| {
        let drop = drops
            .iter()
            .find(|drop| drop.vc == vc)
            .expect("it loses packets");
        (
            drop.reason.name(),
            drop.free_places,
            drop.threshold_cells,
            drop.dynamic_threshold_places,
        )
    };
    assert_eq!(first("vc1"), ("full", Some(3), Some(6.0), None));
    assert_eq!(first("vc2"), ("full", Some(0), Some(3.0), None));
}

#[test]
fn the_arithmetic_kernel_cannot_be_forced_on_a_pool() {
    let net = slow_links("{ buffer = \"9 cells\" }", "{}", 18, &[0, 100], "");
    let never = AtomicBool::new(false);
    let refused = run(&net, None, &engines::under(Kernel::Arithmetic), &never);
    let message = refused.expect_err("it is refused").to_string();
    assert!(
        message.contains("s->b1") && message.contains("it shares the pool of its switch"),
        "{message}"
    );
}

/// With alpha = 1/2, the first of two takes x while 2 x < 21 - x: 7. The second: 2 x < 14 - x: 5.
/// With alpha = 2: x < 2 (21 - x), so 14, and then x < 2 (7 - x): 5.
#[test]
fn alpha_compares_a_queue_with_what_is_free_exactly() {
    let pool = "{ buffer = \"21 cells\" }";
    let of = |alpha: &str| {
        let queue = format!("{{ alpha = {alpha} }}");
        fills(&agreed(&slow_links(pool, &queue, 18, &[0, 100], "")))
    };
    assert_eq!(of("\"1/2\""), [7, 5]);
    assert_eq!(of("2"), [14, 5]);
    // A static limit of 3 cells comes before it.
    let queue = "{ alpha = 2, buffer = \"3 cells\" }";
    let found = agreed(&slow_links(pool, queue, 18, &[0, 100], ""));
    assert_eq!(fills(&found), [3, 3]);
    // Without it, the first queue takes everything but the reserve of the second.
    let found = agreed(&slow_links(
        pool,
        "{ reserve = \"1 cells\" }",
        18,
        &[0, 100],
        "",
    ));
    assert_eq!(fills(&found), [20, 1]);
    let refusals: Vec<u64> = found.pools[0]
        .ports
        .iter()
        .map(|port| port.refusals)
        .collect();
    assert_eq!(refusals, [30 - 1 - 20, 30 - 1 - 1]);
}

/// Packets of 128 + 66 bytes on the line take 174 bytes or two memory cells of 100. Of 1 050 bytes, 10
/// memory cells hold five. A reserve of 101 bytes is two of them.
#[test]
fn memory_cells_are_rounded_down_in_the_pool_and_up_for_reserves() {
    let pool = "{ buffer = \"1050 bytes\", cell = \"100 bytes\" }";
    let net = slow_links(pool, "{ reserve = \"101 bytes\" }", 128, &[0, 100], "");
    let found = agreed(&net);
    assert_eq!(fills(&found), [4, 1]);
    let pool = &found.pools[0];
    let places = (
        pool.buffer_places,
        pool.reserved_places,
        pool.max_used_places,
    );
    assert_eq!((pool.place, places), ("memory cell", (10, 4, 10)));
    let port = found
        .ports
        .iter()
        .find(|port| port.can_queue)
        .expect("a port");
    assert_eq!(port.max_queue_places, Some(8));
    // In bytes, the same pool holds 6 packets: 1 050 / 174, less what the reserves leave unused.
    let found = agreed(&slow_links(
        "{ buffer = \"1050 bytes\" }",
        "{}",
        128,
        &[0, 100],
        "",
    ));
    assert_eq!(
        (fills(&found), found.pools[0].max_used_places),
        (vec![6, 0], 1044)
    );
}

/// Packets of 1538 and 84 bytes on the line take 8 memory cells and 1. The port has one input, and no
/// cell waits there, so it takes no part in the pool; its policy counts memory cells all the same.
#[test]
fn a_port_outside_the_pool_counts_memory_cells_too() {
    let policy = |most: u64| {
        format!(
            "{{ policy = \"program\", asked = \"cells\", program = \"if places > {most} {{ refuse }} else {{ accept }}\" }}"
        )
    };
    let dropped = |most: u64| {
        let text = format!(
            r#"
            duration = "2 ms"
            format = "ethernet"
            host = [{{ name = "a" }}, {{ name = "b" }}]
            switch = [{{ name = "s", pool = {{ buffer = "200 kB", cell = "200 bytes" }}, ubr = {{ drop = {} }} }}]
            link = [
                {{ from = "a", to = "s", rate = "1 Gbps" }}, {{ from = "s", to = "b", rate = "40 Gbps" }},
            ]
            vc = [
                {{ name = "long", from = "a", to = "b", traffic = {{ kind = "udp", datagram_size = "1472 bytes", rate = "100 Mbps" }} }},
                {{ name = "short", from = "a", to = "b", traffic = {{ kind = "udp", datagram_size = "18 bytes", rate = "20 Mbps" }} }},
            ]
            "#,
            policy(most)
        );
        let net = read_toml(&text, "outside", &[]).expect("it reads");
        let found = agreed(&net);
        assert!(found.pools[0].ports.is_empty());
        let dropped = |name: &str| {
            let vc = found.vcs.iter().find(|vc| vc.name == name).expect("a VC");
            (vc.cells_dropped > 0, vc.cells_dropped == vc.cells_sent)
        };
        [dropped("long"), dropped("short")]
    };
    assert_eq!(dropped(8), [(false, false), (false, false)]);
    assert_eq!(dropped(7), [(true, true), (false, false)]);
    assert_eq!(dropped(0), [(true, true), (true, true)]);
}

/// A buffer of a time is rounded down to memory cells: 2.1 s at 8 kb/s are 2100 bytes, 10 cells of 200.
#[test]
fn a_buffer_of_a_time_is_in_memory_cells() {
    let pool = "{ buffer = \"100 kB\", cell = \"200 bytes\" }";
    let net = slow_links(pool, "{ buffer = \"2100 ms\" }", 128, &[0, 100], "");
    let found = agreed(&net);
    let port = found
        .ports
        .iter()
        .find(|port| port.can_queue)
        .expect("a port");
    assert_eq!(port.classes[0].buffer_places, Some(10));
    assert_eq!(port.max_queue_places, Some(10));
}

/// A policy with a threshold that was not reached did not refuse.
#[test]
fn a_traced_refusal_has_the_limit_that_it_reached() {
    let limit = |epd: u64, alpha: &str| {
        let text = format!(
            r#"
            duration = "2 ms"
            format = "ethernet"
            host = [{{ name = "a", count = 3 }}, {{ name = "b" }}]
            switch = [{{
                name = "s", pool = {{ buffer = "1000 cells" }},
                ubr = {{ alpha = "{alpha}", drop = {{ policy = "epd", threshold = "{epd} cells" }} }},
            }}]
            link = [
                {{ from = "a", to = "s", rate = "10 Gbps" }}, {{ from = "s", to = "b", rate = "1 Gbps" }},
            ]
            vc = [{{ from = "a", to = "b", traffic = {{ kind = "udp", datagram_size = "1472 bytes", rate = "3 Gbps" }} }}]
            probe = [{{ what = "trace", of = "vc1" }}]
            "#
        );
        let net = read_toml(&text, "limits", &[]).expect("it reads");
        let found = agreed(&net);
        let drop = found.trace.first().expect("a drop");
        (drop.threshold_cells, drop.dynamic_threshold_places)
    };
    let (reached, dynamic) = limit(900, "1/16");
    assert!(reached.is_some() && reached == dynamic);
    let (reached, dynamic) = limit(20, "1/16");
    assert!(reached == Some(20.0) && dynamic > reached);
}

/// Both sources send a packet at each of 30 instants. The first packets find the ports idle. Then both
/// ports fight for the only place until one of them has it.
#[test]
fn the_tie_rule_orders_the_ports_that_fight_for_a_place() {
    let refused = |order: &str, offset: u64| {
        let more = format!("tie_order = \"{order}\"\ntie_offset = {offset}");
        let pool = "{ buffer = \"1 cells\" }";
        let found = agreed(&slow_links(pool, "{}", 18, &[0, 0], &more));
        let ports = found.pools[0].ports.iter();
        let counts = ports.map(|port| (port.refusals, port.tied_refusals));
        counts.collect::<Vec<_>>()
    };
    assert_eq!(refused("fixed", 0), [(28, 0), (29, 1)]);
    assert_eq!(refused("fair", 0), [(28, 0), (29, 1)]);
    // 84 bytes at 8 kb/s are a slot in which all happens. The offset decides who is first.
    assert_eq!(refused("rotating", 0), [(28, 0), (29, 1)]);
    assert_eq!(refused("rotating", 1), [(29, 1), (28, 0)]);
}

/// Two ports send a cell each in the time in which each gets two, always at equal instants, and have one
/// place for both.
#[test]
fn equal_sources_at_two_ports_that_fight_for_a_place_lose_equally_often() {
    let text = r#"
duration = "5 ms"
tie_order = "ORDER"
host = [{ name = "a", count = 2 }, { name = "b", count = 2 }]
switch = [{ name = "s", pool = { buffer = "1 cells" } }]
link = [
    { from = "a", to = "s", rate = "155.52 Mbps" },
    { from = "s", to = "b", rate = "77.76 Mbps" },
]
vc = [{ from = "a", to = "b", count = 2, traffic = { kind = "cbr", rate = "155.52 Mbps" } }]
"#;
    let refusals = |order: &str| {
        let net = read_toml(&text.replace("ORDER", order), "", &[]).expect("it reads");
        let found = agreed(&net);
        let ports = found.pools[0].ports.iter();
        ports.map(|port| port.refusals).collect::<Vec<_>>()
    };
    let [first, second] = refusals("fair")[..] else {
        panic!("two ports")
    };
    assert!(
        first > 100 && first.abs_diff(second) <= 1,
        "{first} {second}"
    );
    let [first, second] = refusals("fixed")[..] else {
        panic!("two ports")
    };
    // The first port sends all the time. The second one has a cell in service for two of three times.
    assert!(2 * second > 2 * first + first / 2, "{first} {second}");
}
