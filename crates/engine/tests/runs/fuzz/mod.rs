//! Fuzzing: mutated scenario files for the reader, random and hostile networks for the engine.
//!
//! `cargo test` always runs the first few thousand cases. `make fuzz` runs until it is stopped;
//! `campaign.rs` describes how to control it.

mod bases;
mod campaign;
mod mutate;
mod networks;
mod promise;
mod reader;
