//! Rules about probes: what they name exists and has what they record. Those of groups become one for each member.

use super::expand::things::{LinkAt, Names, Things};
use super::flows::Flows;
use super::model::{Observable, Probe};
use super::record::{Record, entries, field, number, text};
use super::report::Report;
use crate::registry::{Family, Kind};
use crate::units::Span;

/// Most points that the probes of a run may record together: they are kept until its end.
pub(crate) const MOST_POINTS: u64 = 10_000_000;

/// The probes of a scenario.
pub(crate) fn probes(
    scenario: &Record,
    things: &Things,
    flows: &Flows<'_>,
    report: &mut Report,
) -> Vec<Probe> {
    let mut points = Points {
        duration: number(scenario, "duration"),
        so_far: 0,
    };
    let mut out = Vec::new();
    for (i, entry) in entries(scenario, "probe").into_iter().enumerate() {
        let Some(probe) = entry.and_then(|record| Entry::new(record, i)) else {
            continue;
        };
        let Some(members) = probe.members(things, report) else {
            continue;
        };
        probe.check_members(members, things, flows, report);
        points.add(&probe, members.len(), report);
        probe.check_vc(members, things, report);
        out.extend(
            members
                .iter()
                .map(|&member| probe.of_member(member, things)),
        );
    }
    out
}

/// An entry that says what it records, and of what.
struct Entry<'r> {
    record: &'r Record,
    path: String,
    what: Observable,
    /// The name of `what`.
    named: &'r str,
    of: &'r str,
    /// Whether VCs have it, else ports.
    of_vc: bool,
}

impl<'r> Entry<'r> {
    fn new(record: &'r Record, position: usize) -> Option<Entry<'r>> {
        let named = text(record, "what")?;
        let of = Family::Probe.find(named)?.parameter("of")?;
        Some(Entry {
            record,
            path: format!("probe[{position}]"),
            what: field(record, "what"),
            named,
            of: text(record, "of")?,
            of_vc: matches!(of.kind, Kind::Reference(&[Family::Vc])),
        })
    }

    /// The VCs or links that it names.
    fn members<'o>(&self, things: &'o Things, report: &mut Report) -> Option<&'o [usize]> {
        let (names, kind): (&Names, _) = if self.of_vc {
            (&things.vc_names, "VC")
        } else {
            (&things.link_names, "link")
        };
        let found = names.find(self.of);
        if found.is_none() {
            let suggestion = report.suggest(self.of, names.all());
            report.add(
                &format!("{}.of", self.path),
                format!("no {kind} has this name"),
                format!("the name of a {kind}, or of a group of them"),
                suggestion,
            );
        }
        found
    }

    /// Reports members without what it records.
    fn check_members(
        &self,
        members: &[usize],
        things: &Things,
        flows: &Flows<'_>,
        report: &mut Report,
    ) {
        let path = format!("{}.of", self.path);
        if self.of_vc {
            let lacks = |&vc: &usize| match self.what {
                Observable::Acr | Observable::HostQueue => {
                    let lacks = !flows.has_end_systems(vc)?;
                    lacks.then_some(["it asks nobody", "a VC with `abr`"])
                }
                what => flows.traffic(vc)?.lacks(what),
            };
            let mut lacking = members.iter().filter_map(lacks);
            if let Some([why, allowed]) = lacking.next() {
                let message = format!("has no {}: {why}", self.named);
                report.add(&path, message, allowed, None);
            }
            return;
        }
        let mut links = members.iter().map(|&link| &things.links[link]);
        if links.clone().any(|link| link.from < things.hosts) {
            report.add(&path, "leaves a host", "a link that leaves a switch", None);
        }
        let class = field(self.record, "class");
        let lacks_average =
            |link: &LinkAt| flows.keeps_average(link, class).is_some_and(|keeps| !keeps);
        if self.what == Observable::AverageQueue && links.clone().any(lacks_average) {
            let allowed = "a port where atm-red, cell-red or packet-red is the drop policy";
            let message = "has no average: no drop policy there keeps one";
            report.add(&path, message, allowed, None);
        }
        let lacks_credit = |link| flows.scheduler(link).is_some_and(|s| !s.has_credit());
        if self.what == Observable::Credit && links.any(lacks_credit) {
            report.add(
                &path,
                "has no credit: its scheduler is not guaranteed-rate",
                "a port with the scheduler guaranteed-rate",
                None,
            );
        }
    }

    /// Reports a restriction to a VC that does not exist, or crosses none of the ports.
    fn check_vc(&self, members: &[usize], things: &Things, report: &mut Report) {
        let Some(name) = text(self.record, "vc") else {
            return;
        };
        let path = format!("{}.vc", self.path);
        match things.vc_names.find(name) {
            Some([vc]) if *things.vcs[*vc].name == *name => {
                let vc = &things.vcs[*vc];
                let hops = vc.nodes.windows(2);
                let both_ways = hops.flat_map(|hop| [(hop[0], hop[1]), (hop[1], hop[0])]);
                let mut links = both_ways.filter_map(|ends| things.between.get(&ends));
                if things.path(vc).is_some() && !links.any(|link| members.contains(link)) {
                    let message = format!("does not cross {}", self.of);
                    report.add(&path, message, "a VC that crosses it", None);
                }
            }
            Some(_) => report.add(&path, "is a group", "one of its members", None),
            None => {
                let suggestion = report.suggest(name, things.vc_names.all());
                report.add(&path, "no VC has this name", "the name of a VC", suggestion);
            }
        }
    }

    /// The probe of one of its VCs or links.
    fn of_member(&self, member: usize, things: &Things) -> Probe {
        let name = if self.of_vc {
            &things.vcs[member].name
        } else {
            &things.links[member].name
        };
        Probe {
            what: self.what,
            of: name.to_string(),
            class: field(self.record, "class"),
            vc: text(self.record, "vc").map(str::to_string),
            interval: number(self.record, "interval").map(Span),
            every: number(self.record, "every"),
            envelope: number(self.record, "envelope").map(Span),
        }
    }
}

/// Points that probes record at intervals.
struct Points {
    duration: Option<u64>,
    so_far: u64,
}

impl Points {
    fn add(&mut self, probe: &Entry<'_>, members: usize, report: &mut Report) {
        let of = |field| number(probe.record, field).map(|interval| (field, interval));
        let interval = of("interval").or(of("envelope"));
        let (Some((field, interval)), Some(duration)) = (interval, self.duration) else {
            return;
        };
        let points = match field {
            "envelope" => duration.div_ceil(interval).saturating_mul(3),
            _ => duration / interval,
        };
        let more = points.saturating_mul(members as u64);
        self.so_far = self.so_far.saturating_add(more);
        if self.so_far > MOST_POINTS {
            report.add(
                &format!("{}.{field}", probe.path),
                format!("makes {} points with the probes before it", self.so_far),
                format!("at most {MOST_POINTS} points in all"),
                None,
            );
            self.so_far = 0;
        }
    }
}
