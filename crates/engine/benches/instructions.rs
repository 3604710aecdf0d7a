//! Short runs whose instructions `make instructions` counts. Without an argument, prints the names
//! of the cases. `--digest` also prints a hash of the whole result, to compare two engines.

#[path = "scenarios/networks.rs"]
#[allow(dead_code, reason = "other networks are for the bench `scenarios`")]
mod networks;

use cellyard_engine::scenario::{Scenario, read_toml};
use cellyard_engine::units::Span;
use cellyard_engine::{Options, run};
use networks::{
    Dumbbell, Gfr, Place, Scheduler, abr, ethernet, ethernet_with, gfr_chain, gfr_peers, read, red,
};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Scenario of a case, and the time to simulate.
struct Case {
    name: &'static str,
    milliseconds: u64,
    scenario: fn() -> Scenario,
}

/// Defines a case that simulates the example of the same name.
macro_rules! example {
    ($name:literal, $milliseconds:literal) => {
        Case {
            name: $name,
            milliseconds: $milliseconds,
            scenario: || {
                let text = include_str!(concat!("../../../examples/", $name, ".toml"));
                read_toml(text, $name, &[]).expect("an example is right")
            },
        }
    };
}

/// Cases that together exercise every fast path of ports.
const CASES: [Case; 32] = [
    example!("lan-5", 4_000),
    example!("zero-loss", 1_000),
    example!("two-hops", 1_000),
    example!("mixed-rates", 4_000),
    example!("satellite", 4_000),
    example!("vbr-guaranteed-rate", 1_000),
    example!("abr-erica", 400),
    example!("gfr-beside-udp", 400),
    example!("leaf-spine", 5),
    case("leaf-spine-pools", 5, || {
        let text = include_str!("../../../examples/leaf-spine.toml");
        let set = ["leaf", "spine"].map(|switch| {
            let path = |field: &str| format!("switch.{switch}.{field}");
            [
                (path("pool"), "{ buffer = \"6 MB\" }".to_string()),
                (path("ubr.alpha"), "1".to_string()),
            ]
        });
        read_toml(text, "leaf-spine", &set.concat()).expect("it is right")
    }),
    case("lan-100", 2_000, || {
        Dumbbell::vanilla(Place::Lan, 100, Some(1_000), "epd").scenario()
    }),
    case("vbr-priority-wan", 4_000, || {
        with_vbr(Place::Wan, Scheduler::StrictPriority)
    }),
    case("vbr-guaranteed-lan", 2_000, || {
        with_vbr(Place::Lan, Scheduler::GuaranteedRate(0.5))
    }),
    case("gfr-chain", 600, || gfr_chain(Gfr::SchemeTwo)),
    case("gfr-weighted", 500, || gfr_peers(Gfr::Weighted)),
    case("red-lan", 2_000, || red(false)),
    case("red-access", 3_000, || red(true)),
    case("packet-red", 1_000, || {
        let drop = "{ policy = \"packet-red\", min_th = \"100 cells\", max_th = \"800 cells\" }";
        lines(50, "{ kind = \"tcp\", rwnd = \"64 KiB\" }", "fifo", drop)
    }),
    case("front-lan", 500, || {
        Dumbbell::vanilla(Place::Lan, 15, Some(1_000), "drop-from-front").scenario()
    }),
    case("abr-lan-15", 500, || abr(15, "5 us", false)),
    case("abr-wan-300", 500, || abr(300, "5 ms", false)),
    case("abr-vbr-300", 200, || abr(300, "5 ms", true)),
    case("poisson-150", 500, || {
        let poisson = "{ kind = \"poisson\", rate = \"0.9 Mbps\" }";
        lines(150, poisson, "fifo", "\"epd\"")
    }),
    case("tcp-150", 2_000, || {
        lines(150, "{ kind = \"tcp\" }", "fifo", "\"epd\"")
    }),
    case("poisson-6000", 300, || {
        let poisson = "{ kind = \"poisson\", rate = \"0.026 Mbps\" }";
        lines(6_000, poisson, "fifo", "\"epd\"")
    }),
    case("tcp-1000", 200, || {
        lines(1_000, "{ kind = \"tcp\" }", "fifo", "\"epd\"")
    }),
    case("udp-2000", 5, || {
        lines(2_000, "{ kind = \"udp\" }", "fifo", "\"tail-drop\"")
    }),
    case("ethernet-15", 200, || ethernet(15, 10, false)),
    case("ethernet-lengths", 200, || ethernet(15, 10, true)),
    case("ethernet-bytes", 200, || {
        ethernet_with(15, 10, true, 1_518, "bytes")
    }),
    case("per-vc-5", 1_000, || {
        Dumbbell {
            scheduler: Scheduler::PerVc,
            ..Dumbbell::vanilla(Place::Lan, 5, None, "tail-drop")
        }
        .scenario()
    }),
    case("per-vc-150", 1_000, || {
        lines(150, "{ kind = \"tcp\" }", "per-vc", "\"epd\"")
    }),
];

const fn case(name: &'static str, milliseconds: u64, scenario: fn() -> Scenario) -> Case {
    Case {
        name,
        milliseconds,
        scenario,
    }
}

/// TCP connections that share the link with VBR of a higher class. VBR takes the whole link for 30
/// ms of every 60 ms.
fn with_vbr(place: Place, scheduler: Scheduler) -> Scenario {
    Dumbbell {
        recovery: "sack",
        vbr_ms: Some(30),
        scheduler,
        ..Dumbbell::vanilla(place, 5, Some(3_000), "selective-drop")
    }
    .scenario()
}

/// Hosts on 2 Mb/s lines that share a link of 155.52 Mb/s with the given scheduler and drop policy.
/// On that link, successive cells belong to different VCs.
fn lines(count: usize, traffic: &str, scheduler: &str, drop: &str) -> Scenario {
    read(&format!(
        r#"
name = "lines"
duration = "10 s"
host = [{{ name = "source", count = {count} }}, {{ name = "sink", count = {count} }}]
switch = [
    {{ name = "west", scheduler = "{scheduler}", ubr = {{ buffer = "2000 cells", drop = {drop} }} }},
    {{ name = "east" }},
]
link = [
    {{ from = "source", to = "west", rate = "2 Mbps", delay = "5 us" }},
    {{ from = "west", to = "east", rate = "155.52 Mbps", delay = "1 ms" }},
    {{ from = "east", to = "sink", rate = "2 Mbps", delay = "5 us" }},
]
vc = [{{ from = "source", to = "sink", traffic = {traffic} }}]
"#
    ))
}

fn main() -> ExitCode {
    let words = || std::env::args().skip(1);
    let shows_digest = words().any(|word| word == "--digest");
    let mut names = words().filter(|word| word != "--bench" && word != "--digest");
    let Some(name) = names.next() else {
        for case in &CASES {
            println!("{}", case.name);
        }
        return ExitCode::SUCCESS;
    };
    #[cfg(feature = "fast-paths")]
    if name == "--fast-paths" {
        return fast_paths::print();
    }
    let Some(case) = CASES.iter().find(|case| case.name == name) else {
        eprintln!("no case is called {name}");
        return ExitCode::from(2);
    };
    #[cfg(feature = "fast-paths")]
    names.for_each(|without| fast_paths::switch_off(&without));
    let mut scenario = (case.scenario)();
    scenario.duration = scenario.format.clock.milliseconds(case.milliseconds);
    scenario.measure.warm_up = Span::ZERO;
    let never = AtomicBool::new(false);
    // A limit far away, as commands have: what waits is counted.
    let options = Options {
        memory: Some(1 << 50),
        ..Options::default()
    };
    let result = run(&scenario, None, &options, &never).expect("the scenario runs");
    println!("{} cells", result.totals.cells);
    if shows_digest {
        let mut hasher = std::hash::DefaultHasher::new();
        let text = serde_json::to_string(&result).expect("a result is written");
        std::hash::Hash::hash(&text, &mut hasher);
        println!("digest {:x}", std::hash::Hasher::finish(&hasher));
    }
    #[cfg(feature = "fast-paths")]
    fast_paths::print_entered();
    ExitCode::SUCCESS
}

/// Support for `make ways`: lists the fast paths, reports which were entered, and runs a case
/// without some of them.
#[cfg(feature = "fast-paths")]
mod fast_paths {
    use cellyard_engine::testing::{FastPath, all_fast_paths};
    use std::process::ExitCode;

    /// Prints one line for each fast path: name and condition.
    pub fn print() -> ExitCode {
        for path in all_fast_paths() {
            println!("{}\t{}", path.name(), path.condition());
        }
        ExitCode::SUCCESS
    }

    /// Switches off the fast path called `name`.
    pub fn switch_off(name: &str) {
        let path: Option<&FastPath> = all_fast_paths().iter().find(|path| path.name() == name);
        path.expect("such a fast path exists").switch_off();
    }

    /// Prints the names of all fast paths that were entered, on one line.
    pub fn print_entered() {
        let entered = all_fast_paths().iter().filter(|path| path.entered() > 0);
        let names: Vec<_> = entered.map(|path| path.name()).collect();
        println!("{}", names.join(" "));
    }
}
