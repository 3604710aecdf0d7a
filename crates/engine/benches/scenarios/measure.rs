//! CPU time of this thread, medians, peak memory.

use rustix::time::{ClockId, clock_gettime};

/// CPU time that this thread has used, seconds.
pub fn cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9
}

/// What `work` returns, and the CPU time that it takes, seconds.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = cpu_seconds();
    let result = work();
    (result, cpu_seconds() - before)
}

/// The median, the lower one of two; `values` must not be empty.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

/// The largest resident set that this process ever had, MB; `None` if the system does not report
/// it.
pub fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}
