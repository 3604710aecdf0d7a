//! Problems of a scenario, each with its place, value, and what is allowed.

use std::fmt;

/// Position of a value in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Line, from 1; 0 when there is no text.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Whether the value was set outside the text.
    pub from_override: bool,
}

impl Place {
    /// Whether the place is in a scenario file, where numbers are exact. Other values may be
    /// computed and are rounded to the precision of the model.
    pub(crate) fn in_text(self) -> bool {
        self.line > 0
    }
}

/// One problem of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The file, or `override` for a value set outside it.
    pub file: String,
    /// Line, from 1; 0 when the text has no lines (overrides, Python values).
    pub line: usize,
    /// Column in characters, from 1; 0 when the text has no lines.
    pub column: usize,
    /// Path of the field, such as `switch[0].ubr.drop.threshold`. Empty for the file as a whole.
    pub path: String,
    /// The value as given, shortened to about 60 characters. Empty when it is missing.
    pub value: String,
    /// What is wrong.
    pub message: String,
    /// What is allowed; may be empty.
    pub allowed: String,
    /// Correction that the user probably meant.
    pub suggestion: Option<String>,
    /// The line of a program with a caret below the fault; empty elsewhere.
    pub excerpt: String,
}

impl fmt::Display for Problem {
    /// Writes one line: `scenario.toml:12:5: switch[0].ubr.buffer = "0 cells": must be at least 1
    /// cell (allowed: ...)`. A suggested name takes the place of the
    /// list of names.
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
        let suggestion = self.suggestion.as_deref();
        if !self.allowed.is_empty() && !suggestion.is_some_and(|meant| meant.starts_with('`')) {
            write!(f, " (allowed: {})", self.allowed)?;
        }
        if let Some(suggestion) = suggestion {
            write!(f, "; did you mean {suggestion}?")?;
        }
        if !self.excerpt.is_empty() {
            write!(f, "\n{}", self.excerpt)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
