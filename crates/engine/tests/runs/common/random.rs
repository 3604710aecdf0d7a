//! Random small scenarios.
//!
//! Chains of up to three switches, or rings of three, with hosts on one switch or two, or two hosts
//! joined directly. Runs take some thousand cell times. Small windows and buffers make drops,
//! timeouts, ties and refused frames common. All times are near the cell time of one base rate.

use super::components::choice;
use super::edges::{LONGEST, MOST_CELLS, or_edge};
use super::ports::{class, queues, scheduler};
use super::{abr, build};
use cellyard_engine::format::{Clock, Format};
use cellyard_engine::registry::Family;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::pushes_out;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::fmt;

/// A scenario, and the replication as which it runs, if any.
#[derive(Clone)]
pub struct Case {
    pub scenario: Scenario,
    pub replication: Option<u64>,
}

impl Case {
    /// `scenario`, not replicated.
    pub fn of(scenario: Scenario) -> Case {
        Case {
            scenario,
            replication: None,
        }
    }

    /// Satisfies rules of the reader that a run does not need.
    ///
    /// The measuring time lies within the run, guarantees are above zero, and contracts exist where
    /// something may need them.
    pub fn readable(mut self) -> Case {
        const LEAST: Span = Span::from_nanoseconds(1);
        let net = &mut self.scenario;
        net.duration = net.duration.max(LEAST + LEAST);
        let (all, measure) = (net.duration.0, &mut net.measure);
        measure.warm_up = measure.warm_up.min(Span(all - LEAST.0));
        let rest = Span(all - measure.warm_up.0);
        measure.window = measure.window.map(|window| window.clamp(LEAST, rest));
        for vc in &mut net.vcs {
            vc.guarantee = vc.guarantee.filter(|rate| rate.0 > 0);
            let least = Some(BitRate(1));
            let mut contract = vc.contract.unwrap_or(Contract {
                pcr: None,
                cdvt: Span::ZERO,
                scr: None,
                mcr: least,
                mbs: None,
                mfs: None,
            });
            if contract.scr.is_none() && contract.mcr.is_none() {
                contract.mcr = least;
            }
            let frame = vc
                .traffic
                .frame(Format::AAL5)
                .map_or(1, |frame| u64::from(frame.size.cells()));
            contract.mbs = contract.mbs.map(|mbs| mbs.max(frame));
            contract.mfs = contract.mfs.map(|mfs| mfs.max(frame));
            vc.contract = Some(contract);
        }
        abr::heard(net);
        self
    }
}

/// Prints the scenario as JSON on one line, which a program can read back.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let json = serde_json::to_string(&self.scenario).map_err(|_| fmt::Error)?;
        write!(f, "replication {:?} of {json}", self.replication)
    }
}

/// Random cases whose run takes at most about `length` cell times of the base rate.
pub fn cases(length: u64) -> impl Strategy<Value = Case> {
    networks(length, 3, 6)
}

/// Random cases with at most `most` switches, and at most `hosts` hosts and VCs.
///
/// Some parts are boxed because their trees are large: moving them took a quarter of a test's
/// instructions.
pub fn networks(length: u64, most: usize, hosts: usize) -> impl Strategy<Value = Case> {
    let bases = prop_oneof![
        3 => Just(10_000_000u64),
        3 => Just(155_520_000),
        1 => Just(2_000_000),
        2 => Just(7_000_003),
        1 => 1_000_000u64..200_000_000,
    ];
    let place = (0..most, option::weighted(0.1, 0..most));
    let shape = (0..=most, any::<bool>(), vec(place, 2..=hosts));
    (bases, shape)
        .prop_flat_map(move |(base, (switches, ring, places))| {
            // At least two hosts. Directly joined hosts are exactly two.
            let places: Vec<[usize; 2]> = match switches {
                0 => vec![[0, 0], [0, 0]],
                n => places
                    .into_iter()
                    .map(|(p, q)| [p % n, q.unwrap_or(p) % n])
                    .collect(),
            };
            let net = Net {
                base,
                switches,
                ring: ring && switches == most,
                places,
                most_vcs: hosts,
            };
            let scenario = (
                settings(base, length),
                net.hosts(),
                net.switches(),
                net.links(),
                net.vcs(),
            );
            let quiet = option::weighted(0.25, (5u64..40, 5u64..50, option::of(0..hosts)));
            (scenario, quiet, option::weighted(0.4, 0u64..4))
        })
        .prop_map(
            |((settings, hosts, switches, links, vcs), quiet, replication)| {
                let mut scenario = one_front_per_class(Scenario {
                    hosts,
                    switches,
                    links,
                    vcs,
                    ..settings
                });
                if let Some(quiet) = quiet {
                    fall_quiet(&mut scenario, quiet);
                }
                Case {
                    scenario,
                    replication,
                }
            },
        )
}

/// Lets half of the VCs stop after a part of the run and the other half begin later, in percent of
/// the run. Between, nothing is sent or only one VC sends.
fn fall_quiet(net: &mut Scenario, (busy, quiet, alone): (u64, u64, Option<usize>)) {
    let percent = |n| Span(net.duration.0 / 100 * n);
    let (stop, again) = (percent(busy), percent(busy + quiet));
    let alone = alone.map(|vc| vc % net.vcs.len());
    for (i, vc) in net.vcs.iter_mut().enumerate() {
        let start = Span(vc.start.0 % stop.0.max(1));
        (vc.start, vc.stop) = match i % 2 {
            _ if alone == Some(i) => (start, None),
            0 => (start, Some(stop.max(start + Span(1)))),
            _ => (again + start, None),
        };
    }
}

/// Removes drops from the front where a scheduler serves the class per VC, since the class has no
/// single front.
fn one_front_per_class(mut net: Scenario) -> Scenario {
    let of_switches = net.switches.iter().map(|s| &s.scheduler);
    let of_links = net.links.iter().filter_map(|l| l.scheduler.as_deref());
    let schedulers: Vec<Scheduler> = of_switches.chain(of_links).cloned().collect();
    let is_split = |of: Class| {
        schedulers.iter().any(|scheduler| match scheduler {
            Scheduler::PerVc { class, .. } => *class == of,
            Scheduler::Program(program) => program.written.class.is_none_or(|class| class == of),
            _ => false,
        })
    };
    let of_switches = net.switches.iter_mut().flat_map(|s| &mut s.queues);
    let of_links = net.links.iter_mut().flat_map(|l| &mut l.queues);
    for queue in of_switches.chain(of_links) {
        if pushes_out(queue) && is_split(queue.class) {
            queue.drop = DropPolicy::TailDrop;
        }
    }
    net
}

/// Parts of a VC:
///
/// - host, distance to the other host, and the choices of a route;
/// - class, weight, and share of the guaranteed rates;
/// - start, time until the source stops, contract and traffic.
type VcParts = (
    (usize, usize, Choices),
    Class,
    u64,
    Option<u64>,
    (Span, Option<Span>),
    (Option<Contract>, Traffic, Option<AbrParams>),
);

/// The switch that each host uses, and whether the route goes downwards round a ring.
type Choices = (usize, usize, bool);

struct Net {
    base: u64,
    switches: usize,
    /// Whether the last switch is joined to the first.
    ring: bool,
    /// Per host, the switches it is joined to.
    places: Vec<[usize; 2]>,
    most_vcs: usize,
}

/// The cell time at `base`, rounded down.
fn cell(base: u64) -> u64 {
    Format::AAL5.cell_time(BitRate(base)).0
}

/// A random time: mostly whole cell times, sometimes a little off, or any number of ticks.
pub fn span(base: u64, most_cells: u64) -> impl Strategy<Value = Span> {
    let cell = cell(base);
    prop_oneof![
        6 => (0..=most_cells).prop_map(move |n| Span(n * cell)),
        1 => (0..=most_cells).prop_map(move |n| Span(n * cell + 10 * Clock::AAL5.ticks_per_nanosecond())),
        2 => (0..=most_cells * cell).prop_map(Span),
    ]
}

fn settings(base: u64, length: u64) -> impl Strategy<Value = Scenario> {
    let ties = build::tie_orders();
    let ensemble = (span(base, 30), any::<bool>(), any::<bool>(), any::<bool>());
    let measure = (span(base, length / 2), option::of(span(base, length)));
    (
        0u64..1000,
        (length / 10..=length),
        span(base, 1),
        ties,
        0u64..10,
        any::<bool>(),
        span(base, 60),
        ensemble,
        measure,
    )
        .prop_map(
            move |(seed, cells, more, tie_order, tie_offset, arrival_first, phase, e, m)| {
                Scenario {
                    seed,
                    tie_order,
                    tie_offset,
                    arrival_first,
                    timer_phase: phase,
                    timers: [Timers::Common, Timers::Own][seed as usize % 2],
                    ensemble: Ensemble {
                        start_jitter: e.0,
                        timer_phase: e.1,
                        tie_offset: e.2,
                        vbr_phase: e.3,
                    },
                    measure: Measure {
                        warm_up: m.0,
                        window: m.1,
                        max_goodput: None,
                    },
                    ..build::network(Span(cells * cell(base)) + more)
                }
            },
        )
}

fn rate(base: u64) -> impl Strategy<Value = BitRate> {
    prop_oneof![
        8 => Just(base),
        1 => Just(base / 2),
        1 => Just(base * 2),
        1 => Just(base / 3 + 1),
        1 => Just(base + 1),
        1 => Just(base + 3),
    ]
    .prop_map(BitRate)
}

fn processing(
    base: u64,
    per: impl Strategy<Value = ProcessingUnit>,
) -> impl Strategy<Value = Option<Processing>> {
    let kind = prop_oneof![Just(ProcessingKind::Latency), Just(ProcessingKind::Server)];
    let some =
        (kind, per, span(base, 3), 0u64..=4).prop_map(|(kind, per, mean, quarters)| Processing {
            kind,
            per,
            mean,
            spread: Span(mean.0 / 4 * quarters),
        });
    option::weighted(0.12, some)
}

fn per_frame() -> impl Strategy<Value = ProcessingUnit> {
    Just(ProcessingUnit::Frame)
}

fn per_unit() -> impl Strategy<Value = ProcessingUnit> {
    prop_oneof![Just(ProcessingUnit::Cell), Just(ProcessingUnit::Frame)]
}

pub fn unit() -> impl Strategy<Value = TurnUnit> {
    prop_oneof![Just(TurnUnit::Cell), Just(TurnUnit::Frame)]
}

/// A random contract with any part optional. Rates are multiples of 1/360 of the base rate, or
/// 1 bit/s. PCR and the lower rate are often equal.
fn contract(base: u64) -> impl Strategy<Value = Contract> {
    const HIGHEST: u64 = u64::MAX;
    let rates = (
        option::of(or_edge(1u64..=40, [0, HIGHEST])),
        option::weighted(0.8, or_edge(1u64..=20, [0, 20])),
        any::<bool>(),
    );
    let cells = (
        option::of(or_edge(1u64..60, [1, MOST_CELLS])),
        option::weighted(0.3, or_edge(1u64..30, [1, MOST_CELLS])),
    );
    let cdvt = or_edge(span(base, 20), [Span::ZERO, LONGEST]);
    (rates, cdvt, cells).prop_map(move |((pcr, rate, variable), cdvt, (mbs, mfs))| {
        let of = |share: u64| match share {
            HIGHEST => BitRate(1_000_000_000_000),
            _ => BitRate((base / 360 * share).max(1)),
        };
        let rate = rate.map(of);
        Contract {
            pcr: pcr.map(of).map(|pcr| pcr.max(rate.unwrap_or(pcr))),
            cdvt,
            scr: rate.filter(|_| variable),
            mcr: rate.filter(|_| !variable),
            mbs: mbs.filter(|_| rate.is_some()),
            mfs,
        }
    })
}

impl Net {
    fn hosts(&self) -> impl Strategy<Value = Vec<Host>> + use<> {
        let delays = vec(processing(self.base, per_frame()), self.places.len());
        delays.prop_map(|delays| {
            let named = |(i, processing)| Host {
                name: format!("h{i}"),
                processing,
            };
            delays.into_iter().enumerate().map(named).collect()
        })
    }

    fn switches(&self) -> impl Strategy<Value = Vec<Switch>> + use<> {
        let one = (
            processing(self.base, per_unit()).boxed(),
            scheduler().boxed(),
            queues(self.base).boxed(),
        );
        vec(one, self.switches).prop_map(|all| {
            let named = |(i, (processing, scheduler, queues))| Switch {
                name: format!("s{i}"),
                processing,
                pool: None,
                scheduler,
                queues,
            };
            all.into_iter().enumerate().map(named).collect()
        })
    }

    /// Both directions of every pair of neighbours, in random order.
    fn links(&self) -> impl Strategy<Value = Vec<Link>> + use<> {
        let mut pairs: Vec<(String, String)> = match self.switches {
            0 => vec![("h0".into(), "h1".into())],
            n => (1..n)
                .map(|s| (format!("s{}", s - 1), format!("s{s}")))
                .collect(),
        };
        if self.ring {
            pairs.push((format!("s{}", self.switches - 1), "s0".into()));
        }
        if self.switches > 0 {
            for (h, [first, second]) in self.places.iter().enumerate() {
                pairs.push((format!("h{h}"), format!("s{first}")));
                if second != first {
                    pairs.push((format!("h{h}"), format!("s{second}")));
                }
            }
        }
        let base = self.base;
        let common = span(base, 4);
        let ends: Vec<_> = pairs
            .into_iter()
            .flat_map(|(a, b)| [(a.clone(), b.clone()), (b, a)])
            .collect();
        let links = common.prop_flat_map(move |common| {
            let ends = ends.clone();
            ends.into_iter()
                .map(|(from, to)| link(base, from, to, common).boxed())
                .collect::<Vec<_>>()
        });
        links.prop_shuffle()
    }

    fn vcs(&self) -> impl Strategy<Value = Vec<Vc>> + use<> {
        let places = self.places.clone();
        let base = self.base;
        let (switches, ring) = (self.switches, self.ring);
        let n = places.len();
        let one = (
            (0..n, 1..n, (0..2usize, 0..2usize, any::<bool>())),
            class(),
            or_edge(1u64..6, [1, 1_000_000]),
            option::weighted(0.3, or_edge(0u64..20, [0, 20])),
            (span(base, 100), option::weighted(0.25, span(base, 1_500))),
            (
                option::weighted(0.8, contract(base)).boxed(),
                traffic(base).boxed(),
                option::weighted(0.8, abr::end_systems(base)).boxed(),
            ),
        );
        // Occasionally one host sends everything, mostly cells without congestion control. Its link
        // may be too slow for them.
        let crowd = option::weighted(0.15, (0..n, vec(cells(base, 10), self.most_vcs - 1)));
        let paces = prop::bool::weighted(0.35);
        (vec(one, 1..=self.most_vcs), crowd, paces).prop_map(move |(all, crowd, paces)| {
            let count = all.len() as u64;
            let named = |(i, parts): (usize, VcParts)| {
                let ((mut from, step, choices), mut class, weight, share, times, carried) = parts;
                let (contract, mut traffic, mut abr) = carried;
                let (start, lasts) = times;
                if let Some((host, sources)) = &crowd {
                    from = *host;
                    if i > 0 {
                        traffic = sources[i - 1].clone();
                    }
                }
                abr = abr.filter(|_| paces && traffic.frame(Format::AAL5).is_some());
                if abr.is_some() {
                    class = Class::Abr;
                }
                let to = (from + step) % n;
                let (a, b) = (places[from][choices.0], places[to][choices.1]);
                let down = if ring { choices.2 } else { b < a };
                let n = switches.max(1);
                let next = |s: &usize| if down { (s + n - 1) % n } else { (s + 1) % n };
                let route = std::iter::successors(Some(a), |s| (*s != b).then(|| next(s)))
                    .take(switches)
                    .map(|s| format!("s{s}"))
                    .collect();
                Vc {
                    name: format!("v{i}"),
                    from: format!("h{from}"),
                    to: format!("h{to}"),
                    route,
                    class,
                    weight,
                    // Guarantees sum to at most a third of the base rate, the lowest rate of a
                    // link.
                    guarantee: share.map(|s| BitRate((base / 60 * s / count).max(1))),
                    start,
                    stop: lasts.map(|lasts| start + lasts + Span(1)),
                    contract,
                    abr,
                    shape: None,
                    traffic,
                }
            };
            all.into_iter().enumerate().map(named).collect()
        })
    }
}

fn link(base: u64, from: String, to: String, common: Span) -> impl Strategy<Value = Link> {
    let delay = prop_oneof![3 => Just(common), 1 => span(base, 30)];
    let losses = prop_oneof![
        20 => Just((vec![], 0)),
        1 => vec(0u64..40, 1..4).prop_map(|frames| (frames, 0)),
        1 => or_edge(1u64..30, [1, 100]).prop_map(|percent| (vec![], percent)),
    ];
    let own = (
        option::weighted(0.15, scheduler()).boxed(),
        prop_oneof![5 => Just(vec![]).boxed(), 1 => queues(base).boxed()],
    );
    (rate(base), delay, losses, own).prop_map(move |(rate, delay, losses, own)| {
        // Only switches have queues and schedulers.
        let (scheduler, queues) = match from.starts_with('s') {
            true => own,
            false => (None, Vec::new()),
        };
        Link {
            lose_frames: losses.0,
            lose_probability: Ratio::new(losses.1, 100),
            scheduler: scheduler.map(Box::new),
            queues,
            ..build::link(&from, &to, rate, delay)
        }
    })
}

fn traffic(base: u64) -> impl Strategy<Value = Traffic> {
    prop_oneof![
        8 => tcp(base).prop_map(|p| Traffic::Tcp(Box::new(p))).boxed(),
        4 => cells(base, 1).boxed(),
        2 => udp(base).boxed(),
    ]
}

/// Random UDP at most at the rate of the slowest link, continuous or in bursts.
fn udp(base: u64) -> impl Strategy<Value = Traffic> {
    let bursts = option::of((span(base, 300), span(base, 300)));
    (1u64..1_500, 1u64..=20, bursts).prop_map(move |(datagram_size, twentieths, bursts)| {
        let mut udp = UdpParams {
            datagram_size,
            rate: BitRate((base / 60 * twentieths).max(1)),
            on: None,
            off: Span::ZERO,
        };
        if let Some((on, off)) = bursts {
            udp.on = Some(on + Span(1));
            udp.off =
                off + Format::AAL5.cell_time(udp.rate) * u64::from(udp.frame(Format::AAL5).cells());
        }
        Traffic::Udp(udp)
    })
}

/// Random cell sources with at least `least` twentieths of the slowest link's rate.
fn cells(base: u64, least: u64) -> impl Strategy<Value = Traffic> {
    // At most the slowest link's rate, a third of the base rate.
    let part = move |twentieths: u64| BitRate((base / 60 * twentieths).max(1));
    prop_oneof![
        1 => (least..=20).prop_map(move |n| Traffic::Cbr { rate: part(n) }),
        1 => (least..=20).prop_map(move |n| Traffic::Poisson { rate: part(n) }),
        2 => (least..=20, span(base, 300), span(base, 300)).prop_map(move |(n, on, off)| {
            let cell = Span(cell(base));
            Traffic::Vbr { rate: part(n), on: on + cell, off: off + cell }
        }),
    ]
}

fn tcp(base: u64) -> impl Strategy<Value = TcpParams> {
    let recovery = choice(Family::Traffic, "tcp", "recovery");
    let mss = proptest::sample::select(vec![512u64, 40, 41, 100, 300, 1000]);
    let cell = cell(base);
    let tick = prop_oneof![
        Just(5 * cell),
        Just(50 * cell + 7),
        Just(200 * cell),
        (cell..300 * cell)
    ];
    let timers = (tick, 1u64..4, 0u64..4, 1u64..60);
    let options = (
        prop_oneof![
            4 => Just(Estimator::Bsd),
            1 => Just(Estimator::BsdLite2),
            1 => Just(Estimator::Rfc6298)
        ],
        option::weighted(0.3, (1u64..100).prop_map(move |n| Span(n * cell))),
        prop_oneof![3 => Just(3u32), 1 => 1u32..6],
        1u32..=4,
        any::<bool>().prop_map(|b| {
            if b {
                SackPipe::Counter
            } else {
                SackPipe::Rfc6675
            }
        }),
        prop_oneof![
            3 => Just(RenoFastRetransmit::MissingSegment),
            1 => Just(RenoFastRetransmit::Nothing)
        ],
    );
    let sizes = (
        1u64..40,
        0u64..500,
        1u64..5,
        option::weighted(0.4, 0u64..40),
        option::weighted(
            0.5,
            (
                // Some files have only a few segments and repeat often.
                prop_oneof![1u64..60_000, 1u64..6_000],
                prop_oneof![Just(Some(1)), Just(None), (2u64..20).prop_map(Some)],
                prop_oneof![2 => Just(Span::ZERO), 1 => span(base, 400)],
                any::<bool>(),
            ),
        ),
    );
    // Handshake, phase of delayed ACKs, and Reno's window as in BSD.
    let bsd = (proptest::bool::weighted(0.3), any::<bool>(), any::<bool>());
    let both_ways = proptest::bool::weighted(0.2);
    (
        recovery,
        mss,
        timers,
        options,
        (sizes, bsd, both_ways),
        processing(base, per_frame()),
    )
        .prop_map(
            |(recovery, mss, timers, options, (sizes, bsd, both_ways), processing)| {
                let (tick, min, more, max) = timers;
                let (estimator, delayed_ack, dupack_threshold, sack_blocks, sack_pipe, reno) =
                    options;
                let (window, odd, initial_window, ssthresh, files) = sizes;
                let (handshake, fast_phase, lite2) = bsd;
                let own = TcpParams::default();
                let (file_size, files, file_gap, again) = match files {
                    Some((size, files, gap, again)) => (Some(size), files, gap, again),
                    None => (None, own.files, own.file_gap, false),
                };
                let timers = TcpParams {
                    granularity: Span(tick),
                    min_rto: Span(min * tick),
                    initial_rto: Span((min + more) * tick),
                    max_rto: Span((min + more + max) * tick),
                    estimator,
                    delayed_ack,
                    delayed_ack_phase: [TickPhase::Zero, TickPhase::Timer][usize::from(fast_phase)],
                    ..own
                };
                let tcp = TcpParams {
                    recovery,
                    mss,
                    rwnd: window * mss + odd % mss,
                    initial_window,
                    initial_ssthresh: ssthresh.map(|segments| (segments + 2) * mss),
                    dupack_threshold,
                    file_size,
                    files,
                    file_gap,
                    next_file: [NextFile::NewConnection, NextFile::SameConnection]
                        [usize::from(again)],
                    handshake,
                    both_ways,
                    reno_window: [RenoWindow::Rfc2001, RenoWindow::BsdLite2][usize::from(lite2)],
                    sack_blocks,
                    sack_pipe,
                    reno_fast_retransmit: reno,
                    processing,
                    ..timers
                };
                // A drawn value decides, so that no further draw changes all other networks.
                if odd >= 450 { with_profile(tcp) } else { tcp }
            },
        )
}

/// `tcp` with the values that the profile `linux` sets.
fn with_profile(tcp: TcpParams) -> TcpParams {
    TcpParams {
        mss: tcp.mss,
        initial_ssthresh: tcp.initial_ssthresh,
        file_size: tcp.file_size,
        files: tcp.files,
        file_gap: tcp.file_gap,
        next_file: tcp.next_file,
        both_ways: tcp.both_ways,
        processing: tcp.processing,
        ..TcpParams::of_profile(Profile::Linux, Format::AAL5)
    }
}
