//! Tests of scenario files: what is read, refused and written.

mod available;
#[allow(dead_code)]
#[path = "../runs/common/edges.rs"]
mod edges;
#[path = "../runs/common/red.rs"]
mod red;

mod components;
mod constants;
mod errors;
mod examples;
mod groups;
mod members;
mod names;
mod profiles;
mod registry;
mod round_trip;
