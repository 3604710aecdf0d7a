//! Random pools of switches.

use super::draws::Draws;
use super::random::Case;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::pushes_out;
use cellyard_engine::units::{BitRate, Ratio, Span};

/// The case with a pool at most of its switches. A place is a cell or, with `bytes`, so many bytes
/// of a memory cell; the unit of buffers stays.
pub fn pooled(mut case: Case, draws: &mut Draws, memory_cell: Option<u32>) -> Case {
    let net = &mut case.scenario;
    net.arrival_first = true;
    net.tie_order = draws.one_of(&[
        TieOrder::Fixed,
        TieOrder::Rotating,
        TieOrder::Random,
        TieOrder::Fair,
        TieOrder::Fair,
    ]);
    if draws.chance(40) {
        in_step(net, draws);
    }
    let unit = |queues: &[ClassQueue]| queues.iter().find_map(|queue| queue.buffer);
    for switch in &mut net.switches {
        if draws.chance(15) {
            continue;
        }
        let out = net.links.iter_mut().filter(|link| link.from == switch.name);
        let mut out: Vec<&mut Link> = out.collect();
        let mut all: Vec<&[ClassQueue]> = out.iter().map(|link| &link.queues[..]).collect();
        all.push(&switch.queues);
        let in_bytes = memory_cell.is_none()
            && (all
                .iter()
                .any(|queues| unit(queues).is_some_and(|s| s.unit() == Unit::Bytes)));
        let each = if in_bytes {
            draws.magnitude(60, 3_000)
        } else {
            1
        };
        let size = |places: u64| match in_bytes {
            true => Size::Bytes {
                bytes: places * each,
            },
            false => Size::Cells(places),
        };
        let mut reserved = 0;
        let mut tell = |queue: &mut ClassQueue, ports: u64| {
            if pushes_out(queue) {
                queue.drop = DropPolicy::TailDrop;
            }
            if draws.chance(60) {
                queue.buffer = None;
            }
            let alphas = [
                (1, 128),
                (1, 4),
                (1, 2),
                (3, 7),
                (1, 1),
                (1, 1),
                (2, 1),
                (8, 1),
                (64, 1),
            ];
            queue.alpha = draws.chance(75).then(|| {
                let (num, den) = draws.one_of(&alphas);
                Ratio::new(num, den)
            });
            let reserve = draws.one_of(&[0, 0, 1, 2, 5]);
            queue.reserve = (reserve > 0).then(|| size(reserve));
            reserved += ports * reserve;
        };
        let ports = out.len() as u64;
        let mut queues: Vec<ClassQueue> = Class::ALL.map(ClassQueue::unlimited).into();
        queues.retain(|queue| switch.queues.iter().all(|given| given.class != queue.class));
        switch.queues.append(&mut queues);
        switch.queues.sort_by_key(|queue| queue.class);
        switch
            .queues
            .iter_mut()
            .for_each(|queue| tell(queue, ports));
        for link in &mut out {
            link.queues.iter_mut().for_each(|queue| tell(queue, 1));
        }
        switch.pool = Some(Pool {
            buffer: size(reserved + draws.magnitude(1, 60)),
            cell: memory_cell,
        });
    }
    case
}

/// Lets cells of many sources come at equal instants: links have few rates and one delay, and sources
/// start together.
fn in_step(net: &mut Scenario, draws: &mut Draws) {
    let (rate, delay) = (net.links[0].rate, net.links[0].delay);
    let slower = draws.one_of(&[1, 1, 2, 3]);
    let is_switch = |name: &str| net.switches.iter().any(|switch| switch.name == name);
    for link in &mut net.links {
        let by = if is_switch(&link.from) { slower } else { 1 };
        link.rate = BitRate((rate.0 / by).max(net.format.least_rate().0));
        link.delay = delay;
    }
    for vc in &mut net.vcs {
        if draws.chance(60) {
            vc.start = Span::ZERO;
        }
    }
}
