//! Round-trip estimate and retransmission timeout (RTO), in ticks of the timer's grid.
//!
//! `bsd` uses integers as in 4.4BSD-Lite `tcp_xmit_timer`, with srtt8 = 8 srtt and rttvar4 = 4
//! rttvar. The sample m is a counter that starts at 1 and grows by 1 per tick. Shifts round down:
//!
//! ```text
//! first sample: srtt8 = 8 m, rttvar4 = 2 m;
//! later:        d = m - 1 - (srtt8 >> 3); srtt8 = max(1, srtt8 + d);
//!               rttvar4 = max(1, rttvar4 + |d| - (rttvar4 >> 2));
//! estimate = (srtt8 >> 3) + rttvar4.
//! ```
//!
//! `rfc6298` uses floats as in section 2 of the RFC. The sample R is the measured time, rounded up
//! to whole ticks:
//!
//! ```text
//! first sample: SRTT = R, RTTVAR = R / 2;
//! later:        RTTVAR = 0.75 RTTVAR + 0.25 |SRTT - R|, then SRTT = 0.875 SRTT + 0.125 R;
//! estimate = ceil(SRTT + max(1, 4 RTTVAR)).
//! ```
//!
//! `bsd-lite2` is `bsd` with the rules of 4.4BSD-Lite2 (`tcp_newtcpcb`, `tcp_timers`) without
//! samples:
//!
//! ```text
//! at first:       srtt8 = 0, rttvar4 = 2 initial_rto;
//! from the fourth consecutive timeout on: rttvar4 += srtt8 >> 3, srtt8 = 0,
//!                 and the next sample is a first one;
//! RTO = min(max_rto, max(min_rto, 2^b estimate));
//! RTO = initial_rto while there is neither sample nor timeout.
//! ```
//!
//! For the other estimators RTO = min(max_rto, 2^b max(min_rto, estimate)), and before the first
//! sample RTO = min(max_rto, 2^b initial_rto).
//!
//! The back-off b grows by 1 per timeout up to 6 (factor 64, `tcp_backoff` of 4.4BSD). A sample
//! resets b to 0 (Karn and Partridge, SIGCOMM 1987; RFC 6298 section 5). Limits that are not whole
//! ticks are rounded up.
//!
//! Not taken over from 4.4BSD: giving up after twelve timeouts.

use super::grid::Grid;
use crate::ground::units::Span;
use crate::text::scenario::model::{Estimator, TcpParams};

/// Largest number of doublings.
const MAX_BACK_OFF: u32 = 6;
/// Consecutive timeouts after which 4.4BSD-Lite2 forgets srtt.
const MANY_TIMEOUTS: u32 = 4;

/// Estimator and back-off of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rtt {
    estimate: Estimate,
    samples: Samples,
    back_off: u32,
    /// Whether to follow 4.4BSD-Lite2 in all respects.
    lite2: bool,
    /// RTO without back-off, in ticks.
    base: u64,
    min: u64,
    max: u64,
}

/// Whether the estimate follows from samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Samples {
    /// There was no sample yet: the RTO is the initial one.
    None,
    Some,
    /// srtt was forgotten, so the next sample counts as a first one.
    Forgotten,
}

#[derive(Clone, Copy, Debug)]
enum Estimate {
    Bsd { srtt8: i64, rttvar4: i64 },
    Rfc6298 { srtt: f64, rttvar: f64 },
}

impl Rtt {
    /// An estimator without samples.
    pub fn new(params: &TcpParams, grid: &Grid) -> Rtt {
        let min = grid.ticks_of(params.min_rto).max(1);
        let initial = grid.ticks_of(params.initial_rto).max(1);
        Rtt {
            estimate: match params.estimator {
                Estimator::Bsd => Estimate::Bsd {
                    srtt8: 0,
                    rttvar4: 0,
                },
                Estimator::BsdLite2 => Estimate::Bsd {
                    srtt8: 0,
                    rttvar4: (2 * initial) as i64,
                },
                Estimator::Rfc6298 => Estimate::Rfc6298 {
                    srtt: 0.0,
                    rttvar: 0.0,
                },
            },
            samples: Samples::None,
            back_off: 0,
            lite2: params.estimator == Estimator::BsdLite2,
            base: initial,
            min,
            max: grid.ticks_of(params.max_rto).max(min),
        }
    }

    /// Takes a sample. `ticks` have passed on `grid` since the segment was sent, `elapsed` ago.
    pub fn sample(&mut self, ticks: u64, elapsed: Span, grid: &Grid) {
        let estimate = match &mut self.estimate {
            Estimate::Bsd { srtt8, rttvar4 } => {
                let m = ticks as i64 + 1;
                if self.samples == Samples::Some {
                    let d = m - 1 - (*srtt8 >> 3);
                    *srtt8 = (*srtt8 + d).max(1);
                    *rttvar4 = (*rttvar4 + d.abs() - (*rttvar4 >> 2)).max(1);
                } else {
                    *srtt8 = m * 8;
                    *rttvar4 = m * 2;
                }
                ((*srtt8 >> 3) + *rttvar4) as u64
            }
            Estimate::Rfc6298 { srtt, rttvar } => {
                let r = grid.ticks_of(elapsed) as f64;
                if self.samples == Samples::Some {
                    *rttvar = 0.75 * *rttvar + 0.25 * (*srtt - r).abs();
                    *srtt = 0.875 * *srtt + 0.125 * r;
                } else {
                    *srtt = r;
                    *rttvar = r / 2.0;
                }
                (*srtt + (4.0 * *rttvar).max(1.0)).ceil() as u64
            }
        };
        self.samples = Samples::Some;
        self.back_off = 0;
        self.base = if self.lite2 {
            estimate
        } else {
            estimate.max(self.min)
        };
    }

    /// Doubles the RTO after a timeout.
    pub fn back_off(&mut self) {
        self.back_off = (self.back_off + 1).min(MAX_BACK_OFF);
        if self.lite2
            && let Estimate::Bsd { srtt8, rttvar4 } = &mut self.estimate
        {
            self.base = ((*srtt8 >> 3) + *rttvar4) as u64;
            if self.back_off >= MANY_TIMEOUTS {
                *rttvar4 += *srtt8 >> 3;
                *srtt8 = 0;
                self.samples = Samples::Forgotten;
            }
        }
    }

    /// Whether there was no sample yet, so that the RTO is the initial one, backed off.
    pub fn is_initial(&self) -> bool {
        self.samples == Samples::None
    }

    /// RTO in ticks, at least 1.
    pub fn rto(&self) -> u64 {
        let least = if self.lite2 { self.min } else { 1 };
        let backed_off = self.base.saturating_mul(1 << self.back_off);
        backed_off.max(least).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::params;
    use super::*;
    use crate::text::scenario::model::Recovery;

    const TICK: Span = Span::from_milliseconds(100);

    fn rtt(estimator: Estimator) -> (Rtt, Grid) {
        let params = TcpParams {
            estimator,
            granularity: TICK,
            min_rto: Span::from_milliseconds(200),
            initial_rto: Span::from_milliseconds(1950),
            max_rto: Span::from_milliseconds(12_800),
            ..params(Recovery::Vanilla)
        };
        let grid = Grid::new(TICK, Span::ZERO);
        (Rtt::new(&params, &grid), grid)
    }

    fn bsd_after(ticks: &[u64]) -> u64 {
        let (mut rtt, grid) = rtt(Estimator::Bsd);
        for &t in ticks {
            rtt.sample(t, Span::ZERO, &grid);
        }
        rtt.rto()
    }

    #[test]
    fn before_a_sample_the_rto_is_the_initial_one_rounded_up() {
        assert_eq!(rtt(Estimator::Bsd).0.rto(), 20);
    }

    #[test]
    fn bsd_matches_hand_computed_values() {
        // m = 5: srtt8 = 40, rttvar4 = 10.
        assert_eq!(bsd_after(&[4]), 5 + 10);
        // m = 8: d = 7 - 5 = 2; srtt8 = 42, rttvar4 = 10 + 2 - 2 = 10.
        assert_eq!(bsd_after(&[4, 7]), 5 + 10);
        // m = 1: d = 0 - 5 = -5; srtt8 = 37, rttvar4 = 10 + 5 - 2 = 13.
        assert_eq!(bsd_after(&[4, 7, 0]), 4 + 13);
    }

    #[test]
    fn bsd_on_a_lan_settles_at_three_ticks() {
        // m = 1 always: (8, 2), (7, 3), then constant.
        assert_eq!(bsd_after(&[0]), 3);
        assert_eq!(bsd_after(&[0; 2]), 3);
        assert_eq!(bsd_after(&[0; 50]), 3);
    }

    #[test]
    fn bsd_returns_to_the_lan_value_after_one_long_round_trip() {
        let mut ticks = vec![30];
        ticks.extend([0; 400]);
        assert_eq!(bsd_after(&ticks[..1]), 31 + 62);
        assert_eq!(bsd_after(&ticks), 3);
    }

    #[test]
    fn the_minimum_bounds_the_rto_before_back_off() {
        let (mut rtt, grid) = rtt(Estimator::Bsd);
        rtt.min = 10;
        rtt.sample(0, Span::ZERO, &grid);
        assert_eq!(rtt.rto(), 10);
        rtt.back_off();
        assert_eq!(rtt.rto(), 20);
    }

    #[test]
    fn rfc6298_matches_hand_computed_values() {
        let (mut rtt, grid) = rtt(Estimator::Rfc6298);
        // Rounded up to 4 ticks: SRTT 4, RTTVAR 2.
        rtt.sample(0, Span::from_milliseconds(310), &grid);
        assert_eq!(rtt.rto(), 12);
        // R = 8: RTTVAR = 1.5 + 1 = 2.5, SRTT = 3.5 + 1 = 4.5; 14.5 rounded up.
        rtt.sample(0, Span::from_milliseconds(800), &grid);
        assert_eq!(rtt.rto(), 15);
    }

    #[test]
    fn rfc6298_variance_term_is_at_least_one_tick() {
        let (mut rtt, grid) = rtt(Estimator::Rfc6298);
        for _ in 0..200 {
            rtt.sample(0, Span::from_milliseconds(400), &grid);
        }
        assert_eq!(rtt.rto(), 5);
    }

    #[test]
    fn back_off_doubles_to_64_then_stays_and_a_sample_ends_it() {
        let (mut rtt, grid) = rtt(Estimator::Bsd);
        rtt.max = 1_000_000;
        rtt.sample(0, Span::ZERO, &grid);
        let mut seen = vec![];
        for _ in 0..8 {
            seen.push(rtt.rto());
            rtt.back_off();
        }
        assert_eq!(seen, [3, 6, 12, 24, 48, 96, 192, 192]);
        rtt.sample(0, Span::ZERO, &grid);
        assert_eq!(rtt.rto(), 3);
    }

    /// Timer of 4.4BSD: ticks of 500 ms, at least 1 s, initially 6 s, at most 64 s.
    fn lite2() -> (Rtt, Grid) {
        let params = TcpParams {
            estimator: Estimator::BsdLite2,
            granularity: Span::from_milliseconds(500),
            min_rto: Span::from_milliseconds(1_000),
            initial_rto: Span::from_milliseconds(6_000),
            max_rto: Span::from_milliseconds(64_000),
            ..params(Recovery::Reno)
        };
        let grid = Grid::new(params.granularity, Span::ZERO);
        (Rtt::new(&params, &grid), grid)
    }

    #[test]
    fn lite2_without_samples_waits_6_24_48_and_64_seconds() {
        let (mut rtt, grid) = lite2();
        let mut seen = vec![];
        for _ in 0..5 {
            seen.push(rtt.rto());
            rtt.back_off();
        }
        assert_eq!(seen, [12, 48, 96, 128, 128]);
        // A first sample of one tick gives 1 + 2.
        rtt.sample(0, Span::ZERO, &grid);
        assert_eq!(rtt.rto(), 3);
    }

    #[test]
    fn lite2_forgets_srtt_after_four_timeouts_in_a_row() {
        // With m = 5 and then m = 1: srtt8 = 35, rttvar4 = 10 + 5 - 2. After four timeouts the
        // second is a first sample, (8, 2).
        for (timeouts, then) in [(3, 4 + 13), (4, 1 + 2)] {
            let (mut rtt, grid) = lite2();
            rtt.sample(4, Span::ZERO, &grid);
            for back_off in 1..=timeouts {
                rtt.back_off();
                assert_eq!(rtt.rto(), (15 << back_off).min(128));
            }
            rtt.sample(0, Span::ZERO, &grid);
            assert_eq!(rtt.rto(), then);
        }
    }

    #[test]
    fn lite2_limits_the_product() {
        let (mut rtt, grid) = lite2();
        rtt.min = 10;
        rtt.sample(0, Span::ZERO, &grid);
        assert_eq!(rtt.rto(), 10);
        rtt.back_off();
        assert_eq!(rtt.rto(), 10, "twice 3 is below");
        rtt.back_off();
        assert_eq!(rtt.rto(), 12);
    }

    #[test]
    fn the_maximum_bounds_the_backed_off_rto() {
        let (mut rtt, _) = rtt(Estimator::Bsd);
        for _ in 0..6 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), 128);
    }
}
