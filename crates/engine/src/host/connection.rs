//! The two ends of one VC: the source that sends data, the sink that takes them, and the frames between them.

use crate::aal5::cells_of_segment;
use crate::host::tcp::{Ack, Receiver, SackBlock, Segment, Sender};
use crate::link::processing_time;
use crate::probe::{IntervalSum, Points, Steps};
use crate::rng::Stream;
use crate::scenario::{Processing, ProcessingKind};
use crate::units::{CELL_BITS, CellTime, TICKS_PER_SECOND};
use std::collections::VecDeque;

/// A processing stage of a host or a transport: keeps the order of what passes.
#[derive(Clone, Debug)]
pub struct FrameStage {
    delay: Processing,
    last: u64,
}

impl FrameStage {
    /// An idle stage.
    pub fn new(delay: Processing) -> FrameStage {
        FrameStage { delay, last: 0 }
    }

    /// When a frame that arrives at `time` leaves; `number` addresses the draw from `stream`.
    pub fn leaves(&mut self, time: u64, stream: Stream, number: u32) -> u64 {
        let takes = processing_time(&self.delay, stream, u64::from(number));
        self.last = match self.delay.kind {
            ProcessingKind::Server => time.max(self.last) + takes,
            ProcessingKind::Latency => (time + takes).max(self.last),
        };
        self.last
    }
}

/// One direction of a VC, at both of its ends.
#[derive(Debug)]
pub struct Way {
    /// Index of the first hop: the NIC it leaves through.
    pub first_hop: usize,
    /// That NIC's link.
    pub nic: usize,
    /// Number of the next frame.
    pub next_frame: u32,
    /// Frames queued at the NIC.
    pub frames_sent: u64,
    /// The hosts at its beginning and end.
    pub hosts: [usize; 2],
    /// Whether a frame that arrives may be handled at once, before its time has come: nobody else is concerned.
    pub at_once: bool,
    /// Frames delivered to the host, not yet handled: time and number.
    pub delivered: VecDeque<(u64, u32)>,
    /// Frames on their way to the transport, and from the transport to the host.
    pub to_transport: VecDeque<(u64, u32)>,
    /// See `to_transport`.
    pub to_host: VecDeque<(u64, u32)>,
    /// Processing of this VC's transport when it sends and when it receives.
    pub transport: [Option<FrameStage>; 2],
    /// Streams of the transport's and of the hosts' draws, for sending and for receiving.
    pub transport_streams: [Stream; 2],
    /// See `transport_streams`.
    pub host_streams: [Stream; 2],
}

/// A TCP connection.
#[derive(Debug)]
pub struct Tcp {
    /// The end that sends data.
    pub sender: Sender,
    /// The end that receives them.
    pub receiver: Receiver,
    /// What the data frames on their way carry: frame number, first byte, bytes.
    data: VecDeque<(u32, u64, u32)>,
    /// What the ACK frames on their way carry: frame number, next byte expected.
    acks: VecDeque<(u32, u64)>,
    /// SACK blocks of those that have any.
    sacks: VecDeque<(u32, u8, [SackBlock; crate::host::tcp::MAX_SACK_BLOCKS])>,
    /// Bytes and cells of a full segment.
    full: (u64, u32),
    /// When the timer events that are in the event list are due.
    pub sender_timer_at: u64,
    /// See `sender_timer_at`.
    pub receiver_timer_at: u64,
}

impl Tcp {
    /// A connection about to start.
    pub fn new(sender: Sender, receiver: Receiver, mss: u64) -> Tcp {
        Tcp {
            sender,
            receiver,
            data: VecDeque::new(),
            acks: VecDeque::new(),
            sacks: VecDeque::new(),
            full: (mss, cells_of_segment(mss)),
            sender_timer_at: u64::MAX,
            receiver_timer_at: u64::MAX,
        }
    }

    /// Notes what data frame `frame` carries; returns its cells.
    #[inline]
    pub fn put_segment(&mut self, frame: u32, segment: Segment) -> u32 {
        self.data.push_back((frame, segment.seq, segment.len));
        if u64::from(segment.len) == self.full.0 {
            self.full.1
        } else {
            cells_of_segment(u64::from(segment.len))
        }
    }

    /// What data frame `frame` carries; forgets it and all before it, which have been lost.
    #[inline]
    pub fn take_segment(&mut self, frame: u32) -> (u64, u32) {
        loop {
            let (number, seq, len) = self
                .data
                .pop_front()
                .expect("a frame that arrives has been sent");
            if number == frame {
                return (seq, len);
            }
        }
    }

    /// Notes what ACK frame `frame` carries.
    #[inline]
    pub fn put_ack(&mut self, frame: u32, ack: &Ack) {
        self.acks.push_back((frame, ack.ack));
        if ack.n_blocks > 0 {
            self.sacks.push_back((frame, ack.n_blocks, ack.blocks));
        }
    }

    /// What ACK frame `frame` carries; forgets it and all before it.
    #[inline]
    pub fn take_ack(&mut self, frame: u32) -> Ack {
        let next = loop {
            let (number, next) = self
                .acks
                .pop_front()
                .expect("a frame that arrives has been sent");
            if number == frame {
                break next;
            }
        };
        while let Some(&(number, n_blocks, blocks)) = self.sacks.front() {
            if number > frame {
                break;
            }
            self.sacks.pop_front();
            if number == frame {
                return Ack {
                    ack: next,
                    n_blocks,
                    blocks,
                };
            }
        }
        Ack {
            ack: next,
            ..Ack::default()
        }
    }
}

/// When a cell source emits.
#[derive(Clone, Debug)]
pub enum Emission {
    /// Cell k at the start plus ceil(k times the cell time of its rate).
    Periodic {
        /// Cell time of the rate.
        cell_time: CellTime,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean gap, ticks.
        mean: f64,
        /// For the gaps.
        stream: Stream,
    },
    /// Bursts of a periodic source.
    Bursts {
        /// Cell time within a burst.
        cell_time: CellTime,
        /// Length of a burst, ticks.
        on: u64,
        /// Length of a pause, ticks.
        off: u64,
    },
}

/// A source of single cells.
#[derive(Clone, Debug)]
pub struct CellSource {
    emission: Emission,
    /// Start of the source or of the burst, ticks.
    since: u64,
    /// Cells emitted since then (or at all).
    cells: u64,
    /// Time of the next cell, ticks.
    pub next: u64,
}

impl CellSource {
    /// A source that starts at `start` ticks.
    pub fn new(emission: Emission, start: u64) -> CellSource {
        let next = match &emission {
            Emission::Poisson { mean, stream } => start.saturating_add(gap(*mean, *stream, 0)),
            _ => start,
        };
        CellSource {
            emission,
            since: start,
            cells: 0,
            next,
        }
    }

    /// Mean gap of a Poisson source at `rate` bits per second, ticks.
    pub fn mean_gap(rate: u64) -> f64 {
        (CELL_BITS * TICKS_PER_SECOND) as f64 / rate as f64
    }

    /// How many cells, `next` included, follow at equal distances, and that distance in ticks.
    pub fn regular(&self) -> (u64, u64) {
        match &self.emission {
            Emission::Poisson { .. } => (1, 1),
            Emission::Periodic { cell_time } => cell_time.exact().map_or((1, 1), |c| (256, c)),
            Emission::Bursts { cell_time, on, .. } => cell_time
                .exact()
                .map_or((1, 1), |c| (on.div_ceil(c) - self.cells, c)),
        }
    }

    /// Moves on by `n` cells, one unless they are regular.
    pub fn emitted(&mut self, n: u64) {
        self.cells += n;
        self.next = match &self.emission {
            Emission::Periodic { cell_time } => self.since + cell_time.end_of(self.cells),
            Emission::Poisson { mean, stream } => self.next + gap(*mean, *stream, self.cells),
            Emission::Bursts { cell_time, on, off } => {
                let within = cell_time.end_of(self.cells);
                if within < *on {
                    self.since + within
                } else {
                    self.since += on + off;
                    self.cells = 0;
                    self.since
                }
            }
        };
    }
}

fn gap(mean: f64, stream: Stream, number: u64) -> u64 {
    (stream.exponential(number) * mean).round().max(1.0) as u64
}

/// What drives a VC.
#[derive(Debug)]
pub enum Traffic {
    /// A TCP connection.
    Tcp(Box<Tcp>),
    /// A source of single cells.
    Cells(CellSource),
}

/// A quantity of a TCP that stays the same between events, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfTcp {
    /// cwnd.
    Cwnd,
    /// ssthresh.
    Ssthresh,
    /// Bytes delivered in order.
    Delivered,
}

/// One watched quantity of a TCP.
#[derive(Debug)]
pub struct TcpWatch {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// What.
    pub quantity: OfTcp,
    /// The record.
    pub record: Steps,
}

/// Time series of one VC, each with the index of its probe in the scenario.
#[derive(Debug, Default)]
pub struct ConnectionProbe {
    /// What stays the same between events.
    pub steps: Vec<TcpWatch>,
    /// Bytes delivered per interval.
    pub goodput: Vec<(usize, IntervalSum)>,
    /// First byte of each segment sent.
    pub sequence: Vec<(usize, Points)>,
}

impl ConnectionProbe {
    /// `quantity` is `bytes` from `now` on.
    pub fn set(&mut self, now: u64, quantity: OfTcp, bytes: u64) {
        for watch in self.steps.iter_mut().filter(|w| w.quantity == quantity) {
            watch.record.set(now, bytes as f64);
        }
    }

    /// Points recorded so far.
    pub fn points(&self) -> usize {
        let steps: usize = self.steps.iter().map(|w| w.record.out.points.len()).sum();
        let goodput: usize = self.goodput.iter().map(|g| g.1.out.points.len()).sum();
        steps
            + goodput
            + self
                .sequence
                .iter()
                .map(|s| s.1.points.len())
                .sum::<usize>()
    }
}

/// One VC.
#[derive(Debug)]
pub struct Connection {
    /// Data and ACK direction.
    pub ways: [Way; 2],
    /// What drives it.
    pub traffic: Traffic,
    /// When its source starts, ticks.
    pub start: u64,
    /// Bytes newly in order within the measuring time, and from start to end.
    pub measured_bytes: u64,
    /// See `measured_bytes`.
    pub delivered_bytes: u64,
    /// What is recorded.
    pub probe: Option<Box<ConnectionProbe>>,
}
