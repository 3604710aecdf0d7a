//! Random scenarios at the edges of what the reader accepts.
//!
//! They have the shapes of `random`, with rates from 1 kb/s to 1 Tb/s and segments of 1 to 65 487
//! bytes. Windows reach 1 GiB, delays 1000 s, and timers begin at 1 us. A run lasts as long as its
//! cost allows.

use super::changes::sometimes_slower;
use super::components::{Scale, redraw};
use super::draws::Draws;
use super::edges::{LONGEST, MOST_CELLS as MOST_WAITING, MOST_TBE};
use super::pools::pooled;
use super::random::Case;
use cellyard_engine::format::{Clock, Format};
use cellyard_engine::registry::Family;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{FlowKind, Topology};
use cellyard_engine::units::{BitRate, Span};

const SECOND: u64 = Clock::AAL5.ticks_per_second;
const MICROSECOND: u64 = SECOND / 1_000_000;
const MOST_RATE: u64 = 1_000_000_000_000;
const MOST_DELAY: u64 = 1_000 * SECOND;
const MOST_WINDOW: u64 = 1 << 30;
const MOST_MSS: u64 = 65_487;
const MOST_FRTT: u64 = 16_700 * (SECOND / 1_000);

/// Bound on the cell transmissions of a run. Most runs stay far below it.
const MOST_CELLS: f64 = 60_000.0;
/// Bound on the cells that initial windows and timeouts can put into the queue of a host's link.
const MOST_AT_ONCE: f64 = 20_000.0;

/// Changes values everywhere in `case`, but keeps names, routes, policies and schedulers.
pub fn hostile(case: Case, draws: &mut Draws) -> Case {
    let mut net = case.scenario;
    let base = draws.magnitude(1_000, MOST_RATE);
    let cell = Format::AAL5.cell_time(BitRate(base)).0;
    for link in &mut net.links {
        let rate = if draws.chance(80) {
            base
        } else {
            draws.magnitude(1_000, MOST_RATE)
        };
        link.rate = BitRate(rate);
        link.delay = rarely(90, draws, cell * 30, MOST_DELAY);
        queues(&mut link.queues, draws);
    }
    for switch in &mut net.switches {
        processing(&mut switch.processing, draws);
        queues(&mut switch.queues, draws);
    }
    for host in &mut net.hosts {
        processing(&mut host.processing, draws);
    }
    let wish = Span(draws.magnitude(cell * 1_000, 20_000 * SECOND));
    for vc in 0..net.vcs.len() {
        let line = first_link(&net, vc);
        let slowest = net.links.iter().map(|link| link.rate.0).min().unwrap_or(1);
        let count = net.vcs.len() as u64;
        let vc = &mut net.vcs[vc];
        // A port must have a common multiple of its weights: at most 2^15 times that of 1 to 30.
        vc.weight = draws.magnitude(1, 30) << draws.below(16);
        vc.guarantee = vc
            .guarantee
            .map(|_| BitRate(draws.magnitude(1, slowest / count + 1) - 1));
        traffic(&mut vc.traffic, line, draws);
        let share = (slowest / count).max(1);
        contract(&mut vc.contract, share, draws);
        if let Some(abr) = &mut vc.abr {
            end_systems(abr, slowest, slowest / count, draws);
        }
    }
    net.duration = affordable(&net, wish);
    times(&mut net, draws);
    let case = Case {
        scenario: net,
        ..case
    };
    let case = sometimes_slower(case.readable(), draws);
    match draws.chance(15) {
        true => pooled(case, draws, None),
        false => case,
    }
}

/// A time up to `little` in `percent` of 100 cases, otherwise up to `most`.
fn rarely(percent: u64, draws: &mut Draws, little: u64, most: u64) -> Span {
    let most = if draws.chance(percent) { little } else { most };
    Span(draws.magnitude(1, most) - 1)
}

fn processing(processing: &mut Option<Processing>, draws: &mut Draws) {
    if let Some(processing) = processing {
        processing.mean = rarely(70, draws, 10 * MICROSECOND, SECOND);
        processing.spread = Span(draws.magnitude(1, processing.mean.0 + 1) - 1);
    }
}

fn queues(queues: &mut [ClassQueue], draws: &mut Draws) {
    for queue in queues {
        queue.buffer = match draws.below(4) {
            0 => None,
            1 | 2 => Some(Size::Cells(draws.magnitude(1, 200))),
            _ => Some(Size::Cells(draws.magnitude(1, MOST_WAITING))),
        };
        let scale = Scale {
            buffer: queue.buffer.map(Size::stated),
            cell: MICROSECOND,
            is_wide: true,
        };
        redraw(Family::Drop, &mut queue.drop, scale, draws);
        if let Some(feedback) = &mut queue.feedback {
            redraw(Family::Feedback, feedback, scale, draws);
        }
    }
}

/// Random end systems with PCR at most `line` and MCR at most `share`, in bits per second.
fn end_systems(abr: &mut AbrParams, line: u64, share: u64, draws: &mut Draws) {
    let pcr = draws.magnitude(1, line);
    let mcr = draws.magnitude(1, pcr.min(share).max(1));
    abr.pcr = abr.pcr.map(|_| BitRate(pcr));
    abr.mcr = abr.mcr.map(|_| BitRate(mcr));
    abr.icr = abr.icr.map(|_| BitRate(draws.magnitude(mcr, pcr)));
    abr.tbe = draws.magnitude(1, MOST_TBE);
    abr.crm = abr.crm.map(|_| draws.magnitude(1, MOST_TBE));
    abr.nrm = 1 << (1 + draws.below(8));
    let mut time = |most| Span(draws.magnitude(SECOND / 1_000_000_000, most));
    abr.frtt = abr.frtt.map(|_| time(MOST_FRTT));
    abr.trm = time(100 * SECOND);
    abr.adtf = time(LONGEST.0);
}

fn traffic(traffic: &mut Traffic, line: u64, draws: &mut Draws) {
    let mut part = |rate: &mut BitRate| *rate = BitRate(draws.magnitude(1, line));
    match traffic {
        Traffic::Cbr { rate } | Traffic::Poisson { rate } => part(rate),
        Traffic::Vbr { rate, on, off } => {
            part(rate);
            *on = Span(draws.magnitude(MICROSECOND, 1_000 * SECOND));
            *off =
                Span(draws.magnitude(MICROSECOND, 1_000 * SECOND)) + Format::AAL5.cell_time(*rate);
        }
        Traffic::Udp(udp) => {
            part(&mut udp.rate);
            udp.datagram_size = draws.magnitude(1, 65_499);
            let frame =
                Format::AAL5.cell_time(udp.rate) * u64::from(udp.frame(Format::AAL5).cells());
            udp.on = udp
                .on
                .map(|_| Span(draws.magnitude(MICROSECOND, 1_000 * SECOND)));
            udp.off = match udp.on {
                Some(_) => Span(draws.magnitude(MICROSECOND, 1_000 * SECOND)) + frame,
                None => Span::ZERO,
            };
        }
        Traffic::Tcp(tcp) => {
            let edges = [1, 2, 39, 40, 41, 48, 512, 9_140, MOST_MSS - 1, MOST_MSS];
            tcp.mss = if draws.chance(50) {
                draws.one_of(&edges)
            } else {
                draws.magnitude(1, MOST_MSS)
            };
            tcp.rwnd = draws.magnitude(tcp.mss, MOST_WINDOW);
            let segments = (MOST_AT_ONCE as u64 / cells(tcp)).max(1);
            tcp.initial_window = draws.magnitude(1, segments.min(1_000_000));
            tcp.initial_ssthresh = tcp
                .initial_ssthresh
                .map(|_| draws.magnitude(1, MOST_WINDOW));
            tcp.file_size = tcp
                .file_size
                .map(|_| draws.magnitude(1, 1_000_000_000_000_000));
            if tcp.file_size.is_some() {
                tcp.file_gap = Span(draws.magnitude(1, 100 * SECOND) - 1);
            }
            tcp.dupack_threshold = draws.magnitude(1, 1_000) as u32;
            let mut timer = || draws.magnitude(MICROSECOND, 100 * SECOND);
            let mut rtos = [timer(), timer(), timer()];
            rtos.sort_unstable();
            // A tick must not exceed the shortest RTO.
            tcp.granularity = Span(timer().min(rtos[0]));
            tcp.min_rto = Span(rtos[0]);
            tcp.initial_rto = Span(rtos[1]);
            tcp.max_rto = Span(rtos[2]);
            tcp.delayed_ack = tcp.delayed_ack.map(|_| Span(timer()));
            processing(&mut tcp.processing, draws);
        }
    }
}

/// Random contract: guaranteed rates up to `share`, all other rates above them.
fn contract(contract: &mut Option<Contract>, share: u64, draws: &mut Draws) {
    let Some(terms) = contract else { return };
    let mut promised = |rate: &mut Option<BitRate>| {
        *rate = rate.map(|_| BitRate(draws.magnitude(1, share)));
        rate.map_or(1, |rate| rate.0)
    };
    let least = promised(&mut terms.scr).max(promised(&mut terms.mcr));
    terms.pcr = terms
        .pcr
        .map(|_| BitRate(draws.magnitude(least, MOST_RATE)));
    terms.cdvt = rarely(70, draws, 100 * MICROSECOND, LONGEST.0 + 1);
    terms.mbs = terms.mbs.map(|_| draws.magnitude(1, MOST_WAITING));
    terms.mfs = terms.mfs.map(|_| draws.magnitude(1, MOST_WAITING));
}

/// Cells of a full segment.
fn cells(tcp: &TcpParams) -> u64 {
    let frame = Traffic::Tcp(Box::new(tcp.clone())).frame(Format::AAL5);
    frame.map_or(1, |frame| u64::from(frame.size.cells()))
}

/// Rate of the first link of a VC's data, bits per second.
fn first_link(net: &Scenario, vc: usize) -> u64 {
    let vc = &net.vcs[vc];
    let next = vc.route.first().unwrap_or(&vc.to);
    let link = net
        .links
        .iter()
        .find(|l| l.from == vc.from && l.to == *next);
    link.map_or(1_000, |link| link.rate.0)
}

/// The duration `wish`, reduced until the run is affordable.
fn affordable(net: &Scenario, wish: Span) -> Span {
    let topology = Topology::new(net).expect("the shape is right");
    let mut duration = wish;
    while duration.0 > 1 && !is_cheap(net, &topology, duration) {
        duration = Span(duration.0 / 2);
    }
    duration
}

fn is_cheap(net: &Scenario, topology: &Topology, duration: Span) -> bool {
    let seconds = duration.as_seconds(Clock::AAL5);
    let (mut transmissions, mut at_once) = (0.0, 0.0);
    for (i, vc) in net.vcs.iter().enumerate() {
        let paths =
            FlowKind::FRAMES.map(|kind| &topology.flows[topology.flow(i, kind).index()].path);
        let hops = paths.iter().map(|path| path.len()).sum::<usize>() as f64;
        let line = net.links[paths[0][0]].rate.0 as f64 * seconds / Format::AAL5.cell_bits as f64;
        let offered = match &vc.traffic {
            Traffic::Cbr { rate } | Traffic::Poisson { rate } | Traffic::Vbr { rate, .. } => {
                rate.0 as f64 * seconds / Format::AAL5.cell_bits as f64
            }
            Traffic::Udp(udp) => {
                let frame = f64::from(udp.frame(Format::AAL5).cells());
                at_once += frame;
                frame + udp.rate.0 as f64 * seconds / Format::AAL5.cell_bits as f64
            }
            Traffic::Tcp(tcp) => {
                let delays = paths
                    .iter()
                    .flat_map(|path| path.iter())
                    .map(|&l| net.links[l].delay.as_seconds(Clock::AAL5));
                let trips = seconds / delays.sum::<f64>().max(1e-12) + 2.0;
                let segment = cells(tcp) as f64;
                let window = (tcp.rwnd / tcp.mss) as f64 * segment;
                let timeouts = seconds
                    / tcp
                        .min_rto
                        .as_seconds(Clock::AAL5)
                        .max(tcp.granularity.as_seconds(Clock::AAL5));
                at_once += (timeouts + tcp.initial_window as f64) * segment;
                line.min(window * trips)
            }
        };
        transmissions += match &vc.abr {
            // With Nrm = 2, RM cells answer each other for ever, as fast as both end systems may
            // send.
            Some(abr) if abr.nrm == 2 => {
                let pcr = abr.pcr.map_or(line, |pcr| {
                    pcr.0 as f64 * seconds / Format::AAL5.cell_bits as f64
                });
                (2.0 * pcr.min(line) + 20.0 * seconds) * hops
            }
            // RM cells at most double the cells in each direction, plus the out-of-rate ones.
            Some(_) => (3.0 * offered + 20.0 * seconds) * hops,
            None => offered * hops,
        };
    }
    let queues = net.switches.iter().flat_map(|s| &s.queues);
    let all = queues.chain(net.links.iter().flat_map(|l| &l.queues));
    for interval in all.filter_map(|queue| queue.feedback?.interval()) {
        transmissions += seconds / interval.as_seconds(Clock::AAL5);
    }
    transmissions <= MOST_CELLS && at_once <= 4.0 * MOST_AT_ONCE
}

/// Random starts, stops, phases and measuring times, in the run or beyond it.
fn times(net: &mut Scenario, draws: &mut Draws) {
    let duration = net.duration.0;
    let mut within = |percent| match draws.chance(percent) {
        true => Span(draws.magnitude(1, duration) - 1),
        false => Span::ZERO,
    };
    net.timer_phase = within(50);
    net.ensemble.start_jitter = within(50);
    net.measure.warm_up = within(50);
    net.measure.window = net
        .measure
        .window
        .map(|_| Span(duration - net.measure.warm_up.0));
    for vc in &mut net.vcs {
        vc.start = within(30);
        vc.stop = vc.stop.map(|_| vc.start + within(100) + Span(1));
    }
}
