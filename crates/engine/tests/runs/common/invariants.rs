//! Invariants of the result of any run.

use cellyard_engine::format::{Clock, Format};
use cellyard_engine::results::{PoolPortResult, PoolResult, PortResult, RunResult, VcResult};
use cellyard_engine::scenario::{AbrParams, Carries, Scenario};
use cellyard_engine::testing::{AbrTally, FlowKind, Tally, Topology};
use cellyard_engine::units::Span;
use serde_json::Value;

/// Tolerance for rounding in sums of floating-point numbers.
const NEARLY: f64 = 1e-9;

fn must(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// Upper bound on the cells whose last bit can leave by the link before the end.
fn most_cells(scenario: &Scenario, link: usize) -> u64 {
    let cell_time = scenario.format.cell_time(scenario.links[link].rate);
    scenario.duration.0 / cell_time.0
}

/// Checks every invariant of a result and the counters behind it.
pub fn check(scenario: &Scenario, result: &RunResult, tally: &Tally) -> Result<(), String> {
    let topology = Topology::new(scenario)?;
    finite(result)?;
    totals(result)?;
    result.ports.iter().try_for_each(port)?;
    result.pools.iter().try_for_each(pool)?;
    result.vcs.iter().try_for_each(vc)?;
    for (link, &cells) in tally.link_cells.iter().enumerate() {
        let most = most_cells(scenario, link);
        let name = &scenario.links[link].name;
        must(cells <= most, || {
            format!("link {name} sent {cells} cells, its rate allows {most}")
        })?;
    }
    delays(scenario, &topology, tally)?;
    for (vc, spec) in scenario.vcs.iter().enumerate() {
        if let Some(abr) = &spec.abr {
            end_systems(scenario, &topology, tally, vc, abr)?;
        }
    }
    classes(result)
}

/// A pool never holds more than its places, and no port loses more than it refuses.
fn pool(pool: &PoolResult) -> Result<(), String> {
    let (most, mean) = (pool.max_used_places, pool.mean_used_places);
    let fits = mean <= most as f64 + NEARLY && most <= pool.buffer_places;
    let counted = |port: &PoolPortResult| port.tied_refusals <= port.refusals;
    must(fits && pool.ports.iter().all(counted), || {
        format!("{pool:?}")
    })
}

/// No number is infinite, NaN, or negative.
fn finite(result: &RunResult) -> Result<(), String> {
    let shown = format!("{result:?}");
    let none = |odd: &str| must(!shown.contains(odd), || format!("{odd} in {shown}"));
    ["NaN", ": inf", "(inf", "[inf", ", inf", "-inf"]
        .into_iter()
        .try_for_each(none)?;
    let document = serde_json::to_value(result).map_err(|error| error.to_string())?;
    not_negative(&document, "result")
}

fn not_negative(value: &Value, path: &str) -> Result<(), String> {
    match value {
        Value::Number(number) => {
            let negative = number.as_f64().is_none_or(|n| n < 0.0);
            must(!negative, || format!("{path} = {number}"))
        }
        Value::Array(all) => all
            .iter()
            .enumerate()
            .try_for_each(|(i, v)| not_negative(v, &format!("{path}[{i}]"))),
        Value::Object(all) => all
            .iter()
            .try_for_each(|(key, v)| not_negative(v, &format!("{path}.{key}"))),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn totals(result: &RunResult) -> Result<(), String> {
    let totals = &result.totals;
    let fair = totals.fairness.is_none_or(|f| f > 0.0 && f <= 1.0 + NEARLY);
    must(fair, || format!("fairness {:?}", totals.fairness))?;
    must((0.0..=1.0).contains(&totals.cell_loss_ratio), || {
        format!("cell_loss_ratio {}", totals.cell_loss_ratio)
    })?;
    must(result.measured_s <= result.duration_s, || {
        format!("measured {} of {}", result.measured_s, result.duration_s)
    })?;
    let longest = result
        .ports
        .iter()
        .map(|port| port.max_queue_cells)
        .max()
        .unwrap_or(0);
    must(totals.max_queue_cells == longest, || {
        format!("max_queue_cells {}, not {longest}", totals.max_queue_cells)
    })?;
    must(
        totals.tcp.retransmitted_segments <= totals.tcp.segments,
        || format!("{totals:?}"),
    )
}

/// The counters of a port balance: arrived = accepted + dropped on arrival, accepted = sent + held
/// + pushed out.
///
/// Queues keep to their buffers, and the link to its rate.
pub fn port(port: &PortResult) -> Result<(), String> {
    let dropped = serde_json::to_value(&port.dropped_cells).map_err(|error| error.to_string())?;
    let sum = |reasons: &[&str]| {
        reasons
            .iter()
            .filter_map(|r| dropped[r].as_u64())
            .sum::<u64>()
    };
    let on_arrival = sum(&["police", "policy", "full", "rest"]);
    let left = port.sent_cells + port.held_cells + sum(&["front"]);
    let mean = port.mean_queue_cells;
    must(
        port.arrived_cells == port.accepted_cells + on_arrival,
        || format!("arrived: {port:?}"),
    )?;
    must(port.accepted_cells == left, || {
        format!("accepted: {port:?}")
    })?;
    must(port.can_queue || port.held_cells <= 1, || {
        format!("held: {port:?}")
    })?;
    must(port.utilisation <= 1.0 + NEARLY || changes(port), || {
        format!("utilisation: {port:?}")
    })?;
    must(mean <= port.max_queue_cells as f64 * (1.0 + NEARLY), || {
        format!("mean queue: {port:?}")
    })?;
    let sent: u64 = port.classes.iter().map(|class| class.sent_cells).sum();
    must(sent <= port.sent_cells, || {
        format!("sent by classes: {port:?}")
    })?;
    measured(port)?;
    refusals(port)?;
    let within = port
        .classes
        .iter()
        .all(|c| c.buffer_cells.is_none_or(|k| c.max_queue_cells <= k));
    must(within, || format!("a queue above its buffer: {port:?}"))
}

/// Refusals are among the drops on arrival. Refusals at ties need an input that won.
fn refusals(port: &PortResult) -> Result<(), String> {
    let all = port.inputs.iter().map(|input| input.refusals);
    let tied = port.inputs.iter().map(|input| input.tied_refusals);
    let sums = [all.sum(), tied.clone().sum()].map(|sum| port.can_queue.then_some(sum));
    let some_tied = tied.sum::<u64>() > 0;
    let drops = serde_json::to_value(&port.dropped_cells).expect("numbers");
    let on_arrival: u64 = ["policy", "full", "rest"]
        .into_iter()
        .filter_map(|reason| drops[reason].as_u64())
        .sum();
    let each = port
        .inputs
        .iter()
        .all(|input| input.tied_refusals <= input.refusals);
    let holds = sums == [port.refusals, port.tied_refusals]
        && each
        && port.refusals.unwrap_or(0) <= on_arrival
        && (!some_tied || (port.inputs.len() > 1 && port.accepted_cells > 0));
    must(holds, || format!("refusals: {port:?}"))
}

/// Counts of a port in the measuring time add up and do not exceed those of the whole run.
fn measured(port: &PortResult) -> Result<(), String> {
    let loss = |ratio: f64| (0.0..=1.0).contains(&ratio);
    must(loss(port.cell_loss_ratio), || format!("loss: {port:?}"))?;
    let of_classes = port.classes.iter().map(|c| c.measured_arrived_cells);
    let sums = of_classes.sum::<Option<u64>>() == port.measured_arrived_cells;
    let of_classes = port.classes.iter().map(|c| c.measured_dropped_cells);
    let sums = sums && of_classes.sum::<Option<u64>>() == port.measured_dropped_cells;
    let counts = [
        (port.measured_arrived_cells, port.arrived_cells),
        (port.measured_sent_cells, port.sent_cells),
        (port.measured_max_queue_cells, port.max_queue_cells),
    ];
    let less = counts
        .iter()
        .all(|&(part, all)| part.is_none_or(|part| part <= all));
    let known = counts
        .iter()
        .all(|(part, _)| part.is_some() == port.can_queue);
    must(sums && less && known, || format!("measured: {port:?}"))?;
    let [Some(most), Some(mean), Some(ratio), Some(utilisation)] = [
        port.measured_max_queue_cells.map(|cells| cells as f64),
        port.measured_mean_queue_cells,
        port.measured_cell_loss_ratio,
        port.measured_utilisation,
    ] else {
        return must(!port.can_queue, || format!("measured: {port:?}"));
    };
    let keeps =
        mean <= most * (1.0 + NEARLY) && loss(ratio) && (loss(utilisation) || changes(port));
    must(keeps, || format!("measured: {port:?}"))
}

/// Whether the rate changes. A cell under way then keeps its time, so the port may send more than its
/// rate allows.
fn changes(port: &PortResult) -> bool {
    port.mean_rate_mbps.is_some()
}

/// A VC receives no more than it sends.
fn vc(vc: &VcResult) -> Result<(), String> {
    let arrived = vc.cells_delivered + vc.cells_dropped;
    must(vc.cells_sent >= arrived, || {
        format!("more arrived than was sent: {vc:?}")
    })?;
    must(
        vc.frames_sent >= vc.frames_delivered + vc.frames_damaged,
        || format!("frames: {vc:?}"),
    )?;
    // An incomplete frame whose last cell arrived counts as lost; there may be other lost frames.
    let under_way = vc
        .frames_sent
        .checked_sub(vc.frames_delivered + vc.frames_lost);
    must(
        under_way.is_some() && vc.frames_damaged <= vc.frames_lost,
        || format!("lost frames: {vc:?}"),
    )?;
    let of_frames = vc.carries == Carries::Frames;
    let ratio = vc.frame_loss_ratio;
    must(
        ratio.is_some() == of_frames && ratio.is_none_or(|r| (0.0..=1.0).contains(&r)),
        || format!("frame loss: {vc:?}"),
    )?;
    must(
        vc.delivered_bytes <= Format::AAL5.cell_payload_bytes * vc.cells_delivered,
        || format!("bytes: {vc:?}"),
    )?;
    must(vc.tcp.retransmitted_segments <= vc.tcp.segments, || {
        format!("segments: {vc:?}")
    })?;
    must((0.0..=1.0).contains(&vc.cell_loss_ratio), || {
        format!("loss: {vc:?}")
    })?;
    let quantiles = [
        vc.p50_cell_transfer_delay_s,
        vc.p95_cell_transfer_delay_s,
        vc.p99_cell_transfer_delay_s,
        vc.max_cell_transfer_delay_s,
    ];
    must(quantiles.is_sorted(), || format!("quantiles: {vc:?}"))?;
    let most = vc
        .max_cell_transfer_delay_s
        .map(|most| most * (1.0 + NEARLY));
    must(vc.mean_cell_transfer_delay_s <= most, || {
        format!("mean delay: {vc:?}")
    })
}

/// No cell is faster than its path: propagation on each link, and one cell time of each link after
/// the first.
fn delays(scenario: &Scenario, topology: &Topology, tally: &Tally) -> Result<(), String> {
    for (i, counts) in tally.vcs.iter().enumerate() {
        let path = &topology.flows[topology.flow(i, FlowKind::Data).index()].path;
        let propagation = path
            .iter()
            .fold(Span::ZERO, |sum, &link| sum + scenario.links[link].delay);
        let behind = path[1..]
            .iter()
            .map(|&link| topology.cell_time(scenario, link));
        let least = behind.fold(propagation, |sum, cell_time| sum + cell_time);
        let delay = &counts.delay;
        let holds = delay.count == 0 || (delay.min >= least.0 && delay.min <= delay.max);
        must(holds, || {
            format!("VC {i}: delays {delay:?}, at least {least:?}")
        })?;
    }
    Ok(())
}

/// The end systems of a VC keep ACR within bounds and turn round what arrives. One in-rate cell of
/// Nrm is a forward RM cell.
fn end_systems(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    vc: usize,
    abr: &AbrParams,
) -> Result<(), String> {
    let ends = &tally.vcs[vc].abr;
    must(ends.len() == 2, || format!("VC {vc}: {ends:?}"))?;
    for (kind, end, other) in [
        (FlowKind::Data, &ends[0], &ends[1]),
        (FlowKind::Ack, &ends[1], &ends[0]),
    ] {
        let flow = topology.flow(vc, kind);
        let first = topology.flows[flow.index()].path[0];
        let line = scenario.links[first].rate;
        let cells = |rate: u64| rate as f64 / Format::AAL5.cell_bits as f64;
        let (pcr, mcr) = (
            cells(abr.pcr.unwrap_or(line).0),
            abr.mcr.map_or(0.0, |mcr| cells(mcr.0)),
        );
        let within = |acr: f64| mcr * (1.0 - NEARLY) <= acr && acr <= pcr * (1.0 + NEARLY);
        let mean = end.allowed_cells / scenario.duration.as_seconds(Clock::AAL5);
        must(within(end.acr) && within(mean), || {
            format!("VC {vc}, {kind:?}: ACR in [{mcr}, {pcr}], mean {mean}: {end:?}")
        })?;
        let waits = end
            .forward_taken
            .checked_sub(end.backward_sent + end.overwritten);
        must(waits.is_some_and(|waits| waits <= 1), || {
            format!("VC {vc}, {kind:?}: returned, overwritten or waiting: {end:?}")
        })?;
        must(end.forward_taken <= other.forward_sent, || {
            format!("VC {vc}, {kind:?}: forward cells: {end:?}, {other:?}")
        })?;
        must(end.backward_taken <= other.backward_sent, || {
            format!("VC {vc}, {kind:?}: backward cells: {end:?}, {other:?}")
        })?;
        let data = &tally.flows[flow.index()];
        let rm = &tally.flows[topology.flow(vc, kind.rm()).index()];
        let shared = topology.crossing[first]
            .iter()
            .any(|id| topology.flows[id.index()].vc != vc);
        let others = data.cells_sent + end.backward_sent;
        // If out-of-rate cells exceed the link's rate, in-rate cells wait behind them, and only
        // the forward ones are counted.
        let held = rm.cells_not_sent > 1;
        let holds = one_of_nrm(scenario, abr, end, others, data.cells_sent + rm.cells_sent);
        must(shared || held || holds, || {
            format!("VC {vc}, {kind:?}: forward cells among {data:?}, {rm:?}: {end:?}")
        })?;
    }
    Ok(())
}

/// Rule 3a: of `sent` cells, `others` are not forward RM cells.
///
/// One in-rate cell of Nrm is a forward RM cell, except for those triggered by Trm, after Mrm = 2
/// cells each. One may be due, and another may be in the NIC.
fn one_of_nrm(
    scenario: &Scenario,
    abr: &AbrParams,
    end: &AbrTally,
    others: u64,
    sent: u64,
) -> bool {
    let by_time = scenario.duration.0 / abr.trm.0.max(1);
    let most = 2 + by_time.min(others / 2) + others / (abr.nrm - 1);
    let least = sent.saturating_sub(end.out_of_rate).div_ceil(abr.nrm);
    let in_rate = end.forward_sent.saturating_sub(end.out_of_rate);
    least <= end.forward_sent && in_rate <= most
}

/// Values of a class are sums over its VCs.
fn classes(result: &RunResult) -> Result<(), String> {
    for class in &result.classes {
        let of_class = || result.vcs.iter().filter(|vc| vc.class == class.class);
        let sent: u64 = of_class().map(|vc| vc.cells_sent).sum();
        let delivered: u64 = of_class().map(|vc| vc.cells_delivered).sum();
        let equal = (class.cells_sent, class.cells_delivered) == (sent, delivered);
        must(equal, || {
            format!("{class:?} is not the sum of its VCs: {sent}, {delivered}")
        })?;
        frame_loss(class.frame_loss_ratio, of_class())?;
    }
    frame_loss(result.totals.frame_loss_ratio, result.vcs.iter())
}

/// A frame loss ratio covers all frames of those VCs that carry frames.
fn frame_loss<'a>(
    ratio: Option<f64>,
    vcs: impl Iterator<Item = &'a VcResult> + Clone,
) -> Result<(), String> {
    let vcs = vcs.filter(|vc| vc.carries == Carries::Frames);
    let lost: u64 = vcs.clone().map(|vc| vc.frames_lost).sum();
    let delivered: u64 = vcs.clone().map(|vc| vc.frames_delivered).sum();
    let expected = lost as f64 / (lost + delivered).max(1) as f64;
    let is_right = match ratio {
        Some(ratio) => (ratio - expected).abs() <= NEARLY,
        None => vcs.count() == 0,
    };
    must(is_right, || {
        format!("frame loss {ratio:?}: {lost} lost, {delivered} delivered")
    })
}
