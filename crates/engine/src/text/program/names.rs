//! The words of the language: names, functions, verdicts and keywords.

use super::{Type, Verdict};

/// A name that has a value by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Known {
    /// Cells waiting in the queue.
    X,
    /// Cells of the VC waiting in the queue.
    Y,
    /// VCs with cells waiting in the queue.
    N,
    /// Buffer.
    K,
    /// Minimum cell rate of the VC.
    Mcr,
    /// Peak cell rate of the VC.
    Pcr,
    /// Sustainable cell rate of the VC.
    Scr,
    /// Cell delay variation tolerance of the VC.
    Cdvt,
    /// Maximum burst size of the VC.
    Mbs,
    /// Whether the VC has a contract.
    HasContract,
    /// Priority of the cell.
    Clp,
    /// Whether the cell is the first of its frame.
    Begins,
    /// Whether the cell ends its frame.
    Ends,
    /// Whether the cell is dropped in any case.
    Lost,
    /// Idle time of the port.
    Idle,
    /// Free places of the shared part of the pool.
    Free,
    /// Places in use of the pool.
    Pool,
    /// Reserve of the queue.
    Reserve,
    /// Time.
    Now,
    /// Time of a cell on the link.
    CellTime,
    /// Bytes of the cell on the line.
    Length,
    /// Places that the cell takes in the queue.
    Places,
    /// Number of the first waiting cell of the VC in the order of acceptance.
    Arrival,
    /// Cells of the VC that wait.
    Waiting,
    /// Weight of the VC.
    Weight,
    /// Number of the VC.
    Number,
    /// Rank of the VC's class.
    ClassRank,
}

/// A word with its type and its meaning.
#[derive(Debug)]
pub struct Entry<T> {
    /// What it is.
    pub of: T,
    /// How it is written.
    pub word: &'static str,
    /// Type of its value.
    pub of_type: Type,
    /// One line on it, with the unit.
    pub help: &'static str,
}

const fn entry<T>(of: T, word: &'static str, of_type: Type, help: &'static str) -> Entry<T> {
    Entry {
        of,
        word,
        of_type,
        help,
    }
}

/// Every name, in the order of [`Known`]. Those of drop policies come first, those of schedulers
/// last, and both have those from `now` to `places`.
static NAMES: [Entry<Known>; 27] = [
    entry(
        Known::X,
        "X",
        Type::Integer,
        "Cells waiting in the queue, or their bytes if it counts bytes, without the cell in service and this cell.",
    ),
    entry(
        Known::Y,
        "Y",
        Type::Integer,
        "Cells of this cell's VC waiting in the queue, or their bytes if it counts bytes.",
    ),
    entry(
        Known::N,
        "N",
        Type::Integer,
        "VCs with cells waiting in the queue.",
    ),
    entry(
        Known::K,
        "K",
        Type::Integer,
        "Buffer of the queue, cells or bytes; above every number if it is unlimited.",
    ),
    entry(
        Known::Mcr,
        "MCR",
        Type::Integer,
        "Minimum cell rate of the VC's contract, bit/s; 0 without one.",
    ),
    entry(
        Known::Pcr,
        "PCR",
        Type::Integer,
        "Peak cell rate of the contract, bit/s; 0 without one.",
    ),
    entry(
        Known::Scr,
        "SCR",
        Type::Integer,
        "Sustainable cell rate of the contract, bit/s; 0 without one.",
    ),
    entry(
        Known::Cdvt,
        "CDVT",
        Type::Integer,
        "Cell delay variation tolerance of the contract, ticks; 0 without one.",
    ),
    entry(
        Known::Mbs,
        "MBS",
        Type::Integer,
        "Maximum burst size of the contract, cells; 0 without one.",
    ),
    entry(
        Known::HasContract,
        "has_contract",
        Type::Bool,
        "Whether the VC has a contract.",
    ),
    entry(
        Known::Clp,
        "CLP",
        Type::Integer,
        "1 if the cell has low priority, else 0.",
    ),
    entry(
        Known::Begins,
        "begins",
        Type::Bool,
        "Whether the cell is the first of its frame that arrives here.",
    ),
    entry(
        Known::Ends,
        "ends",
        Type::Bool,
        "Whether the cell ends its frame.",
    ),
    entry(
        Known::Lost,
        "lost",
        Type::Bool,
        "Whether the cell is dropped in any case, with the rest of its frame or by the policer.",
    ),
    entry(
        Known::Idle,
        "idle",
        Type::Integer,
        "Whole cell times for which the port has been idle; -1 while it is busy.",
    ),
    entry(
        Known::Free,
        "free",
        Type::Integer,
        "Free places of the shared part of the switch's pool, before this cell.",
    ),
    entry(
        Known::Pool,
        "pool",
        Type::Integer,
        "Places of the switch's pool that are in use, reserves included, before this cell.",
    ),
    entry(
        Known::Reserve,
        "reserve",
        Type::Integer,
        "Places of the switch's pool that only this queue uses.",
    ),
    entry(
        Known::Now,
        "now",
        Type::Integer,
        "Time since the start, ticks.",
    ),
    entry(
        Known::CellTime,
        "cell_time",
        Type::Integer,
        "Time of a cell on the link, ticks, rounded up.",
    ),
    entry(
        Known::Length,
        "length",
        Type::Integer,
        "Bytes of the cell on the line; for schedulers, of the VC's first waiting cell, or in `served` of the cell that goes.",
    ),
    entry(
        Known::Places,
        "places",
        Type::Integer,
        "Places that this cell takes in the queue: 1, or its bytes if the queue counts bytes.",
    ),
    entry(
        Known::Arrival,
        "arrival",
        Type::Integer,
        "Number of the VC's first waiting cell among all cells that the port has accepted, from 1; 0 if none waits.",
    ),
    entry(
        Known::Waiting,
        "waiting",
        Type::Integer,
        "Cells of the VC that wait, without the cell in service.",
    ),
    entry(Known::Weight, "weight", Type::Integer, "Weight of the VC."),
    entry(
        Known::Number,
        "number",
        Type::Integer,
        "Number of the VC at this port, from 0, in the order of the scenario.",
    ),
    entry(
        Known::ClassRank,
        "class_rank",
        Type::Integer,
        "Rank of the VC's class: cbr 0, vbr 1, abr 2, gfr 3, ubr 4.",
    ),
];

impl Known {
    /// The names that need a pool.
    pub const OF_POOLS: [Known; 3] = [Known::Free, Known::Pool, Known::Reserve];

    /// How it is written.
    pub fn word(self) -> &'static str {
        NAMES[self as usize].word
    }
}

/// The words that texts of one purpose may use, besides keywords.
#[derive(Debug)]
pub struct Dialect {
    /// What the texts state.
    pub of: &'static str,
    /// Names with a value.
    pub names: &'static [Entry<Known>],
    /// Functions.
    pub functions: &'static [Entry<Function>],
    /// Verdicts.
    pub verdicts: &'static [(&'static str, Verdict, &'static str)],
}

/// Words of drop policies.
pub static DROP: Dialect = Dialect {
    of: "a drop policy",
    names: NAMES.split_at(22).0,
    functions: &FUNCTIONS,
    verdicts: &VERDICTS,
};

/// Words of schedulers.
pub static SCHEDULER: Dialect = Dialect {
    of: "a scheduler",
    names: NAMES.split_at(18).1,
    functions: FUNCTIONS.split_at(6).0,
    verdicts: &[],
};

impl Dialect {
    /// Whether `word` means something here, so that no parameter or state can have this name.
    pub fn reserves(&self, word: &str) -> bool {
        KEYWORDS.contains(&word)
            || self.names.iter().any(|name| name.word == word)
            || self.functions.iter().any(|function| function.word == word)
            || self.verdicts.iter().any(|(verdict, ..)| *verdict == word)
    }
}

/// Whether `word` means something in any dialect.
pub fn is_known_anywhere(word: &str) -> bool {
    DROP.reserves(word) || SCHEDULER.reserves(word)
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The smaller of two.
    Min,
    /// The larger of two.
    Max,
    /// The number without its sign.
    Abs,
    /// The largest integer that is not above.
    Floor,
    /// A float.
    Float,
    /// A float to the power of an integer.
    Power,
    /// The sum of a rate over the VCs of the queue.
    Sum,
    /// A random number.
    Draw,
}

/// Every function; the type is that of its value, where arguments do not decide it.
/// Those of drop policies alone come last.
static FUNCTIONS: [Entry<Function>; 8] = [
    entry(
        Function::Min,
        "min",
        Type::Decimal,
        "min(a, b): the smaller one.",
    ),
    entry(
        Function::Max,
        "max",
        Type::Decimal,
        "max(a, b): the larger one.",
    ),
    entry(
        Function::Abs,
        "abs",
        Type::Decimal,
        "abs(a): a without its sign.",
    ),
    entry(
        Function::Floor,
        "floor",
        Type::Integer,
        "floor(a): the largest integer that is at most a.",
    ),
    entry(
        Function::Float,
        "float",
        Type::Float,
        "float(a): the float nearest to a.",
    ),
    entry(
        Function::Power,
        "power",
        Type::Float,
        "power(a, n): float a multiplied n times, by squaring; n is an integer and not negative.",
    ),
    entry(
        Function::Sum,
        "sum",
        Type::Integer,
        "sum(MCR), sum(PCR) or sum(SCR): over all VCs that cross the queue, bit/s.",
    ),
    entry(
        Function::Draw,
        "draw",
        Type::Float,
        "draw(): the next random number of the queue, uniform from 0 to below 1.",
    ),
];

/// Every verdict.
pub static VERDICTS: [(&str, Verdict, &str); 6] = [
    (
        "accept",
        Verdict::Accept,
        "The cell comes in while there is room; at the first cell of a frame, the others too.",
    ),
    (
        "tag",
        Verdict::Tag,
        "The cell comes in while there is room, with CLP = 1; see `export_tag`.",
    ),
    (
        "refuse",
        Verdict::Refuse,
        "The cell is dropped; at the first cell of a frame, the whole frame.",
    ),
    (
        "refuse_cell",
        Verdict::RefuseCell,
        "This cell alone is dropped, and its frame is damaged.",
    ),
    (
        "push_out_cell",
        Verdict::PushOutCell,
        "The cell comes in, and the cell at the front of the queue is dropped.",
    ),
    (
        "push_out_frame",
        Verdict::PushOutFrame,
        "The cell comes in, and all waiting cells of the frame at the front are dropped.",
    ),
];

/// Words with their own meaning.
pub const KEYWORDS: [&str; 10] = [
    "if", "else", "and", "or", "not", "true", "false", "queue", "vc", "state",
];
