//! Tests of scenario files: what is read, refused and written.

mod available;
#[allow(dead_code)]
#[path = "../runs/common/components.rs"]
mod drawn;
#[allow(dead_code)]
#[path = "../runs/common/draws.rs"]
mod draws;

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
