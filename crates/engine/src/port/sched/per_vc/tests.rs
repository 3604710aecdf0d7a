use super::plain::Plain;
use super::*;
use crate::ground::units::Time;
use crate::network::tally::CLASSES;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const RATE: BitRate = BitRate(1_000_000);

/// A port with one class, whose frames all have `frame` cells.
struct Port {
    scheduler: PerVc,
    frame: u64,
    /// Cells sent, including those of other classes, and cells sent by VC.
    sent: u64,
    of_vc: Vec<u64>,
}

/// Cells of each VC that go in one turn of a frame, whether they end the frame, and the bytes of the
/// first.
struct Fronts(Vec<(u64, bool, u64)>);

impl Queues for Fronts {
    fn oldest(&self, _: usize) -> u64 {
        unreachable!("it does not look at queues")
    }

    fn front(&self, _: usize, vc: usize) -> (u64, bool) {
        (self.0[vc].0, self.0[vc].1)
    }

    fn bytes(&self, _: usize, vc: usize) -> u64 {
        self.0[vc].2
    }
}

/// Bytes of cell `number` of `vc`: from 84 to 1538, in no order.
fn bytes_of(vc: usize, number: u64) -> u64 {
    84 + (vc as u64 * 7_919 + number * 104_729) % 1_455
}

impl Port {
    fn new(unit: TurnUnit, shares: &[FlowShare]) -> Port {
        Port {
            scheduler: PerVc::new(Class::Ubr, unit, RATE, shares),
            frame: 1,
            sent: 0,
            of_vc: vec![0; shares.len()],
        }
    }

    /// A port where every VC has cells.
    fn backlogged(unit: TurnUnit, shares: &[FlowShare]) -> Port {
        let mut port = Port::new(unit, shares);
        (0..shares.len()).for_each(|vc| port.arrive(vc, 100));
        port
    }

    fn arrive(&mut self, vc: usize, cells: u64) {
        self.scheduler.on_arrival(vc, cells, self.sent);
    }

    /// Serves one slot of the class and returns the VC.
    fn serve(&mut self) -> usize {
        let vc = self.scheduler.pick(self.sent);
        self.take(vc, 1);
        vc
    }

    fn take(&mut self, vc: usize, n: u64) {
        self.sent += n;
        self.of_vc[vc] += n;
        let eom = self.of_vc[vc].is_multiple_of(self.frame);
        self.scheduler.taken(n, n, eom, self.sent);
    }

    /// Turns in the next slots of the class, at most `most`; they count as given.
    fn give(&mut self, most: u64) -> Vec<Turn> {
        let mut waiting = [0; CLASSES];
        waiting[self.scheduler.class] = self.scheduler.waiting.iter().sum();
        let front = |(vc, (sent, waiting)): (usize, (&u64, &u64))| {
            let of_frame = self.frame - sent % self.frame;
            let bytes = bytes_of(vc, *sent);
            (of_frame.min(*waiting), of_frame <= *waiting, bytes)
        };
        let fronts = self.of_vc.iter().zip(&self.scheduler.waiting);
        let fronts = fronts.enumerate().map(front);
        let slots = Slots {
            now: Time::ZERO,
            sent: self.sent,
            most,
            kept: 0,
            waiting: &waiting,
            queues: &Fronts(fronts.collect()),
        };
        let mut turns = Vec::new();
        match self.scheduler.give(&slots, &mut turns).expect("cells wait") {
            Pattern::Turn(turn) => vec![turn],
            Pattern::Rounds(rounds) => (0..rounds).flat_map(|_| turns.clone()).collect(),
        }
    }

    /// Cells per VC in `slots` slots of the class, each after `others` slots of other classes. Each
    /// served cell is replaced by a new one.
    fn served(&mut self, slots: u64, others: u64) -> Vec<u64> {
        let before = self.of_vc.clone();
        for _ in 0..slots {
            self.sent += others;
            let vc = self.scheduler.pick(self.sent);
            self.scheduler.on_arrival(vc, 1, self.sent);
            self.take(vc, 1);
        }
        let counts = self.of_vc.iter().zip(before);
        counts.map(|(after, before)| after - before).collect()
    }
}

/// A share with `thousandths` of the link guaranteed.
fn share(weight: u64, thousandths: u64) -> FlowShare {
    let rate = BitRate(RATE.0 * thousandths / 1000);
    FlowShare {
        class: Class::Ubr,
        weight,
        guarantee: (thousandths > 0).then_some(rate),
        sends: true,
    }
}

fn unit_of(frame: u64) -> TurnUnit {
    if frame == 1 {
        TurnUnit::Cell
    } else {
        TurnUnit::Frame
    }
}

/// Next event: cells of a VC arrive, or slots go to other classes or to this one.
#[derive(Clone, Debug)]
enum Event {
    Arrive(usize, u64),
    Others(u64),
    Serve(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (0usize..24, prop_oneof![1u64..4, 1u64..60]).prop_map(|(vc, n)| Event::Arrive(vc, n)),
        1 => prop_oneof![1u64..10, 1u64..5000].prop_map(Event::Others),
        3 => prop_oneof![1u64..6, 1u64..120].prop_map(Event::Serve),
    ];
    vec(event, 1..150)
}

fn shares() -> impl Strategy<Value = Vec<FlowShare>> {
    let small = prop_oneof![3 => Just(1u64), 3 => 1u64..6, 1 => 1u64..=64].boxed();
    // All that have no prime factor above 5 together have a common multiple.
    let large = |w: &u64| {
        [2, 3, 5].iter().fold(*w, |w, p| {
            (0..19).fold(w, |w, _| if w % p == 0 { w / p } else { w })
        }) == 1
    };
    let large: Vec<u64> = (1..=1_000_000).filter(large).collect();
    let weight = prop_oneof![Just(small), Just(select(large).boxed())];
    let part =
        prop_oneof![3 => Just(0u64), 1 => Just(100), 1 => Just(250), 2 => 1u64..400, 1 => 1u64..4];
    weight.prop_flat_map(move |weight| {
        vec((weight, part.clone()).prop_map(|(w, g)| share(w, g)), 1..24)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    // Each slot goes to the VC that a look at all VCs finds. This includes many cells of a frame
    // taken at once, and tags lowered on the way.
    #[test]
    fn each_slot_goes_to_the_vc_that_the_model_names(
        mut shares in shares(), events in events(), frame in prop_oneof![Just(1u64), 2u64..40], most in 1u64..40,
        unit in select(vec![TurnUnit::Cell, TurnUnit::Frame, TurnUnit::Byte]), before_lowering in 0u64..100,
    ) {
        let frame = if unit == TurnUnit::Byte { 1 } else { frame };
        if unit == TurnUnit::Byte {
            shares.iter_mut().for_each(|share| share.guarantee = None);
        }
        let mut plain = Plain::new(unit, RATE, &shares);
        let mut port = Port::new(unit, &shares);
        port.frame = frame;
        port.scheduler.tags.set_before_lowering(before_lowering);
        let mut total = 0;
        for event in events {
            match event {
                Event::Arrive(vc, n) => {
                    let vc = vc % shares.len();
                    (0..n).for_each(|_| plain.on_arrival(vc, port.sent));
                    port.arrive(vc, n);
                    total += n;
                }
                Event::Others(slots) => port.sent += slots,
                Event::Serve(slots) => {
                    let mut left = slots.min(total);
                    total -= left;
                    while left > 0 {
                        for turn in port.give(left.min(most)) {
                            for i in 0..turn.slots {
                                let expected = plain.serve(port.sent, |vc| {
                                    let ends = (port.of_vc[vc] + 1).is_multiple_of(frame);
                                    (ends, bytes_of(vc, port.of_vc[vc]))
                                });
                                prop_assert_eq!(turn.vc, expected, "cell {} of {:?}", i, turn);
                                port.sent += 1;
                                port.of_vc[turn.vc] += 1;
                                left -= 1;
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_vc_whose_cells_have_not_arrived_gets_no_turn_when_tags_are_lowered() {
    let mut port = Port::new(TurnUnit::Cell, &[share(1, 0), share(1, 0)]);
    port.scheduler.tags.set_before_lowering(0);
    port.arrive(1, 3);
    assert!(port.scheduler.expect(0, 1));
    assert_eq!([port.serve(), port.serve()], [1, 1]);
    port.scheduler.resume(0, port.sent);
    assert_eq!([port.serve(), port.serve()], [0, 1]);
}

proptest! {
    // Over any N slots of the port, each backlogged VC gets its guarantee and its share of the
    // rest. The tolerance is a frame by credit, plus a frame per VC and weight by tags.
    #[test]
    fn backlogged_vcs_get_guarantee_and_weighted_rest(
        vcs in vec((1u64..5, 0u64..150), 2..6),
        slots in 100u64..4000,
        others in 0u64..2,
        frame in prop_oneof![Just(1u64), 2u64..40],
    ) {
        let of: Vec<_> = vcs.iter().map(|&(w, g)| share(w, g / (others + 1))).collect();
        let mut port = Port::backlogged(unit_of(frame), &of);
        port.frame = frame;
        let counts = port.served(slots, others);
        let all = (slots * (others + 1)) as f64;
        let guarantee = |s: &FlowShare| s.guarantee.map_or(0.0, |g| g.0 as f64 / RATE.0 as f64 * all);
        let guaranteed: Vec<f64> = of.iter().map(guarantee).collect();
        let rest = slots as f64 - guaranteed.iter().sum::<f64>();
        let weights: u64 = vcs.iter().map(|v| v.0).sum();
        for (i, &count) in counts.iter().enumerate() {
            let fair = guaranteed[i] + rest * vcs[i].0 as f64 / weights as f64;
            let bound = frame as f64 * (2.0 + (vcs[i].0 * vcs.len() as u64) as f64);
            prop_assert!((count as f64 - fair).abs() <= bound, "{i}: {count}, not {fair} of {counts:?}");
        }
    }

    #[test]
    fn guarantees_hold_with_any_weights(part in 1u64..60, slots in 50u64..2000, frame in 1u64..40) {
        let mut port = Port::backlogged(unit_of(frame), &[share(1, 10 * part), share(1000, 0), share(1000, 300)]);
        port.frame = frame;
        let counts = port.served(slots, 0);
        // Two other VCs may each be in the middle of a frame.
        prop_assert!(counts[0] + 2 * frame + 1 >= slots * part / 100);
        prop_assert!(counts[2] + 2 * frame + 1 >= slots * 30 / 100);
    }
}

#[test]
fn a_vc_gains_nothing_while_it_has_no_cells() {
    let mut port = Port::new(TurnUnit::Cell, &[share(1, 500), share(1, 0)]);
    port.arrive(1, 100);
    assert_eq!(port.served(1000, 0), [0, 1000]);
    port.arrive(0, 100);
    // Half by credit, and half of the rest by a tag that has not fallen behind.
    let counts = port.served(20, 0);
    assert!((14..=16).contains(&counts[0]), "{counts:?}");
}

#[test]
fn a_vc_that_runs_empty_loses_its_credit() {
    let mut port = Port::new(TurnUnit::Cell, &[share(1, 500), share(1, 0)]);
    port.arrive(1, 100);
    port.arrive(0, 1);
    // VC 0 waits for 40 slots of other classes with one cell.
    port.sent += 40;
    assert_eq!(port.serve(), 0);
    port.arrive(0, 100);
    // With the 19 credits it had left, it would get all slots.
    let counts = port.served(20, 0);
    assert!((14..=16).contains(&counts[0]), "{counts:?}");
}

#[test]
fn a_vc_kept_waiting_by_other_classes_catches_up() {
    let mut port = Port::backlogged(TurnUnit::Cell, &[share(1, 100), share(1, 0)]);
    port.sent += 99;
    // 100 slots bring 10 credits.
    assert_eq!(port.served(10, 0), [10, 0]);
}

#[test]
fn the_first_of_equals_goes() {
    let equal = [share(1, 0), share(1, 300), share(1, 300), share(1, 0)];
    let mut port = Port::new(TurnUnit::Cell, &equal);
    (0..4).rev().for_each(|vc| port.arrive(vc, 10));
    let order: Vec<usize> = (0..6).map(|_| port.serve()).collect();
    // Tags decide until slot 4 brings the credits to 1.2 each.
    assert_eq!(order, [0, 1, 2, 1, 2, 3]);
}

// By hand from section 6 of the model page, in sixtieths of a cell at weight 1: start tags are exact, and
// among equal ones the first VC goes.
#[test]
fn equal_tags_of_different_weights_are_ties() {
    let order = |weights: &[u64], slots: usize| {
        let shares: Vec<_> = weights.iter().map(|&weight| share(weight, 0)).collect();
        let mut port = Port::backlogged(TurnUnit::Cell, &shares);
        (0..slots).map(|_| port.serve()).collect::<Vec<_>>()
    };
    // Tags of the first VC: 0 60 120; of the second: 0 20 40 60 80 100 120.
    assert_eq!(order(&[1, 3], 9), [0, 1, 1, 1, 0, 1, 1, 1, 0]);
    assert_eq!(order(&[7, 21], 9), [0, 1, 1, 1, 0, 1, 1, 1, 0]);
    // 0 20 40 60, and 0 60.
    assert_eq!(order(&[3, 1], 6), [0, 1, 0, 0, 0, 1]);
    // 0 30 60, and 0 20 40 60.
    assert_eq!(order(&[2, 3], 7), [0, 1, 1, 0, 1, 0, 1]);
    // 0 12 24 36 48 60, then 0 20 40 60, then 0 15 30 45 60.
    assert_eq!(
        order(&[5, 3, 4], 15),
        [0, 1, 2, 0, 2, 1, 0, 2, 0, 1, 2, 0, 0, 1, 2]
    );
}

/// Packets of `lengths` by VC, each in turn, at a port of these weights that never becomes idle: the
/// VCs that go, in order.
fn order_by_bytes(weights: &[u64], lengths: &[u64], packets: usize) -> Vec<usize> {
    let shares: Vec<_> = weights.iter().map(|&weight| share(weight, 0)).collect();
    let mut port = Port::backlogged(TurnUnit::Byte, &shares);
    let serve = |_| {
        let vc = port.scheduler.pick(port.sent);
        port.sent += 1;
        port.scheduler.taken(1, lengths[vc], true, port.sent);
        vc
    };
    (0..packets).map(serve).collect()
}

// By hand from section 6 of the model page.
#[test]
fn start_tags_rise_by_bytes_over_weight() {
    // Tags of the first VC: 0 1500; of the second: 0 500 1000 1500 2000.
    assert_eq!(
        order_by_bytes(&[1, 1], &[1_500, 500], 8),
        [0, 1, 1, 1, 0, 1, 1, 1]
    );
    // 0 1500 3000, and 0 250 500 and so on: six for each of the first.
    assert_eq!(
        order_by_bytes(&[1, 2], &[1_500, 500], 9),
        [0, 1, 1, 1, 1, 1, 1, 0, 1]
    );
    // 0 300 600, and 0 400 800.
    assert_eq!(order_by_bytes(&[1, 3], &[300, 1_200], 5), [0, 1, 0, 1, 0]);
}

proptest! {
    // Goyal, Vin and Cheng, theorem 1: while two VCs have packets, their bytes by weight differ by
    // at most a longest packet of each, by weight.
    #[test]
    fn unfairness_in_bytes_is_bounded(
        weights in vec(1u64..7, 2..6), packets in 1usize..300, begin in 0usize..100,
    ) {
        let shares: Vec<_> = weights.iter().map(|&weight| share(weight, 0)).collect();
        let mut port = Port::backlogged(TurnUnit::Byte, &shares);
        let mut sent = vec![0u64; weights.len()];
        for packet in 0..begin + packets {
            if packet == begin {
                sent.fill(0);
            }
            let vc = port.scheduler.pick(port.sent);
            let bytes = bytes_of(vc, port.of_vc[vc]);
            port.scheduler.on_arrival(vc, 1, port.sent);
            port.sent += 1;
            port.of_vc[vc] += 1;
            port.scheduler.taken(1, bytes, true, port.sent);
            sent[vc] += bytes;
            let by_weight = |vc: usize| sent[vc] as f64 / weights[vc] as f64;
            for (i, j) in (0..weights.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let bound = 1_538.0 / weights[i] as f64 + 1_538.0 / weights[j] as f64;
                prop_assert!((by_weight(i) - by_weight(j)).abs() <= bound + 1e-6);
            }
        }
    }
}

#[test]
fn all_weights_up_to_64_end_their_rounds_together() {
    let weights: Vec<u64> = (1..=64).collect();
    let shares: Vec<_> = weights.iter().map(|&weight| share(weight, 0)).collect();
    let mut port = Port::backlogged(TurnUnit::Cell, &shares);
    for round in 1..=50 {
        let counts = port.served(weights.iter().sum(), 0);
        assert_eq!(counts, weights, "in round {round}");
    }
}

#[test]
fn frames_of_mixed_sizes_share_cells_evenly_and_stay_together() {
    let mut port = Port::backlogged(TurnUnit::Frame, &[share(1, 0), share(1, 0)]);
    let mut order = Vec::new();
    for _ in 0..960 {
        // VC 0 sends frames of 4 cells, VC 1 of 12.
        let vc = port.scheduler.pick(port.sent);
        port.frame = if vc == 0 { 4 } else { 12 };
        port.arrive(vc, 1);
        port.take(vc, 1);
        order.push(vc);
    }
    assert!(
        port.of_vc[0].abs_diff(port.of_vc[1]) <= 12,
        "{:?}",
        port.of_vc
    );
    // Each run of VC 1 but the last is made of whole frames.
    let runs: Vec<usize> = order
        .chunk_by(|a, b| a == b)
        .filter(|r| r[0] == 1)
        .map(<[usize]>::len)
        .collect();
    assert!(
        runs[..runs.len() - 1].iter().all(|r| r % 12 == 0),
        "{runs:?}"
    );
}

// Tags that are never lowered could not count this many cells of each VC.
#[test]
fn vcs_share_evenly_however_many_cells_have_gone() {
    const MANY: u64 = 1 << 29;
    let mut port = Port::new(TurnUnit::Frame, &[share(1, 0), share(1, 0), share(1, 0)]);
    port.arrive(0, 20 * MANY);
    port.arrive(1, 20 * MANY);
    for turn in 0..20 {
        // Long frames, alternating between the VCs.
        for vc in [0, 1] {
            assert_eq!(port.scheduler.pick(port.sent), vc);
            port.take(vc, MANY);
        }
        port.arrive(0, 1000);
        port.arrive(1, 1000);
        assert_eq!(port.served(1000, 0), [500, 500, 0], "after {turn} turns");
    }
    // VC 2 has been absent, and still gets no more than its share.
    port.arrive(2, 1000);
    assert_eq!(port.served(1000, 0), [333, 333, 334]);
}
