//! Names of things of one kind, in short.

use serde::Serialize;

/// Number of distinct names, with the first and last of them.
#[derive(Clone, Debug, Serialize)]
pub struct NameRange<'s> {
    /// Number of names.
    pub count: usize,
    /// The first and the last name.
    pub ends: [&'s str; 2],
}

impl<'s> NameRange<'s> {
    /// One name.
    pub(super) fn of(name: &'s str) -> NameRange<'s> {
        NameRange {
            count: 1,
            ends: [name; 2],
        }
    }

    /// Adds a later name.
    pub(super) fn add(&mut self, name: &'s str) {
        self.count += 1;
        self.ends[1] = name;
    }
}
