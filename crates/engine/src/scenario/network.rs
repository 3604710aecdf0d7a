//! Input of the rules that look at the whole network.

use super::expand::things::Things;
use super::model::Scenario;
use crate::scenario::topology::Topology;

/// A scenario that has been read, with its topology and the entries behind its things.
pub(crate) struct Network<'n> {
    pub scenario: &'n Scenario,
    pub topology: &'n Topology,
    pub things: &'n Things,
}
