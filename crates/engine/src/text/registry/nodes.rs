//! Entries of hosts, switches, links and processing delays.

use super::classes::{class_queues, with_queues};
use super::component::{Component, Parameter, of, parameter};
use super::family::Family;
use super::kind::Default::{Bool, Decimal, Derived, EmptyList, Required, Text};
use super::kind::{
    ANY_DURATION, COUNT, Kind, MAX_INTEGER, MAX_RATE, MILLISECOND_NS, POSITIVE_DURATION, bytes,
    choice, duration, integer, rate,
};

const NODE_COUNT: Parameter = parameter(
    "count",
    COUNT,
    Derived("one, with no number in its name"),
    "Number of identical nodes, named name1, name2, and so on. The name alone then means the group.",
);
const NODE_NAME: Parameter = parameter(
    "name",
    Kind::Name,
    Required,
    "Unique among hosts and switches.",
);

pub(super) static HOST: &[Component] = &[Component {
    name: "host",
    help: "An end system. It sends frames on each link in order of arrival, from an unlimited queue.",
    parameters: &[
        NODE_NAME,
        NODE_COUNT,
        parameter(
            "processing",
            Kind::One(Family::Processing),
            Derived("no delay"),
            "Delay of every frame that the host sends or receives, shared by all its VCs.",
        ),
    ],
    ..of(Family::Host)
}];

const OF_SWITCH: &[Parameter] = &[
    NODE_NAME,
    NODE_COUNT,
    parameter(
        "processing",
        Kind::One(Family::Processing),
        Derived("no delay"),
        "Delay between an input link and the output ports.",
    ),
    parameter(
        "scheduler",
        Kind::One(Family::Scheduler),
        Text("strict-priority"),
        "Scheduler of every port that does not set one: which waiting cell goes next.",
    ),
    parameter(
        "pool",
        Kind::One(Family::Pool),
        Derived("none: each queue has separate memory"),
        "Memory that the queues of all ports share.",
    ),
];
static SWITCH_AND_QUEUES: [Parameter; with_queues(OF_SWITCH)] =
    class_queues(OF_SWITCH, "unlimited buffer, tail drop");

pub(super) static SWITCH: &[Component] = &[Component {
    name: "switch",
    help: "An output-buffered switch; each outgoing link is a port with a queue per class.",
    parameters: &SWITCH_AND_QUEUES,
    ..of(Family::Switch)
}];

pub(super) static POOL: &[Component] = &[Component {
    name: "pool",
    help: "One memory for the waiting cells of all ports of a switch.",
    formula: "S = buffer - sum of all reserves r; s = max(0, X - r) of a queue; free = S - sum of all s; a cell of p places comes in only if max(0, X + p - r) - s <= free",
    source: "Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches, IEEE/ACM ToN 6(2), 1998",
    limits: "One memory and one level of thresholds. Policies that push out are refused, and so is `arrival_first = false`.",
    parameters: &[
        parameter(
            "buffer",
            Kind::Places {
                min: 1,
                buffer: false,
            },
            Required,
            "B: what may wait at all ports together, reserves included. All queues of the switch count in the same unit.",
        ),
        parameter(
            "cell",
            bytes(1, MOST_MEMORY_CELL),
            Derived("none: a packet takes one place, or one for each of its bytes"),
            "Bytes of a memory cell, which is then a place; only in the format ethernet. A packet takes as many as its bytes without preamble, start delimiter and gap need.",
        ),
    ],
    ..of(Family::Pool)
}];

/// Longest memory cell, bytes.
const MOST_MEMORY_CELL: u64 = 10_000;

/// Lowest rate of a line that is not 0.
const LEAST_RATE: u64 = 1_000;

const OF_LINK: &[Parameter] = &[
    parameter(
        "name",
        Kind::Name,
        Derived("from->to"),
        "Unique among links; links between groups are numbered. The link back adds `-back`, or is to->from.",
    ),
    parameter(
        "from",
        Kind::Reference(&[Family::Host, Family::Switch]),
        Required,
        "Node that the link leaves. A group makes one link per member, pairwise if both ends are groups.",
    ),
    parameter(
        "to",
        Kind::Reference(&[Family::Host, Family::Switch]),
        Required,
        "Node that the link reaches.",
    ),
    parameter(
        "rate",
        rate(LEAST_RATE, MAX_RATE),
        Required,
        "Rate of the line, counting all bytes of each cell. A line of 155.52 Mbps with SDH framing carries 149.76 Mbps of cells.",
    ),
    parameter(
        "delay",
        duration(0, 1_000_000 * MILLISECOND_NS),
        Text("0 s"),
        "Propagation delay.",
    ),
    parameter(
        "duplex",
        Kind::Bool,
        Bool(true),
        "Whether there is also a link back, with the same rate, changes and delay.",
    ),
    parameter(
        "changes",
        Kind::List(&Kind::One(Family::Change)),
        EmptyList,
        "Changes of the rate during the run, in order of time. Refused at ports, also that of the link back, with feedback, the scheduler `guaranteed-rate` or guarantees.",
    ),
    parameter(
        "lose_frames",
        Kind::List(&integer(0, MAX_INTEGER)),
        EmptyList,
        "Data frames to lose, numbered from 0 as they enter the link; retransmissions count.",
    ),
    parameter(
        "lose_probability",
        Kind::Decimal {
            min: 0,
            max: 1,
            below_max: false,
            decimals: 12,
        },
        Decimal("0"),
        "Probability that a data frame is lost.",
    ),
    parameter(
        "scheduler",
        Kind::One(Family::Scheduler),
        Derived("the switch's"),
        "Scheduler of this port.",
    ),
];
static LINK_AND_QUEUES: [Parameter; with_queues(OF_LINK)] = class_queues(OF_LINK, "the switch's");

pub(super) static LINK: &[Component] = &[Component {
    name: "link",
    help: "A link, by default duplex. Losses, scheduler and class queues apply only from `from` to `to`.",
    formula: "the k-th cell of a busy period that began at t0 leaves at t0 + k c, c = bits of a cell / rate rounded up to whole ticks (0.04 ps in aal5), and arrives `delay` later",
    parameters: &LINK_AND_QUEUES,
    ..of(Family::Link)
}];

pub(super) static CHANGE: &[Component] = &[Component {
    name: "change",
    help: "From `at` on, the line has this rate. A cell under way keeps its time.",
    formula: "a cell that begins at t takes the rate of the last change with at <= t",
    parameters: &[
        parameter(
            "at",
            POSITIVE_DURATION,
            Required,
            "Time of the change, before the end of the run; a change comes before all else at its instant.",
        ),
        parameter(
            "rate",
            Kind::Rate {
                min: LEAST_RATE,
                max: MAX_RATE,
                fair_shares: false,
                zero: true,
            },
            Required,
            "Rate from then on. At 0, no cell begins: cells wait as behind a cell in service.",
        ),
    ],
    ..of(Family::Change)
}];

const PROCESSING_PARAMETERS: &[Parameter] = &[
    parameter(
        "per",
        Kind::Choice(&[
            choice(
                "cell",
                "Each cell takes one processing time; switches only.",
            ),
            choice("frame", "Each frame takes one processing time."),
        ]),
        Text("frame"),
        "What takes one processing time.",
    ),
    parameter("mean", ANY_DURATION, Required, "Mean processing time."),
    parameter(
        "spread",
        ANY_DURATION,
        Text("0 s"),
        "Times are uniform in [mean - spread, mean + spread]; at most the mean.",
    ),
];

pub(super) static PROCESSING: &[Component] = &[
    Component {
        name: "server",
        help: "Processes one cell or frame at a time.",
        formula: "departure = max(arrival, previous departure) + time",
        parameters: PROCESSING_PARAMETERS,
        ..of(Family::Processing)
    },
    Component {
        name: "latency",
        help: "Processes all cells or frames in parallel, and keeps their order.",
        formula: "departure = max(arrival + time, previous departure)",
        parameters: PROCESSING_PARAMETERS,
        ..of(Family::Processing)
    },
];
