//! The recoveries to choose from: what each must answer, and the one list of them.

use super::sender::Core;
use super::{Ack, Segment};
use crate::scenario::model::{Recovery, TcpParams};
use crate::units::Time;

/// What a loss recovery decides; everything else is `sender`'s.
pub(super) trait LossRecovery {
    /// The state of a connection that has not started.
    fn new(params: &TcpParams) -> Self;

    /// `ack.ack` acknowledged new data: `core.snd_una`, `snd_nxt` and the round-trip estimate are
    /// up to date, `acked` bytes left the window. To do: window, timer, sending.
    fn on_new_ack(
        &mut self,
        core: &mut Core,
        now: Time,
        ack: &Ack,
        acked: u64,
        out: &mut Vec<Segment>,
    );

    /// `ack.ack` equals `core.snd_una` while data are outstanding.
    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time, ack: &Ack, out: &mut Vec<Segment>);

    /// The timer expired; called before `core` falls back to slow start and go-back-N. Returns ssthresh, bytes.
    fn on_timeout(&mut self, core: &Core) -> f64;
}

macro_rules! recoveries {
    ($($name:ident => $state:ty,)*) => {
        /// The recovery of one connection.
        #[derive(Clone, Debug)]
        pub(super) enum State { $($name($state),)* }

        impl State {
            /// The recovery that `params` names.
            pub fn new(params: &TcpParams) -> State {
                match params.recovery {
                    $(Recovery::$name => State::$name(LossRecovery::new(params)),)*
                }
            }

            #[inline]
            pub fn on_new_ack(
                &mut self, core: &mut Core, now: Time, ack: &Ack, acked: u64, out: &mut Vec<Segment>,
            ) {
                match self { $(State::$name(s) => s.on_new_ack(core, now, ack, acked, out),)* }
            }

            #[inline]
            pub fn on_duplicate_ack(
                &mut self, core: &mut Core, now: Time, ack: &Ack, out: &mut Vec<Segment>,
            ) {
                match self { $(State::$name(s) => s.on_duplicate_ack(core, now, ack, out),)* }
            }

            pub fn on_timeout(&mut self, core: &Core) -> f64 {
                match self { $(State::$name(s) => s.on_timeout(core),)* }
            }
        }
    };
}

recoveries! {
    Vanilla => super::vanilla::Vanilla,
    Tahoe => super::tahoe::Tahoe,
    Reno => super::reno::Reno,
    NewReno => super::newreno::NewReno,
    Sack => super::sack::Sack,
}
