//! Records of what changes over time: at every change, at regular times, or as sums over intervals.

use crate::cells::Run;
use crate::flow::FlowId;
use crate::tally::DropReason;
use crate::units::{Span, TICKS_PER_SECOND, Time};

/// Points of a series before they get their names.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// Instants and values.
    pub points: Vec<(Time, f64)>,
}

/// The record of something that has had this value since the beginning.
impl From<f64> for Points {
    fn from(value: f64) -> Points {
        Points {
            points: vec![(Time::ZERO, value)],
        }
    }
}

impl Points {
    /// Times in seconds and values.
    pub fn columns(&self) -> (Vec<f64>, Vec<f64>) {
        let seconds = |t: Time| t.0 as f64 / TICKS_PER_SECOND as f64;
        self.points.iter().map(|&(t, v)| (seconds(t), v)).unzip()
    }

    /// Points so far.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Takes the points away, but for the last one, which may still change, unless `all` are wanted.
    pub fn take(&mut self, all: bool) -> Points {
        let kept = usize::from(!all).min(self.points.len());
        let rest = self.points.split_off(self.points.len() - kept);
        Points {
            points: std::mem::replace(&mut self.points, rest),
        }
    }

    /// Ends the record of a value that stays the same between its changes: it held until `end`.
    pub fn close(&mut self, end: Time) {
        if let Some(&(time, value)) = self.points.last()
            && time < end
        {
            self.points.push((end, value));
        }
    }

    /// Records a value that stays the same until the next change; several changes at one instant leave the last.
    pub fn change(&mut self, time: Time, value: f64) {
        match self.points.last_mut() {
            Some((_, last)) if *last == value => {}
            Some((t, last)) if *t == time => *last = value,
            _ => self.points.push((time, value)),
        }
    }
}

/// A quantity that stays the same between its changes, recorded at every change or at regular times.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Distance of the regular times and the next one.
    regular: Option<(Span, Time)>,
    value: f64,
    /// The record.
    pub out: Points,
}

impl Steps {
    /// Begins with `value`; regular times are the multiples of `interval`.
    pub fn new(interval: Option<Span>, value: f64) -> Steps {
        Steps {
            regular: interval.map(|i| (i, Time::ZERO)),
            value,
            out: match interval {
                Some(_) => Points::default(),
                None => Points::from(value),
            },
        }
    }

    /// Records what is due at or before `time`: the value before the changes of that instant.
    pub fn until(&mut self, time: Time) {
        if let Some((interval, next)) = &mut self.regular {
            while *next <= time {
                self.out.points.push((*next, self.value));
                *next += *interval;
            }
        }
    }

    /// Records what is due until `end`, the end of the run.
    pub fn finish(&mut self, end: Time) {
        match self.regular {
            Some(_) => self.until(end),
            None => self.out.close(end),
        }
    }

    /// It becomes `value` at `time`; times must not go back.
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
    /// Sums over intervals of `interval`, multiplied by `scale`.
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

    /// When the interval that has begun ends.
    pub fn due(&self) -> Time {
        self.until
    }

    /// Adds `value` in the interval that has begun.
    pub fn add_before_due(&mut self, value: f64) {
        self.sum += value;
    }

    /// Adds 1 at the time of each cell of `run`; times must not go back.
    pub fn add_cells(&mut self, mut run: Run) {
        while run.n > 0 {
            self.until(run.time);
            let n = run.before(self.until);
            self.sum += f64::from(n);
            run.skip(n);
        }
    }

    /// Adds `value` at `time`; times must not go back.
    pub fn add(&mut self, time: Time, value: f64) {
        self.until(time);
        self.sum += value;
    }
}

/// What a dropped cell found in its class queue, and what was allowed there.
#[derive(Clone, Copy, Debug)]
pub struct FoundQueue {
    /// X.
    pub waiting: u64,
    /// Y_i.
    pub waiting_of_vc: u64,
    /// N_a.
    pub active_vcs: u64,
    /// What the policy or the buffer allowed when it decided, cells.
    pub threshold: Option<f64>,
    /// The average queue of a policy of the RED family when it had seen the cell, cells.
    pub average: Option<f64>,
    /// The probability that its curve gives for this average.
    pub probability: Option<f64>,
}

/// A cell that was dropped, by indices.
#[derive(Clone, Copy, Debug)]
pub struct TraceEntry {
    /// When.
    pub time: Time,
    /// The link that is the port, or that lost it.
    pub link: u32,
    /// Its flow.
    pub flow: FlowId,
    /// Frame number.
    pub frame: u32,
    /// Cell number.
    pub cell: u32,
    /// Why.
    pub reason: DropReason,
    /// `None` for a cell that a link lost.
    pub queue: Option<FoundQueue>,
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
}
