//! Sources of single cells (model section 9): at equal distances, at random, or in bursts.

use crate::rng::Stream;
use crate::scenario::Traffic;
use crate::units::{CELL_BITS, CellTime, Span, TICKS_PER_SECOND, Time};

/// When cells are emitted.
#[derive(Clone, Debug)]
enum Emission {
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
    emission: Emission,
    /// Start of the source or of the burst.
    since: Time,
    /// Cells emitted since then (or at all).
    cells: u64,
    /// Time of the next cell.
    pub next: Time,
}

impl CellSource {
    /// The source of `traffic`, if that is one of single cells, from `start` on; `draws` is for random gaps.
    pub fn of(
        traffic: &Traffic,
        start: Time,
        draws: impl FnOnce() -> Stream,
    ) -> Option<CellSource> {
        let emission = match *traffic {
            Traffic::Tcp(_) => return None,
            Traffic::Cbr { rate } => Emission::Periodic {
                cell_time: rate.cell_time(),
            },
            Traffic::Poisson { rate } => Emission::Poisson {
                mean_ticks: (CELL_BITS * TICKS_PER_SECOND) as f64 / rate.0 as f64,
                stream: draws(),
            },
            Traffic::Vbr { rate, on, off } => Emission::Bursts {
                cell_time: rate.cell_time(),
                on,
                off,
            },
        };
        let next = match &emission {
            Emission::Poisson { mean_ticks, stream } => start + gap(*mean_ticks, *stream, 0),
            Emission::Periodic { .. } | Emission::Bursts { .. } => start,
        };
        Some(CellSource {
            emission,
            since: start,
            cells: 0,
            next,
        })
    }

    /// How many cells, `next` included, follow at equal distances, and that distance.
    pub fn regular(&self) -> (u64, Span) {
        const ALONE: (u64, Span) = (1, Span(1));
        match &self.emission {
            Emission::Poisson { .. } => ALONE,
            Emission::Periodic { cell_time } => cell_time.exact().map_or(ALONE, |c| (256, c)),
            Emission::Bursts { cell_time, on, .. } => cell_time
                .exact()
                .map_or(ALONE, |c| (on.0.div_ceil(c.0) - self.cells, c)),
        }
    }

    /// Moves on by `n` cells, one unless they are regular.
    pub fn emitted(&mut self, n: u64) {
        self.cells += n;
        self.next = match &self.emission {
            Emission::Periodic { cell_time } => self.since + cell_time.end_of(self.cells),
            Emission::Poisson { mean_ticks, stream } => {
                self.next + gap(*mean_ticks, *stream, self.cells)
            }
            Emission::Bursts { cell_time, on, off } => {
                let within = cell_time.end_of(self.cells);
                if within < *on {
                    self.since + within
                } else {
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
