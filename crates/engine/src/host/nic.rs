//! A NIC: the output side of a host for one link. Frames leave in order, cells back to back, and
//! the queue is unlimited.
//!
//! If all cells have one length, what waits follows from times alone. Otherwise, and behind shapers,
//! the NIC keeps the ends of their transmissions.

use crate::ground::format::{CellTimes, FrameSize};
use crate::ground::units::{Span, Time};
use crate::network::tally::{NicTally, raise};
use std::collections::VecDeque;

/// One NIC.
#[derive(Clone, Debug)]
pub struct Nic {
    /// Time of a cell; of the longest if they differ.
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
    /// The queued cells, if they differ in length or if some come from shapers.
    cells: Option<Box<Cells>>,
}

/// Cells at a NIC and in the shapers before it.
#[derive(Clone, Debug)]
struct Cells {
    /// Times of cells that differ in length.
    times: Option<CellTimes>,
    /// Ends of the transmissions of cells that had not left when the last one was handed over.
    ends: VecDeque<Time>,
    /// Cells in shapers.
    in_shapers: u64,
    /// Largest number of waiting cells.
    max_queue: u64,
    /// Longest time of a frame since it was handed to its shaper.
    max_delay: Span,
}

impl Cells {
    /// Forgets the cells that left before `time`. A cell whose transmission ends then has not left.
    fn leave_before(&mut self, time: Time) {
        while self.ends.front().is_some_and(|&end| end < time) {
            self.ends.pop_front();
        }
    }

    /// Updates the largest number. One of the cells at the NIC is in service.
    fn watch(&mut self) {
        let at_nic = self.ends.len().saturating_sub(1) as u64;
        raise(&mut self.max_queue, at_nic + self.in_shapers);
    }
}

impl Nic {
    /// An idle NIC with this cell time. `times` are those of cells that differ in length. Some
    /// frames may come from shapers.
    pub fn new(cell_time: Span, times: Option<CellTimes>, has_shapers: bool) -> Nic {
        let cells = (times.is_some() || has_shapers).then(|| {
            Box::new(Cells {
                times,
                ends: VecDeque::new(),
                in_shapers: 0,
                max_queue: 0,
                max_delay: Span::ZERO,
            })
        });
        Nic {
            cells,
            cell_time,
            free_at: Time::ZERO,
            woken: Time::ZERO,
            alone: Span::ZERO,
            behind: Span::ZERO,
        }
    }

    /// Queues one cell at `time`, which must not decrease. Returns the end of its transmission.
    pub fn send_cell(&mut self, time: Time) -> Time {
        if self.cells.is_some() {
            return self.send_kept(time, 1, None);
        }
        self.send_cells(time, 1)
    }

    /// Queues `n` cells, the first at `time` and the others at distances of `period`. Returns the
    /// end of the first cell's transmission.
    ///
    /// `period` must be at least the cell time. Unless `n` is 1, the NIC must be idle at `time`.
    #[inline]
    pub fn send_regular(&mut self, time: Time, n: u64, period: Span) -> Time {
        if self.cells.is_some() {
            return self.send_regular_kept(time, n, period);
        }
        if !self.is_idle_at(time) {
            debug_assert_eq!(n, 1, "they are sent as they come");
            return self.send_cells(time, 1);
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

    /// Queues a frame at `time`. Returns the end of the first cell's transmission.
    #[inline]
    pub fn send_frame(&mut self, time: Time, size: FrameSize) -> Time {
        if self.cells.is_some() {
            return self.send_kept(time, size.cells(), Some(size.cell_bytes()));
        }
        self.send_cells(time, size.cells())
    }

    /// Queues `n` cells at `time`, of `bytes` or the longest, if the NIC keeps its cells. Returns the
    /// end of the first one's transmission. It is cold because the NICs of most runs keep none.
    #[cold]
    fn send_kept(&mut self, time: Time, n: u32, bytes: Option<u32>) -> Time {
        let goes_on = self.goes_on_at(time);
        let Some(cells) = &mut self.cells else {
            unreachable!("the NIC keeps its cells");
        };
        let each = match (&cells.times, bytes) {
            (Some(times), Some(bytes)) => times.of(bytes),
            (None, _) | (_, None) => self.cell_time,
        };
        cells.leave_before(time);
        let first = time.max(self.free_at) + each;
        cells.ends.push_back(first);
        self.free_at = first;
        for _ in 1..n {
            self.free_at += each;
            cells.ends.push_back(self.free_at);
        }
        cells.watch();
        self.watch(time, goes_on);
        first
    }

    /// [`Nic::send_regular`] if the NIC keeps its cells.
    #[cold]
    fn send_regular_kept(&mut self, time: Time, n: u64, period: Span) -> Time {
        let first = self.send_kept(time, 1, None);
        (1..n).for_each(|k| _ = self.send_kept(time + period * k, 1, None));
        first
    }

    /// Counts a frame of `n` cells that is handed to a shaper at `now` and leaves it after `takes`.
    pub fn enters_shaper(&mut self, now: Time, n: u64, takes: Span) {
        if let Some(cells) = &mut self.cells {
            cells.leave_before(now);
            cells.in_shapers += n;
            cells.watch();
            raise(&mut cells.max_delay, takes);
        }
    }

    /// Queues a frame at `now` that was handed to its shaper at `since`. Returns the end of the first
    /// cell's transmission.
    pub fn send_shaped(&mut self, since: Time, now: Time, size: FrameSize) -> Time {
        if let Some(cells) = &mut self.cells {
            cells.in_shapers -= u64::from(size.cells());
        }
        let first = self.send_frame(now, size);
        if let Some(cells) = &mut self.cells {
            raise(&mut cells.max_delay, self.free_at - since);
        }
        first
    }

    /// Queues `n` cells of one length at `time`. Returns the end of the first one's transmission.
    #[inline]
    fn send_cells(&mut self, time: Time, n: u32) -> Time {
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
        let by_time = alone.max(self.behind.0 / self.cell_time.0);
        let max_delay = self.alone.max(self.behind);
        match &self.cells {
            None => NicTally {
                max_queue: by_time,
                max_delay,
            },
            Some(cells) => NicTally {
                max_queue: cells.max_queue,
                max_delay: max_delay.max(cells.max_delay),
            },
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

    /// Cell time of the link; of the longest cells if they differ.
    pub fn cell_time(&self) -> Span {
        self.cell_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::format::Format;
    use crate::ground::units::BitRate;

    #[test]
    fn frames_are_sent_back_to_back() {
        let c = Format::AAL5.cell_time(BitRate(155_520_000));
        let at = |ticks: u64, cells: u64| Time(ticks) + c * cells;
        let mut nic = Nic::new(c, None, false);
        assert_eq!(nic.send_cells(at(100, 0), 12), at(100, 1));
        assert_eq!(nic.send_cells(at(101, 0), 2), at(100, 13));
        assert_eq!(nic.send_cells(at(100, 20), 1), at(100, 21));
    }

    #[test]
    fn what_waits_is_counted_behind_the_cell_in_service() {
        let c = Format::AAL5.cell_time(BitRate(155_520_000));
        let at = |cells: u64| Time(100) + c * cells;
        let found = |nic: &Nic| (nic.tally().max_queue, nic.tally().max_delay);
        let mut nic = Nic::new(c, None, false);
        assert_eq!(found(&nic), (0, Span::ZERO));
        // Idle NIC: the first of twelve cells starts at once, and two more at the same instant wait
        // too.
        nic.send_cells(at(0), 12);
        assert_eq!(found(&nic), (11, c * 12));
        nic.send_cells(at(0), 2);
        assert_eq!(found(&nic), (13, c * 14));
        // Just before and at the end of the fourth cell, ten cells wait, because it has not left
        // yet. Just after, nine wait.
        let end = at(4);
        for (time, waiting) in [(Time(end.0 - 1), 10), (end, 10), (Time(end.0 + 1), 9)] {
            let mut later = nic.clone();
            later.send_cells(time, 9);
            assert_eq!(found(&later), (waiting + 9, at(23) - time));
        }
        // The NIC is idle again.
        nic.send_cells(at(15), 3);
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
                    let mut single = Nic::new(c, None, false);
                    before.map(|before| single.send_cell(Time(start.0 - before.0)));
                    let mut together = single.clone();
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
    fn cells_that_differ_in_length_wait_one_by_one() {
        let (format, rate) = (Format::ETHERNET, BitRate(1_000_000_000));
        let long = format.segment(1_460);
        let (full, short) = (format.time_of(1_538, rate), format.time_of(84, rate));
        let mut nic = Nic::new(full, Some(format.cell_times(rate)), false);
        let start = Time(100);
        // A full frame and two short ones at once: the first is sent, and the others wait.
        assert_eq!(nic.send_frame(start, long), start + full);
        assert_eq!(nic.send_frame(start, format.ack(0)), start + full + short);
        assert_eq!(
            nic.send_frame(start, format.ack(0)),
            start + full + short * 2
        );
        assert_eq!(nic.tally().max_queue, 2);
        assert_eq!(nic.tally().max_delay, full + short * 2);
        // When the second ends, the last one has not begun. Two more wait behind it.
        let end = start + full + short;
        for (time, waiting) in [(Time(end.0 - 1), 3), (end, 3), (Time(end.0 + 1), 2)] {
            let mut later = nic.clone();
            later.send_frame(time, long);
            later.send_frame(time, long);
            assert_eq!(later.tally().max_queue, waiting);
            assert_eq!(later.tally().max_delay, (end + short + full * 2) - time);
        }
    }
}
