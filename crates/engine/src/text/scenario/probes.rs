//! Rules about probes: the things they name must exist and have what they record.
//!
//! A probe of a group becomes one probe per member.

use super::expand::things::{LinkAt, Names, Things};
use super::flows::Flows;
use super::model::{Layer, Observable, Probe};
use super::record::{Record, entries, field, number, object, text};
use super::report::Report;
use crate::ground::class::Class;
use crate::ground::units::Span;
use crate::text::notation::show::show_duration;
use crate::text::registry::{Family, Kind};

/// Limit on the points that the probes of a run record together, since they stay in memory until
/// its end.
pub(crate) const MOST_POINTS: u64 = 10_000_000;

/// Builds the probes of a scenario.
pub(crate) fn probes(
    scenario: &Record,
    things: &Things,
    flows: &Flows<'_>,
    report: &mut Report,
) -> Vec<Probe> {
    let mut points = PointBudget {
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
        probe.check_members(scenario, members, things, flows, report);
        points.add(&probe, members.len(), report);
        probe.check_vc(members, things, flows, report);
        probe.check_window(number(scenario, "duration"), report);
        out.extend(
            members
                .iter()
                .map(|&member| probe.of_member(member, things)),
        );
    }
    out
}

/// A probe entry whose `what` and `of` are known.
struct Entry<'r> {
    record: &'r Record,
    path: String,
    what: Observable,
    /// Name of `what` as written.
    named: &'r str,
    of: &'r str,
    place: PlaceKind,
}

/// Kind of thing that a probe records.
#[derive(Clone, Copy, PartialEq)]
enum PlaceKind {
    Vc,
    Host,
    Link,
    Switch,
}

impl PlaceKind {
    /// Name of the kind, for messages.
    fn kind(self) -> &'static str {
        match self {
            PlaceKind::Vc => "VC",
            PlaceKind::Host => "host",
            PlaceKind::Link => "link",
            PlaceKind::Switch => "switch",
        }
    }
}

impl<'r> Entry<'r> {
    fn new(record: &'r Record, position: usize) -> Option<Entry<'r>> {
        let named = text(record, "what")?;
        let what = field(record, "what");
        let of = Family::Probe.find(named)?.parameter("of")?;
        let place = match of.kind {
            Kind::Reference(&[Family::Vc]) => PlaceKind::Vc,
            Kind::Reference(&[Family::Switch]) => PlaceKind::Switch,
            _ if what == Observable::Capture => match text(record, "layer")? {
                layer if layer == Layer::Segments.name() => PlaceKind::Host,
                _ => PlaceKind::Link,
            },
            _ => PlaceKind::Link,
        };
        Some(Entry {
            record,
            path: format!("probe[{position}]"),
            what,
            named,
            of: text(record, "of")?,
            place,
        })
    }

    /// The VCs, hosts or links that the entry names.
    fn members<'o>(&self, things: &'o Things, report: &mut Report) -> Option<&'o [usize]> {
        let names: &Names = match self.place {
            PlaceKind::Vc => &things.vc_names,
            PlaceKind::Host | PlaceKind::Switch => &things.node_names,
            PlaceKind::Link => &things.link_names,
        };
        let is_right = |node: &usize| match self.place {
            PlaceKind::Host => *node < things.hosts,
            PlaceKind::Switch => *node >= things.hosts,
            PlaceKind::Vc | PlaceKind::Link => true,
        };
        let found = names.find(self.of);
        let found = found.filter(|members| members.iter().all(is_right));
        if found.is_none() {
            let kind = self.place.kind();
            let suggestion = report.suggest(self.of, names.all());
            let of_layer = match text(self.record, "layer") {
                Some(layer) => format!(", and the layer {layer} is recorded at a {kind}"),
                None => String::new(),
            };
            report.add(
                &format!("{}.of", self.path),
                format!("no {kind} has this name{of_layer}"),
                format!("the name of a {kind} or of a group"),
                suggestion,
            );
        }
        found
    }

    /// Reports members that lack what the probe records.
    fn check_members(
        &self,
        scenario: &Record,
        members: &[usize],
        things: &Things,
        flows: &Flows<'_>,
        report: &mut Report,
    ) {
        let path = format!("{}.of", self.path);
        if self.what == Observable::Capture {
            return;
        }
        if let Observable::Pool | Observable::Threshold = self.what {
            return self.check_pools(scenario, members, things, report);
        }
        if self.place == PlaceKind::Vc {
            let lacks = |&vc: &usize| match self.what {
                Observable::Acr | Observable::HostQueue => {
                    let lacks = !flows.has_end_systems(vc)?;
                    lacks.then_some(["it has no `abr`", "a VC with `abr`"])
                }
                what => flows.traffic(vc)?.lacks(what),
            };
            let mut lacking = members.iter().filter_map(lacks);
            if let Some([why, allowed]) = lacking.next() {
                let message = format!("no {}: {why}", self.named);
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
            let message = "no average queue: no drop policy there computes one";
            report.add(&path, message, allowed, None);
        }
        let lacks_credit = |link| flows.scheduler(link).is_some_and(|s| !s.has_credit());
        if self.what == Observable::Credit && links.any(lacks_credit) {
            report.add(
                &path,
                "no credit: its scheduler is not guaranteed-rate",
                "a port with the scheduler guaranteed-rate",
                None,
            );
        }
    }

    /// Reports switches without a pool, and ports without a dynamic threshold.
    fn check_pools(
        &self,
        scenario: &Record,
        members: &[usize],
        things: &Things,
        report: &mut Report,
    ) {
        let path = format!("{}.of", self.path);
        let entry = |list, at: usize| entries(scenario, list).get(at).copied().flatten();
        let switch_of = |&member: &usize| match self.place {
            PlaceKind::Link => things.links[member].from,
            _ => member,
        };
        let switch = |member: &usize| {
            let node = switch_of(member).checked_sub(things.hosts)?;
            entry("switch", things.nodes[things.hosts + node].entry)
        };
        let lacks_pool = |member: &usize| {
            let pool = switch(member).map(|switch| object(switch, "pool").is_some());
            pool == Some(false)
        };
        let given: Option<Class> = field(self.record, "class");
        let has_alpha = |member: usize, class: Class| {
            let link = &things.links[member];
            let at_link = entry("link", link.entry).filter(|_| !link.back);
            let queue = |record| object(record, class.name());
            let queue = at_link.and_then(queue).or(switch(&member).and_then(queue));
            queue.is_some_and(|queue| queue.get("alpha").is_some_and(|alpha| !alpha.is_null()))
        };
        if members.iter().any(|member| switch(member).is_none()) {
            report.add(&path, "leaves a host", "a link that leaves a switch", None);
        } else if members.iter().any(lacks_pool) {
            let message = format!("no {}: the switch has no pool", self.named);
            report.add(&path, message, "a switch with a `pool`", None);
        } else if self.what == Observable::Threshold {
            let classes = |member: usize| {
                let classes = Class::ALL.into_iter();
                let classes = classes.filter(move |&class| given.is_none_or(|g| g == class));
                classes
                    .filter(move |&class| has_alpha(member, class))
                    .count()
            };
            if members.iter().any(|&member| classes(member) == 0) {
                let allowed = "a port where a queue has `alpha`";
                report.add(
                    &path,
                    "no threshold: no such queue there has `alpha`",
                    allowed,
                    None,
                );
            } else if members.iter().any(|&member| classes(member) > 1) {
                let path = format!("{}.class", self.path);
                let message = "is missing: queues of several classes have `alpha` there";
                report.add(&path, message, "one of these classes", None);
            }
        }
    }

    /// Reports a restriction to a VC that does not exist or crosses none of the ports.
    fn check_vc(&self, members: &[usize], things: &Things, flows: &Flows<'_>, report: &mut Report) {
        let Some(name) = text(self.record, "vc") else {
            return;
        };
        let path = format!("{}.vc", self.path);
        match things.vc_names.find(name) {
            Some([vc]) if *things.vcs[*vc].name == *name => {
                let lacks = flows
                    .traffic(*vc)
                    .and_then(|t| t.lacks(Observable::Delivered));
                let of_frames = self.what == Observable::Capture
                    && text(self.record, "layer") != Some(Layer::Cells.name());
                if let Some([why, allowed]) = lacks.filter(|_| of_frames) {
                    report.add(&path, format!("no frames: {why}"), allowed, None);
                }
                let vc = &things.vcs[*vc];
                let hops = vc.nodes.windows(2);
                let both_ways = hops.flat_map(|hop| [(hop[0], hop[1]), (hop[1], hop[0])]);
                let mut links = both_ways.filter_map(|ends| things.between.get(&ends));
                let ends = [vc.nodes.first(), vc.nodes.last()];
                let is_there = match self.place {
                    PlaceKind::Host => ends.into_iter().flatten().any(|end| members.contains(end)),
                    PlaceKind::Link | PlaceKind::Vc | PlaceKind::Switch => {
                        links.any(|link| members.contains(link))
                    }
                };
                if things.path(vc).is_some() && !is_there {
                    let [message, allowed] = match self.place {
                        PlaceKind::Host => {
                            ["does not begin or end at", "a VC that begins or ends there"]
                        }
                        PlaceKind::Link | PlaceKind::Vc | PlaceKind::Switch => {
                            ["does not cross", "a VC that crosses it"]
                        }
                    };
                    report.add(&path, format!("{message} {}", self.of), allowed, None);
                }
            }
            Some(_) => report.add(&path, "names a group", "one of its members", None),
            None => {
                let suggestion = report.suggest(name, things.vc_names.all());
                report.add(&path, "no VC has this name", "the name of a VC", suggestion);
            }
        }
    }

    /// Reports a capture window that is empty.
    fn check_window(&self, duration: Option<u64>, report: &mut Report) {
        let [from, to] = ["from", "to"].map(|name| number(self.record, name));
        let first = from.unwrap_or(0);
        if let Some(duration) = duration.filter(|&duration| from.is_some() && first >= duration) {
            let allowed = format!(
                "less than the duration, {}",
                show_duration(Span(duration), report.format.clock)
            );
            report.add(
                &format!("{}.from", self.path),
                "is not before the end of the run",
                allowed,
                None,
            );
        }
        if to.is_some_and(|to| to <= first) {
            let allowed = format!(
                "later than `from`, {}",
                show_duration(Span(first), report.format.clock)
            );
            report.add(
                &format!("{}.to", self.path),
                "is not after the start of the capture",
                allowed,
                None,
            );
        }
    }

    /// The probe of one VC, host or link.
    fn of_member(&self, member: usize, things: &Things) -> Probe {
        let name = match self.place {
            PlaceKind::Vc => &things.vcs[member].name,
            PlaceKind::Host | PlaceKind::Switch => &things.nodes[member].name,
            PlaceKind::Link => &things.links[member].name,
        };
        Probe {
            what: self.what,
            of: name.to_string(),
            class: field(self.record, "class"),
            vc: text(self.record, "vc").map(str::to_string),
            interval: number(self.record, "interval").map(Span),
            every: number(self.record, "every"),
            envelope: number(self.record, "envelope").map(Span),
            layer: field(self.record, "layer"),
            from: number(self.record, "from").map(Span),
            to: number(self.record, "to").map(Span),
        }
    }
}

/// Number of points that probes record at intervals.
struct PointBudget {
    duration: Option<u64>,
    so_far: u64,
}

impl PointBudget {
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
                format!(
                    "records {} points together with the probes before it",
                    self.so_far
                ),
                format!("at most {MOST_POINTS} points in total"),
                None,
            );
            self.so_far = 0;
        }
    }
}
