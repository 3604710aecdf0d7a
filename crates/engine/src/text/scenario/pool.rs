//! Rules about shared memories of switches (model section 6), and their memory cells.

use super::model::{ClassQueue, DropPolicy, Pool, Scenario, Threshold};
use super::network::Network;
use super::report::Report;
use super::threshold::{Size, Unit};
use crate::ground::class::Class;
use crate::text::notation::show::{show_bytes, show_cells};
use crate::text::program::Value;
use crate::text::program::names::Known;
use std::collections::HashMap;

/// Converts sizes in bytes at switches with memory cells into memory cells: reserves are rounded up,
/// all others down.
pub(crate) fn in_memory_cells(scenario: &mut Scenario) {
    let mut cells: HashMap<String, u64> = HashMap::new();
    for switch in &mut scenario.switches {
        if let Some(Pool {
            buffer,
            cell: Some(cell),
        }) = &mut switch.pool
        {
            let cell = u64::from(*cell);
            *buffer = down(*buffer, cell);
            switch
                .queues
                .iter_mut()
                .for_each(|queue| convert(queue, cell));
            cells.insert(switch.name.clone(), cell);
        }
    }
    for link in &mut scenario.links {
        if let Some(&cell) = cells.get(&link.from) {
            link.queues
                .iter_mut()
                .for_each(|queue| convert(queue, cell));
        }
    }
}

fn down(size: Size, cell: u64) -> Size {
    match size {
        Size::Bytes { bytes } => Size::Cells(bytes / cell),
        Size::Cells(_) | Size::Time { .. } => size,
    }
}

fn convert(queue: &mut ClassQueue, cell: u64) {
    queue.buffer = queue.buffer.map(|size| down(size, cell));
    if let Some(Size::Bytes { bytes }) = queue.reserve {
        queue.reserve = Some(Size::Cells(bytes.div_ceil(cell)));
    }
    let threshold = |threshold: &mut Threshold| {
        if let Threshold::Bytes(bytes) = *threshold {
            *threshold = Threshold::Cells(bytes / cell);
        }
    };
    match &mut queue.drop {
        DropPolicy::Epd {
            threshold: t,
            reserve,
        } => {
            t.iter_mut().for_each(threshold);
            // What is reserved for frames that have begun counts as a reserve.
            if let Some(Threshold::Bytes(bytes)) = *reserve {
                *reserve = Some(Threshold::Cells(bytes.div_ceil(cell)));
            }
        }
        DropPolicy::SelectiveDrop { r, .. } => threshold(r),
        DropPolicy::Fba { r, k_fba, .. } => {
            threshold(r);
            *k_fba = k_fba.map(|size| down(size, cell));
        }
        DropPolicy::AtmRed(red) | DropPolicy::CellRed(red) | DropPolicy::PacketRed(red) => {
            threshold(&mut red.min_th);
            threshold(&mut red.max_th);
        }
        DropPolicy::Program(program) => {
            program.written.never_below.iter_mut().for_each(threshold);
            for value in program.written.parameters.values_mut() {
                if let Value::Bytes(bytes) = *value {
                    *value = Value::Cells(bytes / cell);
                }
            }
        }
        // These have no lengths, or are defined in `aal5` alone.
        DropPolicy::TailDrop
        | DropPolicy::Ppd
        | DropPolicy::DropFromFront
        | DropPolicy::FrameDropFromFront
        | DropPolicy::GcraEpd { .. }
        | DropPolicy::GcraRoundRobin { .. }
        | DropPolicy::GcraTwoThresholds { .. }
        | DropPolicy::Dfba { .. } => {}
    }
}

/// Reports pools that are not defined, and settings of queues that need a pool.
pub(crate) fn check(network: &Network<'_>, report: &mut Report) {
    let scenario = network.scenario;
    for (switch, spec) in scenario.switches.iter().enumerate() {
        let path = format!("switch[{}]", network.entry_of_switch(switch));
        match &spec.pool {
            None => needs_pool(&spec.queues, &path, report),
            Some(pool) => of_switch(network, switch, pool, &path, report),
        }
    }
    for (link, at) in network.ports() {
        let switch = network.topology.switch_of[link].expect("a port leaves a switch");
        if scenario.switches[switch].pool.is_none() {
            let queues = &scenario.links[link].queues;
            if !queues.is_empty() {
                needs_pool(queues, &format!("link[{}]", at.entry), report);
            }
            continue;
        }
        for &class in &network.topology.classes[link] {
            let mut queues = scenario.links[link].queues.iter();
            let place = network.place_of_setting(link, queues.any(|q| q.class == class));
            let path = format!("{place}.{}", class.name());
            at_pool(network, link, class, &path, report);
        }
    }
}

/// Names of pools that the drop program of `queue` uses.
fn names_of_pools(queue: &ClassQueue) -> impl Iterator<Item = Known> + '_ {
    let uses = move |name: &Known| match &queue.drop {
        DropPolicy::Program(policy) => policy.program.uses.knows(*name),
        _ => false,
    };
    Known::OF_POOLS.into_iter().filter(uses)
}

/// Reports settings of queues of a switch without a pool that need one.
fn needs_pool(queues: &[ClassQueue], path: &str, report: &mut Report) {
    for queue in queues {
        let path = format!("{path}.{}", queue.class.name());
        if queue.alpha.is_some() {
            report.add_once(
                &format!("{path}.alpha"),
                "compares the queue with the free part of a pool, and the switch has none".into(),
                "a switch with a `pool`, or no `alpha`".into(),
            );
        }
        if let Some(name) = names_of_pools(queue).next() {
            report.add_once(
                &format!("{path}.drop"),
                format!(
                    "uses `{}`, which is of a pool, and the switch has none",
                    name.word()
                ),
                "a switch with a `pool`, or a program without this name".into(),
            );
        }
        if queue.reserve.is_some() {
            report.add_once(
                &format!("{path}.reserve"),
                "is a part of a pool, and the switch has none".into(),
                "a switch with a `pool`, or no `reserve`".into(),
            );
        }
    }
}

fn of_switch(network: &Network<'_>, switch: usize, pool: &Pool, path: &str, report: &mut Report) {
    let scenario = network.scenario;
    if !scenario.arrival_first {
        let name = &scenario.switches[switch].name;
        report.add_once(
            "arrival_first",
            format!("is not defined with a pool, which switch {name} has: all departures of an instant would free places first"),
            "true, or switches without a pool".into(),
        );
    }
    if pool.cell.is_some() && !scenario.format.is_ethernet {
        report.add_once(
            &format!("{path}.pool.cell"),
            "has no effect: in this format each cell takes one place, or its bytes".into(),
            "no `cell`, or format = \"ethernet\"".into(),
        );
        return;
    }
    if pool.cell.is_some() {
        no_packets(&format!("{path}.pool.buffer"), report);
    }
    let show = |places| match pool.buffer.unit() {
        Unit::Cells => show_cells(places),
        Unit::Bytes => show_bytes(places),
    };
    let terms = network.topology.pools[switch].as_ref().expect("it has one");
    if terms.places == 0 {
        report.add_once(
            &format!("{path}.pool.buffer"),
            "is less than a memory cell".into(),
            "at least `cell`".into(),
        );
    } else if terms.reserved > terms.places && reserves_fit(network, switch, pool) {
        report.add_once(
            &format!("{path}.pool"),
            format!(
                "its queues reserve {} at {} ports, the pool has {}",
                show(terms.reserved),
                terms.links.len(),
                show(terms.places)
            ),
            "a larger `buffer`, or smaller reserves".into(),
        );
    }
}

/// Reports a size in packets where a place is a memory cell, of which a packet may take several.
fn no_packets(path: &str, report: &mut Report) {
    if report
        .text_at(path)
        .is_some_and(|text| text.contains("packet"))
    {
        report.add_once(
            path,
            "counts packets, but with `cell` the pool counts memory cells".into(),
            "memory cells, as \"2000 cells\", or bytes".into(),
        );
    }
}

/// Whether the reserves of all ports of `switch` are in the unit of its `pool`, so that they add up.
fn reserves_fit(network: &Network<'_>, switch: usize, pool: &Pool) -> bool {
    let (scenario, topology) = (network.scenario, network.topology);
    let links = (0..scenario.links.len()).filter(|&link| topology.switch_of[link] == Some(switch));
    let mut queues = links.flat_map(|link| {
        let classes = topology.classes[link].iter();
        classes.map(move |&class| topology.queue(scenario, link, class))
    });
    queues.all(|queue| {
        queue
            .reserve
            .is_none_or(|reserve| reserve.unit() == pool.buffer.unit())
    })
}

/// Reports what the queue of `class` at the port of `link` cannot have with a pool.
fn at_pool(network: &Network<'_>, link: usize, class: Class, path: &str, report: &mut Report) {
    let (scenario, topology) = (network.scenario, network.topology);
    let queue = topology.queue(scenario, link, class);
    if queue.drop.abilities().pushes_out {
        report.add_once(
            &format!("{path}.drop"),
            "pushes cells out of its own queue, but with a pool other queues may have the places"
                .into(),
            "a policy that does not push out, or a switch without a pool".into(),
        );
    }
    if topology.memory_cell(scenario, link).is_some() {
        for field in ["buffer", "reserve"] {
            no_packets(&format!("{path}.{field}"), report);
        }
    }
    let unit = topology.unit(scenario, link);
    if let Some(reserve) = queue.reserve.filter(|size| size.unit() != unit) {
        report.add_once(
            &format!("{path}.reserve"),
            format!(
                "counts {}, but the pool counts {}",
                reserve.unit().name(),
                unit.name()
            ),
            format!("{}, the unit of the pool", unit.name()),
        );
    }
    if queue.buffer == Some(Size::Cells(0)) {
        report.add_once(
            &format!("{path}.buffer"),
            "is less than a memory cell".into(),
            "at least the `cell` of the pool".into(),
        );
    }
}
