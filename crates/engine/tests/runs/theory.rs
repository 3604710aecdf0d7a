//! Tests every engine against theory that holds for whole runs exactly, or within a stated error.

use crate::common;
use crate::common::build::{self, OC3};
use crate::common::build::{ms, us};
use crate::common::engines;
use cellyard_engine::Kernel;
use cellyard_engine::format::{Clock, Format};
use cellyard_engine::scenario::*;
use cellyard_engine::testing::Stream;
use cellyard_engine::testing::{Tally, run_tally};
use cellyard_engine::units::{BitRate, Span};
use proptest::prelude::*;

fn tcp() -> Traffic {
    Traffic::Tcp(Box::new(build::tcp()))
}

/// 512 bytes of data take 12 cells of 53 bytes, so a link that is never idle delivers 512/636 of
/// its rate. It is idle only during the first loop. At the end, each source has one frame in
/// flight.
#[test]
fn loss_free_lan_delivers_512_of_every_636_bytes() {
    let delay = us(5);
    let cell = Format::AAL5.cell_time(OC3).0;
    // Six links; 12 + 2 cells are sent, then forwarded once per hop.
    let first_loop = 6 * delay.0 + (12 + 2 + 2 + 2) * cell;
    for (name, engine) in engines::ALL {
        for sources in [3, 5, 8] {
            let duration = ms(30);
            let net = build::dumbbell(sources, delay, duration, None, DropPolicy::TailDrop, |_| {
                tcp()
            });
            let tally = engine(&net, None);
            let bytes: u64 = tally.vcs.iter().map(|v| v.delivered_bytes).sum();
            let busy = bytes / 512 * 12 * cell;
            let idle = duration.0 - busy;
            let allowed = first_loop + sources as u64 * 12 * cell;
            assert!(
                idle <= allowed,
                "{name}, {sources} sources: {idle} > {allowed}"
            );
            assert!(
                tally
                    .vcs
                    .iter()
                    .all(|v| v.sender.retransmitted_segments == 0)
            );
        }
    }
}

/// Windows of W bytes each, never reduced by loss, put at most their sum into the port.
#[test]
fn loss_free_queue_stays_below_the_sum_of_the_windows() {
    let frames_per_window = 65_535 / 512;
    for (name, engine) in engines::ALL {
        for sources in [2, 5] {
            let net = build::dumbbell(sources, us(5), ms(40), None, DropPolicy::TailDrop, |_| {
                tcp()
            });
            let port = build::index_of(&net, "s", "t");
            let max = engine(&net, None).ports[port].as_ref().unwrap().max_queue;
            let windows = sources as u64 * frames_per_window * 12;
            assert!(max <= windows, "{name}: {max} > {windows}");
            // The path holds only a few frames per source.
            assert!(
                max + sources as u64 * 60 >= windows,
                "{name}: {max} of {windows}"
            );
        }
    }
}

/// `n` hosts, each with one cell source, over links of rate `access` into one port of rate OC3.
fn multiplexer(n: usize, access: BitRate, duration: Span, traffic: Traffic) -> Scenario {
    let mut net = build::network(duration);
    net.switches = vec![build::switch("s", None, DropPolicy::TailDrop)];
    net.hosts = vec![build::host("b")];
    net.links = build::links("s", "b", OC3, Span::ZERO).into();
    for i in 0..n {
        let a = format!("a{i}");
        net.hosts.push(build::host(&a));
        net.links.extend(build::links(&a, "s", access, Span::ZERO));
        net.vcs.push(build::vc(
            &format!("v{i}"),
            &a,
            "b",
            &["s"],
            Class::Cbr,
            traffic.clone(),
        ));
    }
    net
}

/// Largest X just after an acceptance, and cells x ticks of waiting, by brute force. Every cell
/// starts when it has arrived and all before it have left.
fn periodic_queue(
    starts: &[u64],
    period: u64,
    service: u64,
    end: u64,
    arrival_first: bool,
) -> (u64, u128) {
    let mut arrivals: Vec<u64> = starts
        .iter()
        .flat_map(|s| {
            (0..)
                .map(move |k| s + k * period + service)
                .take_while(|&a| a < end)
        })
        .collect();
    arrivals.sort_unstable();
    // Start of service for cells that found the port busy.
    let mut waiting: Vec<u64> = Vec::new();
    let mut free: Option<u64> = None;
    let (mut max, mut waited) = (0, 0u128);
    for &at in &arrivals {
        let before = |t: u64| if arrival_first { t < at } else { t <= at };
        let begins = free.map_or(at, |f| at.max(f));
        if !free.is_none_or(before) {
            waiting.push(begins);
            max = max.max(waiting.iter().filter(|&&b| !before(b)).count() as u64);
        }
        waited += u128::from(begins.min(end) - at);
        free = Some(begins + service);
    }
    (max, waited)
}

proptest! {
    #![proptest_config(common::config(40))]

    /// N D/D/1: the queue of N periodic sources depends only on their phases.
    #[test]
    fn periodic_sources_queue_as_brute_force_says(
        phases in proptest::collection::vec((0u64..12, 0u64..3), 1..=10),
        slots in proptest::sample::select(vec![10u64, 12, 15, 16]),
        arrival_first in any::<bool>(),
    ) {
        let cell = Format::AAL5.cell_time(OC3).0;
        let rate = BitRate(OC3.0 / slots);
        let period = Format::AAL5.cell_time(rate).0;
        let end = 50 * period;
        let starts: Vec<u64> = phases.iter().map(|(p, odd)| p * cell + odd * cell / 3).collect();
        let mut net = multiplexer(phases.len(), OC3, Span(end), Traffic::Cbr { rate });
        net.arrival_first = arrival_first;
        for (vc, start) in net.vcs.iter_mut().zip(&starts) {
            vc.start = Span(*start);
        }
        let (max, waited) = periodic_queue(&starts, period, cell, end, arrival_first);
        for (name, engine) in engines::ALL {
            let tally = engine(&net, None);
            let Some(port) = &tally.ports[0] else {
                prop_assert_eq!(phases.len(), 1, "{}", name);
                continue;
            };
            prop_assert_eq!(port.max_queue, max, "{}", name);
            prop_assert_eq!(port.queue_time, waited, "{}", name);
        }
    }
}

/// Mean wait in M/D/1 with load rho: rho / (2 (1 - rho)) service times.
///
/// One Poisson source feeds the port over a link a thousand times faster, which changes the wait by
/// less than 0.1 %.
#[test]
fn poisson_cells_wait_as_in_m_d_1() {
    let service = Format::AAL5.cell_time(BitRate(155_520));
    let runs = 20;
    for (name, engine) in engines::ALL {
        for percent in [50u64, 80] {
            let rate = BitRate(155_520 * percent / 100);
            let cells = 8_000;
            let warm_up = service * 1_000;
            let mut net = multiplexer(1, OC3, service * cells, Traffic::Poisson { rate });
            net.links[0].rate = BitRate(155_520);
            net.measure.warm_up = warm_up;
            let waits: Vec<f64> = (0..runs)
                .map(|replication| {
                    let delay = engine(&net, Some(replication)).vcs[0].delay;
                    delay.mean().unwrap() / service.0 as f64 - 1.0
                })
                .collect();
            let mean = waits.iter().sum::<f64>() / runs as f64;
            let variance =
                waits.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (runs - 1) as f64;
            let error = (variance / runs as f64).sqrt();
            let load = percent as f64 / 100.0;
            let expected = load / (2.0 * (1.0 - load));
            // Student's t with 19 degrees of freedom exceeds 5 with probability 8e-5.
            assert!(
                (mean - expected).abs() < 5.0 * error + 0.001 * expected,
                "{name}, load {load}: {mean} +- {error}, expected {expected}"
            );
            assert!(
                error < 0.05 * expected.max(0.5),
                "{name}: too noisy to tell"
            );
        }
    }
}

/// Every lost frame is lost whole and appears in the counters.
#[test]
fn losses_on_purpose_follow_their_list_and_their_stream() {
    let count = |tally: &Tally| tally.flows[0].clone();
    for (name, engine) in engines::ALL {
        let rate = BitRate(1_555_200);
        let cells = 4_000;
        let duration = Format::AAL5.cell_time(rate) * cells + Format::AAL5.cell_time(OC3) * 3;
        let mut net = multiplexer(1, OC3, duration, Traffic::Cbr { rate });
        let access = build::index_of(&net, "a0", "s");
        net.links[access].lose_frames = vec![0, 3, 4, 3_999];
        let data = count(&engine(&net, None));
        assert_eq!(data.cells_dropped, 4, "{name}");

        net.links[access].lose_frames = vec![];
        net.links[access].lose_probability = cellyard_engine::units::Ratio::new(1, 10);
        let draws = Stream::new(net.seed, 0, &net.links[access].name, "loss");
        let data = count(&engine(&net, None));
        let lost = (0..data.cells_sent)
            .filter(|&n| draws.unit(n) < 0.1)
            .count() as u64;
        assert_eq!(data.cells_dropped, lost, "{name}");
        // Binomial (4001, 0.1): 5 sigma are 95, exceeded with probability 6e-7.
        assert!(lost.abs_diff(400) < 95, "{name}: {lost}");
    }
}

/// A burst of 20 000 s at 155.52 Mb/s has 7.3 x 10^9 cells. That exceeds 32 bits, and frame numbers
/// wrap.
///
/// The counters miss none, on a direct link or through a port under either kernel. The goodput is
/// 48/53 of the line.
#[test]
fn bursts_of_more_cells_than_32_bits_count_are_whole() {
    let on = ms(20_000_000);
    let cells = on.0.div_ceil(Format::AAL5.cell_time(OC3).0);
    assert!(cells > 1 << 32);
    let vbr = build::vbr(OC3, on, on);
    let mut direct = build::network(on);
    direct.hosts = ["a", "b"].map(build::host).into();
    direct.links = build::links("a", "b", OC3, Span::ZERO).into();
    direct.vcs = vec![build::vc("v", "a", "b", &[], Class::Vbr, vbr.clone())];
    let mut through = build::dumbbell(2, Span::ZERO, on, None, DropPolicy::TailDrop, |_| {
        vbr.clone()
    });
    // The other input never brings anything, but makes the port one that can queue.
    through.vcs[1].start = on;
    for (net, kernel) in [
        (&direct, Kernel::Auto),
        (&through, Kernel::Auto),
        (&through, Kernel::Slotted),
    ] {
        let tally = run_tally(net, None, kernel, false).expect("it runs");
        let data = &tally.flows[0];
        assert_eq!(data.frames_sent, cells, "{kernel:?}");
        // The last cells are still in flight.
        assert!(cells - data.cells_delivered <= 4, "{kernel:?}: {data:?}");
        let mbps = tally.vcs[0].measured_bytes as f64 * 8e-6 / on.as_seconds(Clock::AAL5);
        assert!(
            (mbps - 155.52 * 48.0 / 53.0).abs() < 1e-3,
            "{kernel:?}: {mbps}"
        );
    }
}

/// Two constant sources reach one port over their own links. The second begins `later` and sends
/// one cell per `cells_apart` cell times of the first.
fn two_inputs(later: Span, cells_apart: u64, buffer: Option<u64>) -> Scenario {
    let mut net = build::network(ms(2));
    net.hosts = ["a", "b", "c"].map(build::host).into();
    net.switches = vec![build::switch("s", buffer, DropPolicy::TailDrop)];
    let rate = BitRate(155_520_000);
    for name in ["a", "b"] {
        net.links.extend(build::links(name, "s", rate, Span::ZERO));
    }
    net.links.extend(build::links("s", "c", rate, Span::ZERO));
    for (name, start, apart) in [("a", Span::ZERO, 1), ("b", later, cells_apart)] {
        let traffic = build::cbr(BitRate(rate.0 / apart));
        let mut vc = build::vc(name, name, "c", &["s"], Class::Ubr, traffic);
        vc.start = start;
        net.vcs.push(vc);
    }
    net
}

/// Refusals at the port of [`two_inputs`] by input, all and those at contested ties, and its cells
/// dropped.
fn refusals_of(net: &Scenario, engine: engines::Engine) -> ([[u64; 2]; 2], u64) {
    let tally = engine(net, None);
    let port = tally.ports[build::index_of(net, "s", "c")].as_ref();
    let port = port.expect("a port that can queue");
    let refusals = [0, 1].map(|i| [port.refusals[i].all, port.refusals[i].tied]);
    (refusals, port.dropped().total())
}

/// Of two cells that reach a full queue together, one takes the place that became free, so every
/// refusal is at a contested tie. Half a cell time apart, none is.
#[test]
fn inputs_in_phase_are_refused_at_ties_and_others_are_not() {
    let cell = Format::AAL5.cell_time(OC3);
    for (name, engine) in engines::ALL {
        for (buffer, later, apart, tied) in [
            (None, 0, 1, false),
            (Some(5), 0, 1, true),
            (Some(5), 0, 2, true),
            (Some(5), cell.0 / 2, 1, false),
        ] {
            let net = two_inputs(Span(later), apart, buffer);
            let ([a, b], dropped) = refusals_of(&net, engine);
            assert_eq!(dropped > 0, buffer.is_some(), "{name}");
            assert_eq!(a[0] + b[0], dropped, "{name}");
            assert_eq!(a[1] + b[1], if tied { dropped } else { 0 }, "{name}");
        }
    }
}

/// Sources in step at a full queue: k of them bring cells in every cell time, with one place. Under
/// `fair`, their refusals differ by at most one.
#[test]
fn a_fair_order_refuses_sources_in_step_equally_often() {
    for (name, engine) in engines::ALL {
        let mut net = two_inputs(Span::ZERO, 1, Some(5));
        net.tie_order = TieOrder::Fair;
        let ([a, b], dropped) = refusals_of(&net, engine);
        assert_eq!(a[1] + b[1], dropped, "{name}");
        assert!(a[1].abs_diff(b[1]) <= 1, "{name}: {a:?} {b:?}");
    }
}

/// Of two greedy TCPs in step, the one that goes last at each tie loses every cell.
#[test]
fn a_fixed_order_drops_cells_of_the_last_input_alone() {
    for (name, engine) in engines::ALL {
        let mut net = two_inputs(Span::ZERO, 1, Some(5));
        net.tie_order = TieOrder::Fixed;
        let ([a, b], dropped) = refusals_of(&net, engine);
        assert_eq!([a[1], b[1]], [0, dropped], "{name}");
    }
}
