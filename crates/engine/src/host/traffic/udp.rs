//! UDP: datagrams of one size at regular times, regardless of losses (model section 9).

use super::pace::Pace;
use super::{Delivery, End, FrameSource, Offered, Outbox, SourceState};
use crate::ground::flow::FlowKind;
use crate::ground::format::{Format, FrameSize};
use crate::ground::units::Time;
use crate::network::capture::CapturedPayload;
use crate::network::tally::{SenderCounters, Transfer};
use crate::text::scenario::UdpParams;

/// A UDP source and its receiving end.
#[derive(Clone, Debug)]
pub struct Udp {
    /// Schedule of the frames.
    pace: Pace,
    /// Bytes of data of a frame, and its cells.
    bytes: u64,
    size: FrameSize,
    /// Bytes offered so far.
    offered: u64,
    /// Time from which nothing is offered.
    stop: Time,
}

impl Udp {
    /// The source of `params` from `start` until before `stop`.
    pub fn new(params: UdpParams, format: Format, start: Time, stop: Time) -> Udp {
        let bursts = params.on.map(|on| [on, params.off]);
        let size = params.frame(format);
        let cell_time = format.time_of(size.cell_bytes(), params.rate);
        Udp {
            pace: Pace::new(cell_time, bursts, start),
            bytes: params.datagram_size,
            size,
            offered: 0,
            stop,
        }
    }
}

impl FrameSource for Udp {
    fn start(&mut self, _now: Time, out: &mut Outbox) -> Time {
        out.frames.push(Offered {
            kind: FlowKind::Data,
            size: self.size,
            first_byte: self.offered,
        });
        self.offered += self.bytes;
        let next = self.pace.emitted(u64::from(self.size.cells()));
        if next < self.stop { next } else { Time::NEVER }
    }

    fn take(&mut self, _: FlowKind, _: u32, _: Time, _: &mut Outbox) -> Delivery {
        Delivery {
            bytes: self.bytes,
            line_bytes: self.size.line_bytes(),
        }
    }

    fn on_timer(&mut self, _: End, _: Time, _: &mut Outbox) {}

    fn deadline(&self, _: End) -> Time {
        Time::NEVER
    }

    fn is_independent(&self) -> bool {
        true
    }

    fn carries(&self, _: FlowKind, frame: u32) -> CapturedPayload {
        CapturedPayload::Datagram {
            first: u64::from(frame) * self.bytes,
            len: self.bytes as u32,
        }
    }

    fn state(&self, _: SourceState) -> Option<f64> {
        None
    }

    fn counters(&self) -> SenderCounters {
        SenderCounters::default()
    }

    fn transfers(&self) -> &[Transfer] {
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::units::BitRate;

    /// Times of the frames of 23 cells, in cell times since the start.
    fn times(on: Option<u64>, off: u64, stop: u64) -> Vec<u64> {
        let rate = BitRate(150_000_000);
        let cell = Format::AAL5.cell_time(rate);
        let params = UdpParams {
            datagram_size: 1024,
            rate,
            on: on.map(|cells| cell * cells),
            off: cell * off,
        };
        let start = Time(1000);
        let mut udp = Udp::new(params, Format::AAL5, start, start + cell * stop);
        let (mut at, mut found, mut out) = (start, Vec::new(), Outbox::default());
        while at != Time::NEVER {
            found.push(at.since(start).0 / cell.0);
            at = udp.start(at, &mut out);
        }
        let bytes: Vec<u64> = out.frames.iter().map(|frame| frame.first_byte).collect();
        assert_eq!(
            bytes,
            (0..found.len() as u64)
                .map(|n| n * 1024)
                .collect::<Vec<_>>()
        );
        found
    }

    #[test]
    fn a_greedy_source_sends_frame_after_frame() {
        assert_eq!(times(None, 0, 70), [0, 23, 46, 69]);
        assert_eq!(times(None, 0, 69), [0, 23, 46]);
    }

    #[test]
    fn no_frame_begins_in_a_pause() {
        assert_eq!(times(Some(24), 76, 224), [0, 23, 100, 123, 200, 223]);
        assert_eq!(times(Some(23), 77, 201), [0, 100, 200]);
    }
}
