//! Runs of waiting cells.

use crate::ground::format::CellOfFrame;
use crate::ground::units::{Span, Time};
use crate::network::cells::{self, ENDS_FRAME, Run, SINGLE_CELLS};

/// Cells of one frame, or single cells of one VC, that arrived a cell time apart.
#[derive(Clone, Copy, Debug)]
pub struct QueuedCells {
    /// Arrival of the first cell.
    pub arrived: Time,
    /// Age of the first cell at its arrival.
    pub age: Span,
    /// Index of the hop.
    pub hop: u32,
    /// Frame number of the first cell.
    pub frame: u32,
    /// First cell within its frame.
    pub cell: CellOfFrame,
    /// Number of cells times 2^`FLAG_BITS`, plus the flags.
    n_and_flags: u32,
}

const FLAGS: u32 = cells::FLAGS as u32;
const FLAG_BITS: u32 = u32::BITS - FLAGS.leading_zeros();
/// Largest number of cells of one [`QueuedCells`].
pub const MOST_CELLS: u32 = u32::MAX >> FLAG_BITS;

impl QueuedCells {
    /// Makes queued cells of the first `n` cells of `run`.
    pub fn first_of(run: &Run, n: u32) -> QueuedCells {
        QueuedCells {
            arrived: run.time,
            age: run.age,
            hop: run.hop,
            frame: run.frame,
            cell: run.cell,
            n_and_flags: n << FLAG_BITS | u32::from(run.flags_of_first(n)),
        }
    }

    /// Run that leaves a port with cell time `c` if the first cell starts at `start`.
    pub fn leaving(&self, start: Time, c: Span) -> Run {
        Run {
            time: start + c,
            period: c,
            age: self.age + (start + c - self.arrived),
            n: self.n(),
            frame: self.frame,
            cell: self.cell,
            hop: self.hop,
            flags: self.flags(),
        }
    }

    /// Number of cells.
    pub fn n(&self) -> u32 {
        self.n_and_flags >> FLAG_BITS
    }

    /// Flags as in [`Run`].
    pub fn flags(&self) -> u8 {
        (self.n_and_flags & FLAGS) as u8
    }

    /// Whether each cell is a separate frame.
    pub fn is_single(&self) -> bool {
        self.flags() & SINGLE_CELLS != 0
    }

    /// Whether the last cell is an EOM.
    pub fn ends_frame(&self) -> bool {
        self.flags() & ENDS_FRAME != 0
    }

    /// Whether the first cell begins a frame of several cells; such cells join no earlier run.
    pub fn begins_frame(&self) -> bool {
        self.cell.number() == 0 && !self.is_single()
    }

    /// Splits off the first `n` cells, which must not be all; cells arrived `c` apart.
    pub fn split(&mut self, n: u32, c: Span) -> QueuedCells {
        let mut first = *self;
        first.n_and_flags = n << FLAG_BITS | self.n_and_flags & FLAGS;
        self.n_and_flags -= n << FLAG_BITS;
        self.arrived += c * u64::from(n);
        if self.is_single() {
            self.frame = self.frame.wrapping_add(n);
        } else {
            self.cell = self.cell.after(n);
            first.n_and_flags &= !u32::from(ENDS_FRAME);
        }
        first
    }

    /// Extends one cell to `n` cells of its run, none of which is the last of the run.
    pub fn times(&self, n: u32) -> QueuedCells {
        QueuedCells {
            n_and_flags: n << FLAG_BITS | u32::from(self.flags()),
            ..*self
        }
    }

    /// Extends the first cell to `n` cells of its run, of which `last` is the last.
    pub fn until(&self, last: &QueuedCells, n: u32) -> QueuedCells {
        QueuedCells {
            n_and_flags: n << FLAG_BITS | u32::from(last.flags()),
            ..*self
        }
    }

    /// Moves on to the next cell of the run, which arrives `c` later.
    pub fn go_on(&mut self, c: Span) {
        self.arrived += c;
        if self.is_single() {
            self.frame = self.frame.wrapping_add(1);
        } else {
            self.cell = self.cell.after(1);
        }
    }

    /// Appends `next` if it continues the frame or the single cells, with cells `c` apart.
    /// Returns whether it did.
    pub fn join(&mut self, next: &QueuedCells, c: Span) -> bool {
        let (frame, cell) = if self.is_single() {
            (self.frame.wrapping_add(self.n()), self.cell)
        } else {
            (self.frame, self.cell.after(self.n()))
        };
        let goes_on = self.hop == next.hop
            && (frame, cell) == (next.frame, next.cell)
            && (self.flags() | ENDS_FRAME) == (next.flags() | ENDS_FRAME)
            && self.arrived + c * u64::from(self.n()) == next.arrived
            && self.age == next.age
            && self.n() <= MOST_CELLS - next.n();
        if goes_on {
            self.n_and_flags = (self.n() + next.n()) << FLAG_BITS | u32::from(next.flags());
        }
        goes_on
    }

    /// Largest number of these cells that a turn of one frame takes.
    pub fn of_one_frame(&self) -> u32 {
        if self.is_single() { 1 } else { self.n() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::cells::{RM, TAGGED};

    #[test]
    fn flags_do_not_disturb_the_count() {
        let flags = ENDS_FRAME | RM | TAGGED;
        let run = Run {
            n: 9,
            flags,
            ..Run::default()
        };
        let mut cells = QueuedCells::first_of(&run, 9);
        let first = cells.split(4, Span(10));
        assert_eq!((first.n(), first.flags()), (4, RM | TAGGED));
        assert_eq!(
            (cells.n(), cells.flags(), cells.cell.number()),
            (5, flags, 4)
        );
        assert_eq!(cells.arrived, Time(40));
    }

    #[test]
    fn only_cells_alike_are_joined() {
        let run = |frame, flags| {
            QueuedCells::first_of(
                &Run {
                    time: Time(10 * u64::from(frame)),
                    n: 1,
                    frame,
                    flags: flags | SINGLE_CELLS | ENDS_FRAME,
                    ..Run::default()
                },
                1,
            )
        };
        let mut cells = run(0, 0);
        assert!(cells.join(&run(1, 0), Span(10)));
        assert!(!cells.join(&run(2, TAGGED), Span(10)));
        assert!(!cells.join(&run(3, 0), Span(10)));
        assert_eq!(cells.n(), 2);
    }
}
