//! Cells in transit: runs of cells, the queue of runs on a link, and a port's decisions on frames.

use crate::ground::flow::FlowId;
use crate::ground::format::CellOfFrame;
use crate::ground::units::{Span, Time};
use crate::network::tally::DropReason;
use std::collections::VecDeque;

/// The last cell of the run is an EOM.
pub const ENDS_FRAME: u8 = 1;
/// Every cell of the run is a separate frame; `frame` is the number of the first.
pub const SINGLE_CELLS: u8 = 2;
/// RM cells. Each is a separate frame, and drop policies and policers let it pass.
pub const RM: u8 = 8;
/// The cells have low priority (CLP = 1). All cells of a run have the same priority.
pub const TAGGED: u8 = 4;
/// All flags.
pub const FLAGS: u8 = ENDS_FRAME | SINGLE_CELLS | TAGGED | RM;

/// Whether frame number `a` comes before `b`. Frames of a flow are numbered modulo 2^32, and far
/// fewer are in transit at once.
#[inline]
pub fn precedes(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) > u32::MAX / 2
}

/// Equally spaced consecutive cells, either of one frame or frames of one cell each.
///
/// Times are relative to a place: arrival times at a port while the run waits in a [`Feed`], ends
/// of transmission when the run leaves a station.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// Time of the first cell.
    pub time: Time,
    /// Time from one cell to the next.
    pub period: Span,
    /// Time since the first cell left its source host; equal for all cells of the run.
    pub age: Span,
    /// Number of cells.
    pub n: u32,
    /// Frame number within the flow.
    pub frame: u32,
    /// First cell within its frame.
    pub cell: CellOfFrame,
    /// Index of the hop (station and flow) that the run passes.
    pub hop: u32,
    /// Any of `ENDS_FRAME`, `SINGLE_CELLS`, `RM`, `TAGGED`.
    pub flags: u8,
}

impl Run {
    /// Whether each cell is a separate frame.
    pub fn is_single(&self) -> bool {
        self.flags & SINGLE_CELLS != 0
    }

    /// When the last cell passes.
    pub fn last(&self) -> Time {
        self.time + self.period * u64::from(self.n - 1)
    }

    /// This run, `latency` later.
    pub fn later(&self, latency: Span) -> Run {
        Run {
            time: self.time + latency,
            age: self.age + latency,
            ..*self
        }
    }

    /// Removes the first `n` cells.
    #[inline]
    pub fn skip(&mut self, n: u32) {
        self.time += self.period * u64::from(n);
        self.n -= n;
        if self.is_single() {
            self.frame = self.frame.wrapping_add(n);
        } else {
            self.cell = self.cell.after(n);
        }
    }

    /// Appends `next` if it continues this frame at the same spacing. Returns whether it did.
    pub fn join(&mut self, next: &Run) -> bool {
        let goes_on = self.flags & (ENDS_FRAME | SINGLE_CELLS) == 0
            && next.flags & !ENDS_FRAME == self.flags
            && self.time + self.period * u64::from(self.n) == next.time
            && (self.hop, self.frame, self.period, self.age)
                == (next.hop, next.frame, next.period, next.age)
            && self.cell.after(self.n) == next.cell;
        if goes_on {
            self.n += next.n;
            self.flags = next.flags;
        }
        goes_on
    }

    /// The first `n` cells.
    pub fn first(&self, n: u32) -> Run {
        Run {
            n,
            flags: self.flags_of_first(n),
            ..*self
        }
    }

    /// The flags of the first `n` cells.
    pub fn flags_of_first(&self, n: u32) -> u8 {
        if self.is_single() || n == self.n {
            self.flags
        } else {
            self.flags & !ENDS_FRAME
        }
    }

    /// Whether the first cell ends a frame.
    #[inline]
    pub fn first_ends_frame(&self) -> bool {
        self.is_single() || (self.flags & ENDS_FRAME != 0 && self.n == 1)
    }

    /// How many of the run's cells pass before `limit`.
    #[inline]
    pub fn before(&self, limit: Time) -> u32 {
        if self.time >= limit {
            0
        } else if self.n == 1 || self.time + self.period >= limit {
            1
        } else if self.last() < limit {
            self.n
        } else {
            // The division dominates the cost of this function, hence the cheaper cases above.
            (limit - self.time).0.div_ceil(self.period.0) as u32
        }
    }
}

/// Frames of one flow with cells at a place: their number, the first and the last. A frame may also
/// have cells at the next place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FramesAt {
    /// Number of frames.
    pub frames: u64,
    first: u32,
    last: u32,
}

impl FramesAt {
    /// Frames of `n` cells, from frame `frame` on. Unless each cell is a frame, all `n` belong to
    /// that frame.
    pub fn of_cells(frame: u32, n: u32, are_single: bool) -> FramesAt {
        let frames = if are_single { n } else { 1 };
        FramesAt {
            frames: u64::from(frames),
            first: frame,
            last: frame.wrapping_add(frames - 1),
        }
    }

    /// Appends the frames that follow; the first of them may be the last one here.
    pub fn join(&mut self, behind: FramesAt) {
        if self.frames == 0 {
            *self = behind;
        } else if behind.frames > 0 {
            self.frames += behind.frames - u64::from(self.last == behind.first);
            self.last = behind.last;
        }
    }
}

/// Cells that one link brings to a port: the run being taken and the runs behind it.
#[derive(Debug, Default)]
pub struct Feed {
    /// The run whose cells arrive next; empty (`n == 0`) if no arrival is known yet.
    pub head: Run,
    queue: VecDeque<Run>,
}

impl Feed {
    /// Appends a run, which must be later than all before. True if the feed was empty.
    #[inline]
    pub fn push(&mut self, run: Run) -> bool {
        if self.head.n == 0 {
            self.head = run;
            return true;
        }
        let last = self.queue.back_mut().unwrap_or(&mut self.head);
        if !last.join(&run) {
            self.queue.push_back(run);
        }
        false
    }

    /// Number of runs behind the head.
    pub fn behind(&self) -> usize {
        self.queue.len()
    }

    /// Arrival of the first cell of the run behind the head, or [`Time::NEVER`] if none is known.
    #[inline]
    pub fn second_time(&self) -> Time {
        self.queue.front().map_or(Time::NEVER, |run| run.time)
    }

    /// Run number `i` to arrive, the head being number 0; `None` if it is not known yet.
    pub fn get(&self, i: usize) -> Option<&Run> {
        if i > 0 {
            self.queue.get(i - 1)
        } else {
            Some(&self.head).filter(|head| head.n > 0)
        }
    }

    /// Removes the first `n` runs, at least one. False if the feed is then empty.
    pub fn skip_runs(&mut self, n: usize) -> bool {
        self.queue.drain(..n - 1);
        self.skip(self.head.n)
    }

    /// Removes `n` cells from the head. False if the feed is then empty.
    #[inline]
    pub fn skip(&mut self, n: u32) -> bool {
        if n < self.head.n {
            self.head.skip(n);
            return true;
        }
        match self.queue.pop_front() {
            Some(run) => self.head = run,
            None => {
                self.head.n = 0;
                return false;
            }
        }
        true
    }

    /// All runs still to arrive, including those after the end of the simulation.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        std::iter::once(&self.head)
            .filter(|r| r.n > 0)
            .chain(&self.queue)
    }
}

/// A port's decision on the latest frame of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameState {
    /// Frame number; `None` before the first frame.
    pub frame: Option<u32>,
    /// The decision on this frame.
    pub fate: Fate,
}

impl FrameState {
    /// State of frame number `frame` while all its cells have been accepted.
    pub fn accepted(frame: u32) -> FrameState {
        FrameState {
            frame: Some(frame),
            fate: Fate::Accepted,
        }
    }
}

/// A decision on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// Cells of the frame are accepted while there is room.
    #[default]
    Accepted,
    /// All cells of the frame are dropped, for this reason.
    Refused(DropReason),
    /// The frame has lost a cell; `rest_of_frame` decides on the others.
    Damaged,
}

/// A frame that has arrived at its destination host.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Flow of the frame.
    pub flow: FlowId,
    /// Frame number.
    pub frame: u32,
    /// Arrival of the EOM's last bit.
    pub time: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_before_a_limit() {
        let run = Run {
            time: Time(100),
            period: Span(10),
            n: 5,
            ..Run::default()
        };
        assert_eq!(
            [99, 100, 101, 110, 111, 140, 141, 999].map(|l| run.before(Time(l))),
            [0, 0, 1, 1, 2, 4, 5, 5]
        );
        assert_eq!(run.last(), Time(140));
    }

    #[test]
    fn only_the_last_cell_of_a_frame_ends_it() {
        let mut run = Run {
            n: 3,
            flags: ENDS_FRAME | TAGGED,
            ..Run::default()
        };
        assert_eq!(run.first(2).flags, TAGGED);
        assert_eq!(run.first(3).flags, ENDS_FRAME | TAGGED);
        assert!(!run.first_ends_frame());
        run.skip(2);
        assert!(run.first_ends_frame());
        assert_eq!((run.n, run.cell.number(), run.frame), (1, 2, 0));
    }

    #[test]
    fn only_what_goes_on_at_the_same_distance_joins() {
        let run = Run {
            time: Time(100),
            period: Span(10),
            age: Span(3),
            n: 2,
            frame: 7,
            cell: 4.into(),
            hop: 1,
            flags: 0,
        };
        let next = Run {
            time: Time(120),
            cell: 6.into(),
            flags: ENDS_FRAME,
            ..run
        };
        let joins = |run: Run, next: Run| {
            let mut run = run;
            run.join(&next).then_some(run)
        };
        let all = Run {
            n: 4,
            flags: ENDS_FRAME,
            ..run
        };
        assert_eq!(
            format!("{:?}", joins(run, next)),
            format!("{:?}", Some(all))
        );
        let others = [
            Run {
                time: Time(121),
                ..next
            },
            Run {
                period: Span(11),
                ..next
            },
            Run {
                age: Span(4),
                ..next
            },
            Run { frame: 8, ..next },
            Run {
                cell: 7.into(),
                ..next
            },
            Run { hop: 2, ..next },
            Run {
                flags: TAGGED,
                ..next
            },
        ];
        assert!(others.iter().all(|&other| joins(run, other).is_none()));
    }

    #[test]
    fn frame_numbers_wrap() {
        assert!(precedes(3, 4) && !precedes(4, 4) && !precedes(4, 3));
        assert!(precedes(u32::MAX, 0) && !precedes(0, u32::MAX));
        let mut run = Run {
            n: 3,
            frame: u32::MAX,
            flags: ENDS_FRAME | SINGLE_CELLS,
            ..Run::default()
        };
        run.skip(2);
        assert_eq!(run.frame, 1);
    }

    #[test]
    fn a_frame_at_two_places_is_counted_once() {
        let frame = |frame| FramesAt::of_cells(frame, 5, false);
        let mut found = FramesAt::default();
        for (next, frames) in [(3, 1), (3, 1), (4, 2), (7, 3)] {
            found.join(frame(next));
            found.join(FramesAt::default());
            assert_eq!(found.frames, frames);
        }
        let mut behind = frame(7);
        behind.join(frame(8));
        found.join(behind);
        assert_eq!(found.frames, 4);
        let mut cells = FramesAt::of_cells(u32::MAX, 3, true);
        cells.join(FramesAt::of_cells(2, 2, true));
        assert_eq!(cells.frames, 5);
    }

    #[test]
    fn single_cells_are_frames_of_their_own() {
        let mut run = Run {
            n: 3,
            flags: ENDS_FRAME | SINGLE_CELLS,
            ..Run::default()
        };
        assert!(run.first_ends_frame() && run.first(1).first_ends_frame());
        run.skip(2);
        assert_eq!((run.n, run.cell.number(), run.frame), (1, 0, 2));
    }
}
