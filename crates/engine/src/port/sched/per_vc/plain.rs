//! Plain implementation of section 6 of the model page, for comparison in tests: it looks at every
//! VC in every slot.

use crate::ground::units::BitRate;
use crate::port::sched::FlowShare;
use crate::text::scenario::TurnUnit;

/// The least common multiple.
fn lcm(a: u128, b: u128) -> u128 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

struct VcState {
    /// Tag increase per cell: the least common multiple of the weights, divided by the weight.
    cost: u128,
    tag: u128,
    /// Guaranteed rate, bits per second.
    guarantee: i128,
    /// Credit in units of 1 / link rate slots; negative while a frame is paid in advance.
    credit: i128,
    waiting: u64,
}

pub(super) struct Plain {
    unit: TurnUnit,
    rate: i128,
    virtual_time: u128,
    /// The VC whose frame is being sent, and whether its credit pays for it.
    current: Option<(usize, bool)>,
    /// Slots of the port up to which credit is up to date.
    slots: u64,
    vcs: Vec<VcState>,
}

impl Plain {
    pub(super) fn new(unit: TurnUnit, rate: BitRate, shares: &[FlowShare]) -> Plain {
        let weights = shares.iter().map(|share| u128::from(share.weight));
        let multiple = weights.fold(1, lcm);
        let state = |share: &FlowShare| VcState {
            cost: multiple / u128::from(share.weight),
            tag: 0,
            guarantee: share.guarantee.map_or(0, |g| g.0.into()),
            credit: 0,
            waiting: 0,
        };
        Plain {
            unit,
            rate: rate.0.into(),
            virtual_time: 0,
            current: None,
            slots: 0,
            vcs: shares.iter().map(state).collect(),
        }
    }

    fn credit_until(&mut self, slots: u64) {
        let passed = i128::from(slots - self.slots);
        self.slots = slots;
        for v in &mut self.vcs {
            v.credit += passed * v.guarantee;
            if v.waiting == 0 {
                v.credit = v.credit.min(0);
            }
        }
    }

    pub(super) fn on_arrival(&mut self, vc: usize, sent: u64) {
        self.credit_until(sent);
        let v = &mut self.vcs[vc];
        if v.waiting == 0 {
            v.tag = v.tag.max(self.virtual_time);
        }
        v.waiting += 1;
    }

    /// Serves one cell and returns its VC. `cell` says whether the first cell of a VC ends a frame,
    /// and its bytes.
    pub(super) fn serve(&mut self, sent: u64, cell: impl Fn(usize) -> (bool, u64)) -> usize {
        self.credit_until(sent + 1);
        let (vc, by_credit) = self.current.unwrap_or_else(|| self.choose());
        let (ends, bytes) = cell(vc);
        let v = &mut self.vcs[vc];
        v.waiting -= 1;
        if by_credit {
            v.credit -= self.rate;
        } else if self.unit == TurnUnit::Byte {
            v.tag += v.cost * u128::from(bytes);
        } else {
            v.tag += v.cost;
        }
        let goes_on = self.unit == TurnUnit::Frame && !ends && v.waiting > 0;
        self.current = goes_on.then_some((vc, by_credit));
        self.credit_until(sent + 1);
        vc
    }

    fn choose(&mut self) -> (usize, bool) {
        let waits = |vc: &usize| self.vcs[*vc].waiting > 0;
        let rich = |vc: &usize| self.vcs[*vc].credit >= self.rate;
        let all = 0..self.vcs.len();
        // Among equal credits, the first VC goes.
        let richest = all.clone().filter(waits).filter(rich);
        if let Some(vc) = richest.rev().max_by_key(|&vc| self.vcs[vc].credit) {
            return (vc, true);
        }
        let next = all.filter(waits).min_by_key(|&vc| self.vcs[vc].tag);
        let vc = next.expect("something waits");
        self.virtual_time = self.vcs[vc].tag;
        (vc, false)
    }
}
