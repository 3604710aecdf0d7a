//! The way of a flow from the port on: what is the same for all its cells.

use super::Arithmetic;
use crate::fabric::{Fabric, Next};
use crate::units::{SignedTicks, Span, Time};

/// That of the cells of a hop which is not looked at cell by cell.
#[derive(Clone, Debug)]
pub struct Route {
    /// The hop; [`NO_HOP`] before the first one.
    pub hop: u32,
    /// Number of its flow, and that among those of the port.
    pub flow: u32,
    /// See `flow`.
    pub vc: u32,
    /// Whether delays of its cells are counted at their host.
    pub is_data: bool,
    /// Where they go on.
    pub next: Next,
    /// Starts before which, and from which on, they are not in time.
    from: SignedTicks,
    to: SignedTicks,
    /// From the start of a cell to its arrival there.
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
    /// From now on that of the hop with this index.
    #[inline(always)]
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

    /// Whether a cell that starts at `start` arrives at its host within the measuring time, or at the next port before the end.
    pub fn is_in_time(&self, start: SignedTicks) -> bool {
        (self.from..self.to).contains(&start)
    }
}
