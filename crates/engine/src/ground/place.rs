//! Places that a cell takes in a queue (model section 6).

/// What is one place for the cells of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A cell, however long.
    Cell,
    /// `each` bytes of a cell that are stored, or what is left of them.
    Bytes {
        /// Bytes of a place: 1, or those of a memory cell.
        each: u32,
        /// Bytes of a cell on the line that are not stored.
        unstored: u32,
    },
}

impl Place {
    /// Bytes of a place; of one that is a cell, 1.
    pub const fn bytes(self) -> u32 {
        match self {
            Place::Cell => 1,
            Place::Bytes { each, .. } => each,
        }
    }

    /// Places that a cell of `bytes` on the line takes.
    #[inline]
    pub const fn of(self, bytes: u32) -> u64 {
        match self {
            Place::Cell => 1,
            Place::Bytes { each: 1, unstored } => (bytes - unstored) as u64,
            Place::Bytes { each, unstored } => (bytes - unstored).div_ceil(each) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_the_memory_cells_that_its_stored_bytes_begin() {
        // 64 bytes are stored of a packet of 84 on the line, and 1518 of one of 1538.
        let places = |each| {
            let place = Place::Bytes { each, unstored: 20 };
            [84, 274, 275, 1538].map(|bytes| place.of(bytes))
        };
        assert_eq!(places(254), [1, 1, 2, 6]);
        assert_eq!(places(1), [64, 254, 255, 1518]);
        assert_eq!([84, 1538].map(|bytes| Place::Cell.of(bytes)), [1, 1]);
    }
}
