//! Drop policies and schedulers that a scenario states as programs.

use super::threshold::Threshold;
use crate::ground::class::Class;
use crate::ground::format::Clock;
use crate::ground::units::BitRate;
use crate::text::notation::show::{show_bytes, show_cells, show_duration, show_rate, show_ratio};
use crate::text::program::parse::{self, Mistake, SchedulerTexts};
use crate::text::program::{Program, Ranking, SchedulerText, Type, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A drop policy as a program with its parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "WrittenPolicy", try_from = "WrittenPolicy")]
pub struct ProgramPolicy {
    /// As written.
    pub written: WrittenPolicy,
    /// What it says.
    pub program: Arc<Program>,
}

impl PartialEq for ProgramPolicy {
    fn eq(&self, other: &ProgramPolicy) -> bool {
        self.written == other.written
    }
}

/// The fields of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrittenPolicy {
    /// Condition on which a frame or cell is refused. Excludes `program`.
    pub refuse: Option<String>,
    /// Statements. Excludes `refuse`.
    pub program: Option<String>,
    /// What the program is asked about.
    pub asked: Asked,
    /// Queue length up to which the program refuses nothing. Absent: what its text shows.
    pub never_below: Option<Threshold>,
    /// Whether cells that the program tags leave with CLP = 1.
    pub export_tag: bool,
    /// Parameters by name.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, Value>,
}

/// A parameter in the notation of scenarios with this clock, without quotes.
pub fn shown(value: Value, clock: Clock) -> String {
    let ratio = |r| show_ratio(r).trim_matches('"').to_string();
    match value {
        Value::Number(r) => ratio(r),
        Value::Fraction(r) => format!("{} K", ratio(r)),
        Value::Cells(n) => show_cells(n),
        Value::Bytes(n) => show_bytes(n),
        Value::Time(span) => show_duration(span, clock),
        Value::Rate(rate) => show_rate(BitRate(rate)),
    }
}

/// What a program is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// First cells of frames that find the port busy.
    Frames,
    /// Every cell.
    Cells,
}

impl WrittenPolicy {
    /// The text of the program or of its condition.
    pub fn text(&self) -> &str {
        let text = self.program.as_deref().or(self.refuse.as_deref());
        text.unwrap_or_default()
    }

    /// Reads the text.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read(&self) -> Result<Program, Mistake> {
        let parameters = types(&self.parameters);
        match &self.program {
            Some(text) => parse::statements(text, &parameters),
            None => parse::refuses_if(self.text(), &parameters),
        }
    }
}

/// Names and types of parameters.
fn types(parameters: &BTreeMap<String, Value>) -> Vec<(&str, Type)> {
    let parameters = parameters.iter();
    parameters
        .map(|(name, value)| (name.as_str(), value.of_type()))
        .collect()
}

impl From<ProgramPolicy> for WrittenPolicy {
    fn from(policy: ProgramPolicy) -> WrittenPolicy {
        policy.written
    }
}

impl TryFrom<WrittenPolicy> for ProgramPolicy {
    type Error = String;

    fn try_from(written: WrittenPolicy) -> Result<ProgramPolicy, String> {
        let program = written.read().map_err(|mistake| mistake.message)?;
        Ok(ProgramPolicy {
            program: Arc::new(program),
            written,
        })
    }
}

/// A scheduler as a program with its parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "WrittenScheduler", try_from = "WrittenScheduler")]
pub struct ProgramScheduler {
    /// As written.
    pub written: WrittenScheduler,
    /// What it says.
    pub ranking: Arc<Ranking>,
}

impl PartialEq for ProgramScheduler {
    fn eq(&self, other: &ProgramScheduler) -> bool {
        self.written == other.written
    }
}

/// The fields of a scheduler that is a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrittenScheduler {
    /// The class whose VCs it serves. Absent: all classes.
    pub class: Option<Class>,
    /// Names of state.
    pub state: Option<String>,
    /// Statements for a VC that begins to wait.
    pub arrive: Option<String>,
    /// Statements for a VC after one of its cells was taken.
    pub served: Option<String>,
    /// The expression whose smallest value goes first.
    pub rank: String,
    /// Parameters by name.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, Value>,
}

impl WrittenScheduler {
    /// One of its texts; empty if it is absent.
    pub fn text(&self, which: SchedulerText) -> &str {
        let text = match which {
            SchedulerText::State => &self.state,
            SchedulerText::Arrive => &self.arrive,
            SchedulerText::Served => &self.served,
            SchedulerText::Rank => return &self.rank,
        };
        text.as_deref().unwrap_or_default()
    }

    /// Reads the texts.
    ///
    /// # Errors
    /// The first mistake, and the text that has it.
    pub fn read(&self) -> Result<Ranking, (SchedulerText, Mistake)> {
        let texts = SchedulerTexts {
            state: self.text(SchedulerText::State),
            arrive: self.text(SchedulerText::Arrive),
            served: self.text(SchedulerText::Served),
            rank: &self.rank,
        };
        parse::scheduler(&texts, &types(&self.parameters))
    }
}

impl From<ProgramScheduler> for WrittenScheduler {
    fn from(scheduler: ProgramScheduler) -> WrittenScheduler {
        scheduler.written
    }
}

impl TryFrom<WrittenScheduler> for ProgramScheduler {
    type Error = String;

    fn try_from(written: WrittenScheduler) -> Result<ProgramScheduler, String> {
        let ranking = written.read().map_err(|(_, mistake)| mistake.message)?;
        Ok(ProgramScheduler {
            ranking: Arc::new(ranking),
            written,
        })
    }
}
