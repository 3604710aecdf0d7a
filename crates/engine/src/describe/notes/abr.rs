//! Notes on ABR: VCs without feedback, feedback that knows no minimum rates.

use super::named;
use crate::flow::FlowKind;
use crate::notation::show::show_rate;
use crate::scenario::{Class, Feedback, Link, Scenario};
use crate::topology::Topology;
use crate::units::BitRate;

/// All notes on ABR.
pub(super) fn notes(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut notes = without_feedback(scenario, topology);
    notes.extend(shares_beside_minimum_rates(scenario, topology));
    notes
}

/// VCs of the class abr whose sources ask nobody, or are told nothing.
fn without_feedback(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let (mut plain, mut untold) = (Vec::new(), Vec::new());
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let mut flows = FlowKind::FRAMES
            .map(|kind| &topology.flows[topology.flow(index, kind).index()])
            .into_iter();
        let tells = |&link: &usize| {
            let queue = topology.switch_of[link].map(|_| topology.queue(scenario, link, vc.class));
            queue.is_some_and(|queue| queue.feedback.is_some())
        };
        if vc.abr.is_some() && !flows.any(|flow| flow.path.iter().any(tells)) {
            untold.push(vc.name.as_str());
        } else if vc.abr.is_none() && vc.class == Class::Abr {
            plain.push(vc.name.as_str());
        }
    }
    let sentences = [
        (
            plain,
            "without `abr`: no rate is kept to, as in the class ubr",
        ),
        (
            untold,
            "with `abr`, and no port on the way gives feedback: the rate begins at the ICR and grows to the PCR",
        ),
    ];
    let told = sentences.iter().filter(|(names, _)| !names.is_empty());
    told.map(|(names, how)| format!("{} of the class abr is {how}", named(names)))
        .collect()
}

/// Ports at which ERICA tells equal shares that, with the minimum rates above them, are more than the link has.
fn shares_beside_minimum_rates(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let sentence = |(index, link): (usize, &Link)| {
        topology.switch_of[index]?;
        let feedback = topology.queue(scenario, index, Class::Abr).feedback?;
        // The least target: ERICA+ has less of one the longer the queue is.
        let (kind, target) = match feedback {
            Feedback::Erica(erica) => ("erica", erica.target),
            Feedback::EricaPlus(erica) => ("erica-plus", erica.qdlf),
            Feedback::EricaMcr(_)
            | Feedback::RelativeRate { .. }
            | Feedback::Efci { .. }
            | Feedback::OracleRate { .. } => return None,
        };
        let crossing = topology.crossing[index].iter();
        let data = crossing.map(|id| &topology.flows[id.index()]);
        let vcs = data.filter(|flow| flow.kind.is_data());
        let vcs = vcs.filter_map(|flow| {
            let vc = &scenario.vcs[flow.vc];
            let abr = vc.abr.as_ref()?;
            Some((vc.name.as_str(), abr.mcr.map_or(0, |mcr| mcr.0), abr.pcr))
        });
        let vcs: Vec<_> = vcs.collect();
        let share = (target.as_f64() * link.rate.0 as f64 / vcs.len() as f64) as u64;
        let told = |&(_, mcr, pcr): &(&str, u64, Option<BitRate>)| {
            mcr.max(share.min(pcr.map_or(u64::MAX, |pcr| pcr.0)))
        };
        let sum: u64 = vcs.iter().map(told).sum();
        let above = vcs.iter().filter(|&&(_, mcr, _)| mcr > share);
        let above: Vec<&str> = above.map(|&(name, ..)| name).collect();
        (sum > link.rate.0 && !above.is_empty()).then(|| {
            format!(
                "{kind} tells all at {} a share of {} at least, and the mcr of {} is more: together {}, where the link has {}; \
                 erica-mcr shares what minimum rates leave",
                link.name,
                show_rate(BitRate(share)),
                named(&above),
                show_rate(BitRate(sum)),
                show_rate(link.rate),
            )
        })
    };
    scenario
        .links
        .iter()
        .enumerate()
        .filter_map(sentence)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes_of;

    #[test]
    fn equal_shares_that_minimum_rates_go_beyond_are_noted() {
        let notes = |feedback: &str, mcr: &str| {
            notes_of(&format!(
                r#"
                duration = "1 s"
                host = [{{ name = "a", count = 2 }}, {{ name = "b" }}]
                switch = [{{ name = "s", abr = {{ feedback = {feedback} }} }}]
                link = [{{ from = "a", to = "s", rate = "10 Mbps" }}, {{ from = "s", to = "b", rate = "10 Mbps" }}]
                vc = [
                    {{ name = "one", from = "a1", to = "b", class = "abr", abr = {{ mcr = "{mcr}" }}, traffic = {{ kind = "tcp", rwnd = "60000 bytes" }} }},
                    {{ name = "two", from = "a2", to = "b", class = "abr", abr = {{}}, traffic = {{ kind = "tcp", rwnd = "60000 bytes" }} }},
                ]
                "#
            ))
        };
        // Half of 9 Mb/s for the second, and 5.6 for the first, are more than 10.
        let note = "erica tells all at s->b a share of 4.5 Mbps at least, and the mcr of one is more: together 10.1 Mbps, \
            where the link has 10 Mbps; erica-mcr shares what minimum rates leave";
        assert_eq!(notes("\"erica\"", "5.6 Mbps"), [note]);
        assert!(notes("\"erica\"", "5.5 Mbps").is_empty());
        assert!(notes("\"erica-mcr\"", "5.6 Mbps").is_empty());
        // The share of ERICA+ falls to half of the link's.
        assert!(notes("\"erica-plus\"", "7.5 Mbps").is_empty());
        assert_eq!(notes("\"erica-plus\"", "7.6 Mbps").len(), 1);
    }
}
