//! Entries of traffic contracts and policers.

use super::component::Default::{Derived, Text};
use super::component::{Component, PLAIN, Parameter, parameter};
use super::family::Family;
use super::kind::{ANY_DURATION, ANY_RATE, Kind, MAX_CELLS, choice};

const CELLS: Kind = Kind::Cells {
    min: 1,
    max: MAX_CELLS,
    unlimited: false,
};

pub(super) static CONTRACT: &[Component] = &[Component {
    family: Family::Contract,
    name: "contract",
    help: "What is agreed on the data of a VC. Rates count whole cells. Nothing but policers and drop policies looks at it.",
    formula: "PCR: GCRA(1/PCR, CDVT); SCR or MCR: GCRA(1/SCR, BT + CDVT) with BT = (MBS - 1)(1/SCR - 1/PCR)",
    source: "ATM Forum, Traffic Management 4.0 and 4.1, section 4.4; ITU-T I.371",
    parameters: &[
        parameter(
            "pcr",
            ANY_RATE,
            Derived("none: any rate conforms"),
            "PCR, peak cell rate.",
        ),
        parameter(
            "cdvt",
            ANY_DURATION,
            Text("0 s"),
            "CDVT, cell delay variation tolerance: how much too early a cell may come.",
        ),
        parameter(
            "scr",
            ANY_RATE,
            Derived("none"),
            "SCR, sustainable cell rate (VBR); at most the PCR.",
        ),
        parameter(
            "mcr",
            ANY_RATE,
            Derived("none"),
            "MCR, minimum cell rate (GFR), instead of `scr`; at most the PCR, and on each link at most its rate together.",
        ),
        parameter(
            "mbs",
            CELLS,
            Derived("two of the largest frames of its source"),
            "MBS, maximum burst size at the PCR; at least a frame.",
        ),
        parameter(
            "mfs",
            CELLS,
            Derived("the largest frame of its source"),
            "MFS, maximum frame size.",
        ),
    ],
    ..PLAIN
}];

const ACTIONS: Kind = Kind::Choice(&[
    choice("tag", "It goes on with low priority, CLP = 1."),
    choice("drop", "It is dropped."),
]);

const fn action(help: &'static str) -> Parameter {
    parameter("action", ACTIONS, Text("tag"), help)
}

pub(super) static POLICE: &[Component] = &[
    Component {
        family: Family::Police,
        name: "gcra",
        help: "Usage parameter control cell by cell: drops cells above the PCR, and tags or drops those above the SCR.",
        formula: "a cell of CLP = 0 conforms <=> it passes GCRA(1/PCR, CDVT) and GCRA(1/SCR, BT + CDVT)",
        source: "ATM Forum, Traffic Management 4.0, section 4.4; ITU-T I.371",
        limits: "Blind to frames: it damages them, and the rest of a damaged frame uses up the contract.",
        parameters: &[
            action("What becomes of a cell above the SCR, or MCR, alone."),
            parameter(
                "form",
                Kind::Choice(&[
                    choice("leaky-bucket", "The continuous-state leaky bucket."),
                    choice("virtual-scheduling", "The virtual scheduling algorithm."),
                ]),
                Text("leaky-bucket"),
                "How the test is written; both decide alike.",
            ),
        ],
        ..PLAIN
    },
    Component {
        family: Family::Police,
        name: "f-gcra",
        help: "The frame-based GCRA of GFR: tags or drops whole frames above the MCR, and drops cells that do not conform.",
        formula: "a frame of CLP = 0 is eligible <=> X' <= BT + CDVT at its first cell; each of its cells adds 1/MCR",
        source: "ITU-T I.371.1, F-GCRA; ATM Forum, Traffic Management 4.1 (GFR.1, GFR.2)",
        limits: "MBS must hold a frame (MBS >= MFS), or no frame of that size is eligible but to an empty bucket.",
        parameters: &[action("What becomes of a frame that is not eligible.")],
        ..PLAIN
    },
];
