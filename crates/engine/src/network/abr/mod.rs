//! ABR: end systems that keep to the allowed rate, and class queues that report it (model section
//! 12).
//!
//! Nothing here owns a clock or a queue. Hosts hold the waiting frames (`host/paced.rs`), ports
//! measure (`port/meter.rs`), and RM cells cross the fabric as separate flows.

mod end_system;
pub mod feedback;
mod log;
mod rm;
mod sites;

pub use end_system::{EndSystem, EndSystemTerms, NextCell};
pub use feedback::Marks;
pub use log::{FeedbackPoint, Logs, MeasuredInterval};
pub use rm::Rm;
#[cfg(test)]
pub use rm::SAMPLE;
pub use sites::{Site, Sites, SubscriberIndex, higher_rate, mbps, terms};
