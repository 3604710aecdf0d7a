//! Scenarios as plain data (`model`): reading them (`read`) and writing them (`write`).
//!
//! Reading a scenario takes these steps:
//!
//! 1. `syntax` and `tree` parse text into a tree of values with places.
//! 2. `overrides`, `members` and `individual` set overrides in the tree.
//! 3. `check`, `values` and `validate` check fields against the registry; the results are records
//!    (`record`).
//! 4. `expand` turns groups into single things; `flows` and `probes` check what refers to them.
//! 5. `from_record` makes the model; `pool`, `push_out`, `available`, `contracts`, `changes`, `shape` and
//!    `time_limit` check it as a whole.
//!
//! `topology` turns names into indices and routes. `report` collects all problems (`problem`), so
//! that they are reported together. `traffic`, `contract` and `port` define what kinds of traffic
//! and ports can do.

mod abr;
mod available;
mod changes;
mod check;
mod contract;
mod contracts;
mod expand;
pub(crate) mod fair_goodput;
mod flows;
mod from_record;
mod individual;
mod members;
pub(crate) mod model;
mod network;
mod overrides;
mod places;
mod pool;
pub(crate) mod port;
mod probes;
mod problem;
mod program;
mod push_out;
mod rates;
mod read;
mod record;
pub(crate) mod report;
mod shape;
mod syntax;
mod threshold;
mod time_limit;
pub(crate) mod topology;
mod traffic;
pub(crate) mod tree;
pub(crate) mod validate;
mod values;
pub(crate) mod weights;
mod write;

pub use model::*;
pub(crate) use probes::MOST_POINTS;
pub use problem::{Place, Problem};
pub(crate) use program::shown;
pub use program::{Asked, ProgramPolicy, ProgramScheduler, WrittenPolicy, WrittenScheduler};
pub use read::{read_json, read_toml};
pub use syntax::from_toml;
pub use threshold::{Size, Unit};
pub(crate) use traffic::Emission;
pub use traffic::{Carries, FullFrame};
pub use tree::{Field, Node, Value};
pub use write::{toml_pieces, write_toml};
