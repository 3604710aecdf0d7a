//! What is said of a scenario or a run from outside: description, memory, sessions, and why a run stopped.

pub mod describe;
pub mod memory;
pub mod session;
pub mod stopped;
