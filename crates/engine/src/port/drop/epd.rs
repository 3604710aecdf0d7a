//! Early packet discard: refuse new frames when the queue is longer than a threshold.
//!
//! Refuse a frame  <=>  X > T
//!   X  cells waiting in the class queue      T  threshold [cells], 0 <= T <= K     K  buffer size [cells]
//! Decided at the first cell of a frame. Frames already begun go on while there is room; K - T
//! cells are kept for them.
//! Source: `ubr-plus`, section 5, with T = K - 200: room for one frame of 12 cells of each of 15
//! VCs. Below K = 400 that would leave little or nothing, so half of K is kept there by default.
//! Limits: no protection of one VC against another.

use super::{Arriving, Decision, DropRule, QueueView, exceeds, first_above, resolve};
use crate::ground::units::{Ratio, Time};
use crate::text::scenario::Threshold;

/// Early packet discard for one class queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Epd {
    /// T; `None`: never reached.
    threshold: Option<Ratio>,
}

/// Default reserve of a buffer of `k` cells.
fn usual_reserve(k: u64) -> u64 {
    (k / 2).min(200)
}

impl Epd {
    /// Creates the policy with `threshold`, or with `buffer` - `reserve` (at least 0) if that is
    /// absent.
    /// Without both, the reserve is [`usual_reserve`].
    pub fn new(
        threshold: Option<Threshold>,
        reserve: Option<Threshold>,
        buffer: Option<u64>,
    ) -> Epd {
        let threshold = match threshold {
            Some(t) => resolve(t, buffer),
            None => buffer.and_then(|k| {
                let reserve = reserve.unwrap_or_else(|| Threshold::Cells(usual_reserve(k)));
                let Ratio { num, den } = resolve(reserve, buffer)?;
                Some(Ratio::new((k * den).saturating_sub(num), den))
            }),
        };
        Epd { threshold }
    }

    /// Whether X > T.
    fn refuses(&self, queue: &QueueView) -> bool {
        self.threshold.is_some_and(|t| exceeds(queue.waiting, t))
    }
}

impl DropRule for Epd {
    fn admit(&mut self, _now: Time, _cell: &Arriving, queue: &QueueView) -> Decision {
        Decision::refuse_if(self.refuses(queue))
    }

    /// Threshold T, cells.
    fn threshold(&self, _vc: u32, _queue: &QueueView) -> Option<f64> {
        self.threshold.map(Ratio::as_f64)
    }

    /// The smallest X above T.
    fn smallest_refusal(&self) -> u64 {
        first_above(self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::queue;
    use super::*;

    #[test]
    fn refuses_above_the_threshold_only() {
        let epd = Epd::new(None, Some(Threshold::Cells(200)), Some(1000));
        assert!(!epd.refuses(&queue(800, 0, 0)));
        assert!(epd.refuses(&queue(801, 0, 0)));
        assert_eq!(epd.smallest_refusal(), 801);
    }

    #[test]
    fn what_is_kept_is_200_cells_but_no_more_than_half() {
        let threshold = |k| Epd::new(None, None, Some(k)).threshold(0, &queue(0, 0, 0));
        assert_eq!(
            [12_000, 1000, 400, 399, 220, 5].map(threshold),
            [11_800.0, 800.0, 200.0, 200.0, 110.0, 3.0].map(Some)
        );
        assert_eq!(
            Epd::new(None, None, None).threshold(0, &queue(0, 0, 0)),
            None
        );
    }

    #[test]
    fn the_threshold_is_told() {
        let half = Threshold::Fraction(Ratio::new(1, 2));
        let epd = Epd::new(Some(half), None, Some(1005));
        assert_eq!(epd.threshold(0, &queue(600, 0, 0)), Some(502.5));
        let unlimited = Epd::new(None, Some(Threshold::Cells(200)), None);
        assert_eq!(unlimited.threshold(0, &queue(600, 0, 0)), None);
    }

    #[test]
    fn fraction_of_an_odd_buffer_is_exact() {
        // 0.9 x 1005 = 904.5: 905 is the first integer above.
        let part = Threshold::Fraction(Ratio::new(9, 10));
        let epd = Epd::new(Some(part), None, Some(1005));
        assert!(!epd.refuses(&queue(904, 0, 0)));
        assert!(epd.refuses(&queue(905, 0, 0)));
        assert_eq!(epd.smallest_refusal(), 905);
    }

    /// A tenth of 1005 is reserved, which leaves 904.5. So it is a threshold of nine tenths.
    #[test]
    fn a_reserve_is_a_part_of_the_buffer_too() {
        let tenth = Threshold::Fraction(Ratio::new(1, 10));
        let epd = Epd::new(None, Some(tenth), Some(1005));
        assert_eq!(epd.threshold(0, &queue(0, 0, 0)), Some(904.5));
        assert!(!epd.refuses(&queue(904, 0, 0)));
        assert!(epd.refuses(&queue(905, 0, 0)));
        let whole = Threshold::Fraction(Ratio::new(1, 1));
        assert_eq!(Epd::new(None, Some(whole), Some(7)).smallest_refusal(), 1);
        let unlimited = Epd::new(None, Some(tenth), None);
        assert_eq!(unlimited.threshold(0, &queue(0, 0, 0)), None);
    }

    #[test]
    fn unlimited_buffer_never_refuses() {
        let epd = Epd::new(None, Some(Threshold::Cells(200)), None);
        assert!(!epd.refuses(&queue(u64::MAX, 0, 0)));
        assert_eq!(epd.smallest_refusal(), u64::MAX);
    }
}
