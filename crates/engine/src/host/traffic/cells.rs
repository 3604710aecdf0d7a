//! Sources of single cells (model section 9): at equal distances, at random, or in bursts.

use crate::rng::Stream;
use crate::scenario::Emission;
use crate::units::{CELL_BITS, CellTime, Span, TICKS_PER_SECOND, Time};

/// How cells follow each other.
#[derive(Clone, Debug)]
enum Pattern {
    /// Cell k at the start plus ceil(k times the cell time of its rate).
    Periodic {
        /// Cell time of the rate.
        cell_time: CellTime,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean gap, ticks.
        mean_ticks: f64,
        /// For the gaps.
        stream: Stream,
    },
    /// Bursts of a periodic source.
    Bursts {
        /// Cell time within a burst.
        cell_time: CellTime,
        /// Length of a burst.
        on: Span,
        /// Length of a pause.
        off: Span,
    },
}

/// A source of single cells.
#[derive(Clone, Debug)]
pub struct CellSource {
    pattern: Pattern,
    /// Start of the source or of the burst.
    since: Time,
    /// Cells emitted since then (or at all).
    cells: u64,
    /// Time of the next cell, if it is before `stop`.
    pub next: Time,
    /// From when on it emits nothing.
    pub stop: Time,
}

impl CellSource {
    /// The source of `emission` from `start` until before `stop`; `draws` is for random gaps.
    pub fn new(
        emission: Emission,
        start: Time,
        stop: Time,
        draws: impl FnOnce() -> Stream,
    ) -> CellSource {
        let pattern = match emission {
            Emission::Periodic { rate } => Pattern::Periodic {
                cell_time: rate.cell_time(),
            },
            Emission::Poisson { rate } => Pattern::Poisson {
                mean_ticks: (CELL_BITS * TICKS_PER_SECOND) as f64 / rate.0 as f64,
                stream: draws(),
            },
            Emission::Bursts { rate, on, off } => Pattern::Bursts {
                cell_time: rate.cell_time(),
                on,
                off,
            },
        };
        let next = match &pattern {
            Pattern::Poisson { mean_ticks, stream } => start + gap(*mean_ticks, *stream, 0),
            Pattern::Periodic { .. } | Pattern::Bursts { .. } => start,
        };
        CellSource {
            pattern,
            since: start,
            cells: 0,
            next,
            stop,
        }
    }

    /// How many cells, `next` included, follow at equal distances unless it stops before, and that distance.
    pub fn regular(&self) -> (u64, Span) {
        const ALONE: (u64, Span) = (1, Span(1));
        match &self.pattern {
            Pattern::Poisson { .. } => ALONE,
            Pattern::Periodic { cell_time } => cell_time.exact().map_or(ALONE, |c| (256, c)),
            Pattern::Bursts { cell_time, on, .. } => cell_time
                .exact()
                .map_or(ALONE, |c| (on.0.div_ceil(c.0) - self.cells, c)),
        }
    }

    /// Moves on by `n` cells, one unless they are regular.
    pub fn emitted(&mut self, n: u64) {
        self.cells += n;
        self.next = match &self.pattern {
            Pattern::Periodic { cell_time } => self.since + cell_time.end_of(self.cells),
            Pattern::Poisson { mean_ticks, stream } => {
                self.next + gap(*mean_ticks, *stream, self.cells)
            }
            Pattern::Bursts { cell_time, on, off } => {
                let within = cell_time.end_of(self.cells);
                if within < *on {
                    self.since + within
                } else {
                    // The reader has each up to 100 000 s, and no source starts later than 400 000 s.
                    self.since += *on + *off;
                    self.cells = 0;
                    self.since
                }
            }
        };
    }
}

fn gap(mean_ticks: f64, stream: Stream, number: u64) -> Span {
    Span((stream.exponential(number) * mean_ticks).round().max(1.0) as u64)
}
