//! Policers: whether cells keep to the contract of their VC. One file per policer.
//!
//! A policer stands before the drop policy of a class queue, and is told of every cell that arrives there, in order. It judges the data
//! of VCs; what flows back has no contract and passes. To add one: its file here with a [`PoliceRule`], its line in [`Policer`]
//! and in [`Policer::new`], a variant in `scenario::Police` and an entry in the registry.

mod cells;
mod frames;
pub mod gcra;

use super::drop::Arriving;
use crate::scenario::{Police, PoliceAction, Terms};
use crate::units::Time;
use cells::CellPolicer;
use enum_dispatch::enum_dispatch;
use frames::FramePolicer;

/// What becomes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It goes on as it is.
    Pass,
    /// It goes on with low priority (CLP = 1).
    Tag,
    /// It is dropped.
    Drop,
}

impl Ruling {
    /// What `action` makes of a cell of high priority that does not conform.
    fn of(action: PoliceAction) -> Ruling {
        match action {
            PoliceAction::Drop => Ruling::Drop,
            PoliceAction::Tag => Ruling::Tag,
        }
    }
}

/// What a policer decides.
#[enum_dispatch]
pub trait PoliceRule {
    /// What becomes of `cell`, which arrives at `now`.
    fn judge(&mut self, now: Time, cell: &Arriving) -> Ruling;
}

/// A policer at one class queue.
#[enum_dispatch(PoliceRule)]
#[derive(Clone, Debug)]
pub enum Policer {
    /// Cell by cell.
    CellPolicer,
    /// Frame by frame.
    FramePolicer,
}

impl Policer {
    /// The policer `spec`, with the contract of each flow of the port, by local number.
    pub fn new(spec: &Police, contracts: &[Option<Terms>]) -> Policer {
        match *spec {
            Police::Gcra { action, form } => CellPolicer::new(action, form, contracts).into(),
            Police::FGcra { action } => FramePolicer::new(action, contracts).into(),
        }
    }
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::rng::Stream;

    /// A cell of flow 0.
    pub fn cell(begins: bool, eom: bool, tagged: bool) -> Arriving {
        Arriving {
            vc: 0,
            begins,
            eom,
            tagged,
            lost: false,
            idle_cells: None,
            draws: Stream::new(1, 0, "port", "drop"),
        }
    }
}
