//! Speed relative to its goals: `make bench`, or `cargo bench --package cellyard-engine --bench
//! scenarios -- --help`.

mod cases;
mod measure;
mod networks;
mod parts;
mod ratios;
mod reference_loop;

use cases::{
    CASES, Case, MEMORY_CASES, MEMORY_GOAL_MB, PASSES, Pass, bottleneck_cells, memory_case,
    result_of,
};
use cellyard_engine::Kernel;
use cellyard_engine::scenario::Scenario;
use measure::{cpu_seconds, median, peak_memory_mb, timed};
use parts::PARTS;
use ratios::RATIOS;
use reference_loop::{MODES, UNIT};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const HELP: &str = "\
usage: cargo bench --package cellyard-engine --bench scenarios -- [--repetitions N] [--once] [--list] [NAME]...

Times the cases, ratios, parts and passes whose names begin with one of NAME, or all.
  --repetitions N   repetitions of cases, ratios and parts, of which the median counts (default 3)
  --once            run each once; print the number of cells and a hash of the results: for profilers
  --list            print the names

example: cargo bench --package cellyard-engine --bench scenarios -- --repetitions 5 lan vbr";

struct Arguments {
    repetitions: usize,
    once: bool,
    list: bool,
    names: Vec<String>,
}

impl Arguments {
    fn read() -> Result<Arguments, String> {
        let mut arguments = Arguments {
            repetitions: 3,
            once: false,
            list: false,
            names: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--bench" => {} // cargo adds it
                "--once" => arguments.once = true,
                "--list" => arguments.list = true,
                "--repetitions" => {
                    let number = words.next().and_then(|n| n.parse().ok());
                    arguments.repetitions = number
                        .filter(|&n| n > 0)
                        .ok_or("--repetitions needs a number of at least 1")?;
                }
                _ if word.starts_with('-') => return Err(HELP.into()),
                _ => arguments.names.push(word),
            }
        }
        let known = all_names();
        match arguments
            .names
            .iter()
            .find(|n| !known.iter().any(|k| k.starts_with(*n)))
        {
            Some(name) => Err(format!(
                "no case begins with {name}; there are {}",
                known.join(" ")
            )),
            None => Ok(arguments),
        }
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|n| name.starts_with(n))
    }
}

fn all_names() -> Vec<&'static str> {
    let mut names: Vec<_> = CASES.iter().map(|c| c.name).collect();
    names.extend(RATIOS.iter().flat_map(|r| r.names));
    names.extend(PARTS.iter().map(|p| p.name));
    names.extend(PASSES.iter().map(|p| p.name));
    names.extend(MEMORY_CASES);
    names
}

fn main() -> ExitCode {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    if arguments.list {
        println!("{}", all_names().join("\n"));
    } else if arguments.once {
        run_once(&arguments);
    } else {
        run_cases(&arguments);
        run_ratios(&arguments);
        run_parts(&arguments);
        run_passes(&arguments);
        run_memory(&arguments);
    }
    ExitCode::SUCCESS
}

/// Runs each wanted case once, without the reference loop.
fn run_once(arguments: &Arguments) {
    for case in CASES.iter().filter(|c| arguments.wants(c.name)) {
        print_once(case.name, &case.scenarios(), Kernel::Auto);
    }
    for ratio in &RATIOS {
        let both = ratio.names.iter().zip(ratio.scenarios());
        for (name, scenario) in both.filter(|(name, _)| arguments.wants(name)) {
            print_once(name, &[scenario], Kernel::Slotted);
        }
    }
    for part in PARTS.iter().filter(|p| arguments.wants(p.name)) {
        part.ns();
        println!("{} {} operations", part.name, part.operations);
    }
    for name in MEMORY_CASES.into_iter().filter(|n| arguments.wants(n)) {
        let cells = memory_case(name).map_or(0, |s| bottleneck_cells(&s));
        println!("{name} {cells} cells");
        if let Some(peak) = peak_memory_mb() {
            println!("{peak:.1}");
        }
    }
}

/// Prints the bottleneck cells of `scenarios`, and a number that differs where their results do.
fn print_once(name: &str, scenarios: &[Scenario], kernel: Kernel) {
    let (mut cells, mut hasher) = (0, DefaultHasher::new());
    for scenario in scenarios {
        let result = result_of(scenario, kernel);
        cells += result.totals.bottleneck_cells;
        let text = serde_json::to_string(&result).expect("a result can be written");
        text.hash(&mut hasher);
    }
    println!("{name} {cells} cells, results {:016x}", hasher.finish());
}

fn mark(passes: bool) -> &'static str {
    if passes { "yes" } else { "NO" }
}

fn or_none(value: Option<f64>) -> String {
    value.map_or("-".into(), |v| format!("{v}"))
}

/// What one case measured, per repetition.
#[derive(Default)]
struct Times {
    cells: u64,
    ns_per_cell: Vec<f64>,
    relative_times: Vec<f64>,
}

impl Times {
    fn measure(&mut self, scenarios: &[Scenario]) {
        let before = UNIT.ns_per_cell();
        let (cells, seconds) = timed(|| scenarios.iter().map(bottleneck_cells).sum::<u64>());
        let after = UNIT.ns_per_cell();
        let ns = seconds * 1e9 / cells as f64;
        self.cells = cells;
        self.ns_per_cell.push(ns);
        self.relative_times.push(ns / ((before + after) / 2.0));
    }

    fn print(self, case: &Case) {
        let ns = median(self.ns_per_cell);
        let speed = 1e3 / ns;
        let relative_time = median(self.relative_times);
        println!(
            "{:<20} {:>7.1} {:>9.1} {:>8.2} {:>6} {:>5}  {:<5} {:>9.2}",
            case.name,
            self.cells as f64 / 1e6,
            speed,
            ns,
            case.goal,
            or_none(case.aim),
            mark(speed >= case.goal),
            relative_time,
        );
    }
}

fn run_cases(arguments: &Arguments) {
    let cases: Vec<_> = CASES.iter().filter(|c| arguments.wants(c.name)).collect();
    if cases.is_empty() {
        return;
    }
    let scenarios: Vec<_> = cases.iter().map(|c| c.scenarios()).collect();
    let mut times: Vec<Times> = cases.iter().map(|_| Times::default()).collect();
    let mut modes = MODES.map(|_| Vec::new());
    for repetition in 1..=arguments.repetitions {
        eprintln!("repetition {repetition} of {}", arguments.repetitions);
        for (mode, ns) in MODES.iter().zip(&mut modes) {
            ns.push(mode.ns_per_cell());
        }
        for (times, scenarios) in times.iter_mut().zip(&scenarios) {
            times.measure(scenarios);
        }
    }
    println!(
        "Yardstick: one bare FIFO port, median of {} repetitions",
        arguments.repetitions
    );
    println!("{:<20} {:>9} {:>8}", "mode", "Mcells/s", "ns/cell");
    for (mode, ns) in MODES.iter().zip(modes) {
        let ns = median(ns);
        println!("{:<20} {:>9.1} {:>8.2}", mode.name, 1e3 / ns, ns);
    }
    println!(
        "\nBottleneck cells per CPU second of one thread, median of {} repetitions",
        arguments.repetitions
    );
    println!(
        "{:<20} {:>7} {:>9} {:>8} {:>6} {:>5}  {:<5} {:>9}",
        "case", "Mcells", "Mcells/s", "ns/cell", "goal", "aim", "meets", "reference"
    );
    for (times, case) in times.into_iter().zip(cases) {
        times.print(case);
    }
    println!(
        "goal, aim: Mcells/s; reference: ns per cell over that of the reference loop in the mode \"{}\" just before and after",
        UNIT.name
    );
}

/// Each case and its partner in turn.
fn run_ratios(arguments: &Arguments) {
    let wanted = |r: &&ratios::Ratio| r.names.iter().any(|n| arguments.wants(n));
    let wanted: Vec<_> = RATIOS.iter().filter(wanted).collect();
    if wanted.is_empty() {
        return;
    }
    println!(
        "\n{:<20} {:>8} {:<20} {:>8} {:>7} {:>6}  meets (ns per cell under the slotted kernel)",
        "case", "ns", "partner", "ns", "ratio", "goal"
    );
    for ratio in wanted {
        let scenarios = ratio.scenarios();
        let (mut times, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
        for _ in 0..arguments.repetitions {
            let ns = [0, 1].map(|i| ratios::ns_per_cell(&scenarios[i]));
            (0..2).for_each(|i| times[i].push(ns[i]));
            ratios.push(ns[0] / ns[1]);
        }
        let ([name, partner], [ns, partner_ns]) = (ratio.names, times.map(median));
        let found = median(ratios);
        println!(
            "{name:<20} {ns:>8.2} {partner:<20} {partner_ns:>8.2} {found:>7.2} {:>6}  {}",
            ratio.goal,
            mark(found <= ratio.goal)
        );
    }
}

fn run_parts(arguments: &Arguments) {
    let parts: Vec<_> = PARTS.iter().filter(|p| arguments.wants(p.name)).collect();
    if parts.is_empty() {
        return;
    }
    println!(
        "\n{:<20} {:>11} {:>9}  {:<5} operation",
        "part", "ns", "goal", "meets"
    );
    for part in parts {
        let ns = median((0..arguments.repetitions).map(|_| part.ns()).collect());
        println!(
            "{:<20} {:>11.1} {:>9}  {:<5} {}",
            part.name,
            ns,
            part.goal,
            mark(ns <= part.goal),
            part.operation
        );
    }
}

/// All runs of `pass` on two threads: their number and cells, wall-clock and CPU seconds.
fn two_threads(pass: &Pass) -> (usize, u64, f64, f64) {
    let scenarios = pass.scenarios();
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let work = || {
        let mut cells = 0;
        while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
            cells += bottleneck_cells(scenario);
        }
        (cells, cpu_seconds())
    };
    let done = std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.map(|t| t.join().expect("no run panics"))
    });
    let wall = start.elapsed().as_secs_f64();
    let [(cells, cpu), (more_cells, more_cpu)] = done;
    (scenarios.len(), cells + more_cells, wall, cpu + more_cpu)
}

fn run_passes(arguments: &Arguments) {
    let passes: Vec<_> = PASSES.iter().filter(|p| arguments.wants(p.name)).collect();
    if passes.is_empty() {
        return;
    }
    println!(
        "\n{:<20} {:>5} {:>7} {:>7} {:>7} {:>5} {:>5}  meets (goal and aim: wall-clock seconds on two threads)",
        "pass", "runs", "Mcells", "CPU s", "wall s", "goal", "aim"
    );
    for pass in passes {
        let (runs, cells, seconds, cpu) = two_threads(pass);
        println!(
            "{:<20} {runs:>5} {:>7.0} {cpu:>7.1} {seconds:>7.1} {:>5} {:>5}  {}",
            pass.name,
            cells as f64 / 1e6,
            pass.goal,
            or_none(pass.aim),
            mark(seconds <= pass.goal)
        );
    }
}

/// Each case in a separate process, which reports its peak.
fn run_memory(arguments: &Arguments) {
    let names: Vec<_> = MEMORY_CASES
        .into_iter()
        .filter(|n| arguments.wants(n))
        .collect();
    if names.is_empty() {
        return;
    }
    println!("\n{:<20} {:>7} {:>5}  meets", "peak memory", "MB", "goal");
    for name in names {
        let peak: Option<f64> = std::env::current_exe()
            .and_then(|exe| Command::new(exe).args(["--once", name]).output())
            .ok()
            .and_then(|out| String::from_utf8(out.stdout).ok())
            .and_then(|text| text.lines().last()?.parse().ok());
        match peak {
            Some(mb) => println!(
                "{name:<20} {mb:>7.1} {MEMORY_GOAL_MB:>5}  {}",
                mark(mb < MEMORY_GOAL_MB)
            ),
            None => println!(
                "{name:<20} {:>7} {MEMORY_GOAL_MB:>5}  the system does not report it",
                "-"
            ),
        }
    }
}
