//! Common part of the RED policies: average queue, curve and random draw.
//!
//!   avg := (1 - w_q) avg + w_q X     when `average` says so, see [`RedAverage`].
//!   p = 0                                              avg < min_th;
//!   p = s (avg - min_th), s = P / (max_th - min_th)    min_th <= avg < max_th;
//!   p = 1                                              avg >= max_th.
//!   marked <=> draw < p, with `spacing` draw < p / (1 - c p).
//!   X:    cells waiting in the class queue     w_q: weight of the newest X, in (0, 1]
//!   P:    `max_p`, for one cell divided by the cells of a segment
//!   c:    decisions with p > 0 since the last mark; none while avg < min_th
//! Source: Floyd and Jacobson, Random early detection gateways for congestion avoidance, IEEE/ACM
//! ToN 1(4), 1993; `cell-discard`, section 2.3. Figure 2 of the latter shows a first part with
//! slope set by `max_p`. What follows is taken to be the step to 1 of the former.
//! Arithmetic is only + - * / and comparison, in the order written here, for the same bits on every
//! machine.

use super::{Arriving, AskedRuns, Needs, resolve};
use crate::ground::power::power;
use crate::ground::rng::Stream;
use crate::ground::units::Ratio;
use crate::text::scenario::{RedAverage, RedParams};

/// Averages below this count as 0, since decay alone would never reach 0.
const NOTHING: f64 = 1.0 / (1u128 << 64) as f64;

/// Most cells that are seen together, and a part of the average that exceeds all rounding errors of
/// so many cells (three roundings of 2^-53 each).
const TOGETHER: u64 = 1 << 20;
const ROUNDING: f64 = 1.0 / (1u64 << 30) as f64;

/// Average, curve and random draws of one class queue.
#[derive(Clone, Debug)]
pub struct Red {
    when: RedAverage,
    w_q: f64,
    /// 1 - w_q.
    keep: f64,
    /// Lower threshold, cells; infinite if it is never reached.
    min_th: f64,
    /// Upper threshold, cells; infinite if it is never reached.
    max_th: f64,
    /// s, slope of the curve per cell.
    slope: f64,
    spacing: bool,
    /// avg, cells.
    average: f64,
    /// c, decisions with p > 0 since the last mark.
    count: u64,
    /// Number of random draws so far.
    drawn: u64,
}

impl Red {
    /// Creates the state for a buffer of `buffer` cells.
    pub fn new(params: &RedParams, buffer: Option<u64>) -> Red {
        let cells = |threshold| resolve(threshold, buffer).map_or(f64::INFINITY, Ratio::as_f64);
        let w_q = params.w_q.as_f64();
        let (min_th, max_th) = (cells(params.min_th), cells(params.max_th));
        let max_p = params.max_p.as_f64() / params.segment_cells.unwrap_or(1) as f64;
        Red {
            when: params.average,
            w_q,
            keep: 1.0 - w_q,
            min_th,
            max_th,
            slope: max_p / (max_th - min_th),
            spacing: params.spacing,
            average: 0.0,
            count: 0,
            drawn: 0,
        }
    }

    /// avg, cells.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// Bound for [`super::DropRule::smallest_refusal`].
    /// Where nothing ever waits avg is 0, and so is p, as min_th is below max_th.
    pub fn smallest_refusal(&self) -> u64 {
        if self.max_th.max(self.min_th) == f64::INFINITY {
            u64::MAX
        } else {
            1
        }
    }

    /// Needs of the average.
    pub fn needs(&self) -> Needs {
        Needs {
            every_cell: true,
            lost_cells: true,
            idle_time: self.when == RedAverage::Idle,
            ..Needs::NOTHING
        }
    }

    /// Updates the average for `cell`, which arrives and finds X = `waiting`.
    pub fn sees(&mut self, cell: &Arriving, waiting: u64) {
        match (self.when, cell.idle_cells) {
            (RedAverage::Frame, _) if !cell.begins => {}
            (RedAverage::Idle, Some(cells)) => {
                self.average *= power(self.keep, cells.into());
                if self.average < NOTHING {
                    self.average = 0.0;
                }
            }
            (RedAverage::Cell | RedAverage::Frame | RedAverage::Idle, _) => {
                // Signed-to-float conversion takes one instruction, and X is far below 2^63.
                self.average = self.joined(self.average, waiting as i64);
            }
        }
    }

    /// Returns p for a cell or frame to decide on, and resets the count below min_th.
    pub fn probability(&mut self) -> f64 {
        if self.average < self.min_th {
            self.count = 0;
        }
        self.curve()
    }

    /// Value of p for the current average.
    pub fn curve(&self) -> f64 {
        if self.average < self.min_th {
            0.0
        } else if self.average >= self.max_th {
            1.0
        } else {
            self.slope * (self.average - self.min_th)
        }
    }

    /// Whether a cell or frame is marked with probability `p`; draws only if the outcome is not
    /// certain.
    #[inline(always)]
    pub fn marks(&mut self, p: f64, draws: Stream) -> bool {
        if p <= 0.0 {
            return false;
        }
        if !self.spacing {
            return p >= 1.0 || self.draw(draws) < p;
        }
        let left = 1.0 - self.count as f64 * p;
        let marks = left <= p || self.draw(draws) < p / left;
        self.count = if marks { 1 } else { self.count + 1 };
        marks
    }

    /// Sees all these cells, and decides on those of `decided` runs, if surely none is marked.
    /// Returns whether it did.
    pub fn passes_all(&mut self, cells: &AskedRuns, decided: u64) -> bool {
        let n = cells.cells * cells.runs.len() as u64;
        if self.when == RedAverage::Frame || n > TOGETHER {
            return false;
        }
        if decided > 0 {
            // n cells that find X take the average no farther than n w_q of the way to X.
            let way = (self.w_q * n as f64).min(1.0);
            let [least, most] = [cells.least as f64, cells.most as f64];
            let room = ROUNDING * self.average.max(most);
            let highest = self.average + (most - self.average).max(0.0) * way + room;
            let lowest = self.average - (self.average - least).max(0.0) * way - room;
            if highest < self.min_th {
                self.count = 0;
            } else {
                let p = self.slope * (highest - self.min_th);
                // An average below NOTHING becomes 0, where p is 0 and nothing is drawn.
                let least_on_curve = self.min_th.max(NOTHING);
                let is_on_curve = lowest > least_on_curve && highest < self.max_th && p < 1.0;
                let draws = if p > 0.0 { decided * cells.cells } else { 0 };
                let stream = cells.runs[0].cell.draws;
                if !is_on_curve || self.spacing || self.any_below(p, draws, stream) {
                    return false;
                }
                self.drawn += draws;
            }
        }
        let mut average = self.average;
        cells.each_waiting(|x| average = self.joined(average, x));
        self.average = average;
        true
    }

    /// Whether any of the next `n` draws is below `p`.
    fn any_below(&self, p: f64, n: u64, draws: Stream) -> bool {
        let next = self.drawn..self.drawn + n;
        let least = next.map(|number| draws.bits(number)).min();
        least.is_some_and(|bits| Stream::unit_of(bits) < p)
    }

    /// What the average `average` becomes with a cell that finds X = `waiting`.
    fn joined(&self, average: f64, waiting: i64) -> f64 {
        let average = self.keep * average + self.w_q * waiting as f64;
        if average < NOTHING { 0.0 } else { average }
    }

    /// Next random number in [0, 1).
    #[inline(always)]
    fn draw(&mut self, draws: Stream) -> f64 {
        self.drawn += 1;
        draws.unit(self.drawn - 1)
    }
}

#[cfg(test)]
mod tests;
