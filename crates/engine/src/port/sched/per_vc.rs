//! Per-VC scheduling within one class: guaranteed rates first, the rest by weight, in turns of one cell or one frame.
//!
//! At each slot of the class, every VC i with cells waiting gains g_i of credit (g_i = its guaranteed rate
//! / link rate), and a VC without loses its credit. The VC with the most credit, if that is at least 1, goes and pays 1.
//! Otherwise start-time fair queueing decides: VC i has a start tag S_i, raised by 1 / w_i per cell served; when it becomes
//! busy again, S_i := max(S_i, v); the smallest S_i goes, and v is the tag of the VC that went. Equal tags or credits: smallest VC index.
//! With `unit = frame`, the VC that was picked keeps the slots until its EOM has left or it has no cell waiting: frames are not
//! interleaved, and a VC gets its share of frames of mixed sizes.
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
    /// In units of 1 / link rate slots.
    credit: u64,
    waiting: u64,
}

/// Per-VC scheduling of one class at one port.
#[derive(Clone, Debug, PartialEq)]
pub struct PerVc {
    class: usize,
    unit: ProcessingUnit,
    rate: u64,
    virtual_time: u64,
    /// The VC whose frame is being sent.
    current: Option<usize>,
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
            vcs,
        }
    }

    /// Index of the class.
    pub fn class(&self) -> usize {
        self.class
    }

    /// A cell of `vc` (a VC direction index) joined the queue.
    pub fn on_arrival(&mut self, vc: usize) {
        let v = &mut self.vcs[vc];
        if v.waiting == 0 {
            v.tag = v.tag.max(self.virtual_time);
        }
        v.waiting += 1;
    }

    /// The VC whose oldest cell goes in this slot. Something must be waiting.
    pub fn pick(&mut self) -> usize {
        let rate = self.rate;
        for v in &mut self.vcs {
            v.credit = if v.waiting == 0 {
                0
            } else {
                v.credit + v.guarantee
            };
        }
        if let Some(vc) = self.current {
            return self.serve(vc);
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
        let vc = match rich {
            Some(vc) => vc,
            None => {
                let vc = next.expect("pick is called only when something waits");
                self.virtual_time = self.vcs[vc].tag;
                vc
            }
        };
        self.serve(vc)
    }

    fn serve(&mut self, vc: usize) -> usize {
        let rate = self.rate;
        let v = &mut self.vcs[vc];
        if v.credit >= rate {
            v.credit -= rate;
        } else {
            v.tag += v.cost;
        }
        v.waiting -= 1;
        vc
    }

    /// The cell that [`PerVc::pick`] chose has been taken; `eom` tells whether it ends a frame.
    pub fn taken(&mut self, vc: usize, eom: bool) {
        let goes_on = self.unit == ProcessingUnit::Frame && !eom && self.vcs[vc].waiting > 0;
        self.current = goes_on.then_some(vc);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATE: BitRate = BitRate(1_000_000);

    fn served(s: &mut PerVc, slots: usize, eom: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut counts = vec![0; s.vcs.len()];
        for _ in 0..slots {
            let vc = s.pick();
            counts[vc] += 1;
            s.on_arrival(vc);
            s.taken(vc, eom(counts[vc]));
        }
        counts
    }

    fn backlogged(unit: ProcessingUnit, vcs: &[(u64, Option<BitRate>)]) -> PerVc {
        let mut s = PerVc::new(4, unit, RATE, vcs);
        for vc in 0..vcs.len() {
            for _ in 0..100 {
                s.on_arrival(vc);
            }
        }
        s
    }

    proptest! {
        #[test]
        fn backlogged_vcs_share_by_weight(w in proptest::collection::vec(1u64..10, 2..6), slots in 100usize..2000) {
            let vcs: Vec<_> = w.iter().map(|&w| (w, None)).collect();
            let mut s = backlogged(ProcessingUnit::Cell, &vcs);
            let counts = served(&mut s, slots, |_| true);
            let total: u64 = w.iter().sum();
            for (i, &c) in counts.iter().enumerate() {
                let fair = slots as f64 * w[i] as f64 / total as f64;
                // SFQ bounds the difference of any two VCs to one cell each.
                prop_assert!((c as f64 - fair).abs() <= 1.0 + w[i] as f64 * w.len() as f64);
            }
        }

        #[test]
        fn guarantees_hold_whatever_the_weights(share in 1u64..60, slots in 50usize..2000) {
            let vcs = [(1, Some(BitRate(RATE.0 * share / 100))), (1000, None), (1000, Some(BitRate(RATE.0 * 30 / 100)))];
            let mut s = backlogged(ProcessingUnit::Cell, &vcs);
            let counts = served(&mut s, slots, |_| true);
            prop_assert!(counts[0] as u64 + 2 >= slots as u64 * share / 100);
            prop_assert!(counts[2] as u64 + 2 >= slots as u64 * 30 / 100);
        }
    }

    #[test]
    fn frames_of_mixed_sizes_share_cells_evenly_and_stay_together() {
        let mut s = backlogged(ProcessingUnit::Frame, &[(1, None), (1, None)]);
        // VC 0 sends frames of 4 cells, VC 1 of 12.
        let (mut order, mut sent) = (Vec::new(), [0usize; 2]);
        for _ in 0..960 {
            let vc = s.pick();
            s.on_arrival(vc);
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
