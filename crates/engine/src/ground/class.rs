//! Service classes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Service class of a VC. The order is that of strict priority, most urgent first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Constant bit rate.
    Cbr,
    /// Variable bit rate.
    Vbr,
    /// Available bit rate.
    Abr,
    /// Guaranteed frame rate.
    Gfr,
    /// Unspecified bit rate.
    Ubr,
}

impl Class {
    /// All classes, most urgent first.
    pub const ALL: [Class; 5] = [Class::Cbr, Class::Vbr, Class::Abr, Class::Gfr, Class::Ubr];

    /// Lower-case name of the class.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Cbr => "cbr",
            Class::Vbr => "vbr",
            Class::Abr => "abr",
            Class::Gfr => "gfr",
            Class::Ubr => "ubr",
        }
    }

    /// The class called `name`.
    pub fn find(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }
}
