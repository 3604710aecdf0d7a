//! Tests of the order of arrivals.

use super::*;
use crate::network::cells::Run;
use proptest::prelude::*;

proptest! {
    #[test]
    fn order_matches_a_sorted_list(entries in proptest::collection::btree_map(0u32..20, 0u64..6, 0..20)) {
        let mut order = ArrivalOrder::default();
        for (&input, &time) in &entries {
            order.insert(Time(time), input);
        }
        let mut sorted: Vec<_> = entries.iter().map(|(&i, &t)| (t, i)).collect();
        sorted.sort_unstable();
        let mut group = Vec::new();
        let mut popped = Vec::new();
        while let Some((time, _)) = order.first() {
            order.pop_group(time, &mut group);
            popped.extend(group.iter().map(|&i| (time.0, i)));
        }
        prop_assert_eq!(popped, sorted);
    }

    #[test]
    fn groups_that_are_put_back_and_inputs_that_go_on_together_stay_in_order(
        times in proptest::collection::vec(0u64..4, 1..30),
        steps in proptest::collection::vec((0u64..6, any::<bool>(), 0usize..4), 0..60),
    ) {
        let mut order = ArrivalOrder::default();
        let mut feeds: Vec<Feed> = Vec::new();
        for (input, &time) in (0..).zip(&times) {
            order.insert(Time(time), input);
            let mut feed = Feed::default();
            feed.push(Run { time: Time(time), n: 1, ..Run::default() });
            feeds.push(feed);
        }
        let mut group = Vec::new();
        for (later, as_one, over) in steps {
            let listed = |feeds: &[Feed]| {
                let left = feeds.iter().zip(0..).filter(|(feed, _)| feed.head.n > 0);
                let mut sorted: Vec<_> = left.map(|(feed, input)| (feed.head.time, input)).collect();
                sorted.sort_unstable();
                sorted
            };
            let sorted = listed(&feeds);
            let Some(&(time, _)) = sorted.first() else { break };
            // Only as far as no input overtakes another.
            let next = sorted.iter().find(|entry| entry.0 > time).map_or(Time::NEVER, |entry| entry.0);
            if as_one && Time(time.0 + later) < next {
                let n = sorted.iter().filter(|entry| entry.0 == time).count();
                order.postpone_many(n, Span(later));
                sorted[..n].iter().for_each(|&(_, input)| feeds[input as usize].head.time += Span(later));
            } else {
                order.pop_group(time, &mut group);
                for (i, &input) in group.iter().enumerate() {
                    let head = &mut feeds[input as usize].head;
                    head.time += Span(1 + if as_one { later } else { (later + i as u64) % 3 });
                    head.n -= u32::from(over > 0 && i + 1 == over);
                }
                order.put_back(&group, &feeds, 0);
            }
            let sorted = listed(&feeds);
            prop_assert_eq!(order.first(), sorted.first().copied());
            for (i, &entry) in sorted.iter().enumerate() {
                prop_assert_eq!(order.get(i), Some(entry));
            }
        }
    }

    #[test]
    fn many_inputs_stay_in_order(
        times in proptest::collection::vec(0u64..10_000, 65..400),
        steps in proptest::collection::vec((0u64..20_000, 0u8..8, 1usize..90), 0..300),
    ) {
        let mut order = ArrivalOrder::default();
        let mut sorted: Vec<(u64, u32)> = times.into_iter().zip(0..).collect();
        for &(time, input) in &sorted {
            order.insert(Time(time), input);
        }
        for (by, what, n) in steps {
            sorted.sort_unstable();
            prop_assert_eq!(order.first(), Some((Time(sorted[0].0), sorted[0].1)));
            prop_assert_eq!(order.second_time(), Time(sorted[1].0));
            prop_assert_eq!(order.get(n - 1), sorted.get(n - 1).map(|e| (Time(e.0), e.1)));
            match what {
                // Only as far as no other input is overtaken.
                0 => {
                    let n = n.min(sorted.len());
                    order.get(n);
                    let room = sorted.get(n).map_or(by, |e| (e.0 - sorted[n - 1].0).saturating_sub(1));
                    order.postpone_many(n, Span(room));
                    sorted[..n].iter_mut().for_each(|e| e.0 += room);
                }
                1 if sorted.len() > 2 => {
                    order.pop();
                    sorted.remove(0);
                }
                2 => {
                    let entry = (sorted[0].0 + by % 8, sorted.len() as u32 + 1_000);
                    if sorted.iter().all(|e| e.1 != entry.1) {
                        order.insert(Time(entry.0), entry.1);
                        sorted.push(entry);
                    }
                }
                _ => {
                    order.postpone_first(Time(sorted[0].0 + by));
                    sorted[0].0 += by;
                }
            }
        }
        sorted.sort_unstable();
        let mut group = Vec::new();
        order.pop_before(Time::NEVER, &mut group);
        prop_assert_eq!(group, sorted.iter().map(|e| e.1).collect::<Vec<_>>());
    }

    #[test]
    fn inputs_that_go_on_stay_in_order(inputs in 1u32..400, steps in proptest::collection::vec((0u64..100, any::<bool>()), 0..300)) {
        let mut order = ArrivalOrder::default();
        let mut sorted: Vec<(u64, u32)> = Vec::new();
        for input in 0..inputs {
            order.insert(Time(u64::from(input % 7)), input);
            sorted.push((u64::from(input % 7), input));
        }
        for (later, in_place) in steps {
            sorted.sort_unstable();
            let (time, input) = sorted[0];
            prop_assert_eq!(order.first(), Some((Time(time), input)));
            prop_assert_eq!(order.second_time(), sorted.get(1).map_or(Time::NEVER, |e| Time(e.0)));
            if later % 8 == 0 {
                let i = later as usize % sorted.len();
                prop_assert_eq!(order.get(i), Some((Time(sorted[i].0), sorted[i].1)));
            }
            if in_place {
                order.postpone_first(Time(time + later));
            } else {
                order.pop();
                order.insert(Time(time + later), input);
            }
            sorted[0].0 = time + later;
        }
    }
}

#[test]
fn a_bucket_holds_few_inputs_however_many_there_are() {
    let mut far = FarInputs::default();
    let times = (0..20_000).map(|input| (Time(u64::from(input) * 7_919 % 20_011 * 1_000), input));
    far.take_in(times);
    while !far.is_empty() {
        let entries = far.next();
        assert!(entries.len() <= MANY, "{} in one bucket", entries.len());
        entries.clear();
    }
}
