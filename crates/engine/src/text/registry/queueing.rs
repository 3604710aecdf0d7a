//! Entries of class queues, drop policies and schedulers.

use super::classes::CLASSES;
use super::component::{Component, Formats, Own, Parameter, of, parameter};
use super::family::Family;
use super::kind::Default::{Bool, Decimal, Derived, Implied, Required, Text};
use super::kind::{DECIMALS, Kind, MAX_CELLS, cells, choice, decimal};

const PLACES: Kind = Kind::Places {
    min: 0,
    buffer: false,
};

pub(super) static QUEUE: &[Component] = &[Component {
    name: "queue",
    help: "The buffer of one class at a port, with its drop policy.",
    formula: "drop a cell of p places <=> X + p > K",
    source: "`ubr-plus`, section 4",
    parameters: &[
        parameter(
            "buffer",
            Kind::Places {
                min: 1,
                buffer: true,
            },
            Text("unlimited"),
            "K: what may wait, excluding the cell in service. In formats other than aal5 also bytes, \"256 kB\", or a time, \"50 ms\": as many bytes as \
             the port sends in it. Thresholds are in the same unit, or fractions of K.",
        ),
        parameter(
            "reserve",
            PLACES,
            Derived("nothing"),
            "r: part of the pool of the switch that only this queue uses, at each port.",
        ),
        parameter(
            "alpha",
            decimal(0, 64),
            Derived("none: all of the pool that is free"),
            "Dynamic threshold: a new frame is refused if the queue has at least alpha times the free part of the pool, beyond its reserve. From 1/128 to 64.",
        ),
        parameter(
            "police",
            Kind::One(Family::Police),
            Derived("none"),
            "What happens to cells that violate the contract of their VC, before the drop policy decides.",
        ),
        parameter(
            "drop",
            Kind::One(Family::Drop),
            Text("tail-drop"),
            "Drop policy: which cells and frames the queue drops.",
        ),
        parameter(
            "feedback",
            Kind::One(Family::Feedback),
            Derived("none"),
            "Feedback to the sources of the VCs that cross the queue, on their allowed rates; for the class abr.",
        ),
        parameter(
            "rest_of_frame",
            Kind::Choice(&[
                choice("accept", "Accepted while there is room."),
                choice(
                    "drop-but-eom",
                    "Dropped, except for the EOM, which is accepted while there is room.",
                ),
                choice("drop", "Dropped, including the EOM."),
            ]),
            Implied(Family::Drop, "accept"),
            "What happens to the later cells of a frame that lost a cell in the middle.",
        ),
    ],
    ..of(Family::Queue)
}];

const R: Parameter = parameter(
    "r",
    Kind::Threshold,
    Decimal("0.9"),
    "R, threshold; at most K.",
);

const fn z(help: &'static str) -> Parameter {
    let kind = decimal(0, 1000);
    parameter("z", kind, Decimal("0.8"), help)
}

pub(super) static DROP: &[Component] = &[
    Component {
        name: "tail-drop",
        help: "Drops a cell when the buffer is full, and never otherwise.",
        formula: "drop a cell of p places <=> X + p > K",
        source: "`ubr-plus`, section 4",
        limits: "A lost cell leaves the rest of its frame in the queue, where it wastes buffer space.",
        ..of(Family::Drop)
    },
    Component {
        name: "ppd",
        help: "Partial packet discard: once a frame has lost a cell, drops the rest of the frame except the EOM.",
        formula: "drop a cell of p places <=> X + p > K, or an earlier cell of its frame was dropped and it is not the EOM",
        source: "Romanow and Floyd, Dynamics of TCP traffic over ATM networks, IEEE JSAC 13(4), 1995, section 3",
        limits: "The first cells of a damaged frame are carried although it is lost. VCs are not protected from each other.",
        implies: &[("rest_of_frame", "drop-but-eom")],
        ..of(Family::Drop)
    },
    Component {
        name: "epd",
        help: "Early packet discard: refuses new frames when the queue is longer than a threshold.",
        formula: "refuse a frame <=> X > T",
        source: "`ubr-plus`, section 5, with T = K - 200 cells; below K = 400 the reserve is K / 2",
        limits: "VCs are not protected from each other.",
        parameters: &[
            parameter(
                "threshold",
                Kind::Threshold,
                Derived("K - reserve"),
                "T, threshold; at most K.",
            ),
            parameter(
                "reserve",
                Kind::Threshold,
                Derived("200 cells, but at most K / 2"),
                "Part of the buffer reserved for frames that have begun, if no threshold is given; at most K. With a buffer in bytes, one of the two is required.",
            ),
        ],
        ..of(Family::Drop)
    },
    Component {
        name: "selective-drop",
        help: "Refuses new frames of a VC that holds more than its share of the buffer.",
        formula: "refuse a frame of VC i <=> X > R and Y_i N_a > Z X",
        source: "`ubr-plus`, section 6 and figure 3",
        limits: "Needs a counter per VC. It does not protect against sources that ignore loss.",
        parameters: &[R, z("Z, cutoff of the load ratio Y_i N_a / X.")],
        ..of(Family::Drop)
    },
    Component {
        name: "fba",
        help: "Fair Buffer Allocation: selective drop with a cutoff that falls as the buffer fills.",
        formula: "refuse a frame of VC i <=> X > R and Y_i N_a / X > Z (K_f - R) / (X - R)",
        source: "`ubr-plus`, section 7; Heinanen and Kilkki, A fair buffer allocation scheme",
        limits: "Needs a counter per VC. With small R and Z, it refuses frames so early that the link runs empty.",
        parameters: &[
            R,
            z("Z, linear scale factor."),
            parameter(
                "k_fba",
                PLACES,
                Derived("K"),
                "K_f, used as K in this formula; at least R.",
            ),
        ],
        ..of(Family::Drop)
    },
    Component {
        name: "drop-from-front",
        help: "Accepts a cell that finds the buffer full, and drops the cell at the front of the queue instead.",
        formula: "push out front cells until the arriving cell fits <=> X + p > K",
        source: "Lakshman, Neidhardt and Ott, The drop from front strategy in TCP and in TCP over ATM, IEEE Infocom 1996",
        limits: "VCs are not protected from each other. The front cell belongs most often to the VC that holds most of the queue.",
        ..of(Family::Drop)
    },
    Component {
        formats: Formats::Aal5,
        name: "gcra-epd",
        help: "Scheme one: early packet discard that, above the threshold, accepts frames within the minimum rate of their VC.",
        formula: "accept a cell of VC i <=> X < Th, or the bucket level B_i <= BT + CDVT, or it continues a frame; with X >= Th each accepted cell \
                  adds 1/MCR_i to B_i",
        source: "`gfr-leaky-bucket`, sections 3.1 and 4.1, figure 4-1 and the appendix",
        limits: "Cells accepted below the threshold are charged to no VC, so the VC that sends most takes most of the excess.",
        implies: DROPS_REST,
        parameters: &[CONGESTION, EXPORT_TAG],
        ..of(Family::Drop)
    },
    Component {
        formats: Formats::Aal5,
        name: "gcra-round-robin",
        help: "Scheme two: a leaky bucket per VC tests every cell. Below the threshold, VCs get credit of one cell in turn.",
        formula: "at each cell with X < Th: B_j := B_j - 1/MCR_j for the next VC j; accept <=> the bucket level B_i <= BT + CDVT, or it continues a frame; \
                  each accepted cell adds 1/MCR_i to B_i",
        source: "`gfr-leaky-bucket`, sections 3.2 and 5.1, figure 5-1 and the appendix",
        limits: "Credit that a VC does not use goes to no other VC, so idle VCs may leave the link partly unused.",
        implies: DROPS_REST,
        parameters: &[
            CONGESTION,
            parameter(
                "keep_credit",
                Kind::Bool,
                Bool(false),
                "Whether a VC keeps credit that it gets while its bucket is empty.",
            ),
            EXPORT_TAG,
        ],
        ..of(Family::Drop)
    },
    Component {
        formats: Formats::Aal5,
        name: "gcra-two-thresholds",
        help: "The scheme of chapter 8: scheme two, but below a lower threshold every cell is accepted on credit.",
        formula: "X < L: accept, and add 1/MCR_i to the bucket level B_i or, if B_i >= BT + CDVT, 1 to the debt D_i; credit reduces D_j before B_j; \
                  else as gcra-round-robin",
        source: "`gfr-leaky-bucket`, chapter 8",
        limits: "A debt D_i that has grown in a long quiet time is paid off only at the turns of the VC.",
        implies: DROPS_REST,
        parameters: &[
            parameter(
                "low",
                Kind::Threshold,
                Text("500 cells"),
                "L, lower threshold; at most Th.",
            ),
            CONGESTION,
            EXPORT_TAG,
        ],
        ..of(Family::Drop)
    },
    Component {
        formats: Formats::Aal5,
        name: "dfba",
        help: "Differential Fair Buffer Allocation: random drops share the buffer in proportion to minimum rates.",
        formula: "L < X < H: refuse a frame of CLP = 1, and a frame of VC i with Y_i > X W_i, W_i = MCR_i / sum of MCRs, with probability \
                  P = Z (alpha (Y_i - X W_i) / (X (1 - W_i)) + (1 - alpha) (X - L) / (H - L))",
        source: "Goyal, Jain, Fahmy and Vandalore, Buffer management for the GFR service, ATM Forum 98-0405, 1998",
        limits: "Rates follow buffer shares only as far as TCP responds to loss. Only H and random loss limit UDP. A VC without a contract has W_i = 0.",
        parameters: &[
            parameter(
                "low",
                Kind::Threshold,
                Text("500 cells"),
                "L, queue up to which every frame is accepted; at most H.",
            ),
            parameter(
                "high",
                Kind::Threshold,
                Text("1000 cells"),
                "H, queue from which no frame is accepted; at most K.",
            ),
            parameter(
                "z",
                FRACTION,
                Decimal("1"),
                "Z, scale of the drop probability.",
            ),
            parameter(
                "alpha",
                FRACTION,
                Decimal("0.5"),
                "alpha, weight of the VC's excess; the load has weight 1 - alpha.",
            ),
        ],
        ..of(Family::Drop)
    },
    Component {
        name: "atm-red",
        help: "Random early detection with two bits per VC: decides at every cell, and discards the next whole frame.",
        formula: "avg := (1 - w_q) avg + w_q X; p = 0 if avg < min_th, 1 if avg >= max_th, else max_p / segment_cells \
                  (avg - min_th) / (max_th - min_th); a uniform draw < p sets the mark m of a VC",
        diagram: ATM_RED,
        source: "`cell-discard`, section 2.3 and figure 3; Floyd and Jacobson, Random early detection gateways for congestion avoidance, IEEE/ACM ToN 1(4), 1993",
        limits: "A mark within a frame or at its EOM discards the next frame of the VC, and a mark at a first cell discards the frame of that cell. The discarded frame may be an ACK if a VC carries both data and ACKs.",
        parameters: &[
            W_Q,
            MAX_P_OF_SEGMENT,
            MIN_TH,
            MAX_TH,
            SEGMENT,
            AVERAGE,
            SPACING,
            parameter(
                "spare_short_frames",
                Kind::Bool,
                Bool(false),
                "Whether a mark skips frames of one or two cells, such as ACKs. It then discards the next longer frame, except for its first cell and its EOM.",
            ),
        ],
        ..of(Family::Drop)
    },
    Component {
        name: "cell-red",
        help: "Random early detection that drops single cells without regard to frames.",
        formula: "drop a cell <=> a uniform draw < p, with p as in atm-red",
        source: "Elloumi and Afifi, RED algorithm in ATM networks, IEEE ATM Workshop 1997; `cell-discard`, section 2.3",
        limits: "Each drop costs a whole frame but frees room for only one cell, unless `rest_of_frame` drops the rest.",
        parameters: &[
            W_Q,
            MAX_P_OF_SEGMENT,
            MIN_TH,
            MAX_TH,
            SEGMENT,
            AVERAGE,
            SPACING,
        ],
        ..of(Family::Drop)
    },
    Component {
        name: "packet-red",
        help: "Random early detection that refuses whole frames, by their VC's share of the queue.",
        formula: "refuse a frame of VC i <=> p = 1 or a uniform draw < p Y_i N_a / X, with p as in atm-red, but max_p not divided by segment_cells",
        source: "Elloumi and Afifi, RED algorithm in ATM networks, IEEE ATM Workshop 1997; `cell-discard`, section 2.3",
        limits: "Needs a counter per VC. No buffer is reserved for frames that have begun.",
        parameters: &[
            W_Q,
            parameter(
                "max_p",
                FRACTION,
                Decimal("0.02"),
                "max_p, probability just below max_th for a frame of a VC with an equal share of the queue; above 0.",
            ),
            MIN_TH,
            MAX_TH,
            AVERAGE,
            SPACING,
        ],
        ..of(Family::Drop)
    },
    Component {
        name: "frame-drop-from-front",
        help: "Accepts a cell that finds the buffer full, and drops all waiting cells of the frame at the front instead.",
        formula: "push out front frames until the arriving cell fits <=> X + p > K; with drop-but-eom the EOM of a frame stays, unless it is the front cell",
        source: "Lakshman, Neidhardt and Ott, The drop from front strategy in TCP and in TCP over ATM, IEEE Infocom 1996; `cell-discard`, section 2",
        limits: "VCs are not protected from each other. The front frame belongs most often to the VC that holds most of the queue.",
        implies: &[("rest_of_frame", "drop-but-eom")],
        ..of(Family::Drop)
    },
    Component {
        name: "program",
        help: "Your own policy: a condition or a small program over the state of the queue, the VC and the cell.",
        formula: "refuse <=> the condition `refuse` is true; or what the statements of `program` say",
        source: "Sivaraman and others, Packet transactions: High-level programming for line-rate switches, ACM SIGCOMM 2016: a decision is a program that runs to its end",
        limits: "A decision sees its own queue alone, and a program has no loops. The answer for a whole frame is given at its first cell.",
        parameters: &[
            parameter(
                "refuse",
                Kind::Program,
                Derived("none"),
                "Condition on which a frame or cell is refused, such as \"X > R and Y * N > Z * X\". Excludes `program`.",
            ),
            parameter(
                "program",
                Kind::Program,
                Derived("none"),
                "Statements: assignments, `if`, and verdicts. Excludes `refuse`.",
            ),
            parameter(
                "asked",
                Kind::Choice(&[
                    choice("frames", "First cells of frames that find the port busy."),
                    choice(
                        "cells",
                        "Every arriving cell, also at an idle port. It also sees cells of lost frames; there its answer has no effect.",
                    ),
                ]),
                Text("frames"),
                "What the program is asked about.",
            ),
            parameter(
                "never_below",
                Kind::Threshold,
                Derived("what a leading condition such as X > R shows"),
                "Queue X up to which the program promises to refuse nothing. Kernels need not ask it there; a refusal there ends the run.",
            ),
            parameter(
                "export_tag",
                Kind::Bool,
                Bool(true),
                "Whether cells that the program tags leave with CLP = 1. Otherwise they leave as they came.",
            ),
        ],
        own: Some(Own {
            kind: Kind::Own,
            help: "A parameter of the program: a name with letters, digits and _. A decimal is exact; cells, times (ticks) and rates (bit/s) are integers.",
        }),
        ..of(Family::Drop)
    },
];

const ATM_RED: &str = "\
m: the mark is on, set by draw < p at a cell that arrives in accept-first or accept-cell while it is off
e: the cell is an EOM     A: it is accepted     D: it is discarded     !: not

                 !m e / A                                 !e / A
                +--------+                              +--------+
                |        v                              |        v
            +----------------+       !m !e / A        +----------------+
  start --> |  accept-first  | ---------------------> |  accept-cell   |
            |                | <--------------------- |                |
            +----------------+   e / A, m unchanged   +----------------+
              |     ^     |  ^
              |     |     +--+ m e / D, m := 0
    m !e / D, |     |
       m := 0 |     | e / D
              v     |
            +----------------+
            |  discard-cell  |
            +----------------+
                |        ^
                +--------+
                  !e / D";

const W_Q: Parameter = parameter(
    "w_q",
    FRACTION,
    Decimal("0.002"),
    "w_q, weight of the newest X in the average; above 0.",
);

const MAX_P_OF_SEGMENT: Parameter = parameter(
    "max_p",
    FRACTION,
    Decimal("0.02"),
    "max_p, probability just below max_th for all cells of a segment together; above 0.",
);

const MIN_TH: Parameter = parameter(
    "min_th",
    Kind::Threshold,
    Decimal("0.25"),
    "min_th, average queue at which random drops begin; below max_th.",
);

const MAX_TH: Parameter = parameter(
    "max_th",
    Kind::Threshold,
    Decimal("0.75"),
    "max_th, average queue from which everything is dropped; at most K.",
);

const SEGMENT: Parameter = parameter(
    "segment_cells",
    cells(1, MAX_CELLS),
    Text("32 cells"),
    "Cells per segment, the divisor of max_p: 32 for an MSS of 1460 bytes, 192 for 9140 bytes. With 1, max_p applies to each cell.",
);

const AVERAGE: Parameter = parameter(
    "average",
    Kind::Choice(&[
        choice("cell", "At every arriving cell."),
        choice("frame", "At the first cell of each frame."),
        choice(
            "idle",
            "At every arriving cell. After an idle time, the average decays as if a cell per cell time had found an empty queue.",
        ),
    ]),
    Text("cell"),
    "When the average is updated.",
);

const SPACING: Parameter = parameter(
    "spacing",
    Kind::Bool,
    Bool(false),
    "Whether marks are spaced evenly: p / (1 - c p) replaces p, where c counts decisions since the last mark.",
);

const DROPS_REST: &[(&str, &str)] = &[("rest_of_frame", "drop")];

const CONGESTION: Parameter = parameter(
    "threshold",
    Kind::Threshold,
    Text("1000 cells"),
    "Th, congestion threshold; at most K.",
);

const EXPORT_TAG: Parameter = parameter(
    "export_tag",
    Kind::Bool,
    Bool(false),
    "Whether cells tagged here leave with CLP = 1. Otherwise they leave as they came. The first cell of a frame is never tagged.",
);

const FRACTION: Kind = decimal(0, 1);

pub(super) static SCHEDULER: &[Component] = &[
    Component {
        name: "fifo",
        help: "Serves cells of all classes in order of arrival. Each class keeps its own buffer and policy.",
        formula: "the cell that arrived first goes first",
        source: "`ubr-plus`, section 4",
        limits: "No class is protected: a burst in one class delays the cells of all others.",
        ..of(Family::Scheduler)
    },
    Component {
        name: "strict-priority",
        help: "Serves the highest class that has a waiting cell, in the order cbr, vbr, abr, gfr, ubr.",
        formula: "the highest class with X > 0 goes first",
        source: "`guaranteed-rate`, section 3 (GR = 0)",
        limits: "A class with enough to send starves all lower classes.",
        ..of(Family::Scheduler)
    },
    Component {
        name: "guaranteed-rate",
        formats: Formats::EqualCells,
        help: "Strict priority, but one class gets at least a fraction of the cell slots.",
        formula: "per slot, credit := 0 if X = 0 for the class, else credit + GR; if credit >= 1, the class goes and credit := credit - 1",
        source: "`guaranteed-rate`, section 3",
        limits: "Only one class has a guarantee. Credit is lost when its queue is empty, and spare slots go by priority.",
        parameters: &[
            parameter(
                "class",
                CLASSES,
                Text("ubr"),
                "The class with the guarantee.",
            ),
            parameter(
                "gr",
                Kind::Decimal {
                    min: 0,
                    max: 1,
                    below_max: true,
                    decimals: DECIMALS,
                },
                Required,
                "GR, guaranteed fraction of the slots.",
            ),
        ],
        ..of(Family::Scheduler)
    },
    Component {
        name: "per-vc",
        help: "Strict priority between classes; within one class, guaranteed rates first, the rest by weight.",
        formula: "per slot, credit_i := credit_i + guarantee_i / rate while VC i has cells; the VC with the largest credit >= 1 goes and pays 1; \
                  else the VC with the smallest start tag S_i goes, and S_i := S_i + 1 / weight_i",
        source: "`guaranteed-rate`, sections 1 and 3; Goyal, Vin and Cheng, Start-time fair queuing, IEEE/ACM ToN 5(5), 1997",
        limits: "It only orders service within one class. The drop policy alone decides how much of the buffer each VC may hold.",
        parameters: &[
            parameter(
                "class",
                CLASSES,
                Text("ubr"),
                "The class with per-VC queues, which share its buffer. If the buffer overflows, fair shares need a drop policy that counts by VC.",
            ),
            parameter(
                "unit",
                Kind::Choice(&[
                    choice("cell", "A turn is one cell."),
                    choice("frame", "A turn is one frame; frames are not interleaved."),
                    choice(
                        "byte",
                        "A turn is one packet, and S_i rises by its bytes on the line / weight_i. Only in the format ethernet.",
                    ),
                ]),
                Text("cell"),
                "What a VC sends per turn.",
            ),
        ],
        ..of(Family::Scheduler)
    },
    Component {
        name: "program",
        help: "Your own scheduler: serves the VC with the smallest rank, an expression over the state of the VC and the port.",
        formula: "the first waiting cell of the VC with the smallest `rank` goes first; among equal ranks the most urgent class, then the first VC",
        source: "Sivaraman and others, Programmable packet scheduling at line rate, ACM SIGCOMM 2016: a scheduler is a rank, and the smallest goes first",
        limits: "Each choice computes the rank of every VC that waits, and a program has no loops. Guaranteed rates of VCs have no effect.",
        parameters: &[
            parameter(
                "class",
                CLASSES,
                Derived("all classes, whose VCs the rank alone orders"),
                "The class whose VCs it serves one by one. Strict priority decides between classes, and the other classes are served in order of arrival.",
            ),
            parameter(
                "state",
                Kind::Program,
                Derived("none"),
                "Names of state, such as \"queue state v = 0; vc state S = 0\": one value at the port, or one for each VC.",
            ),
            parameter(
                "arrive",
                Kind::Program,
                Derived("none"),
                "Statements that run when a VC begins to wait.",
            ),
            parameter(
                "served",
                Kind::Program,
                Derived("none"),
                "Statements that run for the VC that goes, after its cell has left the queue.",
            ),
            parameter(
                "rank",
                Kind::Program,
                Required,
                "Expression of the rank, such as \"S\": a number, without draws.",
            ),
        ],
        own: Some(Own {
            kind: Kind::Own,
            help: "A parameter of the texts: a name with letters, digits and _. A decimal is exact; cells, times (ticks) and rates (bit/s) are integers. A scheduler has no buffer, so fractions of K are not allowed.",
        }),
        ..of(Family::Scheduler)
    },
];
