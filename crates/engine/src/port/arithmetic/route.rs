//! The path of a flow's cells beyond the port, which is the same for all of them.

use super::Arithmetic;
use crate::ground::units::{SignedTicks, Span, Time};
use crate::network::fabric::{Fabric, Next};

/// Path of the cells of one hop, cached for cells that are handled in bulk.
#[derive(Clone, Debug)]
pub struct Route {
    /// Index of the hop; [`NO_HOP`] before the first.
    pub hop: u32,
    /// Index of the flow.
    pub flow: u32,
    /// Number of the flow among those of the port.
    pub vc: u32,
    /// Whether delays of the cells are counted at their host.
    pub is_data: bool,
    /// Next station of the cells.
    pub next: Next,
    /// Range of starts, from `from` to before `to`, whose cells arrive in time.
    from: SignedTicks,
    to: SignedTicks,
    /// Time from the start of a cell to its arrival at the next station.
    pub beyond: Span,
}

const NO_HOP: u32 = u32::MAX;

impl Default for Route {
    fn default() -> Route {
        Route {
            hop: NO_HOP,
            flow: 0,
            vc: 0,
            is_data: false,
            next: Next::Host,
            from: SignedTicks::ZERO,
            to: SignedTicks::ZERO,
            beyond: Span::ZERO,
        }
    }
}

impl Route {
    /// Switches to the hop with this index.
    pub fn turn_to(&mut self, index: u32, kernel: &Arithmetic, fabric: &Fabric) {
        if self.hop != index {
            *self = Route::new(kernel, fabric, index);
        }
    }

    fn new(kernel: &Arithmetic, fabric: &Fabric, index: u32) -> Route {
        let hop = &fabric.hops[index as usize];
        let beyond = kernel.cell_time + hop.latency;
        let (from, to) = match hop.next {
            Next::Host => fabric.measured,
            Next::Port { .. } => (Time::ZERO, fabric.end),
        };
        Route {
            hop: index,
            flow: hop.flow.0,
            vc: hop.local,
            is_data: hop.is_data && hop.next == Next::Host,
            next: hop.next,
            from: from.signed() - beyond,
            to: to.min(fabric.end).signed() - beyond,
            beyond,
        }
    }

    /// Whether a cell that starts at `start` arrives in time: at its host within the measuring
    /// time, or at the next port before the end of the run.
    pub fn is_in_time(&self, start: SignedTicks) -> bool {
        (self.from..self.to).contains(&start)
    }
}
