//! The reference page of all components.

use super::{Component, Default, Family, Kind, Parameter, export::default_text};
use crate::scenario::notation;

/// One Markdown page: a chapter per family, a section per component with its parameters, formula and source.
pub fn reference_markdown() -> String {
    let mut out = String::from(
        "# Components\n\n\
         Everything a scenario can name. This page is generated from the registry \
         (`crates/engine/src/registry/`); `cellyard components NAME` shows one entry.\n",
    );
    for family in Family::ALL {
        out += &format!("\n## {}\n\n{}", family.name(), family.help());
        match (family.tag(), family.components()) {
            (None, [only]) => out += &format!(" {}\n", only.help),
            _ => out += "\n",
        }
        if let Some(tag) = family.tag() {
            let short = family.components().iter().any(Component::has_shorthand);
            out += &format!("\nChosen by `{tag}`");
            out += if short {
                "; a component without required parameters may be given by its name alone.\n"
            } else {
                ".\n"
            };
        }
        for component in family.components() {
            section(component, &mut out);
        }
    }
    out
}

fn section(component: &Component, out: &mut String) {
    if component.family.tag().is_some() {
        *out += &format!("\n### {}\n\n{}\n", component.name, component.help);
    }
    if !component.formula.is_empty() {
        *out += &format!("\n```text\n{}\n```\n", component.formula);
    }
    if !component.source.is_empty() {
        *out += &format!("\nSource: {}.\n", component.source);
    }
    if !component.parameters.is_empty() {
        *out += "\n| parameter | meaning | values | default |\n|---|---|---|---|\n";
        for parameter in component.parameters {
            row(parameter, out);
        }
    }
    for parameter in component.parameters {
        if let Kind::Choice(choices) = parameter.kind {
            *out += &format!("\nValues of `{}`:\n\n", parameter.name);
            for choice in choices {
                *out += &format!("* `{}`: {}", choice.name, choice.help);
                if !choice.formula.is_empty() {
                    *out += &format!(" `{}`.", choice.formula);
                }
                if !choice.source.is_empty() {
                    *out += &format!(" Source: {}.", choice.source);
                }
                *out += "\n";
            }
        }
    }
}

fn row(parameter: &Parameter, out: &mut String) {
    let default = match parameter.default {
        Default::Required => "required".to_string(),
        Default::Derived(text) => text.to_string(),
        ref other => format!("`{}`", default_text(other)),
    };
    let mut help = parameter.help.to_string();
    if let Some((other, values)) = parameter.only_with {
        help += &format!(" Only with `{other}` = {}.", values.join(", "));
    }
    let cells = [help, values(&parameter.kind), default];
    let [help, allowed, default] = cells.map(|text| text.replace('|', "\\|"));
    *out += &format!(
        "| `{}` | {help} | {allowed} | {default} |\n",
        parameter.name
    );
}

/// What a parameter may be, with links to the chapters of components.
fn values(kind: &Kind) -> String {
    match kind {
        Kind::One(family) => format!("[{0}](#{0})", family.name()),
        Kind::List(item) => format!("list of {}", values(item)),
        other => notation::allowed(other),
    }
}
