//! Tests of every kind of faulty scenario: the place, the message, and the other parts of the
//! problem.

mod abr;
mod any_value;
mod changes;
mod contracts;
mod fields;
mod files;
mod format;
mod network;
mod overrides;
mod places;
mod pools;
mod programs;
mod red;
mod shape;
pub mod spoil;
