//! Warnings about scenarios that are valid, but probably mistaken. One file for each family.

mod abr;
mod contracts;
pub(super) mod draws;
mod profiles;
mod queues;
mod sources;
mod windows;

use crate::run::resolved::Resolved;

/// All warnings about the scenario of `net`. `fair` holds the [fair goodputs](crate::text::scenario::fair_goodput)
/// of VCs.
pub(super) fn notes(net: &Resolved<'_>, fair: &[(usize, f64)]) -> Vec<String> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let mut notes = Vec::from_iter(sources::nothing_to_send(scenario));
    notes.extend(contracts::unused_shares(net));
    notes.extend(sources::late_sources(scenario));
    notes.extend(sources::short_lives(scenario));
    notes.extend(sources::overloaded_hosts(scenario, topology));
    notes.extend(sources::overloaded_shapers(scenario));
    notes.extend(sources::fast_shapers(scenario, topology));
    notes.extend(queues::long_frames(net));
    notes.extend(profiles::defaults(scenario));
    notes.extend(windows::small_windows(scenario, topology, fair));
    notes.extend(windows::bounded_queues(net));
    notes.extend(windows::slow_ways_back(scenario, topology, fair));
    notes.extend(contracts::sustained_rates(scenario, topology));
    notes.extend(contracts::exported_tags(net));
    notes.extend(abr::notes(net));
    notes.extend(queues::nothing_to_hold(net));
    notes.extend(queues::unused_pools(net));
    notes.extend(queues::programs_without_contracts(net));
    notes.extend(queues::divided_probabilities(net));
    notes.extend(queues::of_settings(scenario, topology));
    notes
}

/// The first of several names, and the number of others.
fn named(names: &[&str]) -> String {
    match names {
        [only] => (*only).to_string(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
        [] => String::new(),
    }
}

/// The largest of several figures with its data, and the names that they belong to, that of the
/// largest first; `None` without figures.
fn largest<'a, T>(figures: impl Iterator<Item = (f64, &'a str, T)>) -> Option<(f64, T, String)> {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(|a, b| b.0.total_cmp(&a.0));
    let names: Vec<&str> = figures.iter().map(|figure| figure.1).collect();
    let names = named(&names);
    let (figure, _, data) = figures.into_iter().next()?;
    Some((figure, data, names))
}

#[cfg(test)]
mod testing {
    use crate::about::describe::describe;
    use crate::text::scenario::read_toml;

    /// Warnings about the scenario `text` with overrides.
    pub(super) fn notes_with(text: &str, overrides: &[(&str, &str)]) -> Vec<String> {
        let overrides: Vec<_> = overrides
            .iter()
            .map(|&(path, value)| (path.to_string(), value.to_string()))
            .collect();
        let scenario = read_toml(text, "", &overrides).expect("the scenario is valid");
        describe(&scenario).expect("it can be built").notes
    }

    /// Warnings about the scenario `text`.
    pub(super) fn notes_of(text: &str) -> Vec<String> {
        notes_with(text, &[])
    }

    /// Warnings about the example `lan-5` (five TCPs that share a link) with overrides.
    pub(super) fn notes_of_lan(overrides: &[(&str, &str)]) -> Vec<String> {
        notes_with(
            include_str!("../../../../../../examples/lan-5.toml"),
            overrides,
        )
    }
}
