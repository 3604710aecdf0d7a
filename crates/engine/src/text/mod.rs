//! Scenarios as text and as plain data: notation, programs, the registry of components, the reader, and options of a run.

pub mod notation;
pub mod options;
pub mod program;
pub mod registry;
pub mod scenario;
