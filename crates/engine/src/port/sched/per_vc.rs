//! Per-VC scheduling within one class: guaranteed rates first, the rest by weight, in turns of one cell or one frame.
//!
//! In each cell slot of the port, those of other classes included, every VC i with cells waiting gains g_i of credit (g_i = its
//! guaranteed rate / link rate); a VC without cells has none, and pays its debt if it has one. So a VC that other classes kept waiting catches up before the rest.
//! When the class goes, the VC with the most credit, if that is at least 1, goes and pays 1.
//! Otherwise start-time fair queueing decides: VC i has a start tag S_i, raised by 1 / w_i per cell served; when it becomes
//! busy again, S_i := max(S_i, v); the smallest S_i goes, and v is the tag of the VC that went. Equal tags or credits: smallest VC index.
//! With `unit = frame`, the VC that was picked keeps the slots of the class until its EOM has left or it has no cell waiting: frames
//! are not interleaved, and a VC gets its share of frames of mixed sizes. All cells of a frame are paid in the same way: from the
//! credit, which may become negative, or by the tag.
//! Sources: `guaranteed-rate`, sections 1 and 3 (per-VC guarantees and per-frame scheduling, announced there as future work);
//! Goyal, Vin and Cheng, "Start-time fair queuing", IEEE/ACM ToN 5(5), 1997.

use crate::scenario::ProcessingUnit;
use crate::units::BitRate;

/// Tag of one cell at weight 1.
const TAG_UNIT: u64 = 1 << 32;

#[derive(Clone, Debug, PartialEq)]
struct VcState {
    /// TAG_UNIT / weight; 0 for a VC that does not cross this port.
    cost: u64,
    tag: u64,
    /// Guaranteed rate, bits per second.
    guarantee: u64,
    /// In units of 1 / link rate slots; below 0 while a frame is paid in advance.
    credit: i128,
    waiting: u64,
}

/// Per-VC scheduling of one class at one port.
#[derive(Clone, Debug, PartialEq)]
pub struct PerVc {
    class: usize,
    unit: ProcessingUnit,
    rate: u64,
    virtual_time: u64,
    /// The VC whose frame is being sent, and whether its credit pays for it.
    current: Option<(usize, bool)>,
    /// Slots of the port up to which credit is up to date.
    slots: u64,
    vcs: Vec<VcState>,
}

impl PerVc {
    /// For the class with index `class` at a port of `rate`; `vcs` as in [`super::Scheduler::new`].
    pub fn new(
        class: usize,
        unit: ProcessingUnit,
        rate: BitRate,
        vcs: &[(u64, Option<BitRate>)],
    ) -> PerVc {
        let vcs = vcs
            .iter()
            .map(|&(weight, guarantee)| VcState {
                cost: TAG_UNIT.checked_div(weight).unwrap_or(0),
                tag: 0,
                guarantee: guarantee.map_or(0, |g| g.0),
                credit: 0,
                waiting: 0,
            })
            .collect();
        PerVc {
            class,
            unit,
            rate: rate.0,
            virtual_time: 0,
            current: None,
            slots: 0,
            vcs,
        }
    }

    /// Gives credit for the slots of the port up to its `slots`-th to all VCs that have been waiting; one that was not can
    /// only pay its debt.
    fn credit_until(&mut self, slots: u64) {
        let passed = i128::from(slots - self.slots);
        self.slots = slots;
        for v in &mut self.vcs {
            let credit = v.credit + passed * i128::from(v.guarantee);
            v.credit = if v.waiting > 0 { credit } else { credit.min(0) };
        }
    }

    /// Index of the class.
    pub fn class(&self) -> usize {
        self.class
    }

    /// A cell of `vc` (a VC direction index) joined the queue, when the port had begun to send `sent` cells.
    pub fn on_arrival(&mut self, vc: usize, sent: u64) {
        if self.vcs[vc].waiting == 0 && self.vcs[vc].guarantee > 0 {
            self.credit_until(sent);
        }
        let v = &mut self.vcs[vc];
        if v.waiting == 0 {
            v.tag = v.tag.max(self.virtual_time);
        }
        v.waiting += 1;
    }

    /// The VC whose oldest cell goes in this slot, after `sent` slots of the port. Something must be waiting.
    pub fn pick(&mut self, sent: u64) -> usize {
        let rate = i128::from(self.rate);
        self.credit_until(sent + 1);
        if let Some((vc, by_credit)) = self.current {
            return self.serve(vc, by_credit);
        }
        let mut rich: Option<usize> = None;
        let mut next: Option<usize> = None;
        for (i, v) in self.vcs.iter().enumerate().filter(|(_, v)| v.waiting > 0) {
            if v.credit >= rate && rich.is_none_or(|r| v.credit > self.vcs[r].credit) {
                rich = Some(i);
            }
            if next.is_none_or(|n| v.tag < self.vcs[n].tag) {
                next = Some(i);
            }
        }
        if let Some(vc) = rich {
            return self.serve(vc, true);
        }
        let vc = next.expect("pick is called only when something waits");
        self.virtual_time = self.vcs[vc].tag;
        self.serve(vc, false)
    }

    fn serve(&mut self, vc: usize, by_credit: bool) -> usize {
        self.current = Some((vc, by_credit));
        let v = &mut self.vcs[vc];
        if by_credit {
            v.credit -= i128::from(self.rate);
        } else {
            v.tag += v.cost;
        }
        v.waiting -= 1;
        if v.waiting == 0 {
            v.credit = v.credit.min(0);
        }
        vc
    }

    /// The cell that [`PerVc::pick`] chose has been taken; `eom` tells whether it ends a frame.
    pub fn taken(&mut self, vc: usize, eom: bool) {
        let goes_on = self.unit == ProcessingUnit::Frame && !eom && self.vcs[vc].waiting > 0;
        self.current = self.current.filter(|_| goes_on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATE: BitRate = BitRate(1_000_000);

    /// Serves `slots` slots of the class, each after `others` slots of other classes; what has gone comes again.
    fn served(s: &mut PerVc, slots: u64, others: u64, frame: u64) -> Vec<u64> {
        let mut counts = vec![0u64; s.vcs.len()];
        let before = s.slots;
        for slot in 1..=slots {
            let sent = before + slot * (others + 1);
            let vc = s.pick(sent - 1);
            counts[vc] += 1;
            s.on_arrival(vc, sent);
            s.taken(vc, counts[vc].is_multiple_of(frame));
        }
        counts
    }

    fn wait(s: &mut PerVc, vc: usize, cells: usize) {
        let sent = s.slots;
        (0..cells).for_each(|_| s.on_arrival(vc, sent));
    }

    fn backlogged(unit: ProcessingUnit, vcs: &[(u64, Option<BitRate>)]) -> PerVc {
        let mut s = PerVc::new(4, unit, RATE, vcs);
        for vc in 0..vcs.len() {
            wait(&mut s, vc, 100);
        }
        s
    }

    /// So many thousandths of the link.
    fn part(thousandths: u64) -> Option<BitRate> {
        (thousandths > 0).then_some(BitRate(RATE.0 * thousandths / 1000))
    }

    proptest! {
        // Over any N slots of the port each backlogged VC gets its guarantee and its share of the rest, within a
        // frame by credit, and a frame per VC and weight by tags: neither less nor more.
        #[test]
        fn backlogged_vcs_get_guarantee_and_weighted_rest(
            vcs in proptest::collection::vec((1u64..5, 0u64..150), 2..6),
            slots in 100u64..4000,
            others in 0u64..2,
            frame in prop_oneof![Just(1u64), 2u64..40],
        ) {
            let unit = if frame == 1 { ProcessingUnit::Cell } else { ProcessingUnit::Frame };
            let of: Vec<_> = vcs.iter().map(|&(w, g)| (w, part(g / (others + 1)))).collect();
            let mut s = backlogged(unit, &of);
            let counts = served(&mut s, slots, others, frame);
            let all = (slots * (others + 1)) as f64;
            let guaranteed: Vec<f64> = of.iter().map(|v| v.1.map_or(0.0, |g| g.0 as f64 / RATE.0 as f64 * all)).collect();
            let rest = slots as f64 - guaranteed.iter().sum::<f64>();
            let weights: u64 = vcs.iter().map(|v| v.0).sum();
            for (i, &count) in counts.iter().enumerate() {
                let fair = guaranteed[i] + rest * vcs[i].0 as f64 / weights as f64;
                let bound = frame as f64 * (2.0 + (vcs[i].0 * vcs.len() as u64) as f64);
                prop_assert!((count as f64 - fair).abs() <= bound, "{i}: {count}, not {fair} of {counts:?}");
            }
        }

        #[test]
        fn guarantees_hold_whatever_the_weights(share in 1u64..60, slots in 50u64..2000, frame in 1u64..40) {
            let unit = if frame == 1 { ProcessingUnit::Cell } else { ProcessingUnit::Frame };
            let mut s = backlogged(unit, &[(1, part(10 * share)), (1000, None), (1000, part(300))]);
            let counts = served(&mut s, slots, 0, frame);
            // Two others may each be in the middle of a frame.
            prop_assert!(counts[0] + 2 * frame + 1 >= slots * share / 100);
            prop_assert!(counts[2] + 2 * frame + 1 >= slots * 30 / 100);
        }
    }

    #[test]
    fn a_vc_gains_nothing_while_it_has_no_cells() {
        let mut s = PerVc::new(4, ProcessingUnit::Cell, RATE, &[(1, part(500)), (1, None)]);
        wait(&mut s, 1, 100);
        assert_eq!(served(&mut s, 1000, 0, 1), [0, 1000]);
        wait(&mut s, 0, 100);
        // Half by credit, half of the rest by a tag that is not behind.
        let counts = served(&mut s, 20, 0, 1);
        assert!((14..=16).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn a_vc_that_runs_empty_loses_its_credit() {
        let mut s = PerVc::new(4, ProcessingUnit::Cell, RATE, &[(1, part(500)), (1, None)]);
        wait(&mut s, 1, 100);
        wait(&mut s, 0, 1);
        // It has waited for 40 slots of others, and has one cell.
        assert_eq!(s.pick(40), 0);
        s.taken(0, true);
        assert_eq!(s.vcs[0].credit, 0);
        wait(&mut s, 0, 100);
        let counts = served(&mut s, 20, 0, 1);
        assert!((14..=16).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn a_vc_kept_waiting_by_other_classes_catches_up() {
        let mut s = backlogged(ProcessingUnit::Cell, &[(1, part(100)), (1, None)]);
        assert_eq!(s.pick(99), 0);
        s.on_arrival(0, 100);
        s.taken(0, true);
        // 10 credits from 100 slots, one of them paid.
        assert_eq!(served(&mut s, 9, 0, 1), [9, 0]);
    }

    #[test]
    fn frames_of_mixed_sizes_share_cells_evenly_and_stay_together() {
        let mut s = backlogged(ProcessingUnit::Frame, &[(1, None), (1, None)]);
        // VC 0 sends frames of 4 cells, VC 1 of 12.
        let (mut order, mut sent) = (Vec::new(), [0usize; 2]);
        for slot in 0..960 {
            let vc = s.pick(slot);
            s.on_arrival(vc, slot + 1);
            sent[vc] += 1;
            order.push(vc);
            let frame = if vc == 0 { 4 } else { 12 };
            s.taken(vc, sent[vc].is_multiple_of(frame));
        }
        assert!(sent[0].abs_diff(sent[1]) <= 12, "{sent:?}");
        // No run of VC 1 is shorter than its frame, but for the last one.
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
}
