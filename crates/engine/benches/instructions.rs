//! Short runs whose instructions are counted: `make instructions`. Without a name it prints the names.

use cellyard_engine::scenario::read_toml;
use cellyard_engine::{Options, run};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// An example and how long it is simulated.
struct Case {
    name: &'static str,
    text: &'static str,
    duration: &'static str,
}

macro_rules! case {
    ($name:literal, $duration:literal) => {
        Case {
            name: $name,
            text: include_str!(concat!("../../../examples/", $name, ".toml")),
            duration: $duration,
        }
    };
}

/// One for each kind of load.
const CASES: [Case; 8] = [
    case!("lan-5", "4 s"),
    case!("zero-loss", "1 s"),
    case!("two-hops", "1 s"),
    case!("mixed-rates", "4 s"),
    case!("satellite", "4 s"),
    case!("vbr-guaranteed-rate", "1 s"),
    case!("abr-erica", "400 ms"),
    case!("gfr-beside-udp", "400 ms"),
];

fn main() -> ExitCode {
    let mut names = std::env::args().skip(1).filter(|word| word != "--bench");
    let Some(name) = names.next() else {
        for case in &CASES {
            println!("{}", case.name);
        }
        return ExitCode::SUCCESS;
    };
    let Some(case) = CASES.iter().find(|case| case.name == name) else {
        eprintln!("no case is called {name}");
        return ExitCode::from(2);
    };
    let overrides = [("duration", case.duration), ("measure.warm_up", "0 s")]
        .map(|(path, value)| (path.to_string(), value.to_string()));
    let scenario = read_toml(case.text, case.name, &overrides).expect("an example is right");
    let never = AtomicBool::new(false);
    let result = run(&scenario, None, &Options::default(), &never).expect("an example runs");
    println!("{} cells", result.totals.cells);
    ExitCode::SUCCESS
}
