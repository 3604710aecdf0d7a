//! Envelopes as the model page defines them (model section 6): records all changes, and evaluates
//! them at the end.

use super::Twin;
use super::ends::Ends;
use crate::ground::flow::FlowKind;
use crate::ground::units::Time;
use crate::network::abr::mbps;
use crate::network::record::{Points, Statistic};
use crate::run::series::RecordedSeries;
use crate::text::scenario::{Observable, Probe};
use std::collections::HashSet;

/// A quantity recorded for a probe with an envelope.
pub(super) struct Watch {
    /// Index of the probe in the scenario.
    probe: usize,
    /// Last value of each instant with an event, from the start of the run.
    changes: Vec<(Time, f64)>,
}

impl Twin<'_> {
    /// Starts to record for probes with an envelope. A link that no VC crosses is skipped, because
    /// nothing happens there.
    pub(super) fn begin_watches(&mut self) {
        let links = self.scenario.links.iter().zip(&self.topology.crossing);
        let unused = links.filter(|(_, crossing)| crossing.is_empty());
        let unused: HashSet<&str> = unused.map(|(link, _)| link.name.as_str()).collect();
        let probes = self.scenario.probes.iter().enumerate();
        let enveloped =
            probes
                .filter(|(_, probe)| probe.envelope.is_some())
                .filter(|(_, probe)| {
                    probe.what == Observable::Threshold || !unused.contains(probe.of.as_str())
                });
        let begin = |(index, probe)| Watch {
            probe: index,
            changes: vec![(self.now, self.look(probe))],
        };
        self.watches = enveloped.map(begin).collect();
    }

    /// Records all quantities after an event.
    pub(super) fn watch(&mut self) {
        let mut watches = std::mem::take(&mut self.watches);
        for watch in &mut watches {
            let value = self.look(&self.scenario.probes[watch.probe]);
            match watch.changes.last_mut() {
                Some((time, last)) if *time == self.now => *last = value,
                _ => watch.changes.push((self.now, value)),
            }
        }
        self.watches = watches;
    }

    /// Current value of the quantity of `probe`.
    fn look(&self, probe: &Probe) -> f64 {
        let vc = |name| self.scenario.vcs.iter().position(|vc| vc.name == name);
        let port = || {
            let link = self.scenario.links.iter().position(|l| l.name == probe.of);
            self.ports[link.expect("a link")].as_ref().expect("a port")
        };
        let sender = || match &self.vcs[vc(&*probe.of).expect("a VC")].ends {
            Ends::Tcp { sender, .. } => sender,
            Ends::TwoWay { there, .. } => &there.0,
            Ends::Udp(..) | Ends::Cells(..) => unreachable!("no TCP"),
        };
        let end_system = || {
            let flow = self
                .topology
                .flow(vc(&*probe.of).expect("a VC"), FlowKind::Data);
            self.paced[flow.index()].as_ref().expect("an ABR VC")
        };
        match probe.what {
            Observable::Queue => {
                let only = probe.vc.as_deref().map(|name| vc(name).expect("a VC"));
                let counts = |flow| {
                    let of = self.vc(flow);
                    let class = self.vcs[of].class;
                    only.is_none_or(|vc| vc == of && !self.kind(flow).is_rm())
                        && probe.class.is_none_or(|c| c == class)
                };
                port().places_of(counts) as f64
            }
            Observable::Pool => {
                let mut switches = self.scenario.switches.iter();
                let switch = switches.position(|switch| switch.name == probe.of);
                self.pool_of_switch(switch.expect("a switch")).1 as f64
            }
            Observable::Threshold => {
                let link = self.scenario.links.iter().position(|l| l.name == probe.of);
                let link = link.expect("a link");
                let switch = self.topology.switch_of[link].expect("a port leaves a switch");
                let (free, _) = self.pool_of_switch(switch);
                let class = self
                    .topology
                    .class_with_alpha(self.scenario, link, probe.class);
                let queue = self
                    .topology
                    .queue(self.scenario, link, class.expect("a threshold"));
                let alpha = queue.alpha.expect("a threshold");
                let above = alpha.num as f64 * free as f64 / alpha.den as f64;
                queue.reserved() as f64 + above
            }
            Observable::AverageQueue => {
                let wanted = |class: usize| probe.class.is_none_or(|c| c as usize == class);
                let policies = port().policies().enumerate();
                let averages = policies.filter(|&(class, _)| wanted(class));
                averages.filter_map(|(_, policy)| policy.average()).sum()
            }
            Observable::Credit => port().credit(),
            Observable::Cwnd => sender().cwnd() as f64,
            Observable::Ssthresh => sender().ssthresh() as f64,
            Observable::Acknowledged => sender().acknowledged() as f64,
            Observable::Flight => sender().flight() as f64,
            Observable::Rto => sender().rto().as_seconds(self.scenario.format.clock),
            Observable::Delivered => {
                let vc = vc(&*probe.of).expect("a VC");
                self.tally.vcs[vc].delivered_bytes as f64
            }
            Observable::Acr => mbps(end_system().end.acr()),
            Observable::HostQueue => end_system().cells() as f64,
            Observable::Sequence
            | Observable::Rtt
            | Observable::Goodput
            | Observable::LinkShare
            | Observable::Drops
            | Observable::Trace
            | Observable::Capture => unreachable!("has no envelope"),
        }
    }

    /// The envelopes of a run that has reached its end, in the order of the scenario's probes.
    pub(crate) fn envelopes(&self) -> Vec<RecordedSeries> {
        let of_watch = |watch: &Watch| {
            let interval = self.scenario.probes[watch.probe].envelope;
            let [mut least, mut mean, mut greatest] = [const { Vec::new() }; 3];
            let mut begin = Time::ZERO;
            while begin < self.end {
                let end = (begin + interval.expect("an envelope")).min(self.end);
                let held = held(&watch.changes, begin, end);
                let values = held.iter().map(|&(value, _)| value);
                least.push((end, values.clone().fold(f64::INFINITY, f64::min)));
                mean.push((end, mean_of(&held)));
                greatest.push((end, values.fold(f64::NEG_INFINITY, f64::max)));
                begin = end;
            }
            let series = |statistic, points| RecordedSeries {
                probe: watch.probe,
                class: None,
                statistic: Some(statistic),
                points: Points { points },
            };
            [
                series(Statistic::Min, least),
                series(Statistic::Mean, mean),
                series(Statistic::Max, greatest),
            ]
        };
        self.watches.iter().flat_map(of_watch).collect()
    }
}

/// Values that held within [begin, end), each with its number of ticks.
fn held(changes: &[(Time, f64)], begin: Time, end: Time) -> Vec<(f64, u64)> {
    let first = changes.partition_point(|&(time, _)| time <= begin) - 1;
    let next = changes[first + 1..].iter().map(|&(time, _)| time);
    let mut found = Vec::new();
    for (&(from, value), until) in changes[first..].iter().zip(next.chain([Time::NEVER])) {
        if from >= end {
            break;
        }
        found.push((value, until.min(end).since(from.max(begin)).0));
    }
    found
}

/// Time average of these values. Sums are integers in units of 2^-60, so the order of addition does
/// not matter.
fn mean_of(held: &[(f64, u64)]) -> f64 {
    let unit = (1u64 << 60) as f64;
    let (mut whole, mut part, mut ticks) = (0i128, 0i128, 0);
    for &(value, n) in held {
        whole += i128::from(value.trunc() as i64) * i128::from(n);
        part += i128::from((value.fract() * unit) as i64) * i128::from(n);
        ticks += n;
    }
    (whole as f64 + part as f64 / unit) / ticks as f64
}
