//! Random numbers for inputs that follow from a single number.

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Draws(pub u64);

impl Draws {
    /// Random numbers for case number `case` of a campaign.
    pub fn of_case(seed: u64, case: u64) -> Draws {
        let mut first = Draws(seed);
        let key = first.next();
        Draws(key ^ case.wrapping_mul(0xD605_BBB5_8C8A_BBFD))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n` - 1; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.next().checked_rem(n as u64).unwrap_or(0) as usize
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A number from `least` to `most`, uniform over orders of magnitude. Sometimes exactly one of
    /// the bounds.
    pub fn magnitude(&mut self, least: u64, most: u64) -> u64 {
        if self.chance(8) {
            return self.one_of(&[least, most]);
        }
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        let (low, high) = ((least.max(1) as f64).ln(), (most.max(1) as f64).ln());
        ((low + unit * (high - low)).exp() as u64).clamp(least, most)
    }
}
