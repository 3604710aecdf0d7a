//! Tests of whole runs: engine against twin on random networks, invariants of any run, theory, TCP
//! end to end, and the fuzzer.
//!
//! They form one binary because they share the random networks, which dominate the build time.
//! `cargo test --test runs oracle` runs some of them.

mod capture;
mod common;

mod edges;
mod expected;
mod fuzz;
mod oracle;
mod oracle_abr;
mod oracle_ahead;
mod oracle_changes;
mod oracle_formats;
mod oracle_judged;
mod oracle_limits;
mod oracle_many;
mod oracle_places;
mod oracle_pools;
mod oracle_programs;
mod oracle_red;
mod oracle_schedulers;
mod oracle_shape;
mod overdue;
mod prefix;
mod properties;
mod properties_policies;
mod properties_stop;
mod round_trip;
mod session;
mod tcp_end_to_end;
mod tcp_random_loss;
mod theory;
mod theory_abr;
mod theory_pools;
mod twin;
