//! Records of quantities that change over time: at every change, at regular times, as envelopes or
//! as sums over intervals.

use crate::ground::flow::FlowId;
use crate::ground::format::Clock;
use crate::ground::units::{Span, Time};
use crate::network::cells::Run;
use crate::network::tally::DropReason;
use schemars::JsonSchema;
use serde::Serialize;

/// Points of a series, without names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// Times and values.
    pub points: Vec<(Time, f64)>,
}

/// Record of a quantity that has had this value since the start.
impl From<f64> for Points {
    fn from(value: f64) -> Points {
        Points {
            points: vec![(Time::ZERO, value)],
        }
    }
}

impl Points {
    /// Returns times in seconds and values.
    pub fn columns(&self, clock: Clock) -> (Vec<f64>, Vec<f64>) {
        let points = self.points.iter();
        points.map(|&(t, v)| (t.as_seconds(clock), v)).unzip()
    }

    /// Returns the number of points so far.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Takes away the points except the last one, which may still change. With `all`, takes every
    /// point.
    pub fn take(&mut self, all: bool) -> Points {
        let kept = usize::from(!all).min(self.points.len());
        let rest = self.points.split_off(self.points.len() - kept);
        Points {
            points: std::mem::replace(&mut self.points, rest),
        }
    }

    /// Ends the record of a quantity with steps: its last value held until `end`.
    pub fn close(&mut self, end: Time) {
        if let Some(&(time, value)) = self.points.last()
            && time < end
        {
            self.points.push((end, value));
        }
    }

    /// Records that the value changes at `time`. Of several changes at one instant only the last is
    /// kept.
    pub fn change(&mut self, time: Time, value: f64) {
        match self.points.last_mut() {
            Some((_, last)) if *last == value => {}
            Some((t, last)) if *t == time => *last = value,
            _ => self.points.push((time, value)),
        }
    }
}

/// Statistic of an envelope's series: a quantity's minimum, mean or maximum in each interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Smallest value that held for any time in the interval.
    Min,
    /// Mean over the time of the interval.
    Mean,
    /// Largest value that held for any time in the interval.
    Max,
}

/// Minimum, mean over time and maximum of a quantity for each interval, computed from all its
/// changes (model section 6).
#[derive(Clone, Debug)]
pub struct Envelope {
    interval: Span,
    /// Time until which the value is counted. The value has held since the last change.
    since: Time,
    value: f64,
    /// End of the interval in progress.
    until: Time,
    /// Minimum and maximum of this interval so far, and the sums over its ticks of whole part and
    /// fraction. Fractions are in units of 2^-60. The sums are integers, so the order of addition
    /// does not matter.
    least: f64,
    greatest: f64,
    whole: i128,
    fraction: i128,
    /// Finished intervals, each at its end: minimum, mean and maximum.
    out: [Points; 3],
}

/// Units of `Envelope::fraction` per 1.
const FRACTION_UNIT: f64 = (1u64 << 60) as f64;

impl Envelope {
    /// Begins the envelope of a quantity whose first value is `value`.
    pub fn new(interval: Span, value: f64) -> Envelope {
        Envelope {
            interval,
            since: Time::ZERO,
            value,
            until: Time::ZERO + interval,
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            whole: 0,
            fraction: 0,
            out: Default::default(),
        }
    }

    /// Records that the quantity becomes `value` at `time`. Of several changes at one instant the
    /// last counts.
    fn change(&mut self, time: Time, value: f64) {
        if value != self.value {
            self.hold(time);
            self.value = value;
        }
    }

    /// Counts the value as unchanged until `time`.
    fn hold(&mut self, time: Time) {
        while self.since < time {
            let end = time.min(self.until);
            let ticks = end.since(self.since).0;
            self.least = self.least.min(self.value);
            self.greatest = self.greatest.max(self.value);
            self.whole += i128::from(self.value.trunc() as i64) * i128::from(ticks);
            self.fraction +=
                i128::from((self.value.fract() * FRACTION_UNIT) as i64) * i128::from(ticks);
            self.since = end;
            if end == self.until {
                self.end_interval(self.interval);
            }
        }
    }

    /// Ends the current interval, `length` after its start.
    fn end_interval(&mut self, length: Span) {
        let mean = (self.whole as f64 + self.fraction as f64 / FRACTION_UNIT) / length.0 as f64;
        let values = [self.least, mean, self.greatest];
        for (out, value) in self.out.iter_mut().zip(values) {
            out.points.push((self.since, value));
        }
        self.until += self.interval;
        (self.least, self.greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        (self.whole, self.fraction) = (0, 0);
    }

    /// Ends the current interval at `end`, the end of the run.
    fn close(&mut self, end: Time) {
        self.hold(end);
        let left = self.until.since(end);
        if left < self.interval {
            self.end_interval(Span(self.interval.0 - left.0));
        }
    }
}

/// The record of a quantity: single points, or its envelope.
#[derive(Clone, Debug)]
pub enum Record {
    /// Single points.
    Points(Points),
    /// Three statistics per interval.
    Envelope(Envelope),
}

impl Record {
    /// Starts a record of every change of a quantity, or of its envelope over intervals. `value` is
    /// the initial value.
    pub fn of_changes(envelope: Option<Span>, value: f64) -> Record {
        match envelope {
            Some(interval) => Record::Envelope(Envelope::new(interval, value)),
            None => Record::Points(Points::from(value)),
        }
    }

    /// Starts the record of a sampled quantity.
    pub fn of_samples() -> Record {
        Record::Points(Points::default())
    }

    /// Adds a sample.
    pub fn sample(&mut self, time: Time, value: f64) {
        match self {
            Record::Points(points) => points.points.push((time, value)),
            Record::Envelope(_) => unreachable!("an envelope is made of all changes"),
        }
    }

    /// Records that the quantity becomes `value` at `time`; times must not decrease.
    pub fn change(&mut self, time: Time, value: f64) {
        match self {
            Record::Points(points) => points.change(time, value),
            Record::Envelope(envelope) => envelope.change(time, value),
        }
    }

    /// Ends the record: the quantity is constant until `end`, the end of the run.
    pub fn close(&mut self, end: Time) {
        match self {
            Record::Points(points) => points.close(end),
            Record::Envelope(envelope) => envelope.close(end),
        }
    }

    /// Number of points in all series.
    pub fn len(&self) -> usize {
        match self {
            Record::Points(points) => points.len(),
            Record::Envelope(envelope) => envelope.out.iter().map(Points::len).sum(),
        }
    }

    /// Removes and returns the points of each series, as [`Points::take`] does.
    pub fn take(&mut self, all: bool) -> Vec<(Option<Statistic>, Points)> {
        match self {
            Record::Points(points) => vec![(None, points.take(all))],
            Record::Envelope(envelope) => {
                let statistics = [Statistic::Min, Statistic::Mean, Statistic::Max];
                let parts = statistics.into_iter().zip(&mut envelope.out);
                parts
                    .map(|(statistic, points)| (Some(statistic), points.take(all)))
                    .collect()
            }
        }
    }
}

/// A piecewise constant quantity, recorded at every change, at regular times or as its envelope.
#[derive(Clone, Debug)]
pub struct StepRecorder {
    /// Interval of the regular times, and the next of them.
    regular: Option<(Span, Time)>,
    value: f64,
    /// The record.
    pub out: Record,
}

impl StepRecorder {
    /// Begins with `value`. Regular times are the multiples of `interval`. Without `interval`,
    /// every change is recorded, or the `envelope`.
    pub fn new(interval: Option<Span>, envelope: Option<Span>, value: f64) -> StepRecorder {
        StepRecorder {
            regular: interval.map(|i| (i, Time::ZERO)),
            value,
            out: match interval {
                Some(_) => Record::of_samples(),
                None => Record::of_changes(envelope, value),
            },
        }
    }

    /// Records the samples due at or before `time`. A sample is the value before the changes at its
    /// instant.
    pub fn until(&mut self, time: Time) {
        if let Some((interval, next)) = &mut self.regular {
            while *next <= time {
                self.out.sample(*next, self.value);
                *next += *interval;
            }
        }
    }

    /// Records everything due until `end`, the end of the run.
    pub fn finish(&mut self, end: Time) {
        match self.regular {
            Some(_) => self.until(end),
            None => self.out.close(end),
        }
    }

    /// Changes the value to `value` at `time`; times must not go back.
    pub fn set(&mut self, time: Time, value: f64) {
        match self.regular {
            Some(_) => self.until(time),
            None => self.out.change(time, value),
        }
        self.value = value;
    }
}

/// Sums per interval, each recorded at the interval's end.
#[derive(Clone, Debug)]
pub struct IntervalSum {
    interval: Span,
    until: Time,
    sum: f64,
    scale: f64,
    /// The finished intervals.
    pub out: Points,
}

impl IntervalSum {
    /// Starts sums over `interval`, each multiplied by `scale`.
    pub fn new(interval: Span, scale: f64) -> IntervalSum {
        IntervalSum {
            interval,
            until: Time::ZERO + interval,
            sum: 0.0,
            scale,
            out: Points::default(),
        }
    }

    /// Ends the intervals that end at or before `time`.
    pub fn until(&mut self, time: Time) {
        while time >= self.until {
            self.out.points.push((self.until, self.sum * self.scale));
            self.sum = 0.0;
            self.until += self.interval;
        }
    }

    /// Returns the end of the interval in progress.
    pub fn due(&self) -> Time {
        self.until
    }

    /// Adds `value` in the interval in progress.
    pub fn add_before_due(&mut self, value: f64) {
        self.sum += value;
    }

    /// Adds 1 at the time of each cell of `run`; times must not decrease.
    pub fn add_cells(&mut self, mut run: Run) {
        while run.n > 0 {
            self.until(run.time);
            let n = run.before(self.until);
            self.sum += f64::from(n);
            run.skip(n);
        }
    }

    /// Adds `value` at `time`; times must not decrease.
    pub fn add(&mut self, time: Time, value: f64) {
        self.until(time);
        self.sum += value;
    }
}

/// State of the class queue that a dropped cell found, and what was allowed there.
#[derive(Clone, Debug)]
pub struct QueueSnapshot {
    /// X: cells waiting.
    pub waiting: u64,
    /// Y_i: waiting cells of the VC.
    pub waiting_of_vc: u64,
    /// N_a: VCs with waiting cells.
    pub active_vcs: u64,
    /// Whether the queue counts bytes.
    pub counts_bytes: bool,
    /// Limit set by the policy or the buffer in its decision, in places.
    pub threshold: Option<f64>,
    /// Average queue of a policy of the RED family after this cell, in places.
    pub average: Option<f64>,
    /// Probability that the policy's curve gives for this average.
    pub probability: Option<f64>,
    /// Parameters of a program, and its state after the decision.
    pub policy_state: Option<String>,
    /// The pool, if the port is in one.
    pub pool: Option<PoolSnapshot>,
}

/// State of the pool that a dropped cell found, in places.
#[derive(Clone, Debug)]
pub struct PoolSnapshot {
    /// Free places of the shared part.
    pub free: u64,
    /// Dynamic threshold of the queue.
    pub threshold: Option<f64>,
    /// What each queue takes: by port of the pool, then by class.
    pub queues: Vec<u64>,
}

/// A dropped cell, with indices in place of names.
#[derive(Clone, Debug)]
pub struct TraceEntry {
    /// Time of the drop.
    pub time: Time,
    /// Link of the port, or link that lost the cell.
    pub link: u32,
    /// Flow of the cell.
    pub flow: FlowId,
    /// Frame number.
    pub frame: u32,
    /// Cell number.
    pub cell: u32,
    /// Reason for the drop.
    pub reason: DropReason,
    /// Queue that the cell found; `None` for a cell lost by a link.
    pub queue: Option<QueueSnapshot>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_taken_bit_by_bit_are_those_taken_at_once() {
        let changes = [(0, 1.0), (0, 2.0), (3, 2.0), (5, 4.0), (5, 3.0), (9, 3.0)];
        let record = |parts: usize| {
            let (mut points, mut taken) = (Points::default(), Vec::new());
            for (i, &(time, value)) in changes.iter().enumerate() {
                points.change(Time(time), value);
                if i % parts == 0 {
                    taken.extend(points.take(false).points);
                }
            }
            taken.extend(points.take(true).points);
            taken
        };
        assert_eq!(record(99), [(Time(0), 2.0), (Time(5), 3.0)]);
        for parts in 1..4 {
            assert_eq!(record(parts), record(99));
        }
    }

    /// Calculated by hand: 2 until tick 3, a spike to 9 for one tick, 4 until 12, then 4.5.
    /// Intervals last 5 ticks, and the run ends at 13.
    #[test]
    fn an_envelope_has_what_held_for_any_time_and_the_mean_over_time() {
        let mut record = Record::of_changes(Some(Span(5)), 2.0);
        for (time, value) in [
            (3, 7.0),
            (3, 9.0),
            (4, 4.0),
            (10, 80.0),
            (10, 4.0),
            (12, 4.5),
        ] {
            record.change(Time(time), value);
        }
        record.close(Time(13));
        let found = record.take(true);
        let of = |statistic, values: [f64; 3]| {
            let points = [5, 10, 13].map(Time).into_iter().zip(values).collect();
            (Some(statistic), Points { points })
        };
        let expected = [
            of(Statistic::Min, [2.0, 4.0, 4.0]),
            of(
                Statistic::Mean,
                [(3.0 * 2.0 + 9.0 + 4.0) / 5.0, 4.0, 12.5 / 3.0],
            ),
            of(Statistic::Max, [9.0, 4.0, 4.5]),
        ];
        assert_eq!(found, expected);
    }

    /// The quantity does not change in interval [5, 10), and the run ends with an interval.
    #[test]
    fn an_envelope_has_every_interval_of_the_run_once() {
        let mut record = Record::of_changes(Some(Span(5)), 3.0);
        record.change(Time(12), 1.0);
        record.close(Time(15));
        let ends: Vec<_> = record.take(true)[0].1.points.clone();
        assert_eq!(ends, [(Time(5), 3.0), (Time(10), 3.0), (Time(15), 1.0)]);
    }
}
