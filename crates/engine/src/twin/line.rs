//! The transmitting end of a link: one cell at a time (model section 2), with deliberate losses
//! (section 7).

use super::Cell;
use crate::ground::flow::FlowId;
use crate::ground::format::Format;
use crate::ground::rng::Stream;
use crate::ground::units::{BitRate, Span, Time};
use crate::text::scenario::Link;
use std::collections::HashMap;

pub(super) struct Line {
    format: Format,
    rate: BitRate,
    /// End of the latest transmission, and whether others may follow without a pause.
    busy_until: Time,
    is_busy: bool,
    /// The cell in service, and whether the link loses it.
    pub(super) in_service: Option<(Cell, bool)>,
    lose_frames: Vec<u64>,
    lose_probability: f64,
    draws: Stream,
    frames: u64,
    /// By data flow: the latest frame on this link, and whether it is lost.
    latest: HashMap<FlowId, (u32, bool)>,
}

impl Line {
    pub(super) fn new(link: &Link, format: Format, draws: Stream) -> Line {
        Line {
            format,
            rate: link.rate,
            busy_until: Time::ZERO,
            is_busy: false,
            in_service: None,
            lose_frames: link.lose_frames.clone(),
            lose_probability: link.lose_probability.as_f64(),
            draws,
            frames: 0,
            latest: HashMap::new(),
        }
    }

    /// Starts to send `cell`. Returns when its last bit leaves, and whether it is lost.
    pub(super) fn start(&mut self, now: Time, cell: &Cell) -> (Time, bool) {
        assert!(now >= self.busy_until, "one cell at a time");
        self.busy_until = now + self.time_of(cell);
        self.is_busy = true;
        (self.busy_until, cell.is_data && self.loses(cell))
    }

    /// Time that `cell` takes.
    pub(super) fn time_of(&self, cell: &Cell) -> Span {
        self.format.time_of(cell.bytes, self.rate)
    }

    /// When the transmission of `cell`, which is in service, began.
    pub(super) fn begin_of(&self, cell: &Cell) -> Time {
        self.busy_until - self.time_of(cell)
    }

    /// When the line would be free if cells of these bytes, so many of each, followed without a
    /// pause.
    pub(super) fn is_free_after(&self, lengths: impl Iterator<Item = (u32, u64)>) -> Time {
        let mut free = self.busy_until;
        if self.is_busy {
            lengths.for_each(|(bytes, n)| free += self.format.time_of(bytes, self.rate) * n);
        }
        free
    }

    /// Ends the busy period with the latest cell.
    pub(super) fn end_busy_period(&mut self) {
        self.is_busy = false;
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
