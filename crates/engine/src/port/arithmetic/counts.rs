//! Y_i and N_a of a queue that nobody keeps: the VCs of the last accepted cells in order of acceptance.

use std::collections::VecDeque;

/// Cells by VC, the last ones of which wait. Shortened to X when it is looked at.
#[derive(Debug)]
pub struct Counts {
    queue: VecDeque<(u32, u32)>,
    cells: u64,
    of_vc: Vec<u64>,
    active: u64,
    /// At so many cells, those that have left are forgotten even if nobody looks.
    shorten_at: u64,
}

impl Counts {
    /// Of `vcs` VCs, none of which has cells.
    pub fn new(vcs: usize) -> Counts {
        Counts {
            queue: VecDeque::new(),
            cells: 0,
            of_vc: vec![0; vcs],
            active: 0,
            shorten_at: 0,
        }
    }

    /// Forgets all but the last `waiting` cells.
    pub fn shorten(&mut self, waiting: u64) {
        while self.cells > waiting {
            let (vc, n) = self
                .queue
                .front_mut()
                .expect("the queue holds the cells it counts");
            let gone = u64::from(*n).min(self.cells - waiting);
            let of_vc = &mut self.of_vc[*vc as usize];
            *of_vc -= gone;
            self.active -= u64::from(*of_vc == 0);
            self.cells -= gone;
            *n -= gone as u32;
            if *n == 0 {
                self.queue.pop_front();
            }
        }
    }

    /// `n` cells of `vc` (its local number) join.
    pub fn add(&mut self, vc: u32, n: u32) {
        let of_vc = &mut self.of_vc[vc as usize];
        self.active += u64::from(*of_vc == 0);
        *of_vc += u64::from(n);
        self.cells += u64::from(n);
        if let Some((last, cells)) = self.queue.back_mut()
            && *last == vc
            && let Some(sum) = cells.checked_add(n)
        {
            *cells = sum;
        } else {
            self.queue.push_back((vc, n));
        }
    }

    /// Y_i of `vc`, and N_a, when `waiting` cells wait.
    pub fn look(&mut self, waiting: u64, vc: u32) -> (u64, u64) {
        self.shorten(waiting);
        (self.of_vc[vc as usize], self.active)
    }

    /// Whether it has grown much without anybody looking.
    #[inline]
    pub fn is_long(&self) -> bool {
        self.cells >= self.shorten_at
    }

    /// Shortens it, and waits until it has grown much again.
    pub fn forget(&mut self, waiting: u64) {
        self.shorten(waiting);
        self.shorten_at = 2 * waiting + 4096;
    }
}
