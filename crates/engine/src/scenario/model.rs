//! The scenario as plain data: what the reader (`scenario::read`) makes of a file or of Python
//! components after checking it, with every default filled in. Times are ticks, rates bits per
//! second, sizes cells or bytes; names are unique; nothing here refers to another thing by index.

pub use super::abr::{AbrParams, EricaParams, EricaPlusParams, Feedback, RmRates};
pub use super::contract::{Contract, Terms};
pub use super::port::{
    ClassQueue, DropPolicy, GcraForm, Police, PoliceAction, RedAverage, RedParams, RestOfFrame,
    Scheduler, Threshold,
};
pub use crate::class::Class;
use crate::registry::FAIR_SHARES;
use crate::units::{BitRate, Ratio, Span};
use serde::{Deserialize, Serialize};

/// What a [`Scenario`] begins with; read from its data form, the rest is passed over.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Heading {
    /// Name for reports.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
}

/// A whole network with its traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name for reports.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Simulated time. Events at or after its end do not happen.
    pub duration: Span,
    /// Who goes first when cells reach a port at one instant from several inputs.
    pub tie_order: TieOrder,
    /// Offset of the rotating tie order.
    pub tie_offset: u64,
    /// Whether an arrival is handled before a departure at the same instant and port.
    pub arrival_first: bool,
    /// Instant of the first tick of every coarse TCP timer, common to all hosts unless `timers` says otherwise.
    pub timer_phase: Span,
    /// Whether they tick together.
    pub timers: Timers,
    /// What a replication draws.
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
    /// With n inputs, input (floor(t rate / 424) + offset + j) mod n is j-th.
    Rotating,
    /// A seeded random order, drawn anew for each instant and port.
    Random,
}

/// Whether the coarse TCP timers of all hosts tick together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timers {
    /// At `timer_phase` and every granularity from there on.
    Common,
    /// Those of each host later by a draw of its own, uniform over one tick.
    Own,
}

/// What a replication draws; a run that is not a replication draws nothing of this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensemble {
    /// Each VC's source starts later by a uniform draw from [0, start_jitter).
    pub start_jitter: Span,
    /// Whether the common timer phase is drawn, uniform over one tick.
    pub timer_phase: bool,
    /// Whether the offset of the rotating tie order is drawn.
    pub tie_offset: bool,
    /// Whether each VBR source, and each UDP with bursts, starts later by a draw, uniform over its period (on + off).
    pub vbr_phase: bool,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Deliveries before this are not counted in goodputs and delays.
    pub warm_up: Span,
    /// Length of the counted time after the warm-up; to the end of the run when absent.
    pub window: Option<Span>,
    /// The largest possible sum of goodputs, for `efficiency`.
    pub max_goodput: Option<MaxGoodput>,
}

/// The largest possible sum of goodputs, to which efficiency is relative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "RateOrWord", try_from = "RateOrWord")]
pub enum MaxGoodput {
    /// A rate that the scenario states.
    Stated(BitRate),
    /// What max-min fair shares of the links add up to.
    FairShares,
}

/// How a largest goodput stands in a record: a rate, or [`FAIR_SHARES`].
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
    /// Delay of every frame sent and received, common to all VCs of the host.
    pub processing: Option<Processing>,
}

/// A delay that keeps the order of what passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processing {
    /// One at a time (`server`) or all at once (`latency`).
    pub kind: ProcessingKind,
    /// Whether each cell or each frame takes the time.
    pub per: ProcessingUnit,
    /// Mean time.
    pub mean: Span,
    /// Each time is uniform in [mean - spread, mean + spread].
    pub spread: Span,
}

/// How a processing delay treats what comes while it is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessingKind {
    /// One at a time: leaves at max(arrival, previous leaving) + time.
    Server,
    /// All at once, in order: leaves at max(arrival + time, previous leaving).
    Latency,
}

/// What a processing time is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessingUnit {
    /// Each cell.
    Cell,
    /// Each frame.
    Frame,
}

/// A switch; each outgoing link is one of its ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Unique name.
    pub name: String,
    /// Delay between an input and the output ports.
    pub processing: Option<Processing>,
    /// Scheduler of every port that does not name its own.
    pub scheduler: Scheduler,
    /// Class queues of every port that does not name its own; a class without an entry has an
    /// unlimited tail-drop queue.
    pub queues: Vec<ClassQueue>,
}

/// A one-way link. A link that leaves a switch is one of its ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Unique name.
    pub name: String,
    /// Host or switch it leaves.
    pub from: String,
    /// Host or switch it reaches.
    pub to: String,
    /// Cell rate of the line.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// Data frames lost on the link, counted from 0 as they enter it, retransmissions included.
    pub lose_frames: Vec<u64>,
    /// Probability that a data frame is lost on the link.
    pub lose_probability: Ratio,
    /// Scheduler of this port, instead of the switch's.
    pub scheduler: Option<Scheduler>,
    /// Class queues of this port, instead of the switch's of the same class.
    pub queues: Vec<ClassQueue>,
}

/// A bidirectional connection on one route. Data flow from `from` to `to`, ACKs back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vc {
    /// Unique name.
    pub name: String,
    /// Host that sends data.
    pub from: String,
    /// Host that receives data.
    pub to: String,
    /// Switches from `from` to `to`; ACKs take them backwards.
    pub route: Vec<String>,
    /// Service class of both directions.
    pub class: Class,
    /// Share of this VC in a per-VC scheduler.
    pub weight: u64,
    /// Rate that a per-VC scheduler guarantees this VC's data.
    pub guarantee: Option<BitRate>,
    /// When its source starts.
    pub start: Span,
    /// From when on its source offers nothing new; never when absent.
    pub stop: Option<Span>,
    /// What is agreed on its data, for policers and for drop policies that guarantee rates.
    pub contract: Option<Contract>,
    /// How its end systems keep to the rate that the network allows; they ask nobody when absent.
    pub abr: Option<AbrParams>,
    /// What it sends.
    pub traffic: Traffic,
}

/// What a VC sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Traffic {
    /// A TCP connection.
    Tcp(Box<TcpParams>),
    /// Single cells at equal distances.
    Cbr {
        /// Cell rate.
        rate: BitRate,
    },
    /// Single cells as a Poisson process.
    Poisson {
        /// Mean cell rate.
        rate: BitRate,
    },
    /// Single cells at equal distances during `on`, none during `off`, in turn.
    Vbr {
        /// Cell rate while on.
        rate: BitRate,
        /// Length of a burst.
        on: Span,
        /// Length of a pause.
        off: Span,
    },
    /// UDP datagrams of one size, offered whatever becomes of them.
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
    /// Length of a burst; without end when absent.
    pub on: Option<Span>,
    /// Length of a pause.
    pub off: Span,
}

/// The parameters of a TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpParams {
    /// Loss recovery.
    pub recovery: Recovery,
    /// Largest segment, bytes of data.
    pub mss: u64,
    /// Receiver window, bytes.
    pub rwnd: u64,
    /// Initial window, segments.
    pub initial_window: u64,
    /// Initial ssthresh, bytes; `rwnd` when absent.
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
    /// Delay of ACKs; immediate when absent.
    pub delayed_ack: Option<Span>,
    /// Where the ticks of delayed ACKs fall.
    pub delayed_ack_phase: TickPhase,
    /// Duplicate ACKs that start a fast retransmit.
    pub dupack_threshold: u32,
    /// Bytes of a file; without end when absent.
    pub file_size: Option<u64>,
    /// Files to send, one after the other; as many as there is time for when absent.
    pub files: Option<u64>,
    /// From the end of a file to the beginning of the next.
    pub file_gap: Span,
    /// How each file but the first begins.
    pub next_file: NextFile,
    /// Whether connections open with SYN, SYN-ACK and ACK.
    pub handshake: bool,
    /// Whether the other end sends as well, on a connection of its own.
    pub both_ways: bool,
    /// Most SACK blocks in one ACK.
    pub sack_blocks: u32,
    /// How a SACK sender counts what is in flight.
    pub sack_pipe: SackPipe,
    /// Whether the fast retransmit of Reno really resends the missing segment. `nothing` is for
    /// reproducing one published study, never a default.
    pub reno_fast_retransmit: RenoFastRetransmit,
    /// The congestion window of Reno around a recovery.
    pub reno_window: RenoWindow,
    /// Delay of every segment sent and received by the transport of this VC.
    pub processing: Option<Processing>,
}

/// How a file begins that follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextFile {
    /// As the data of a connection that has just opened.
    NewConnection,
    /// With slow start; all else is kept.
    SameConnection,
}

/// Where the ticks of a timer fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TickPhase {
    /// At multiples of the granularity.
    Zero,
    /// From the first tick of the coarse timers on.
    Timer,
}

/// The congestion window of Reno around a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RenoWindow {
    /// As RFC 2001 says.
    Rfc2001,
    /// As 4.4BSD-Lite2 has it.
    BsdLite2,
}

/// Loss recovery of a TCP sender. See `host::tcp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Slow start and congestion avoidance; only the timer repairs.
    Vanilla,
    /// Fast retransmit, then slow start.
    Tahoe,
    /// Fast retransmit and fast recovery (RFC 2001).
    Reno,
    /// Fast recovery over partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgements (RFC 2018).
    Sack,
}

impl Recovery {
    /// Whether its sender makes use of SACK blocks, so that the receiver sends them.
    pub(crate) fn reads_blocks(self) -> bool {
        match self {
            Recovery::Vanilla | Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => false,
            Recovery::Sack => true,
        }
    }
}

/// How the retransmission timeout is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// BSD fixed point on whole ticks.
    Bsd,
    /// The same with what 4.4BSD-Lite2 does without samples.
    BsdLite2,
    /// RFC 6298, on measured times rounded up to the granularity.
    Rfc6298,
}

/// How a SACK sender counts what is in flight during recovery.
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
    /// Nothing; only the timer repairs the hole.
    Nothing,
}

/// A time series to record. Probes never change the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// What is recorded.
    pub what: Observable,
    /// The VC, port (link) or class it is recorded of.
    pub of: String,
    /// Restrict a queue to one class.
    pub class: Option<Class>,
    /// Restrict a queue to one VC.
    pub vc: Option<String>,
    /// Sampling interval; every change is recorded when none of this and the next two is given.
    pub interval: Option<Span>,
    /// Record at every n-th cell that reaches the port.
    pub every: Option<u64>,
    /// Record the least value, the mean over time and the greatest value in each interval of this length.
    pub envelope: Option<Span>,
    /// What a capture holds.
    pub layer: Option<Layer>,
    /// Start of a capture; the start of the run when absent.
    pub from: Option<Span>,
    /// End of a capture; the end of the run when absent.
    pub to: Option<Span>,
}

impl Probe {
    /// Records every change of `what`, of all classes and VCs, at the VC, port or host `of`.
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

/// What a capture holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The cells that a link carries.
    Cells,
    /// The AAL5 frames whose cells a link carries.
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
    /// Congestion window of a VC, bytes.
    Cwnd,
    /// Slow-start threshold of a VC, bytes.
    Ssthresh,
    /// First byte of each segment that a TCP sends, in bytes; a retransmission goes back.
    Sequence,
    /// First byte that a TCP's sender has no ACK for.
    Acknowledged,
    /// Bytes that a TCP has sent and has no ACK for.
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
    /// Cells that wait before the ABR end system that sends a VC's data.
    HostQueue,
    /// Share of a link's cell slots used by each class, per interval.
    LinkShare,
    /// Cells dropped at a port per interval.
    Drops,
    /// Credit of a guaranteed-rate scheduler.
    Credit,
    /// Every dropped cell of a VC with the reason.
    Trace,
    /// The average queue that drop policies at a port decide by.
    AverageQueue,
    /// Cells, frames or segments, for a file that Wireshark opens.
    Capture,
}

impl Observable {
    /// Its name, and the unit of its values.
    pub fn quantity(self) -> (&'static str, &'static str) {
        match self {
            Observable::Queue => ("queue", "cells"),
            Observable::Cwnd => ("cwnd", "bytes"),
            Observable::Ssthresh => ("ssthresh", "bytes"),
            Observable::Sequence => ("sequence", "bytes"),
            Observable::Acknowledged => ("acknowledged", "bytes"),
            Observable::Flight => ("flight", "bytes"),
            Observable::Rtt => ("rtt", "s"),
            Observable::Rto => ("rto", "s"),
            Observable::Delivered => ("delivered", "bytes"),
            Observable::Goodput => ("goodput", "Mb/s"),
            Observable::Acr => ("acr", "Mb/s"),
            Observable::HostQueue => ("host-queue", "cells"),
            Observable::LinkShare => ("link-share", "fraction of slots"),
            Observable::Drops => ("drops", "cells"),
            Observable::Credit => ("credit", "slots"),
            Observable::Trace => ("trace", "cells"),
            Observable::AverageQueue => ("average-queue", "cells"),
            Observable::Capture => ("capture", "packets"),
        }
    }
}
