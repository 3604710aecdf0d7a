//! The queue of a class.

use super::vc_queue::VcQueue;
use super::waiting::Waiting;
use crate::units::Span;
use std::collections::VecDeque;

/// The waiting cells of a class, and what the kernel must know to take cells together.
#[derive(Debug, Default)]
pub struct ClassQueue {
    /// The cells, when the class is served first come first served.
    pub cells: VecDeque<Waiting>,
    /// Numbers of their arrival at the port over all classes, when the scheduler asks for them.
    pub numbers: VecDeque<u64>,
    /// The cells by local VC number, when it is scheduled per VC.
    pub per_vc: Vec<VcQueue>,
    /// Y_i by local VC number, and N_a, when needed.
    pub of_vc: Vec<u64>,
    /// See `of_vc`.
    pub active: u64,
    /// Largest X just after an acceptance.
    pub max: u64,
    /// The smallest X at which a cell of a frame already begun, or the first of a new one, can be refused.
    pub full: u64,
    /// See `full`.
    pub refusal: u64,
}

impl ClassQueue {
    /// All that waits.
    pub fn runs(&self) -> impl Iterator<Item = &Waiting> {
        let per_vc = self.per_vc.iter().flat_map(VcQueue::runs);
        self.cells.iter().chain(per_vc)
    }

    /// `n` cells of the VC with local number `local` join, for Y_i and N_a.
    #[inline(always)]
    pub fn count_in(&mut self, local: usize, n: u64) {
        self.active += u64::from(self.of_vc[local] == 0);
        self.of_vc[local] += n;
    }

    /// They leave.
    #[inline(always)]
    pub fn count_out(&mut self, local: usize, n: u64) {
        self.of_vc[local] -= n;
        self.active -= u64::from(self.of_vc[local] == 0);
    }

    /// The first cell of those served first come first served; cells arrived `c` apart.
    pub fn pop_front(&mut self, c: Span) -> Waiting {
        self.take_front(1, c)
    }

    /// The first cells that arrived in one run, at most `most` of them.
    #[inline(always)]
    pub fn take_front(&mut self, most: u64, c: Span) -> Waiting {
        let first = self.cells.front_mut().expect("the class has a cell");
        let cells = if u64::from(first.n()) <= most {
            let all = *first;
            self.cells.pop_front();
            all
        } else {
            first.split(most as u32, c)
        };
        if !self.numbers.is_empty() {
            self.numbers.pop_front();
        }
        cells
    }
}
