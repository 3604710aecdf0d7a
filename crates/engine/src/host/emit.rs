//! Sources of single cells, whose cells enter the NIC without delay.

use super::Hosts;
use super::traffic::Source;
use crate::ground::event::Kind;
use crate::ground::units::{Span, Time};
use crate::network::cells::{ENDS_FRAME, Run, SINGLE_CELLS};
use crate::network::fabric::Fabric;
use crate::network::stop::Overdue;

/// Maximum number of cells per event, for a source that has a NIC to itself.
const AHEAD: u32 = 32;
/// Maximum number of regular cells per event, bounded because later stages may handle them one by
/// one.
const REGULAR_AHEAD: u64 = 4096;

impl Hosts {
    /// Emits as many cells of a VC as no other event can interrupt, and schedules the next emission
    /// until the source stops.
    pub(super) fn emit(&mut self, now: Time, index: usize, fabric: &mut Fabric) {
        let vc = &mut self.vcs[index];
        let Source::Cells(source) = &mut vc.source else {
            return;
        };
        let ends = &mut self.flows[vc.data.index()];
        let nic = &mut self.nics[ends.nic];
        let one = Run {
            period: Span(1),
            n: 1,
            hop: ends.first_hop,
            cell: source.size.first_cell(),
            flags: SINGLE_CELLS | ENDS_FRAME,
            ..Run::default()
        };
        let mut left = if ends.can_handle_ahead { AHEAD } else { 1 };
        let end = self.end.min(source.stop);
        let (regular, period) = source.regular();
        if ends.can_handle_ahead && regular > 1 && nic.sends_at_once(now, period) {
            // The NIC is idle for each cell, so cells are sent as they come.
            let n = regular
                .min((end - now).0.div_ceil(period.0))
                .min(REGULAR_AHEAD);
            let time = nic.send_regular(now, n, period);
            source.emitted(n);
            let frame = ends.next_frame;
            ends.frames_sent += n;
            ends.cells_queued += n;
            ends.next_frame = frame.wrapping_add(n as u32);
            fabric.depart(Run {
                time,
                period,
                n: n as u32,
                frame,
                ..one
            });
            left = 0;
        }
        while left > 0 && source.next < end {
            if nic.is_overdue() {
                return fabric.overdue(Overdue::Nic(ends.nic));
            }
            let time = nic.send_cell(source.next);
            let frame = ends.next_frame;
            source.emitted(1);
            ends.frames_sent += 1;
            ends.cells_queued += 1;
            ends.next_frame = frame.wrapping_add(1);
            fabric.depart(Run { time, frame, ..one });
            left -= 1;
        }
        let next = source.next;
        if next < source.stop {
            self.events.push(next, Kind::Source, index);
        }
    }
}
