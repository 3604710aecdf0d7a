//! Components and their parameters.

use super::family::Family;
use super::kind::{Choice, Default, Kind};
use crate::ground::format::Format;

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
    /// Drawing of its states, lines of text; empty when there is none.
    pub diagram: &'static str,
    /// Paper, RFC or standard it follows; empty for the product's own parts.
    pub source: &'static str,
    /// What it cannot do, in a sentence; empty for what is no mechanism.
    pub limits: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// Parameters that a scenario names itself, if it may: their kind, and one line on them.
    pub own: Option<Own>,
    /// Formats for which it is defined.
    pub formats: Formats,
    /// Parameters of what it stands in, and their defaults there: see [`Default::Implied`].
    pub implies: &'static [(&'static str, &'static str)],
}

impl Component {
    /// The parameter called `name`.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|p| p.name == name)
    }

    /// Whether a scenario may write just the name, taking every default.
    pub fn has_shorthand(&self) -> bool {
        let names_all = !self.parameters.iter().any(Parameter::is_required);
        self.family.tag().is_some() && names_all && self.own.is_none()
    }

    /// The field that names it in a table, unless a table without that field means it.
    pub(crate) fn tag(&self) -> Option<&'static str> {
        let means_it = |untagged: &Component| untagged.name == self.name;
        let tag = self.family.tag();
        tag.filter(|_| !self.family.untagged().is_some_and(means_it))
    }

    /// The parameter of which some choices alone give `option` a meaning, and these; `None` when it always has one.
    pub fn only_with(&self, option: &str) -> Option<(&'static str, Vec<&'static str>)> {
        self.parameters.iter().find_map(|parameter| {
            let Kind::Choice(choices) = parameter.kind else {
                return None;
            };
            let takes = choices.iter().filter(|c| c.options.contains(&option));
            let names: Vec<&str> = takes.map(|c| c.name).collect();
            (!names.is_empty()).then_some((parameter.name, names))
        })
    }

    /// What the choice of `chosen`, given the name of a parameter, sets as default of `parameter`.
    pub(crate) fn set_by_choice<'f>(
        &self,
        parameter: &str,
        chosen: impl Fn(&str) -> Option<&'f str>,
    ) -> Option<&'static Default> {
        self.choices_that_set(parameter)
            .find(|(by, choice, _)| chosen(by) == Some(choice.name))
            .map(|(_, _, default)| default)
    }

    /// The choices that set a default of `parameter`, each with its own parameter and that default.
    pub(super) fn choices_that_set(
        &self,
        parameter: &str,
    ) -> impl Iterator<Item = (&'static str, &'static Choice, &'static Default)> {
        self.parameters.iter().flat_map(move |by| {
            let choices: &[Choice] = match by.kind {
                Kind::Choice(choices) => choices,
                _ => &[],
            };
            choices.iter().filter_map(move |choice| {
                let (_, default) = choice.sets.iter().find(|(name, _)| *name == parameter)?;
                Some((by.name, choice, default))
            })
        })
    }

    /// What `parameter` is, and its defaults by choices of another parameter.
    pub(super) fn help_of(&self, parameter: &Parameter) -> String {
        let set = self.choices_that_set(parameter.name);
        let set = set.map(|(by, choice, default)| {
            format!(
                " Default with `{by}` = {}: {}.",
                choice.name,
                default.text(parameter.name)
            )
        });
        set.fold(parameter.help.to_string(), |help, set| help + &set)
    }

    /// The default that it implies for `parameter` of what it stands in.
    pub(crate) fn implied(&self, parameter: &str) -> Option<&'static str> {
        let found = self.implies.iter().find(|(name, _)| *name == parameter);
        found.map(|&(_, value)| value)
    }
}

/// A component of `family` that says nothing yet, to begin from.
pub(super) const fn of(family: Family) -> Component {
    Component {
        family,
        name: "",
        help: "",
        formula: "",
        diagram: "",
        source: "",
        limits: "",
        parameters: &[],
        own: None,
        formats: Formats::Any,
        implies: &[],
    }
}

/// Formats for which a component is defined (model section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formats {
    /// All formats.
    Any,
    /// Those in which all cells have one length: all but `ethernet`.
    EqualCells,
    /// Those in which a standard says what a frame is: `aal5` and `ethernet`.
    Standard,
    /// The format `aal5`.
    Aal5,
}

impl Formats {
    /// Whether `format` is one of them.
    pub(crate) fn have(self, format: Format) -> bool {
        match self {
            Formats::Any => true,
            Formats::EqualCells => !format.is_ethernet,
            Formats::Standard => format.is_aal5() || format.is_ethernet,
            Formats::Aal5 => format.is_aal5(),
        }
    }

    /// Which they are, behind "defined"; empty if all are.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Formats::Any => "",
            Formats::EqualCells => "for formats other than ethernet",
            Formats::Standard => "for the formats aal5 and ethernet only",
            Formats::Aal5 => "for the format aal5 only",
        }
    }
}

/// Parameters that a scenario names itself.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// What values they take.
    pub kind: Kind,
    /// One line: what they are.
    pub help: &'static str,
}

/// One parameter of a component.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name of the field.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What it is when left out.
    pub default: Default,
    /// One line: what it is. It begins with the symbol of the formulas, if there is one: "K, cells that may wait".
    pub help: &'static str,
}

impl Parameter {
    /// Whether a scenario must give it.
    pub fn is_required(&self) -> bool {
        matches!(self.default, Default::Required)
    }

    /// The symbol of the formulas, with which its help begins; its name if there is none.
    pub(crate) fn symbol(&self) -> &'static str {
        let symbol = self.help.split_once(',');
        symbol.map_or(self.name, |(symbol, _)| symbol)
    }
}

pub(super) const fn parameter(
    name: &'static str,
    kind: Kind,
    default: Default,
    help: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind,
        default,
        help,
    }
}
