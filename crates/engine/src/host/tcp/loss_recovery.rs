//! What each loss recovery must answer.

use super::core::Core;
use super::{Ack, Segment};
use crate::units::Time;
use enum_dispatch::enum_dispatch;

/// What a loss recovery decides; everything else is `sender`'s.
#[enum_dispatch]
pub(super) trait LossRecovery {
    /// Whether `ack`, which acknowledges new data, does nothing but open the window, as always where nothing is being recovered. Then the recovery is
    /// not told of it.
    fn is_usual(&self, _ack: &Ack) -> bool {
        true
    }

    /// `ack.ack` acknowledged new data and is not as usual: `core.snd_una`, `snd_nxt` and the round-trip estimate are
    /// up to date, the timer starts anew, and `acked` bytes left the window. To do: window, sending.
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

    /// `ack.ack` equals `core.snd_una` while data are outstanding.
    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time, ack: &Ack, out: &mut Vec<Segment>);

    /// The timer expired; called before `core` falls back to slow start and go-back-N. Returns ssthresh, bytes.
    fn on_timeout(&mut self, core: &Core) -> f64;
}
