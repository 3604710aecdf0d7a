//! Reassembly of AAL5 frames (ITU-T I.363.5).

/// Reassembly of one flow: collects cells until an EOM and checks for exactly one whole frame.
///
/// Cells are lost but never reordered, so counting the cells of the current frame number is
/// equivalent to checking length and CRC.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reassembly {
    frame: u32,
    /// Cells collected of `frame`, plus [`MIXED`] if cells of an earlier frame, whose EOM was lost,
    /// precede them.
    cells: u32,
}

/// Flag larger than the cell count of any frame.
const MIXED: u32 = 1 << 31;

impl Reassembly {
    /// Takes `cells` consecutive cells of `frame`, none of them an EOM unless it is the last one.
    pub fn take(&mut self, frame: u32, cells: u32) {
        // Branch-free: a branch here would be unpredictable, because it is taken once per frame.
        let other = (self.cells > 0) & (self.frame != frame);
        self.frame = frame;
        self.cells = if other { MIXED } else { self.cells } + cells;
    }

    /// Ends the frame at its EOM, which must have been taken. True if the frame is complete and
    /// clean.
    pub fn end(&mut self, cells_of_frame: u32) -> bool {
        let good = self.cells == cells_of_frame;
        *self = Reassembly::default();
        good
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_eom_costs_two_frames() {
        let mut r = Reassembly::default();
        r.take(0, 11);
        r.take(1, 12);
        assert!(!r.end(12));
        r.take(2, 12);
        assert!(r.end(12));
    }

    #[test]
    fn missing_cell_costs_its_frame_only() {
        let mut r = Reassembly::default();
        r.take(0, 5);
        r.take(0, 6);
        assert!(!r.end(12));
        r.take(1, 12);
        assert!(r.end(12));
    }

    #[test]
    fn lost_whole_frame_costs_nothing_else() {
        let mut r = Reassembly::default();
        r.take(0, 12);
        assert!(r.end(12));
        r.take(2, 12);
        assert!(r.end(12));
    }
}
