//! Entries of the time series that can be recorded.

use super::classes::CLASSES;
use super::component::{Component, Formats, Parameter, of, parameter};
use super::family::Family;
use super::kind::Default::{Derived, Required};
use super::kind::{ANY_DURATION, Kind, POSITIVE_DURATION, choice, integer};

const PORT: Parameter = parameter(
    "of",
    Kind::Reference(&[Family::Link]),
    Required,
    "The port: a link that leaves a switch, or a group of such links.",
);
const POOL: Parameter = parameter(
    "of",
    Kind::Reference(&[Family::Switch]),
    Required,
    "The switch with the pool, or a group of such switches.",
);
const VC: Parameter = parameter(
    "of",
    Kind::Reference(&[Family::Vc]),
    Required,
    "The VC, or a group of VCs; `vc` means all VCs without a name.",
);
const INTERVAL: Parameter = parameter(
    "interval",
    POSITIVE_DURATION,
    Required,
    "Length of each interval.",
);
const SAMPLING: Parameter = parameter(
    "interval",
    POSITIVE_DURATION,
    Derived("record every change during the whole run"),
    "Sampling interval.",
);
const EVERY: Parameter = parameter(
    "every",
    integer(1, 1_000_000_000_000),
    Derived("record every change during the whole run"),
    "Record at every n-th cell that reaches the port; use it instead of `interval`.",
);
const ENVELOPE: Parameter = parameter(
    "envelope",
    POSITIVE_DURATION,
    Derived("record every change during the whole run"),
    "Record the minimum, the time mean and the maximum of each interval of this length, as three series. The end of the run may cut the last interval short.",
);
const CLASS: Parameter = parameter("class", CLASSES, Derived("all classes"), "Only this class.");
const OF_VC: Parameter = parameter(
    "vc",
    Kind::Reference(&[Family::Vc]),
    Derived("all VCs"),
    "Only the cells of this single VC, not of a group.",
);

const CAPTURED: Parameter = parameter(
    "of",
    Kind::Reference(&[Family::Link, Family::Host]),
    Required,
    "A link for cells or frames, a host for segments, or a group of either.",
);
const LAYER: Parameter = parameter(
    "layer",
    Kind::Choice(&[
        choice(
            "cells",
            "Each cell that a link carries: its header, and the payload of RM cells. In ethernet the same as `frames`.",
        ),
        choice(
            "frames",
            "Each AAL5 or Ethernet frame of TCP or UDP with its IP packet, when its last cell leaves.",
        ),
        choice(
            "segments",
            "Each TCP segment and UDP datagram that a host's transports send and receive.",
        ),
    ]),
    Required,
    "What the file records.",
);
const FROM: Parameter = parameter(
    "from",
    ANY_DURATION,
    Derived("the start of the run"),
    "Start of the capture.",
);
const TO: Parameter = parameter(
    "to",
    POSITIVE_DURATION,
    Derived("the end of the run"),
    "End of the capture; nothing at this instant or later is captured.",
);

const fn probe(
    name: &'static str,
    help: &'static str,
    parameters: &'static [Parameter],
) -> Component {
    Component {
        name,
        help,
        parameters,
        ..of(Family::Probe)
    }
}

pub(super) static PROBE: &[Component] = &[
    probe(
        "queue",
        "Waiting cells at a port: X, or Y_i with `vc`.",
        &[PORT, CLASS, OF_VC, SAMPLING, EVERY, ENVELOPE],
    ),
    probe(
        "pool",
        "Places of a switch's pool that are in use.",
        &[POOL, SAMPLING, ENVELOPE],
    ),
    probe(
        "threshold",
        "Dynamic threshold of a class queue, in places: reserve + alpha x the free places of the pool.",
        &[PORT, CLASS, SAMPLING, ENVELOPE],
    ),
    probe(
        "cwnd",
        "Congestion window of a TCP, in bytes.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "ssthresh",
        "Slow-start threshold of a TCP, in bytes.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "sequence",
        "First byte of each segment that a TCP sends; retransmissions repeat earlier numbers.",
        &[VC],
    ),
    probe(
        "acknowledged",
        "snd_una of a TCP: the first unacknowledged byte, numbered as in `sequence`.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "flight",
        "FlightSize of a TCP (RFC 5681, section 2), in bytes: data sent but not cumulatively acknowledged.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "rtt",
        "Each exact round-trip time in seconds, when its ACK arrives. The estimator may see only whole ticks.",
        &[VC],
    ),
    probe(
        "rto",
        "Retransmission timeout of a TCP, in seconds: whole ticks of its timer, back-off included.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "delivered",
        "Bytes of frames delivered in order since the start.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "goodput",
        "Bytes delivered per interval, in Mb/s.",
        &[VC, INTERVAL],
    ),
    probe(
        "acr",
        "ACR, the rate at which the ABR end system of a VC may send its data, in Mb/s.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "host-queue",
        "Data cells that wait at the ABR end system of a VC: the queue that ABR keeps out of the network.",
        &[VC, SAMPLING, ENVELOPE],
    ),
    probe(
        "link-share",
        "Share of a link's time that each class uses per interval, as one series per class; of its time at the first rate, if that changes.",
        &[PORT, CLASS, INTERVAL],
    ),
    probe(
        "drops",
        "Cells that a port drops per interval, excluding the losses configured on its link.",
        &[PORT, CLASS, INTERVAL],
    ),
    probe(
        "credit",
        "Credit of a guaranteed-rate scheduler, in slots.",
        &[PORT, SAMPLING, EVERY, ENVELOPE],
    ),
    probe(
        "trace",
        "Every dropped cell of a VC: time, X, Y_i, N_a, threshold and reason. Includes losses configured on links.",
        &[VC],
    ),
    probe(
        "average-queue",
        "Average queue that RED uses at a port, in cells; the sum if there are several classes.",
        &[PORT, CLASS, SAMPLING, EVERY, ENVELOPE],
    ),
    Component {
        formats: Formats::Standard,
        ..probe(
            "capture",
            "A pcapng file for Wireshark: cells or frames of a link, with cells dropped before it, or segments of a host.",
            &[CAPTURED, LAYER, OF_VC, FROM, TO],
        )
    },
];
