//! AAL5 framing (ITU-T I.363.5) of IP packets with LLC/SNAP headers (RFC 2684).

use crate::units::CELL_PAYLOAD_BYTES;

/// Bytes added to the data of a segment: TCP 20, IP 20, LLC/SNAP 8, AAL5 trailer 8.
pub const SEGMENT_OVERHEAD_BYTES: u64 = 56;

/// Cells of an ACK. With up to four SACK blocks (36 bytes of options) it still fits in two.
pub const ACK_CELLS: u32 = 2;

/// Cells of the frame that carries `data_bytes` of TCP data: padded to a multiple of 48 bytes.
pub fn cells_of_segment(data_bytes: u64) -> u32 {
    (data_bytes + SEGMENT_OVERHEAD_BYTES).div_ceil(CELL_PAYLOAD_BYTES) as u32
}

/// Bytes added to the data of a datagram: UDP 8, IP 20, LLC/SNAP 8, AAL5 trailer 8.
pub const DATAGRAM_OVERHEAD_BYTES: u64 = 44;

/// Cells of the frame that carries a UDP datagram with so many bytes of data.
pub fn cells_of_datagram(data_bytes: u64) -> u32 {
    (data_bytes + DATAGRAM_OVERHEAD_BYTES).div_ceil(CELL_PAYLOAD_BYTES) as u32
}

/// Reassembly of one flow: collects cells until an EOM and tells whether exactly the cells
/// of one frame were collected. Since cells are only ever lost, never reordered, counting the cells of
/// the current frame number is the same as checking length and CRC.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reassembly {
    frame: u32,
    /// Its cells; and [`MIXED`] if cells of an earlier frame, whose EOM was lost, are in front.
    cells: u32,
}

/// More than any frame has.
const MIXED: u32 = 1 << 31;

impl Reassembly {
    /// Takes `cells` consecutive cells of `frame`, none of them an EOM unless it is the last one.
    pub fn take(&mut self, frame: u32, cells: u32) {
        // Without a branch: nobody could guess it, as it is taken where a frame has just ended and else not.
        let other = (self.cells > 0) & (self.frame != frame);
        self.frame = frame;
        self.cells = if other { MIXED } else { self.cells } + cells;
    }

    /// Ends the frame at its EOM, which must have been taken: true when it is complete and clean.
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
