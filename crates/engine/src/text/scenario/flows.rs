//! Rules about flows: sources must fit the link of their host, guarantees the links they cross.

use super::expand::things::{LinkAt, Things, VcAt};
use super::model::{DropPolicy, Scheduler, Traffic};
use super::port;
use super::record::{Record, complete, entries, fraction, number, object, text};
use super::report::Report;
use crate::ground::class::Class;
use crate::ground::format::Format;
use crate::ground::units::BitRate;
use crate::text::notation::show::{show_duration, show_rate};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};

/// The scheduler that an entry gives, if any. The inner `None` stands for a faulty one.
type Given = Option<Option<Scheduler>>;

/// What the entries of a scenario say about flows, in the types of the model, with the things they
/// make. `None` marks a faulty entry.
pub(crate) struct Flows<'a> {
    things: &'a Things,
    vcs: Vec<Option<&'a Record>>,
    links: Vec<Option<&'a Record>>,
    switches: Vec<Option<&'a Record>>,
    link_rates: Vec<Option<u64>>,
    link_schedulers: Vec<Given>,
    switch_schedulers: Vec<Given>,
    /// Each distinct traffic, once. VCs of one entry differ only if their traffic depends on the
    /// rate of their host's link.
    traffic: Vec<Option<Traffic>>,
    /// Per VC, the position of its traffic.
    of_vc: Vec<usize>,
}

impl<'a> Flows<'a> {
    pub(crate) fn new(scenario: &'a Record, things: &'a Things, format: Format) -> Flows<'a> {
        let (links, switches) = (entries(scenario, "link"), entries(scenario, "switch"));
        let scheduler = |entry: &Option<&Record>| -> Given {
            let given = entry.as_ref()?.get("scheduler")?;
            (!given.is_null()).then(|| complete(given))
        };
        let mut flows = Flows {
            things,
            vcs: entries(scenario, "vc"),
            link_rates: links.iter().map(|l| number(l.as_ref()?, "rate")).collect(),
            link_schedulers: links.iter().map(scheduler).collect(),
            switch_schedulers: switches.iter().map(scheduler).collect(),
            links,
            switches,
            traffic: Vec::new(),
            of_vc: Vec::new(),
        };
        flows.read_traffic(format);
        flows
    }

    /// Builds one traffic for all VCs of an entry whose host links have the same rate.
    fn read_traffic(&mut self, format: Format) {
        let mut known: FxHashMap<(usize, Option<u64>), usize> = FxHashMap::default();
        let things = self.things;
        for vc in &things.vcs {
            let line = self.first_link(vc).and_then(|link| self.link_rate(link));
            let at = *known.entry((vc.entry, line)).or_insert_with(|| {
                let record = self.vcs[vc.entry].and_then(|entry| entry.get("traffic"));
                self.traffic
                    .push(record.and_then(|r| traffic(r, line, format)));
                self.traffic.len() - 1
            });
            self.of_vc.push(at);
        }
    }

    /// Whether a VC has ABR end systems, or `None` if unknown.
    pub(crate) fn has_end_systems(&self, vc: usize) -> Option<bool> {
        let record = self.vcs[self.things.vcs[vc].entry]?;
        Some(!record.get("abr")?.is_null())
    }

    /// The traffic of a VC.
    pub(crate) fn traffic(&self, vc: usize) -> Option<&Traffic> {
        self.traffic[self.of_vc[vc]].as_ref()
    }

    /// The scheduler of the port that sends on `link`.
    pub(crate) fn scheduler(&self, link: &LinkAt) -> Option<&Scheduler> {
        let of_link = self.link_schedulers[link.entry].as_ref();
        let switch = (link.from >= self.things.hosts).then(|| self.things.nodes[link.from].entry);
        let of_switch = switch.and_then(|entry| self.switch_schedulers[entry].as_ref());
        port::scheduler(of_link.filter(|_| !link.back), of_switch)?.as_ref()
    }

    /// Whether the drop policy at the port of `link` keeps an average queue, or `None` if unknown.
    /// Without `class`, any class counts.
    pub(crate) fn keeps_average(&self, link: &LinkAt, class: Option<Class>) -> Option<bool> {
        let of_link = self.links[link.entry]?;
        let of_switch =
            (link.from >= self.things.hosts).then(|| self.things.nodes[link.from].entry);
        let of_switch = of_switch.and_then(|entry| self.switches[entry]);
        let mut classes = Class::ALL
            .into_iter()
            .filter(|c| class.is_none_or(|class| class == *c));
        Some(classes.any(|class| {
            let given = |record: &Record| {
                let drop = object(record, class.name())?.get("drop")?;
                Some(
                    complete::<DropPolicy>(drop)
                        .is_none_or(|policy| policy.abilities().keeps_average),
                )
            };
            let of_link = if link.back { None } else { given(of_link) };
            of_link
                .or_else(|| of_switch.and_then(given))
                .unwrap_or(false)
        }))
    }

    fn link_rate(&self, link: usize) -> Option<u64> {
        self.link_rates[self.things.links[link].entry]
    }

    /// The link on which the VC's source host sends.
    fn first_link(&self, vc: &VcAt) -> Option<usize> {
        self.things
            .between
            .get(&(vc.nodes[0], vc.nodes[1]))
            .copied()
    }

    /// Reports sources above the rate of their host's link.
    pub(crate) fn check_sources(&self, report: &mut Report) {
        let mut reported = FxHashSet::default();
        for (index, vc) in self.things.vcs.iter().enumerate() {
            let rate = self.traffic(index).and_then(Traffic::peak_rate);
            let first = self.first_link(vc);
            let line = first.and_then(|l| self.link_rate(l)).map(BitRate);
            if let (Some(rate), Some(first), Some(line)) = (rate, first, line)
                && rate.0 > line.0
                && reported.insert(vc.entry)
            {
                report.add(
                    &format!("vc[{}].traffic.rate", vc.entry),
                    format!(
                        "is above the rate of the link {}",
                        self.things.links[first].name
                    ),
                    format!("at most {}", show_rate(line)),
                    None,
                );
            }
        }
    }

    /// Reports sources whose pauses are so short that consecutive bursts exceed the cell rate.
    pub(crate) fn check_bursts(&self, report: &mut Report) {
        let format = report.format;
        let mut reported = FxHashSet::default();
        for (index, vc) in self.things.vcs.iter().enumerate() {
            let traffic = self.traffic(index);
            let rate = traffic.and_then(Traffic::peak_rate);
            let needed = traffic.and_then(|traffic| traffic.pause_needed(format));
            if let (Some(rate), Some(needed)) = (rate, needed)
                && reported.insert(vc.entry)
            {
                let rate = show_rate(rate);
                report.add(
                    &format!("vc[{}].traffic.off", vc.entry),
                    format!(
                        "is too short: at {rate}, sending the last cell of a burst takes longer"
                    ),
                    format!("at least {}", show_duration(needed, format.clock)),
                    None,
                );
            }
        }
    }

    /// Reports guarantees whose sum exceeds what a per-VC scheduler can keep.
    pub(crate) fn check_guarantees(&self, report: &mut Report) {
        let mut sums: FxHashMap<usize, u64> = FxHashMap::default();
        let mut full = FxHashSet::default();
        for vc in &self.things.vcs {
            let Some(entry) = self.vcs[vc.entry] else {
                continue;
            };
            let class = text(entry, "class").and_then(Class::find);
            let (Some(guarantee), Some(class), Some(path)) =
                (number(entry, "guarantee"), class, self.things.path(vc))
            else {
                continue;
            };
            for link in path {
                let at = &self.things.links[link];
                let serves = self
                    .scheduler(at)
                    .is_some_and(|s| s.guarantees_vcs_of(class));
                let Some(rate) = self.link_rate(link).filter(|_| serves) else {
                    continue;
                };
                let sum = sums.entry(link).or_default();
                *sum = sum.saturating_add(guarantee);
                if *sum > rate && full.insert(link) {
                    report.add(
                        &format!("vc[{}].guarantee", vc.entry),
                        format!(
                            "brings the guarantees on {} above the rate of the link",
                            at.name
                        ),
                        format!("at most {} in total", show_rate(BitRate(rate))),
                        None,
                    );
                }
            }
        }
    }
}

/// Stand-in for a link rate that is unknown: so fast, about a cell per tick, that no pause is too
/// short.
fn unknown_rate(format: Format) -> u64 {
    u64::try_from(format.cell_ticks_at_one_bps()).unwrap_or(u64::MAX)
}

/// Converts traffic to the type of the model, for a host link of rate `line`.
///
/// Where a kind has `amplitude` and no `rate` is given, the rate is that fraction of `line`, by
/// default all of it.
fn traffic(record: &Json, line: Option<u64>, format: Format) -> Option<Traffic> {
    let Some(amplitude) = record.get("amplitude") else {
        return complete(record);
    };
    let mut record = record.as_object()?.clone();
    if record.get("rate")?.is_null() {
        let rate = match (fraction(amplitude), line) {
            (Some(share), _) if share.num == 0 => return None,
            (_, None) => unknown_rate(format),
            (None, Some(line)) => line,
            (Some(share), Some(line)) => share.floor_of(line).max(format.least_rate().0),
        };
        record.insert("rate".into(), json!(rate));
    }
    record.remove("amplitude");
    complete(&Json::Object(record))
}
