//! Entries of ABR end systems and of the feedback of class queues.

use super::component::{Component, Formats, Parameter, of, parameter};
use super::family::Family;
use super::kind::Default::{Bool, Decimal, Derived, Integer, Required, Text};
use super::kind::{
    ANY_DURATION, ANY_RATE, Kind, MAX_CELLS, MAX_DURATION_NS, MICROSECOND_NS, MILLISECOND_NS,
    POSITIVE_DURATION, cells, choice, decimal, duration, integer,
};

const FACTOR: Kind = decimal(0, 1);

const CELLS: Kind = cells(0, MAX_CELLS);

/// Largest TBE: 24 bits.
const MAX_TBE_CELLS: u64 = 16_777_215;

pub(super) static ABR: &[Component] = &[Component {
    formats: Formats::Aal5,
    name: "abr",
    help: "The end systems of a VC of class abr: frames wait at the host and leave at ACR, the allowed cell rate, interleaved with RM cells.",
    formula: "backward RM cell: ACR falls by RDF ACR if CI = 1, else rises by RIF PCR if NI = 0; then it is limited to ER and to [MCR, PCR]; \
              first ACR = min(ICR, TBE / FRTT), at least MCR",
    source: "ATM Forum, Traffic Management 4.0, section 5.10",
    parameters: &[
        parameter(
            "pcr",
            ANY_RATE,
            Derived("the rate of the link that the end system sends on"),
            "PCR, peak cell rate; at most the rate of the link of the end system.",
        ),
        parameter(
            "mcr",
            ANY_RATE,
            Derived("0"),
            "MCR, minimum cell rate. On each link, all MCRs together are at most the link rate.",
        ),
        parameter(
            "icr",
            ANY_RATE,
            Derived("the pcr"),
            "ICR, initial cell rate, in [MCR, PCR]; TBE / FRTT limits it further.",
        ),
        parameter(
            "tbe",
            cells(1, MAX_TBE_CELLS),
            Text("16777215 cells"),
            "TBE, transient buffer exposure: cells that may be sent before the first feedback.",
        ),
        parameter(
            "frtt",
            duration(1, 16_700 * MILLISECOND_NS),
            Derived("the round trip of a cell through the empty network"),
            "FRTT, fixed round-trip time.",
        ),
        parameter(
            "nrm",
            integer(2, 256),
            Integer(32),
            "Nrm, cells per forward RM cell, including the RM cell; a power of 2.",
        ),
        parameter(
            "trm",
            duration(1, 100_000 * MILLISECOND_NS),
            Text("100 ms"),
            "Trm, longest time between forward RM cells, if the source has sent at least two cells since the last.",
        ),
        parameter(
            "rif",
            FACTOR,
            Decimal("0.0625"),
            "RIF, rate increase factor: fraction of the PCR by which the rate may grow per RM cell.",
        ),
        parameter(
            "rdf",
            FACTOR,
            Decimal("0.0625"),
            "RDF, rate decrease factor: fraction of ACR by which ACR falls per RM cell with CI = 1.",
        ),
        parameter(
            "adtf",
            POSITIVE_DURATION,
            Text("500 ms"),
            "ADTF, time without forward RM cells after which ACR falls to ICR.",
        ),
        parameter(
            "cdf",
            FACTOR,
            Decimal("0.0625"),
            "CDF, cutoff decrease factor: fraction of ACR by which ACR falls per forward RM cell while CRM of them are unanswered.",
        ),
        parameter(
            "crm",
            integer(1, MAX_TBE_CELLS),
            Derived("tbe / nrm, rounded up"),
            "CRM, unanswered forward RM cells before ACR is cut.",
        ),
        parameter(
            "rates",
            Kind::Choice(&[
                choice("exact", "Exact rates."),
                choice(
                    "coded",
                    "Rates in the 16-bit format of the standard, rounded down.",
                ),
            ]),
            Text("exact"),
            "Format of rates in RM cells.",
        ),
        parameter(
            "queue",
            Kind::Cells {
                min: 1,
                max: MAX_CELLS,
                unlimited: true,
            },
            Text("unlimited"),
            "Cells that may wait at an end system; a frame that does not fit is dropped whole.",
        ),
    ],
    ..of(Family::Abr)
}];

const TARGET: Parameter = parameter(
    "target",
    FACTOR,
    Decimal("0.9"),
    "U, target utilisation: fraction of the link rate that ABR and the classes above it should use; above 0.",
);
const INTERVAL: Parameter = parameter(
    "interval",
    duration(MICROSECOND_NS, MAX_DURATION_NS),
    Text("1 ms"),
    "Averaging interval; the first one begins at 0.",
);
const DELTA: Parameter = parameter(
    "delta",
    FACTOR,
    Decimal("0.1"),
    "delta, overload up to which the largest allocation of the previous interval may be given again.",
);
const MAX_ALLOC_PREVIOUS: Parameter = parameter(
    "max_alloc_previous",
    Kind::Bool,
    Bool(true),
    "Whether the largest allocation of the previous interval may be given again at all.",
);
const LOAD_DECAY: Parameter = parameter(
    "load_decay",
    FACTOR,
    Decimal("0"),
    "Weight of older values in the exponential averages of input and target, whose ratio is the load factor; below 1.",
);
const ACTIVE_DECAY: Parameter = parameter(
    "active_decay",
    FACTOR,
    Decimal("0"),
    "Factor by which the weight of a silent VC in the number of active VCs decays per interval; below 1.",
);

const ERICA: &[Parameter] = &[
    TARGET,
    INTERVAL,
    DELTA,
    MAX_ALLOC_PREVIOUS,
    LOAD_DECAY,
    ACTIVE_DECAY,
];

pub(super) static FEEDBACK: &[Component] = &[
    Component {
        formats: Formats::Aal5,
        name: "erica",
        help: "Explicit rates by ERICA: an equal share of the target capacity, or the rate that keeps the load at the target.",
        formula: "E = U rate - rate of higher classes; z = input / E; ER = max(E / N, CCR / z) <= E for N active VCs; \
                  if z <= 1 + delta, ER is at least the largest allocation of the previous interval",
        source: "Kalyanaraman, Jain, Fahmy, Goyal, Vandalore 2000 (ERICA); ATM Forum 96-1172",
        limits: "A source that sends less than its ACR still gets its share. Minimum rates are ignored.",
        parameters: ERICA,
        ..of(Family::Feedback)
    },
    Component {
        formats: Formats::Aal5,
        name: "erica-plus",
        help: "Explicit rates by ERICA+: like ERICA, but with a target that keeps a small queue.",
        formula: "as erica, with E = f(q) (rate - rate of higher classes); f falls with the queueing delay q: f(0) = b, f(T0) = 1, and never below QDLF",
        source: "Kalyanaraman, Jain, Fahmy, Goyal, Vandalore 2000 (ERICA+)",
        limits: "As for `erica`. The target may also exceed the capacity, up to b times.",
        parameters: &[
            parameter(
                "t0",
                ANY_DURATION,
                Text("500 us"),
                "T0, target queueing delay; above 0.",
            ),
            parameter(
                "a",
                decimal(1, 1000),
                Decimal("1.15"),
                "a, shape of the target above T0; above 1.",
            ),
            parameter(
                "b",
                decimal(1, 1000),
                Decimal("1.05"),
                "b, shape of the target below T0; an empty queue has a target of b times the capacity; above 1.",
            ),
            parameter(
                "qdlf",
                FACTOR,
                Decimal("0.5"),
                "QDLF, smallest fraction of the capacity that is left for new cells.",
            ),
            INTERVAL,
            DELTA,
            MAX_ALLOC_PREVIOUS,
            LOAD_DECAY,
            ACTIVE_DECAY,
        ],
        ..of(Family::Feedback)
    },
    Component {
        formats: Formats::Aal5,
        name: "erica-mcr",
        help: "Explicit rates by ERICA with minimum rates: MCR plus a weighted share of what the target leaves above all MCRs.",
        formula: "as erica, but only rates above the minimum rates count in E, input and CCR; ER = MCR + weight max(E / sum of weights of the active VCs, \
                  CCR / (weight z))",
        source: "ATM Forum 98-0408 (general weighted fairness)",
        limits: "As for `erica`, except for minimum rates. MCRs that together exceed the target are still granted, each up to the target.",
        parameters: ERICA,
        ..of(Family::Feedback)
    },
    Component {
        formats: Formats::Aal5,
        name: "relative-rate",
        help: "Relative-rate marking: by queue length, backward RM cells say that rates must fall (CI) or must not rise (NI).",
        formula: "at the end of the last interval: CI = 1 <=> X > high; NI = 1 <=> X > low",
        source: "ATM Forum, Traffic Management 4.0, section 5.10.6",
        limits: "All VCs get the same marks, so VCs with more or longer hops get a lower rate.",
        parameters: &[
            INTERVAL,
            parameter(
                "high",
                CELLS,
                Required,
                "Waiting cells above which rates must fall.",
            ),
            parameter(
                "low",
                CELLS,
                Required,
                "Waiting cells above which rates must not rise; at most `high`.",
            ),
        ],
        ..of(Family::Feedback)
    },
    Component {
        formats: Formats::Aal5,
        name: "efci",
        help: "EFCI marking: a long queue marks the data cells that pass it, and the destination informs the source (CI).",
        formula: "EFCI = 1 <=> X > threshold at the end of the last interval",
        source: "ATM Forum, Traffic Management 4.0, sections 5.10.5 and 5.10.6",
        limits: "As for `relative-rate`. The mark also takes longer, because it travels by way of the destination.",
        parameters: &[
            INTERVAL,
            parameter(
                "threshold",
                CELLS,
                Required,
                "Waiting cells above which data cells are marked.",
            ),
        ],
        ..of(Family::Feedback)
    },
    Component {
        formats: Formats::Aal5,
        name: "oracle-rate",
        help: "Explicit rates computed beforehand: max-min fair rates of greedy sources above their MCRs; a reference for other rules.",
        formula: "max-min fair rates over all links with feedback, each with the capacity U rate - mean rate of higher classes",
        source: "Bertsekas and Gallager, Data Networks, section 6.5.2",
        limits: "Capacity that a source does not use goes to no other source. Only the mean rates of higher classes count.",
        parameters: &[TARGET],
        ..of(Family::Feedback)
    },
];
