//! A NIC: the output side of a host for one link. Frames leave in order, cells back to back, and
//! the queue is unlimited.
//!
//! If all cells have one length, what waits follows from times alone. Elsewhere each frame is one
//! cell, and the NIC keeps the ends of their transmissions.

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
    /// The queued cells, if they differ in length.
    cells: Option<Box<Cells>>,
}

/// Cells of different lengths at a NIC.
#[derive(Clone, Debug)]
struct Cells {
    times: CellTimes,
    /// Ends of the transmissions of cells that had not left when the last one was queued.
    ends: VecDeque<Time>,
    /// Largest number of waiting cells.
    max_queue: u64,
}

impl Nic {
    /// An idle NIC with this cell time. `times` are those of cells that differ in length.
    pub fn new(cell_time: Span, times: Option<CellTimes>) -> Nic {
        let cells = times.map(|times| {
            Box::new(Cells {
                times,
                ends: VecDeque::new(),
                max_queue: 0,
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
        self.send_cells(time, 1)
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

    /// Queues a frame at `time`. Returns the end of the first cell's transmission.
    #[inline]
    pub fn send_frame(&mut self, time: Time, size: FrameSize) -> Time {
        if self.cells.is_some() {
            return self.send_by_length(time, size.cell_bytes());
        }
        self.send_cells(time, size.cells())
    }

    /// Queues a cell of `bytes` at `time`, if cells differ in length. Returns the end of its
    /// transmission. It is cold because the NICs of most runs have cells of one length.
    #[cold]
    fn send_by_length(&mut self, time: Time, bytes: u32) -> Time {
        let goes_on = self.goes_on_at(time);
        let Some(cells) = &mut self.cells else {
            unreachable!("cells differ in length");
        };
        // A cell whose transmission ends now has not left.
        while cells.ends.front().is_some_and(|&end| end < time) {
            cells.ends.pop_front();
        }
        self.free_at = time.max(self.free_at) + cells.times.of(bytes);
        cells.ends.push_back(self.free_at);
        raise(&mut cells.max_queue, cells.ends.len() as u64 - 1);
        self.watch(time, goes_on);
        self.free_at
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
        let counted = self.cells.as_ref().map(|cells| cells.max_queue);
        NicTally {
            max_queue: counted.unwrap_or(by_time),
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
        let mut nic = Nic::new(c, None);
        assert_eq!(nic.send_cells(at(100, 0), 12), at(100, 1));
        assert_eq!(nic.send_cells(at(101, 0), 2), at(100, 13));
        assert_eq!(nic.send_cells(at(100, 20), 1), at(100, 21));
    }

    #[test]
    fn what_waits_is_counted_behind_the_cell_in_service() {
        let c = Format::AAL5.cell_time(BitRate(155_520_000));
        let at = |cells: u64| Time(100) + c * cells;
        let found = |nic: &Nic| (nic.tally().max_queue, nic.tally().max_delay);
        let mut nic = Nic::new(c, None);
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
                    let mut single = Nic::new(c, None);
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
        let mut nic = Nic::new(full, Some(format.cell_times(rate)));
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
