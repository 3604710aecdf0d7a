//! Flows: what one end of a VC sends to the other over the VC's route. Cells, frames and counters belong to a flow; a VC has
//! one flow for its data and one for what comes back.

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
}

impl FlowKind {
    /// All kinds, in the order in which the flows of a VC are numbered.
    pub const ALL: [FlowKind; 2] = [FlowKind::Data, FlowKind::Ack];

    /// Its lower-case name, in results and in names of random streams.
    pub fn name(self) -> &'static str {
        match self {
            FlowKind::Data => "data",
            FlowKind::Ack => "ack",
        }
    }

    /// Whether it runs from the VC's `from` to its `to`.
    pub fn is_forward(self) -> bool {
        match self {
            FlowKind::Data => true,
            FlowKind::Ack => false,
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
    #[inline(always)]
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
