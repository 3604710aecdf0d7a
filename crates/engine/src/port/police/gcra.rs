//! The generic cell rate algorithm GCRA(I, L) in its two equivalent forms (ITU-T I.371; ATM Forum
//! TM 4.0, section 4.4).
//!
//! Continuous-state leaky bucket; X = 0 and LCT = the first arrival before the first test. A cell
//! at t:
//!   X' = max(0, X - (t - LCT)); it conforms  <=>  X' <= L; if it does, X := X' + I and LCT := t
//! Virtual scheduling; TAT = the first arrival before the first test. A cell at t:
//!   it conforms  <=>  t >= TAT - L; if it does, TAT := max(t, TAT) + I.
//!   I  increment, the time of a cell at the rate [s];  X, L  level and limit of the bucket [s].
//! For a contract, PCR is GCRA(1/PCR, CDVT). SCR, or MCR, is GCRA(1/SCR, BT + CDVT) with
//! BT = (MBS - 1)(1/SCR - 1/PCR).
//! All these times are stored multiplied by the rate. Then I is one constant for all rates, and X
//! and TAT are integers. L is rounded down after the division by PCR, which cannot change a
//! comparison with an integer. So rounding never affects a decision.

use crate::ground::format::Format;
use crate::ground::units::{BitRate, Span, Time};
use crate::text::scenario::{ContractTerms, GcraForm};

/// I times the rate, in ticks times bits per second. Contracts exist in AAL5 only.
pub const CELL: i128 = Format::AAL5.cell_ticks_at_one_bps() as i128;

/// Rate and limit of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// Rate, bits per second.
    rate: u64,
    /// L times the rate.
    limit: i128,
}

impl Test {
    /// GCRA(1/PCR, CDVT); `None` without a PCR.
    pub fn peak(terms: &ContractTerms) -> Option<Test> {
        terms.pcr.map(|pcr| Test::new(pcr, terms.cdvt, 0))
    }

    /// GCRA(1/SCR, BT + CDVT), also for an MCR; `None` without either.
    pub fn sustained(terms: &ContractTerms) -> Option<Test> {
        let rate = terms.sustained?;
        let burst = i128::from(terms.mbs.saturating_sub(1)) * CELL;
        let burst = terms.pcr.map_or(burst, |pcr| {
            let above = i128::from(pcr.0) - i128::from(rate.0);
            (burst * above.max(0)).div_euclid(i128::from(pcr.0))
        });
        Some(Test::new(rate, terms.cdvt, burst))
    }

    fn new(rate: BitRate, cdvt: Span, burst: i128) -> Test {
        Test {
            rate: rate.0,
            limit: i128::from(cdvt.0) * i128::from(rate.0) + burst,
        }
    }

    /// What drains from the bucket in `ticks`.
    fn in_ticks(self, ticks: u64) -> i128 {
        (u128::from(ticks) * u128::from(self.rate)) as i128
    }

    /// An empty bucket for this test.
    pub fn bucket(self) -> LeakyBucket {
        LeakyBucket {
            test: self,
            level: 0,
            last: Time::ZERO,
        }
    }
}

/// The GCRA as a leaky bucket.
#[derive(Clone, Debug)]
pub struct LeakyBucket {
    test: Test,
    /// X times the rate at the time `last`. Negative only through credit that is kept.
    level: i128,
    /// Time of the last update, LCT.
    last: Time,
}

impl LeakyBucket {
    /// X' at `now`: the level after draining since `last`. Draining never takes it below zero, and
    /// leaves a negative level alone.
    #[inline]
    fn drained(&self, now: Time) -> i128 {
        (self.level - self.drains_until(now)).max(self.level.min(0))
    }

    /// Whether a cell at `now` conforms.
    #[inline]
    pub fn conforms(&self, now: Time) -> bool {
        self.drained(now) <= self.test.limit
    }

    /// Whether X' has reached L at `now`, so that at most one more cell conforms then.
    pub fn is_full(&self, now: Time) -> bool {
        self.drained(now) >= self.test.limit
    }

    /// Takes a cell at `now`, conforming or not.
    #[inline]
    pub fn take(&mut self, now: Time) {
        self.level = self.drained(now) + CELL;
        self.last = now;
    }

    /// Takes a cell at `now` if it conforms; returns whether it does.
    #[inline]
    pub fn take_if_conforms(&mut self, now: Time) -> bool {
        let drained = self.drained(now);
        let conforms = drained <= self.test.limit;
        if conforms {
            self.level = drained + CELL;
            self.last = now;
        }
        conforms
    }

    /// Whether the first `conforming` of `cells` cells, every `period` from `first` on, surely
    /// conform, and the level is never clipped at zero. This holds wherever the `given` cells that
    /// are given back fall between them. [`LeakyBucket::take_all`] then equals taking and giving one
    /// by one.
    pub fn can_take_all(
        &self,
        first: Time,
        cells: u64,
        period: Span,
        given: u64,
        conforming: u64,
    ) -> bool {
        let last = first + period * (cells - 1);
        let least = self.level - self.drains_until(last) - CELL * i128::from(given);
        let most = self.level - self.drains_until(first) + CELL * (i128::from(conforming) - 1);
        least >= 0 && (conforming == 0 || most <= self.test.limit)
    }

    /// Takes the cells of [`LeakyBucket::can_take_all`], and gives `given` cells back.
    pub fn take_all(&mut self, first: Time, cells: u64, period: Span, given: u64) {
        let last = first + period * (cells - 1);
        let gained = CELL * (i128::from(cells) - i128::from(given));
        self.level += gained - self.drains_until(last);
        self.last = last;
    }

    /// What can drain from the last update until `now`.
    #[inline]
    fn drains_until(&self, now: Time) -> i128 {
        self.test.in_ticks(now.since(self.last).0)
    }

    /// Whether cells every `period` from `first` on surely conform: the first does, and at least
    /// one cell's worth drains between two.
    pub fn can_pass_all(&self, first: Time, period: Span) -> bool {
        self.conforms(first) && self.test.in_ticks(period.0) >= CELL
    }

    /// Takes `cells` such cells; see [`LeakyBucket::can_pass_all`].
    pub fn pass_all(&mut self, first: Time, cells: u64, period: Span) {
        let falls = (self.test.in_ticks(period.0) - CELL) * i128::from(cells - 1);
        self.level = (self.drained(first) - falls).max(0) + CELL;
        self.last = first + period * (cells - 1);
    }

    /// Gives `cells` cells back, one after the other; the level stops at zero.
    pub fn give_all(&mut self, cells: u64) {
        self.level = (self.level - CELL * i128::from(cells)).max(0);
    }

    /// Gives a cell back at `now`: X := X - I. The part below zero is lost unless `keep` is set.
    #[inline]
    pub fn give(&mut self, now: Time, keep: bool) {
        if keep {
            self.level = self.drained(now) - CELL;
            self.last = now;
        } else {
            self.level = (self.level - CELL).max(0);
        }
    }
}

/// The GCRA as virtual scheduling.
#[derive(Clone, Debug)]
pub struct VirtualScheduling {
    test: Test,
    /// Theoretical arrival time TAT, times the rate.
    expected: i128,
}

impl VirtualScheduling {
    fn conforms(&self, now: Time) -> bool {
        self.test.in_ticks(now.0) >= self.expected - self.test.limit
    }

    fn take(&mut self, now: Time) {
        let now = self.test.in_ticks(now.0);
        self.expected = now.max(self.expected) + CELL;
    }
}

/// A GCRA in either form.
#[derive(Clone, Debug)]
pub enum Gcra {
    /// Continuous-state leaky bucket.
    LeakyBucket(LeakyBucket),
    /// Virtual scheduling.
    VirtualScheduling(VirtualScheduling),
}

impl Gcra {
    /// A GCRA for `test` that has seen no cell.
    pub fn new(test: Test, form: GcraForm) -> Gcra {
        match form {
            GcraForm::LeakyBucket => Gcra::LeakyBucket(test.bucket()),
            GcraForm::VirtualScheduling => {
                let expected = 0;
                Gcra::VirtualScheduling(VirtualScheduling { test, expected })
            }
        }
    }

    /// Whether a cell at `now` conforms.
    pub fn conforms(&self, now: Time) -> bool {
        match self {
            Gcra::LeakyBucket(bucket) => bucket.conforms(now),
            Gcra::VirtualScheduling(schedule) => schedule.conforms(now),
        }
    }

    /// Takes a cell at `now`.
    pub fn take(&mut self, now: Time) {
        match self {
            Gcra::LeakyBucket(bucket) => bucket.take(now),
            Gcra::VirtualScheduling(schedule) => schedule.take(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ticks per cell at 150 Mb/s; a rate n times slower takes n times as many.
    const TICKS: u64 = CELL as u64 / 150_000_000;

    fn terms(pcr: Option<u64>, scr: u64, mbs: u64) -> ContractTerms {
        ContractTerms {
            pcr: pcr.map(BitRate),
            cdvt: Span::ZERO,
            sustained: Some(BitRate(scr)),
            mbs,
            mcr: None,
            mfs: 1,
        }
    }

    /// Whether each cell conforms; conforming cells are taken.
    fn decisions(test: Test, form: GcraForm, times: &[u64]) -> Vec<bool> {
        let mut gcra = Gcra::new(test, form);
        let tell = |&time: &u64| {
            let conforms = gcra.conforms(Time(time));
            if conforms {
                gcra.take(Time(time));
            }
            conforms
        };
        times.iter().map(tell).collect()
    }

    fn both(test: Test, times: &[u64]) -> Vec<bool> {
        let forms = [GcraForm::LeakyBucket, GcraForm::VirtualScheduling];
        let [bucket, schedule] = forms.map(|form| decisions(test, form, times));
        assert_eq!(bucket, schedule, "{test:?} at {times:?}");
        bucket
    }

    // The largest burst of cells back to back at distance d < I is floor(1 + L / (I - d)).
    #[test]
    fn the_longest_burst_is_that_of_the_standard() {
        for (halves_of_d, cells) in [(1, 1), (3, 1), (7, 2), (14, 3)] {
            // I = 4.5 d: 30 Mb/s on a line of 135 Mb/s. L in halves of d.
            let d = CELL as u64 / 135_000_000;
            let test = Test::new(BitRate(30_000_000), Span(d / 2 * halves_of_d), 0);
            let burst: Vec<u64> = (0..20).map(|k| 1000 + k * d).collect();
            let conforming = both(test, &burst).iter().take_while(|&&c| c).count();
            assert_eq!(conforming, cells);
        }
    }

    // MBS cells pass at PCR, and the next one does not.
    #[test]
    fn a_burst_of_mbs_cells_at_the_peak_rate_conforms() {
        for (pcr, scr, mbs) in [(150, 10, 1), (150, 10, 7), (150, 7, 20), (150, 150, 9)] {
            let test =
                Test::sustained(&terms(Some(pcr * 1_000_000), scr * 1_000_000, mbs)).unwrap();
            let burst: Vec<u64> = (0..mbs + 1).map(|k| k * TICKS).collect();
            let mut conforming = vec![true; mbs as usize];
            conforming.push(pcr == scr);
            assert_eq!(both(test, &burst), conforming, "{pcr} {scr} {mbs}");
        }
    }

    #[test]
    fn without_a_peak_rate_the_tolerance_counts_whole_cells() {
        let test = Test::sustained(&terms(None, 1_000_000, 3)).unwrap();
        assert_eq!(both(test, &[5, 5, 5, 5]), [true, true, true, false]);
        assert_eq!(Test::peak(&terms(None, 1_000_000, 3)), None);
    }

    #[test]
    fn a_cell_at_the_limit_conforms_and_one_tick_before_does_not() {
        let test = Test::new(BitRate(150_000_000), Span(10), 0);
        assert_eq!(both(test, &[0, TICKS - 10]), [true, true]);
        assert_eq!(both(test, &[0, TICKS - 11]), [true, false]);
    }

    // All sequences of seven gaps out of five, against six limits.
    #[test]
    fn the_two_forms_are_equal_over_all_small_sequences() {
        let gaps = [0, TICKS / 2, TICKS - 1, TICKS, 3 * TICKS];
        for limit in [0, 1, TICKS / 2, TICKS - 1, TICKS, 5 * TICKS / 2] {
            let test = Test::new(BitRate(150_000_000), Span(limit), 0);
            for number in 0..5u64.pow(7) {
                let (mut rest, mut time) = (number, 0);
                let times: Vec<u64> = (0..8)
                    .map(|_| {
                        let now = time;
                        time += gaps[(rest % 5) as usize];
                        rest /= 5;
                        now
                    })
                    .collect();
                both(test, &times);
            }
        }
    }

    proptest! {
        /// Any rates, even if no cell time is a whole number of ticks, and any times.
        #[test]
        fn the_two_forms_are_equal(
            pcr in proptest::option::of(1_000u64..1_000_000_000),
            share in 1u64..=1000,
            mbs in 1u64..100,
            cdvt in 0u64..1_000_000_000,
            gaps in proptest::collection::vec(0u64..400_000_000, 1..300),
        ) {
            let scr = (pcr.unwrap_or(155_520_000) * share / 1000).max(1);
            let terms = ContractTerms { cdvt: Span(cdvt), ..terms(pcr, scr, mbs) };
            let times: Vec<u64> = gaps.iter().scan(0, |time, gap| { *time += gap; Some(*time) }).collect();
            for test in [Test::peak(&terms), Test::sustained(&terms)].into_iter().flatten() {
                both(test, &times);
            }
        }
    }

    #[test]
    fn a_cell_given_back_lets_one_more_in() {
        let mut bucket = Test::sustained(&terms(None, 1_000_000, 1))
            .unwrap()
            .bucket();
        bucket.take(Time(7));
        assert!(!bucket.conforms(Time(7)));
        bucket.give(Time(7), false);
        assert!(bucket.conforms(Time(7)));
        // The part below zero is lost, or kept and not drained.
        for (keep, conforms) in [(false, [true, false]), (true, [true, true])] {
            let mut bucket = bucket.clone();
            let later = Time(1_000_000_000);
            bucket.give(later, keep);
            let decisions = [(); 2].map(|()| {
                let conforms = bucket.conforms(later);
                bucket.take(later);
                conforms
            });
            assert_eq!(decisions, conforms);
        }
    }
}
