//! The scenario as plain data, checked and with every default filled in.
//!
//! The reader (`scenario::read`) makes it from a file or from Python components. Times are ticks,
//! rates are bits per second, sizes are cells or bytes. Names are unique, and things refer to each
//! other by name, never by index.

pub use super::abr::{AbrParams, EricaParams, EricaPlusParams, Feedback, RmRates};
pub use super::contract::{Contract, ContractTerms};
pub use super::port::{
    ClassQueue, DropPolicy, GcraForm, Police, PoliceAction, ProcessingUnit, RedAverage, RedParams,
    RestOfFrame, Scheduler, TurnUnit,
};
use super::threshold::Size;
pub use super::threshold::Threshold;
pub use crate::ground::class::Class;
use crate::ground::format::Format;
use crate::ground::units::{BitRate, Ratio, Span};
use crate::text::registry::FAIR_SHARES;
use serde::{Deserialize, Serialize};

/// The first fields of a [`Scenario`]. Deserialising it from a scenario's data ignores all other
/// fields.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Heading {
    /// Name for reports.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// What its cells and frames look like.
    #[serde(default)]
    pub format: Format,
}

/// A whole network with its traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name for reports.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// What its cells and frames look like.
    #[serde(default, skip_serializing_if = "Format::is_aal5")]
    pub format: Format,
    /// Simulated time. Events at or after its end do not happen.
    pub duration: Span,
    /// Order of cells that reach a port at one instant from several inputs.
    pub tie_order: TieOrder,
    /// Offset of the rotating tie order.
    pub tie_offset: u64,
    /// Whether an arrival is handled before a departure at the same instant and port.
    pub arrival_first: bool,
    /// Instant of the first tick of every coarse TCP timer. Shared by all hosts unless `timers`
    /// says otherwise.
    pub timer_phase: Span,
    /// Whether the coarse timers of all hosts tick together.
    pub timers: Timers,
    /// Random variation between replications.
    pub ensemble: Ensemble,
    /// What is measured.
    pub measure: Measure,
    /// End systems.
    pub hosts: Vec<Host>,
    /// Switches.
    pub switches: Vec<Switch>,
    /// One-way links.
    pub links: Vec<Link>,
    /// Virtual circuits.
    pub vcs: Vec<Vc>,
    /// Time series to record.
    pub probes: Vec<Probe>,
}

/// Order among cells that reach a port at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieOrder {
    /// Inputs in scenario order.
    Fixed,
    /// Rotating order: with n inputs, input (floor(t / c) + offset + j) mod n is j-th.
    /// Here c is the cell time of the port.
    Rotating,
    /// Random order, drawn from the seed anew for each instant and port.
    Random,
    /// By the last contested tie that the input won: never first, then longest ago, then by number.
    Fair,
}

/// Whether the coarse TCP timers of all hosts tick together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timers {
    /// All tick at `timer_phase` and every granularity from then on.
    Common,
    /// Each host's timers are shifted by a random delay, uniform over one tick.
    Own,
}

/// Random variation between replications. No effect on a run that is not a replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensemble {
    /// Bound of the random delay of each VC's source, uniform in [0, start_jitter).
    pub start_jitter: Span,
    /// Whether the common timer phase is random, uniform over one tick.
    pub timer_phase: bool,
    /// Whether the offset of the rotating tie order is random.
    pub tie_offset: bool,
    /// Whether each VBR source, and each UDP source with bursts, starts at a random phase. The
    /// delay is uniform over its period (on + off).
    pub vbr_phase: bool,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Start of the measured time. Earlier deliveries do not count in goodputs and delays.
    pub warm_up: Span,
    /// Length of the measured time after the warm-up. Absent: until the end of the run.
    pub window: Option<Span>,
    /// Largest possible sum of goodputs, for `efficiency`.
    pub max_goodput: Option<MaxGoodput>,
}

/// Largest possible sum of goodputs, to which efficiency is relative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "RateOrWord", try_from = "RateOrWord")]
pub enum MaxGoodput {
    /// A rate given in the scenario.
    Stated(BitRate),
    /// The sum of the max-min fair shares of the links.
    FairShares,
}

/// Serialised form of [`MaxGoodput`]: a rate, or [`FAIR_SHARES`].
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RateOrWord {
    Rate(BitRate),
    Word(String),
}

impl From<MaxGoodput> for RateOrWord {
    fn from(most: MaxGoodput) -> RateOrWord {
        match most {
            MaxGoodput::Stated(rate) => RateOrWord::Rate(rate),
            MaxGoodput::FairShares => RateOrWord::Word(FAIR_SHARES.into()),
        }
    }
}

impl TryFrom<RateOrWord> for MaxGoodput {
    type Error = String;

    fn try_from(found: RateOrWord) -> Result<MaxGoodput, String> {
        match found {
            RateOrWord::Rate(rate) => Ok(MaxGoodput::Stated(rate)),
            RateOrWord::Word(word) if word == FAIR_SHARES => Ok(MaxGoodput::FairShares),
            RateOrWord::Word(word) => Err(format!("`{word}` is not `{FAIR_SHARES}`")),
        }
    }
}

/// An end system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Unique name.
    pub name: String,
    /// Delay of every frame sent and received, shared by all VCs of the host.
    pub processing: Option<Processing>,
}

/// A processing delay that preserves order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processing {
    /// One at a time (`server`) or all at once (`latency`).
    pub kind: ProcessingKind,
    /// Whether each cell or each frame takes the time.
    pub per: ProcessingUnit,
    /// Mean time.
    pub mean: Span,
    /// Half-width of the random time: each is uniform in [mean - spread, mean + spread].
    pub spread: Span,
}

impl Processing {
    /// Whether the delay is constant, so that it can be part of a latency.
    pub fn is_constant(&self) -> bool {
        self.kind == ProcessingKind::Latency && self.spread == Span::ZERO
    }
}

/// How a processing delay treats arrivals while it is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessingKind {
    /// One at a time. Each leaves at max(arrival, previous leaving) + time.
    Server,
    /// All at once, in order. Each leaves at max(arrival + time, previous leaving).
    Latency,
}

/// A switch; each outgoing link is one of its ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Unique name.
    pub name: String,
    /// Delay between an input and the output ports.
    pub processing: Option<Processing>,
    /// Scheduler of every port that does not set its own.
    pub scheduler: Scheduler,
    /// Memory that the queues of its ports share. Absent: each queue has separate memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    /// Class queues of every port that does not set its own. A class without an entry has an
    /// unlimited tail-drop queue.
    pub queues: Vec<ClassQueue>,
}

/// Shared memory of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// B: what may wait at all ports together.
    pub buffer: Size,
    /// Bytes of a memory cell, if that is a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
}

/// A one-way link. A link that leaves a switch is one of its ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Unique name.
    pub name: String,
    /// Host or switch that the link leaves.
    pub from: String,
    /// Host or switch that the link enters.
    pub to: String,
    /// Rate of the line at time 0, counting all bytes of each cell.
    pub rate: BitRate,
    /// Changes of the rate, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<RateChange>,
    /// Propagation delay.
    pub delay: Span,
    /// Indices of data frames lost on the link. Frames are counted from 0 as they enter it,
    /// including retransmissions.
    pub lose_frames: Vec<u64>,
    /// Probability that a data frame is lost on the link.
    pub lose_probability: Ratio,
    /// Scheduler of this port, instead of the switch's.
    pub scheduler: Option<Box<Scheduler>>,
    /// Class queues of this port. They replace the switch's queues of the same class.
    pub queues: Vec<ClassQueue>,
}

/// A change of the rate of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateChange {
    /// Time of the change.
    pub at: Span,
    /// Rate from then on; 0: no cell begins.
    pub rate: BitRate,
}

/// A bidirectional connection on one route. Data flow from `from` to `to`; ACKs flow back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vc {
    /// Unique name.
    pub name: String,
    /// Host that sends data.
    pub from: String,
    /// Host that receives data.
    pub to: String,
    /// Switches from `from` to `to`. ACKs take them in reverse.
    pub route: Vec<String>,
    /// Service class of both directions.
    pub class: Class,
    /// Weight of this VC in a per-VC scheduler.
    pub weight: u64,
    /// Rate that a per-VC scheduler guarantees this VC's data.
    pub guarantee: Option<BitRate>,
    /// Start of the source.
    pub start: Span,
    /// Instant from which the source offers nothing new. Absent: never.
    pub stop: Option<Span>,
    /// Contract for the VC's data, used by policers and by drop policies that guarantee rates.
    pub contract: Option<Contract>,
    /// ABR end systems. Absent: the VC ignores ABR feedback.
    pub abr: Option<AbrParams>,
    /// Shaper of what `from` sends. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Traffic that the VC sends.
    pub traffic: Traffic,
}

/// Token bucket that the frames of a VC pass at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Rate at which the bucket fills, counting all bytes on the line.
    pub rate: BitRate,
    /// Bytes on the line that the full bucket holds.
    pub burst: u64,
    /// Whether the frames that flow back pass an equal, separate bucket.
    pub both_ways: bool,
}

impl Vc {
    /// The VC's contract with every default filled in.
    pub(crate) fn terms(&self, format: Format) -> Option<ContractTerms> {
        let contract = self.contract?;
        let frame = self.frame_cells(format);
        Some(ContractTerms {
            pcr: contract.pcr,
            cdvt: contract.cdvt,
            sustained: contract.scr.or(contract.mcr),
            mcr: contract.mcr,
            mbs: contract.mbs.unwrap_or(2 * frame),
            mfs: contract.mfs.unwrap_or(frame),
        })
    }

    /// Cells of the largest data frame that the VC sends.
    pub(crate) fn frame_cells(&self, format: Format) -> u64 {
        u64::from(self.traffic.frame_size(format).cells())
    }
}

/// Traffic that a VC sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Traffic {
    /// A TCP connection.
    Tcp(Box<TcpParams>),
    /// Single cells at equal intervals.
    Cbr {
        /// Cell rate.
        rate: BitRate,
    },
    /// Single cells as a Poisson process.
    Poisson {
        /// Mean cell rate.
        rate: BitRate,
    },
    /// Single cells at equal intervals during `on`, none during `off`, alternating.
    Vbr {
        /// Cell rate while on.
        rate: BitRate,
        /// Length of a burst.
        on: Span,
        /// Length of a pause.
        off: Span,
    },
    /// UDP datagrams of one size, without congestion control.
    Udp(UdpParams),
}

/// The parameters of a UDP source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpParams {
    /// Bytes of data in a datagram.
    pub datagram_size: u64,
    /// Cell rate while on.
    pub rate: BitRate,
    /// Length of a burst. Absent: one endless burst.
    pub on: Option<Span>,
    /// Length of a pause.
    pub off: Span,
}

/// The parameters of a TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpParams {
    /// Where defaults came from. All other fields hold the values that they gave.
    #[serde(default)]
    pub profile: Profile,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Largest segment, bytes of data.
    pub mss: u64,
    /// Receiver window in bytes.
    pub rwnd: u64,
    /// Initial window in segments.
    pub initial_window: u64,
    /// Initial ssthresh in bytes. Absent: `rwnd`.
    pub initial_ssthresh: Option<u64>,
    /// Timer granularity.
    pub granularity: Span,
    /// Smallest RTO.
    pub min_rto: Span,
    /// RTO before the first round-trip sample.
    pub initial_rto: Span,
    /// Largest RTO.
    pub max_rto: Span,
    /// Round-trip estimator.
    pub estimator: Estimator,
    /// Delay of ACKs. Absent: immediate.
    pub delayed_ack: Option<Span>,
    /// Phase of the delayed-ACK ticks.
    pub delayed_ack_phase: TickPhase,
    /// Number of duplicate ACKs that start a fast retransmit.
    pub dupack_threshold: u32,
    /// Bytes of a file. Absent: endless data.
    pub file_size: Option<u64>,
    /// Number of files to send one after the other. Absent: as many as time allows.
    pub files: Option<u64>,
    /// Time from the end of a file to the beginning of the next.
    pub file_gap: Span,
    /// How each file after the first begins.
    pub next_file: NextFile,
    /// Whether connections open with SYN, SYN-ACK and ACK.
    pub handshake: bool,
    /// Whether the other end also sends data, on a second connection.
    pub both_ways: bool,
    /// Most SACK blocks in one ACK.
    pub sack_blocks: u32,
    /// How a SACK sender counts what is in flight.
    pub sack_pipe: SackPipe,
    /// Whether Reno's fast retransmit resends the missing segment. `nothing` only reproduces one
    /// published study; never make it a default.
    pub reno_fast_retransmit: RenoFastRetransmit,
    /// Reno's congestion window around a recovery.
    pub reno_window: RenoWindow,
    /// Delay of every segment that the VC's transport sends or receives.
    pub processing: Option<Processing>,
}

/// Defaults of a TCP by name, as the registry has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Profile {
    /// TCPs of the studies.
    #[default]
    #[serde(rename = "1996")]
    Year1996,
    /// Near those of Linux.
    #[serde(rename = "linux")]
    Linux,
}

impl Profile {
    /// Name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Year1996 => "1996",
            Profile::Linux => "linux",
        }
    }
}

/// State in which a TCP begins the next file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextFile {
    /// State of a newly opened connection.
    NewConnection,
    /// Slow start; all other state is kept.
    SameConnection,
}

/// Phase of a timer's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TickPhase {
    /// Ticks fall on multiples of the granularity.
    Zero,
    /// Ticks begin with the first tick of the coarse timers.
    Timer,
}

/// Reno's congestion window around a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RenoWindow {
    /// As in RFC 2001.
    Rfc2001,
    /// As in 4.4BSD-Lite2.
    BsdLite2,
}

/// Loss recovery of a TCP sender. See `host::tcp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Slow start and congestion avoidance. Only the timer repairs losses.
    Vanilla,
    /// Fast retransmit, then slow start.
    Tahoe,
    /// Fast retransmit and fast recovery (RFC 2001).
    Reno,
    /// Fast recovery that continues over partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgements (RFC 2018).
    Sack,
}

impl Recovery {
    /// Whether the sender uses SACK blocks, so that the receiver must send them.
    pub(crate) fn reads_blocks(self) -> bool {
        match self {
            Recovery::Vanilla | Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => false,
            Recovery::Sack => true,
        }
    }
}

/// Estimator of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// BSD fixed-point arithmetic on whole ticks.
    Bsd,
    /// `Bsd` with 4.4BSD-Lite2's rules for a sender without samples: before the first one, and
    /// after four timeouts in a row.
    BsdLite2,
    /// RFC 6298 on measured times, rounded up to the granularity.
    Rfc6298,
}

/// How a SACK sender counts data in flight during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SackPipe {
    /// A counter: -1 per duplicate ACK, -2 per partial ACK, +1 per segment sent (1996).
    Counter,
    /// Recomputed from the scoreboard (RFC 6675).
    Rfc6675,
}

/// What Reno sends at the third duplicate ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RenoFastRetransmit {
    /// The missing segment, as RFC 2001 says.
    MissingSegment,
    /// Nothing. Only the timer repairs the hole.
    Nothing,
}

/// A time series to record. Probes never change the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// What is recorded.
    pub what: Observable,
    /// Name of the VC, port (link) or host to record.
    pub of: String,
    /// Restricts a queue to one class.
    pub class: Option<Class>,
    /// Restricts a queue to one VC.
    pub vc: Option<String>,
    /// Sampling interval. Every change is recorded if `interval`, `every` and `envelope` are all
    /// absent.
    pub interval: Option<Span>,
    /// Records at every n-th cell that reaches the port.
    pub every: Option<u64>,
    /// Records minimum, time average and maximum of each interval of this length.
    pub envelope: Option<Span>,
    /// Content of a capture.
    pub layer: Option<Layer>,
    /// Start of a capture. Absent: the start of the run.
    pub from: Option<Span>,
    /// End of a capture. Absent: the end of the run.
    pub to: Option<Span>,
}

impl Probe {
    /// Creates a probe that records every change of `what` at the VC, port or host `of`, for all
    /// classes and VCs.
    pub fn new(what: Observable, of: impl Into<String>) -> Probe {
        Probe {
            what,
            of: of.into(),
            class: None,
            vc: None,
            interval: None,
            every: None,
            envelope: None,
            layer: None,
            from: None,
            to: None,
        }
    }
}

/// Content of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The cells that a link carries.
    Cells,
    /// The AAL5 or Ethernet frames whose cells a link carries.
    Frames,
    /// The IP packets that a host's transports send and receive.
    Segments,
}

impl Layer {
    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Cells => "cells",
            Layer::Frames => "frames",
            Layer::Segments => "segments",
        }
    }
}

/// What a probe can record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observable {
    /// Waiting cells at a port (X, or Y_i with `vc`).
    Queue,
    /// Places of a switch's pool that are in use.
    Pool,
    /// Dynamic threshold of a class queue, places.
    Threshold,
    /// Congestion window of a VC, bytes.
    Cwnd,
    /// Slow-start threshold of a VC, bytes.
    Ssthresh,
    /// First byte of each segment that a TCP sends, in bytes. Retransmissions step back.
    Sequence,
    /// First byte that the TCP sender has no ACK for.
    Acknowledged,
    /// Bytes sent by a TCP and not yet acknowledged.
    Flight,
    /// Each round-trip time that a TCP measures, seconds.
    Rtt,
    /// Retransmission timeout of a TCP, seconds.
    Rto,
    /// Bytes of frames delivered in order since the start.
    Delivered,
    /// Bytes delivered per interval of a VC, as Mb/s.
    Goodput,
    /// ACR of a VC's data, as Mb/s.
    Acr,
    /// Cells waiting before the ABR end system that sends a VC's data.
    HostQueue,
    /// Share of a link's cell slots used by each class, per interval.
    LinkShare,
    /// Cells dropped at a port per interval.
    Drops,
    /// Credit of a guaranteed-rate scheduler.
    Credit,
    /// Every dropped cell of a VC with the reason.
    Trace,
    /// Average queue that the drop policies at a port use.
    AverageQueue,
    /// Cells, frames or segments, in a file that Wireshark opens.
    Capture,
}

impl Observable {
    /// Name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Observable::Queue => "queue",
            Observable::Pool => "pool",
            Observable::Threshold => "threshold",
            Observable::Cwnd => "cwnd",
            Observable::Ssthresh => "ssthresh",
            Observable::Sequence => "sequence",
            Observable::Acknowledged => "acknowledged",
            Observable::Flight => "flight",
            Observable::Rtt => "rtt",
            Observable::Rto => "rto",
            Observable::Delivered => "delivered",
            Observable::Goodput => "goodput",
            Observable::Acr => "acr",
            Observable::HostQueue => "host-queue",
            Observable::LinkShare => "link-share",
            Observable::Drops => "drops",
            Observable::Credit => "credit",
            Observable::Trace => "trace",
            Observable::AverageQueue => "average-queue",
            Observable::Capture => "capture",
        }
    }

    /// Unit of the values. Where a cell is called a packet, so is its unit.
    pub fn unit(self, format: Format) -> String {
        let unit = match self {
            Observable::Queue
            | Observable::Pool
            | Observable::Threshold
            | Observable::HostQueue
            | Observable::Drops
            | Observable::Trace
            | Observable::AverageQueue => return format!("{}s", format.noun()),
            Observable::LinkShare if format.is_ethernet => "fraction of time",
            Observable::LinkShare => "fraction of slots",
            Observable::Cwnd
            | Observable::Ssthresh
            | Observable::Sequence
            | Observable::Acknowledged
            | Observable::Flight
            | Observable::Delivered => "bytes",
            Observable::Rtt | Observable::Rto => "s",
            Observable::Goodput | Observable::Acr => "Mb/s",
            Observable::Credit => "slots",
            Observable::Capture => "packets",
        };
        unit.into()
    }
}
