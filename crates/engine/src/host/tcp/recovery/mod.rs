//! The recoveries to choose from, one file each.

mod newreno;
mod reno;
mod sack;
mod tahoe;
mod vanilla;

use super::core::Core;
use super::loss_recovery::LossRecovery;
use super::{Ack, Segment};
use crate::ground::units::Time;
use crate::text::scenario::model::{Recovery, TcpParams};
use enum_dispatch::enum_dispatch;
use newreno::NewReno;
use reno::Reno;
use sack::Sack;
use tahoe::Tahoe;
use vanilla::Vanilla;

/// Recovery state of one connection.
#[enum_dispatch(LossRecovery)]
#[derive(Clone, Debug)]
pub(super) enum State {
    Vanilla,
    Tahoe,
    Reno,
    NewReno,
    Sack,
}

impl State {
    /// State of the recovery named in `params`, before the connection starts.
    pub fn new(params: &TcpParams) -> State {
        match params.recovery {
            Recovery::Vanilla => Vanilla.into(),
            Recovery::Tahoe => Tahoe::new().into(),
            Recovery::Reno => Reno::new(params).into(),
            Recovery::NewReno => NewReno::new().into(),
            Recovery::Sack => Sack::new(params).into(),
        }
    }
}
