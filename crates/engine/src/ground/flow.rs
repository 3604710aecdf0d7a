//! Flows: cells that one end of a VC sends to the other over the VC's route.
//!
//! Cells, frames and counters belong to a flow. A VC has one flow for data and one for the reverse
//! direction. With ABR end systems it also has one flow of RM cells each way.

use schemars::JsonSchema;
use serde::Serialize;

/// Role of a flow in its VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// Data, from the VC's `from` to its `to`.
    Data,
    /// Acknowledgements, from the VC's `to` to its `from`.
    Ack,
    /// RM cells from the VC's `from` to its `to`.
    Rm,
    /// RM cells from the VC's `to` to its `from`.
    RmBack,
}

impl FlowKind {
    /// Kinds of flow of every VC: data from the source, and what comes back.
    pub const FRAMES: [FlowKind; 2] = [FlowKind::Data, FlowKind::Ack];

    /// Returns the kinds of flow of a VC with or without ABR end systems, in the order of their
    /// numbers.
    pub fn of_vc(abr: bool) -> &'static [FlowKind] {
        const ALL: [FlowKind; 4] = [
            FlowKind::Data,
            FlowKind::Ack,
            FlowKind::Rm,
            FlowKind::RmBack,
        ];
        &ALL[..if abr { 4 } else { 2 }]
    }

    /// Returns the lower-case name, as used in results and in names of random streams.
    pub fn name(self) -> &'static str {
        match self {
            FlowKind::Data => "data",
            FlowKind::Ack => "ack",
            FlowKind::Rm => "rm",
            FlowKind::RmBack => "rm-back",
        }
    }

    /// Whether the flow runs from the VC's `from` to its `to`.
    pub fn is_forward(self) -> bool {
        match self {
            FlowKind::Data | FlowKind::Rm => true,
            FlowKind::Ack | FlowKind::RmBack => false,
        }
    }

    /// Whether the flow consists of RM cells.
    pub fn is_rm(self) -> bool {
        match self {
            FlowKind::Rm | FlowKind::RmBack => true,
            FlowKind::Data | FlowKind::Ack => false,
        }
    }

    /// Returns the kind that the other end sends: acknowledgements for data, backward RM cells for
    /// forward ones.
    pub fn opposite(self) -> FlowKind {
        match self {
            FlowKind::Data => FlowKind::Ack,
            FlowKind::Ack => FlowKind::Data,
            FlowKind::Rm => FlowKind::RmBack,
            FlowKind::RmBack => FlowKind::Rm,
        }
    }

    /// The kind of frames that leave the same end system.
    pub fn frames(self) -> FlowKind {
        if self.is_forward() {
            FlowKind::Data
        } else {
            FlowKind::Ack
        }
    }

    /// The kind of RM cells that leave the same end system.
    pub fn rm(self) -> FlowKind {
        if self.is_forward() {
            FlowKind::Rm
        } else {
            FlowKind::RmBack
        }
    }

    /// Whether the flow is the VC's data, for which goodput, delay and loss are reported.
    pub fn is_data(self) -> bool {
        self == FlowKind::Data
    }
}

/// Number of a flow in its network: by VC in scenario order, then by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Index of the VC.
    pub vc: usize,
    /// Role of the flow in its VC.
    pub kind: FlowKind,
    /// Indices of the links from host to host.
    pub path: Vec<usize>,
    /// Indices of the host that sends the flow and of the host that receives it.
    pub hosts: [usize; 2],
}
