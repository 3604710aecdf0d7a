//! Entries of the scenario itself: what holds for all of it, what is measured, what is drawn.

use super::component::{Component, of, parameter};
use super::family::Family;
use super::kind::Default::{
    AllDefaults, Bool, Derived, EmptyList, Implied, Integer, Required, Text,
};
use super::kind::{
    ANY_DURATION, Choice, Kind, MAX_INTEGER, MAX_RATE, POSITIVE_DURATION, bytes, choice, integer,
};
use crate::ground::format::{LEAST_CARRIED, LONGEST_CELL, MOST_OVERHEAD, MTU};

pub(super) static SCENARIO: &[Component] = &[Component {
    name: "scenario",
    help: "A network with its traffic.",
    parameters: &[
        parameter(
            "name",
            Kind::Text,
            Text("scenario"),
            "Name shown in reports.",
        ),
        parameter(
            "duration",
            POSITIVE_DURATION,
            Required,
            "Simulated time; events at its end or later do not count. At most 4000 s in formats other than aal5.",
        ),
        parameter(
            "format",
            Kind::One(Family::Format),
            Text("aal5"),
            "What cells and frames look like: `aal5`, `ethernet`, or a table; without `kind`, it is `cells`.",
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
                choice("fixed", "Inputs go in scenario order."),
                Choice {
                    name: "rotating",
                    help: "The first place rotates among the n inputs, one step per cell time.",
                    formula: "at time t, input (floor(t / cell time of the port) + tie_offset + j) mod n is the j-th of n",
                    source: "",
                    limits: "Not fair: of two neighbours that alone send, one goes first in n - 1 of n turns.",
                    ..choice("", "")
                },
                choice(
                    "random",
                    "A seeded random order, drawn for each instant and port.",
                ),
                choice(
                    "fair",
                    "Inputs go in the order of their last contested tie won, longest ago first.",
                ),
            ]),
            Implied(Family::Format, "fair"),
            "Order of cells that reach a port at the same instant from several inputs.",
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
            "Whether a port handles an arrival before a departure at the same instant.",
        ),
        parameter(
            "timer_phase",
            ANY_DURATION,
            Text("0 s"),
            "Instant of the first tick of every coarse TCP timer, the same for all hosts unless `timers` is `own`.",
        ),
        parameter(
            "timers",
            Kind::Choice(&[
                choice(
                    "common",
                    "All hosts tick together, as in a simulator that starts them all at once.",
                ),
                choice(
                    "own",
                    "The ticks of each host are delayed by its own random draw, uniform over one tick, as for machines switched on at any time.",
                ),
            ]),
            Text("common"),
            "Whether the coarse TCP timers of all hosts tick together.",
        ),
        parameter(
            "ensemble",
            Kind::One(Family::Ensemble),
            AllDefaults,
            "Random draws of each replication.",
        ),
        parameter(
            "measure",
            Kind::One(Family::Measure),
            AllDefaults,
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
    ..of(Family::Scenario)
}];

pub(super) static FORMAT: &[Component] = &[
    Component {
        name: "aal5",
        help: "ATM cells of 53 bytes, 48 of them payload, and AAL5 frames.",
        source: "ITU-T I.363.5, RFC 2684",
        implies: &[("tie_order", "rotating")],
        ..of(Family::Format)
    },
    Component {
        name: "cells",
        help: "Cells of one size. The last cell of a frame is padded.",
        formula: "a frame with an IP packet of p bytes has ceil((p + frame_overhead) / carries) cells",
        parameters: &[
            parameter(
                "cell",
                bytes(LEAST_CARRIED, LONGEST_CELL),
                Required,
                "Bytes of a cell on the line.",
            ),
            parameter(
                "carries",
                bytes(LEAST_CARRIED, LONGEST_CELL),
                Required,
                "Bytes of a frame that a cell carries, at most `cell`.",
            ),
            parameter(
                "frame_overhead",
                bytes(0, MOST_OVERHEAD),
                Text("0 bytes"),
                "Bytes that a frame has besides its IP packet.",
            ),
        ],
        ..of(Family::Format)
    },
    Component {
        name: "ethernet",
        help: "Each packet is one cell, of its own length.",
        formula: "an IP packet of p bytes, p <= mtu, takes 38 + max(46, p) bytes on the line",
        source: "IEEE 802.3",
        parameters: &[parameter(
            "mtu",
            bytes(MTU[0], MTU[1]),
            Text("1500 bytes"),
            "Bytes of the longest IP packet. Above 1500 bytes, frames are jumbo frames.",
        )],
        ..of(Family::Format)
    },
];

pub(super) static MEASURE: &[Component] = &[Component {
    name: "measure",
    help: "The measured period, and the goodput that efficiency is relative to.",
    formula: "efficiency = sum of the goodputs of VCs that carry frames / max_goodput",
    parameters: &[
        parameter(
            "warm_up",
            ANY_DURATION,
            Text("0 s"),
            "Deliveries before this time do not count in goodputs and delays.",
        ),
        parameter(
            "window",
            POSITIVE_DURATION,
            Derived("the rest of the run"),
            "Length of the measured period after the warm-up.",
        ),
        parameter(
            "max_goodput",
            Kind::Rate {
                min: 1,
                max: MAX_RATE,
                fair_shares: true,
                zero: false,
            },
            Derived("none; efficiency is then undefined"),
            "Largest possible sum of the goodputs of VCs that carry frames. With \"fair shares\", it is the sum of max-min fair shares of the links.",
        ),
    ],
    ..of(Family::Measure)
}];

pub(super) static ENSEMBLE: &[Component] = &[Component {
    name: "ensemble",
    help: "Random draws of a replication. A run that is not a replication makes none of them.",
    parameters: &[
        parameter(
            "start_jitter",
            ANY_DURATION,
            Text("100 us"),
            "The start of each VC is delayed by a uniform draw from [0, start_jitter).",
        ),
        parameter(
            "timer_phase",
            Kind::Bool,
            Bool(true),
            "Whether the common timer phase is drawn uniformly over one tick.",
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
            "Whether each VBR source, and each UDP source with bursts, is delayed by a uniform draw over its period (on + off).",
        ),
    ],
    ..of(Family::Ensemble)
}];
