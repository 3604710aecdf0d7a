//! Sources of single cells (model section 9): regular, random, or in bursts.

use super::pace::Pace;
use crate::ground::format::{Format, FrameSize};
use crate::ground::rng::Stream;
use crate::ground::units::{BitRate, Span, Time};
use crate::text::scenario::Emission;

/// Arrival pattern of the cells.
#[derive(Clone, Debug)]
enum Pattern {
    /// Constant rate, all the time or in bursts.
    Regular(Pace),
    /// Exponential gaps.
    Poisson {
        /// Mean gap, ticks.
        mean_ticks: f64,
        /// Random draws for the gaps.
        stream: Stream,
        /// Cells emitted.
        cells: u64,
    },
}

/// A source of single cells.
#[derive(Clone, Debug)]
pub struct CellSource {
    pattern: Pattern,
    /// Bytes that each cell carries.
    pub payload_bytes: u64,
    /// Frame that each cell is.
    pub size: FrameSize,
    /// Time of the next cell, if before `stop`.
    pub next: Time,
    /// Time from which nothing is emitted.
    pub stop: Time,
}

impl CellSource {
    /// The source of `emission` from `start` until before `stop`; `draws` provides draws for random
    /// gaps.
    pub fn new(
        emission: Emission,
        format: Format,
        start: Time,
        stop: Time,
        draws: impl FnOnce() -> Stream,
    ) -> CellSource {
        let regular = |rate: BitRate, bursts| {
            let pace = Pace::new(format.cell_time(rate), bursts, start);
            (Pattern::Regular(pace), start)
        };
        let (pattern, next) = match emission {
            Emission::Periodic { rate } => regular(rate, None),
            Emission::Bursts { rate, on, off } => regular(rate, Some([on, off])),
            Emission::Poisson { rate } => {
                let mean_ticks = format.cell_ticks_at_one_bps() as f64 / rate.0 as f64;
                let stream = draws();
                let pattern = Pattern::Poisson {
                    mean_ticks,
                    stream,
                    cells: 0,
                };
                (pattern, start + gap(mean_ticks, stream, 0))
            }
        };
        CellSource {
            pattern,
            payload_bytes: format.cell_payload_bytes,
            size: format.one_cell(),
            next,
            stop,
        }
    }

    /// Number of equally spaced cells from `next` on, and their spacing. The stop is ignored.
    pub fn regular(&self) -> (u64, Span) {
        const ALONE: (u64, Span) = (1, Span(1));
        match &self.pattern {
            Pattern::Regular(pace) => pace.regular(),
            Pattern::Poisson { .. } => ALONE,
        }
    }

    /// Advances by `n` cells; `n` must be 1 unless the cells are regular.
    pub fn emitted(&mut self, n: u64) {
        self.next = match &mut self.pattern {
            Pattern::Regular(pace) => pace.emitted(n),
            Pattern::Poisson {
                mean_ticks,
                stream,
                cells,
            } => {
                *cells += n;
                self.next + gap(*mean_ticks, *stream, *cells)
            }
        };
    }
}

fn gap(mean_ticks: f64, stream: Stream, number: u64) -> Span {
    Span((stream.exponential(number) * mean_ticks).round().max(1.0) as u64)
}
