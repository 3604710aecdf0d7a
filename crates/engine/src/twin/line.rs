//! The transmitting end of a link: busy periods (model section 2) and losses on purpose (section 7).

use super::Cell;
use crate::flow::FlowId;
use crate::rng::Stream;
use crate::scenario::Link;
use crate::units::{CellTime, Time};
use std::collections::HashMap;

pub(super) struct Line {
    cell_time: CellTime,
    /// Start of the busy period and cells begun in it, 0 between busy periods.
    busy_since: Time,
    cells: u64,
    /// End of the latest cell.
    busy_until: Time,
    /// The cell being sent, and whether it is lost on the way.
    pub(super) in_service: Option<(Cell, bool)>,
    lose_frames: Vec<u64>,
    lose_probability: f64,
    draws: Stream,
    frames: u64,
    /// By flow of data: its latest frame on this link, and whether that is lost.
    latest: HashMap<FlowId, (u32, bool)>,
}

impl Line {
    pub(super) fn new(link: &Link, draws: Stream) -> Line {
        Line {
            cell_time: link.rate.cell_time(),
            busy_since: Time::ZERO,
            cells: 0,
            busy_until: Time::ZERO,
            in_service: None,
            lose_frames: link.lose_frames.clone(),
            lose_probability: link.lose_probability.as_f64(),
            draws,
            frames: 0,
            latest: HashMap::new(),
        }
    }

    /// Starts to send `cell`: when its last bit leaves, and whether it is lost.
    pub(super) fn start(&mut self, now: Time, cell: &Cell) -> (Time, bool) {
        assert!(now >= self.busy_until, "one cell at a time");
        if self.cells == 0 {
            self.busy_since = now;
        }
        self.cells += 1;
        self.busy_until = self.busy_since + self.cell_time.end_of(self.cells);
        (self.busy_until, cell.is_data && self.loses(cell))
    }

    /// When it would be free, were so many more cells to follow without a pause.
    pub(super) fn is_free_after(&self, cells: u64) -> Time {
        if self.cells == 0 {
            return self.busy_until;
        }
        self.busy_since + self.cell_time.end_of(self.cells + cells)
    }

    /// Nothing follows the latest cell: its end is the end of the busy period.
    pub(super) fn end_busy_period(&mut self) {
        self.cells = 0;
    }

    fn loses(&mut self, cell: &Cell) -> bool {
        match self.latest.get(&cell.flow) {
            Some(&(frame, lost)) if frame == cell.frame => lost,
            _ => {
                let number = self.frames;
                self.frames += 1;
                let lost = self.lose_frames.contains(&number)
                    || self.draws.unit(number) < self.lose_probability;
                self.latest.insert(cell.flow, (cell.frame, lost));
                lost
            }
        }
    }
}
