//! The error of a run that stops before its end, with the names of its scenario.

use crate::ground::gathered::Gathered;
use crate::network::stop::{FailedProgram, Overdue, Stop};
use crate::run::resolved::Resolved;
use crate::text::options::RunError;
use crate::text::program::{Failure, show};
use crate::text::scenario::{DropPolicy, Scenario, Scheduler};

impl Stop {
    /// The error to report, with the names of `scenario`.
    pub fn into_run_error(self, scenario: &Scenario) -> RunError {
        match self {
            Stop::Cancelled => RunError::Cancelled,
            Stop::Points(gathered) => {
                let points = gathered.largest_probe.map_or(0, |(_, points)| points);
                RunError::Points {
                    probe: probe(gathered, scenario),
                    points,
                    all: gathered.recorded(),
                }
            }
            Stop::Grown(gathered, limit) => grown(gathered, limit, scenario),
            Stop::Overdue(what) => RunError::Overdue {
                place: what.place(scenario),
                latest: scenario.format.clock.latest_seconds(),
            },
            Stop::Program(link, which, failure) => program(link, which, failure, scenario),
        }
    }
}

/// Description of the probe that recorded most.
fn probe(gathered: Gathered, scenario: &Scenario) -> String {
    let Some((index, _)) = gathered.largest_probe else {
        return "none".into();
    };
    let spec = &scenario.probes[index];
    format!("the probe {} of {}", spec.what.name(), spec.of)
}

/// What failed in a program at the port of `link`.
fn program(link: usize, which: FailedProgram, failure: Failure, scenario: &Scenario) -> RunError {
    let net = Resolved::new(scenario).ok();
    let port = net.as_ref().and_then(|net| net.port(link));
    let name = &scenario.links[link].name;
    let (place, text) = match which {
        FailedProgram::Drop(class) => {
            let text = match port.map(|port| &port.queue(class).given.drop) {
                Some(DropPolicy::Program(policy)) => policy.written.text(),
                _ => "",
            };
            (
                format!("program of the queue {} of {name}", class.name()),
                text,
            )
        }
        FailedProgram::Scheduler(which) => {
            let text = match port.map(|port| port.scheduler) {
                Some(Scheduler::Program(scheduler)) => scheduler.written.text(which),
                _ => "",
            };
            let field = which.field();
            (
                format!("program `{field}` of the scheduler of {name}"),
                text,
            )
        }
    };
    let shown = show(text, failure.at);
    RunError::Program {
        place,
        why: failure.why.words(),
        line: shown.line,
        column: shown.column,
        caret: shown.excerpt,
    }
}

fn grown(gathered: Gathered, limit: u64, scenario: &Scenario) -> RunError {
    let [points, drops, frames, kept] = gathered.parts();
    let captured = gathered.captured as f64;
    let largest = points.max(drops).max(frames).max(kept).max(captured);
    let cause = if largest == captured {
        "captured packets that are not written yet; use a shorter capture".to_string()
    } else if largest == kept {
        format!(
            "{} frames and RM cells that the reference engine keeps; use a shorter run, another kernel",
            gathered.kept_frames
        )
    } else if largest == frames {
        format!(
            "{} frames that wait at hosts or are in transit; use a faster link, longer timers, smaller windows, a shorter run",
            gathered.frames
        )
    } else if largest == drops {
        format!(
            "{} traced drops, most of them from {}; use a trace of fewer VCs, a shorter run",
            gathered.drops,
            probe(gathered, scenario)
        )
    } else {
        format!(
            "{} points, most of them from {}; use a longer `interval`, `every` or `envelope`, a shorter run",
            gathered.points,
            probe(gathered, scenario)
        )
    };
    RunError::Grown {
        need: gathered.bytes() as u64,
        limit,
        largest: largest as u64,
        cause,
    }
}

impl Overdue {
    fn place(self, scenario: &Scenario) -> String {
        let link = |index: usize| &scenario.links[index].name;
        match self {
            Overdue::Nic(index) => format!("the NIC of link {}", link(index)),
            Overdue::Queue(index) => format!("the port queue of link {}", link(index)),
            Overdue::Switch(index) => {
                format!("the processing of the switch behind link {}", link(index))
            }
            Overdue::Host(index) => {
                format!("the processing of host {}", scenario.hosts[index].name)
            }
            Overdue::Transport(index) => {
                format!("the processing of vc {}", scenario.vcs[index].name)
            }
            Overdue::Shaper(index) => format!("the shaper of vc {}", scenario.vcs[index].name),
        }
    }
}
