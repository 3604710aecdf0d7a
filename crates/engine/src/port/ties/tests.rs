use super::*;
use proptest::prelude::*;

fn run(time: u64, period: u64, n: u32) -> Run {
    Run {
        time: Time(time),
        period: Span(period),
        n,
        ..Run::default()
    }
}

/// Runs of one feed: later than each other, at one of few distances.
fn runs() -> impl Strategy<Value = Vec<Run>> {
    let one = (
        0u64..9,
        prop::sample::select(vec![6u64, 6, 6, 4, 9]),
        1u32..8,
    );
    prop::collection::vec(one, 0..4).prop_map(|all| {
        let mut from = 0;
        let place = |(gap, period, n): (u64, u64, u32)| {
            let run = run(from + gap, period, n);
            from = run.last().0 + 1;
            run
        };
        all.into_iter().map(place).collect()
    })
}

fn times(runs: &[Run]) -> Vec<u64> {
    let times = |run: &Run| {
        let (time, period) = (run.time.0, run.period.0);
        (0..u64::from(run.n)).map(move |i| time + period * i)
    };
    runs.iter().flat_map(times).collect()
}

/// How many of the `own` times in [from, to) are also among those of other feeds.
fn tied(own: &[u64], others: &[&Vec<u64>], from: u64, to: u64) -> u64 {
    let near = own.iter().filter(|&&t| from <= t && t < to);
    near.filter(|t| others.iter().any(|times| times.contains(t)))
        .count() as u64
}

fn others_of<T>(all: &[T], feed: usize) -> Vec<&T> {
    let others = all.iter().enumerate().filter(|&(other, _)| other != feed);
    others.map(|(_, times)| times).collect()
}

fn feeds_of(all: &[Vec<Run>]) -> Vec<Feed> {
    let feed = |runs: &Vec<Run>| {
        let mut feed = Feed::default();
        runs.iter().for_each(|run| {
            feed.push(*run);
        });
        feed
    };
    all.iter().map(feed).collect()
}

proptest! {
    #[test]
    fn bulk_counts_the_ties_of_all_cells(all in prop::collection::vec(runs(), 1..6)) {
        let mut feeds = feeds_of(&[]);
        feeds.resize_with(all.len(), Feed::default);
        let mut ties = BulkTies::default();
        for (runs, feed) in all.iter().zip(0..) {
            runs.iter().for_each(|run| ties.add(run, run.n, feed));
        }
        ties.count(&mut feeds);
        let times: Vec<Vec<u64>> = all.iter().map(|runs| times(runs)).collect();
        for (feed, own) in times.iter().enumerate() {
            prop_assert_eq!(feeds[feed].tied, tied(own, &others_of(&times, feed), 0, u64::MAX));
        }
    }

    /// A port drops some runs at time 0. At each step the kernel counts the ties of the others.
    #[test]
    fn cells_dropped_ahead_are_counted_like_any_others(
        all in prop::collection::vec(runs(), 2..6),
        dropped in prop::collection::vec(any::<bool>(), 6),
        steps in prop::collection::vec(1u64..40, 1..8),
    ) {
        let mut feeds = feeds_of(&all);
        let mut extras: Vec<HopExtra> = all.iter().map(|_| HopExtra::default()).collect();
        let mut ties = Ties::new(0..all.len());
        let mut from = 0;
        let mut rest = all.clone();
        // Cells that the kernel still meets.
        let mut met: Vec<Vec<u64>> = all.iter().map(|runs| times(runs)).collect();
        for (i, step) in steps.into_iter().chain([1_000]).enumerate() {
            let to = from + step;
            if i > 0 {
                let active: Vec<usize> = (0..all.len()).collect();
                ties.count_ahead(&active, &mut feeds, &mut extras, Time(from), Time(to));
            } else {
                for feed in 0..all.len() {
                    let Some(run) = rest[feed].first().copied().filter(|_| dropped[feed]) else {
                        continue;
                    };
                    let run = Run { hop: feed as u32, ..run };
                    ties.drop_ahead(Time::ZERO, feed, &run, &mut feeds, &mut extras, Time(to));
                    feeds[feed].skip(run.n);
                    rest[feed].remove(0);
                    met[feed] = times(&rest[feed]);
                }
            }
            for feed in 0..all.len() {
                feeds[feed].tied += tied(&met[feed], &others_of(&met, feed), from, to);
            }
            from = to;
        }
        let of_feeds: Vec<Vec<u64>> = all.iter().map(|runs| times(runs)).collect();
        for (feed, own) in of_feeds.iter().enumerate() {
            let others = others_of(&of_feeds, feed);
            prop_assert_eq!(feeds[feed].tied, tied(own, &others, 0, u64::MAX), "feed {}", feed);
            let lost = if dropped[feed] { &all[feed][..all[feed].len().min(1)] } else { &[] };
            let expected = tied(&times(lost), &others, 0, u64::MAX);
            prop_assert_eq!(extras[feed].tied_drops, expected, "drops of feed {}", feed);
        }
    }
}

#[test]
fn frames_in_step_whose_rests_are_dropped_at_one_instant_tie_with_each_other() {
    let mut feeds: Vec<Feed> = (0..3).map(|_| Feed::default()).collect();
    let mut extras: Vec<HopExtra> = (0..3).map(|_| HopExtra::default()).collect();
    let mut ties = Ties::new(0..3);
    let frame = |hop| Run {
        time: Time(100),
        period: Span(10),
        n: 5,
        hop,
        ..Run::default()
    };
    for (feed, hop) in feeds.iter_mut().zip(0..) {
        feed.push(frame(hop));
    }
    let tied = |feeds: &[Feed]| feeds.iter().map(|feed| feed.tied).collect::<Vec<_>>();
    for feed in 0..3 {
        let mut rest = frame(feed as u32);
        rest.skip(1);
        ties.drop_ahead(Time(100), feed, &rest, &mut feeds, &mut extras, Time(1000));
        feeds[feed].skip(5);
        // Once two are dropped, the kernel takes the cells of the third for the only ones.
        assert_eq!(tied(&feeds), [[4, 0, 0], [4, 4, 4], [4, 4, 4]][feed]);
        assert_eq!(extras[feed].tied_drops, 4);
    }
}
