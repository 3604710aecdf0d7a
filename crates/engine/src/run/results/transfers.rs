//! Durations of transfers, where some may not have finished.
//!
//! The duration of a finished transfer is known. That of a file under way is at least the time from
//! its beginning to the end of the run, that of a file that has not begun at least 0. A quantile
//! lies between the quantile with each duration at its lower bound, and the one with unfinished
//! transfers at infinity. It is known if the two are equal.

use crate::ground::format::Clock;
use crate::ground::units::{BitRate, Span, Time};
use crate::network::tally::{SenderCounters, Transfer};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Scenario, TcpParams, Vc};
use schemars::JsonSchema;
use serde::Serialize;

/// Files that a VC is to send, and the end of its run.
pub(super) struct Files<'a> {
    pub(super) vc: &'a Vc,
    tcp: Option<&'a TcpParams>,
    /// Whether the source stops before the run ends, so that no further file begins.
    stops: bool,
    end: Time,
    /// Rate of the link on which the source sends.
    rate: BitRate,
    clock: Clock,
}

impl Files<'_> {
    /// The files of the VC `i`, in each direction.
    pub(super) fn of<'a>(scenario: &'a Scenario, topology: &Topology, i: usize) -> Files<'a> {
        let vc = &scenario.vcs[i];
        let end = Time::ZERO + scenario.duration;
        Files {
            vc,
            tcp: vc.traffic.tcp().filter(|tcp| tcp.file_size.is_some()),
            stops: vc.stop.is_some_and(|stop| stop <= scenario.duration),
            end,
            rate: scenario.links[topology.data_path(i)[0]].highest_rate(),
            clock: scenario.format.clock,
        }
    }

    /// Returns the finished transfers of a TCP with its unfinished ones.
    pub(super) fn transfers<'a>(
        &self,
        finished: &'a [Transfer],
        sender: &SenderCounters,
    ) -> Transfers<'a> {
        let files = self.tcp.and_then(|tcp| tcp.files).unwrap_or(0);
        let begun = finished.len() as u64 + u64::from(sender.under_way.is_some());
        Transfers {
            finished,
            under_way: sender.under_way.map(|began| self.end.since(began)),
            waiting: match self.stops {
                true => 0,
                false => files.saturating_sub(begun),
            },
        }
    }

    /// Returns how long, in seconds, the file under way at the end of the run has taken.
    pub(super) fn under_way_s(&self, sender: &SenderCounters) -> Option<f64> {
        let began = sender.under_way?;
        Some(self.end.since(began).as_seconds(self.clock))
    }

    /// Returns the times in which a file of a TCP was under way.
    pub(super) fn under_way<'a>(
        &self,
        finished: &'a [Transfer],
        sender: &SenderCounters,
    ) -> impl Iterator<Item = (Time, Time)> + use<'a> {
        let last = sender.under_way.map(|began| (began, self.end));
        finished.iter().map(|t| (t.began, t.done)).chain(last)
    }

    /// Returns the lower bound of the time, in seconds, at which all files are complete; `None`
    /// where they are, or if there is no last file.
    pub(super) fn completed_above(&self, sender: &SenderCounters) -> Option<f64> {
        self.tcp.and_then(|tcp| tcp.files)?;
        let is_open = sender.completed.is_none();
        is_open.then(|| self.end.as_seconds(self.clock))
    }

    /// Returns the upper bound of the goodput of all files in Mb/s if it is not known.
    pub(super) fn goodput_below(&self, sender: &SenderCounters) -> Option<f64> {
        self.completed_above(sender)?;
        let tcp = self.tcp?;
        let most = self.rate.as_mbps();
        let took = sender
            .began
            .map_or(Span::ZERO, |began| self.end.since(began));
        if took == Span::ZERO {
            return Some(most);
        }
        let bytes = tcp.file_size? as f64 * tcp.files? as f64;
        Some(most.min(bytes * 8e-6 / took.as_seconds(self.clock)))
    }
}

/// Transfers of a TCP.
pub(super) struct Transfers<'a> {
    finished: &'a [Transfer],
    /// Time that the file under way has taken so far.
    under_way: Option<Span>,
    /// Number of files still to begin.
    waiting: u64,
}

/// How many transfers there were, and how long they took.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TransferTimes {
    /// Files completely acknowledged. 0 without a file.
    pub finished_transfers: u64,
    /// Files under way or still due when the run ended. Files that would begin after `stop` do not
    /// count, and of an endless sequence only the file under way does.
    pub unfinished_transfers: u64,
    /// Median duration of the transfers. None when not known or without transfers.
    pub p50_transfer_s: Option<f64>,
    /// Lower bound of the median when it is not known.
    pub p50_transfer_s_above: Option<f64>,
    /// Upper bound of the median when it is not known but bounded.
    pub p50_transfer_s_below: Option<f64>,
    /// 95 % quantile of the transfer durations: the shortest that 95 % do not exceed.
    pub p95_transfer_s: Option<f64>,
    /// Lower bound of the 95 % quantile, as for the median.
    pub p95_transfer_s_above: Option<f64>,
    /// Upper bound of the 95 % quantile, as for the median.
    pub p95_transfer_s_below: Option<f64>,
    /// 99 % quantile of the transfer durations.
    pub p99_transfer_s: Option<f64>,
    /// Lower bound of the 99 % quantile, as for the median.
    pub p99_transfer_s_above: Option<f64>,
    /// Upper bound of the 99 % quantile, as for the median.
    pub p99_transfer_s_below: Option<f64>,
    /// Longest transfer duration. None when not known or without transfers.
    pub max_transfer_s: Option<f64>,
    /// Lower bound of the longest duration when a transfer is unfinished. None otherwise.
    pub max_transfer_s_above: Option<f64>,
}

/// Counters of one or more TCP senders. 0 for other traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TcpCounts {
    /// TCP segments sent, including retransmissions. 0 for other traffic.
    pub segments: u64,
    /// TCP segments sent that contain data sent before.
    pub retransmitted_segments: u64,
    /// Expiries of TCP retransmission timers.
    pub timeouts: u64,
    /// TCP fast retransmits.
    pub fast_retransmits: u64,
}

impl TcpCounts {
    /// The sums over TCP senders.
    pub(super) fn of<'a>(senders: impl IntoIterator<Item = &'a SenderCounters>) -> TcpCounts {
        let mut sums = TcpCounts::default();
        for sender in senders {
            sums.segments += sender.segments;
            sums.retransmitted_segments += sender.retransmitted_segments;
            sums.timeouts += sender.timeouts;
            sums.fast_retransmits += sender.fast_retransmits;
        }
        sums
    }
}

/// Returns the time covered by at least one of the intervals.
pub(super) fn covered(intervals: impl IntoIterator<Item = (Time, Time)>) -> Span {
    let mut sorted: Vec<(Time, Time)> = intervals.into_iter().collect();
    sorted.sort_unstable();
    let (mut total, mut until) = (Span::ZERO, Time::ZERO);
    for (from, to) in sorted {
        let from = from.max(until);
        if to > from {
            total += to.since(from);
            until = to;
        }
    }
    total
}

/// A value in seconds, or its bounds. Without an upper bound it may be of any size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounded {
    pub(super) known: Option<f64>,
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
}

/// Durations of transfers, shortest first.
pub(super) struct Durations {
    finished: Vec<Span>,
    /// Lower bounds of the durations of files under way.
    under_way: Vec<Span>,
    waiting: u64,
    clock: Clock,
}

impl Durations {
    /// Collects the durations of the transfers of several TCPs.
    pub(super) fn of<'a>(tcps: impl IntoIterator<Item = Transfers<'a>>, clock: Clock) -> Durations {
        let mut durations = Durations {
            finished: Vec::new(),
            under_way: Vec::new(),
            waiting: 0,
            clock,
        };
        for tcp in tcps {
            let finished = tcp.finished.iter().map(|t| t.done.since(t.began));
            durations.finished.extend(finished);
            durations.under_way.extend(tcp.under_way);
            durations.waiting += tcp.waiting;
        }
        durations.finished.sort_unstable();
        durations.under_way.sort_unstable();
        durations
    }

    /// Returns the numbers and quantiles that are reported.
    pub(super) fn times(&self) -> TransferTimes {
        let [p50, p95, p99, max] = [50, 95, 99, 100].map(|percent| self.quantile(percent));
        TransferTimes {
            finished_transfers: self.finished(),
            unfinished_transfers: self.unfinished(),
            p50_transfer_s: p50.known,
            p50_transfer_s_above: p50.above,
            p50_transfer_s_below: p50.below,
            p95_transfer_s: p95.known,
            p95_transfer_s_above: p95.above,
            p95_transfer_s_below: p95.below,
            p99_transfer_s: p99.known,
            p99_transfer_s_above: p99.above,
            p99_transfer_s_below: p99.below,
            max_transfer_s: max.known,
            max_transfer_s_above: max.above,
        }
    }

    /// Returns the number of finished transfers.
    fn finished(&self) -> u64 {
        self.finished.len() as u64
    }

    /// Returns the number of transfers that did not finish.
    fn unfinished(&self) -> u64 {
        self.under_way.len() as u64 + self.waiting
    }

    /// Returns the shortest duration that `percent` per cent of the transfers do not exceed, or its
    /// bounds. All are `None` without transfers.
    pub(super) fn quantile(&self, percent: u64) -> Bounded {
        let number = u128::from(self.finished() + self.unfinished());
        let rank = (number * u128::from(percent)).div_ceil(100) as u64;
        let seconds = |span: Span| span.as_seconds(self.clock);
        let (low, high) = match rank.checked_sub(1) {
            None => (None, None),
            Some(index) => (
                Some(self.shortest(index)),
                self.finished.get(index as usize),
            ),
        };
        let known = high.filter(|&&high| low == Some(high)).copied();
        match known {
            Some(known) => Bounded {
                known: Some(seconds(known)),
                above: None,
                below: None,
            },
            None => Bounded {
                known: None,
                above: low.map(seconds),
                below: high.copied().map(seconds),
            },
        }
    }

    /// Returns the duration at `index`, with each unfinished transfer at its lower bound.
    fn shortest(&self, index: u64) -> Span {
        let Some(index) = index.checked_sub(self.waiting) else {
            return Span::ZERO;
        };
        let (mut short, mut at) = (
            self.finished.iter().peekable(),
            self.under_way.iter().peekable(),
        );
        let mut next = || match (short.peek(), at.peek()) {
            (Some(a), Some(b)) if b < a => at.next(),
            (Some(_), _) => short.next(),
            (None, _) => at.next(),
        };
        for _ in 0..index {
            next();
        }
        next().copied().unwrap_or(Span::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CLOCK: Clock = crate::ground::format::Format::AAL5.clock;

    fn durations(finished: &[u64], under_way: &[u64], waiting: u64) -> Durations {
        let spans = |of: &[u64]| {
            let mut spans: Vec<Span> = of.iter().map(|&n| Span::from_milliseconds(n)).collect();
            spans.sort_unstable();
            spans
        };
        Durations {
            finished: spans(finished),
            under_way: spans(under_way),
            waiting,
            clock: CLOCK,
        }
    }

    fn quantile(durations: &Durations, percent: u64) -> [Option<u64>; 3] {
        let found = durations.quantile(percent);
        [found.known, found.above, found.below].map(|s| s.map(|s| (s * 1e3).round() as u64))
    }

    #[test]
    fn time_in_which_files_overlap_is_counted_once() {
        let times = |of: &[(u64, u64)]| {
            let at = |n| Time::ZERO + Span::from_milliseconds(n);
            covered(of.iter().map(|&(from, to)| (at(from), at(to))))
        };
        let expected = Span::from_milliseconds(7);
        assert_eq!(
            times(&[(8, 10), (0, 2), (1, 3), (1, 1), (9, 9), (5, 6), (5, 7)]),
            expected
        );
        assert_eq!(times(&[(0, 10), (2, 3)]), Span::from_milliseconds(10));
        assert_eq!(times(&[]), Span::ZERO);
    }

    #[test]
    fn a_quantile_is_known_if_unfinished_transfers_cannot_move_it() {
        let three_of_four = durations(&[10, 20, 30], &[300], 0);
        assert_eq!(quantile(&three_of_four, 50), [Some(20), None, None]);
        assert_eq!(quantile(&three_of_four, 99), [None, Some(300), None]);
        // The file under way may still be the shortest but one, or the longest.
        let short = durations(&[10, 20, 30], &[15], 0);
        assert_eq!(quantile(&short, 50), [None, Some(15), Some(20)]);
        assert_eq!(quantile(&short, 75), [None, Some(20), Some(30)]);
        // A file that has not begun may take any time.
        let waits = durations(&[10], &[], 1);
        assert_eq!(quantile(&waits, 50), [None, Some(0), Some(10)]);
        assert_eq!(quantile(&waits, 100), [None, Some(10), None]);
        assert_eq!(quantile(&durations(&[], &[], 0), 50), [None; 3]);
        assert_eq!(
            quantile(&durations(&[], &[], u64::MAX), 50),
            [None, Some(0), None]
        );
    }

    proptest! {
        /// For any durations of the unfinished transfers, the quantile is within its bounds.
        #[test]
        fn no_outcome_lies_outside_the_bounds(
            finished in prop::collection::vec(0..50_u64, 0..8),
            open in prop::collection::vec((0..50_u64, 0..50_u64), 0..5),
            later in prop::collection::vec(0..50_u64, 0..4),
            percent in prop::sample::select(vec![1, 50, 95, 99, 100_u64]),
        ) {
            let lower: Vec<u64> = open.iter().map(|&(lower, _)| lower).collect();
            let known = durations(&finished, &lower, later.len() as u64);
            let mut all = finished;
            all.extend(open.iter().map(|(lower, more)| lower + more));
            all.extend(&later);
            let [right, ..] = quantile(&durations(&all, &[], 0), percent);
            let [value, above, below] = quantile(&known, percent);
            match value {
                Some(value) => prop_assert_eq!(Some(value), right),
                None => {
                    prop_assert!(above <= right);
                    prop_assert!(below.is_none() || right <= below);
                }
            }
        }
    }
}
