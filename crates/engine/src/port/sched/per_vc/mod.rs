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
//! A decision costs the logarithm of the number of VCs: see [`tags`] and [`credits`].
//! Sources: `guaranteed-rate`, sections 1 and 3 (per-VC guarantees and per-frame scheduling, announced there as future work);
//! Goyal, Vin and Cheng, "Start-time fair queuing", IEEE/ACM ToN 5(5), 1997.
//! Limits: Serves VCs of one class by turn; the drop policy alone decides how much of the buffer each
//! may hold.

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
    /// Of one cell: tags::UNIT / weight.
    cost: u64,
    waiting: u64,
}

/// How the cells of a turn are paid.
#[derive(Clone, Copy, Debug)]
enum Means {
    Credit,
    Tag,
}

/// Per-VC scheduling of one class at one port. VCs are known by their number at the port.
#[derive(Clone, Debug)]
pub struct PerVc {
    class: usize,
    unit: ProcessingUnit,
    /// v, with the VC that went.
    virtual_time: Tag,
    /// The VC whose turn it is.
    turn: Option<(usize, Means)>,
    vcs: Vec<VcState>,
    tags: Tournament,
    credits: Credits,
}

impl PerVc {
    /// For `class` at a port of `rate`; `flows` are those that cross it, by number.
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

    /// Cells of `vc` that wait.
    #[inline]
    pub fn waiting(&self, vc: usize) -> u64 {
        self.vcs[vc].waiting
    }

    /// `n` cells of `vc` joined its queue, when the port had begun to send `sent` cells.
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

    /// The VC whose oldest cell goes in this slot, after `sent` slots of the port. Something must be waiting.
    #[inline]
    pub fn pick(&mut self, sent: u64) -> usize {
        if let Some((vc, _)) = self.turn {
            return vc;
        }
        let chosen = self.choose(sent);
        self.turn = Some(chosen);
        chosen.0
    }

    /// Whose turn begins in this slot, and how it is paid.
    #[inline(always)]
    fn choose(&mut self, sent: u64) -> (usize, Means) {
        if let Some(vc) = self.credits.richest(sent + 1) {
            return (vc, Means::Credit);
        }
        let (vc, tag) = self.tags.first();
        self.virtual_time = tag;
        if tag >= tags::LOWERED_AT {
            self.lower_tags();
        }
        (vc, Means::Tag)
    }

    /// Counts tags from v on, where they would soon be too large. Those of VCs that wait are not behind v, and of others nobody can
    /// tell how far they are behind.
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

    /// How many of the next `n` cells of the VC that [`PerVc::pick`] chose, all of one frame, go before it must be asked again.
    #[inline]
    pub fn in_a_row(&self, n: u32) -> u32 {
        if self.goes_by_cells() { 1 } else { n }
    }

    /// Whether turns are of one cell: then [`PerVc::next_cell`] does.
    #[inline]
    pub fn goes_by_cells(&self) -> bool {
        self.unit == ProcessingUnit::Cell
    }

    /// The VC whose oldest cell goes in this slot, after `sent` slots of the port, where turns are of one cell; the cell counts as taken.
    pub fn next_cell(&mut self, sent: u64) -> usize {
        let (vc, means) = self.choose(sent);
        if !self.pay(vc, means, 1, sent + 1) {
            self.leave(vc, sent + 1);
        } else if let Means::Tag = means {
            self.tags.enter(vc, self.vcs[vc].tag);
        }
        vc
    }

    /// So many cells of the VC that [`PerVc::pick`] chose have been taken, after which the port has begun to send `sent` cells.
    /// `eom` tells whether the last one ends a frame.
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

    /// Cells of `vc` are taken and paid, after which the port has begun to send `sent` cells. Whether it has more.
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

    /// `vc` has no cells left when the port has begun to send `sent` cells.
    #[inline]
    fn leave(&mut self, vc: usize, sent: u64) {
        self.tags.leave(vc);
        self.credits.leave(vc, sent);
    }
}
