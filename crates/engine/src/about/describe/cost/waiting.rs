//! How many VCs wait at a port whose scheduler is a program, which ranks each of them for each cell;
//! and TCPs that lose every frame together, so that they mostly wait for timers.

use super::{Demand, LinkShare};
use crate::ground::class::Class;
use crate::run::resolved::{Resolved, ResolvedPort};
use crate::text::scenario::{ProgramScheduler, Scheduler, TcpParams};
use rustc_hash::{FxHashMap, FxHashSet};

/// CPU seconds per step of a program in a scenario, and per VC that a program ranks.
pub(super) const EACH_STEP: f64 = 0.8e-9;
const EACH_RANKED_VC: f64 = 6e-9;

/// TCPs whose frames reach one port at the same instant over different links.
#[derive(Default)]
struct Together {
    vcs: Vec<usize>,
    inputs: FxHashSet<usize>,
    /// Cells of the shortest first frame, and rate of the slowest input.
    cells: u32,
    rate: f64,
}

/// Changes the demand of TCPs whose first frames fill a buffer before any of them is complete.
///
/// All of these frames are lost. The timers run out together, so that the same happens at each
/// retransmission: after `initial_rto`, then after twice as long, and so on.
pub(super) fn lose_all_together(net: &Resolved<'_>, demands: &mut [Demand]) {
    let (scenario, topology) = (net.scenario, &net.topology);
    for (link, port) in net.ports().filter(|(_, port)| port.can_queue) {
        let mut groups: FxHashMap<(Class, u64), Together> = FxHashMap::default();
        for id in &topology.crossing[link] {
            let flow = &topology.flows[id.index()];
            let vc = &scenario.vcs[flow.vc];
            let queue = port.queue(vc.class);
            let Some(tcp) = vc.traffic.tcp().filter(|_| flow.kind.is_data()) else {
                continue;
            };
            if queue.k.is_none() || vc.abr.is_some() || demands[flow.vc].frames == 0.0 {
                continue;
            }
            let path = topology.data_path(flow.vc);
            let upstream = &path[..path.iter().position(|&l| l == link).unwrap_or(0)];
            let Some(&input) = upstream.last() else {
                continue;
            };
            let host = scenario.hosts[flow.hosts[0]].processing;
            let at_switches = upstream.iter().filter_map(|&l| topology.enters[l]);
            let delays = at_switches.filter_map(|switch| scenario.switches[switch].processing);
            let mut delays = delays.chain(host).chain(vc.traffic.processing());
            if !delays.all(|delay| delay.is_constant()) {
                continue;
            }
            let arrives = upstream.iter().map(|&l| scenario.links[l].delay.0);
            let key = (vc.class, vc.start.0 + arrives.sum::<u64>());
            let group = groups.entry(key).or_insert_with(|| Together {
                cells: u32::MAX,
                rate: f64::INFINITY,
                ..Together::default()
            });
            let first = if tcp.handshake {
                scenario.format.ack(0)
            } else {
                demands[flow.vc].size
            };
            let rates = upstream.iter().map(|&l| scenario.mean_rate(l));
            group.rate = rates.fold(group.rate, f64::min);
            group.cells = group.cells.min(first.cells());
            group.inputs.insert(input);
            group.vcs.push(flow.vc);
        }
        for ((class, _), group) in groups {
            let queue = port.queue(class);
            let buffer = queue.room().map_or(f64::INFINITY, |cells| cells as f64);
            let begun = (group.inputs.len() as f64).min(queue.smallest_refusal().max(1) as f64);
            let cells = f64::from(group.cells);
            let sent = cells * scenario.mean_rate(link) / group.rate;
            if begun * cells <= buffer + sent {
                continue;
            }
            for &vc in &group.vcs {
                let (from, to) = super::active(scenario, &scenario.vcs[vc]);
                let Some(tcp) = scenario.vcs[vc].traffic.tcp() else {
                    continue;
                };
                let clock = scenario.format.clock;
                let in_seconds = |span: crate::ground::units::Span| span.as_seconds(clock);
                let demand = &mut demands[vc];
                demand.frames = demand.at_once + retransmissions(tcp, to - from, in_seconds);
                demand.acks = 0.0;
                demand.survives = (buffer / (group.vcs.len() as f64 * cells)).min(1.0);
            }
        }
    }
}

/// Number of timeouts of a frame that is always lost, within `seconds`.
fn retransmissions(
    tcp: &TcpParams,
    seconds: f64,
    in_seconds: impl Fn(crate::ground::units::Span) -> f64,
) -> f64 {
    let (mut rto, most) = (in_seconds(tcp.initial_rto), in_seconds(tcp.max_rto));
    let (mut left, mut found) = (seconds - rto, 0.0);
    while left > 0.0 && rto < most {
        found += 1.0;
        rto = (2.0 * rto).min(most);
        left -= rto;
    }
    if left > 0.0 {
        found += 1.0 + (left / rto).floor();
    }
    found
}

/// CPU seconds of a choice among `vcs` VCs, and of the texts about the cell that is chosen.
fn each_cell(program: &ProgramScheduler, vcs: f64) -> f64 {
    let [arrive, served, rank] = program.ranking.texts().map(|text| text.steps as f64);
    vcs * EACH_RANKED_VC + (arrive + served + vcs * rank) * EACH_STEP
}

/// CPU seconds per cell that a program schedules at a port: usually, and for cells of VCs that lose
/// every frame together. 0 for other schedulers.
///
/// They follow from the mean number of VCs that wait when a cell is chosen. Sources that do not
/// yield all wait if they bring more than the link carries. Of n TCPs that share it, all wait if the
/// buffer holds a frame of each. If it holds only k frames, about k of them wait, and only while
/// k / n of them do not wait for timers (a fit to measurements). If the link carries all, the queue
/// is short: 1 / (1 - load).
pub(super) fn ranking(
    net: &Resolved<'_>,
    link: usize,
    port: &ResolvedPort<'_>,
    demands: &[Demand],
    share: &LinkShare,
) -> [f64; 2] {
    let Scheduler::Program(program) = port.scheduler else {
        return [0.0; 2];
    };
    let (scenario, topology) = (net.scenario, &net.topology);
    let (mut firm, mut tcps, mut frames, mut lost, mut cells) = (0.0, 0.0, 0.0_f64, 0.0_f64, 0.0);
    for id in &topology.crossing[link] {
        let flow = &topology.flows[id.index()];
        let demand = &demands[flow.vc];
        let class = scenario.vcs[flow.vc].class;
        if !flow.kind.is_data() || !port.scheduler.serves_vcs_of(class) {
            continue;
        }
        let buffer = port
            .queue(class)
            .room()
            .map_or(f64::INFINITY, |cells| cells as f64);
        if demand.survives < 1.0 {
            lost += 1.0;
            cells = buffer;
        } else if !demand.yields {
            firm += 1.0;
        } else {
            tcps += 1.0;
            frames = frames.max(buffer / f64::from(demand.size.cells().max(1)));
        }
    }
    let [of_firm, of_tcps] = share.carried;
    let mut waiting = 0.0;
    if of_firm < 1.0 {
        waiting += firm;
    }
    if of_tcps < 1.0 {
        let some = if tcps > frames {
            frames * frames / tcps
        } else {
            tcps
        };
        waiting += 1.0_f64.min(firm) + some;
    }
    if waiting == 0.0 {
        waiting = 1.0 / (1.0 - share.load).max(1e-9);
    }
    let most = (firm + tcps).max(1.0);
    [waiting.clamp(1.0, most), lost.min(cells).max(1.0)].map(|vcs| each_cell(program, vcs))
}
