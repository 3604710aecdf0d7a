//! The event list, and the order of simultaneous events.

use crate::ground::units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

/// Kinds of events at hosts. Variants are in the order of execution at one instant. An index is
/// that of a VC, a flow or a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A timer of a sending end expires: TCP's retransmission timer (index: VC).
    SenderTimer = 0,
    /// A timer of a receiving end expires: TCP's delayed-ACK timer (index: VC).
    ReceiverTimer = 1,
    /// A source starts or emits (index: VC).
    Source = 2,
    /// A frame is delivered to a host (index: flow).
    Delivered = 3,
    /// A received frame leaves the processing stages towards the transport (index: flow).
    ToTransport = 4,
    /// A frame to send leaves the transport's processing stage towards the host (index: flow).
    ToHost = 5,
    /// A frame to send leaves the host's processing stage, or its shaper, towards its NIC (index:
    /// host; with shapers, behind the hosts, by order of entry).
    ToNic = 6,
    /// An ABR end system sends (index: number of the end system, in the order of flows).
    Paced = 7,
}

const KINDS: [Kind; 8] = [
    Kind::SenderTimer,
    Kind::ReceiverTimer,
    Kind::Source,
    Kind::Delivered,
    Kind::ToTransport,
    Kind::ToHost,
    Kind::ToNic,
    Kind::Paced,
];

/// Events in the order (time, kind, index). An event is just that triple, so insertion order never
/// matters.
#[derive(Debug, Default)]
pub struct EventList {
    heap: BinaryHeap<Reverse<u128>>,
}

impl EventList {
    /// Number of pending events.
    pub fn pending(&self) -> usize {
        self.heap.len()
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, time: Time, kind: Kind, index: usize) {
        let key = (u128::from(time.0) << 64) | ((kind as u128) << 56) | index as u128;
        self.heap.push(Reverse(key));
    }

    /// Time of the next event.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        let time = |&Reverse(key): &Reverse<u128>| Time((key >> 64) as u64);
        self.heap.peek().map(time)
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Kind, usize)> {
        self.heap.pop().map(|Reverse(key)| {
            let kind = KINDS[((key >> 56) & 0xff) as usize];
            (
                Time((key >> 64) as u64),
                kind,
                (key & 0x00ff_ffff_ffff_ffff) as usize,
            )
        })
    }
}

/// Ports by the time of their earliest work. Few ports are scanned; many use a heap with stale
/// entries.
#[derive(Debug)]
pub struct WorkList {
    times: Vec<Time>,
    heap: BinaryHeap<Reverse<(Time, u32)>>,
}

/// Up to this number of ports a scan is faster than a heap.
const SCANNED: usize = 8;

impl WorkList {
    /// A list of `ports` ports without work.
    pub fn new(ports: usize) -> WorkList {
        WorkList {
            times: vec![Time::NEVER; ports],
            heap: BinaryHeap::new(),
        }
    }

    /// Sets the time of the earliest work of `port` ([`Time::NEVER`]: none).
    #[inline]
    pub fn set(&mut self, port: usize, time: Time) {
        if self.times[port] != time {
            self.times[port] = time;
            if self.times.len() > SCANNED && time != Time::NEVER {
                self.heap.push(Reverse((time, port as u32)));
            }
        }
    }

    /// The earliest work and its port; the smallest index breaks ties.
    #[inline(always)]
    pub fn first(&mut self) -> Option<(Time, usize)> {
        if self.times.len() > SCANNED {
            while let Some(&Reverse((time, port))) = self.heap.peek() {
                if self.times[port as usize] == time {
                    return Some((time, port as usize));
                }
                self.heap.pop();
            }
            return None;
        }
        let (port, &time) = self
            .times
            .iter()
            .enumerate()
            .min_by_key(|&(_, &time)| time)?;
        (time != Time::NEVER).then_some((time, port))
    }
}

/// Tournament tree over things by due time: each node holds the earlier of its two children.
#[derive(Debug)]
pub struct Earliest {
    /// Children of each node. Node 1 is the root, node i has children 2 i and 2 i + 1, and the
    /// things are the leaves, in the second half.
    below: Vec<[(Time, u32); 2]>,
    root: (Time, u32),
}

impl Earliest {
    /// A tree of `things` things that are never due.
    pub fn new(things: usize) -> Earliest {
        let leaves = things.next_power_of_two().max(2);
        let thing = |i: usize| (Time::NEVER, i as u32);
        let mut earliest = Earliest {
            below: vec![[thing(0); 2]; leaves],
            root: thing(0),
        };
        for i in (0..leaves).rev() {
            earliest.below[(leaves + i) / 2][i & 1] = thing(i);
        }
        earliest
    }

    /// Due time of `thing`.
    #[inline]
    pub fn time(&self, thing: usize) -> Time {
        let i = self.below.len() + thing;
        self.below[i / 2][i & 1].0
    }

    /// Sets the due time of `thing` ([`Time::NEVER`]: never).
    #[inline]
    pub fn set(&mut self, thing: usize, time: Time) {
        let mut i = self.below.len() + thing;
        let mut node = (time, thing as u32);
        while i > 1 {
            let pair = &mut self.below[i / 2];
            if pair[i & 1] == node {
                return;
            }
            pair[i & 1] = node;
            let [left, right] = *pair;
            node = select_unpredictable(right.0 < left.0, right, left);
            i /= 2;
        }
        self.root = node;
    }

    /// The earliest due time and its thing; the smallest index breaks ties.
    #[inline]
    pub fn first(&self) -> Option<(Time, usize)> {
        let (time, thing) = self.root;
        (time != Time::NEVER).then_some((time, thing as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn work_list_finds_the_earliest(ports in 1usize..20, sets in proptest::collection::vec((0usize..20, 0u64..50), 1..60)) {
            let mut list = WorkList::new(ports);
            let mut times = vec![Time::NEVER; ports];
            for (port, time) in sets {
                let (port, time) = (port % ports, if time == 0 { Time::NEVER } else { Time(time) });
                list.set(port, time);
                times[port] = time;
                let earliest = (0..ports).map(|p| (times[p], p)).min().filter(|e| e.0 != Time::NEVER);
                prop_assert_eq!(list.first(), earliest);
            }
        }

        #[test]
        fn of_things_the_earliest_is_first(things in 1usize..20, sets in proptest::collection::vec((0usize..20, 0u64..50), 1..60)) {
            let mut earliest = Earliest::new(things);
            let mut times = vec![Time::NEVER; things];
            for (thing, time) in sets {
                let (thing, time) = (thing % things, if time == 0 { Time::NEVER } else { Time(time) });
                earliest.set(thing, time);
                times[thing] = time;
                prop_assert_eq!(earliest.time(thing), time);
                let first = (0..things).map(|i| (times[i], i)).min().filter(|e| e.0 != Time::NEVER);
                prop_assert_eq!(earliest.first(), first);
            }
        }

        #[test]
        fn event_list_matches_a_sorted_list(events in proptest::collection::vec((0u64..5, 0..KINDS.len(), 0usize..4), 0..60)) {
            let mut list = EventList::default();
            for &(time, kind, index) in &events {
                list.push(Time(time), KINDS[kind], index);
            }
            let mut sorted = events.clone();
            sorted.sort_unstable();
            let popped: Vec<_> = std::iter::from_fn(|| list.pop()).map(|(t, k, i)| (t.0, k as usize, i)).collect();
            prop_assert_eq!(popped, sorted);
        }
    }
}
