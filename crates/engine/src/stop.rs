//! Why a run stops before its end.

use crate::options::RunError;
use crate::scenario::Scenario;

/// Why, by indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was asked to.
    Cancelled,
    /// The probes have recorded too much.
    Points,
    /// More waits here than could leave in the time that is told.
    Overdue(Overdue),
}

/// What has more waiting than it could be rid of until [`crate::units::Time::LATEST`] (model section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overdue {
    /// The NIC of a link.
    Nic(usize),
    /// A class queue of the port that a link is.
    Queue(usize),
    /// The processing of the switch that a link enters.
    Switch(usize),
    /// The processing of a host.
    Host(usize),
    /// The processing of a VC's transport.
    Transport(usize),
}

impl Stop {
    /// The same under the names of `scenario`.
    pub fn told(self, scenario: &Scenario) -> RunError {
        match self {
            Stop::Cancelled => RunError::Cancelled,
            Stop::Points => RunError::Points,
            Stop::Overdue(what) => RunError::Overdue {
                place: what.place(scenario),
            },
        }
    }
}

impl Overdue {
    fn place(self, scenario: &Scenario) -> String {
        let link = |index: usize| &scenario.links[index].name;
        match self {
            Overdue::Nic(index) => format!("link {}, the NIC", link(index)),
            Overdue::Queue(index) => format!("link {}, the queue of the port", link(index)),
            Overdue::Switch(index) => {
                format!("link {}, the switch's processing behind it", link(index))
            }
            Overdue::Host(index) => format!("host {}, its processing", scenario.hosts[index].name),
            Overdue::Transport(index) => {
                format!("vc {}, its processing", scenario.vcs[index].name)
            }
        }
    }
}
