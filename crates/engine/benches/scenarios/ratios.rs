//! What one scheduler costs relative to another: pairs of cases of the same load under the slotted
//! kernel.

use crate::cases::result_of;
use crate::measure::timed;
use crate::networks::{Dumbbell, Place, Scheduler};
use cellyard_engine::Kernel;
use cellyard_engine::scenario::Scenario;

/// Two cases, and how much longer a cell may take in the first.
pub struct Ratio {
    /// Names on the command line and in the table: of the case, and of its partner.
    pub names: [&'static str; 2],
    /// Largest ratio of times per cell.
    pub goal: f64,
    scenarios: fn() -> [Scenario; 2],
}

impl Ratio {
    /// The scenarios of the case and of its partner.
    pub fn scenarios(&self) -> [Scenario; 2] {
        (self.scenarios)()
    }
}

/// The ratios, in the order of the table.
pub const RATIOS: [Ratio; 2] = [
    Ratio {
        names: ["per-vc-5", "strict-priority-5"],
        goal: 1.3,
        scenarios: || per_vc(5),
    },
    Ratio {
        names: ["per-vc-1000", "strict-priority-1000"],
        goal: 2.0,
        scenarios: || per_vc(1000),
    },
];

/// TCPs on a LAN without losses.
fn per_vc(sources: usize) -> [Scenario; 2] {
    let network = Dumbbell::vanilla(Place::Lan, sources, None, "tail-drop");
    [Scheduler::PerVc, Scheduler::StrictPriority].map(|scheduler| {
        Dumbbell {
            scheduler,
            ..network
        }
        .scenario()
    })
}

/// CPU time per bottleneck cell, ns, under the slotted kernel.
pub fn ns_per_cell(scenario: &Scenario) -> f64 {
    let (cells, seconds) = timed(|| result_of(scenario, Kernel::Slotted).totals.bottleneck_cells);
    seconds * 1e9 / cells as f64
}
