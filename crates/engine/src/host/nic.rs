//! A NIC: the output side of a host for one link. Frames one after the other, cells back to back, unlimited queue.

use crate::units::{CellTime, Span, Time};

/// One NIC.
#[derive(Clone, Copy, Debug)]
pub struct Nic {
    cell_time: CellTime,
    /// Beginning of the busy period and cells sent in it.
    since: Time,
    cells: u64,
    free_at: Time,
}

impl Nic {
    /// An idle NIC.
    pub fn new(cell_time: CellTime) -> Nic {
        Nic {
            cell_time,
            since: Time::ZERO,
            cells: 0,
            free_at: Time::ZERO,
        }
    }

    /// Queues one cell at `time`, not before any earlier one; returns the end of its transmission.
    pub fn send_cell(&mut self, time: Time) -> Time {
        let goes_on = self.cells > 0 && time <= self.free_at;
        if !goes_on {
            self.since = time;
            self.cells = 0;
        }
        self.cells += 1;
        self.free_at = self.since + self.cell_time.end_of(self.cells);
        self.free_at
    }

    /// Queues a frame of `n` cells at `time` on a NIC whose cell time is `exact`, a whole number of ticks; returns the end of
    /// the first cell's transmission.
    #[inline]
    pub fn send_frame(&mut self, time: Time, n: u32, exact: Span) -> Time {
        let start = time.max(self.free_at);
        self.free_at = start + exact * u64::from(n);
        self.since = start;
        self.cells = u64::from(n);
        start + exact
    }

    /// Whether it would send a cell queued at `time` at once.
    pub fn is_idle_at(&self, time: Time) -> bool {
        self.free_at <= time
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
    fn uneven_cell_times_do_not_drift_within_a_busy_period() {
        let cell_time = BitRate(7_000_003).cell_time();
        let mut nic = Nic::new(cell_time);
        for k in 1..=1000 {
            assert_eq!(nic.send_cell(Time(5)), Time(5) + cell_time.end_of(k));
        }
    }
}
