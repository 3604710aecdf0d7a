//! The inputs of a port: whose cell comes next, and which cells come together.

use super::arithmetic::Interleaved;
use super::order::ArrivalOrder;
use crate::ground::units::Time;
use crate::network::fabric::Fabric;
use crate::network::tie::TieRule;

/// The inputs of a port, as its kernel sees them.
#[derive(Debug)]
pub struct Inputs {
    /// Index of the first feed; input i is feed `first_feed + i`.
    pub first_feed: usize,
    /// Inputs with cells to come, by arrival time.
    pub order: ArrivalOrder,
    /// Rule for the order of coincident arrivals.
    pub tie: TieRule,
    /// Scratch space: inputs whose cells arrive at one instant.
    pub group: Vec<u32>,
    /// By input: state of inputs whose cells are taken one at a time, in turns.
    pub interleaved: Vec<Interleaved>,
}

/// The input that brings the next cell.
#[derive(Clone, Copy, Debug)]
pub struct NextInput {
    /// Arrival time of that cell.
    pub time: Time,
    pub input: u32,
    pub feed: usize,
    /// Arrival time of the next cell of any other input.
    pub other: Time,
    /// Arrivals from here on must not be taken yet.
    pub horizon: Time,
}

impl NextInput {
    /// Arrivals before this time come from this input alone.
    #[inline(always)]
    pub fn limit(&self) -> Time {
        self.other.min(self.horizon)
    }
}

impl Inputs {
    /// Inputs that have no cells yet.
    pub fn new(first_feed: usize, tie: TieRule) -> Inputs {
        Inputs {
            first_feed,
            order: ArrivalOrder::default(),
            tie,
            group: Vec::new(),
            interleaved: Vec::new(),
        }
    }

    /// Index of the feed of `input`.
    #[inline(always)]
    pub fn feed(&self, input: u32) -> usize {
        self.first_feed + input as usize
    }

    /// Moves the inputs whose next cell arrives at `time` from the order into `group`. Returns the
    /// index of the first to handle, for [`Inputs::feed_in_turn`].
    #[inline(always)]
    pub fn coincident(&mut self, time: Time) -> usize {
        self.order.pop_group(time, &mut self.group);
        self.tie.arrange(time, &mut self.group)
    }

    /// The feed of the `i`-th input of `group` to handle, starting at index `first`.
    #[inline(always)]
    pub fn feed_in_turn(&self, first: usize, i: usize) -> usize {
        let (at, n) = (first + i, self.group.len());
        self.feed(self.group[if at < n { at } else { at - n }])
    }

    /// Settles the tie of `group`, whose cells have been taken from index `first` on.
    #[inline(always)]
    pub fn end_tie(&mut self, fabric: &mut Fabric, first: usize) {
        let (sooner, later) = self.group.split_at(first);
        let taken = later.iter().chain(sooner).copied();
        fabric.end_tie(&mut self.tie, self.first_feed, taken);
    }

    /// The input that brings the next cell, if that arrives before `horizon`.
    #[inline(always)]
    pub fn next(&self, horizon: Time) -> Option<NextInput> {
        let (time, input) = self.order.first().filter(|&(time, _)| time < horizon)?;
        Some(NextInput {
            time,
            input,
            feed: self.feed(input),
            other: self.order.second_time(),
            horizon,
        })
    }

    /// Repeatedly lets the first input bring its next cell: see [`ArrivalOrder::each_in_turn`].
    /// `bring` is also given the state of all inputs whose cells are taken in turns.
    #[inline(always)]
    pub fn each_in_turn(
        &mut self,
        horizon: Time,
        mut bring: impl FnMut(&mut Vec<Interleaved>, &NextInput) -> Option<Time>,
    ) {
        let (first_feed, interleaved) = (self.first_feed, &mut self.interleaved);
        self.order.each_in_turn(horizon, |time, other, input| {
            let next = NextInput {
                time,
                input,
                feed: first_feed + input as usize,
                other,
                horizon,
            };
            bring(interleaved, &next)
        });
    }

    /// Moves the first input to the place of its next cell, or removes it if `feed` has no `more`.
    /// Cells at the head of `feed` have been taken.
    #[inline(always)]
    pub fn advance_first(&mut self, fabric: &Fabric, feed: usize, more: bool) {
        if more {
            self.order.postpone_first(fabric.feeds[feed].head.time);
        } else {
            self.order.pop();
        }
    }

    /// Puts the inputs of `group` that have more cells back into the order.
    #[inline]
    pub fn put_back(&mut self, fabric: &Fabric) {
        if !self.tie.keeps_ascending() {
            self.group.sort_unstable();
        }
        self.order
            .put_back(&self.group, &fabric.feeds, self.first_feed);
    }
}
