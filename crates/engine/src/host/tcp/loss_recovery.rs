//! The interface of a loss recovery.

use super::core::Core;
use super::{Ack, Segment};
use crate::ground::units::Time;
use enum_dispatch::enum_dispatch;

/// Decisions of a loss recovery; `sender` does everything else.
#[enum_dispatch]
pub(super) trait LossRecovery {
    /// Whether `ack`, which acknowledges new data, only opens the window, as most ACKs outside
    /// recovery do. Then [`LossRecovery::on_new_ack`] is not called.
    fn only_opens_window(&self, _ack: &Ack) -> bool {
        true
    }

    /// Handles an unusual `ack.ack` that acknowledged new data: adjusts the window and sends.
    ///
    /// `core.snd_una`, `snd_nxt` and the round-trip estimate are up to date, the timer has
    /// restarted, and `acked` bytes left the window.
    fn on_new_ack(
        &mut self,
        _core: &mut Core,
        _now: Time,
        _ack: &Ack,
        _acked: u64,
        _out: &mut Vec<Segment>,
    ) {
        unreachable!("all is usual to it")
    }

    /// Handles an `ack.ack` equal to `core.snd_una` while data are outstanding.
    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time, ack: &Ack, out: &mut Vec<Segment>);

    /// Handles an expiry of the timer, before `core` falls back to slow start and go-back-N.
    /// Returns ssthresh, bytes.
    fn on_timeout(&mut self, core: &Core) -> f64;
}
