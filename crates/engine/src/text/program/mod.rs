//! Programs: drop policies and schedulers that a scenario states as text (`docs/programs.md`).
//!
//! A program decides one thing and ends: it has no loops. [`parse`] turns the text into a typed
//! [`Program`]. The engine compiles that for one queue or port ([`compile`]) and runs it on a small
//! [`machine`]; the reference engine walks the tree by itself (`twin::program`).
//!
//! A drop policy is one text. A scheduler has up to four, with one set of states and parameters
//! ([`SchedulerText`]). [`names`] has the words of both.

pub mod bound;
pub mod compile;
pub mod lex;
pub mod machine;
pub mod names;
pub mod parse;

use crate::ground::units::{Ratio, Span};
use names::{Function, Known};
use std::fmt;

/// Most characters of a text.
pub const MOST_CHARACTERS: usize = 4096;
/// Most steps of a program: operators, calls, assignments, conditions and verdicts in its text. The
/// texts of a scheduler have them together.
pub const MOST_STEPS: usize = 256;
/// Most parameters.
pub const MOST_PARAMETERS: usize = 64;
/// Most names of state.
pub const MOST_STATES: usize = 16;
/// Most names that are assigned without being state.
pub const MOST_LOCALS: usize = 64;
/// Deepest nesting of parentheses, signs, `not` and blocks.
pub const DEEPEST: usize = 32;

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A whole number of 128 bits, checked.
    Integer,
    /// An exact fraction of two such numbers.
    Decimal,
    /// IEEE binary64.
    Float,
    /// A truth value.
    Bool,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Integer => "integer",
            Type::Decimal => "decimal",
            Type::Float => "float",
            Type::Bool => "truth value",
        })
    }
}

/// A number in a text, or the value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// A whole number.
    Integer(i128),
    /// A fraction; the second number is above 0.
    Decimal(i128, i128),
    /// Above every number: K of a queue without limit, and fractions of it.
    Unlimited,
}

/// Value of a parameter, as a scenario gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// A number.
    Number(Ratio),
    /// Cells.
    Cells(u64),
    /// Bytes.
    Bytes(u64),
    /// Fraction of K.
    Fraction(Ratio),
    /// A length of time.
    Time(Span),
    /// Bits per second.
    Rate(u64),
}

impl Value {
    /// Type in programs. It does not depend on the number, so that a grid over a parameter keeps
    /// the types.
    pub fn of_type(self) -> Type {
        match self {
            Value::Number(_) | Value::Fraction(_) => Type::Decimal,
            Value::Cells(_) | Value::Bytes(_) | Value::Time(_) | Value::Rate(_) => Type::Integer,
        }
    }

    /// The value at a queue with a buffer of `k` places (`None`: unlimited).
    pub fn at(self, k: Option<u64>) -> Constant {
        let fraction = |num: i128, den: u64| Constant::Decimal(num, i128::from(den));
        match self {
            Value::Number(r) => fraction(r.num.into(), r.den),
            Value::Fraction(r) => k.map_or(Constant::Unlimited, |k| {
                fraction(i128::from(r.num) * i128::from(k), r.den)
            }),
            Value::Cells(n) | Value::Bytes(n) | Value::Rate(n) => Constant::Integer(n.into()),
            Value::Time(span) => Constant::Integer(span.0.into()),
        }
    }
}

/// An expression with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What it is.
    pub kind: Kind,
    /// Type of its value.
    pub of_type: Type,
    /// Where its operator or name begins in the text, in bytes.
    pub at: u32,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A number.
    Constant(Constant),
    /// `true` or `false`.
    Bool(bool),
    /// A name of the language.
    Known(Known),
    /// A parameter, by index.
    Parameter(usize),
    /// A name of state, by index.
    State(usize),
    /// A name that is assigned in the program, by index.
    Local(usize),
    /// `not a`.
    Not(Box<Expression>),
    /// `-a`.
    Negate(Box<Expression>),
    /// `a and b`; b is left out if a is false.
    And(Box<Expression>, Box<Expression>),
    /// `a or b`; b is left out if a is true.
    Or(Box<Expression>, Box<Expression>),
    /// `a + b` and the like.
    Arithmetic(Operator, Box<Expression>, Box<Expression>),
    /// `a < b` and the like.
    Compare(Comparison, Box<Expression>, Box<Expression>),
    /// A call with its arguments.
    Call(Function, Vec<Expression>),
}

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// +
    Add,
    /// -
    Subtract,
    /// *
    Multiply,
    /// /
    Divide,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// <
    Less,
    /// <=
    AtMost,
    /// >
    Greater,
    /// >=
    AtLeast,
    /// ==
    Equal,
    /// !=
    Unequal,
}

impl Comparison {
    /// Whether the comparison holds for two values that are ordered like this.
    #[inline]
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
            Comparison::Equal => order.is_eq(),
            Comparison::Unequal => order.is_ne(),
        }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `name = value`.
    Assign {
        /// State or local name.
        target: Target,
        /// New value, of the type of the target or one that converts to it.
        value: Expression,
    },
    /// `if condition { then } else { otherwise }`.
    If {
        /// A truth value.
        condition: Expression,
        /// Statements for true.
        then: Vec<Statement>,
        /// Statements for false.
        otherwise: Vec<Statement>,
    },
    /// The end of the program, with its answer.
    Verdict(Verdict, u32),
}

/// What an assignment changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// State, by index.
    State(usize),
    /// A local name, by index.
    Local(usize),
}

/// Answer of a drop policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accepts the cell while there is room.
    Accept,
    /// Accepts the cell with low priority (CLP = 1).
    Tag,
    /// Drops the cell; at the first cell of a frame, the rest of the frame too.
    Refuse,
    /// Drops this cell alone.
    RefuseCell,
    /// Accepts the cell, and drops the cell at the front of the queue.
    PushOutCell,
    /// Accepts the cell, and drops all waiting cells of the frame at the front.
    PushOutFrame,
}

/// Whether each VC has its own value of a state, or the queue has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// One value.
    Queue,
    /// One value for each VC.
    Vc,
}

/// A name of state.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Name of the state.
    pub name: String,
    /// Who has a value of it.
    pub owner: Owner,
    /// Type: never [`Type::Decimal`].
    pub of_type: Type,
    /// Value at the start; 1 for true.
    pub initial: Constant,
}

/// A program that has been checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Names of state.
    pub states: Vec<State>,
    /// Names that are assigned without being state, with their types.
    pub locals: Vec<(String, Type)>,
    /// Statements; behind the last one, the verdict is *accept*.
    pub body: Vec<Statement>,
    /// What it uses.
    pub uses: Uses,
    /// Steps in its text.
    pub steps: usize,
    /// Parameters that it does not use.
    pub unused_parameters: Vec<String>,
}

impl Program {
    /// Number of states that each VC has.
    pub fn states_of_vc(&self) -> usize {
        let of_vc = |state: &&State| state.owner == Owner::Vc;
        self.states.iter().filter(of_vc).count()
    }
}

/// A scheduler that has been checked. Its texts have the same states and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// Statements for a VC that begins to wait.
    pub arrive: Program,
    /// Statements for a VC after one of its cells was taken.
    pub served: Program,
    /// One assignment, to its first local name: the rank of a VC that waits.
    pub rank: Program,
}

impl Ranking {
    /// The texts in the order in which they are compiled.
    pub fn texts(&self) -> [&Program; 3] {
        [&self.arrive, &self.served, &self.rank]
    }

    /// Expression of the rank.
    pub fn rank(&self) -> &Expression {
        match &self.rank.body[0] {
            Statement::Assign { value, .. } => value,
            other => unreachable!("a rank is not {other:?}"),
        }
    }

    /// Whether any text uses `name`.
    pub fn knows(&self, name: Known) -> bool {
        self.texts().iter().any(|text| text.uses.knows(name))
    }
}

/// A text of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerText {
    /// Names of state.
    State,
    /// For a VC that begins to wait.
    Arrive,
    /// For a VC after one of its cells was taken.
    Served,
    /// For a VC that waits where the link is free.
    Rank,
}

impl SchedulerText {
    /// All, in the order in which they are read.
    pub const ALL: [SchedulerText; 4] = [
        SchedulerText::State,
        SchedulerText::Arrive,
        SchedulerText::Served,
        SchedulerText::Rank,
    ];

    /// Place of its program in [`Ranking::texts`].
    pub fn place(self) -> usize {
        match self {
            SchedulerText::State | SchedulerText::Arrive => 0,
            SchedulerText::Served => 1,
            SchedulerText::Rank => 2,
        }
    }

    /// The field that has it.
    pub fn field(self) -> &'static str {
        match self {
            SchedulerText::State => "state",
            SchedulerText::Arrive => "arrive",
            SchedulerText::Served => "served",
            SchedulerText::Rank => "rank",
        }
    }
}

/// What a program uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Uses {
    /// Names of the language.
    pub known: Vec<Known>,
    /// Verdicts.
    pub verdicts: Vec<Verdict>,
    /// Whether it draws random numbers.
    pub draws: bool,
}

impl Uses {
    /// Whether it uses `name`.
    pub fn knows(&self, name: Known) -> bool {
        self.known.contains(&name)
    }
}

/// Why a run of a program has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub why: Why,
    /// Where in the text, in bytes.
    pub at: u32,
}

/// What can go wrong in a run of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A number beyond 128 bits.
    Overflow,
    /// A division by zero.
    DivisionByZero,
    /// A float that is infinite or not a number.
    NotFinite,
    /// A difference or product that has no value with an unlimited buffer.
    Unlimited,
    /// A power with a negative exponent.
    NegativePower,
    /// A refusal at an X at or below `never_below`.
    BelowBound,
}

impl Why {
    /// The fault in words.
    pub fn words(self) -> &'static str {
        match self {
            Why::Overflow => "the number does not fit into 128 bits",
            Why::DivisionByZero => "division by zero",
            Why::NotFinite => "the float is infinite or not a number",
            Why::Unlimited => "there is no such number if the buffer is unlimited",
            Why::NegativePower => "the exponent is negative",
            Why::BelowBound => "a refusal at an X at or below `never_below`",
        }
    }
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// That line, or the part of it around the place, and below it a caret.
    pub excerpt: String,
}

/// The place of byte `at` in `text`.
pub fn show(text: &str, at: u32) -> Shown {
    /// Most characters of a line that are shown before and behind a place.
    const AROUND: usize = 50;
    let at = (at as usize).min(text.len());
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
    let before = text[start..at].chars().count();
    let from = before.saturating_sub(AROUND);
    let shown = text[start..end].chars().skip(from).take(2 * AROUND);
    let shown: String = shown
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let dots = if from > 0 { "..." } else { "" };
    let below = " ".repeat(dots.len() + before - from);
    Shown {
        line: text[..start].matches('\n').count() + 1,
        column: before + 1,
        excerpt: format!("    {dots}{}\n    {below}^", shown.trim_end()),
    }
}

#[cfg(test)]
mod tests;
