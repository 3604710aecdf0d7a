//! Policers, which check whether cells conform to the contract of their VC. One file per policer.
//!
//! A policer stands before the drop policy of a class queue and sees every arriving cell, in order.
//! Policers judge only the data of VCs; cells of the reverse direction have no contract and pass.
//!
//! To add a policer: a file here with a [`PoliceRule`], a line in [`Policer`] and in
//! [`Policer::new`], a variant in `scenario::Police`, and an entry in the registry.

mod cells;
mod frames;
pub mod gcra;

use super::drop::Arriving;
use crate::ground::units::Time;
use crate::text::scenario::{ContractTerms, Police, PoliceAction};
use cells::CellPolicer;
use enum_dispatch::enum_dispatch;
use frames::FramePolicer;

/// The decision of a policer about a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The cell goes on unchanged.
    Pass,
    /// The cell goes on with low priority (CLP = 1).
    Tag,
    /// The cell is dropped.
    Drop,
}

impl Ruling {
    /// The ruling under `action` for a high-priority cell that does not conform.
    fn of(action: PoliceAction) -> Ruling {
        match action {
            PoliceAction::Drop => Ruling::Drop,
            PoliceAction::Tag => Ruling::Tag,
        }
    }
}

/// The interface of all policers.
#[enum_dispatch]
pub trait PoliceRule {
    /// Decides about `cell`, which arrives at `now`.
    fn judge(&mut self, now: Time, cell: &Arriving) -> Ruling;
}

/// A policer at one class queue.
#[enum_dispatch(PoliceRule)]
#[derive(Clone, Debug)]
pub enum Policer {
    /// Judges cell by cell.
    CellPolicer,
    /// Judges frame by frame.
    FramePolicer,
}

impl Policer {
    /// The policer `spec`, given the contract of each flow of the port, by local number.
    pub fn new(spec: &Police, contracts: &[Option<ContractTerms>]) -> Policer {
        match *spec {
            Police::Gcra { action, form } => CellPolicer::new(action, form, contracts).into(),
            Police::FGcra { action } => FramePolicer::new(action, contracts).into(),
        }
    }
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::ground::rng::Stream;

    /// A cell of flow 0.
    pub fn cell(begins: bool, eom: bool, tagged: bool) -> Arriving {
        Arriving {
            vc: 0,
            length: 53,
            places: 1,
            begins,
            eom,
            tagged,
            lost: false,
            idle_cells: None,
            draws: Stream::new(1, 0, "port", "drop"),
        }
    }
}
