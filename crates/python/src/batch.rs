//! Many runs at once: each run is single-threaded and independent, so the number of threads changes
//! nothing but the time.

use cellyard_engine::scenario::Scenario;
use cellyard_engine::simulation::{self, Kernel, Options, RunError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// One run: a scenario in canonical JSON and the replication that it is, if any.
type Job = (String, Option<u64>);

/// Why a job has no result: whose fault it is, `usage` (what was asked for cannot be) or `run`, and the message.
type Failure = (&'static str, String);

/// Index of a job; its result as JSON, or why it failed; CPU seconds of its thread.
type Finished = (usize, Result<String, Failure>, f64);

/// The same for Python.
type FinishedTuple = (usize, Option<String>, Option<Failure>, f64);

struct Shared {
    jobs: Vec<Job>,
    next: AtomicUsize,
    cancelled: AtomicBool,
    options: Options,
}

/// Runs on their own threads, taken in order.
#[pyclass(frozen)]
pub struct Batch {
    shared: Arc<Shared>,
    finished: Mutex<Receiver<Finished>>,
    remaining: AtomicUsize,
}

#[pymethods]
impl Batch {
    /// Starts `jobs` on `threads` threads. `digest` asks for the digest of every cell transmission; `kernel` forces the kernel of all
    /// ports: `auto` (the fastest that applies), `arithmetic`, `slotted` or `twin` (the reference engine). Raises `ValueError` for any
    /// other name.
    #[new]
    #[pyo3(signature = (jobs, threads, *, digest = false, kernel = "auto"))]
    fn new(jobs: Vec<Job>, threads: usize, digest: bool, kernel: &str) -> PyResult<Batch> {
        let kernel = match kernel {
            "auto" => Kernel::Auto,
            "arithmetic" => Kernel::Arithmetic,
            "slotted" => Kernel::Slotted,
            "twin" => Kernel::Twin,
            other => {
                let message =
                    format!("kernel = {other}: must be auto, arithmetic, slotted or twin");
                return Err(PyValueError::new_err(message));
            }
        };
        let remaining = AtomicUsize::new(jobs.len());
        let threads = threads.clamp(1, jobs.len().max(1));
        let shared = Arc::new(Shared {
            jobs,
            next: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            options: Options { kernel, digest },
        });
        let (sender, receiver) = channel();
        for _ in 0..threads {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            thread::spawn(move || work(&shared, &sender));
        }
        Ok(Batch {
            shared,
            finished: Mutex::new(receiver),
            remaining,
        })
    }

    /// Runs finished since the last call as (index of the job, result JSON, error, CPU seconds); either
    /// result or error is `None`, and an error is (`usage` or `run`, message). Returns as soon as there is one, at the latest after
    /// `timeout_seconds`, and at once when none remains.
    fn wait(&self, py: Python<'_>, timeout_seconds: f64) -> Vec<FinishedTuple> {
        let timeout = Duration::try_from_secs_f64(timeout_seconds).unwrap_or_default();
        let finished = py.detach(|| {
            let receiver = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
            let mut finished: Vec<Finished> = receiver.recv_timeout(timeout).into_iter().collect();
            finished.extend(receiver.try_iter());
            finished
        });
        self.remaining.fetch_sub(finished.len(), Ordering::Relaxed);
        finished
            .into_iter()
            .map(|(index, outcome, cpu_seconds)| match outcome {
                Ok(result) => (index, Some(result), None, cpu_seconds),
                Err(error) => (index, None, Some(error), cpu_seconds),
            })
            .collect()
    }

    /// Ends the runs under way within milliseconds and starts no others; they never finish.
    fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Runs that `wait` has not returned yet.
    #[getter]
    fn remaining(&self) -> usize {
        self.remaining.load(Ordering::Relaxed)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }
}

fn work(shared: &Shared, finished: &Sender<Finished>) {
    loop {
        let index = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = shared.jobs.get(index) else {
            return;
        };
        let clock = CpuClock::start();
        let outcome = catch_unwind(AssertUnwindSafe(|| run(shared, job))).unwrap_or_else(|panic| {
            Err(failed(format!("internal error: {}", panic_text(&*panic))))
        });
        let cancelled = shared.cancelled.load(Ordering::Relaxed);
        if cancelled || finished.send((index, outcome, clock.seconds())).is_err() {
            return;
        }
    }
}

fn run(shared: &Shared, (scenario, replication): &Job) -> Result<String, Failure> {
    let scenario: Scenario = serde_json::from_str(scenario).map_err(failed)?;
    let result = simulation::run(&scenario, *replication, &shared.options, &shared.cancelled)
        .map_err(|error| match error {
            RunError::Kernel { .. } | RunError::Points => ("usage", error.to_string()),
            RunError::Scenario(_) | RunError::Cancelled => failed(error),
        })?;
    serde_json::to_string(&result).map_err(failed)
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

/// CPU time of this thread where the system tells it, else wall time.
struct CpuClock(Duration, Instant);

impl CpuClock {
    fn start() -> CpuClock {
        CpuClock(CpuClock::now().unwrap_or_default(), Instant::now())
    }

    fn seconds(&self) -> f64 {
        match CpuClock::now() {
            Some(now) => now.saturating_sub(self.0).as_secs_f64(),
            None => self.1.elapsed().as_secs_f64(),
        }
    }

    #[cfg(unix)]
    fn now() -> Option<Duration> {
        use rustix::time::{ClockId, clock_gettime};
        clock_gettime(ClockId::ThreadCPUTime).try_into().ok()
    }

    #[cfg(not(unix))]
    fn now() -> Option<Duration> {
        None
    }
}
