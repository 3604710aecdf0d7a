//! Entries of the time series that can be recorded.

use super::classes::CLASSES;
use super::component::Default::{Derived, Required};
use super::component::{Component, PLAIN, Parameter, parameter};
use super::family::Family;
use super::kind::{ANY_DURATION, Kind, POSITIVE_DURATION, choice, integer};

const PORT: Parameter = parameter(
    "of",
    Kind::Reference(&[Family::Link]),
    Required,
    "The port: a link that leaves a switch, or a group of them.",
);
const VC: Parameter = parameter(
    "of",
    Kind::Reference(&[Family::Vc]),
    Required,
    "The VC, or a group of them; `vc` means all that have no name of their own.",
);
const INTERVAL: Parameter = parameter(
    "interval",
    POSITIVE_DURATION,
    Required,
    "Length of an interval.",
);
const SAMPLING: Parameter = parameter(
    "interval",
    POSITIVE_DURATION,
    Derived("every change is recorded, from the start to the end of the run"),
    "Sampling interval.",
);
const EVERY: Parameter = parameter(
    "every",
    integer(1, 1_000_000_000_000),
    Derived("every change is recorded, from the start to the end of the run"),
    "Record at every n-th cell that reaches the port, instead of `interval`.",
);
const ENVELOPE: Parameter = parameter(
    "envelope",
    POSITIVE_DURATION,
    Derived("every change is recorded, from the start to the end of the run"),
    "Record, for each interval of this length, the last of which the end of the run may cut, the least value, the mean over time and the greatest value, in three series.",
);
const CLASS: Parameter = parameter("class", CLASSES, Derived("all classes"), "Only this class.");
const OF_VC: Parameter = parameter(
    "vc",
    Kind::Reference(&[Family::Vc]),
    Derived("all VCs"),
    "Only the cells of this VC; not a group.",
);

const CAPTURED: Parameter = parameter(
    "of",
    Kind::Reference(&[Family::Link, Family::Host]),
    Required,
    "The link that carries the cells or frames, or the host of the segments; or a group of them.",
);
const LAYER: Parameter = parameter(
    "layer",
    Kind::Choice(&[
        choice(
            "cells",
            "Each cell that a link carries: its header, and the payload of RM cells.",
        ),
        choice(
            "frames",
            "Each AAL5 frame of TCP and UDP, as its last cell leaves, with its IP packet.",
        ),
        choice(
            "segments",
            "Each TCP segment and UDP datagram that a host's transports send and receive.",
        ),
    ]),
    Required,
    "What the file holds.",
);
const FROM: Parameter = parameter(
    "from",
    ANY_DURATION,
    Derived("the start of the run"),
    "Nothing before this time is captured.",
);
const TO: Parameter = parameter(
    "to",
    POSITIVE_DURATION,
    Derived("the end of the run"),
    "Nothing from this time on is captured.",
);

const fn probe(
    name: &'static str,
    help: &'static str,
    parameters: &'static [Parameter],
) -> Component {
    Component {
        family: Family::Probe,
        name,
        help,
        parameters,
        ..PLAIN
    }
}

pub(super) static PROBE: &[Component] = &[
    probe(
        "queue",
        "Waiting cells at a port: X, or Y_i with `vc`.",
        &[PORT, CLASS, OF_VC, SAMPLING, EVERY, ENVELOPE],
    ),
    probe(
        "cwnd",
        "Congestion window of a TCP, bytes.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "ssthresh",
        "Slow-start threshold of a TCP, bytes.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "sequence",
        "First byte of each segment that a TCP sends; a retransmission goes back.",
        &[VC],
    ),
    probe(
        "acknowledged",
        "First byte that the sender of a TCP has no ACK for, in the numbers of `sequence`: snd_una.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "flight",
        "FlightSize of a TCP (RFC 5681, section 2), bytes: sent, and not acknowledged by a cumulative ACK.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "rtt",
        "Each round-trip time that a TCP measures, when its ACK comes, s: the time itself, of which the estimator may see whole ticks only.",
        &[VC],
    ),
    probe(
        "rto",
        "Retransmission timeout of a TCP, s: back-off included, in whole ticks of its timer.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "delivered",
        "Bytes of frames delivered in order since the start.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "goodput",
        "Bytes delivered per interval, as Mb/s.",
        &[VC, INTERVAL],
    ),
    probe(
        "acr",
        "ACR, the rate at which the ABR end system of a VC may send its data, as Mb/s.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "host-queue",
        "Cells of data that wait before the ABR end system of a VC: the queue that ABR keeps out of the network.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "link-share",
        "Share of a port's cell slots that each class uses, per interval: of all classes a series each.",
        &[PORT, CLASS, INTERVAL],
    ),
    probe(
        "drops",
        "Cells that a port drops, per interval; without those that its link loses on purpose.",
        &[PORT, CLASS, INTERVAL],
    ),
    probe(
        "credit",
        "Credit of a guaranteed-rate scheduler, slots.",
        &[PORT, SAMPLING, EVERY, ENVELOPE],
    ),
    probe(
        "trace",
        "Every dropped cell of a VC: time, X, Y_i, N_a, threshold, reason; losses on purpose included.",
        &[VC],
    ),
    probe(
        "average-queue",
        "Average queue by which RED decides at a port, cells; of several classes the sum.",
        &[PORT, CLASS, SAMPLING, EVERY, ENVELOPE],
    ),
    probe(
        "capture",
        "A pcapng file for Wireshark: what a link carries, with the cells dropped before it, or what a host sends and receives.",
        &[CAPTURED, LAYER, OF_VC, FROM, TO],
    ),
];
