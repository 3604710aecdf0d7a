//! Rule: a drop policy that drops from the front of a queue needs a single queue per class.

use super::network::Network;
use super::report::Report;

/// Reports queues whose drop policy pushes out from the front while the port's scheduler serves
/// their class per VC.
pub(crate) fn check(network: &Network<'_>, report: &mut Report) {
    let (scenario, topology) = (network.scenario, network.topology);
    for (link, at) in network.ports() {
        for &class in &topology.classes[link] {
            let scheduler = topology.scheduler(scenario, link);
            let queue = topology.queue(scenario, link, class);
            if !(scheduler.serves_vcs_of(class) && queue.drop.abilities().pushes_out) {
                continue;
            }
            let mut queues = scenario.links[link].queues.iter();
            let place = network.place_of_setting(link, queues.any(|q| q.class == class));
            let path = format!("{place}.{}.drop", class.name());
            report.add_once(
                &path,
                format!(
                    "needs one queue for the class {}, but the scheduler of {} keeps a queue for each VC",
                    class.name(),
                    at.name
                ),
                "another drop policy, or a scheduler other than per-vc or program for this class".to_string(),
            );
        }
    }
}
