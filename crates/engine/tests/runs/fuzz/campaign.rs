//! A campaign: a series of cases, each determined by the seed and its number. Environment variables
//! control it:
//!
//! * `FUZZ_SECONDS`: end after this time, even within a case, which is then not judged. Without it
//!   and `FUZZ_CASES`, the campaign has the small form of the normal tests.
//! * `FUZZ_CASES`: end after this number of cases.
//! * `FUZZ_SEED`: the seed, by default 1. `FUZZ_FROM`: number of the first case, by default 0.
//! * `FUZZ_OUT`: folder for inputs that failed, by default the `tmp` of cargo's target folder.

use crate::common::draws::Draws;
use rustix::time::{ClockId, clock_gettime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Outcome of an input that broke no promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Accepted,
    Refused,
}

/// An input that can be saved.
pub trait Input {
    /// Contents of the files that save the input, by extension.
    fn files(&self) -> Vec<(&'static str, String)>;
}

/// Counts of accepted and refused cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub accepted: u64,
    pub refused: u64,
}

/// Seconds between lines of progress.
const PROGRESS: u64 = 10;

/// Set by the first campaign that fails. Campaigns with a time limit then end.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Set when the time is over. Runs in progress then end.
static OVER: AtomicBool = AtomicBool::new(false);

/// Whether runs of cases are to end.
pub fn over() -> &'static AtomicBool {
    &OVER
}

/// Ends all runs of cases after `time`.
fn end_after(time: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(time);
        OVER.store(true, Ordering::Relaxed);
    });
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} = {text}: a whole number is needed")),
    )
}

/// CPU time of this thread, seconds.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs the campaign `name`. The normal tests run `small` cases.
///
/// # Panics
/// At the first case that panics or that `check` finds fault with; its input is kept in a file.
pub fn run<I: Input>(
    name: &str,
    small: u64,
    make: impl Fn(&mut Draws) -> I,
    check: impl Fn(&I) -> Result<Outcome, String>,
) -> Counts {
    let seconds = number("FUZZ_SECONDS");
    let most = number("FUZZ_CASES").unwrap_or(if seconds.is_some() { u64::MAX } else { small });
    let (seed, from) = (
        number("FUZZ_SEED").unwrap_or(1),
        number("FUZZ_FROM").unwrap_or(0),
    );
    let ends = seconds.map(Duration::from_secs);
    if let Some(time) = ends {
        end_after(time);
    }
    let (began, cpu) = (Instant::now(), cpu_seconds());
    let mut counts = Counts::default();
    let mut slowest = (0.0, 0);
    let mut told = 0;
    let tell = |counts: &Counts, slowest: (f64, u64)| {
        println!(
            "{name}: {} cases, {} accepted, {} refused; seed {seed}, from case {from}; {} s, {:.0} CPU s; slowest case {}: {:.2} CPU s",
            counts.accepted + counts.refused,
            counts.accepted,
            counts.refused,
            began.elapsed().as_secs(),
            cpu_seconds() - cpu,
            slowest.1,
            slowest.0,
        );
    };
    for case in (from..).take(usize::try_from(most).unwrap_or(usize::MAX)) {
        let over = |ends| began.elapsed() >= ends || FAILED.load(Ordering::Relaxed);
        if ends.is_some_and(over) {
            break;
        }
        let start = cpu_seconds();
        let input = make(&mut Draws::of_case(seed, case));
        let found = catch_unwind(AssertUnwindSafe(|| check(&input)));
        if OVER.load(Ordering::Relaxed) {
            break;
        }
        match found.unwrap_or_else(|_| Err("a panic: see above".to_string())) {
            Ok(Outcome::Accepted) => counts.accepted += 1,
            Ok(Outcome::Refused) => counts.refused += 1,
            Err(fault) => {
                FAILED.store(true, Ordering::Relaxed);
                let kept = keep(&format!("fuzz-{name}-{seed}-{case}"), &input);
                panic!(
                    "{fault}\ninput: {kept}\nagain: FUZZ_SEED={seed} FUZZ_FROM={case} FUZZ_CASES=1 make fuzz"
                );
            }
        }
        let took = cpu_seconds() - start;
        if took > slowest.0 {
            slowest = (took, case);
        }
        let now = began.elapsed().as_secs();
        if seconds.is_some() && now >= told + PROGRESS {
            told = now;
            tell(&counts, slowest);
        }
    }
    tell(&counts, slowest);
    counts
}

/// Saves the files of `input` and returns their paths.
fn keep(stem: &str, input: &impl Input) -> String {
    let out = std::env::var("FUZZ_OUT")
        .ok()
        .filter(|folder| !folder.is_empty());
    let folder = PathBuf::from(out.unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").to_string()));
    let write = |(extension, text): (&str, String)| {
        let path = folder.join(format!("{stem}.{extension}"));
        let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, &text));
        match written {
            Ok(()) => path.display().to_string(),
            Err(error) => format!("{}: {error}; it is:\n{text}\n", path.display()),
        }
    };
    input
        .files()
        .into_iter()
        .map(write)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether this is the small form, whose statistics can be asserted.
pub fn is_small() -> bool {
    ["FUZZ_SECONDS", "FUZZ_CASES", "FUZZ_SEED", "FUZZ_FROM"]
        .iter()
        .all(|name| number(name).is_none())
}
