//! A shaper: the token bucket of one flow at the host that sends it (model section 5).

use crate::ground::format::{Format, FrameSize};
use crate::ground::units::Time;
use crate::text::scenario::Shape;
use std::collections::VecDeque;

pub(super) struct Shaper {
    /// What a tick adds to the level, in units of a byte / (8 x ticks per second).
    rate: u128,
    /// A byte, and the full bucket, in these units.
    byte: u128,
    burst: u128,
    /// Level at `at`, when the latest frame leaves.
    level: u128,
    at: Time,
    /// Frames that wait: number, cells, and when they were handed over.
    pub(super) waiting: VecDeque<(u32, u64, Time)>,
}

impl Shaper {
    pub(super) fn new(shape: Shape, format: Format) -> Shaper {
        let byte = 8 * u128::from(format.clock.ticks_per_second);
        let burst = u128::from(shape.burst) * byte;
        Shaper {
            rate: u128::from(shape.rate.0),
            byte,
            burst,
            level: burst,
            at: Time::ZERO,
            waiting: VecDeque::new(),
        }
    }

    /// Whether the latest frame leaves after [`Time::LATEST`].
    pub(super) fn is_overdue(&self) -> bool {
        self.at > Time::LATEST
    }

    /// Cells that wait.
    pub(super) fn cells(&self) -> u64 {
        self.waiting.iter().map(|&(_, cells, _)| cells).sum()
    }

    /// Takes a frame at `now`. Returns when it leaves.
    pub(super) fn take(&mut self, now: Time, frame: u32, size: FrameSize) -> Time {
        self.waiting
            .push_back((frame, u64::from(size.cells()), now));
        let needed = u128::from(size.line_bytes()) * self.byte;
        self.fill_until(now.max(self.at));
        let missing = needed.saturating_sub(self.level);
        let ticks = u64::try_from(missing.div_ceil(self.rate)).expect("checked by the reader");
        self.fill_until(Time(self.at.0 + ticks));
        self.level -= needed;
        self.at
    }

    fn fill_until(&mut self, time: Time) {
        let filled = self.level + u128::from(time.since(self.at).0) * self.rate;
        self.level = filled.min(self.burst);
        self.at = time;
    }
}
