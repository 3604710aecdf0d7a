//! Measures the CPU time of a run.

use std::time::{Duration, Instant};

/// Clock for the CPU time of this thread, or for wall time where the system does not report CPU
/// time.
pub struct CpuClock(Duration, Instant);

impl CpuClock {
    pub fn start() -> CpuClock {
        CpuClock(CpuClock::now().unwrap_or_default(), Instant::now())
    }

    pub fn seconds(&self) -> f64 {
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
