//! Every component a scenario can name: parameters with units, ranges and defaults, formula, source.
//!
//! This is the one definition from which the scenario reader checks input, and from which JSON Schema,
//! command-line help, Python classes and reference pages are generated. To add a component to a family:
//! its entry here and a variant of the same name in `scenario::model`, whose serde form the reader fills.

mod export;
mod network;
mod probes;
mod queueing;
mod reference;
mod traffic;

pub use export::{as_json, json_schema};
pub use reference::reference_markdown;

use crate::units::{Span, TICKS_PER_SECOND};

/// A kind of component. A scenario chooses one component of a family that has a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The whole scenario.
    Scenario,
    /// What is measured.
    Measure,
    /// What a replication draws.
    Ensemble,
    /// End systems.
    Host,
    /// Switches.
    Switch,
    /// Links.
    Link,
    /// Virtual circuits.
    Vc,
    /// Class queues of a port.
    Queue,
    /// Drop policies.
    Drop,
    /// Schedulers.
    Scheduler,
    /// What a VC sends.
    Traffic,
    /// Processing delays.
    Processing,
    /// Recorded time series.
    Probe,
}

impl Family {
    /// All families, in the order of the reference pages.
    pub const ALL: [Family; 13] = [
        Family::Scenario,
        Family::Measure,
        Family::Ensemble,
        Family::Host,
        Family::Switch,
        Family::Link,
        Family::Vc,
        Family::Queue,
        Family::Drop,
        Family::Scheduler,
        Family::Traffic,
        Family::Processing,
        Family::Probe,
    ];

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Family::Scenario => "scenario",
            Family::Measure => "measure",
            Family::Ensemble => "ensemble",
            Family::Host => "host",
            Family::Switch => "switch",
            Family::Link => "link",
            Family::Vc => "vc",
            Family::Queue => "queue",
            Family::Drop => "drop",
            Family::Scheduler => "scheduler",
            Family::Traffic => "traffic",
            Family::Processing => "processing",
            Family::Probe => "probe",
        }
    }

    /// One line about the family.
    pub fn help(self) -> &'static str {
        match self {
            Family::Scenario => "Scenarios; the top level of a file.",
            Family::Measure => "Measurement; `[measure]`.",
            Family::Ensemble => "Ensembles; `[ensemble]`.",
            Family::Host => "End systems; `[[host]]`.",
            Family::Switch => "Switches; `[[switch]]`.",
            Family::Link => "Links; `[[link]]`. One that leaves a switch is one of its ports.",
            Family::Vc => "Virtual circuits; `[[vc]]`.",
            Family::Queue => {
                "Class queues; `cbr`, `vbr`, `abr`, `gfr` and `ubr` of a switch or link."
            }
            Family::Drop => {
                "Drop policies: what a class queue refuses before it is full. X, Y_i and N_a leave out the cell in service."
            }
            Family::Scheduler => "Schedulers: which waiting cell a port serves next.",
            Family::Traffic => "Traffic: what a VC sends.",
            Family::Processing => {
                "Processing delays of hosts, switches and transports; they keep the order of what passes."
            }
            Family::Probe => "Time series to record; `[[probe]]`. Probes never change the run.",
        }
    }

    /// The field that chooses a component of the family, or `None` when there is only one.
    pub fn tag(self) -> Option<&'static str> {
        match self {
            Family::Drop => Some("policy"),
            Family::Scheduler | Family::Traffic | Family::Processing => Some("kind"),
            Family::Probe => Some("what"),
            _ => None,
        }
    }

    /// The components of the family.
    pub fn components(self) -> &'static [Component] {
        match self {
            Family::Scenario => &network::SCENARIO,
            Family::Measure => &network::MEASURE,
            Family::Ensemble => &network::ENSEMBLE,
            Family::Host => &network::HOST,
            Family::Switch => &network::SWITCH,
            Family::Link => &network::LINK,
            Family::Vc => &network::VC,
            Family::Queue => &queueing::QUEUE,
            Family::Drop => &queueing::DROP,
            Family::Scheduler => &queueing::SCHEDULER,
            Family::Traffic => &traffic::TRAFFIC,
            Family::Processing => &network::PROCESSING,
            Family::Probe => &probes::PROBE,
        }
    }

    /// The component called `name`.
    pub fn find(self, name: &str) -> Option<&'static Component> {
        self.components().iter().find(|c| c.name == name)
    }
}

/// One component.
#[derive(Debug)]
pub struct Component {
    /// Family it belongs to.
    pub family: Family,
    /// Name in scenarios, as the literature has it.
    pub name: &'static str,
    /// One line: what it is or does.
    pub help: &'static str,
    /// Formula with its symbols; empty when there is none.
    pub formula: &'static str,
    /// Paper, RFC or standard it follows; empty for the product's own parts.
    pub source: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
}

impl Component {
    /// The parameter called `name`.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|p| p.name == name)
    }

    /// Whether a scenario may write just the name, taking every default.
    pub fn has_shorthand(&self) -> bool {
        self.family.tag().is_some() && !self.parameters.iter().any(Parameter::is_required)
    }
}

/// One parameter of a component.
#[derive(Debug)]
pub struct Parameter {
    /// Name of the field.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What it is when left out.
    pub default: Default,
    /// The parameter and its values with which alone this one has a meaning.
    pub only_with: Option<(&'static str, &'static [&'static str])>,
    /// One line: what it is.
    pub help: &'static str,
}

impl Parameter {
    /// Whether a scenario must give it.
    pub fn is_required(&self) -> bool {
        matches!(self.default, Default::Required)
    }

    const fn only_with(
        mut self,
        parameter: &'static str,
        values: &'static [&'static str],
    ) -> Parameter {
        self.only_with = Some((parameter, values));
        self
    }
}

/// What a parameter is when left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// It must be given.
    Required,
    /// A text, quantities included: "5 us".
    Text(&'static str),
    /// A whole number.
    Integer(u64),
    /// A decimal, as written.
    Decimal(&'static str),
    /// A truth value.
    Bool(bool),
    /// No elements.
    EmptyList,
    /// What the reader or the engine makes of it, in words.
    Derived(&'static str),
}

/// What values a parameter takes. Bounds are inclusive unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text of at most 200 characters, none of them a control character.
    Text,
    /// A name for a thing: at most 64 letters, digits and `_ - / > : +`, not digits only.
    Name,
    /// true or false.
    Bool,
    /// Bits per second, a cell rate.
    Rate {
        /// Smallest, bit/s.
        min: u64,
        /// Largest, bit/s.
        max: u64,
    },
    /// A length of time.
    Duration {
        /// Shortest.
        min: Span,
        /// Longest.
        max: Span,
    },
    /// Cells.
    Cells {
        /// Fewest.
        min: u64,
        /// Most.
        max: u64,
        /// Whether "unlimited" is a value.
        unlimited: bool,
    },
    /// Bytes.
    Bytes {
        /// Fewest.
        min: u64,
        /// Most.
        max: u64,
    },
    /// A whole number without unit.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// An exact decimal without unit, or a fraction as text ("1/3").
    Decimal {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Whether `max` itself is excluded.
        below_max: bool,
        /// Most decimals.
        decimals: u32,
    },
    /// A queue length: cells, or a fraction of the buffer.
    Threshold,
    /// One of a few names.
    Choice(&'static [Choice]),
    /// The name of a thing of one of these families.
    Reference(&'static [Family]),
    /// A component of this family.
    One(Family),
    /// Any number of these.
    List(&'static Kind),
}

/// A value of [`Kind::Choice`].
#[derive(Debug)]
pub struct Choice {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line: what it means.
    pub help: &'static str,
    /// Formula; empty when there is none.
    pub formula: &'static str,
    /// Paper, RFC or standard; may be empty.
    pub source: &'static str,
}

/// Highest rate, 1 Tb/s.
pub(crate) const MAX_RATE: u64 = 1_000_000_000_000;
/// Longest run.
pub(crate) const MAX_DURATION: Span = Span(100_000 * TICKS_PER_SECOND);
/// Most cells of a limited buffer, and largest threshold.
pub(crate) const MAX_CELLS: u64 = 1_000_000_000;
/// Most decimals of fractions and factors: the products in the drop policies stay below 2^128.
pub(crate) const DECIMALS: u32 = 6;

const ANY_RATE: Kind = Kind::Rate {
    min: 1,
    max: MAX_RATE,
};
const ANY_DURATION: Kind = Kind::Duration {
    min: Span::ZERO,
    max: MAX_DURATION,
};
const POSITIVE_DURATION: Kind = Kind::Duration {
    min: Span::from_nanoseconds(1),
    max: MAX_DURATION,
};

const fn integer(min: u64, max: u64) -> Kind {
    Kind::Integer { min, max }
}

const fn parameter(
    name: &'static str,
    kind: Kind,
    default: Default,
    help: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind,
        default,
        only_with: None,
        help,
    }
}

const fn choice(name: &'static str, help: &'static str) -> Choice {
    Choice {
        name,
        help,
        formula: "",
        source: "",
    }
}

/// The service classes.
const CLASSES: Kind = Kind::Choice(&[
    choice("cbr", "Constant bit rate."),
    choice("vbr", "Variable bit rate."),
    choice("abr", "Available bit rate."),
    choice("gfr", "Guaranteed frame rate."),
    choice("ubr", "Unspecified bit rate."),
]);
