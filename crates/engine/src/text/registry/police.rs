//! Entries of traffic contracts and policers.

use super::component::{Component, Formats, Parameter, of, parameter};
use super::family::Family;
use super::kind::Default::{Derived, Text};
use super::kind::{ANY_DURATION, ANY_RATE, Kind, MAX_CELLS, cells, choice};

const CELLS: Kind = cells(1, MAX_CELLS);

pub(super) static CONTRACT: &[Component] = &[Component {
    formats: Formats::Aal5,
    name: "contract",
    help: "Traffic contract for the data of a VC. Rates count whole cells. Only policers and drop policies use it.",
    formula: "PCR: GCRA(1/PCR, CDVT); SCR or MCR: GCRA(1/SCR, BT + CDVT) with the burst tolerance BT = (MBS - 1)(1/SCR - 1/PCR)",
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
            "CDVT, cell delay variation tolerance: how early a cell may arrive and still conform.",
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
            "MCR, minimum cell rate (GFR), instead of `scr`; at most the PCR. On each link, all MCRs together are at most the link rate.",
        ),
        parameter(
            "mbs",
            CELLS,
            Derived("twice the largest frame of its source"),
            "MBS, maximum burst size at the PCR; at least one frame.",
        ),
        parameter(
            "mfs",
            CELLS,
            Derived("the largest frame of its source"),
            "MFS, maximum frame size.",
        ),
    ],
    ..of(Family::Contract)
}];

const ACTIONS: Kind = Kind::Choice(&[
    choice("tag", "Passed on with low priority, CLP = 1."),
    choice("drop", "Dropped."),
]);

const fn action(help: &'static str) -> Parameter {
    parameter("action", ACTIONS, Text("tag"), help)
}

pub(super) static POLICE: &[Component] = &[
    Component {
        formats: Formats::Aal5,
        name: "gcra",
        help: "Usage parameter control, cell by cell: drops cells above the PCR; tags or drops cells above the SCR.",
        formula: "a cell of CLP = 0 conforms <=> it passes GCRA(1/PCR, CDVT) and GCRA(1/SCR, BT + CDVT)",
        source: "ATM Forum, Traffic Management 4.0, section 4.4; ITU-T I.371",
        limits: "It ignores frame boundaries: it damages frames, and the useless rest of a damaged frame still uses up the contract.",
        parameters: &[
            action("What happens to a cell that exceeds only the SCR or MCR."),
            parameter(
                "form",
                Kind::Choice(&[
                    choice("leaky-bucket", "The continuous-state leaky bucket."),
                    choice("virtual-scheduling", "The virtual scheduling algorithm."),
                ]),
                Text("leaky-bucket"),
                "Form of the algorithm; both forms make the same decisions.",
            ),
        ],
        ..of(Family::Police)
    },
    Component {
        formats: Formats::Aal5,
        name: "f-gcra",
        help: "Frame-based GCRA of GFR: tags or drops whole frames above the MCR, and drops non-conforming cells.",
        formula: "a frame of CLP = 0 is eligible <=> the bucket level is at most BT + CDVT at its first cell; each cell of an eligible frame adds 1/MCR",
        source: "ITU-T I.371.1, F-GCRA; ATM Forum, Traffic Management 4.1 (GFR.1, GFR.2)",
        limits: "MBS must hold a frame (MBS >= MFS). Otherwise a frame of that size is eligible only when the bucket is empty.",
        parameters: &[action("What happens to a frame that is not eligible.")],
        ..of(Family::Police)
    },
];
