//! Families of components.

/// A kind of component. A scenario chooses one component of a family that has a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The whole scenario.
    Scenario,
    /// Cells and frames.
    Format,
    /// What is measured.
    Measure,
    /// What a replication draws.
    Ensemble,
    /// End systems.
    Host,
    /// Switches.
    Switch,
    /// Shared memories of switches.
    Pool,
    /// Links.
    Link,
    /// Changes of the rate of a link.
    Change,
    /// Virtual circuits.
    Vc,
    /// Traffic contracts.
    Contract,
    /// ABR end systems.
    Abr,
    /// Shapers.
    Shape,
    /// Class queues of a port.
    Queue,
    /// Policers.
    Police,
    /// Drop policies.
    Drop,
    /// Feedback to ABR sources.
    Feedback,
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
    pub const ALL: [Family; 21] = [
        Family::Scenario,
        Family::Format,
        Family::Measure,
        Family::Ensemble,
        Family::Host,
        Family::Switch,
        Family::Pool,
        Family::Link,
        Family::Change,
        Family::Vc,
        Family::Contract,
        Family::Abr,
        Family::Shape,
        Family::Queue,
        Family::Police,
        Family::Drop,
        Family::Feedback,
        Family::Scheduler,
        Family::Traffic,
        Family::Processing,
        Family::Probe,
    ];

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Family::Scenario => "scenario",
            Family::Format => "format",
            Family::Measure => "measure",
            Family::Ensemble => "ensemble",
            Family::Host => "host",
            Family::Switch => "switch",
            Family::Pool => "pool",
            Family::Link => "link",
            Family::Change => "change",
            Family::Vc => "vc",
            Family::Contract => "contract",
            Family::Abr => "abr",
            Family::Shape => "shape",
            Family::Feedback => "feedback",
            Family::Queue => "queue",
            Family::Police => "police",
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
            Family::Format => "Formats: what cells and frames look like; `format` of the scenario.",
            Family::Measure => "Measurement; `[measure]`.",
            Family::Ensemble => "Ensembles; `[ensemble]`.",
            Family::Host => "End systems; `[[host]]`.",
            Family::Switch => "Switches; `[[switch]]`.",
            Family::Pool => "Shared memories; `pool` of a switch.",
            Family::Link => {
                "Links; `[[link]]`. A link that leaves a switch is one of the ports of that switch."
            }
            Family::Change => "Changes of a rate; `changes` of a link.",
            Family::Vc => "Virtual circuits; `[[vc]]`.",
            Family::Queue => {
                "Class queues; `cbr`, `vbr`, `abr`, `gfr` and `ubr` of a switch or link."
            }
            Family::Contract => "Traffic contracts; `contract` of a VC.",
            Family::Abr => "ABR end systems; `abr` of a VC.",
            Family::Shape => "Shapers; `shape` of a VC.",
            Family::Feedback => {
                "Feedback of a class queue to ABR sources: explicit rates ER, or the marks CI, NI and EFCI, in passing cells. \
                 X cells wait in the queue. CCR is the rate that a source reports."
            }
            Family::Police => {
                "Policers: what happens to cells that exceed the contract of their VC. They act before the drop policy."
            }
            Family::Drop => {
                "Drop policies: which cells and frames a class queue drops. \
                 K is the buffer; X cells wait, Y_i of them of VC i, and N_a VCs have Y_i > 0. The cell in service does not count."
            }
            Family::Scheduler => "Schedulers: which waiting cell a port serves next.",
            Family::Traffic => "Traffic: what a VC sends.",
            Family::Processing => {
                "Processing delays of hosts, switches and transports. They keep cells and frames in order."
            }
            Family::Probe => "Time series to record; `[[probe]]`. Probes never change the run.",
        }
    }

    /// The field that chooses a component of the family, or `None` when there is only one.
    pub fn tag(self) -> Option<&'static str> {
        match self {
            Family::Drop => Some("policy"),
            Family::Format
            | Family::Police
            | Family::Feedback
            | Family::Scheduler
            | Family::Traffic
            | Family::Processing => Some("kind"),
            Family::Probe => Some("what"),
            _ => None,
        }
    }
}
