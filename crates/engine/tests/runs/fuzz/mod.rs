//! Inputs without number: mutated scenario files for the reader, random and hostile networks for the engine. `cargo test` runs the same
//! few thousand each time; `make fuzz` goes on until it is stopped (`campaign.rs` says how it is steered).

mod bases;
mod campaign;
mod mutate;
mod networks;
mod promise;
mod reader;
