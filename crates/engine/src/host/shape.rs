//! Shapers: frames that wait at their host until a token bucket holds them (model section 5).

use super::{FlowEnds, Hosts};
use crate::ground::event::Kind;
use crate::ground::flow::FlowId;
use crate::ground::format::{Format, FrameSize};
use crate::ground::units::Time;
use crate::network::fabric::Fabric;
use crate::network::stop::Overdue;
use crate::text::scenario::Shape;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The shaper of one flow. Levels are in units of a byte / (8 x ticks per second), of which a tick
/// adds `rate`.
#[derive(Debug)]
pub struct Shaper {
    rate: u128,
    byte: u128,
    burst: u128,
    /// The bucket is full from the tick `full_at` / `rate` on, if nothing more leaves.
    full_at: u128,
    /// When the latest frame leaves.
    last: Time,
    /// Frames that wait, and when each was handed over.
    waiting: VecDeque<(u32, Time)>,
}

impl Shaper {
    /// A shaper with a full bucket.
    pub fn new(shape: Shape, format: Format) -> Shaper {
        let byte = 8 * u128::from(format.clock.ticks_per_second);
        Shaper {
            rate: u128::from(shape.rate.0),
            byte,
            burst: u128::from(shape.burst) * byte,
            full_at: 0,
            last: Time::ZERO,
            waiting: VecDeque::new(),
        }
    }

    /// When a frame of so many bytes on the line that comes at `time` leaves. `None` if the backlog
    /// reaches beyond [`Time::LATEST`].
    fn leaves(&mut self, time: Time, line_bytes: u64) -> Option<Time> {
        if self.last > Time::LATEST {
            return None;
        }
        let takes = u128::from(line_bytes) * self.byte;
        let filled = (self.full_at + takes).saturating_sub(self.burst);
        // No overflow: the reader limits the time of all frames that can wait
        // (`text/scenario/time_limit.rs`).
        let filled = Time(filled.div_ceil(self.rate) as u64);
        self.last = time.max(self.last).max(filled);
        self.full_at = self.full_at.max(u128::from(self.last.0) * self.rate) + takes;
        Some(self.last)
    }
}

impl FlowEnds {
    /// Numbers of the frames that wait in the shaper, in order.
    pub fn waiting_in_shaper(&self) -> impl Iterator<Item = u32> {
        let waiting = self.shaper.iter().flat_map(|shaper| &shaper.waiting);
        waiting.map(|&(frame, _)| frame)
    }
}

/// What leaves a host towards a NIC.
#[derive(Clone, Copy, Debug)]
enum Leaving {
    /// The first frame in the sending stage of this host.
    Stage(usize),
    /// The first frame in the shaper of this flow.
    Shaper(FlowId),
}

/// Order in which frames entered the sending stages and shapers of hosts with shapers. It decides
/// among those that leave at one instant.
#[derive(Debug, Default)]
pub struct LeavingOrder {
    /// Per host: whether a flow with a shaper begins there.
    has_shaper: Vec<bool>,
    entered: usize,
    /// What leaves, by the order of entry.
    leaving: FxHashMap<usize, Leaving>,
}

impl LeavingOrder {
    /// An order at these hosts.
    pub fn new(has_shaper: Vec<bool>) -> LeavingOrder {
        LeavingOrder {
            has_shaper,
            ..LeavingOrder::default()
        }
    }

    /// Index of the event at which what enters now leaves: behind the numbers of the hosts.
    #[cold]
    fn enter(&mut self, what: Leaving) -> usize {
        let index = self.has_shaper.len() + self.entered;
        self.entered += 1;
        self.leaving.insert(index, what);
        index
    }

    /// Index of the event at which a frame leaves the sending stage of `host` that enters it now.
    #[inline]
    pub fn enter_stage(&mut self, host: usize) -> usize {
        match self.has_shaper[host] {
            true => self.enter(Leaving::Stage(host)),
            false => host,
        }
    }
}

impl Hosts {
    /// Takes a frame to the shaper of its flow.
    #[cold]
    pub(super) fn shape(
        &mut self,
        flow: FlowId,
        frame: u32,
        size: FrameSize,
        now: Time,
        fabric: &mut Fabric,
    ) {
        let ends = &mut self.flows[flow.index()];
        let shaper = ends.shaper.as_mut().expect("it is shaped");
        let cells = u64::from(size.cells());
        let leaves = shaper.leaves(now, size.line_bytes());
        ends.frames_sent += 1;
        ends.cells_queued += cells;
        shaper.waiting.push_back((frame, now));
        let Some(leaves) = leaves else {
            return fabric.overdue(Overdue::Shaper(ends.vc));
        };
        self.nics[ends.nic].enters_shaper(now, cells, leaves.since(now));
        let index = self.leaving.enter(Leaving::Shaper(flow));
        self.events.push(leaves, Kind::ToNic, index);
    }

    /// Takes a frame that leaves a sending stage or a shaper to what comes next.
    pub(super) fn leave_towards_nic(&mut self, index: usize, now: Time, fabric: &mut Fabric) {
        let leaving = match self.leaving.leaving.remove(&index) {
            Some(leaving) => leaving,
            None => Leaving::Stage(index),
        };
        match leaving {
            Leaving::Stage(host) => {
                if let Some((flow, frame)) = self.to_nics[host].pop_front() {
                    self.nic_send(flow, frame, now, fabric);
                }
            }
            Leaving::Shaper(flow) => {
                let ends = &mut self.flows[flow.index()];
                let first = ends.shaper.as_mut().and_then(|s| s.waiting.pop_front());
                if let Some((frame, since)) = first {
                    let size = fabric.destinations.sinks[flow.index()].size_of(frame);
                    self.queue_shaped(flow, frame, size, [since, now], fabric);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::units::BitRate;
    use proptest::prelude::*;

    fn shaper(rate: u64, burst: u64, format: Format) -> Shaper {
        let shape = Shape {
            rate: BitRate(rate),
            burst,
            both_ways: false,
        };
        Shaper::new(shape, format)
    }

    /// 1 Mb/s fills 1538 bytes in 12 304 us. The bucket holds two packets and 84 bytes.
    #[test]
    fn packets_leave_at_the_ticks_at_which_the_bucket_holds_them() {
        let us = |n: u64| Time(Format::ETHERNET.clock.nanoseconds(1_000 * n).0);
        let mut shaper = shaper(1_000_000, 3_160, Format::ETHERNET);
        let mut leaves = |at: u64, bytes| shaper.leaves(us(at), bytes);
        // Two packets and an ACK leave at once. The next one waits for all of its bytes.
        for bytes in [1_538, 1_538, 84] {
            assert_eq!(leaves(10, bytes), Some(us(10)));
        }
        assert_eq!(leaves(10, 1_538), Some(us(12_314)));
        // An ACK waits for the packet before it, and then for 84 bytes: 672 us.
        assert_eq!(leaves(20, 84), Some(us(12_986)));
        // A second later the bucket is full, and no fuller than full.
        for bytes in [1_538, 1_538, 84] {
            assert_eq!(leaves(1_000_000, bytes), Some(us(1_000_000)));
        }
        assert_eq!(leaves(1_000_000, 84), Some(us(1_000_672)));
    }

    /// At 7 000 003 bit/s a cell of 53 bytes takes 1 530 760 486.8 ticks to fill. A cell leaves at
    /// the next whole tick, and what fills the bucket in the rest of that tick is there for the
    /// next one, unless the bucket is full.
    #[test]
    fn rates_that_do_not_divide_the_second_are_exact() {
        let rate = 7_000_003;
        let times = |burst| {
            let mut shaper = shaper(rate, burst, Format::AAL5);
            let mut leaves = move || shaper.leaves(Time::ZERO, 53).expect("soon").0;
            (0..100_000).map(|_| leaves()).collect::<Vec<u64>>()
        };
        let exact = |cells: u64| {
            let ticks = u128::from(cells) * 424 * 25_272_000_000_000;
            ticks.div_ceil(u128::from(rate)) as u64
        };
        let two = times(106);
        assert_eq!(two[..2], [0, 0]);
        assert!((1..100_000).all(|n| two[n] == exact(n as u64 - 1)));
        let one = times(53);
        assert!((0..100_000).all(|n| one[n] == n as u64 * exact(1)));
    }

    proptest! {
        /// In any interval, no more bytes leave than the bucket holds and gets in it.
        #[test]
        fn what_leaves_stays_below_the_envelope(
            rate in 1_000u64..1_000_000_000,
            burst in 1_538u64..30_000,
            frames in proptest::collection::vec((0u64..20_000_000_000, 84u64..=1_538), 1..60),
        ) {
            let mut shaper = shaper(rate, burst, Format::ETHERNET);
            let (unit, mut came, mut left) = (shaper.byte, 0, Vec::new());
            for (gap, bytes) in frames {
                came += gap;
                let leaves = shaper.leaves(Time(came), bytes).expect("soon");
                left.push((u128::from(leaves.0), u128::from(bytes)));
            }
            for (first, &(from, _)) in left.iter().enumerate() {
                let mut sum = 0;
                for &(to, bytes) in &left[first..] {
                    sum += bytes;
                    prop_assert!(sum * unit <= shaper.burst + u128::from(rate) * (to - from));
                }
            }
        }

        /// The bucket tick by tick, as the model page has it.
        #[test]
        fn frames_leave_as_the_bucket_says(
            rate in 1u64..40,
            burst in 1u64..60,
            frames in proptest::collection::vec((0u64..40, 1u64..60), 1..40),
        ) {
            // A byte of 10 units, of which a tick adds `rate`.
            let mut shaper = Shaper { byte: 10, burst: u128::from(burst) * 10, ..shaper(rate, burst, Format::AAL5) };
            let (mut level, mut tick, mut came) = (10 * burst, 0, 0);
            for (gap, bytes) in frames {
                let bytes = bytes.min(burst);
                came += gap;
                let leaves = shaper.leaves(Time(came), bytes).expect("soon").0;
                while tick < came || level < 10 * bytes {
                    tick += 1;
                    level = (level + rate).min(10 * burst);
                }
                level -= 10 * bytes;
                prop_assert_eq!(leaves, tick);
            }
        }
    }
}
