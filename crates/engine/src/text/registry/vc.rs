//! Entry of virtual circuits.

use super::classes::CLASSES;
use super::component::{Component, of, parameter};
use super::family::Family;
use super::kind::Default::{Bool, Derived, Implied, Integer, Required, Text};
use super::kind::{ANY_DURATION, ANY_RATE, COUNT, Kind, MAX_CELLS, bytes, integer};

pub(super) static VC: &[Component] = &[Component {
    name: "vc",
    help: "A bidirectional connection on one route: data from `from` to `to`, acknowledgements back through the same switches.",
    parameters: &[
        parameter(
            "name",
            Kind::Name,
            Derived("vc1, vc2, ... by position among all VCs"),
            "Unique among VCs; numbered if the entry makes several.",
        ),
        parameter(
            "count",
            COUNT,
            Derived("one, or one per member of the groups"),
            "Number of identical VCs between the same two hosts. Between groups, it must equal the group size.",
        ),
        parameter(
            "from",
            Kind::Reference(&[Family::Host]),
            Required,
            "Host that sends data. A group makes one VC per member, pairwise if both ends are groups.",
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
            Derived("the shortest path; among equals, the first in scenario order"),
            "Switches on the way from `from` to `to`, in order.",
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
            "Relative share of the VC under a `per-vc` scheduler. A `program` that schedules can read it.",
        ),
        parameter(
            "guarantee",
            ANY_RATE,
            Derived("none"),
            "Cell rate that per-vc schedulers guarantee to the data of this VC. It holds only for capacity that higher classes leave, and \
             for cells that get into the buffer.",
        ),
        parameter(
            "start",
            ANY_DURATION,
            Text("0 s"),
            "Time at which the source starts.",
        ),
        parameter(
            "stop",
            ANY_DURATION,
            Derived("never"),
            "Time at which the source stops; after `start`. A source of cells hands over none from then on. A TCP completes what it \
             has sent by then and sends nothing new.",
        ),
        parameter(
            "contract",
            Kind::One(Family::Contract),
            Derived("none"),
            "Traffic contract for the data, used by policers and by drop policies that guarantee rates.",
        ),
        parameter(
            "abr",
            Kind::One(Family::Abr),
            Derived("none: the end systems follow no feedback"),
            "ABR end systems, which keep to the rate that the network allows, in both directions; for the class abr.",
        ),
        parameter(
            "shape",
            Kind::One(Family::Shape),
            Derived("none"),
            "Shaper of what `from` sends, for traffic tcp and udp.",
        ),
        parameter(
            "traffic",
            Kind::One(Family::Traffic),
            Required,
            "What the VC sends.",
        ),
    ],
    ..of(Family::Vc)
}];

pub(super) static SHAPE: &[Component] = &[Component {
    name: "shape",
    help: "Token bucket at the sender of a VC: a frame goes to the NIC once the bucket holds its bytes on the line, and takes them.",
    formula: "in any t seconds, at most burst + rate t / 8 bytes on the line leave",
    source: "RFC 2215, section 3.6",
    limits: "Frames wait without limit, first in first out. Sources of cells and VCs with `abr` have no shaper. Shapers at ports, or \
             for a class, are not built.",
    parameters: &[
        parameter(
            "rate",
            ANY_RATE,
            Required,
            "Rate at which the bucket fills, counting all bytes on the line.",
        ),
        parameter(
            "burst",
            bytes(1, MAX_CELLS),
            Required,
            "Bytes on the line that the bucket holds, and with which it starts; at least the longest frame that passes it.",
        ),
        parameter(
            "both_ways",
            Kind::Bool,
            Bool(false),
            "Whether `to` has an equal shaper, with a separate bucket. By default its ACKs are not shaped.",
        ),
    ],
    ..of(Family::Shape)
}];
