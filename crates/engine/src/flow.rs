//! Flows: what one end of a VC sends to the other over the VC's route. Cells, frames and counters belong to a flow; a VC has
//! one flow for its data and one for what comes back, and with ABR end systems one each way for their RM cells.

use schemars::JsonSchema;
use serde::Serialize;

/// What a flow is to its VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// From the VC's `from` to its `to`: what it is there for.
    Data,
    /// Back: acknowledgements.
    Ack,
    /// RM cells from the VC's `from` to its `to`.
    Rm,
    /// RM cells back.
    RmBack,
}

impl FlowKind {
    /// Those of every VC: what its source sends, and what comes back.
    pub const FRAMES: [FlowKind; 2] = [FlowKind::Data, FlowKind::Ack];

    /// Those of a VC with ABR end systems or without, in the order in which they are numbered.
    pub fn of_vc(abr: bool) -> &'static [FlowKind] {
        const ALL: [FlowKind; 4] = [
            FlowKind::Data,
            FlowKind::Ack,
            FlowKind::Rm,
            FlowKind::RmBack,
        ];
        &ALL[..if abr { 4 } else { 2 }]
    }

    /// Its lower-case name, in results and in names of random streams.
    pub fn name(self) -> &'static str {
        match self {
            FlowKind::Data => "data",
            FlowKind::Ack => "ack",
            FlowKind::Rm => "rm",
            FlowKind::RmBack => "rm-back",
        }
    }

    /// Whether it runs from the VC's `from` to its `to`.
    pub fn is_forward(self) -> bool {
        match self {
            FlowKind::Data | FlowKind::Rm => true,
            FlowKind::Ack | FlowKind::RmBack => false,
        }
    }

    /// Whether its cells are RM cells.
    pub fn is_rm(self) -> bool {
        match self {
            FlowKind::Rm | FlowKind::RmBack => true,
            FlowKind::Data | FlowKind::Ack => false,
        }
    }

    /// The kind that the other end sends: acknowledgements for data, RM cells for RM cells.
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

    /// Whether its cells are the VC's data: those that goodput, delay and loss are told of.
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
    /// Index of its VC.
    pub vc: usize,
    /// What it is to its VC.
    pub kind: FlowKind,
    /// Indices of the links from host to host.
    pub path: Vec<usize>,
    /// Indices of the host it leaves and of the one it reaches.
    pub hosts: [usize; 2],
}
