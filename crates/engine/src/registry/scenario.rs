//! Entries of the scenario itself: what holds for all of it, what is measured, what is drawn.

use super::component::Default::{AllDefaults, Bool, Derived, EmptyList, Integer, Required, Text};
use super::component::{Component, PLAIN, parameter};
use super::family::Family;
use super::kind::{
    ANY_DURATION, Choice, Kind, MAX_INTEGER, MAX_RATE, POSITIVE_DURATION, choice, integer,
};

pub(super) static SCENARIO: &[Component] = &[Component {
    family: Family::Scenario,
    name: "scenario",
    help: "A network with its traffic.",
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
                    limits: "",
                    options: &[],
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
            "Instant of the first tick of every coarse TCP timer, common to all hosts unless `timers` says otherwise.",
        ),
        parameter(
            "timers",
            Kind::Choice(&[
                choice(
                    "common",
                    "The ticks of all hosts fall together, as in a simulator that starts them all at once.",
                ),
                choice(
                    "own",
                    "Those of each host are later by a draw of its own, uniform over one tick, as those of machines that were switched on at any time.",
                ),
            ]),
            Text("common"),
            "Whether the coarse TCP timers of all hosts tick together.",
        ),
        parameter(
            "ensemble",
            Kind::One(Family::Ensemble),
            AllDefaults,
            "What each replication draws.",
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
    ..PLAIN
}];

pub(super) static MEASURE: &[Component] = &[Component {
    family: Family::Measure,
    name: "measure",
    help: "The counted time, and the goodput to which efficiency is relative.",
    formula: "efficiency = sum of the TCP VCs' goodputs / max_goodput",
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
            Kind::Rate {
                min: 1,
                max: MAX_RATE,
                fair_shares: true,
            },
            Derived("no efficiency is stated"),
            "Largest possible sum of the TCP VCs' goodputs; \"fair shares\": what max-min fair shares of the links add up to.",
        ),
    ],
    ..PLAIN
}];

pub(super) static ENSEMBLE: &[Component] = &[Component {
    family: Family::Ensemble,
    name: "ensemble",
    help: "Draws of a replication; a run that is no replication draws none of them.",
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
            "Whether each VBR source, and each UDP with bursts, starts later by a draw, uniform over its period (on + off).",
        ),
    ],
    ..PLAIN
}];
