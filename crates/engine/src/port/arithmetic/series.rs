//! Fast path of the arithmetic kernel: cells of one run, closer together or farther apart than one
//! per cell time.
//!
//! Behind a fast link, each cell of a frame waits longer than the one before, by the cell time
//! minus the distance of the cells. Behind a slow link, each waits correspondingly shorter, until
//! the port is idle. While no other input brings any, all cells meet the same fate until X reaches
//! a limit. Waits, ages and starts then form arithmetic series, and everything is updated once for
//! all cells.
//!
//! Conditions:
//! * the port is busy, or becomes busy with the first of cells that come closer together;
//! * the next station of the cells is their host, and they arrive there within the measuring time;
//! * X stays below the buffer, and below the policy's smallest refusal if each cell is a frame.

use super::Arithmetic;
use crate::ground::delays::Waits;
use crate::ground::units::{SignedTicks, Time};
use crate::network::cells::Run;
use crate::network::fabric::{Fabric, Next};
use crate::network::tally::raise;

/// Cells of one run whose waits rise or fall by a constant step.
pub struct Series {
    cells: u32,
    /// Whether the first cell finds the port idle.
    idle: bool,
    /// Start of the cell before the first; at an idle port, of an imaginary one.
    before: SignedTicks,
}

impl Arithmetic {
    /// The cells at the head of `feed` that arrive before `limit` and meet the fate of the first.
    /// The first is accepted, and there are at least two.
    pub(super) fn can_take_series(
        &self,
        fabric: &Fabric,
        feed: usize,
        limit: Time,
    ) -> Option<Series> {
        let run = &fabric.feeds[feed].head;
        // Cells farther apart than c would find an idle port idle again.
        if run.n < 2 || run.period == self.cell_time || run.time + run.period >= limit {
            return None;
        }
        let idle = self.is_below_limits(fabric, run)?;
        if idle && run.period > self.cell_time {
            return None;
        }
        self.series(fabric, run, limit, idle)
    }

    #[inline(never)]
    fn series(&self, fabric: &Fabric, run: &Run, limit: Time, idle: bool) -> Option<Series> {
        let hop = &fabric.hops[run.hop as usize];
        let c = self.cell_time;
        let before = if idle {
            run.time.signed() - c
        } else {
            self.start
        };
        let first = (before + c).time() + c + hop.latency;
        let (from, to) = (fabric.measured.0, fabric.measured.1.min(fabric.end));
        if hop.next != Next::Host || hop.one_by_one || first < from || first >= to {
            return None;
        }
        let mut n = run.before(limit);
        if first + c * u64::from(n - 1) >= to {
            n = (to - first).0.div_ceil(c.0) as u32;
        }
        let cells = self.alike(run, n, idle, before);
        (cells > 1).then_some(Series {
            cells,
            idle,
            before,
        })
    }

    /// Takes these cells. Returns whether the feed has more.
    #[inline(never)]
    pub(super) fn take_series(&mut self, fabric: &mut Fabric, feed: usize, series: Series) -> bool {
        let Series {
            cells: n,
            idle,
            before,
        } = series;
        let run = fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let c = self.cell_time;
        if idle {
            self.busy_since = run.time.signed();
        }
        self.start = before;
        let cells = u64::from(n);
        hop.count_passed(run.frame, cells);
        let waits = self.accept_series(&run, n, hop.local, idle);
        let last = self.start.time() + c + hop.latency;
        let ages = hop
            .is_data
            .then(|| waits.longer_by(run.age + c + hop.latency, cells));
        fabric.destinations.deliver(hop.flow, &run, n, ages, last);
        fabric.feeds[feed].skip(n)
    }

    /// How many of the first `n` cells of `run` are accepted and start at distances of c. The first
    /// cell is accepted and starts c after `start`; it may find the port `idle`.
    fn alike(&self, run: &Run, n: u32, idle: bool, start: SignedTicks) -> u32 {
        let (c, p) = (self.cell_time.0 as i64, run.period.0 as i64);
        let t = run.time.signed();
        if !idle && t == self.busy_since {
            return 1;
        }
        let n = i64::from(n);
        let alike = if p < c {
            // Each cell finds c - p more ahead of it than the one before.
            let left = self
                .limits
                .fit(start - t, run.is_single())
                .0
                .saturating_sub(1);
            if (n - 1).saturating_mul(c - p) <= left {
                n
            } else {
                left / (c - p) + 1
            }
        } else {
            // Each cell finds the port busy for p - c less than the one before.
            let busy = (start + self.cell_time - t).0 - i64::from(!self.arrival_first);
            if (n - 1).saturating_mul(p - c) <= busy {
                n
            } else {
                busy / (p - c) + 1
            }
        };
        alike as u32
    }

    /// Takes the first `n` cells of `run`, at least two and [`Arithmetic::alike`]; the last starts
    /// before the end of the run. The first either finds the port `idle` or waits.
    fn accept_series(&mut self, run: &Run, n: u32, vc: u32, idle: bool) -> Waits {
        let (c, p) = (self.cell_time, run.period);
        let more = u64::from(n - 1);
        let start = (self.start + c).time();
        let last_start = start + c * more;
        let first_wait = start - run.time;
        let last_wait = last_start - (run.time + p * more);
        let (least, most) = (first_wait.min(last_wait), first_wait.max(last_wait));
        self.accepted += u64::from(n);
        raise(&mut self.longest, most.signed());
        if self.counts.is_some() {
            self.count(run.time, vc, n, idle);
        }
        self.start = last_start.signed();
        // Ascending, even if each cell waits shorter than the one before.
        let waits = Waits::Series {
            first: least,
            step: if p < c { c - p } else { p - c },
        };
        self.waited(waits, n.into());
        waits
    }
}
