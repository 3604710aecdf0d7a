//! ABR: end systems that keep to the rate that the network allows, and class queues that tell it (model section 12).
//!
//! Nothing here owns a clock or a queue. Hosts hold the frames that wait (`host/paced.rs`), ports measure (`port/meter.rs`), and RM cells go through the
//! fabric as flows of their own.

mod end_system;
pub mod feedback;
mod log;
mod rm;
mod sites;

pub use end_system::{EndSystem, Terms, Turn};
pub use feedback::Marks;
pub use log::{Interval, Logs, Passing};
pub use rm::Rm;
#[cfg(test)]
pub use rm::SAMPLE;
pub use sites::{At, Site, Sites, higher_rate, mbps, terms};
