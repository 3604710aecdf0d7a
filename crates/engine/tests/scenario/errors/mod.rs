//! Every kind of bad scenario: the place, the message, and what else is said about it.

mod abr;
mod any_value;
mod contracts;
mod fields;
mod files;
mod network;
mod overrides;
mod red;
mod spoil;
