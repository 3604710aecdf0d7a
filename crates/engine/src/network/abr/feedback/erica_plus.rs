//! ERICA+: ERICA with a target that follows the queue, so that the link is full and a small queue
//! remains.
//!
//!   target = f(q) total      total = max(0, capacity - higher)      Q0 = T0 total.
//!   q <= Q0:  f = b Q0 / ((b - 1) q + Q0)                     from b at an empty queue to 1 at Q0.
//!   q > Q0:   f = max(QDLF, a Q0 / ((a - 1) q + Q0))          from there down to QDLF.
//!   q: cells of the class that wait at the end of the interval
//!   T0: queueing delay aimed at [s]    a, b > 1    QDLF: in [0, 1]
//! Rates follow from the target as in `erica`.
//! Source: Kalyanaraman, Jain, Fahmy, Goyal, Vandalore, The ERICA switch algorithm, IEEE/ACM Trans.
//! Networking 8(1), 2000.
//! Not said there, chosen here: as in `erica`; Q0 follows the capacity that the classes above
//! leave; the queue is read once per interval; before the first interval has ended it counts as
//! empty.
//! Limits: as of ERICA; the target may exceed the capacity by a factor of at most b.

use super::shares::{ByShares, Shares};
use super::{Measured, SubscriberTerms};
use crate::ground::format::Clock;
use crate::text::scenario::EricaPlusParams;

/// ERICA+ for one class queue.
#[derive(Clone, Debug)]
pub struct EricaPlus {
    /// Capacity of the link, cells per second.
    capacity: f64,
    curve: Curve,
    shares: Shares,
}

/// Parameters of f.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// T0, seconds.
    t0_s: f64,
    a: f64,
    b: f64,
    qdlf: f64,
}

impl Curve {
    /// Target for a queue of `q` cells and a capacity of `total` cells per second.
    fn target(self, q: f64, total: f64) -> f64 {
        let full = self.t0_s * total;
        if total <= 0.0 {
            0.0
        } else {
            self.factor(q, full) * total
        }
    }

    /// Value of f(q) for Q0 = `full` cells, above 0.
    fn factor(self, q: f64, full: f64) -> f64 {
        let Curve { a, b, qdlf, .. } = self;
        if q <= full {
            b * full / ((b - 1.0) * q + full)
        } else {
            (a * full / ((a - 1.0) * q + full)).max(qdlf)
        }
    }
}

impl EricaPlus {
    /// Creates the rule for a link of `capacity` cells per second.
    pub fn new(
        params: &EricaPlusParams,
        capacity: f64,
        subscribers: &[SubscriberTerms],
    ) -> EricaPlus {
        let curve = Curve {
            t0_s: params.t0.as_seconds(Clock::AAL5),
            a: params.a.as_f64(),
            b: params.b.as_f64(),
            qdlf: params.qdlf.as_f64(),
        };
        let target = curve.target(0.0, capacity);
        EricaPlus {
            capacity,
            curve,
            shares: Shares::equal(&params.of_erica(), subscribers.len(), target),
        }
    }
}

impl ByShares for EricaPlus {
    fn target(&self, measured: &Measured<'_>) -> f64 {
        let total = (self.capacity - measured.higher()).max(0.0);
        self.curve.target(measured.queue_cells as f64, total)
    }

    fn shares(&mut self) -> &mut Shares {
        &mut self.shares
    }
}

#[cfg(test)]
mod tests {
    use super::super::FeedbackRule;
    use super::super::testing::{second, subscriber};
    use super::*;
    use crate::ground::units::{Ratio, Span};

    const PARAMS: EricaPlusParams = EricaPlusParams {
        t0: Span::from_milliseconds(100),
        a: Ratio::new(115, 100),
        b: Ratio::new(105, 100),
        qdlf: Ratio::new(1, 2),
        interval: Span::from_milliseconds(1000),
        delta: Ratio::new(1, 10),
        max_alloc_previous: true,
        load_decay: Ratio::new(0, 1),
        active_decay: Ratio::new(0, 1),
    };

    /// Rule for a link of 1000 cells per second: Q0 = 100 cells.
    fn rule(vcs: usize) -> EricaPlus {
        EricaPlus::new(&PARAMS, 1000.0, &vec![subscriber(0.0, 1.0); vcs])
    }

    fn curve() -> Curve {
        rule(0).curve
    }

    #[test]
    fn f_at_its_corners() {
        let f = |q| curve().factor(q, 100.0);
        assert_eq!(f(0.0), 1.05);
        assert!((f(100.0) - 1.0).abs() < 1e-15);
        assert!((f(100.1) - 1.0).abs() < 1e-3, "no step at Q0");
        // 1.05 * 100 / (0.05 * 50 + 100), 1.15 * 100 / (0.15 * 200 + 100).
        assert!((f(50.0) - 105.0 / 102.5).abs() < 1e-15);
        assert!((f(200.0) - 115.0 / 130.0).abs() < 1e-15);
        // 115 / (0.15 q + 100) = 0.5 at 866.7.
        assert!(f(866.0) > 0.5);
        assert_eq!(f(867.0), 0.5);
        assert_eq!(f(1e9), 0.5);
    }

    #[test]
    fn f_never_rises_with_the_queue() {
        let values: Vec<f64> = (0..2000)
            .map(|q| curve().factor(f64::from(q), 100.0))
            .collect();
        assert!(values.windows(2).all(|w| w[1] <= w[0]));
        assert!(values.windows(2).take(866).all(|w| w[1] < w[0]));
    }

    #[test]
    fn the_target_follows_queue_and_higher_classes() {
        let mut rule = rule(2);
        assert_eq!(rule.backward(0).er, 1050.0, "nothing is measured");
        rule.forward(0, 500.0);
        second(&mut rule, &[1000, 1000], 0, 2000);
        assert_eq!(rule.backward(0).er, 250.0, "QDLF 1000 / 2");
        // Half of the link is left and Q0 = 50, so f(50) = 1.
        second(&mut rule, &[1000, 1000], 500, 50);
        assert!((rule.backward(0).er - 250.0).abs() < 1e-9);
        for queue in [0, 10] {
            second(&mut rule, &[10, 10], 1000, queue);
            assert_eq!(rule.backward(0).er, 0.0, "nothing is left");
        }
        second(&mut rule, &[10, 10], 0, 0);
        assert_eq!(rule.backward(0).er, 525.0, "it said less than FairShare");
        rule.forward(1, 525.0);
        assert_eq!(rule.backward(1).er, 1050.0, "z is tiny");
    }

    /// Queue of a link of 1000 cells per second with greedy sources that start far too fast.
    #[test]
    fn the_queue_settles_near_what_is_aimed_at_and_the_link_is_full() {
        let mut rule = rule(2);
        let (mut rates, mut queue) = ([700.0_f64, 1100.0], 0.0_f64);
        for _ in 0..400 {
            rule.forward(0, rates[0]);
            rule.forward(1, rates[1]);
            queue = (queue + 0.1 * (rates[0] + rates[1] - 1000.0)).max(0.0);
            rule.end_of_interval(&Measured {
                interval_s: 0.1,
                higher_cells: 0,
                arrived_cells: &rates.map(|rate| (rate / 10.0).round() as u64),
                queue_cells: queue.round() as u64,
            });
            rates = [0, 1].map(|vc| rule.backward(vc).er);
        }
        assert!((rates[0] - rates[1]).abs() < 1.0, "{rates:?}");
        assert!(
            (rates[0] + rates[1] - 1000.0).abs() < 20.0,
            "{rates:?} {queue}"
        );
        assert!(queue > 0.0 && queue < 200.0, "{queue}");
    }
}
