//! Queues that count bytes: engine and twin on random networks, and cases worked by hand.

use crate::common;
use crate::common::build::{self, us};
use crate::common::engines::{self, agrees};
use crate::common::formats::{in_ethernet, in_format, mtus};
use crate::common::random::{self, Case};
use crate::oracle_programs::{engines_agree_or_stop, with_program};
use crate::oracle_schedulers::{random_scheduler, with_schedulers};
use cellyard_engine::format::{Clock, Format};
use cellyard_engine::scenario::*;
use cellyard_engine::testing::DropReason;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// How cells become bytes: bytes of a cell, and whether a buffer is given as a time at this rate.
#[derive(Clone, Copy, Debug)]
pub struct InBytes {
    of_cell: u64,
    by_time: Option<BitRate>,
}

pub fn in_bytes() -> impl Strategy<Value = InBytes> {
    let of_cell = prop_oneof![Just(1u64), 20u64..200, 200u64..2_000, Just(1_518)];
    let rate = (1_000_000u64..1_000_000_000).prop_map(BitRate);
    (of_cell, proptest::option::weighted(0.3, rate))
        .prop_map(|(of_cell, by_time)| InBytes { of_cell, by_time })
}

impl InBytes {
    /// The case with every buffer and threshold in bytes, and buffers in time if so chosen.
    pub fn of(self, mut case: Case) -> Case {
        let clock = case.scenario.format.clock;
        let of_switches = case.scenario.switches.iter_mut().map(|s| &mut s.queues);
        let of_links = case.scenario.links.iter_mut().map(|l| &mut l.queues);
        for queue in of_switches.chain(of_links).flatten() {
            queue.buffer = queue.buffer.map(|size| self.buffer(size, clock));
            self.tell(&mut queue.drop);
        }
        case
    }

    fn size(self, size: Size) -> Size {
        let bytes = (size.stated() * self.of_cell).min(1_000_000_000);
        Size::Bytes { bytes }
    }

    fn buffer(self, size: Size, clock: Clock) -> Size {
        let bytes = self.size(size).stated();
        match self.by_time {
            None => Size::Bytes { bytes },
            Some(rate) => {
                let second = u128::from(clock.ticks_per_second);
                let ticks = u128::from(8 * bytes) * second / u128::from(rate.0);
                Size::Time {
                    time: Span(ticks as u64),
                }
            }
        }
    }

    fn threshold(self, threshold: &mut Threshold) {
        if let Threshold::Cells(cells) = *threshold {
            *threshold = Threshold::Bytes(self.size(Size::Cells(cells)).stated());
        }
    }

    /// Puts the lengths of a policy into bytes.
    fn tell(self, drop: &mut DropPolicy) {
        match drop {
            DropPolicy::Epd { threshold, reserve } => {
                threshold.iter_mut().for_each(|t| self.threshold(t));
                reserve.iter_mut().for_each(|r| self.threshold(r));
                reserve.get_or_insert(Threshold::Fraction(Ratio::new(1, 10)));
            }
            DropPolicy::SelectiveDrop { r, .. } => self.threshold(r),
            DropPolicy::Fba { r, k_fba, .. } => {
                self.threshold(r);
                *k_fba = k_fba.map(|size| self.size(size));
            }
            DropPolicy::AtmRed(red) | DropPolicy::CellRed(red) | DropPolicy::PacketRed(red) => {
                self.threshold(&mut red.min_th);
                self.threshold(&mut red.max_th);
            }
            DropPolicy::Program(program) => {
                let mut written = serde_json::to_value(&*program).expect("it can be written");
                for value in written.as_object_mut().expect("a table").values_mut() {
                    if let Some(cells) = value.get("cells").and_then(Json::as_u64) {
                        *value = json!({ "bytes": self.size(Size::Cells(cells)).stated() });
                    }
                }
                *program = serde_json::from_value(written).expect("it can be read");
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(common::config(500))]

    /// With packets of one length and of many.
    #[test]
    fn engine_and_twin_agree_on_queues_of_bytes_in_ethernet(
        case in random::cases(2_000),
        mtu in mtus(),
        equal in any::<bool>(),
        bytes in in_bytes(),
    ) {
        agrees(&bytes.of(in_ethernet(case, mtu, equal)))?;
    }

    #[test]
    fn engine_and_twin_agree_on_programs_that_know_lengths(
        case in random::cases(1_500),
        mtu in mtus(),
        equal in any::<bool>(),
        bytes in in_bytes(),
        seeds in any::<[u64; 2]>(),
    ) {
        let mut case = in_ethernet(case, mtu, equal);
        if let Some(scheduler) = random_scheduler(seeds[0]) {
            case = with_schedulers(case, |_| scheduler.clone());
        }
        if let Some(case) = with_program(case, seeds[1]) {
            engines_agree_or_stop(&bytes.of(case))?;
        }
    }

    #[test]
    fn engine_and_twin_agree_on_queues_of_bytes_of_equal_cells(
        case in random::cases(2_000),
        cell in 32u64..1_600,
        bytes in in_bytes(),
    ) {
        agrees(&bytes.of(in_format(case, Format::cells(cell, 32, 0))))?;
    }
}

/// A packet by its bytes on the line, and when it reaches the queue, in byte times after the first.
type Packet = (u64, u64);

/// The numbers of packets that are delivered, the drops by reason, and the most bytes that waited.
type Outcome = (Vec<usize>, [(DropReason, u64); 2], u64);

/// What becomes of packets that meet at a port of 1 Gb/s with `buffer` bytes, in each engine.
fn meet(packets: &[Packet], buffer: u64, drop: &DropPolicy) -> Vec<Outcome> {
    let format = Format::ETHERNET;
    let rate = BitRate(1_000_000_000);
    let byte = format.time_of(1, rate);
    // 38 bytes of Ethernet, and 28 of IP and UDP. Each source sends once before the end.
    let traffic = |source: usize| build::datagrams(packets[source].0 - 66, BitRate(1_000_000));
    let duration = byte * 20_000;
    let mut net = build::dumbbell(packets.len(), us(1), duration, None, drop.clone(), traffic);
    net.format = format;
    for link in &mut net.links {
        link.rate = rate;
    }
    for (vc, &(bytes, at)) in net.vcs.iter_mut().zip(packets) {
        vc.start = byte * (2_000 + at - bytes);
    }
    for queue in &mut net.switches[0].queues {
        queue.buffer = Some(Size::Bytes { bytes: buffer });
    }
    let middle = build::index_of(&net, "s", "t");
    let found = engines::ALL.iter().map(|(_, run)| {
        let tally = run(&net, None);
        let port = tally.ports[middle].as_ref().expect("it can queue");
        let came = (0..packets.len()).filter(|&vc| tally.vcs[vc].delay.count > 0);
        let of = |reason| (reason, port.dropped()[reason]);
        (
            came.collect(),
            [of(DropReason::Full), of(DropReason::Front)],
            port.max_places,
        )
    });
    found.collect()
}

fn all_are(found: &[Outcome], came: &[usize], [full, front]: [u64; 2], most: u64) {
    let reasons = [(DropReason::Full, full), (DropReason::Front, front)];
    for one in found {
        assert_eq!(*one, (came.to_vec(), reasons, most));
    }
}

/// The first packet finds the port idle. Of 1600 bytes, the second takes 1518, so that the third
/// does not fit. A short packet behind it does, with 64, and the next one does not.
#[test]
fn a_short_packet_comes_in_behind_a_long_one_that_did_not() {
    let packets = [(1_538, 0), (1_538, 10), (1_538, 20), (84, 30), (84, 40)];
    let found = meet(&packets, 1_600, &DropPolicy::TailDrop);
    all_are(&found, &[0, 1, 3], [2, 0], 1_582);
}

/// A packet longer than the buffer passes an idle port, and never waits.
#[test]
fn a_packet_longer_than_the_buffer_needs_an_idle_port() {
    let packets = [(1_538, 0), (1_538, 10), (84, 20), (1_538, 30), (84, 40)];
    let found = meet(&packets, 1_000, &DropPolicy::TailDrop);
    all_are(&found, &[0, 2, 4], [2, 0], 128);
    // Nothing is pushed out for it.
    let found = meet(&packets, 1_000, &DropPolicy::DropFromFront);
    all_are(&found, &[0, 2, 4], [2, 0], 128);
}

/// Three packets of 64 places wait of 200. One of 150 pushes out all three, as 200 - 150 has no room
/// for one. With 220, two of them leave room.
#[test]
fn pushing_out_goes_on_until_the_packet_fits() {
    let packets = [(1_538, 0), (84, 10), (84, 20), (84, 30), (170, 40)];
    for drop in [DropPolicy::DropFromFront, DropPolicy::FrameDropFromFront] {
        all_are(&meet(&packets, 200, &drop), &[0, 4], [0, 3], 192);
        all_are(&meet(&packets, 220, &drop), &[0, 3, 4], [0, 2], 214);
    }
}
