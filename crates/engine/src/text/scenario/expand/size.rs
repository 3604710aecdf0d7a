//! Size of a scenario, from its counts alone.

use crate::text::notation::show::show_memory;
use crate::text::scenario::individual::PlacedMembers;
use crate::text::scenario::model::{Host, Link, Switch, TcpParams, Vc};
use crate::text::scenario::record::{Record, number, text};
use crate::text::scenario::report::Report;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use std::mem::size_of;

/// Limit on hosts, switches, links and VCs together. With 32-bit addresses, in a browser, they and
/// their description must fit into the 1 GB that a page gives the engine.
pub(crate) const MOST_COMPONENTS: u64 = if cfg!(target_pointer_width = "32") {
    100_000
} else {
    1_000_000
};

/// Number of things that the entries make.
#[derive(Default)]
struct Sizes<'r> {
    hosts: u64,
    switches: u64,
    links: u64,
    vcs: u64,
    /// Number of members per node name.
    members: FxHashMap<&'r str, u64>,
    /// The largest count and its path.
    largest: (u64, String),
}

impl<'r> Sizes<'r> {
    fn of(scenario: &'r Record, placed: &PlacedMembers) -> Sizes<'r> {
        let mut sizes = Sizes::default();
        sizes.hosts = sizes.nodes(&placed.makers(scenario, "host"), "host");
        sizes.switches = sizes.nodes(&placed.makers(scenario, "switch"), "switch");
        for entry in placed.makers(scenario, "link").into_iter().flatten() {
            let each = 1 + u64::from(entry.get("duplex") == Some(&Json::Bool(true)));
            let all = sizes.between(entry).saturating_mul(each);
            sizes.links = sizes.links.saturating_add(all);
        }
        for (i, entry) in placed.makers(scenario, "vc").into_iter().enumerate() {
            let Some(entry) = entry else { continue };
            let count = number(entry, "count").unwrap_or(1);
            sizes.vcs = sizes.vcs.saturating_add(sizes.between(entry).max(count));
            sizes.see(count, || format!("vc[{i}].count"));
        }
        sizes
    }

    fn nodes(&mut self, entries: &[Option<&'r Record>], family: &str) -> u64 {
        let mut total = 0u64;
        for (i, &entry) in entries.iter().enumerate() {
            let count = entry.and_then(|e| number(e, "count")).unwrap_or(1);
            total = total.saturating_add(count);
            if let Some(name) = entry.and_then(|e| text(e, "name")) {
                self.members.insert(name, count);
            }
            self.see(count, || format!("{family}[{i}].count"));
        }
        total
    }

    fn see(&mut self, count: u64, path: impl FnOnce() -> String) {
        if count > self.largest.0 {
            self.largest = (count, path());
        }
    }

    /// Size of the larger group that an entry joins.
    fn between(&self, entry: &Record) -> u64 {
        let size = |end| text(entry, end).and_then(|name| self.members.get(name));
        let [from, to] = ["from", "to"].map(|end| size(end).copied().unwrap_or(1));
        from.max(to)
    }

    fn all(&self) -> u64 {
        let counts = [self.hosts, self.switches, self.links, self.vcs];
        counts.into_iter().fold(0, u64::saturating_add)
    }

    /// Estimated bytes of the plain data. Assumes short names.
    fn bytes(&self) -> f64 {
        let name = 16;
        let each = [
            (self.hosts, size_of::<Host>() + name),
            (self.switches, size_of::<Switch>() + name),
            (self.links, size_of::<Link>() + 3 * name),
            (
                self.vcs,
                size_of::<Vc>() + size_of::<TcpParams>() + 4 * name,
            ),
        ];
        each.iter().map(|&(n, each)| n as f64 * each as f64).sum()
    }
}

/// Whether the number of things is within bounds.
pub(super) fn fits(scenario: &Record, placed: &PlacedMembers, report: &mut Report) -> bool {
    let sizes = Sizes::of(scenario, placed);
    let all = sizes.all();
    if all <= MOST_COMPONENTS {
        return true;
    }
    let need = show_memory(sizes.bytes() as u64);
    report.add(
        &sizes.largest.1,
        format!(
            "makes {all} components in total, whose description alone would take {need} of memory"
        ),
        format!("at most {MOST_COMPONENTS} hosts, switches, links and VCs together"),
        None,
    );
    false
}
