//! Emission times of sources of cells and of UDP (model section 9).

use crate::ground::format::Format;
use crate::ground::rng::Stream;
use crate::ground::units::{Span, Time};
use crate::text::scenario::{Emission, UdpParams};

/// The instants, in order, at which a source emits a cell or a frame before it stops.
pub(super) struct Emissions {
    pattern: Pattern,
    /// Start of the source or of the current burst; for a Poisson process the time of the latest
    /// cell.
    from: Time,
    /// Emissions since `from`; for a Poisson process since the start.
    emitted: u64,
    /// Cells per emission: those of a frame, or 1.
    cells: u64,
    /// When the source stops.
    stop: Time,
}

enum Pattern {
    Cbr(Span),
    Poisson { mean_gap: f64, draws: Stream },
    Vbr { gap: Span, on: Span, off: Span },
    Silent,
}

impl Emissions {
    pub(super) fn new(
        emission: Emission,
        format: Format,
        start: Time,
        stop: Time,
        draws: Stream,
    ) -> Emissions {
        let pattern = match emission {
            Emission::Periodic { rate } => Pattern::Cbr(format.cell_time(rate)),
            Emission::Poisson { rate } => Pattern::Poisson {
                mean_gap: format.cell_ticks_at_one_bps() as f64 / rate.0 as f64,
                draws,
            },
            Emission::Bursts { on: Span::ZERO, .. } => Pattern::Silent,
            Emission::Bursts { rate, on, off } => Pattern::Vbr {
                gap: format.cell_time(rate),
                on,
                off,
            },
        };
        Emissions {
            pattern,
            from: start,
            emitted: 0,
            cells: 1,
            stop,
        }
    }

    /// Emissions of the frames of a UDP source.
    pub(super) fn of_frames(udp: UdpParams, format: Format, start: Time, stop: Time) -> Emissions {
        let frame = udp.frame(format);
        let gap = format.time_of(frame.cell_bytes(), udp.rate);
        let pattern = match udp.on {
            None => Pattern::Cbr(gap),
            Some(on) => Pattern::Vbr {
                gap,
                on,
                off: udp.off,
            },
        };
        Emissions {
            pattern,
            from: start,
            emitted: 0,
            cells: u64::from(frame.cells()),
            stop,
        }
    }
}

impl Iterator for Emissions {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        let at = match self.pattern {
            Pattern::Silent => return None,
            Pattern::Cbr(gap) => self.from + gap * (self.emitted * self.cells),
            Pattern::Poisson { mean_gap, draws } => {
                let gap = (draws.exponential(self.emitted) * mean_gap).round() as u64;
                self.from += Span(gap.max(1));
                self.from
            }
            Pattern::Vbr { gap, on, off } => {
                let mut at = self.from + gap * (self.emitted * self.cells);
                if at >= self.from + on {
                    self.from += on + off;
                    self.emitted = 0;
                    at = self.from;
                }
                at
            }
        };
        self.emitted += 1;
        (at < self.stop).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::units::BitRate;

    fn first(emission: Emission, n: usize) -> Vec<u64> {
        let draws = Stream::new(3, 0, "v", "poisson");
        let emissions = Emissions::new(emission, Format::AAL5, Time(1000), Time::NEVER, draws);
        emissions.take(n).map(|t| t.0 - 1000).collect()
    }

    #[test]
    fn no_cell_comes_at_or_after_the_stop() {
        let rate = BitRate(155_520_000);
        let cell = Format::AAL5.cell_time(rate).0;
        let (on, off) = (Span(4 * cell), Span(cell));
        let draws = Stream::new(3, 0, "v", "poisson");
        for (stop, cells) in [
            (0, 0),
            (1, 1),
            (2 * cell, 2),
            (2 * cell + 1, 3),
            (9 * cell, 8),
        ] {
            for emission in [
                Emission::Bursts { rate, on, off },
                Emission::Bursts {
                    rate,
                    on: Span(on.0 - 1),
                    off: off + Span(1),
                },
            ] {
                let stop = Time(1000 + stop);
                let emissions = Emissions::new(emission, Format::AAL5, Time(1000), stop, draws);
                assert_eq!(emissions.count(), cells, "{emission:?} until {stop:?}");
            }
        }
    }

    #[test]
    fn bursts_begin_on_their_grid_and_end_before_the_pause() {
        let rate = BitRate(155_520_000);
        let cell = Format::AAL5.cell_time(rate).0;
        let (on, off) = (Span(2 * cell), Span(cell + 5));
        let period = 3 * cell + 5;
        let expected = [0, cell, period, period + cell, 2 * period];
        assert_eq!(first(Emission::Bursts { rate, on, off }, 5), expected);
        let on = Span::ZERO;
        assert!(first(Emission::Bursts { rate, on, off }, 1).is_empty());
    }

    #[test]
    fn poisson_gaps_are_their_draws() {
        let rate = BitRate(1_000_000);
        let draws = Stream::new(3, 0, "v", "poisson");
        let mean_gap = Format::AAL5.cell_time(rate).0 as f64;
        let gap = |n| (draws.exponential(n) * mean_gap).round() as u64;
        let times = first(Emission::Poisson { rate }, 3);
        // The product in another order may round to the neighbouring tick.
        for (n, pair) in [0]
            .iter()
            .chain(&times)
            .collect::<Vec<_>>()
            .windows(2)
            .enumerate()
        {
            assert!((pair[1] - pair[0]).abs_diff(gap(n as u64)) <= 1);
        }
    }
}
