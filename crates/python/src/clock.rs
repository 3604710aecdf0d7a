//! What a run costs.

use std::time::{Duration, Instant};

/// CPU time of this thread where the system tells it, else wall time.
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
