//! Per-VC scheduling within one class: guaranteed rates first, the rest by weight, in turns of one
//! cell or one frame.
//!
//! In each cell slot of the port, including those of other classes, every VC i with cells waiting
//! gains credit g_i (guaranteed rate / link rate). A VC without cells has no credit, but still pays
//! off a debt. So a VC that other classes kept waiting catches up before the rest. When the class
//! is served, the VC with the most credit goes and pays 1, if it has at least 1.
//! Otherwise start-time fair queueing decides. VC i has a start tag S_i, raised by 1 / w_i per cell
//! served. When it becomes busy again, S_i := max(S_i, v). The VC with the smallest S_i goes, and v
//! becomes its tag. Among equal tags or credits, the smallest VC index goes.
//! With `unit = frame`, the picked VC keeps the slots of the class until its EOM has left or it has
//! no cell waiting. Frames are thus not interleaved, and VCs share fairly with frames of mixed
//! sizes. All cells of a frame are paid in the same way: from the credit, which may become
//! negative, or by the tag.
//! The cost of a decision grows with the logarithm of the number of VCs: see [`tags`] and
//! [`credits`].
//! Sources: `guaranteed-rate`, sections 1 and 3 (per-VC guarantees and per-frame scheduling,
//! announced there as future work); Goyal, Vin and Cheng, "Start-time fair queuing", IEEE/ACM ToN
//! 5(5), 1997.
//! Limits: Only shares out service: how much of the buffer each VC may hold is up to the drop
//! policy alone.

mod credits;
#[cfg(test)]
mod plain;
mod tags;
#[cfg(test)]
mod tests;

use super::FlowShare;
use crate::scenario::{Class, ProcessingUnit};
use crate::units::BitRate;
use credits::Credits;
use tags::{Tag, Tournament};

#[derive(Clone, Debug)]
struct VcState {
    tag: Tag,
    /// Tag increase per cell: tags::UNIT / weight.
    cost: u64,
    waiting: u64,
}

/// How the cells of a turn are paid.
#[derive(Clone, Copy, Debug)]
enum Means {
    Credit,
    Tag,
}

/// Per-VC scheduler of one class at one port. VCs are identified by their local number.
#[derive(Clone, Debug)]
pub struct PerVc {
    class: usize,
    unit: ProcessingUnit,
    /// Virtual time v: the tag of the VC that went last by tag.
    virtual_time: Tag,
    /// The VC whose turn it is.
    turn: Option<(usize, Means)>,
    vcs: Vec<VcState>,
    tags: Tournament,
    credits: Credits,
}

impl PerVc {
    /// A scheduler for `class` at a port of rate `rate` that `flows`, by local number, cross.
    pub fn new(class: Class, unit: ProcessingUnit, rate: BitRate, flows: &[FlowShare]) -> PerVc {
        let state = |share: &FlowShare| VcState {
            tag: 0,
            cost: tags::UNIT / share.weight,
            waiting: 0,
        };
        let guarantee = |f: &FlowShare| f.guarantee.filter(|_| f.class == class);
        let guarantees: Vec<_> = flows.iter().map(guarantee).collect();
        PerVc {
            class: class as usize,
            unit,
            virtual_time: 0,
            turn: None,
            vcs: flows.iter().map(state).collect(),
            tags: Tournament::new(flows.len()),
            credits: Credits::new(rate, &guarantees),
        }
    }

    /// Index of the class.
    pub fn class(&self) -> usize {
        self.class
    }

    /// Number of waiting cells of `vc`.
    #[inline]
    pub fn waiting(&self, vc: usize) -> u64 {
        self.vcs[vc].waiting
    }

    /// Accounts for `n` cells of `vc` that joined its queue when the port had begun to send `sent`
    /// cells.
    #[inline]
    pub fn on_arrival(&mut self, vc: usize, n: u64, sent: u64) {
        let v = &mut self.vcs[vc];
        v.waiting += n;
        if v.waiting == n {
            v.tag = v.tag.max(self.virtual_time);
            self.tags.enter(vc, v.tag);
            self.credits.enter(vc, sent);
        }
    }

    /// The VC whose oldest cell goes in this slot, after `sent` slots of the port. Some cell must
    /// be waiting.
    #[inline]
    pub fn pick(&mut self, sent: u64) -> usize {
        if let Some((vc, _)) = self.turn {
            return vc;
        }
        let chosen = self.choose(sent);
        self.turn = Some(chosen);
        chosen.0
    }

    /// The VC whose turn begins in this slot, and how that is paid.
    #[inline(always)]
    fn choose(&mut self, sent: u64) -> (usize, Means) {
        if let Some(vc) = self.credits.with_most_credit(sent + 1) {
            return (vc, Means::Credit);
        }
        let (vc, tag) = self.tags.first();
        self.virtual_time = tag;
        if tag >= tags::LOWERED_AT {
            self.lower_tags();
        }
        (vc, Means::Tag)
    }

    /// Subtracts v from all tags before they become too large. This loses nothing: tags of waiting
    /// VCs are at least v, and how far others are behind never matters.
    #[cold]
    fn lower_tags(&mut self) {
        for (vc, v) in self.vcs.iter_mut().enumerate() {
            v.tag = v.tag.saturating_sub(self.virtual_time);
            if v.waiting > 0 {
                self.tags.enter(vc, v.tag);
            }
        }
        self.virtual_time = 0;
    }

    /// How many of the next `n` cells, all of one frame, of the VC chosen by [`PerVc::pick`] go
    /// before the next decision.
    #[inline]
    pub fn in_a_row(&self, n: u32) -> u32 {
        if self.goes_by_cells() { 1 } else { n }
    }

    /// Whether a turn is one cell; then [`PerVc::next_cell`] can be used.
    #[inline]
    pub fn goes_by_cells(&self) -> bool {
        self.unit == ProcessingUnit::Cell
    }

    /// The VC whose oldest cell goes in this slot, after `sent` slots of the port. Only for turns
    /// of one cell; the cell counts as taken.
    pub fn next_cell(&mut self, sent: u64) -> usize {
        let (vc, means) = self.choose(sent);
        if !self.pay(vc, means, 1, sent + 1) {
            self.leave(vc, sent + 1);
        } else if let Means::Tag = means {
            self.tags.enter(vc, self.vcs[vc].tag);
        }
        vc
    }

    /// Accounts for `n` taken cells of the VC chosen by [`PerVc::pick`]. The port has then begun to
    /// send `sent` cells. `eom` says whether the last one ends a frame.
    #[inline]
    pub fn taken(&mut self, n: u64, eom: bool, sent: u64) {
        let (vc, means) = self.turn.expect("it has been picked");
        if !self.pay(vc, means, n, sent) {
            self.leave(vc, sent);
        } else if eom || self.goes_by_cells() {
            self.tags.enter(vc, self.vcs[vc].tag);
        } else {
            return;
        }
        self.turn = None;
    }

    /// Takes and pays `n` cells of `vc`, after which the port has begun to send `sent` cells.
    /// Returns whether the VC has more.
    #[inline(always)]
    fn pay(&mut self, vc: usize, means: Means, n: u64, sent: u64) -> bool {
        let v = &mut self.vcs[vc];
        v.waiting -= n;
        match means {
            Means::Credit => self.credits.pay(vc, n, sent),
            Means::Tag => v.tag += n * v.cost,
        }
        v.waiting > 0
    }

    /// Accounts for `vc` having no cells left when the port has begun to send `sent` cells.
    #[inline]
    fn leave(&mut self, vc: usize, sent: u64) {
        self.tags.leave(vc);
        self.credits.leave(vc, sent);
    }
}
