//! Scenarios: plain data (`model`), how text or Python values become it (`read`), and how it is written (`write`).
//!
//! Text becomes a tree of values with places (`tree`), overrides are set in it, its fields are checked against the
//! registry (`check`, `validate`), groups become single things (`expand`, `route`), what flows over them is
//! checked (`flows`), and all problems are reported at once (`problem`).

mod check;
mod expand;
mod flows;
pub mod model;
pub(crate) mod notation;
mod overrides;
mod problem;
mod quantity;
mod read;
mod route;
pub mod traffic;
mod tree;
mod validate;
mod write;

pub use model::*;
pub use problem::{Problem, nearest};
pub use read::{read_json, read_toml};
pub use traffic::{Carries, FullFrame};
pub use write::write_toml;
