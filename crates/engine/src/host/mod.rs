//! End systems: the transports and sources of VCs, and the NICs they send through.

pub mod connection;
pub mod nic;
pub mod tcp;
