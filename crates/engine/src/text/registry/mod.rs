//! Every component a scenario can name: parameters with units, ranges and defaults, formula, source.
//!
//! This is the one definition from which the scenario reader checks input, and from which JSON Schema,
//! command-line help, Python classes and reference pages are generated. To add a component to a family:
//! its entry here and a variant of the same name in `scenario::model`, whose serde form the reader fills.

mod abr;
mod classes;
mod component;
mod family;
mod json;
mod kind;
mod nodes;
mod police;
mod probes;
mod queueing;
mod scenario;
mod schema;
mod tcp;
mod traffic;
mod vc;
mod words;

pub use component::{Component, Formats, Own, Parameter};
pub use family::Family;
pub use json::as_json;
pub use kind::Default;
pub use kind::{Choice, Kind};
pub(crate) use kind::{DECIMALS, FAIR_SHARES, MAX_CELLS, MAX_DURATION_NS, MAX_RATE, NONE};
pub use schema::json_schema;

impl Family {
    /// The component that a table without the tag means.
    pub fn untagged(self) -> Option<&'static Component> {
        match self {
            Family::Format => self.find("cells"),
            _ => None,
        }
    }

    /// The components of the family.
    pub fn components(self) -> &'static [Component] {
        match self {
            Family::Scenario => scenario::SCENARIO,
            Family::Format => scenario::FORMAT,
            Family::Measure => scenario::MEASURE,
            Family::Ensemble => scenario::ENSEMBLE,
            Family::Host => nodes::HOST,
            Family::Switch => nodes::SWITCH,
            Family::Pool => nodes::POOL,
            Family::Link => nodes::LINK,
            Family::Change => nodes::CHANGE,
            Family::Vc => vc::VC,
            Family::Contract => police::CONTRACT,
            Family::Police => police::POLICE,
            Family::Abr => abr::ABR,
            Family::Shape => vc::SHAPE,
            Family::Feedback => abr::FEEDBACK,
            Family::Queue => queueing::QUEUE,
            Family::Drop => queueing::DROP,
            Family::Scheduler => queueing::SCHEDULER,
            Family::Traffic => traffic::TRAFFIC,
            Family::Processing => nodes::PROCESSING,
            Family::Probe => probes::PROBE,
        }
    }

    /// The component called `name`.
    pub fn find(self, name: &str) -> Option<&'static Component> {
        self.components().iter().find(|c| c.name == name)
    }
}
