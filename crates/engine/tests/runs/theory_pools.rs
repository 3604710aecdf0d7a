//! Dynamic thresholds against closed forms (Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998).

use crate::common::engines::result;
use cellyard_engine::Kernel;
use cellyard_engine::scenario::read_toml;

/// Time of a cell at the links out of the switch, seconds.
const SLOT: f64 = 424.0 / 10e6;

/// A source of single cells that sends `rate` cells a slot from `start` on to a separate port, whose queue
/// has `alpha`.
struct Flow {
    rate: u64,
    alpha: String,
    start_slots: u64,
}

/// The scenario of these flows with a pool of `size` cells, for `slots` slots.
fn net(size: u64, flows: &[Flow], slots: u64) -> String {
    let us = |slots: u64| format!("{:.3} us", slots as f64 * SLOT * 1e6);
    let parts = flows.iter().enumerate().map(|(i, flow)| {
        let (rate, alpha, start) = (10 * flow.rate, &flow.alpha, us(flow.start_slots));
        format!(
            r#"
[[host]]
name = "a{i}"
[[host]]
name = "b{i}"
[[link]]
from = "a{i}"
to = "s"
rate = "{rate} Mbps"
[[link]]
from = "s"
to = "b{i}"
rate = "10 Mbps"
ubr = {{ alpha = "{alpha}" }}
[[vc]]
name = "v{i}"
from = "a{i}"
to = "b{i}"
start = "{start}"
traffic = {{ kind = "udp", datagram_size = "4 bytes", rate = "{rate} Mbps" }}
[[probe]]
what = "queue"
of = "s->b{i}"
[[probe]]
what = "trace"
of = "v{i}"
"#
        )
    });
    format!(
        "duration = \"{}\"\nswitch = [{{ name = \"s\", pool = {{ buffer = \"{size} cells\" }} }}]\n{}",
        us(slots),
        parts.collect::<String>()
    )
}

/// n queues that always have more to send: X_i = alpha_i B / (1 + sum of all alpha), within n + 2 cells.
#[test]
fn saturated_queues_share_the_pool_by_their_alphas() {
    let cases: [(u64, &[(u64, u64)]); 5] = [
        (1_000, &[(1, 1), (1, 1)]),
        (1_000, &[(1, 1); 5]),
        (4_096, &[(1, 2); 3]),
        (1_000, &[(8, 1); 2]),
        (1_200, &[(1, 1), (2, 1)]),
    ];
    for (size, alphas) in cases {
        let flow = |&(num, den): &(u64, u64)| Flow {
            rate: 2,
            alpha: format!("{num}/{den}"),
            start_slots: 0,
        };
        let flows: Vec<Flow> = alphas.iter().map(flow).collect();
        let text = net(size, &flows, 10 * size);
        let scenario = read_toml(&text, "", &[]).expect("it reads");
        let found = result(&scenario, None, Kernel::Auto);
        let sum: f64 = alphas
            .iter()
            .map(|&(num, den)| num as f64 / den as f64)
            .sum();
        let series = found.series.iter().filter(|series| series.what == "queue");
        for (series, &(num, den)) in series.zip(alphas) {
            let x = num as f64 / den as f64 * size as f64 / (1.0 + sum);
            // Just before the end of the run, all queues have their latest cell.
            let last = series.value[series.value.len() - 2];
            let most = alphas.len() as f64 + 2.0;
            assert!(
                (last - x).abs() <= most,
                "{size} {alphas:?}: {last} for {x}"
            );
        }
    }
}

/// A burst of r cells a slot into an empty queue next to a saturated one. Cells that come up to its
/// first refusal, within 3 r + 3: alpha B / (1 + 2 alpha) in queue while (r - 1) alpha <= 1 + alpha.
/// Else the long queue shrinks by a cell a slot, and after t slots the burst finds its threshold:
/// (r - 1) t = alpha (B - T + t - (r - 1) t), with T = alpha B / (1 + alpha).
#[test]
fn a_burst_is_refused_where_its_threshold_meets_it() {
    let cases = [
        (1_000, (1, 1), 2, 666.667),
        (1_000, (1, 1), 3, 500.0),
        (1_000, (1, 1), 8, 307.692),
        (4_000, (1, 2), 4, 1_333.333),
        (4_000, (8, 1), 16, 447.944),
        (4_000, (2, 1), 3, 2_000.0),
    ];
    for (size, (num, den), rate, stated) in cases {
        let alpha = num as f64 / den as f64;
        let (b, r, saturated) = (
            size as f64,
            rate as f64,
            alpha * size as f64 / (1.0 + alpha),
        );
        let slots = if (r - 1.0) * alpha <= 1.0 + alpha {
            alpha * b / (1.0 + 2.0 * alpha) / (r - 1.0)
        } else {
            saturated / ((r - 1.0) + alpha * (r - 2.0))
        };
        let expected = r * slots;
        assert!((expected - stated).abs() < 0.001, "{expected} {stated}");
        let begin = 3 * size;
        let flow = |rate, start_slots| Flow {
            rate,
            alpha: format!("{num}/{den}"),
            start_slots,
        };
        let text = net(size, &[flow(2, 0), flow(rate, begin)], begin + 2 * size);
        let scenario = read_toml(&text, "", &[]).expect("it reads");
        let found = result(&scenario, None, Kernel::Auto);
        let refused = found.trace.iter().find(|drop| drop.vc == "v1");
        let came = f64::from(refused.expect("it is refused").frame);
        let most = 3.0 * r + 3.0;
        assert!(
            (came - expected).abs() <= most,
            "{size} {alpha} {rate}: {came} for {expected}"
        );
    }
}
