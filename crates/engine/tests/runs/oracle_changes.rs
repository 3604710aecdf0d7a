//! Links whose rate changes: engine and twin on random networks, and departures worked by hand.

use crate::common;
use crate::common::build;
use crate::common::changes::{changed, changes};
use crate::common::engines::{self, agrees, both_orders_agree, result};
use crate::common::formats::{in_ethernet, in_format, mtus};
use crate::common::random::{self, Case};
use cellyard_engine::Kernel;
use cellyard_engine::format::Format;
use cellyard_engine::results::PortResult;
use cellyard_engine::scenario::*;

use cellyard_engine::units::{BitRate, Span};
use proptest::prelude::*;

proptest! {
    #![proptest_config(common::config(500))]

    #[test]
    fn engine_and_twin_agree_on_rates_that_change(
        case in random::cases(2_000),
        drawn in changes(),
        feedback in any::<bool>(),
    ) {
        agrees(&changed(case, &drawn, feedback))?;
    }

    /// With packets of one length and of many.
    #[test]
    fn engine_and_twin_agree_on_rates_that_change_in_ethernet(
        mtu in mtus(),
        case in random::cases(2_000),
        equal in any::<bool>(),
        drawn in changes(),
    ) {
        agrees(&changed(in_ethernet(case, mtu, equal), &drawn, false))?;
    }

    #[test]
    fn engine_and_twin_agree_on_rates_that_change_for_equal_cells(
        case in random::cases(2_000),
        cell in 32u64..1_600,
        drawn in changes(),
    ) {
        agrees(&changed(in_format(case, Format::cells(cell, 32, 0)), &drawn, false))?;
    }
}

/// Changes of a rate, each a time in microseconds and a rate in kb/s.
fn at_us(format: Format, changes: &[(u64, u64)]) -> Vec<RateChange> {
    let change = |&(at, rate): &(u64, u64)| RateChange {
        at: format.clock.nanoseconds(1_000 * at),
        rate: BitRate(1_000 * rate),
    };
    changes.iter().map(change).collect()
}

/// Datagrams of one cell at 42.4 Mb/s, so one every 10 us, from `a` over the switch `s` to `b`, for this
/// many microseconds. A cell takes 1 us from `a` to `s`, and 10 us from `s` to `b` before `changes`.
/// Without `through_switch` there is one link of 42.4 Mb/s instead.
fn cells(us: u64, changes: &[(u64, u64)], through_switch: bool, buffer: Option<u64>) -> Scenario {
    let mut net = build::network(build::us(us));
    net.hosts = ["a", "b"].map(build::host).into();
    let rate = |kbps: u64| BitRate(1_000 * kbps);
    let route: &[&str] = match through_switch {
        true => &["s"],
        false => &[],
    };
    if through_switch {
        net.switches = vec![build::switch("s", buffer, DropPolicy::TailDrop)];
        net.links
            .extend(build::links("a", "s", rate(424_000), Span::ZERO));
        net.links
            .extend(build::links("s", "b", rate(42_400), Span::ZERO));
    } else {
        net.links
            .extend(build::links("a", "b", rate(42_400), Span::ZERO));
    }
    let last = net.links.len() - 2;
    net.links[last].changes = at_us(Format::AAL5, changes);
    let traffic = build::datagrams(4, rate(42_400));
    net.vcs = vec![build::vc("v", "a", "b", route, Class::Ubr, traffic)];
    net.probes = vec![Probe::new(Observable::Delivered, "v")];
    net
}

/// When cells arrive at `b`, in whole microseconds. Engine and twin agree.
fn arrivals(net: &Scenario) -> Vec<u64> {
    agrees(&Case::of(net.clone())).expect("they agree");
    let series = &result(net, None, Kernel::Auto).series[0];
    let before = series.value.iter();
    let changes = series.time_s.iter().zip(&series.value).skip(1).zip(before);
    let arrived = changes.filter(|((_, bytes), before)| bytes > before);
    arrived
        .map(|((time, _), _)| (time * 1e6).round() as u64)
        .collect()
}

/// The result of the port `s-b`.
fn port_of(net: &Scenario) -> PortResult {
    let ports = result(net, None, Kernel::Auto).ports;
    let mut found = ports.into_iter().filter(|port| port.name == "s-b");
    found.next().expect("the port")
}

/// At half the rate from 100 us on, without one from 205 us on, and at the first rate from 300 us on.
const CHANGES: [(u64, u64); 3] = [(100, 21_200), (205, 0), (300, 42_400)];

/// Ten cells leave every 10 us. The one that begins at 100 us takes 20 us, and so on. That of 200 us
/// keeps its time until 220 us. The next one begins at 300 us.
#[test]
fn cells_leave_a_host_at_the_rate_at_which_they_begin() {
    let before = (1..=10).map(|k| 10 * k);
    let slower = (1..=6).map(|k| 100 + 20 * k);
    let after = (1..=9).map(|k| 300 + 10 * k);
    let expected: Vec<u64> = before.chain(slower).chain(after).collect();
    assert_eq!(arrivals(&cells(400, &CHANGES, false, None)), expected);
}

/// All cells come 1 us later than at the host, until the pause. The line is idle for 1 us at first,
/// sends for 1 us at the first rate when it has half of it, and for 16 us when it has none. So it sends
/// 26 cells of 424 bits, and could send 100 x 42.4 + 105 x 21.2 + 100 x 42.4 bits.
#[test]
fn cells_leave_a_port_at_the_rate_at_which_they_begin() {
    let before = (1..=10).map(|k| 10 * k + 1);
    let slower = (1..=6).map(|k| 101 + 20 * k);
    let after = (1..=9).map(|k| 300 + 10 * k);
    let expected: Vec<u64> = before.chain(slower).chain(after).collect();
    let net = cells(400, &CHANGES, true, None);
    assert_eq!(arrivals(&net), expected);
    let port = port_of(&net);
    let (sent, most) = (26.0 * 424.0, 10_706.0);
    assert!(
        (port.utilisation - sent / most).abs() < 1e-9,
        "{}",
        port.utilisation
    );
    assert_eq!(port.mean_rate_mbps, Some(most / 400.0));
    // From 150 to 250 us, the line has a rate for 55 us and sends for 71.
    let net = Scenario {
        measure: Measure {
            warm_up: build::us(150),
            window: Some(build::us(100)),
            max_goodput: None,
        },
        ..net
    };
    let port = port_of(&net);
    let found = port.measured_utilisation.expect("it can queue");
    assert!((found - 71.0 / 55.0).abs() < 1e-9, "{found}");
}

/// The share of the link is that of slots at the first rate, also when those take longer or have none.
#[test]
fn a_link_share_is_relative_to_the_first_rate() {
    let mut net = cells(400, &CHANGES, true, None);
    let share = build::probe(Observable::LinkShare, "s-b", Some(build::us(100)));
    net.probes = vec![share];
    let series = &result(&net, None, Kernel::Auto).series;
    // Of a hundred microseconds each, 9, 5, 2 and 9 cells leave: the first comes late, and those of
    // 201 and 221 us after the second.
    let found: Vec<f64> = series.iter().flat_map(|one| one.value.clone()).collect();
    assert_eq!(found, [0.9, 0.5, 0.2, 0.9]);
    assert_eq!(series[0].unit, "fraction of slots at the first rate");
}

/// Cells reach the port at 1, 11, 21, ... us. The buffer holds one.
#[test]
fn a_port_without_a_rate_is_busy_until_the_departures_of_the_return() {
    let drops = |changes: &[(u64, u64)], arrival_first: bool| {
        let net = Scenario {
            arrival_first,
            ..cells(45, changes, true, Some(1))
        };
        let found = engines::ALL.map(|(_, run)| {
            let tally = run(&net, None);
            let port = tally.ports[2].as_ref().expect("it can queue");
            (port.dropped().total(), port.accepted, port.held)
        });
        assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
        found[0]
    };
    // The rate is 0 from 15 to 31 us. The cell of 21 us waits. That of 31 us finds it there, or it
    // begins before.
    let pause = [(15, 0), (31, 42_400)];
    assert_eq!(drops(&pause, true), (1, 4, 1));
    assert_eq!(drops(&pause, false), (0, 5, 2));
    // At 21 us, the change comes before the cell, which waits. The cell of 11 us keeps its time.
    let at_the_cell = [(21, 0), (22, 42_400)];
    assert_eq!(drops(&at_the_cell, true), (0, 5, 1));
    // Nobody waits from 16 to 20 us, and the port is idle when the next cell comes.
    let unseen = [(12, 0), (20, 42_400)];
    assert_eq!(drops(&unseen, true), (0, 5, 1));
}

/// From 25 us on, nothing begins. At a port, what waits is held; at a host, it is not sent.
#[test]
fn what_waits_for_a_rate_that_stays_0_stays() {
    let at_port = cells(45, &[(25, 0)], true, None);
    let at_host = cells(45, &[(25, 0)], false, None);
    for (name, run) in engines::ALL {
        let tally = run(&at_port, None);
        let port = tally.ports[2].as_ref().expect("it can queue");
        assert_eq!(
            (port.accepted, port.held, port.max_queue),
            (5, 2, 2),
            "{name}"
        );
        let tally = run(&at_host, None);
        let flow = &tally.flows[0];
        assert_eq!((flow.cells_sent, flow.cells_not_sent), (3, 2), "{name}");
        // The cell of 30 us waits for 15 us, until the end.
        assert_eq!(
            (tally.nics[0].max_queue, tally.nics[0].max_delay),
            (2, build::us(15)),
            "{name}"
        );
    }
}

/// Cells arrive at 1, 11, 21, ... us, and so do changes.
#[test]
fn both_orders_agree_when_all_cells_come_at_changes() {
    for us in [11, 12, 21, 31] {
        for rate in [0, 21_200, 84_800] {
            let changes = [(us, rate), (us + 20, 42_400)];
            both_orders_agree(cells(80, &changes, true, Some(1)));
            both_orders_agree(cells(80, &changes, false, None));
        }
    }
}
