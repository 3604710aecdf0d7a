//! What is wrong with a scenario: a problem with its place, value, and what is allowed.

use std::fmt;

/// Where a value stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// From 1; 0 when there is no text.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// Whether it was given beside the text.
    pub from_override: bool,
}

impl Place {
    /// Whether it is a place in a scenario file, where numbers are exact. Other values may have been computed, and are
    /// rounded to what the model can tell apart.
    pub(crate) fn in_text(self) -> bool {
        self.line > 0
    }
}

/// One thing that is wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The file, or `override` for a value given beside it.
    pub file: String,
    /// Line, from 1; 0 when the text has no lines (overrides, Python values).
    pub line: usize,
    /// Column in characters, from 1; 0 likewise.
    pub column: usize,
    /// The field: `switch[0].ubr.drop.threshold`; empty for the file as a whole.
    pub path: String,
    /// Its value as given, shortened to some 60 characters; empty when it is missing.
    pub value: String,
    /// What is wrong.
    pub message: String,
    /// What is allowed; may be empty.
    pub allowed: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for Problem {
    /// `scenario.toml:12:5: switch[0].ubr.buffer = "0 cells": must be at least 1 cell (allowed: ...)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        if !self.path.is_empty() {
            write!(f, " {}", self.path)?;
            if !self.value.is_empty() {
                write!(f, " = {}", self.value)?;
            }
            write!(f, ":")?;
        }
        write!(f, " {}", self.message)?;
        if !self.allowed.is_empty() {
            write!(f, " (allowed: {})", self.allowed)?;
        }
        if let Some(suggestion) = &self.suggestion {
            write!(f, "; did you mean {suggestion}?")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
