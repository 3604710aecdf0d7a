//! Entries of traffic sources.

use super::component::{Component, Formats, Parameter, of, parameter};
use super::family::Family;
use super::kind::Default::{Derived, Required, Text};
use super::kind::{ANY_DURATION, ANY_RATE, POSITIVE_DURATION, bytes, decimal};
use super::tcp::TCP;
use crate::ground::format::MOST_DATAGRAM;

const RATE_WHILE_ON: Parameter = parameter(
    "rate",
    ANY_RATE,
    Derived("amplitude x the rate of the host's link"),
    "Cell rate while on; at most the rate of the host's link.",
);

const AMPLITUDE: Parameter = parameter(
    "amplitude",
    decimal(0, 1),
    Derived("1"),
    "Cell rate while on, as a fraction above 0 of the host's link rate; use it instead of `rate`.",
);

pub(super) static TRAFFIC: &[Component] = &[
    Component {
        name: "tcp",
        help: "A TCP connection that always has data or sends files. All segments are full, except the last of a file.",
        formula: "window = min(cwnd, rwnd); per new ACK cwnd + MSS while cwnd <= ssthresh, then cwnd + MSS^2 / cwnd",
        source: "`ubr-plus`, section 2; RFC 2001, sections 1 and 2",
        parameters: TCP,
        ..of(Family::Traffic)
    },
    Component {
        name: "cbr",
        formats: Formats::EqualCells,
        implies: &[("class", "cbr")],
        help: "Single cells at equal intervals.",
        formula: "cell k is handed to the NIC at start + k c, c = bits of a cell / rate",
        source: "ATM Forum, Traffic Management 4.0, section 2 (CBR)",
        parameters: &[parameter(
            "rate",
            ANY_RATE,
            Required,
            "Cell rate; at most the rate of the host's link.",
        )],
        ..of(Family::Traffic)
    },
    Component {
        name: "poisson",
        formats: Formats::EqualCells,
        help: "Single cells that arrive as a Poisson process.",
        formula: "the gaps are exponential with mean bits of a cell / rate",
        source: "M/D/1 at a port: Kleinrock, Queueing Systems I, section 5.6",
        parameters: &[parameter(
            "rate",
            ANY_RATE,
            Required,
            "Mean cell rate; at most the rate of the host's link.",
        )],
        ..of(Family::Traffic)
    },
    Component {
        name: "vbr",
        formats: Formats::EqualCells,
        implies: &[("class", "vbr")],
        help: "Alternates bursts of single cells at equal intervals (on) with pauses (off).",
        formula: "burst b begins at start + b (on + off); its cell k comes k c later, c = bits of a cell / rate, while k c < on",
        source: "`guaranteed-rate`, section 3 and figure 2",
        parameters: &[
            RATE_WHILE_ON,
            AMPLITUDE,
            parameter("on", POSITIVE_DURATION, Required, "Length of a burst."),
            parameter(
                "off",
                ANY_DURATION,
                Required,
                "Length of a pause. Burst and pause together last at least as long as the burst's cells take at their rate.",
            ),
        ],
        ..of(Family::Traffic)
    },
    Component {
        name: "udp",
        help: "UDP datagrams of equal size at equal intervals, whether or not any are lost: greedy by default, at a set rate, or in bursts.",
        formula: "frames of n cells; frame k of a burst is handed to the NIC k n c after the burst begins, c = bits of a cell / rate, while k n c < on",
        source: "`gfr-leaky-bucket`, sections 4.2 (greedy, at the rate of the link) and 4.3",
        parameters: &[
            parameter(
                "datagram_size",
                bytes(1, MOST_DATAGRAM),
                Text("1024 bytes"),
                "Bytes of data in a datagram; UDP and IP add 28, and the frame adds its own. At most 65499 in aal5, and `mtu` - 28 in ethernet.",
            ),
            RATE_WHILE_ON,
            AMPLITUDE,
            parameter(
                "on",
                POSITIVE_DURATION,
                Derived("endless"),
                "Length of a burst.",
            ),
            parameter(
                "off",
                ANY_DURATION,
                Text("0 s"),
                "Length of a pause after a burst. Burst and pause together last at least as long as the burst's frames take at their rate.",
            ),
        ],
        ..of(Family::Traffic)
    },
];
