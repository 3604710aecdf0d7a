//! A NIC: the output side of a host for one link. Frames one after the other, cells back to back, unlimited queue.

use crate::tally::{NicTally, raise};
use crate::units::{CellTime, Span, Time};

/// One NIC.
#[derive(Clone, Copy, Debug)]
pub struct Nic {
    cell_time: CellTime,
    /// Beginning of the busy period and cells sent in it.
    since: Time,
    cells: u64,
    free_at: Time,
    /// When something was last queued while it was idle.
    woken: Time,
    /// Longest time from then until all that was queued at that instant was sent.
    alone: Span,
    /// Longest time from a later instant of a busy period until all that was queued by then was sent.
    behind: Span,
    /// Where its cell time is not whole: cells of the busy period known to have begun, and most that have waited.
    begun: u64,
    waited: u64,
}

impl Nic {
    /// An idle NIC.
    pub fn new(cell_time: CellTime) -> Nic {
        Nic {
            cell_time,
            since: Time::ZERO,
            cells: 0,
            free_at: Time::ZERO,
            woken: Time::ZERO,
            alone: Span::ZERO,
            behind: Span::ZERO,
            begun: 0,
            waited: 0,
        }
    }

    /// Queues one cell at `time`, not before any earlier one; returns the end of its transmission.
    pub fn send_cell(&mut self, time: Time) -> Time {
        let goes_on = self.goes_on_at(time);
        if !goes_on {
            self.since = time;
            self.cells = 0;
            self.begun = 1;
        }
        self.cells += 1;
        self.free_at = self.since + self.cell_time.end_of(self.cells);
        self.watch(time, goes_on);
        if goes_on && self.cell_time.exact().is_none() {
            self.count_waiting(time);
        }
        self.free_at
    }

    /// Queues `n` cells that come at distances of `period`, no less than its cell time, a whole number of ticks, the first at `time`, when
    /// it is idle; returns the end of the first one's transmission.
    pub fn send_regular(&mut self, time: Time, n: u64, period: Span) -> Time {
        if let Some(exact) = self.cell_time.exact()
            && self.is_idle_at(time)
        {
            return self.send_at_once(time, n, [period, exact]);
        }
        let first = self.send_cell(time);
        if n > 1 {
            // The last but one is sent as it comes, as all of them are.
            self.since = time + period * (n - 2);
            self.cells = 1;
            self.free_at = self.since + self.cell_time.end_of(1);
            self.send_cell(self.since + period);
        }
        first
    }

    /// The same where its cell time is a whole number of ticks: each cell leaves so long after it has come.
    #[inline]
    fn send_at_once(&mut self, time: Time, n: u64, [period, exact]: [Span; 2]) -> Time {
        let last = time + period * (n - 1);
        if self.goes_on_at(time) || (n > 1 && period == exact) {
            raise(&mut self.behind, exact);
        }
        if !self.goes_on_at(time) || (n > 1 && period > exact) {
            raise(&mut self.alone, exact);
            self.woken = if period > exact { last } else { time };
        }
        self.since = last;
        self.cells = 1;
        self.free_at = last + exact;
        time + exact
    }

    /// Queues a frame of `n` cells at `time` on a NIC whose cell time is `exact`, a whole number of ticks; returns the end of
    /// the first cell's transmission.
    #[inline]
    pub fn send_frame(&mut self, time: Time, n: u32, exact: Span) -> Time {
        let goes_on = self.goes_on_at(time);
        let start = time.max(self.free_at);
        self.free_at = start + exact * u64::from(n);
        self.since = start;
        self.cells = u64::from(n);
        self.watch(time, goes_on);
        start + exact
    }

    /// Whether what is queued at `time` continues a busy period. Hosts act before cells move: what ends at `time` has not left yet.
    #[inline]
    fn goes_on_at(&self, time: Time) -> bool {
        self.cells > 0 && time <= self.free_at
    }

    /// Something has been queued at `time`, in a busy period that was there already if it goes on.
    #[inline]
    fn watch(&mut self, time: Time, goes_on: bool) {
        if !goes_on {
            self.woken = time;
        }
        let longest = if self.woken == time {
            &mut self.alone
        } else {
            &mut self.behind
        };
        raise(longest, self.free_at - time);
    }

    /// A cell was queued at `time` behind others, at a cell time that is not whole: how many wait now?
    fn count_waiting(&mut self, time: Time) {
        // So many at most, were each as short as can be.
        let most = (self.free_at - time).0 / self.cell_time.shortest().0.max(1);
        if most <= self.waited {
            return;
        }
        while self.begun < self.cells && self.since + self.cell_time.end_of(self.begun) < time {
            self.begun += 1;
        }
        self.waited = self.waited.max(self.cells - self.begun);
    }

    /// What has waited before it.
    pub fn tally(&self) -> NicTally {
        let max_queue = match self.cell_time.exact() {
            // Of the cells queued at an instant at which it was idle the first began at once. Later one is in service, for part of its time.
            Some(exact) => {
                let alone = (self.alone.0 / exact.0).saturating_sub(1);
                alone.max(self.behind.0 / exact.0)
            }
            None => self.waited,
        };
        NicTally {
            max_queue,
            max_delay: self.alone.max(self.behind),
        }
    }

    /// Whether it would send a cell queued at `time` at once.
    pub fn is_idle_at(&self, time: Time) -> bool {
        self.free_at <= time
    }

    /// Whether what it has queued lasts longer than time is told.
    #[inline(always)]
    pub fn is_overdue(&self) -> bool {
        self.free_at > Time::LATEST
    }

    /// Its cell time.
    pub fn cell_time(&self) -> CellTime {
        self.cell_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;

    #[test]
    fn frames_are_sent_back_to_back() {
        let cell_time = BitRate(155_520_000).cell_time();
        let c = cell_time.exact().unwrap();
        let at = |ticks: u64, cells: u64| Time(ticks) + c * cells;
        let mut nic = Nic::new(cell_time);
        assert_eq!(nic.send_frame(at(100, 0), 12, c), at(100, 1));
        assert_eq!(nic.send_frame(at(101, 0), 2, c), at(100, 13));
        assert_eq!(nic.send_frame(at(100, 20), 1, c), at(100, 21));
    }

    #[test]
    fn what_waits_is_counted_behind_the_cell_in_service() {
        let c = BitRate(155_520_000).cell_time().exact().unwrap();
        let at = |cells: u64| Time(100) + c * cells;
        let found = |nic: &Nic| (nic.tally().max_queue, nic.tally().max_delay);
        let mut nic = Nic::new(BitRate(155_520_000).cell_time());
        assert_eq!(found(&nic), (0, Span::ZERO));
        // Idle: the first of twelve begins at once; two more at the same instant wait as well.
        nic.send_frame(at(0), 12, c);
        assert_eq!(found(&nic), (11, c * 12));
        nic.send_frame(at(0), 2, c);
        assert_eq!(found(&nic), (13, c * 14));
        // Just before and at the end of the fourth cell, which has not left then, ten wait, and nine just after.
        let end = at(4);
        for (time, waiting) in [(Time(end.0 - 1), 10), (end, 10), (Time(end.0 + 1), 9)] {
            let mut later = nic;
            later.send_frame(time, 9, c);
            assert_eq!(found(&later), (waiting + 9, at(23) - time));
        }
        // Idle again.
        nic.send_frame(at(15), 3, c);
        assert_eq!(found(&nic), (13, c * 14));
    }

    #[test]
    fn cells_that_come_as_the_one_before_leaves_find_it_there() {
        let cell_time = BitRate(155_520_000).cell_time();
        let c = cell_time.exact().unwrap();
        for n in [1, 2, 3, 7] {
            for (period, waiting) in [(c, u64::from(n > 1)), (c + Span(1), 0)] {
                // The NIC is fresh, or sends until then, or until just before.
                for before in [None, Some(c), Some(c + Span(1))] {
                    let start = Time(5) + c + c;
                    let mut single = Nic::new(cell_time);
                    before.map(|before| single.send_cell(Time(start.0 - before.0)));
                    let mut together = single;
                    assert_eq!(together.send_regular(start, n, period), start + c);
                    for k in 0..n {
                        single.send_cell(start + period * k);
                    }
                    let waiting = waiting.max(u64::from(before == Some(c)));
                    assert_eq!(single.tally().max_queue, waiting);
                    assert_eq!(together.tally(), single.tally());
                    let next = start + period * n;
                    assert_eq!(together.send_cell(next), single.send_cell(next));
                    assert_eq!(together.tally(), single.tally());
                }
            }
        }
    }

    #[test]
    fn uneven_cell_times_do_not_drift_within_a_busy_period() {
        let cell_time = BitRate(7_000_003).cell_time();
        let mut nic = Nic::new(cell_time);
        for k in 1..=1000 {
            assert_eq!(nic.send_cell(Time(5)), Time(5) + cell_time.end_of(k));
            assert_eq!(nic.tally().max_queue, k - 1);
        }
        assert_eq!(nic.tally().max_delay, cell_time.end_of(1000));
    }
}
