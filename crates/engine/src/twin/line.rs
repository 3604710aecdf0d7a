//! The transmitting end of a link: one cell at a time (model section 2), with deliberate losses
//! (section 7).

use super::Cell;
use super::nic::Nic;
use crate::ground::flow::FlowId;
use crate::ground::format::Format;
use crate::ground::rng::Stream;
use crate::ground::units::{BitRate, Span, Time};
use crate::text::scenario::{Link, RateChange};
use std::collections::HashMap;

pub(super) struct Line {
    format: Format,
    rate: BitRate,
    changes: Vec<RateChange>,
    /// Begin and end of the latest transmission, and whether others may follow without a pause.
    begun: Time,
    busy_until: Time,
    is_busy: bool,
    /// Whether no cell may begin: from a change to 0 on, until the departures of the instant at
    /// which the rate is above 0 again.
    pub(super) is_paused: bool,
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
            changes: link.changes.clone(),
            begun: Time::ZERO,
            busy_until: Time::ZERO,
            is_busy: false,
            is_paused: false,
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
        assert!(
            now >= self.busy_until && !self.is_paused,
            "one cell at a time"
        );
        self.begun = now;
        self.busy_until = now + self.time_of(cell.bytes, now);
        self.is_busy = true;
        (self.busy_until, cell.is_data && self.loses(cell))
    }

    /// The rate at `time`.
    pub(super) fn rate_at(&self, time: Time) -> BitRate {
        let mut rate = self.rate;
        for change in &self.changes {
            if Time::ZERO + change.at <= time {
                rate = change.rate;
            }
        }
        rate
    }

    /// Time that a cell of `bytes` takes which begins at `time`.
    fn time_of(&self, bytes: u32, time: Time) -> Span {
        self.format.time_of(bytes, self.rate_at(time))
    }

    /// Whether the rate changes during the run.
    pub(super) fn changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// When the latest transmission began.
    pub(super) fn begun(&self) -> Time {
        self.begun
    }

    /// When the line would be free if the waiting cells followed, as seen `now`. If its rate
    /// changes, what does not begin before `end` counts as sent then.
    pub(super) fn is_free_after(&self, nic: &Nic, now: Time, end: Time) -> Time {
        let mut free = self.busy_until;
        if self.changes.is_empty() {
            if self.is_busy {
                let lengths = nic.lengths();
                lengths.for_each(|(bytes, n)| free += self.format.time_of(bytes, self.rate) * n);
            }
            return free;
        }
        for cell in nic.waiting() {
            free = free.max(now);
            let returns = self.changes.iter().map(|change| Time::ZERO + change.at);
            let mut begins = [free].into_iter().chain(returns.filter(|&at| at > free));
            match begins.find(|&at| self.rate_at(at).0 > 0) {
                Some(at) if at < end => free = at + self.time_of(cell.bytes, at),
                _ => return end.max(free),
            }
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
