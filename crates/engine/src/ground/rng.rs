//! Named random streams.
//!
//! Every component draws from its own stream, named by (seed, replication, component, purpose), and
//! addresses each draw by number. Adding a component or a draw therefore changes no other draws.
//! Phases of an ensemble are instead spread evenly over its replications, from one stream of the
//! seed ([`Stream::spread`]).
//!
//! The generator is counter-based: SplitMix64's output function (Steele, Lea and Flood, OOPSLA
//! 2014) applied twice to key and counter.

/// The finaliser of SplitMix64: a bijection of 64 bits with full avalanche.
pub fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Steps of evenly spread draws: fractions of 2^64 whose multiples fill the circle evenly (Weyl
/// sequences).
///
/// Quantities drawn together need different steps, so that the pairs are spread evenly too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Step {
    /// (sqrt(5) - 1) / 2.
    Golden = GOLDEN,
    /// sqrt(2) - 1.
    Silver = 0x6a09_e667_f3bc_c909,
}

/// A point on the circle, in units of 2^-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Circle(u64);

impl Circle {
    /// The point as an integer in 0..bound (0 if `bound` is 0).
    pub fn below(self, bound: u64) -> u64 {
        ((u128::from(self.0) * u128::from(bound)) >> 64) as u64
    }
}

/// One stream of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    key: u64,
}

impl Stream {
    /// The stream of `component` for `purpose` under `seed` and `replication`.
    pub fn new(seed: u64, replication: u64, component: &str, purpose: &str) -> Stream {
        let mut key = mix64(seed.wrapping_add(GOLDEN));
        key = mix64(key ^ replication.wrapping_mul(GOLDEN));
        for part in [component, purpose] {
            for byte in part.bytes() {
                key = mix64(key ^ u64::from(byte)).wrapping_add(GOLDEN);
            }
            key = mix64(key ^ 0x1_00);
        }
        Stream { key }
    }

    /// Draw number `n`: 64 uniform bits.
    pub fn bits(self, n: u64) -> u64 {
        mix64(mix64(self.key.wrapping_add(n.wrapping_mul(GOLDEN))) ^ self.key)
    }

    /// Draw number `n`, uniform in [0, 1) with 53 bits.
    pub fn unit(self, n: u64) -> f64 {
        Stream::unit_of(self.bits(n))
    }

    /// What [`Stream::unit`] makes of 64 bits; more bits never make less.
    pub fn unit_of(bits: u64) -> f64 {
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One draw per `replication`, spread evenly: uniform for replication 0, then `step` further
    /// for each next replication.
    ///
    /// The stream must be that of replication 0, so that all replications share one starting point.
    pub fn spread(self, replication: u64, step: Step) -> Circle {
        let steps = replication.wrapping_mul(step as u64);
        Circle(self.bits(0).wrapping_add(steps))
    }

    /// Draw number `n`, uniform in 0..bound (0 if `bound` is 0).
    pub fn below(self, n: u64, bound: u64) -> u64 {
        Circle(self.bits(n)).below(bound)
    }

    /// Draw number `n` of an exponential distribution with mean 1.
    pub fn exponential(self, n: u64) -> f64 {
        -libm::log(1.0 - self.unit(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any n consecutive replications leave no gap wider than about 2.6 / n. Independent draws
    /// leave gaps of (log n) / n.
    #[test]
    fn spread_draws_fill_the_circle_evenly() {
        for step in [Step::Golden, Step::Silver] {
            for n in [5u64, 20, 100] {
                let stream = Stream::new(7, 0, "a", "phase");
                let mut draws: Vec<Circle> = (3..3 + n).map(|r| stream.spread(r, step)).collect();
                draws.sort_unstable();
                let around = draws.iter().zip(draws.iter().cycle().skip(1));
                // A zero difference means that the gap is the whole circle.
                let gap = |(a, b): (&Circle, &Circle)| match b.0.wrapping_sub(a.0) {
                    0 => 1.0,
                    part => part as f64 / 2f64.powi(64),
                };
                let widest = around.map(gap).fold(0.0, f64::max);
                assert!(widest < 2.6 / n as f64, "{step:?}, {n}: {widest}");
            }
        }
    }

    #[test]
    fn streams_differ_in_every_part_of_their_name() {
        let base = Stream::new(1, 0, "a", "b");
        for other in [
            Stream::new(2, 0, "a", "b"),
            Stream::new(1, 1, "a", "b"),
            Stream::new(1, 0, "ab", ""),
            Stream::new(1, 0, "a", "c"),
        ] {
            assert_ne!(base.bits(0), other.bits(0));
        }
    }

    #[test]
    fn units_fill_the_interval_evenly() {
        // With 16 bins and 160 000 draws, each count lies within 5 sigma (97) of 10 000.
        let stream = Stream::new(7, 0, "x", "y");
        let mut bins = [0i64; 16];
        for n in 0..160_000 {
            bins[(stream.unit(n) * 16.0) as usize] += 1;
        }
        assert!(bins.iter().all(|b| (b - 10_000).abs() < 485), "{bins:?}");
    }

    #[test]
    fn exponential_draws_have_mean_and_variance_one() {
        let stream = Stream::new(7, 0, "x", "gap");
        let n = 200_000u64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for i in 0..n {
            let x = stream.exponential(i);
            sum += x;
            squares += x * x;
        }
        let mean = sum / n as f64;
        let variance = squares / n as f64 - mean * mean;
        assert!((mean - 1.0).abs() < 5.0 / (n as f64).sqrt());
        assert!((variance - 1.0).abs() < 5.0 * (8.0 / n as f64).sqrt());
    }
}
