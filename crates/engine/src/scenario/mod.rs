//! Scenarios: plain data (`model`), how text or Python values become it (`read`), and how it is written (`write`).
//!
//! Text becomes a tree of values with places (`syntax`, `tree`), overrides are set in it (`overrides`, `members`, `alone`), its fields are checked against
//! the registry (`check`, `values`, `validate`) and become records (`record`), groups become single things (`expand`), what
//! flows over them is checked (`flows`, `probes`), and the model is made of it all (`build`) and checked as a whole (`fronts`, `contracts`, `reach`).
//! Names become indices and routes (`topology`).
//! All problems (`problem`) are reported at once (`report`). What kinds of traffic and ports can do is asked of `traffic`,
//! `contract` and `port`.

mod abr;
mod alone;
mod available;
mod build;
mod check;
mod contract;
mod contracts;
mod expand;
mod flows;
mod fronts;
mod members;
pub(crate) mod model;
mod network;
mod overrides;
pub(crate) mod port;
mod probes;
mod problem;
mod reach;
mod read;
mod record;
mod report;
mod syntax;
pub(crate) mod topology;
mod traffic;
mod tree;
mod validate;
mod values;
mod write;

pub use model::*;
pub(crate) use probes::MOST_POINTS;
pub use problem::{Place, Problem};
pub use read::{read_json, read_toml};
pub use syntax::from_toml;
pub(crate) use traffic::Emission;
pub use traffic::{Carries, FullFrame};
pub use tree::{Field, Node, Value};
pub use write::write_toml;
