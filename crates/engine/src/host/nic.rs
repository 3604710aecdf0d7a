//! A NIC: the output side of a host for one link. Frames leave in order, cells back to back, and
//! the queue is unlimited.

use crate::tally::{NicTally, raise};
use crate::units::{Span, Time};

/// One NIC.
#[derive(Clone, Copy, Debug)]
pub struct Nic {
    cell_time: Span,
    /// When all queued cells will have left; zero before the first cell.
    free_at: Time,
    /// Start of the current busy period: when a cell was last queued at an idle NIC.
    woken: Time,
    /// Longest time from the start of a busy period until all cells queued at that instant were
    /// sent.
    alone: Span,
    /// Longest time from a later instant of a busy period until all cells queued by then were sent.
    behind: Span,
}

impl Nic {
    /// An idle NIC.
    pub fn new(cell_time: Span) -> Nic {
        Nic {
            cell_time,
            free_at: Time::ZERO,
            woken: Time::ZERO,
            alone: Span::ZERO,
            behind: Span::ZERO,
        }
    }

    /// Queues one cell at `time`, which must not decrease. Returns the end of its transmission.
    pub fn send_cell(&mut self, time: Time) -> Time {
        self.send_frame(time, 1)
    }

    /// Queues `n` cells, the first at `time` and the others at distances of `period`. Returns the
    /// end of the first cell's transmission.
    ///
    /// `period` must be at least the cell time. Unless `n` is 1, the NIC must be idle at `time`.
    #[inline]
    pub fn send_regular(&mut self, time: Time, n: u64, period: Span) -> Time {
        if !self.is_idle_at(time) {
            debug_assert_eq!(n, 1, "they are sent as they come");
            return self.send_cell(time);
        }
        let c = self.cell_time;
        let last = time + period * (n - 1);
        if self.goes_on_at(time) || (n > 1 && period == c) {
            raise(&mut self.behind, c);
        }
        if !self.goes_on_at(time) || (n > 1 && period > c) {
            raise(&mut self.alone, c);
            self.woken = if period > c { last } else { time };
        }
        self.free_at = last + c;
        time + c
    }

    /// Queues a frame of `n` cells at `time`. Returns the end of the first cell's transmission.
    #[inline]
    pub fn send_frame(&mut self, time: Time, n: u32) -> Time {
        let goes_on = self.goes_on_at(time);
        let start = time.max(self.free_at);
        self.free_at = start + self.cell_time * u64::from(n);
        self.watch(time, goes_on);
        start + self.cell_time
    }

    /// Whether cells queued at `time` continue a busy period. Hosts act before cells move: a cell
    /// whose transmission ends at `time` has not left yet.
    #[inline]
    fn goes_on_at(&self, time: Time) -> bool {
        self.free_at > Time::ZERO && time <= self.free_at
    }

    /// Updates the longest times after cells were queued at `time`; `goes_on` if they continue a
    /// busy period.
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

    /// Counts of waiting cells.
    pub fn tally(&self) -> NicTally {
        // The first cell queued at an idle instant starts at once and does not wait. At a later
        // instant one cell is in service for part of its time.
        let alone = (self.alone.0 / self.cell_time.0).saturating_sub(1);
        let max_queue = alone.max(self.behind.0 / self.cell_time.0);
        NicTally {
            max_queue,
            max_delay: self.alone.max(self.behind),
        }
    }

    /// Whether a cell queued at `time` is sent at once.
    pub fn is_idle_at(&self, time: Time) -> bool {
        self.free_at <= time
    }

    /// Whether the queued cells last beyond [`Time::LATEST`].
    pub fn is_overdue(&self) -> bool {
        self.free_at > Time::LATEST
    }

    /// Cell time of the link.
    pub fn cell_time(&self) -> Span {
        self.cell_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::units::BitRate;

    #[test]
    fn frames_are_sent_back_to_back() {
        let c = Format::AAL5.cell_time(BitRate(155_520_000));
        let at = |ticks: u64, cells: u64| Time(ticks) + c * cells;
        let mut nic = Nic::new(c);
        assert_eq!(nic.send_frame(at(100, 0), 12), at(100, 1));
        assert_eq!(nic.send_frame(at(101, 0), 2), at(100, 13));
        assert_eq!(nic.send_frame(at(100, 20), 1), at(100, 21));
    }

    #[test]
    fn what_waits_is_counted_behind_the_cell_in_service() {
        let c = Format::AAL5.cell_time(BitRate(155_520_000));
        let at = |cells: u64| Time(100) + c * cells;
        let found = |nic: &Nic| (nic.tally().max_queue, nic.tally().max_delay);
        let mut nic = Nic::new(Format::AAL5.cell_time(BitRate(155_520_000)));
        assert_eq!(found(&nic), (0, Span::ZERO));
        // Idle NIC: the first of twelve cells starts at once, and two more at the same instant wait
        // too.
        nic.send_frame(at(0), 12);
        assert_eq!(found(&nic), (11, c * 12));
        nic.send_frame(at(0), 2);
        assert_eq!(found(&nic), (13, c * 14));
        // Just before and at the end of the fourth cell, ten cells wait, because it has not left
        // yet. Just after, nine wait.
        let end = at(4);
        for (time, waiting) in [(Time(end.0 - 1), 10), (end, 10), (Time(end.0 + 1), 9)] {
            let mut later = nic;
            later.send_frame(time, 9);
            assert_eq!(found(&later), (waiting + 9, at(23) - time));
        }
        // The NIC is idle again.
        nic.send_frame(at(15), 3);
        assert_eq!(found(&nic), (13, c * 14));
    }

    #[test]
    fn cells_that_come_as_the_one_before_leaves_find_it_there() {
        let c = Format::AAL5.cell_time(BitRate(155_520_000));
        for n in [1, 2, 3, 7] {
            for (period, waiting) in [(c, u64::from(n > 1)), (c + Span(1), 0)] {
                // Cases: a fresh NIC, one that sends until `start`, one that sends until just
                // before.
                for before in [None, Some(c), Some(c + Span(1))] {
                    let start = Time(5) + c + c;
                    let mut single = Nic::new(c);
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
}
