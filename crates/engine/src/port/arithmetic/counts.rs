//! Y_i and N_a for a queue that is not stored: the VCs of the last accepted cells in order of
//! acceptance.
//!
//! Cells join much more often than the counts are read. So joining cells are only logged, and
//! counted on reading. Cells that have left by then are never counted.

/// Counts of waiting cells per VC, kept as a log of joined cells that is shortened to X when read.
#[derive(Debug)]
pub struct Counts {
    /// Groups of (VC, cells) that joined together, in a ring whose length is a power of two. Groups
    /// are numbered consecutively for ever.
    ring: Box<[(u32, u32)]>,
    /// Numbers of the first group, the first uncounted group and the next group to come.
    first: usize,
    counted: usize,
    end: usize,
    /// Cells in all groups.
    cells: u64,
    /// Counts over the counted groups: cells per VC, and VCs with cells.
    of_vc: Vec<u64>,
    active: u64,
    /// Number of cells from which the log is shortened even if nobody reads the counts.
    shorten_at: u64,
}

impl Counts {
    /// Counts for `vcs` VCs without cells.
    pub fn new(vcs: usize) -> Counts {
        Counts {
            ring: vec![(0, 0); 8].into_boxed_slice(),
            first: 0,
            counted: 0,
            end: 0,
            cells: 0,
            of_vc: vec![0; vcs],
            active: 0,
            shorten_at: 0,
        }
    }

    fn place(&mut self, number: usize) -> &mut (u32, u32) {
        let mask = self.ring.len() - 1;
        &mut self.ring[number & mask]
    }

    /// Adds `n` cells of `vc` (its local number).
    pub fn add(&mut self, vc: u32, n: u32) {
        if self.end - self.first == self.ring.len() {
            self.grow();
        }
        *self.place(self.end) = (vc, n);
        self.end += 1;
        self.cells += u64::from(n);
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![(0, 0); 2 * self.ring.len()].into_boxed_slice();
        let mask = ring.len() - 1;
        for number in self.first..self.end {
            ring[number & mask] = *self.place(number);
        }
        self.ring = ring;
    }

    /// Forgets all but the last `waiting` cells.
    pub fn shorten(&mut self, waiting: u64) {
        while self.cells > waiting {
            let surplus = self.cells - waiting;
            let (vc, n) = *self.place(self.first);
            let gone = u64::from(n).min(surplus);
            self.cells -= gone;
            if self.first < self.counted {
                let of_vc = &mut self.of_vc[vc as usize];
                *of_vc -= gone;
                self.active -= u64::from(*of_vc == 0);
            }
            if gone == u64::from(n) {
                self.first += 1;
            } else {
                self.place(self.first).1 -= gone as u32;
            }
        }
        self.counted = self.counted.max(self.first);
    }

    /// Forgets all cells. Most often nothing has been counted since, and then no group is visited.
    pub fn clear(&mut self) {
        if self.counted > self.first {
            return self.shorten(0);
        }
        (self.first, self.counted, self.cells) = (self.end, self.end, 0);
    }

    /// Y_i of `vc`, and N_a, when `waiting` cells wait.
    pub fn look(&mut self, waiting: u64, vc: u32) -> (u64, u64) {
        self.count(waiting);
        (self.of_vc[vc as usize], self.active)
    }

    /// Y_i of every VC, when `waiting` cells wait.
    pub fn by_vc(&mut self, waiting: u64) -> &[u64] {
        self.count(waiting);
        &self.of_vc
    }

    /// Shortens the log to `waiting` cells and counts all of it.
    fn count(&mut self, waiting: u64) {
        self.shorten(waiting);
        for number in self.counted..self.end {
            let (vc, n) = *self.place(number);
            let of_vc = &mut self.of_vc[vc as usize];
            self.active += u64::from(*of_vc == 0);
            *of_vc += u64::from(n);
        }
        self.counted = self.end;
    }

    /// Whether the log has grown long since it was last shortened.
    #[inline]
    pub fn is_long(&self) -> bool {
        self.cells >= self.shorten_at
    }

    /// Shortens the log to `waiting` cells and sets the length that triggers the next shortening.
    pub fn forget(&mut self, waiting: u64) {
        self.shorten(waiting);
        self.shorten_at = 2 * waiting + 4096;
    }
}
