//! Y_i and N_a of a queue that nobody keeps: the VCs of the last accepted cells in order of acceptance.
//!
//! Cells join much more often than anybody asks. So they are only written down, and counted when somebody does; what has left by
//! then is never counted.

/// Cells by VC, the last ones of which wait. Shortened to X when it is looked at.
#[derive(Debug)]
pub struct Counts {
    /// VCs and cells of theirs that joined together, in a ring of a power of two. Places are numbered on and on.
    ring: Box<[(u32, u32)]>,
    /// The place of the first, of the first that is not counted yet, and of the next to come.
    first: usize,
    counted: usize,
    end: usize,
    /// All of them.
    cells: u64,
    /// Of those that are counted: cells by VC, and VCs with cells.
    of_vc: Vec<u64>,
    active: u64,
    /// At so many cells, those that have left are forgotten even if nobody looks.
    shorten_at: u64,
}

impl Counts {
    /// Of `vcs` VCs, none of which has cells.
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

    #[inline(always)]
    fn place(&mut self, number: usize) -> &mut (u32, u32) {
        let mask = self.ring.len() - 1;
        &mut self.ring[number & mask]
    }

    /// `n` cells of `vc` (its local number) join.
    #[inline(always)]
    pub fn add(&mut self, vc: u32, n: u32) {
        if self.end - self.first == self.ring.len() {
            self.grow();
        }
        *self.place(self.end) = (vc, n);
        self.end += 1;
        self.cells += u64::from(n);
    }

    /// One does; for those who seldom keep counts.
    #[inline(never)]
    pub fn add_one(&mut self, vc: u32) {
        self.add(vc, 1);
    }

    #[cold]
    #[inline(never)]
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

    /// Forgets all: nothing waits. Where nobody has looked meanwhile, which is most often, that takes no look at what is forgotten.
    #[inline(always)]
    pub fn clear(&mut self) {
        if self.counted > self.first {
            return self.shorten(0);
        }
        (self.first, self.counted, self.cells) = (self.end, self.end, 0);
    }

    /// Y_i of `vc`, and N_a, when `waiting` cells wait.
    #[inline(never)]
    pub fn look(&mut self, waiting: u64, vc: u32) -> (u64, u64) {
        self.count(waiting);
        (self.of_vc[vc as usize], self.active)
    }

    /// Y_i of every VC, when `waiting` cells wait.
    pub fn by_vc(&mut self, waiting: u64) -> &[u64] {
        self.count(waiting);
        &self.of_vc
    }

    /// Counts the `waiting` cells that wait.
    #[inline(always)]
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
