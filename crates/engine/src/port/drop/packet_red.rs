//! Packet-RED: random early detection that decides about whole frames, with per-VC accounting.
//!
//! At the first cell of a frame of VC i:
//! Refuse the frame <=> draw < min(1, p Y_i N_a / X), where p < 1.
//! With p = 1 it is always refused, with p = 0 never.
//!   p:   curve of `red.rs`, `max_p` being for a frame     X:   cells waiting in the class queue
//!   Y_i: cells of VC i waiting                            N_a: VCs with Y_i > 0
//! A VC that holds its share of the queue is refused with p, and one that holds more with more.
//! Source: Elloumi and Afifi, RED algorithm in ATM networks, IEEE ATM Workshop 1997; only its
//! abstract was at hand. It describes "the adaptation of RED algorithm to ATM (using EPD)" with "an
//! algorithm to improve its fairness", in a packet based form. `cell-discard`, section 2.3, says
//! that this needs per-VC accounting; its section 2.2 means counts of the cells that each VC has in
//! the buffer.
//! Not said there, chosen here: the counts form the load ratio of Selective Drop. Average and curve
//! are those of `atm-red`. X = 0 refuses no frame unless p = 1. Frames whose first cell a policer
//! drops are not decided on. A frame that finds the buffer full is decided on: RED decides about
//! each arrival.
//! Limits: needs per-VC counters; only the buffer above the average is left for frames already
//! begun.

use super::red::Red;
use super::{Arriving, Decision, DropRule, Needs, QueueView};
use crate::ground::units::Time;
use crate::text::scenario::RedParams;

/// Packet-RED for one class queue.
#[derive(Clone, Debug)]
pub struct PacketRed {
    red: Red,
}

impl PacketRed {
    /// Creates the policy for a buffer of `buffer` cells.
    pub fn new(params: &RedParams, buffer: Option<u64>) -> PacketRed {
        PacketRed {
            red: Red::new(params, buffer),
        }
    }
}

/// Refusal probability p Y_i N_a / X, at most 1.
fn weighted(p: f64, queue: &QueueView) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return p;
    }
    if queue.waiting == 0 {
        return 0.0;
    }
    let (y, n, x) = (queue.waiting_of_vc, queue.active_vcs, queue.waiting);
    (p * (y as f64 * n as f64 / x as f64)).min(1.0)
}

impl DropRule for PacketRed {
    fn needs(&self) -> Needs {
        Needs {
            vc_counts: true,
            ..self.red.needs()
        }
    }

    fn admit(&mut self, _now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        self.red.sees(cell, queue.waiting);
        if !cell.begins || cell.lost {
            return Decision::Accept;
        }
        let p = weighted(self.red.probability(), queue);
        Decision::refuse_if(self.red.marks(p, cell.draws))
    }

    fn red(&self) -> Option<&Red> {
        Some(&self.red)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, queue, red};
    use super::*;

    /// Number of refused frames out of 10 000.
    fn refused(view: QueueView) -> usize {
        let params = RedParams {
            segment_cells: None,
            ..red(1, 1)
        };
        let mut policy = PacketRed::new(&params, Some(40));
        let decisions = (0..10_000).map(|_| {
            let first = policy.admit(Time::ZERO, &cell(0, true, false), &view);
            let later = policy.admit(Time::ZERO, &cell(0, false, true), &view);
            assert_eq!(later, Decision::Accept, "decided at the first cell");
            first
        });
        decisions.filter(|&d| d != Decision::Accept).count()
    }

    #[test]
    fn who_holds_more_than_its_share_is_refused_more_often() {
        assert_eq!(weighted(0.2, &queue(20, 5, 4)), 0.2);
        assert_eq!(weighted(0.2, &queue(20, 10, 4)), 0.4);
        assert_eq!(weighted(0.2, &queue(20, 20, 8)), 1.0);
        assert_eq!(weighted(0.2, &queue(20, 0, 4)), 0.0);
        assert_eq!(weighted(0.2, &queue(0, 0, 0)), 0.0);
        assert_eq!(weighted(1.0, &queue(20, 0, 4)), 1.0);
        // p = 0.2; the standard deviation of 10 000 random draws is 40.
        let fair = refused(queue(20, 5, 4));
        assert!(fair.abs_diff(2_000) < 200, "{fair}");
        let greedy = refused(queue(20, 10, 4));
        assert!(greedy.abs_diff(4_000) < 245, "{greedy}");
    }

    #[test]
    fn thresholds_bound_it() {
        assert_eq!(refused(queue(10, 10, 4)), 0);
        assert_eq!(refused(queue(30, 0, 4)), 10_000);
    }
}
