//! AAL5 framing (ITU-T I.363.5) of IP packets with LLC/SNAP headers (RFC 2684).

use crate::units::CELL_PAYLOAD_BYTES;

/// Bytes added to the data of a segment: TCP 20, IP 20, LLC/SNAP 8, AAL5 trailer 8.
pub const SEGMENT_OVERHEAD_BYTES: u64 = 56;

/// Cells of an ACK. An ACK with up to four SACK blocks (36 bytes of options) still fits in two.
pub const ACK_CELLS: u32 = 2;

/// Cells of a frame with `data_bytes` of TCP data, padded to a multiple of 48 bytes.
pub fn cells_of_segment(data_bytes: u64) -> u32 {
    (data_bytes + SEGMENT_OVERHEAD_BYTES).div_ceil(CELL_PAYLOAD_BYTES) as u32
}

/// Bytes added to the data of a datagram: UDP 8, IP 20, LLC/SNAP 8, AAL5 trailer 8.
pub const DATAGRAM_OVERHEAD_BYTES: u64 = 44;

/// Cells of a frame with a UDP datagram of `data_bytes`.
pub fn cells_of_datagram(data_bytes: u64) -> u32 {
    (data_bytes + DATAGRAM_OVERHEAD_BYTES).div_ceil(CELL_PAYLOAD_BYTES) as u32
}

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
    fn frame_sizes_of_the_studies() {
        for (mss, cells) in [(512, 12), (1460, 32), (9140, 192), (9180, 193)] {
            assert_eq!(cells_of_segment(mss), cells);
        }
        assert_eq!(cells_of_segment(0), ACK_CELLS);
        assert_eq!(cells_of_segment(36), ACK_CELLS);
        assert_eq!(
            [0, 4, 5, 1024, 65_499].map(cells_of_datagram),
            [1, 1, 2, 23, 1366]
        );
    }

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
