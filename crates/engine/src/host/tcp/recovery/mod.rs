//! The recoveries to choose from, one file each.

mod newreno;
mod reno;
mod sack;
mod tahoe;
mod vanilla;

use super::core::Core;
use super::loss_recovery::LossRecovery;
use super::{Ack, Segment};
use crate::scenario::model::{Recovery, TcpParams};
use crate::units::Time;
use newreno::NewReno;
use reno::Reno;
use sack::Sack;
use tahoe::Tahoe;
use vanilla::Vanilla;

/// The recovery of one connection.
#[derive(Clone, Debug)]
pub(super) enum State {
    Vanilla(Vanilla),
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    Sack(Sack),
}

impl State {
    /// The recovery that `params` names, of a connection that has not started.
    pub fn new(params: &TcpParams) -> State {
        match params.recovery {
            Recovery::Vanilla => State::Vanilla(Vanilla),
            Recovery::Tahoe => State::Tahoe(Tahoe::new()),
            Recovery::Reno => State::Reno(Reno::new(params)),
            Recovery::NewReno => State::NewReno(NewReno::new()),
            Recovery::Sack => State::Sack(Sack::new(params)),
        }
    }
}

impl LossRecovery for State {
    #[inline]
    fn on_new_ack(
        &mut self,
        core: &mut Core,
        now: Time,
        ack: &Ack,
        acked: u64,
        out: &mut Vec<Segment>,
    ) {
        match self {
            State::Vanilla(s) => s.on_new_ack(core, now, ack, acked, out),
            State::Tahoe(s) => s.on_new_ack(core, now, ack, acked, out),
            State::Reno(s) => s.on_new_ack(core, now, ack, acked, out),
            State::NewReno(s) => s.on_new_ack(core, now, ack, acked, out),
            State::Sack(s) => s.on_new_ack(core, now, ack, acked, out),
        }
    }

    #[inline]
    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time, ack: &Ack, out: &mut Vec<Segment>) {
        match self {
            State::Vanilla(s) => s.on_duplicate_ack(core, now, ack, out),
            State::Tahoe(s) => s.on_duplicate_ack(core, now, ack, out),
            State::Reno(s) => s.on_duplicate_ack(core, now, ack, out),
            State::NewReno(s) => s.on_duplicate_ack(core, now, ack, out),
            State::Sack(s) => s.on_duplicate_ack(core, now, ack, out),
        }
    }

    fn on_timeout(&mut self, core: &Core) -> f64 {
        match self {
            State::Vanilla(s) => s.on_timeout(core),
            State::Tahoe(s) => s.on_timeout(core),
            State::Reno(s) => s.on_timeout(core),
            State::NewReno(s) => s.on_timeout(core),
            State::Sack(s) => s.on_timeout(core),
        }
    }
}
