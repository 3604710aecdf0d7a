//! What is timed, and how fast it must be.

use crate::networks::{
    Dumbbell, Gfr, MIXED_RATES, Place, Scheduler, TWO_HOPS, abr, ethernet, gfr_chain, gfr_peers,
    gfr_udp, read, red,
};
use cellyard_engine::results::RunResult;
use cellyard_engine::scenario::Scenario;
use cellyard_engine::{Kernel, Options, run};
use std::sync::atomic::AtomicBool;

/// Scenarios whose bottleneck cells per CPU second count together.
pub struct Case {
    /// Name on the command line and in the table.
    pub name: &'static str,
    /// Least speed, million bottleneck cells per CPU second.
    pub goal: f64,
    /// Speed aimed at.
    pub aim: Option<f64>,
    scenarios: fn() -> Vec<Scenario>,
}

impl Case {
    /// The scenarios of the case.
    pub fn scenarios(&self) -> Vec<Scenario> {
        (self.scenarios)()
    }
}

/// Runs `scenario`; its result.
pub fn result_of(scenario: &Scenario, kernel: Kernel) -> RunResult {
    let options = Options {
        kernel,
        ..Options::default()
    };
    let never = AtomicBool::new(false);
    run(scenario, None, &options, &never).expect("a checked scenario runs")
}

/// Runs `scenario`; bottleneck cells.
pub fn bottleneck_cells(scenario: &Scenario) -> u64 {
    result_of(scenario, Kernel::Auto).totals.bottleneck_cells
}

/// The cases, in the order of the table.
pub const CASES: [Case; 32] = [
    case("lan-2", 60.0, Some(150.0), || loss_free(2)),
    case("lan-5", 112.0, Some(150.0), || loss_free(5)),
    case("lan-15", 60.0, Some(150.0), || loss_free(15)),
    case("lan-100", 60.0, Some(150.0), || loss_free(100)),
    case("newreno-lan-5", 77.0, Some(100.0), || {
        new_reno(Place::Lan, 5)
    }),
    case("newreno-lan-15", 77.0, Some(100.0), || {
        new_reno(Place::Lan, 15)
    }),
    case("newreno-wan-5", 77.0, Some(100.0), || {
        new_reno(Place::Wan, 5)
    }),
    case("newreno-wan-15", 77.0, Some(100.0), || {
        new_reno(Place::Wan, 15)
    }),
    case("tables-2-3", 40.0, Some(80.0), || {
        scenarios(tables_2_3([Place::Lan, Place::Wan]))
    }),
    case("tables-2-3-lan", 40.0, Some(80.0), || {
        scenarios(tables_2_3([Place::Lan]))
    }),
    case("two-hops", 66.7, Some(83.3), || vec![read(TWO_HOPS)]),
    case("mixed-rates", 30.0, None, || vec![read(MIXED_RATES)]),
    case("vbr-priority-lan", 30.0, Some(60.0), || {
        vbr(Place::Lan, Scheduler::StrictPriority)
    }),
    case("vbr-priority-wan", 30.0, Some(60.0), || {
        vbr(Place::Wan, Scheduler::StrictPriority)
    }),
    case("vbr-guaranteed-lan", 30.0, Some(60.0), || {
        vbr(Place::Lan, Scheduler::GuaranteedRate(0.1))
    }),
    case("vbr-guaranteed-wan", 30.0, Some(60.0), || {
        vbr(Place::Wan, Scheduler::GuaranteedRate(0.1))
    }),
    case("satellite", 50.0, None, satellite),
    // 10 s of 10 million bottleneck cells in less than a CPU second.
    case("gfr-chain", 12.0, None, || vec![gfr_chain(Gfr::SchemeTwo)]),
    case("gfr-peers", 12.0, None, || vec![gfr_peers(Gfr::SchemeTwo)]),
    // Five UDPs at the rate of the link each: most cells are lost.
    case("gfr-udp", 45.5, Some(58.8), || {
        vec![gfr_udp(Gfr::SchemeTwo)]
    }),
    // A queue for each VC, in turns of one cell.
    case("gfr-weighted", 37.0, Some(55.6), || {
        vec![gfr_chain(Gfr::Weighted), gfr_peers(Gfr::Weighted)]
    }),
    case("abr-lan-15", 22.2, Some(35.7), || {
        vec![abr(15, "5 us", false)]
    }),
    case("abr-wan-15", 28.6, Some(40.0), || {
        vec![abr(15, "5 ms", false)]
    }),
    case("abr-vbr-200", 14.3, Some(20.0), || {
        vec![abr(200, "5 ms", true)]
    }),
    case("abr-lan-300", 8.3, Some(12.5), || {
        vec![lasting(abr(300, "5 us", false), 1_500)]
    }),
    case("abr-wan-300", 11.1, Some(16.7), || {
        vec![lasting(abr(300, "5 ms", false), 1_500)]
    }),
    // RED looks at each cell.
    case("red-lan", 90.9, Some(111.0), || vec![red(false)]),
    case("red-access", 71.4, Some(90.9), || vec![red(true)]),
    // Packets. The last in real time: 100 Gb/s are 8.13 million packets of 1538 bytes a second.
    case("ethernet-15", 9.0, None, || vec![ethernet(15, 10, false)]),
    case("ethernet-lengths", 5.0, None, || {
        vec![ethernet(15, 10, true)]
    }),
    case("ethernet-64", 8.13, None, || vec![ethernet(64, 100, false)]),
    case("leaf-spine", 5.0, None, || {
        let example = include_str!("../../../../examples/leaf-spine.toml");
        vec![lasting(read(example), 500)]
    }),
];

const fn case(
    name: &'static str,
    goal: f64,
    aim: Option<f64>,
    scenarios: fn() -> Vec<Scenario>,
) -> Case {
    Case {
        name,
        goal,
        aim,
        scenarios,
    }
}

/// `scenario` with another duration.
fn lasting(mut scenario: Scenario, milliseconds: u64) -> Scenario {
    scenario.duration = scenario.format.clock.milliseconds(milliseconds);
    scenario
}

fn scenarios(rows: Vec<Dumbbell>) -> Vec<Scenario> {
    rows.iter().map(Dumbbell::scenario).collect()
}

/// Unlimited buffers. With a single source nothing would queue.
fn loss_free(sources: usize) -> Vec<Scenario> {
    vec![Dumbbell::vanilla(Place::Lan, sources, None, "tail-drop").scenario()]
}

/// NewReno and EPD before the smallest buffer of `ubr-plus`.
fn new_reno(place: Place, sources: usize) -> Vec<Scenario> {
    let [buffer, ..] = ubr_plus_buffers(place);
    scenarios(vec![Dumbbell {
        recovery: "new-reno",
        ..Dumbbell::vanilla(place, sources, Some(buffer), "epd")
    }])
}

/// Table 1 of `ubr-plus`: unlimited buffers.
fn table_1() -> Vec<Dumbbell> {
    let mut rows = Vec::new();
    for place in [Place::Lan, Place::Wan] {
        for sources in [5, 15] {
            rows.push(Dumbbell::vanilla(place, sources, None, "tail-drop"));
        }
    }
    rows
}

/// Tables 2 and 3 of `ubr-plus`: efficiency and fairness of four policies.
fn tables_2_3(places: impl IntoIterator<Item = Place>) -> Vec<Dumbbell> {
    let mut rows = Vec::new();
    for place in places {
        for sources in [5, 15] {
            for buffer in ubr_plus_buffers(place) {
                for drop in ["tail-drop", "epd", "selective-drop", "fba"] {
                    rows.push(Dumbbell::vanilla(place, sources, Some(buffer), drop));
                }
            }
        }
    }
    rows
}

/// Table 4 of `ubr-plus`: Selective Drop with varied Z.
fn table_4() -> Vec<Dumbbell> {
    let mut rows = Vec::new();
    for place in [Place::Lan, Place::Wan] {
        for sources in [5, 15] {
            for (i, buffer) in ubr_plus_buffers(place).into_iter().enumerate() {
                let zs: &[f64] = match (place, sources, i) {
                    (Place::Lan, 5, 0) => &[2.0, 1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.5, 0.2],
                    (Place::Wan, 5, 0) => &[2.0, 1.0, 0.9, 0.8, 0.5],
                    _ => &[1.0, 0.9, 0.8],
                };
                rows.extend(zs.iter().map(|&z| Dumbbell {
                    z: Some(z),
                    ..Dumbbell::vanilla(place, sources, Some(buffer), "selective-drop")
                }));
            }
        }
    }
    rows
}

fn ubr_plus_buffers(place: Place) -> [u64; 3] {
    match place {
        Place::Lan => [1_000, 2_000, 3_000],
        _ => [12_000, 24_000, 36_000],
    }
}

fn guaranteed_rate_buffers(place: Place) -> [u64; 2] {
    match place {
        Place::Lan => [1_000, 3_000],
        Place::Wan => [12_000, 36_000],
        Place::Satellite => [200_000, 600_000],
    }
}

/// Rows of `guaranteed-rate` that between them have every recovery, policy, buffer and number of sources.
fn vbr(place: Place, scheduler: Scheduler) -> Vec<Scenario> {
    let [small, large] = guaranteed_rate_buffers(place);
    let rows = [
        (5, small, "sack", "tail-drop"),
        (15, large, "sack", "epd"),
        (5, large, "reno", "selective-drop"),
        (15, small, "reno", "tail-drop"),
        (5, small, "vanilla", "epd"),
        (15, large, "vanilla", "selective-drop"),
    ];
    let row = |(sources, buffer, recovery, drop)| Dumbbell {
        recovery,
        vbr_ms: Some(300),
        scheduler,
        ..Dumbbell::vanilla(place, sources, Some(buffer), drop)
    };
    rows.map(|r| row(r).scenario()).into()
}

/// A sixth of the satellite rows of `guaranteed-rate`: every recovery, policy, buffer and guarantee.
fn satellite() -> Vec<Scenario> {
    let rows = satellite_rows();
    let chosen = [0, 4, 8, 12, 16, 20, 27, 31, 53];
    chosen.map(|i| rows[i].scenario()).into()
}

/// Tables 7 to 9 of `guaranteed-rate`.
fn satellite_rows() -> Vec<Dumbbell> {
    factorial(Place::Satellite, &[5])
}

/// The factorial of recoveries, guarantees and policies of `guaranteed-rate`.
fn factorial(place: Place, sources: &[usize]) -> Vec<Dumbbell> {
    let mut rows = Vec::new();
    for &sources in sources {
        for buffer in guaranteed_rate_buffers(place) {
            for recovery in ["sack", "reno", "vanilla"] {
                for scheduler in [
                    Scheduler::GuaranteedRate(0.5),
                    Scheduler::GuaranteedRate(0.1),
                    Scheduler::StrictPriority,
                ] {
                    for drop in ["tail-drop", "epd", "selective-drop"] {
                        rows.push(Dumbbell {
                            recovery,
                            vbr_ms: Some(300),
                            scheduler,
                            ..Dumbbell::vanilla(place, sources, Some(buffer), drop)
                        });
                    }
                }
            }
        }
    }
    rows
}

/// Tables 1 and 2 of `guaranteed-rate`: VBR periods under strict priority.
fn vbr_periods() -> Vec<Dumbbell> {
    let mut rows = Vec::new();
    for place in [Place::Lan, Place::Wan] {
        for ms in [300, 100, 50] {
            for buffer in guaranteed_rate_buffers(place) {
                for drop in ["tail-drop", "epd", "selective-drop"] {
                    rows.push(Dumbbell {
                        recovery: "sack",
                        vbr_ms: Some(ms),
                        ..Dumbbell::vanilla(place, 5, Some(buffer), drop)
                    });
                }
            }
        }
    }
    rows
}

/// All runs of a study on two threads.
pub struct Pass {
    /// Name on the command line and in the table.
    pub name: &'static str,
    /// Longest wall-clock time, seconds.
    pub goal: f64,
    /// Time aimed at.
    pub aim: Option<f64>,
    rows: fn() -> Vec<Dumbbell>,
}

impl Pass {
    /// The scenarios of the case.
    pub fn scenarios(&self) -> Vec<Scenario> {
        scenarios((self.rows)())
    }
}

/// The passes, in the order of the table.
pub const PASSES: [Pass; 2] = [
    Pass {
        name: "pass-ubr-plus",
        goal: 10.0,
        aim: None,
        rows: || [table_1(), tables_2_3([Place::Lan, Place::Wan]), table_4()].concat(),
    },
    Pass {
        name: "pass-guaranteed-rate",
        goal: 60.0,
        aim: Some(30.0),
        rows: || {
            [
                vbr_periods(),
                factorial(Place::Lan, &[5, 15]),
                factorial(Place::Wan, &[5, 15]),
                satellite_rows(),
            ]
            .concat()
        },
    },
];

/// The runs that need the most memory, by name; goal: 200 MB.
pub fn memory_case(name: &str) -> Option<Scenario> {
    match name {
        "memory-wan-15" => Some(Dumbbell::vanilla(Place::Wan, 15, None, "tail-drop").scenario()),
        "memory-satellite" => satellite_rows().last().map(Dumbbell::scenario),
        _ => None,
    }
}

/// Names of the memory cases.
pub const MEMORY_CASES: [&str; 2] = ["memory-wan-15", "memory-satellite"];
/// Most memory of any run, MB.
pub const MEMORY_GOAL_MB: f64 = 200.0;
