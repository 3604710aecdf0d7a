//! Drop policies that a scenario states as a program.

use super::port::Threshold;
use crate::notation::show::{show_cells, show_duration, show_rate, show_ratio};
use crate::program::parse::{self, Mistake};
use crate::program::{Program, Type, Value};
use crate::units::BitRate;
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

/// A parameter in the notation of scenarios, without quotes.
pub fn shown(value: Value) -> String {
    let ratio = |r| show_ratio(r).trim_matches('"').to_string();
    match value {
        Value::Number(r) => ratio(r),
        Value::Fraction(r) => format!("{} K", ratio(r)),
        Value::Cells(n) => show_cells(n),
        Value::Time(span) => show_duration(span),
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
        let parameters: Vec<(&str, Type)> = self
            .parameters
            .iter()
            .map(|(name, value)| (name.as_str(), value.of_type()))
            .collect();
        match &self.program {
            Some(text) => parse::statements(text, &parameters),
            None => parse::refuses_if(self.text(), &parameters),
        }
    }
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
