//! Rules about what flows where: sources against the link of their host, guarantees against the links they cross,
//! and the latest instant that a run could compute against what time can hold.

use super::check::{Record, fraction, number, object, text};
use super::expand::{Expanded, LinkAt, VcAt, entries};
use super::problem::Report;
use super::quantity::{show_duration, show_rate};
use crate::units::{BitRate, CELL_BITS, Span, TICKS_PER_NANOSECOND, TICKS_PER_SECOND};
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};

/// Latest instant that may be computed, seconds; 64-bit ticks hold 729 900.
const LATEST: f64 = 500_000.0;

/// The checked records of a scenario beside its expansion.
pub(crate) struct Flows<'a> {
    scenario: &'a Record,
    network: &'a Expanded,
    hosts: Vec<Option<&'a Record>>,
    switches: Vec<Option<&'a Record>>,
    links: Vec<Option<&'a Record>>,
    vcs: Vec<Option<&'a Record>>,
}

impl<'a> Flows<'a> {
    pub(crate) fn new(scenario: &'a Record, network: &'a Expanded) -> Flows<'a> {
        Flows {
            scenario,
            network,
            hosts: entries(scenario, "host"),
            switches: entries(scenario, "switch"),
            links: entries(scenario, "link"),
            vcs: entries(scenario, "vc"),
        }
    }

    fn link_rate(&self, link: usize) -> Option<u64> {
        number(self.links[self.network.links[link].entry]?, "rate")
    }

    /// The entry of the switch that a link leaves.
    fn switch(&self, link: &LinkAt) -> Option<&'a Record> {
        if link.from < self.network.hosts {
            return None;
        }
        self.switches[self.network.nodes[link.from].entry]
    }

    /// A setting of the port that a link is: its own, else its switch's.
    pub(crate) fn port<'s>(&'s self, link: &LinkAt, field: &str) -> Option<&'s Record> {
        let own = self.links[link.entry].filter(|_| !link.back);
        let own = own.and_then(|l| object(l, field));
        own.or_else(|| object(self.switch(link)?, field))
    }

    /// Cell rate of a source that does not wait for its receiver: cbr, poisson, or vbr while on.
    pub(crate) fn source_rate(&self, vc: &VcAt) -> Option<u64> {
        let traffic = object(self.vcs[vc.entry]?, "traffic")?;
        if text(traffic, "kind") != Some("vbr") || number(traffic, "rate").is_some() {
            return number(traffic, "rate");
        }
        let line = self.link_rate(*self.network.path(vc)?.first()?)?;
        match traffic.get("amplitude")? {
            Json::Null => Some(line),
            amplitude => Some(fraction(amplitude)?.floor_of(line).max(1)),
        }
    }

    /// Reports sources above the rate of their host's link.
    pub(crate) fn check_sources(&self, report: &mut Report) {
        let mut reported = HashSet::new();
        for vc in &self.network.vcs {
            let first = self.network.path(vc).and_then(|p| p.first().copied());
            let line = first.and_then(|l| self.link_rate(l));
            if let (Some(rate), Some(first), Some(line)) = (self.source_rate(vc), first, line)
                && rate > line
                && reported.insert(vc.entry)
            {
                report.add(
                    &format!("vc[{}].traffic.rate", vc.entry),
                    format!("is above the rate of {}", self.network.links[first].name),
                    format!("at most {}", show_rate(BitRate(line))),
                    None,
                );
            }
        }
    }

    /// Reports VBR sources whose bursts follow each other so soon that cells come faster than the rate.
    pub(crate) fn check_bursts(&self, report: &mut Report) {
        let mut reported = HashSet::new();
        for vc in &self.network.vcs {
            let traffic = self.vcs[vc.entry].and_then(|entry| object(entry, "traffic"));
            let silent = |t: &Record| {
                let amplitude = t.get("amplitude").and_then(fraction);
                amplitude.is_some_and(|a| a.num == 0)
            };
            let Some(traffic) = traffic.filter(|t| text(t, "kind") == Some("vbr") && !silent(t))
            else {
                continue;
            };
            let (Some(rate), Some(on), Some(off)) = (
                self.source_rate(vc).filter(|&rate| rate > 0),
                number(traffic, "on"),
                number(traffic, "off"),
            ) else {
                continue;
            };
            // A burst sends its first cell at once, and one more whenever a cell time has passed before its end.
            let cell = u128::from(CELL_BITS) * u128::from(TICKS_PER_SECOND);
            let cells = (u128::from(on) * u128::from(rate)).div_ceil(cell);
            let needed = (cells * cell).div_ceil(u128::from(rate));
            if needed > u128::from(on) + u128::from(off) && reported.insert(vc.entry) {
                // In whole nanoseconds, so that it can be written down.
                let least = (needed - u128::from(on)).div_ceil(u128::from(TICKS_PER_NANOSECOND));
                let least = Span(
                    u64::try_from(least)
                        .unwrap_or(u64::MAX)
                        .saturating_mul(TICKS_PER_NANOSECOND),
                );
                report.add(
                    &format!("vc[{}].traffic.off", vc.entry),
                    format!(
                        "is too short: the last cell of a burst still takes its time at {}",
                        show_rate(BitRate(rate))
                    ),
                    format!("at least {}", show_duration(least)),
                    None,
                );
            }
        }
    }

    /// Reports guarantees that a per-vc scheduler on their way cannot keep together.
    pub(crate) fn check_guarantees(&self, report: &mut Report) {
        let mut sums: HashMap<usize, u64> = HashMap::new();
        let mut full = HashSet::new();
        for vc in &self.network.vcs {
            let Some(entry) = self.vcs[vc.entry] else {
                continue;
            };
            let (Some(guarantee), Some(path)) = (number(entry, "guarantee"), self.network.path(vc))
            else {
                continue;
            };
            for link in path {
                let at = &self.network.links[link];
                let scheduler = self.port(at, "scheduler");
                let serves = scheduler.is_some_and(|s| {
                    text(s, "kind") == Some("per-vc") && text(s, "class") == text(entry, "class")
                });
                let Some(rate) = self.link_rate(link).filter(|_| serves) else {
                    continue;
                };
                let sum = sums.entry(link).or_default();
                *sum = sum.saturating_add(guarantee);
                if *sum > rate && full.insert(link) {
                    report.add(
                        &format!("vc[{}].guarantee", vc.entry),
                        format!("brings the guarantees at {} above its rate", at.name),
                        format!("at most {} in all", show_rate(BitRate(rate))),
                        None,
                    );
                }
            }
        }
    }

    /// Reports VCs whose cells could be on their way longer than time can tell: a bound from all that can wait at
    /// once at each link and processing stage. For a scenario without other problems.
    pub(crate) fn check_reach(&self, report: &mut Report) {
        let duration = seconds(number(self.scenario, "duration"));
        let loads: Vec<Load> = self
            .network
            .vcs
            .iter()
            .map(|vc| self.load(vc, duration))
            .collect();
        // Bits per link and class, frames and cells per link, frames per host.
        let mut bits: HashMap<(usize, &str), f64> = HashMap::new();
        let mut through = vec![Load::default(); self.network.links.len()];
        let mut at_host = vec![0.0; self.network.hosts];
        let ways: Vec<Vec<usize>> = self
            .network
            .vcs
            .iter()
            .map(|vc| self.both_ways(vc))
            .collect();
        for ((vc, load), links) in self.network.vcs.iter().zip(&loads).zip(&ways) {
            let class = self.vcs[vc.entry]
                .and_then(|e| text(e, "class"))
                .unwrap_or_default();
            for &link in links {
                *bits.entry((link, class)).or_default() += load.cells * CELL_BITS as f64;
                through[link].cells += load.cells;
                through[link].frames += load.frames;
            }
            for end in [vc.nodes.first(), vc.nodes.last()].into_iter().flatten() {
                at_host[*end] += load.frames;
            }
        }
        let mut wait = vec![0.0; self.network.links.len()];
        for ((link, class), bits) in bits {
            let at = &self.network.links[link];
            let buffer = self
                .switch(at)
                .and_then(|_| number(self.port(at, class)?, "buffer"));
            let most = buffer.map_or(f64::INFINITY, |k| (k + 1) as f64 * CELL_BITS as f64);
            wait[link] += bits.min(most) / self.link_rate(link).unwrap_or(1) as f64;
        }
        let stage = |entry: Option<&Record>, load: Load| {
            let processing = entry.and_then(|e| object(e, "processing"));
            processing.map_or(0.0, |p| {
                let time = seconds(number(p, "mean")) + seconds(number(p, "spread"));
                let items = match (text(p, "kind"), text(p, "per")) {
                    (Some("latency"), _) => 1.0,
                    (_, Some("cell")) => load.cells,
                    _ => load.frames,
                };
                time * items
            })
        };
        let mut reported = HashSet::new();
        for ((vc, &load), links) in self.network.vcs.iter().zip(&loads).zip(&ways) {
            let mut latest = duration;
            for &link in links {
                let at = &self.network.links[link];
                let delay = self.links[at.entry].and_then(|l| number(l, "delay"));
                let switch = at.to.checked_sub(self.network.hosts);
                let entry = switch.and_then(|_| self.switches[self.network.nodes[at.to].entry]);
                latest += wait[link] + seconds(delay) + stage(entry, through[link]);
            }
            for end in [vc.nodes.first(), vc.nodes.last()].into_iter().flatten() {
                let all = Load {
                    frames: at_host[*end],
                    cells: 0.0,
                };
                latest += 2.0 * stage(self.hosts[self.network.nodes[*end].entry], all);
            }
            let traffic = self.vcs[vc.entry].and_then(|e| object(e, "traffic"));
            latest += 4.0 * stage(traffic, load);
            if latest > LATEST && reported.insert(vc.entry) {
                report.add(
                    &format!("vc[{}]", vc.entry),
                    format!("could still have cells on their way after {latest:.2e} s"),
                    format!("at most {LATEST} s: a shorter run, fewer or slower sources, smaller windows, faster links"),
                    None,
                );
            }
        }
    }

    /// The links of a VC, there and back.
    fn both_ways(&self, vc: &VcAt) -> Vec<usize> {
        let mut links = self.network.path(vc).unwrap_or_default();
        let back = vc
            .nodes
            .windows(2)
            .filter_map(|w| self.network.between.get(&(w[1], w[0])));
        links.extend(back);
        links
    }

    /// The most that a VC can have under way at once.
    fn load(&self, vc: &VcAt, duration: f64) -> Load {
        let traffic = self.vcs[vc.entry].and_then(|e| object(e, "traffic"));
        let Some(traffic) = traffic else {
            return Load::default();
        };
        if let Some(rate) = self.source_rate(vc) {
            let cells = 1.0 + rate as f64 * duration / CELL_BITS as f64;
            return Load {
                frames: cells,
                cells,
            };
        }
        let size = |name| number(traffic, name).unwrap_or(1);
        let frames = size("rwnd").div_ceil(size("mss")) as f64;
        Load {
            frames,
            cells: frames * crate::aal5::cells_of_segment(size("mss")) as f64,
        }
    }
}

/// Frames and cells.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    frames: f64,
    cells: f64,
}

fn seconds(ticks: Option<u64>) -> f64 {
    Span(ticks.unwrap_or(0)).as_seconds()
}
