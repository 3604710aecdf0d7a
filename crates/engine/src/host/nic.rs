//! A NIC: the output side of a host for one link. Frames leave in order, cells back to back, and
//! the queue is unlimited.
//!
//! If all cells take equally long, what waits follows from times alone. Otherwise, and behind shapers,
//! the NIC keeps the times of their transmissions.

use crate::ground::format::FrameSize;
use crate::ground::line_rate::{LineTimes, Stretch};
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
    /// The queued cells, if they differ in length, if the rate changes, or if some come from shapers.
    cells: Option<Box<Cells>>,
}

/// Cells at a NIC and in the shapers before it.
#[derive(Clone, Debug)]
struct Cells {
    /// Bytes of the longest cell.
    longest_bytes: u32,
    /// Times of cells that differ.
    times: Option<LineTimes>,
    waiting: Waiting,
    /// Cells in shapers.
    in_shapers: u64,
    /// Largest number of waiting cells.
    max_queue: u64,
    /// Longest time of a frame since it was handed to its shaper.
    max_delay: Span,
}

/// What had not left a NIC when the last cell was handed over.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Transmissions to come, in order.
    stretches: VecDeque<Stretch>,
    /// Number of their cells, and of those that never begin.
    cells: u64,
}

impl Waiting {
    /// Forgets the cells that left before `time`. A cell whose transmission ends then has not left.
    fn leave_before(&mut self, time: Time) {
        while let Some(first) = self.stretches.front_mut()
            && first.first_end() < time
        {
            if first.n > 1 && first.end() >= time {
                let left = (time - first.begins).0.div_ceil(first.takes.0) - 1;
                first.begins += first.takes * left;
                first.n -= left as u32;
                self.cells -= left;
                return;
            }
            self.cells -= u64::from(first.n);
            self.stretches.pop_front();
        }
    }

    /// Appends cells that are sent behind all others.
    fn push(&mut self, next: Stretch) {
        self.cells += u64::from(next.n);
        match self.stretches.back_mut() {
            Some(last)
                if last.end() == next.begins
                    && last.takes == next.takes
                    && last.n.checked_add(next.n).is_some() =>
            {
                last.n += next.n;
            }
            _ => self.stretches.push_back(next),
        }
    }
}

impl Cells {
    /// Whether a cell is in service just after cells were handed over at `time`.
    fn is_in_service(&self, time: Time) -> bool {
        let first = self.waiting.stretches.front();
        first.is_some_and(|first| match &self.times {
            Some(LineTimes::Changing(line)) => {
                first.begins < time || (first.begins == time && !line.rate.returns_at(time))
            }
            Some(LineTimes::Lengths(_)) | None => true,
        })
    }

    /// Updates the largest number just after cells were handed over at `time`.
    fn watch(&mut self, time: Time) {
        let waiting = self.waiting.cells - u64::from(self.is_in_service(time));
        raise(&mut self.max_queue, waiting + self.in_shapers);
    }
}

impl Nic {
    /// An idle NIC whose longest cells have these bytes and take this time. `times` are those of cells
    /// that differ. Some frames may come from shapers.
    pub fn new(longest: (u32, Span), times: Option<LineTimes>, has_shapers: bool) -> Nic {
        let cells = (times.is_some() || has_shapers).then(|| {
            Box::new(Cells {
                longest_bytes: longest.0,
                times,
                waiting: Waiting::default(),
                in_shapers: 0,
                max_queue: 0,
                max_delay: Span::ZERO,
            })
        });
        Nic {
            cells,
            cell_time: longest.1,
            free_at: Time::ZERO,
            woken: Time::ZERO,
            alone: Span::ZERO,
            behind: Span::ZERO,
        }
    }

    /// Queues one cell at `time`, which must not decrease. Returns the end of its transmission.
    pub fn send_cell(&mut self, time: Time) -> Time {
        if self.cells.is_some() {
            return self.send_kept(time, 1, None).0;
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

    /// Queues a frame at `time` if the rate does not change. Returns the end of the first cell's
    /// transmission; the others follow at once.
    #[inline]
    pub fn send_frame(&mut self, time: Time, size: FrameSize) -> Time {
        if self.cells.is_some() {
            return self
                .send_kept(time, size.cells(), Some(size.cell_bytes()))
                .0;
        }
        self.send_cells(time, size.cells())
    }

    /// Queues `n` cells at `time`, of `bytes` or the longest, if the NIC keeps its cells. Returns the
    /// end of the first one's transmission, and its time; the others follow at once, unless the rate
    /// changes. It is cold because the NICs of most runs keep none.
    #[cold]
    fn send_kept(&mut self, time: Time, n: u32, bytes: Option<u32>) -> (Time, Span) {
        let goes_on = self.goes_on_at(time);
        let Some(cells) = &mut self.cells else {
            unreachable!("the NIC keeps its cells");
        };
        let takes = match (&cells.times, bytes) {
            (Some(LineTimes::Changing(_)), _) => {
                let first = self.send_at_changes(time, n, bytes, |_| ());
                return (first.first_end(), first.takes);
            }
            (Some(LineTimes::Lengths(times)), Some(bytes)) => times.of(bytes),
            (Some(LineTimes::Lengths(_)), None) | (None, _) => self.cell_time,
        };
        let next = Stretch {
            begins: time.max(self.free_at),
            takes,
            n,
        };
        cells.waiting.leave_before(time);
        cells.waiting.push(next);
        cells.watch(time);
        self.free_at = next.end();
        self.watch(time, goes_on);
        (next.first_end(), takes)
    }

    /// Queues `n` cells at `time`, of `bytes` or the longest, if the rate changes, and hands over
    /// their `stretches` one by one. Returns the first one. What never begins ends after the end of
    /// the run.
    fn send_at_changes(
        &mut self,
        time: Time,
        n: u32,
        bytes: Option<u32>,
        mut stretches: impl FnMut(Stretch),
    ) -> Stretch {
        let goes_on = self.goes_on_at(time);
        let cells = self.cells.as_deref_mut().expect("the NIC keeps its cells");
        let Some(LineTimes::Changing(line)) = &cells.times else {
            unreachable!("the rate changes");
        };
        let bytes = bytes.unwrap_or(cells.longest_bytes);
        cells.waiting.leave_before(time);
        let first = line.stretch(time.max(self.free_at), bytes, n);
        let (mut next, mut left) = (first, n);
        loop {
            if next.begins < line.end {
                cells.waiting.push(next);
                self.free_at = next.end();
            } else {
                cells.waiting.cells += u64::from(next.n);
                self.free_at = next.begins;
            }
            stretches(next);
            left -= next.n;
            if left == 0 {
                break;
            }
            next = line.stretch(self.free_at, bytes, left);
        }
        cells.watch(time);
        self.watch(time, goes_on);
        first
    }

    /// Whether the rate of the link changes during the run.
    pub fn changes_rate(&self) -> bool {
        let times = self.cells.as_ref().and_then(|cells| cells.times.as_ref());
        matches!(times, Some(LineTimes::Changing(_)))
    }

    /// Queues a frame at `time` if the NIC keeps its cells, and hands over their `stretches`.
    pub fn send_in_stretches(
        &mut self,
        time: Time,
        size: FrameSize,
        mut stretches: impl FnMut(Stretch),
    ) {
        if self.changes_rate() {
            self.send_at_changes(time, size.cells(), Some(size.cell_bytes()), stretches);
        } else {
            let n = size.cells();
            let (end, takes) = self.send_kept(time, n, Some(size.cell_bytes()));
            let begins = end - takes;
            stretches(Stretch { begins, takes, n });
        }
    }

    /// Whether a cell that is queued every `period` from `time` on finds the NIC idle, at one rate.
    pub fn sends_at_once(&self, time: Time, period: Span) -> bool {
        period >= self.cell_time && self.is_idle_at(time) && !self.changes_rate()
    }

    /// [`Nic::send_regular`] if the NIC keeps its cells.
    #[cold]
    fn send_regular_kept(&mut self, time: Time, n: u64, period: Span) -> Time {
        let (first, _) = self.send_kept(time, 1, None);
        (1..n).for_each(|k| _ = self.send_kept(time + period * k, 1, None));
        first
    }

    /// Counts a frame of `n` cells that is handed to a shaper at `now` and leaves it after `takes`.
    pub fn enters_shaper(&mut self, now: Time, n: u64, takes: Span) {
        if let Some(cells) = &mut self.cells {
            cells.waiting.leave_before(now);
            cells.in_shapers += n;
            cells.watch(now);
            raise(&mut cells.max_delay, takes);
        }
    }

    /// Queues a frame at `now` that was handed to its shaper at `since`, and hands over the `stretches`
    /// of its cells.
    pub fn send_shaped(
        &mut self,
        since: Time,
        now: Time,
        size: FrameSize,
        stretches: impl FnMut(Stretch),
    ) {
        if let Some(cells) = &mut self.cells {
            cells.in_shapers -= u64::from(size.cells());
        }
        self.send_in_stretches(now, size, stretches);
        if let Some(cells) = &mut self.cells {
            raise(&mut cells.max_delay, self.free_at - since);
        }
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
        let mut nic = Nic::new((53, c), None, false);
        assert_eq!(nic.send_cells(at(100, 0), 12), at(100, 1));
        assert_eq!(nic.send_cells(at(101, 0), 2), at(100, 13));
        assert_eq!(nic.send_cells(at(100, 20), 1), at(100, 21));
    }

    #[test]
    fn what_waits_is_counted_behind_the_cell_in_service() {
        let c = Format::AAL5.cell_time(BitRate(155_520_000));
        let at = |cells: u64| Time(100) + c * cells;
        let found = |nic: &Nic| (nic.tally().max_queue, nic.tally().max_delay);
        let mut nic = Nic::new((53, c), None, false);
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
                    let mut single = Nic::new((53, c), None, false);
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
        let mut nic = Nic::new(
            (1_538, full),
            Some(LineTimes::Lengths(format.cell_times(rate))),
            false,
        );
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

    #[test]
    fn more_cells_than_a_stretch_can_count_are_two() {
        let most = u64::from(u32::MAX);
        let mut waiting = Waiting::default();
        let stretch = |begins, n| Stretch {
            begins: Time(begins),
            takes: Span(1),
            n,
        };
        waiting.push(stretch(0, u32::MAX - 1));
        waiting.push(stretch(most - 1, 1));
        assert_eq!((waiting.stretches.len(), waiting.cells), (1, most));
        waiting.push(stretch(most, 2));
        assert_eq!((waiting.stretches.len(), waiting.cells), (2, most + 2));
        // Those that left before this time are forgotten.
        waiting.leave_before(Time(most + 2));
        assert_eq!((waiting.stretches.len(), waiting.cells), (1, 1));
    }
}
