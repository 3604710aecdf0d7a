//! Entries of the scenario itself, hosts, switches, links, VCs and processing delays.

use super::Default::{Bool, Decimal, Derived, EmptyList, Integer, Required, Text};
use super::{
    ANY_DURATION, ANY_RATE, CLASSES, Choice, Component, Family, Kind, MAX_RATE, POSITIVE_DURATION,
    Parameter, choice, integer, parameter,
};
use crate::units::Span;

/// Largest integer that every TOML reader takes.
const MAX_INTEGER: u64 = i64::MAX as u64;

pub(super) static SCENARIO: [Component; 1] = [Component {
    family: Family::Scenario,
    name: "scenario",
    help: "A network with its traffic.",
    formula: "",
    source: "",
    parameters: &[
        parameter("name", Kind::Text, Text("scenario"), "Name for reports."),
        parameter(
            "duration",
            POSITIVE_DURATION,
            Required,
            "Simulated time; what happens at its end or later does not count.",
        ),
        parameter(
            "seed",
            integer(0, MAX_INTEGER),
            Integer(1),
            "Seed of every random stream.",
        ),
        parameter(
            "tie_order",
            Kind::Choice(&[
                choice("fixed", "Inputs in scenario order."),
                Choice {
                    name: "rotating",
                    help: "The first place goes round the n inputs, one step per cell time.",
                    formula: "input (floor(t rate / 424) + tie_offset + j) mod n is j-th",
                    source: "",
                },
                choice(
                    "random",
                    "A seeded random order, drawn for each instant and port.",
                ),
            ]),
            Text("rotating"),
            "Order among cells that reach a port at one instant from several inputs.",
        ),
        parameter(
            "tie_offset",
            integer(0, u32::MAX as u64),
            Integer(0),
            "Offset of the rotating tie order.",
        ),
        parameter(
            "arrival_first",
            Kind::Bool,
            Bool(true),
            "Whether an arrival is handled before a departure at the same instant and port.",
        ),
        parameter(
            "timer_phase",
            ANY_DURATION,
            Text("0 s"),
            "Instant of the first tick of every coarse TCP timer, common to all hosts.",
        ),
        parameter(
            "ensemble",
            Kind::One(Family::Ensemble),
            Derived("the defaults of `ensemble`"),
            "What each replication draws.",
        ),
        parameter(
            "measure",
            Kind::One(Family::Measure),
            Derived("the defaults of `measure`"),
            "What is measured.",
        ),
        parameter(
            "host",
            Kind::List(&Kind::One(Family::Host)),
            EmptyList,
            "End systems.",
        ),
        parameter(
            "switch",
            Kind::List(&Kind::One(Family::Switch)),
            EmptyList,
            "Switches.",
        ),
        parameter(
            "link",
            Kind::List(&Kind::One(Family::Link)),
            EmptyList,
            "Links.",
        ),
        parameter(
            "vc",
            Kind::List(&Kind::One(Family::Vc)),
            EmptyList,
            "Virtual circuits.",
        ),
        parameter(
            "probe",
            Kind::List(&Kind::One(Family::Probe)),
            EmptyList,
            "Time series to record.",
        ),
    ],
}];

pub(super) static MEASURE: [Component; 1] = [Component {
    family: Family::Measure,
    name: "measure",
    help: "The counted time and the yardstick of efficiency.",
    formula: "efficiency = sum of the TCP VCs' goodputs / max_goodput",
    source: "",
    parameters: &[
        parameter(
            "warm_up",
            ANY_DURATION,
            Text("0 s"),
            "Deliveries before this do not count in goodputs and delays.",
        ),
        parameter(
            "window",
            POSITIVE_DURATION,
            Derived("the rest of the run"),
            "Length of the counted time after the warm-up.",
        ),
        parameter(
            "max_goodput",
            ANY_RATE,
            Derived("no efficiency is stated"),
            "Largest possible sum of the TCP VCs' goodputs.",
        ),
    ],
}];

pub(super) static ENSEMBLE: [Component; 1] = [Component {
    family: Family::Ensemble,
    name: "ensemble",
    help: "Draws of a replication; a run that is no replication draws none of them.",
    formula: "",
    source: "",
    parameters: &[
        parameter(
            "start_jitter",
            ANY_DURATION,
            Text("100 us"),
            "Each VC starts later by a uniform draw from [0, start_jitter).",
        ),
        parameter(
            "timer_phase",
            Kind::Bool,
            Bool(true),
            "Whether the common timer phase is drawn, uniform over one tick.",
        ),
        parameter(
            "tie_offset",
            Kind::Bool,
            Bool(true),
            "Whether the offset of the rotating tie order is drawn.",
        ),
        parameter(
            "vbr_phase",
            Kind::Bool,
            Bool(false),
            "Whether each VBR source starts later by a draw, uniform over its period (on + off).",
        ),
    ],
}];

const COUNT: Kind = integer(1, 1_000_000_000);
const NODE_COUNT: Parameter = parameter(
    "count",
    COUNT,
    Derived("one, without a number in its name"),
    "Makes this many like things, named name1, name2, ...; the name alone then means the group.",
);
const NODE_NAME: Parameter = parameter(
    "name",
    Kind::Name,
    Required,
    "Unique among hosts and switches.",
);

pub(super) static HOST: [Component; 1] = [Component {
    family: Family::Host,
    name: "host",
    help: "An end system; on each of its links it sends frames first come first served, from a queue without limit.",
    formula: "",
    source: "",
    parameters: &[
        NODE_NAME,
        NODE_COUNT,
        parameter(
            "processing",
            Kind::One(Family::Processing),
            Derived("no delay"),
            "Delay of every frame sent and received, common to all VCs of the host.",
        ),
    ],
}];

macro_rules! class_queue {
    ($class:literal, $default:literal) => {
        parameter(
            $class,
            Kind::One(Family::Queue),
            Derived($default),
            concat!("Queue of class ", $class, "."),
        )
    };
}

pub(super) static SWITCH: [Component; 1] = [Component {
    family: Family::Switch,
    name: "switch",
    help: "An output-buffered switch; each outgoing link is a port with a queue per class.",
    formula: "",
    source: "",
    parameters: &[
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
            "Which waiting cell goes next, at every port without a scheduler of its own.",
        ),
        class_queue!("cbr", "unlimited, tail drop"),
        class_queue!("vbr", "unlimited, tail drop"),
        class_queue!("abr", "unlimited, tail drop"),
        class_queue!("gfr", "unlimited, tail drop"),
        class_queue!("ubr", "unlimited, tail drop"),
    ],
}];

pub(super) static LINK: [Component; 1] = [Component {
    family: Family::Link,
    name: "link",
    help: "A link, by default with a like one back. Losses, scheduler and class queues belong to the way from `from` to `to`.",
    formula: "the k-th cell of a busy period that began at t0 leaves at t0 + ceil(k 424 / rate) and arrives `delay` later",
    source: "",
    parameters: &[
        parameter(
            "name",
            Kind::Name,
            Derived("from->to"),
            "Unique among links; numbered between groups; a link back adds `-back`, or is to->from.",
        ),
        parameter(
            "from",
            Kind::Reference(&[Family::Host, Family::Switch]),
            Required,
            "Node it leaves. A group makes a link for each member, pairwise if both ends are groups.",
        ),
        parameter(
            "to",
            Kind::Reference(&[Family::Host, Family::Switch]),
            Required,
            "Node it reaches.",
        ),
        parameter(
            "rate",
            Kind::Rate {
                min: 1_000,
                max: MAX_RATE,
            },
            Required,
            "Cell rate of the line: 53 bytes count for every cell (155.52 Mbps raw, 149.76 Mbps SDH payload).",
        ),
        parameter(
            "delay",
            Kind::Duration {
                min: Span::ZERO,
                max: Span::from_milliseconds(1_000_000),
            },
            Text("0 s"),
            "Propagation delay.",
        ),
        parameter(
            "duplex",
            Kind::Bool,
            Bool(true),
            "Whether a link of equal rate and delay leads back.",
        ),
        parameter(
            "lose_frames",
            Kind::List(&integer(0, MAX_INTEGER)),
            EmptyList,
            "Data frames lost, counted from 0 as they enter the link, retransmissions included.",
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
        class_queue!("cbr", "the switch's"),
        class_queue!("vbr", "the switch's"),
        class_queue!("abr", "the switch's"),
        class_queue!("gfr", "the switch's"),
        class_queue!("ubr", "the switch's"),
    ],
}];

pub(super) static VC: [Component; 1] = [Component {
    family: Family::Vc,
    name: "vc",
    help: "A bidirectional connection on one route: data from `from` to `to`, acknowledgements back over the same switches.",
    formula: "",
    source: "",
    parameters: &[
        parameter(
            "name",
            Kind::Name,
            Derived("vc1, vc2, ... by place among all VCs"),
            "Unique among VCs; numbered when there are several.",
        ),
        parameter(
            "count",
            COUNT,
            Derived("one, or one for each member of the groups"),
            "Like VCs between the same two hosts; between groups it must equal their size.",
        ),
        parameter(
            "from",
            Kind::Reference(&[Family::Host]),
            Required,
            "Host that sends data. A group makes a VC for each member, pairwise if both ends are groups.",
        ),
        parameter(
            "to",
            Kind::Reference(&[Family::Host]),
            Required,
            "Host that receives data.",
        ),
        parameter(
            "route",
            Kind::List(&Kind::Reference(&[Family::Switch])),
            Derived("the shortest path, the first in scenario order"),
            "Switches from `from` to `to`.",
        ),
        parameter(
            "class",
            CLASSES,
            Derived("cbr for cbr, vbr for vbr, else ubr"),
            "Service class of both directions.",
        ),
        parameter(
            "weight",
            integer(1, 1_000_000),
            Integer(1),
            "Share in a per-vc scheduler.",
        ),
        parameter(
            "guarantee",
            ANY_RATE,
            Derived("none"),
            "Cell rate that per-vc schedulers guarantee the data of this VC, as far as higher classes leave it and its cells get into \
             the buffer.",
        ),
        parameter(
            "start",
            ANY_DURATION,
            Text("0 s"),
            "When its source starts.",
        ),
        parameter(
            "traffic",
            Kind::One(Family::Traffic),
            Required,
            "What it sends.",
        ),
    ],
}];

const PROCESSING_PARAMETERS: &[Parameter] = &[
    parameter(
        "per",
        Kind::Choice(&[
            choice("cell", "Each cell takes the time; switches only."),
            choice("frame", "Each frame takes the time."),
        ]),
        Text("frame"),
        "What a time is drawn for.",
    ),
    parameter("mean", ANY_DURATION, Required, "Mean time."),
    parameter(
        "spread",
        ANY_DURATION,
        Text("0 s"),
        "Each time is uniform in [mean - spread, mean + spread]; at most the mean.",
    ),
];

pub(super) static PROCESSING: [Component; 2] = [
    Component {
        family: Family::Processing,
        name: "server",
        help: "Works on one cell or frame at a time.",
        formula: "leaves at max(arrival, previous leaving) + time",
        source: "",
        parameters: PROCESSING_PARAMETERS,
    },
    Component {
        family: Family::Processing,
        name: "latency",
        help: "Works on everything at once, in order.",
        formula: "leaves at max(arrival + time, previous leaving)",
        source: "",
        parameters: PROCESSING_PARAMETERS,
    },
];
