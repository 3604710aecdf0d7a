//! Abilities of the kinds of traffic. Callers ask for an ability, not for a kind.

use super::model::{Observable, Processing, TcpParams, Traffic, UdpParams};
use crate::ground::flow::FlowKind;
use crate::ground::format::{CellLengths, Clock, Format, FrameSize};
use crate::ground::units::{BitRate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Units that the source of a VC hands to its NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Carries {
    /// AAL5 frames with application data. Their goodput counts in totals, efficiency and fairness.
    Frames,
    /// Single cells, each on its own.
    Cells,
}

/// A data frame of the largest size that a source sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullFrame {
    /// Bytes of application data.
    pub bytes: u64,
    /// Size of the frame.
    pub size: FrameSize,
}

/// What a source sends again and again, without retransmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataUnit {
    /// Bytes of application data.
    pub bytes: u64,
    /// Number of frames that carry them.
    pub frames: u64,
    /// Bytes of these frames on the line.
    pub line_bytes: u64,
}

/// How a source of single cells spaces them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emission {
    /// Equal intervals.
    Periodic {
        /// Cell rate.
        rate: BitRate,
    },
    /// A Poisson process.
    Poisson {
        /// Mean cell rate.
        rate: BitRate,
    },
    /// Equal intervals within bursts.
    Bursts {
        /// Cell rate within a burst.
        rate: BitRate,
        /// Length of a burst.
        on: Span,
        /// Length of a pause.
        off: Span,
    },
}

/// Numbers of frames, of their cells, and of bits on the line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    pub frames: f64,
    pub cells: f64,
    pub bits: f64,
}

impl Traffic {
    /// Returns the name of the kind.
    pub fn name(&self) -> &'static str {
        match self {
            Traffic::Tcp(_) => "tcp",
            Traffic::Cbr { .. } => "cbr",
            Traffic::Poisson { .. } => "poisson",
            Traffic::Vbr { .. } => "vbr",
            Traffic::Udp(_) => "udp",
        }
    }

    /// Returns the largest data frame of the source; `None` for sources of single cells.
    pub fn frame(&self, format: Format) -> Option<FullFrame> {
        let bytes = match self {
            Traffic::Tcp(tcp) => tcp.longest_segment(),
            Traffic::Udp(udp) => udp.datagram_size,
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => return None,
        };
        let size = self.frame_size(format);
        Some(FullFrame { bytes, size })
    }

    /// Returns what the source sends again and again: a file, or a frame where it has no files.
    /// `None` for sources of single cells.
    pub(crate) fn unit(&self, format: Format) -> Option<DataUnit> {
        let frame = self.frame(format)?;
        let bytes = match self {
            Traffic::Tcp(tcp) => tcp.file_size.unwrap_or(frame.bytes),
            _ => frame.bytes,
        };
        let (full, rest) = (bytes / frame.bytes, bytes % frame.bytes);
        let last = (rest > 0).then(|| format.segment(rest).line_bytes());
        Some(DataUnit {
            bytes,
            frames: full + u64::from(rest > 0),
            line_bytes: full * frame.size.line_bytes() + last.unwrap_or(0),
        })
    }

    /// Returns the size of the largest data frame. Each cell of a source of single cells is a frame.
    pub(crate) fn frame_size(&self, format: Format) -> FrameSize {
        match self {
            Traffic::Tcp(tcp) => format.segment(tcp.longest_segment()),
            Traffic::Udp(udp) => udp.frame(format),
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => {
                format.one_cell()
            }
        }
    }

    /// The longest frame that passes in a flow of this kind.
    pub(crate) fn longest_frame(&self, kind: FlowKind, format: Format) -> FrameSize {
        let data = self.frame_size(format);
        let Some(tcp) = self.tcp() else {
            return data;
        };
        let ack = format.ack(tcp.most_blocks());
        match (tcp.both_ways, kind.is_data()) {
            (true, _) => data.longer(ack),
            (false, true) => data,
            (false, false) => ack,
        }
    }

    /// Lengths of the cells that the source sends in a flow of this kind. `None` if it sends nothing
    /// there.
    pub(crate) fn cell_lengths(&self, kind: FlowKind, format: Format) -> Option<CellLengths> {
        if !kind.is_data() && !self.answers() {
            return None;
        }
        let Traffic::Tcp(tcp) = self else {
            return CellLengths::of([self.frame_size(format)]);
        };
        let full = tcp.longest_segment();
        // The rest of a file that is no multiple of the MSS.
        let last = tcp.file_size.map_or(0, |size| size % tcp.mss);
        let opens = tcp.handshake.then_some(0);
        let data = [full]
            .into_iter()
            .chain(Some(last).filter(|&rest| rest > 0));
        let data = data.chain(opens).map(|bytes| format.segment(bytes));
        let acks = (0..=tcp.most_blocks()).map(|blocks| format.ack(blocks));
        match (tcp.both_ways, kind.is_data()) {
            (true, _) => CellLengths::of(data.chain(acks)),
            (false, true) => CellLengths::of(data),
            (false, false) => CellLengths::of(acks),
        }
    }

    /// Returns whether the source sends frames or single cells.
    pub fn carries(&self) -> Carries {
        match self {
            Traffic::Tcp(_) | Traffic::Udp(_) => Carries::Frames,
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => Carries::Cells,
        }
    }

    /// Returns when the source emits single cells; `None` for sources of frames.
    pub(crate) fn cells(&self) -> Option<Emission> {
        match *self {
            Traffic::Tcp(_) | Traffic::Udp(_) => None,
            Traffic::Cbr { rate } => Some(Emission::Periodic { rate }),
            Traffic::Poisson { rate } => Some(Emission::Poisson { rate }),
            Traffic::Vbr { rate, on, off } => Some(Emission::Bursts { rate, on, off }),
        }
    }

    /// Returns the TCP parameters; `None` for other traffic.
    pub(crate) fn tcp(&self) -> Option<&TcpParams> {
        match self {
            Traffic::Tcp(tcp) => Some(tcp),
            Traffic::Cbr { .. }
            | Traffic::Poisson { .. }
            | Traffic::Vbr { .. }
            | Traffic::Udp(_) => None,
        }
    }

    /// Returns the size in bytes of a file of the source; `None` for endless data and for cells.
    pub fn file_size(&self) -> Option<u64> {
        self.tcp()?.file_size
    }

    /// Whether both ends send data.
    pub(crate) fn sends_both_ways(&self) -> bool {
        self.tcp().is_some_and(|tcp| tcp.both_ways)
    }

    /// Whether the receiving end answers, so that a flow goes back.
    pub fn answers(&self) -> bool {
        match self {
            Traffic::Tcp(_) => true,
            Traffic::Cbr { .. }
            | Traffic::Poisson { .. }
            | Traffic::Vbr { .. }
            | Traffic::Udp(_) => false,
        }
    }

    /// Returns the highest rate at which the source hands cells to its NIC regardless of loss,
    /// counting whole cells. `None` when the source adapts to the network.
    pub(crate) fn peak_rate(&self) -> Option<BitRate> {
        match self {
            Traffic::Tcp(_) => None,
            Traffic::Cbr { rate } | Traffic::Poisson { rate } | Traffic::Vbr { rate, .. } => {
                Some(*rate)
            }
            Traffic::Udp(udp) => Some(udp.rate),
        }
    }

    /// Returns the mean rate in bits per second that the source offers regardless of loss, counting
    /// whole cells. `None` when the source adapts to the network.
    pub fn offered_rate(&self) -> Option<f64> {
        // The ratio of two lengths is the same in every clock.
        let seconds = |span: Span| span.as_seconds(Clock::AAL5);
        match self {
            Traffic::Tcp(_) => None,
            Traffic::Cbr { rate } | Traffic::Poisson { rate } => Some(rate.0 as f64),
            Traffic::Vbr { rate, on, off } => {
                let (on, off) = (seconds(*on), seconds(*off));
                Some(rate.0 as f64 * on / (on + off))
            }
            Traffic::Udp(udp) => {
                let (on, off) = udp
                    .on
                    .map_or((1.0, 0.0), |on| (seconds(on), seconds(udp.off)));
                Some(udp.rate.0 as f64 * on / (on + off))
            }
        }
    }

    /// The rate within bursts, their length and the pause between them, if the source has bursts.
    pub(crate) fn bursts(&self) -> Option<(BitRate, [Span; 2])> {
        match *self {
            Traffic::Vbr { rate, on, off } => Some((rate, [on, off])),
            Traffic::Udp(udp) => Some((udp.rate, [udp.on?, udp.off])),
            Traffic::Tcp(_) | Traffic::Cbr { .. } | Traffic::Poisson { .. } => None,
        }
    }

    /// Most bits on the line that the source offers in `seconds` regardless of loss; the mean of a
    /// random one. `None` when the source adapts to the network.
    pub(crate) fn offered_bits(&self, format: Format, seconds: f64) -> Option<f64> {
        let frame = self.frame_size(format).line_bits();
        let Some((rate, bursts)) = self.bursts() else {
            return self.offered_rate().map(|rate| rate * seconds + frame);
        };
        let [on, off] = bursts.map(|span| span.as_seconds(format.clock));
        let whole = (seconds / (on + off)).floor();
        let time = whole * on + (seconds - whole * (on + off)).min(on);
        // The last frame of a burst begins in it.
        Some(rate.0 as f64 * time + (whole + 1.0) * frame)
    }

    /// Returns the shortest pause, in whole nanoseconds, with which bursts keep to the peak rate,
    /// if the given pause is too short. The last cell of a burst still takes its time.
    pub(crate) fn pause_needed(&self, format: Format) -> Option<Span> {
        let (BitRate(rate), bursts) = self.bursts()?;
        let [on, off] = bursts.map(|span| u128::from(span.0));
        // A burst sends its first cell or frame at once. Another follows for each full cell or
        // frame time that ends before the burst does.
        let frame_ticks_by_rate = u128::from(8 * self.frame_size(format).line_bytes())
            * u128::from(format.clock.ticks_per_second);
        let of_burst = (on * u128::from(rate)).div_ceil(frame_ticks_by_rate);
        let needed = (of_burst * frame_ticks_by_rate).div_ceil(u128::from(rate));
        (needed > on + off).then(|| {
            let nanosecond = format.clock.ticks_per_nanosecond();
            let nanoseconds = (needed - on).div_ceil(u128::from(nanosecond));
            let nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
            Span(nanoseconds.saturating_mul(nanosecond))
        })
    }

    /// Returns the largest load that the source can have in flight at once in a run of the given
    /// number of seconds.
    pub(crate) fn most_under_way(&self, format: Format, seconds: f64) -> Load {
        match self {
            Traffic::Tcp(tcp) => {
                let bytes = tcp.file_size.map_or(tcp.rwnd, |size| size.min(tcp.rwnd));
                let frames = bytes.div_ceil(tcp.mss) as f64;
                let ack = format.ack(tcp.most_blocks());
                // The flow of ACKs has the same bound. An ACK with blocks may be the longer frame.
                let longest = format.segment(tcp.mss).longer(ack);
                // ACKs of the other end share the flow, one for each segment of its window.
                let acks = if tcp.both_ways { frames } else { 0.0 };
                Load {
                    frames: frames + acks,
                    cells: frames * f64::from(longest.cells()) + acks * f64::from(ack.cells()),
                    bits: frames * longest.line_bits() + acks * ack.line_bits(),
                }
            }
            Traffic::Cbr { rate } | Traffic::Poisson { rate } | Traffic::Vbr { rate, .. } => {
                let cells = 1.0 + format.cells_in(rate.0 as f64 * seconds);
                Load {
                    frames: cells,
                    cells,
                    bits: cells * format.cell_bits as f64,
                }
            }
            Traffic::Udp(udp) => {
                let size = udp.frame(format);
                let frames = 1.0 + udp.rate.0 as f64 * seconds / size.line_bits();
                Load {
                    frames,
                    cells: frames * f64::from(size.cells()),
                    bits: frames * size.line_bits(),
                }
            }
        }
    }

    /// Why a VC with this traffic cannot record `what`, and which VCs can. `None` if it can.
    pub(crate) fn lacks(&self, what: Observable) -> Option<[&'static str; 2]> {
        let (has, why) = match what {
            Observable::Cwnd
            | Observable::Ssthresh
            | Observable::Sequence
            | Observable::Acknowledged
            | Observable::Flight
            | Observable::Rtt
            | Observable::Rto => (
                self.tcp().is_some(),
                ["it is not TCP", "a VC with TCP traffic"],
            ),
            Observable::Delivered | Observable::Goodput => (
                self.carries() == Carries::Frames,
                ["it carries no frames", "a VC with traffic tcp or udp"],
            ),
            Observable::Trace
            | Observable::Acr
            | Observable::HostQueue
            | Observable::Queue
            | Observable::Pool
            | Observable::Threshold
            | Observable::LinkShare
            | Observable::Drops
            | Observable::Credit
            | Observable::AverageQueue
            | Observable::Capture => return None,
        };
        (!has).then_some(why)
    }

    /// The period over which a replication may draw the start (`Ensemble::vbr_phase`). `None` for
    /// sources without one.
    pub fn start_phase(&self) -> Option<Span> {
        match self {
            Traffic::Vbr { on, off, .. } => Some(*on + *off),
            Traffic::Udp(udp) => udp.on.map(|on| on + udp.off),
            Traffic::Tcp(_) | Traffic::Cbr { .. } | Traffic::Poisson { .. } => None,
        }
    }

    /// Processing of every frame by the VC's transport at each end.
    pub fn processing(&self) -> Option<Processing> {
        match self {
            Traffic::Tcp(tcp) => tcp.processing,
            Traffic::Cbr { .. }
            | Traffic::Poisson { .. }
            | Traffic::Vbr { .. }
            | Traffic::Udp(_) => None,
        }
    }
}

impl UdpParams {
    /// The frame that carries one datagram.
    pub fn frame(&self, format: Format) -> FrameSize {
        format.datagram(self.datagram_size)
    }
}

impl TcpParams {
    /// Bytes of the longest segment: a whole file if that is shorter than the MSS.
    fn longest_segment(&self) -> u64 {
        self.file_size.map_or(self.mss, |size| size.min(self.mss))
    }

    /// Most SACK blocks of an ACK.
    fn most_blocks(&self) -> u8 {
        match self.recovery.reads_blocks() {
            true => self.sack_blocks as u8,
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::scenario::model::Recovery;

    /// Shortest and longest of the data and of the ACKs, worked by hand: 38 bytes, 40 of headers in a
    /// segment, at least 46 in a frame, and 4 + 8 n of blocks.
    #[test]
    fn lengths_of_packets_follow_from_their_source() {
        let tcp = |change: fn(&mut TcpParams)| {
            let mut params = TcpParams {
                mss: 1_460,
                recovery: Recovery::NewReno,
                ..TcpParams::default()
            };
            change(&mut params);
            Traffic::Tcp(Box::new(params))
        };
        let udp = Traffic::Udp(UdpParams {
            datagram_size: 100,
            rate: BitRate(1_000_000),
            on: None,
            off: Span::ZERO,
        });
        let sack = |blocks| {
            let mut traffic = tcp(|tcp| tcp.recovery = Recovery::Sack);
            if let Traffic::Tcp(tcp) = &mut traffic {
                tcp.sack_blocks = blocks;
            }
            traffic
        };
        for (traffic, data, acks) in [
            (tcp(|_| ()), [1_538, 1_538], Some([84, 84])),
            (tcp(|tcp| tcp.handshake = true), [84, 1_538], Some([84, 84])),
            (
                tcp(|tcp| tcp.file_size = Some(2_920)),
                [1_538, 1_538],
                Some([84, 84]),
            ),
            (
                tcp(|tcp| tcp.file_size = Some(3_000)),
                [158, 1_538],
                Some([84, 84]),
            ),
            (tcp(|tcp| tcp.file_size = Some(3)), [84, 84], Some([84, 84])),
            (
                tcp(|tcp| tcp.both_ways = true),
                [84, 1_538],
                Some([84, 1_538]),
            ),
            (sack(1), [1_538, 1_538], Some([84, 90])),
            (sack(4), [1_538, 1_538], Some([84, 114])),
            (udp, [166, 166], None),
        ] {
            let found = |kind| {
                let lengths = traffic.cell_lengths(kind, Format::ETHERNET);
                lengths.map(|of| [of.shortest, of.longest])
            };
            assert_eq!(
                [found(FlowKind::Data), found(FlowKind::Ack)],
                [Some(data), acks],
                "{traffic:?}"
            );
            let aal5 = traffic.cell_lengths(FlowKind::Data, Format::AAL5);
            assert!(aal5.is_some_and(|of| of.are_equal()), "{traffic:?}");
        }
    }
}
