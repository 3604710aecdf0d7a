//! Entry of virtual circuits.

use super::classes::CLASSES;
use super::component::Default::{Derived, Implied, Integer, Required, Text};
use super::component::{Component, PLAIN, parameter};
use super::family::Family;
use super::kind::{ANY_DURATION, ANY_RATE, COUNT, Kind, integer};

pub(super) static VC: &[Component] = &[Component {
    family: Family::Vc,
    name: "vc",
    help: "A bidirectional connection on one route: data from `from` to `to`, acknowledgements back over the same switches.",
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
            Implied(Family::Traffic, "ubr"),
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
            "stop",
            ANY_DURATION,
            Derived("never"),
            "When its source stops, after `start`: single cells are handed over before it only, and a TCP completes what it has sent by \
             then and sends nothing new.",
        ),
        parameter(
            "contract",
            Kind::One(Family::Contract),
            Derived("none"),
            "What is agreed on its data, for policers and for drop policies that guarantee rates.",
        ),
        parameter(
            "abr",
            Kind::One(Family::Abr),
            Derived("none: they follow no feedback"),
            "How its end systems keep to the rate that the network allows, in both directions; for the class abr.",
        ),
        parameter(
            "traffic",
            Kind::One(Family::Traffic),
            Required,
            "What it sends.",
        ),
    ],
    ..PLAIN
}];
