//! Tests of scenario files: what is read, refused and written. `runs/round_trip.rs` writes and reads
//! random ones.

mod constants;
mod errors;
mod examples;
mod groups;
mod members;
mod names;
mod profiles;
mod registry;
