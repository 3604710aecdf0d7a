//! What everything stands on: units, time, random numbers, delays, events.

pub mod class;
pub mod delays;
pub mod event;
pub mod fair;
pub mod flow;
pub mod format;
pub mod gathered;
pub mod line_rate;
pub mod place;
pub mod power;
pub mod reassembly;
pub mod rng;
pub mod units;
