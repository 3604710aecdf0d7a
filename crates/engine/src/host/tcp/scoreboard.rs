//! A SACK sender's view of the receiver's buffer: bytes beyond snd_una that were selectively
//! acknowledged, and how far the holes were filled.
//!
//! Ranges are ascending. With h ranges an ACK costs O(log h) for any window, except that
//! opening or closing a hole in the middle moves up to h entries. Sums for the pipe of RFC 6675 are
//! kept up to date instead of being recomputed.

use super::SackBlock;
use super::receiver::hold;
use std::collections::VecDeque;

/// The scoreboard of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    una: u64,
    /// SACKed ranges beyond `una`: disjoint, not adjacent and ascending.
    held: VecDeque<SackBlock>,
    /// HighRxt of RFC 6675: holes below it were filled in this recovery. Never below `una`.
    high_rxt: u64,
    /// Bytes in `held` below `high_rxt`.
    sacked_below_rxt: u64,
}

impl Scoreboard {
    /// Forgets all blocks (RFC 2018 section 8: after a retransmit timeout).
    pub fn clear(&mut self) {
        self.held.clear();
        self.high_rxt = self.una;
        self.sacked_below_rxt = 0;
    }

    /// Whether no block is known. If so, ACKs without blocks can be skipped until an ACK with
    /// blocks comes, or blocks are cleared.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Takes the cumulative ACK and the blocks of an ACK. Returns whether a block reported bytes
    /// not known to have arrived.
    pub fn update(&mut self, ack: u64, blocks: &[SackBlock]) -> bool {
        self.advance(ack);
        let mut is_new = false;
        for &block in blocks {
            is_new |= self.add(block);
        }
        is_new
    }

    fn advance(&mut self, una: u64) {
        self.una = self.una.max(una);
        while let Some(first) = self.held.front_mut() {
            let below = first.end.min(self.una).min(self.high_rxt);
            self.sacked_below_rxt -= below.saturating_sub(first.start);
            if first.end > self.una {
                first.start = first.start.max(self.una);
                break;
            }
            self.held.pop_front();
        }
        self.high_rxt = self.high_rxt.max(self.una);
    }

    fn add(&mut self, block: SackBlock) -> bool {
        let block = SackBlock {
            start: block.start.max(self.una),
            end: block.end,
        };
        if block.end <= block.start || self.holds(block) {
            return false;
        }
        let start = block.start.min(self.high_rxt);
        let end = block.end.min(self.high_rxt);
        self.sacked_below_rxt += (end - start) - self.sacked_within(start, end);
        hold(&mut self.held, block);
        true
    }

    fn holds(&self, block: SackBlock) -> bool {
        self.held
            .get(self.held.partition_point(|b| b.end < block.end))
            .is_some_and(|b| b.start <= block.start)
    }

    /// SACKed bytes in [start, end).
    fn sacked_within(&self, start: u64, end: u64) -> u64 {
        let from = self.held.partition_point(|b| b.end <= start);
        self.held
            .range(from..)
            .map_while(|b| b.end.min(end).checked_sub(b.start.max(start)))
            .sum()
    }

    /// The first hole not yet filled, from HighRxt on and below the highest SACKed byte.
    pub fn next_hole(&self) -> Option<SackBlock> {
        let next = self.held.partition_point(|b| b.end <= self.high_rxt);
        let block = self.held.get(next)?;
        if self.high_rxt < block.start {
            return Some(SackBlock {
                start: self.high_rxt,
                end: block.start,
            });
        }
        let above = self.held.get(next + 1)?;
        Some(SackBlock {
            start: block.end,
            end: above.start,
        })
    }

    /// Records that data up to `end` were resent.
    pub fn fill(&mut self, end: u64) {
        let end = end.max(self.high_rxt);
        self.sacked_below_rxt += self.sacked_within(self.high_rxt, end);
        self.high_rxt = end;
    }

    /// Starts a recovery: no hole is filled yet.
    pub fn start_over(&mut self) {
        self.high_rxt = self.una;
        self.sacked_below_rxt = 0;
    }

    /// Upper end of the lost bytes, and the SACKed bytes from there on.
    ///
    /// By IsLost of RFC 6675 section 4, a byte that is not SACKed is lost if enough data above it
    /// are SACKed: at least `threshold` ranges, or more than (`threshold` - 1) `mss` bytes.
    fn lost_below(&self, threshold: u32, mss: u64) -> (u64, u64) {
        let mut bytes = 0;
        for (ranges, block) in (1..).zip(self.held.iter().rev()) {
            bytes += block.end - block.start;
            if ranges >= threshold || bytes > u64::from(threshold - 1) * mss {
                return (block.start, bytes);
            }
        }
        (self.una, bytes)
    }

    /// IsLost of RFC 6675 section 4 for a byte that is not SACKed.
    pub fn is_lost(&self, byte: u64, threshold: u32, mss: u64) -> bool {
        byte < self.lost_below(threshold, mss).0
    }

    /// SetPipe of RFC 6675 section 4: bytes below `snd_max` that are neither SACKed nor lost, plus
    /// resent bytes that are not SACKed.
    pub fn pipe(&self, snd_max: u64, threshold: u32, mss: u64) -> u64 {
        let (lost_below, sacked_above) = self.lost_below(threshold, mss);
        let first_time = snd_max - lost_below - sacked_above;
        let again = self.high_rxt - self.una - self.sacked_below_rxt;
        first_time + again
    }

    /// One past the highest byte below `snd_max` that is not SACKed; `None` if that byte was
    /// resent.
    pub fn last_missing_end(&self, snd_max: u64) -> Option<u64> {
        let end = match self.held.back() {
            Some(last) if last.end >= snd_max => last.start,
            _ => snd_max,
        };
        (end > self.high_rxt).then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(start: u64, end: u64) -> SackBlock {
        SackBlock { start, end }
    }

    #[test]
    fn holes_come_in_order_and_once() {
        let mut board = Scoreboard::default();
        board.update(10, &[block(12, 14), block(17, 20)]);
        assert_eq!(board.next_hole(), Some(block(10, 12)));
        board.fill(11);
        assert_eq!(board.next_hole(), Some(block(11, 12)));
        board.fill(12);
        assert_eq!(board.next_hole(), Some(block(14, 17)));
        board.fill(17);
        assert_eq!(
            board.next_hole(),
            None,
            "nothing above is known to be missing"
        );
    }

    #[test]
    fn repeated_blocks_are_no_news() {
        let mut board = Scoreboard::default();
        assert!(board.update(10, &[block(12, 14)]));
        assert!(!board.update(10, &[block(12, 14)]));
        assert!(!board.update(10, &[block(5, 9), block(13, 14)]));
        assert!(board.update(10, &[block(13, 15)]));
    }

    #[test]
    fn a_block_that_ends_at_the_ack_is_forgotten() {
        let mut board = Scoreboard::default();
        board.update(10, &[block(12, 14), block(17, 20)]);
        board.update(14, &[]);
        assert_eq!(board.held, [block(17, 20)]);
    }

    // RFC 6675 section 4, IsLost, with DupThresh 3.
    #[test]
    fn three_ranges_or_more_than_two_segments_above_mean_loss() {
        let mss = 10;
        let mut board = Scoreboard::default();
        board.update(0, &[block(20, 30), block(40, 50)]);
        assert!(!board.is_lost(0, 3, mss), "two ranges of two segments");
        board.update(0, &[block(60, 70)]);
        assert!(board.is_lost(0, 3, mss));
        assert!(!board.is_lost(30, 3, mss));
        let mut board = Scoreboard::default();
        board.update(0, &[block(10, 30)]);
        assert!(!board.is_lost(0, 3, mss), "exactly two segments");
        board.update(0, &[block(30, 31)]);
        assert!(board.is_lost(0, 3, mss));
    }

    /// Reference scoreboard with flags per byte.
    struct Naive {
        una: usize,
        sacked: Vec<bool>,
        again: Vec<bool>,
    }

    impl Naive {
        fn lost(&self, byte: usize, threshold: usize, mss: usize) -> bool {
            let above = &self.sacked[byte..];
            let bytes = above.iter().filter(|&&s| s).count();
            let ranges = above.windows(2).filter(|w| !w[0] && w[1]).count();
            ranges >= threshold || bytes > (threshold - 1) * mss
        }

        fn pipe(&self, threshold: usize, mss: usize) -> usize {
            (self.una..self.sacked.len())
                .filter(|&byte| !self.sacked[byte])
                .map(|byte| {
                    usize::from(!self.lost(byte, threshold, mss)) + usize::from(self.again[byte])
                })
                .sum()
        }

        fn next_hole(&self) -> Option<usize> {
            let highest = (self.una..self.sacked.len())
                .rev()
                .find(|&b| self.sacked[b])?;
            let from = self.again.iter().rposition(|&a| a).map_or(0, |b| b + 1);
            (from.max(self.una)..highest).find(|&b| !self.sacked[b])
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Sack(u64, u64),
        Ack(u64),
        Fill(u64),
        StartOver,
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0u64..90, 1u64..10).prop_map(|(s, n)| Step::Sack(s, s + n)),
            1 => (0u64..100).prop_map(Step::Ack),
            3 => (1u64..6).prop_map(Step::Fill),
            1 => Just(Step::StartOver),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        /// Compares pipe, holes and losses with flags per byte.
        #[test]
        fn scoreboard_matches_a_bitmap(
            steps in proptest::collection::vec(step(), 1..60),
            threshold in 1u32..5,
            mss in 1u64..6,
        ) {
            let mut board = Scoreboard::default();
            let mut naive = Naive { una: 0, sacked: vec![false; 100], again: vec![false; 100] };
            for step in steps {
                match step {
                    Step::Sack(start, end) => {
                        let fresh = (start.max(naive.una as u64)..end)
                            .any(|b| !naive.sacked[b as usize]);
                        prop_assert_eq!(board.update(0, &[block(start, end)]), fresh);
                        naive.sacked[start as usize..end as usize].fill(true);
                    }
                    Step::Ack(una) => {
                        board.update(una, &[]);
                        naive.una = naive.una.max(una as usize);
                    }
                    Step::Fill(len) => {
                        if let Some(hole) = board.next_hole() {
                            let end = hole.end.min(hole.start + len);
                            board.fill(end);
                            naive.again[..end as usize].fill(true);
                        }
                    }
                    Step::StartOver => {
                        board.start_over();
                        naive.again.fill(false);
                    }
                    Step::Clear => {
                        board.clear();
                        naive.sacked[naive.una..].fill(false);
                        naive.again.fill(false);
                    }
                }
                let ascending = |w: (&SackBlock, &SackBlock)| w.0.end < w.1.start;
                prop_assert!(board.held.iter().zip(board.held.iter().skip(1)).all(ascending));
                prop_assert!(board.held.iter().all(|b| board.una <= b.start && b.start < b.end));
                for byte in naive.una..100 {
                    if !naive.sacked[byte] {
                        prop_assert_eq!(
                            board.is_lost(byte as u64, threshold, mss),
                            naive.lost(byte, threshold as usize, mss as usize)
                        );
                    }
                }
                prop_assert_eq!(
                    board.pipe(100, threshold, mss),
                    naive.pipe(threshold as usize, mss as usize) as u64
                );
                prop_assert_eq!(
                    board.next_hole().map(|h| h.start),
                    naive.next_hole().map(|b| b as u64)
                );
                let missing = (naive.una..100).rev().find(|&b| !naive.sacked[b]);
                let missing = missing.filter(|&b| !naive.again[b]);
                prop_assert_eq!(board.last_missing_end(100), missing.map(|b| b as u64 + 1));
            }
        }
    }
}
