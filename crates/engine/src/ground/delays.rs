//! Cell transfer delays: count, sum, extremes and distribution.

use crate::ground::units::Span;

/// Sum and bounds of delays.
#[derive(Clone, Copy, Debug)]
pub struct DelaySums {
    /// Sum, ticks.
    pub sum: u128,
    /// Smallest, ticks; `u64::MAX` without cells.
    pub min: u64,
    /// Largest, ticks.
    pub max: u64,
}

impl Default for DelaySums {
    fn default() -> DelaySums {
        DelaySums {
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }
}

/// Delays of a number of cells: waiting times, or ages on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Every cell has this delay.
    Equal(Span),
    /// Delays that rise by `step` from cell to cell.
    Series {
        /// The shortest delay.
        first: Span,
        /// Difference between successive delays.
        step: Span,
    },
    /// Delays found one by one.
    Listed {
        /// Sum, ticks.
        sum: u128,
        /// The shortest delay.
        least: Span,
        /// The longest delay.
        most: Span,
    },
}

impl Waits {
    /// Sum over `cells` cells, ticks.
    pub fn sum(self, cells: u64) -> u128 {
        match self {
            Waits::Equal(each) => u128::from(each.0) * u128::from(cells),
            Waits::Series { first, step } => {
                let pairs = cells * cells.saturating_sub(1) / 2;
                u128::from(first.0) * u128::from(cells) + u128::from(step.0) * u128::from(pairs)
            }
            Waits::Listed { sum, .. } => sum,
        }
    }

    /// The shortest and the longest delay of `cells` cells.
    #[inline(always)]
    pub fn range(self, cells: u64) -> [Span; 2] {
        match self {
            Waits::Equal(each) => [each, each],
            Waits::Series { first, step } => [first, first + step * cells.saturating_sub(1)],
            Waits::Listed { least, most, .. } => [least, most],
        }
    }

    /// Sum over `cells` cells if each delay were shorter by `less`, ticks.
    #[inline(always)]
    pub fn sum_shorter_by(self, less: Span, cells: u64) -> u128 {
        self.sum(cells) - u128::from(less.0) * u128::from(cells)
    }

    /// These delays with each of the `cells` longer by `more`.
    pub fn longer_by(self, more: Span, cells: u64) -> Waits {
        match self {
            Waits::Equal(each) => Waits::Equal(each + more),
            Waits::Series { first, step } => Waits::Series {
                first: first + more,
                step,
            },
            Waits::Listed { sum, least, most } => Waits::Listed {
                sum: sum + u128::from(more.0) * u128::from(cells),
                least: least + more,
                most: most + more,
            },
        }
    }
}

impl DelaySums {
    /// Adds the delays `took` of `cells` cells.
    #[inline(always)]
    pub fn add(&mut self, took: Waits, cells: u64) {
        let [least, most] = took.range(cells);
        self.sum += took.sum(cells);
        // The extremes change seldom; the branches avoid a write otherwise.
        if least.0 < self.min {
            self.min = least.0;
        }
        if most.0 > self.max {
            self.max = most.0;
        }
    }
}

/// Cell transfer delays of one VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayTally {
    /// Cells.
    pub count: u64,
    /// Sum, ticks.
    pub sum: u128,
    /// Smallest, ticks; `u64::MAX` without cells.
    pub min: u64,
    /// Largest, ticks.
    pub max: u64,
}

impl Default for DelayTally {
    fn default() -> DelayTally {
        DelayTally::of(0, DelaySums::default())
    }
}

impl DelayTally {
    /// Tally of `count` cells with these sums.
    pub fn of(count: u64, sums: DelaySums) -> DelayTally {
        let DelaySums { sum, min, max } = sums;
        DelayTally {
            count,
            sum,
            min,
            max,
        }
    }

    /// Adds one cell with delay `took`.
    pub fn add(&mut self, took: Span) {
        let ticks = took.0;
        self.merge(&DelayTally {
            count: 1,
            sum: u128::from(ticks),
            min: ticks,
            max: ticks,
        });
    }

    /// Adds all cells of `other`.
    pub fn merge(&mut self, other: &DelayTally) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Mean in ticks; `None` without cells.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

const SUB_BITS: u32 = 6;

/// Bins per factor of two; they are allocated together.
const BLOCK: usize = 1 << SUB_BITS;

/// Bin of a delay: exact below 128 ticks, then 64 bins per factor of two.
#[inline]
fn bin_of(ticks: u64) -> usize {
    let shift = (63 - (ticks | 1).leading_zeros()).saturating_sub(SUB_BITS);
    ((shift as usize) << SUB_BITS) + (ticks >> shift) as usize
}

/// Smallest delay that falls into `bin`.
#[inline]
fn lower_edge(bin: usize) -> u64 {
    let shift = (bin >> SUB_BITS).saturating_sub(1);
    ((bin - (shift << SUB_BITS)) as u64) << shift
}

/// Below this number of cells per bin, a series is counted cell by cell: finding the first cell of
/// the next bin costs a division.
const FEWEST_ALIKE: u64 = 3;

/// Distribution of cell transfer delays, in logarithmic bins of at most 1/64 relative width.
///
/// Bins are allocated in blocks of one factor of two, and only where delays fall. The delays of a
/// VC seldom span more than ten blocks, which take 5 kB. Most delays fall into the same block as
/// the one before, so that block comes first in the list. The blocks of many VCs are then close
/// together in memory, because they are allocated when the delays of all these VCs grow.
#[derive(Clone, Debug)]
pub struct DelayBins {
    /// List of blocks, the most recently used first.
    latest: Option<Box<Block>>,
    /// Right shift that turns a delay of the `latest` block into its bin number plus 64.
    /// [`NO_SHIFT`] if there are no bins, and for block 0 (delays below 64 ticks).
    shift: u32,
}

/// Shift that maps no delay to a bin of `latest`: no delay reaches 2^63 * 64 ticks.
const NO_SHIFT: u32 = u64::BITS - 1;

/// The bins of one factor of two.
#[derive(Clone, Debug)]
struct Block {
    /// The first bin of the block is `number * BLOCK`.
    number: u32,
    next: Option<Box<Block>>,
    /// Cells per bin; at least one bin is not empty.
    cells: [u64; BLOCK],
}

impl Default for DelayBins {
    fn default() -> DelayBins {
        DelayBins {
            latest: None,
            shift: NO_SHIFT,
        }
    }
}

impl PartialEq for DelayBins {
    fn eq(&self, other: &DelayBins) -> bool {
        let of = |bins: &DelayBins| {
            bins.ascending()
                .map(|block| (block.number, block.cells))
                .collect::<Vec<_>>()
        };
        of(self) == of(other)
    }
}

impl Eq for DelayBins {}

impl DelayBins {
    /// Adds `cells` cells with delay `took` each.
    #[inline(always)]
    pub fn add(&mut self, took: Span, cells: u64) {
        let bin = (took.0 >> self.shift).wrapping_sub(BLOCK as u64);
        match &mut self.latest {
            // Compare before narrowing to 32 bits, where another bin could look like this one.
            Some(block) if bin < BLOCK as u64 => block.cells[bin as usize] += cells,
            _ => self.add_to_other_block(took, cells),
        }
    }

    /// Adds cells to a block other than the latest, or to block 0.
    #[cold]
    fn add_to_other_block(&mut self, took: Span, cells: u64) {
        let bin = bin_of(took.0);
        self.turn_to((bin / BLOCK) as u32).cells[bin % BLOCK] += cells;
    }

    /// Moves block `number` to the front, or creates it there.
    fn turn_to(&mut self, number: u32) -> &mut Block {
        let mut block = self.take(number).unwrap_or_else(|| {
            Box::new(Block {
                number,
                next: None,
                cells: [0; BLOCK],
            })
        });
        block.next = self.latest.take();
        self.shift = number.checked_sub(1).unwrap_or(NO_SHIFT);
        self.latest.insert(block)
    }

    /// Removes block `number` from the list.
    fn take(&mut self, number: u32) -> Option<Box<Block>> {
        let mut place = &mut self.latest;
        while place.as_ref()?.number != number {
            place = &mut place.as_mut()?.next;
        }
        let mut block = place.take()?;
        *place = block.next.take();
        Some(block)
    }

    /// All blocks, the latest first.
    fn blocks(&self) -> impl Iterator<Item = &Block> {
        std::iter::successors(self.latest.as_deref(), |block| block.next.as_deref())
    }

    /// All blocks in ascending order of number.
    fn ascending(&self) -> impl Iterator<Item = &Block> {
        let mut blocks: Vec<_> = self.blocks().collect();
        blocks.sort_unstable_by_key(|block| block.number);
        blocks.into_iter()
    }

    /// Adds `cells` cells. The first took `first`, and each later one `more` longer than its
    /// predecessor.
    #[inline(always)]
    pub fn add_series(&mut self, first: Span, more: Span, cells: u64) {
        let most = first + more * (cells - 1);
        let bins = bin_of(most.0) - bin_of(first.0);
        if bins == 0 {
            self.add(first, cells);
        } else if bins as u64 * FEWEST_ALIKE > cells {
            (0..cells).for_each(|i| self.add(first + more * i, 1));
        } else {
            let below = |limit: Span| (limit - first).0.div_ceil(more.0);
            self.add_rising(cells, |i| first + more * i, below);
        }
    }

    /// Adds `cells` cells whose delays never decrease. `delay` gives the delay of a cell by its
    /// number. `below` counts the cells below a time that at least one cell reaches.
    #[inline(always)]
    fn add_rising(&mut self, cells: u64, delay: impl Fn(u64) -> Span, below: impl Fn(Span) -> u64) {
        let last = bin_of(delay(cells - 1).0);
        let mut done = 0;
        while done < cells {
            let took = delay(done);
            let bin = bin_of(took.0);
            let end = if bin < last {
                below(Span(lower_edge(bin + 1)))
            } else {
                cells
            };
            self.add(took, end - done);
            done = end;
        }
    }

    /// Adds all cells of `other`.
    pub fn merge(&mut self, other: &DelayBins) {
        for block in other.blocks() {
            let same = &mut self.turn_to(block.number).cells;
            for (cells, more) in same.iter_mut().zip(&block.cells) {
                *cells += more;
            }
        }
    }

    /// The smallest upper bin edge, in ticks, that at least the fraction `p` of the cells do not
    /// exceed. `None` without cells.
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let count: u64 = self.blocks().flat_map(|block| &block.cells).sum();
        let wanted = (count as f64 * p).ceil().max(1.0) as u64;
        let mut seen = 0;
        for block in self.ascending() {
            for (bin, cells) in (block.number as usize * BLOCK..).zip(&block.cells) {
                seen += cells;
                if seen >= wanted {
                    return Some(upper_edge(bin));
                }
            }
        }
        None
    }
}

/// Largest delay that falls into `bin`.
fn upper_edge(bin: usize) -> u64 {
    let (mut low, mut high) = (0u64, u64::MAX);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if bin_of(middle) <= bin {
            low = middle
        } else {
            high = middle - 1
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    // Delays are 5, 8, 11 and 14 ticks: the sum is 38, or 58 if each is 5 longer.
    #[test]
    fn waits_are_summed_up_in_whichever_way_they_are_given() {
        let series = Waits::Series {
            first: Span(5),
            step: Span(3),
        };
        let listed = Waits::Listed {
            sum: 38,
            least: Span(5),
            most: Span(14),
        };
        for waits in [series, listed] {
            assert_eq!(waits.sum(4), 38);
            assert_eq!(waits.range(4), [Span(5), Span(14)]);
            let longer = waits.longer_by(Span(5), 4);
            assert_eq!(longer.sum(4), 58);
            assert_eq!(longer.range(4), [Span(10), Span(19)]);
            assert_eq!(longer.sum_shorter_by(Span(5), 4), 38);
        }
        let equal = Waits::Equal(Span(7)).longer_by(Span(1), 4);
        assert_eq!((equal.sum(4), equal.range(4)), (32, [Span(8); 2]));
    }

    #[test]
    fn bins_are_monotone_contiguous_and_narrow() {
        let mut last = 0;
        for ticks in 0..200_000u64 {
            let bin = bin_of(ticks);
            assert!(bin == last || bin == last + 1, "{ticks}");
            assert_eq!(
                ticks == 0 || bin > last,
                lower_edge(bin) == ticks,
                "{ticks}"
            );
            last = bin;
        }
        for ticks in [1u64 << 20, (1 << 40) + 12345, u64::MAX / 3] {
            let edge = upper_edge(bin_of(ticks));
            assert!(edge >= ticks && (edge - ticks) as f64 <= ticks as f64 / 64.0);
            assert_eq!(lower_edge(bin_of(ticks) + 1), edge + 1);
        }
    }

    #[test]
    fn quantiles_of_an_even_spread() {
        let mut d = DelayBins::default();
        for t in 1..=1000 {
            d.add(Span(t * 1000), 1);
        }
        let p99 = d.quantile(0.99).unwrap() as f64;
        assert!((990_000.0..=990_000.0 * 1.016).contains(&p99), "{p99}");
        assert_eq!(DelayBins::default().quantile(0.5), None);
    }

    #[test]
    fn a_series_is_its_cells_wherever_the_bins_begin() {
        let (mut series, mut cells) = (DelayBins::default(), DelayBins::default());
        for first in [1u64 << 30, 1 << 20, 1 << 34] {
            // Cases: one cell per bin, several per bin, nearly all in one bin.
            for (more, n) in [(first / 3, 7), (first / 500, 101), (first / 100_000, 1000)] {
                series.add_series(Span(first), Span(more), n);
                (0..n).for_each(|i| cells.add(Span(first + i * more), 1));
            }
        }
        assert_eq!(series, cells);
        assert_eq!(series.quantile(0.0), Some(upper_edge(bin_of(1 << 20))));
    }

    // With 99 of 100 cells fast, the quantile of all is fast, although the quantile of one part is
    // slow.
    #[test]
    fn a_quantile_of_merged_bins_is_that_of_all_cells() {
        let (mut fast, mut slow) = (DelayBins::default(), DelayBins::default());
        fast.add(Span(100), 99);
        slow.add(Span(100_000), 1);
        for (mut merged, other) in [(fast.clone(), &slow), (slow.clone(), &fast)] {
            merged.merge(other);
            assert_eq!(merged.quantile(0.99), Some(100));
            assert_eq!(merged.quantile(1.0), slow.quantile(0.99));
        }
    }

    #[test]
    fn bins_kept_do_not_depend_on_the_order_of_delays_and_are_few() {
        let delays = [1u64 << 30, 1 << 20, (1 << 25) + 7, 1 << 31, 3];
        let of = |ticks: &[u64]| {
            let mut found = DelayBins::default();
            ticks.iter().for_each(|&t| found.add(Span(t), 1));
            found
        };
        let mut turned = delays;
        for _ in &delays {
            turned.rotate_left(1);
            assert_eq!(of(&turned), of(&delays));
            let (mut left, right) = (of(&turned[..2]), of(&turned[2..]));
            left.merge(&right);
            left.merge(&DelayBins::default());
            assert_eq!(left, of(&delays));
        }
        // Two blocks only, with none for the empty range between them.
        assert_eq!(of(&[25_272_000_000, 2_527_200_000_000]).blocks().count(), 2);
        assert_eq!(of(&[u64::MAX]).quantile(0.5), Some(u64::MAX));
    }
}
