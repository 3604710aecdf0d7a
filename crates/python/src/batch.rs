//! Runs many jobs at once. Each run is single-threaded and independent, so the number of threads
//! affects only the time taken.

use crate::clock::CpuClock;
use crate::recorded::{Recorded, RecordedTuple, Words};
use crate::{last, made_of};
use cellyard_engine::results::RunResult;
use cellyard_engine::scenario::Scenario;
use cellyard_engine::units::Time;
use cellyard_engine::{About, FilePart, Kernel, Options, RunError, Session};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use std::convert::Infallible;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// One run: a scenario in canonical JSON and, for an ensemble, the replication.
type Job = (PyBackedStr, Option<u64>);

/// Reason why a job has no result: its kind and the message. The kind is `usage` for a request that
/// cannot be met, otherwise `run`.
type Failure = (&'static str, String);

/// A finished result: JSON without recordings, the recordings not handed over before, and the words
/// of all traced drops.
type Document<Recorded> = (String, Recorded, Vec<String>);

/// Index of a job, its result or failure, and the CPU seconds of its thread.
type Finished = (usize, Result<Document<Recorded>, Failure>, f64);

/// A [`Finished`] job in the form in which Python gets it.
type FinishedTuple<'py> = (
    usize,
    Option<Document<RecordedTuple<'py>>>,
    Option<Failure>,
    f64,
);

/// Index of a job, and the recordings of its probes since the last part.
type PartTuple<'py> = (usize, RecordedTuple<'py>);

/// Message from a worker thread.
enum Message {
    /// Recordings of a run in progress. The last field is the end of a channel: when it is dropped,
    /// the thread knows that the part was taken. The thread hands over no other part before that.
    Part(usize, Recorded, #[allow(dead_code)] Sender<Infallible>),
    Finished(Finished),
}

struct Shared {
    jobs: Vec<Job>,
    next: AtomicUsize,
    cancelled: AtomicBool,
    options: Options,
    /// Identity of each job, which captures state.
    identities: Vec<String>,
    /// Whether results are kept, and the bytes by which they exceed their prediction.
    kept: bool,
    taken: AtomicU64,
    /// Progress of each thread.
    done: Vec<Done>,
}

/// Number of runs that a thread has finished, including the fraction of the run in progress. Only
/// that thread writes; any thread may read.
#[derive(Default)]
struct Done(AtomicU64);

impl Done {
    fn set(&self, runs: f64) {
        self.0.store(runs.to_bits(), Ordering::Relaxed);
    }

    fn runs(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// A batch of runs on worker threads, started in order.
#[pyclass(frozen)]
pub struct Batch {
    shared: Arc<Shared>,
    inbox: Mutex<Inbox>,
    /// Number of runs that `take` has not returned yet.
    remaining: AtomicUsize,
}

/// Messages from the worker threads.
struct Inbox {
    receiver: Receiver<Message>,
    /// Messages that `wait` has received, for `take`.
    received: Vec<Message>,
}

/// Time for which finished runs wait for others, so that they are handed over, and stored,
/// together. Runs of 1 ms then take a quarter to a third less CPU time outside the engine.
const TOGETHER: Duration = Duration::from_millis(20);

impl Inbox {
    /// Receives messages until `remaining` runs have finished or there is a part, whose thread
    /// waits; at most for `timeout`, and for [`TOGETHER`] once there is a message.
    fn fill(&mut self, timeout: Duration, remaining: usize) {
        let is_part = |message: &Message| matches!(message, Message::Part(..));
        let mut until = Instant::now() + timeout;
        while self.received.len() < remaining && !self.received.last().is_some_and(is_part) {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(message) = self.receiver.recv_timeout(left) else {
                return;
            };
            if self.received.is_empty() {
                until = Instant::now() + TOGETHER;
            }
            self.received.push(message);
        }
    }
}

#[pymethods]
impl Batch {
    /// Starts `jobs` on `threads` threads.
    ///
    /// `digest` requests the digest of every cell transmission.
    ///
    /// `kernel` forces the kernel of all ports: `auto` (the fastest that applies), `arithmetic`,
    /// `slotted` or `twin` (the reference engine). Any other name raises `ValueError`.
    ///
    /// `memory` limits the bytes that the runs in progress may need together (`None`: no limit).
    /// With `kept`, the results of finished runs count too.
    ///
    /// `hold` limits the bytes that the recordings of a run may take before they are handed over as
    /// a part. `None` hands them over with the result.
    ///
    /// `captures` has the largest size of a capture file in bytes, and the identity of each job for
    /// these files. `None` disables captures.
    #[new]
    #[pyo3(signature = (jobs, threads, *, digest = false, kernel = "auto", memory = None, kept = true, hold = None, captures = None))]
    #[allow(clippy::too_many_arguments)] // each has a name in Python
    fn new(
        jobs: Vec<Job>,
        threads: usize,
        digest: bool,
        kernel: &str,
        memory: Option<u64>,
        kept: bool,
        hold: Option<u64>,
        captures: Option<(u64, Vec<String>)>,
    ) -> PyResult<Batch> {
        let Some(kernel) = Kernel::ALL.into_iter().find(|k| k.name() == kernel) else {
            let names = Kernel::ALL.map(Kernel::name).join(", ");
            let message = format!("unknown kernel `{kernel}`; must be one of {names}");
            return Err(PyValueError::new_err(message));
        };
        let (captures, identities) = captures.unzip();
        let remaining = AtomicUsize::new(jobs.len());
        let threads = threads.clamp(1, jobs.len().max(1));
        let limits = memory_limits(jobs.len(), threads, memory, kept);
        let shared = Arc::new(Shared {
            jobs,
            next: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            options: Options {
                kernel,
                digest,
                pause_above: hold,
                captures,
                ..limits
            },
            identities: identities.unwrap_or_default(),
            kept,
            taken: AtomicU64::new(0),
            done: (0..threads).map(|_| Done::default()).collect(),
        });
        let (sender, receiver) = channel();
        for thread in 0..threads {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            thread::spawn(move || run_jobs(&shared, &shared.done[thread], &sender));
        }
        Ok(Batch {
            shared,
            inbox: Mutex::new(Inbox {
                receiver,
                received: Vec::new(),
            }),
            remaining,
        })
    }

    /// Waits until a part or finished runs can be taken, at most `timeout_seconds`; not at all when
    /// no run remains. Takes nothing, so that an interrupt loses nothing.
    fn wait(&self, py: Python<'_>, timeout_seconds: f64) {
        let timeout = Duration::try_from_secs_f64(timeout_seconds).unwrap_or_default();
        py.detach(|| self.inbox().fill(timeout, self.remaining()));
    }

    /// Returns new parts and newly finished runs since the last call, without waiting.
    ///
    /// Parts come as (index of the job, recordings), in order. Finished runs come as (index of the
    /// job, result, error, CPU seconds), if either result or error is `None`. All parts of a
    /// finished run come with it or before.
    ///
    /// Recordings are: a pair of arrays `time_s` and `value` per series; an array with the bytes of
    /// traced drops, if there are any; and the parts of captures. A result is: JSON without
    /// recordings; the recordings since the last part; and the words of traced drops. An error is
    /// (`usage` or `run`, message).
    fn take<'py>(&self, py: Python<'py>) -> (Vec<PartTuple<'py>>, Vec<FinishedTuple<'py>>) {
        let mut inbox = self.inbox();
        let mut messages = std::mem::take(&mut inbox.received);
        messages.extend(inbox.receiver.try_iter());
        drop(inbox);
        let (mut parts, mut finished) = (Vec::new(), Vec::new());
        for message in messages {
            match message {
                Message::Part(index, recorded, _) => parts.push((index, recorded.into_arrays(py))),
                Message::Finished((index, outcome, cpu_seconds)) => finished.push(match outcome {
                    Ok((json, recorded, words)) => {
                        let document = (json, recorded.into_arrays(py), words);
                        (index, Some(document), None, cpu_seconds)
                    }
                    Err(error) => (index, None, Some(error), cpu_seconds),
                }),
            }
        }
        self.remaining.fetch_sub(finished.len(), Ordering::Relaxed);
        (parts, finished)
    }

    /// Cancels the batch: runs in progress end within milliseconds, unfinished, and no others
    /// start.
    fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Number of runs that `take` has not returned yet.
    #[getter]
    fn remaining(&self) -> usize {
        self.remaining.load(Ordering::Relaxed)
    }

    /// Number of runs that have ended, plus the simulated fraction of each run in progress.
    #[getter]
    fn progress(&self) -> f64 {
        self.shared.done.iter().map(Done::runs).sum()
    }
}

impl Batch {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }
}

/// The memory limit of each of `jobs` runs on `threads` threads, which need `memory` bytes together.
/// Every thread runs one job at a time and has an equal share of the results, if they are `kept`.
fn memory_limits(jobs: usize, threads: usize, memory: Option<u64>, kept: bool) -> Options {
    let others = if kept { jobs - threads.min(jobs) } else { 0 };
    Options {
        memory: memory.map(|bytes| bytes / threads as u64),
        kept_runs: others.div_ceil(threads) as u64,
        ..Options::default()
    }
}

/// The text of an error of a run. If a memory limit was shared by several jobs, it says so.
fn with_jobs(error: &RunError, options: &Options, jobs: usize) -> String {
    match (error, options.memory) {
        (RunError::Memory { .. } | RunError::Grown { .. }, Some(each)) if jobs > 1 => {
            let all = cellyard_engine::show_memory(each * jobs as u64);
            format!("{error}; {jobs} jobs share {all}, and fewer would leave more to each")
        }
        _ => error.to_string(),
    }
}

/// Returns why a [`Batch`] of this number of runs like that of a canonical scenario would refuse it, if
/// it needs more memory than `memory` bytes.
#[pyfunction]
pub fn memory_refusal(
    py: Python<'_>,
    scenario_json: PyBackedStr,
    jobs: usize,
    threads: usize,
    memory: u64,
) -> PyResult<Option<String>> {
    let threads = threads.clamp(1, jobs.max(1));
    let limits = memory_limits(jobs, threads, Some(memory), true);
    made_of(
        py,
        scenario_json,
        move |scenario| match cellyard_engine::check_memory(scenario, &limits) {
            Err(error @ RunError::Memory { .. }) => Ok(Some(with_jobs(&error, &limits, threads))),
            Err(error) => Err(error.to_string()),
            Ok(()) => Ok(None),
        },
    )
}

fn run_jobs(shared: &Shared, done: &Done, messages: &Sender<Message>) {
    for ended in 0.. {
        let index = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = shared.jobs.get(index) else {
            return;
        };
        let before = f64::from(ended);
        let passed = |share: f64| done.set(before + share);
        let clock = CpuClock::start();
        let mut parts = PartSender {
            index,
            messages,
            last: None,
            words: Words::default(),
            identity: shared.identities.get(index).map_or("", String::as_str),
        };
        let run = AssertUnwindSafe(|| run(shared, job, &passed, &mut parts));
        let outcome = catch_unwind(run).unwrap_or_else(|panic| {
            Err(failed(format!("internal error: {}", panic_text(&*panic))))
        });
        if shared.cancelled.load(Ordering::Relaxed) {
            return;
        }
        passed(1.0);
        let finished = Message::Finished((index, outcome, clock.seconds()));
        if messages.send(finished).is_err() {
            return;
        }
    }
}

/// State for handing over the recordings of a run in progress.
struct PartSender<'a> {
    index: usize,
    messages: &'a Sender<Message>,
    /// Disconnected once the last part was taken.
    last: Option<Receiver<Infallible>>,
    words: Words,
    /// Identity of the run, which captures state.
    identity: &'a str,
}

/// Interval at which a thread waiting for its part to be taken checks for cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl PartSender<'_> {
    /// Returns the next part of each capture.
    fn captured(&self, session: &mut Session<'_>) -> Vec<FilePart> {
        session.captured(&About {
            application: concat!("Cellyard ", env!("CARGO_PKG_VERSION")),
            run: self.identity,
        })
    }

    /// Hands over the recordings of the probes, once the last part was taken.
    fn hand_over(
        &mut self,
        session: &mut Session<'_>,
        cancelled: &AtomicBool,
    ) -> Result<(), RunError> {
        let (series, dropped) = session.drain();
        let captured = self.captured(session);
        let points = series.into_iter().map(|s| (s.time_s, s.value));
        let recorded = self.words.recorded(points, &dropped, captured);
        while let Some(last) = &self.last {
            match last.recv_timeout(LOOK_EVERY) {
                Ok(never) => match never {},
                Err(RecvTimeoutError::Disconnected) => self.last = None,
                Err(RecvTimeoutError::Timeout) if cancelled.load(Ordering::Relaxed) => {
                    return Err(RunError::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let (taken, last) = channel();
        self.last = Some(last);
        let part = Message::Part(self.index, recorded, taken);
        self.messages.send(part).map_err(|_| RunError::Cancelled)
    }
}

fn run(
    shared: &Shared,
    (scenario, replication): &Job,
    passed: &dyn Fn(f64),
    parts: &mut PartSender<'_>,
) -> Result<Document<Recorded>, Failure> {
    let last = last(scenario);
    let parsed;
    let scenario = match &last {
        Some(known) => &known.scenario,
        None => {
            parsed = serde_json::from_str(scenario).map_err(failed)?;
            &parsed
        }
    };
    let (mut result, captured) =
        simulate(shared, scenario, *replication, passed, parts).map_err(|error| match error {
            RunError::Kernel { .. }
            | RunError::Points { .. }
            | RunError::Grown { .. }
            | RunError::Overdue { .. }
            | RunError::Memory { .. } => (
                "usage",
                with_jobs(&error, &shared.options, shared.done.len()),
            ),
            RunError::Program { .. } | RunError::Scenario(_) | RunError::Cancelled => failed(error),
        })?;
    if shared.kept {
        let beyond = cellyard_engine::beyond(scenario, &result);
        shared.taken.fetch_add(beyond, Ordering::Relaxed);
    }
    let trace = std::mem::take(&mut result.trace);
    let series = result.series.iter_mut();
    let points = series.map(|s| (std::mem::take(&mut s.time_s), std::mem::take(&mut s.value)));
    let recorded = parts.words.recorded(points, &trace, captured);
    let words = std::mem::take(&mut parts.words.all);
    Ok((written(result).map_err(failed)?, recorded, words))
}

/// A result as JSON. The first line ends before the VCs: it is short and all that many readers
/// need. VCs and ports, which may take hundreds of megabytes, are dropped as soon as they are
/// written.
fn written(mut result: RunResult) -> serde_json::Result<String> {
    let (vcs, ports) = (mem::take(&mut result.vcs), mem::take(&mut result.ports));
    let rest = serde_json::to_string(&result)?;
    // An unescaped quote occurs in no text, so the place is unambiguous.
    let (before, after) = rest
        .split_once("\"vcs\":[],\"ports\":[]")
        .expect("VCs and ports follow each other");
    let mut json = format!("{before}\n\"vcs\":").into_bytes();
    serde_json::to_writer(&mut json, &vcs)?;
    drop(vcs);
    json.extend_from_slice(b",\"ports\":");
    serde_json::to_writer(&mut json, &ports)?;
    drop(ports);
    json.extend_from_slice(after.as_bytes());
    Ok(String::from_utf8(json).expect("JSON is UTF-8"))
}

/// Number of progress reports in a run.
const PARTS: u64 = 1000;

/// Smallest number of bytes per probe to gather before they are handed over: a few hundred points,
/// a reasonable piece of a file.
const OF_PROBE: u64 = 4_800;

/// Runs `scenario` and reports the simulated fraction of its time to `passed`.
fn simulate(
    shared: &Shared,
    scenario: &Scenario,
    replication: Option<u64>,
    passed: &dyn Fn(f64),
    parts: &mut PartSender<'_>,
) -> Result<(RunResult, Vec<FilePart>), RunError> {
    let threads = shared.done.len() as u64;
    let least = scenario.probes.len() as u64 * OF_PROBE;
    let options = Options {
        memory_taken: shared.taken.load(Ordering::Relaxed) / threads,
        pause_above: shared.options.pause_above.map(|hold| hold.max(least)),
        ..shared.options
    };
    let mut session = Session::new(scenario, replication, &options)?;
    let end = session.end().0;
    for part in 1..=PARTS {
        let until = if part < PARTS {
            end / PARTS * part
        } else {
            end
        };
        loop {
            let reached = session.advance_until(Time(until), &shared.cancelled)?;
            passed(reached.0 as f64 / end as f64);
            if reached.0 >= until {
                break;
            }
            parts.hand_over(&mut session, &shared.cancelled)?;
        }
    }
    let captured = parts.captured(&mut session);
    Ok((session.finish(), captured))
}

fn failed(error: impl ToString) -> Failure {
    ("run", error.to_string())
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown")
}
