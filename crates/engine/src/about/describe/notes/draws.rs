//! Warnings about replications: random draws that nobody stated, and too few of them.

use super::sources::drawn_starts;
use crate::ground::units::Span;
use crate::run::resolved::Resolved;
use crate::text::registry::Family;
use crate::text::scenario::{DropPolicy, Processing, Scenario, TieOrder, Timers, Traffic};

/// All warnings about replications of the scenario of `net`; `is_jitter_stated` is whether the
/// scenario states `ensemble.start_jitter`.
pub(in super::super) fn notes(net: &Resolved<'_>, is_jitter_stated: bool) -> Vec<String> {
    let starts = match is_jitter_stated {
        true => None,
        false => drawn_starts(net.scenario),
    };
    starts.into_iter().chain(few_draws(net)).collect()
}

/// Notes about replications that differ at most in the common timer phase.
fn few_draws(net: &Resolved<'_>) -> Option<String> {
    let scenario = net.scenario;
    if is_random(scenario) || net.ports().any(|(link, _)| decides_at_random(net, link)) {
        return None;
    }
    let has_ties = net.ports().any(|(link, _)| has_ties(net, link));
    let tie = match scenario.tie_order {
        TieOrder::Fair if has_ties => " and `tie_order` is fair",
        TieOrder::Fixed if has_ties => " and `tie_order` is fixed",
        _ => "",
    };
    let jitter = Family::Ensemble.find("ensemble")?;
    let default = jitter.parameter("start_jitter")?.default_text();
    let why = format!("`ensemble.start_jitter` is 0 s{tie}");
    let random = if has_ties {
        ", or `tie_order` to random"
    } else {
        ""
    };
    let set = format!("set `ensemble.start_jitter` (default {default}){random}");
    let has_timers = scenario.vcs.iter().any(|vc| vc.traffic.tcp().is_some());
    Some(match has_timers && scenario.ensemble.timer_phase {
        true => format!(
            "replications draw only the timer phase, since {why}, so their intervals may be too narrow: {set}"
        ),
        false => {
            format!("nothing is drawn, so all replications are the same run, since {why}: {set}")
        }
    })
}

/// Whether cells of several inputs meet at the port of `link`.
fn has_ties(net: &Resolved<'_>, link: usize) -> bool {
    net.can_queue(link) && net.topology.inputs[link].len() > 1
}

/// Whether replications draw starts, times, losses or timers of single hosts.
fn is_random(scenario: &Scenario) -> bool {
    let ensemble = &scenario.ensemble;
    let varies = |processing: Option<Processing>| processing.is_some_and(|p| p.spread > Span::ZERO);
    ensemble.start_jitter > Span::ZERO
        || scenario.vcs.iter().any(|vc| {
            matches!(vc.traffic, Traffic::Poisson { .. })
                || ensemble.vbr_phase && vc.traffic.start_phase().is_some()
                || scenario.timers == Timers::Own && vc.traffic.tcp().is_some()
                || varies(vc.traffic.processing())
        })
        || scenario.hosts.iter().any(|host| varies(host.processing))
        || scenario
            .switches
            .iter()
            .any(|switch| varies(switch.processing))
        || scenario
            .links
            .iter()
            .any(|link| link.lose_probability.num > 0)
}

/// Whether the port of `link` draws random numbers: for ties, or in a drop policy.
fn decides_at_random(net: &Resolved<'_>, link: usize) -> bool {
    let (scenario, topology) = (net.scenario, &net.topology);
    let draws_ties = match scenario.tie_order {
        TieOrder::Random => true,
        TieOrder::Rotating => scenario.ensemble.tie_offset,
        TieOrder::Fixed | TieOrder::Fair => false,
    };
    let draws = |policy: &DropPolicy| match policy {
        DropPolicy::Dfba { .. }
        | DropPolicy::AtmRed(_)
        | DropPolicy::CellRed(_)
        | DropPolicy::PacketRed(_) => true,
        DropPolicy::Program(policy) => policy.program.uses.draws,
        DropPolicy::TailDrop
        | DropPolicy::Ppd
        | DropPolicy::Epd { .. }
        | DropPolicy::SelectiveDrop { .. }
        | DropPolicy::Fba { .. }
        | DropPolicy::DropFromFront
        | DropPolicy::FrameDropFromFront
        | DropPolicy::GcraEpd { .. }
        | DropPolicy::GcraRoundRobin { .. }
        | DropPolicy::GcraTwoThresholds { .. } => false,
    };
    let mut queues = topology.classes[link]
        .iter()
        .filter_map(|&class| net.queue(link, class));
    draws_ties && has_ties(net, link) || queues.any(|queue| draws(&queue.drop))
}

#[cfg(test)]
mod tests {
    use super::notes;
    use crate::run::resolved::Resolved;
    use crate::text::scenario::read_toml;

    /// Notes about replications of the example `lan-5` with a stated jitter and overrides.
    fn lan_notes(overrides: &[(&str, &str)]) -> Vec<String> {
        let lan = include_str!("../../../../../../examples/lan-5.toml");
        let overrides = overrides
            .iter()
            .map(|&(path, value)| (path.into(), value.into()));
        let overrides: Vec<(String, String)> = overrides.collect();
        let scenario = read_toml(lan, "", &overrides).expect("it is valid");
        notes(&Resolved::new(&scenario).expect("it can be built"), true)
    }

    const TOGETHER: (&str, &str) = ("ensemble.start_jitter", "0 s");
    const FAIR: (&str, &str) = ("tie_order", "fair");
    const NO_PHASE: (&str, &str) = ("ensemble.timer_phase", "false");

    #[test]
    fn replications_that_differ_at_most_in_the_timer_phase_are_noted() {
        let set = "set `ensemble.start_jitter` (default 100 us), or `tie_order` to random";
        let phase = |why: &str| {
            format!(
                "replications draw only the timer phase, since `ensemble.start_jitter` is 0 s{why}, so their intervals may be \
                 too narrow: {set}"
            )
        };
        let same = format!(
            "nothing is drawn, so all replications are the same run, since `ensemble.start_jitter` is 0 s and `tie_order` is \
             fair: {set}"
        );
        let same = [same.as_str()];
        let no_offset = ("ensemble.tie_offset", "false");
        assert_eq!(
            lan_notes(&[TOGETHER, FAIR]),
            [phase(" and `tie_order` is fair")]
        );
        let fixed = ("tie_order", "fixed");
        assert_eq!(
            lan_notes(&[TOGETHER, fixed]),
            [phase(" and `tie_order` is fixed")]
        );
        assert_eq!(lan_notes(&[TOGETHER, no_offset]), [phase("")]);
        assert_eq!(lan_notes(&[TOGETHER, FAIR, NO_PHASE]), same);
        // Bursts of which the phase is not drawn, and no TCP.
        let video = (
            "vc.traffic",
            r#"{ kind = "vbr", rate = "1 Mbps", on = "1 s", off = "1 s" }"#,
        );
        assert_eq!(lan_notes(&[TOGETHER, FAIR, video]), same);
    }

    #[test]
    fn replications_that_draw_more_than_the_timer_phase_are_not_noted() {
        let processing = r#"{ kind = "latency", per = "frame", mean = "1 ms", spread = "1 ms" }"#;
        let video = (
            "vc.vc1.traffic",
            r#"{ kind = "vbr", rate = "1 Mbps", on = "1 s", off = "1 s" }"#,
        );
        let cells = r#"{ kind = "poisson", rate = "1 Mbps" }"#;
        let program = r#"{ policy = "program", refuse = "draw() < 0.5" }"#;
        for more in [
            &[("ensemble.start_jitter", "1 us")][..],
            &[("tie_order", "random")],
            &[("tie_order", "rotating")],
            &[("timers", "own")],
            &[("vc.vc1.traffic", cells)],
            &[video, ("ensemble.vbr_phase", "true")],
            &[("vc.vc1.traffic.processing", processing)],
            &[("host.source1.processing", processing)],
            &[("switch.west.processing", processing)],
            &[("link.west->east.lose_probability", "0.001")],
            &[("switch.west.ubr.drop", "packet-red")],
            &[("switch.west.ubr.drop", "cell-red")],
            &[("switch.west.ubr.drop", "atm-red")],
            &[("switch.west.ubr.drop", program)],
        ] {
            let found = lan_notes(&[&[TOGETHER, FAIR, NO_PHASE], more].concat());
            assert!(found.is_empty(), "{more:?}: {found:?}");
        }
        // Random numbers that nothing uses.
        for more in [
            ("switch.west.vbr.drop", "packet-red"),
            ("switch.west.ubr.drop", "epd"),
        ] {
            assert_eq!(lan_notes(&[TOGETHER, FAIR, more]).len(), 1, "{more:?}");
        }
    }
}
