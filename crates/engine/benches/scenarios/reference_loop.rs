//! The reference loop: the least work that a cell-level simulator does at one FIFO port.
//!
//! Per cell slot, 0 to 2 arrivals: each is compared with the buffer, its VC's counter is raised and it is
//! pushed into a ring of 16-byte cells; then the first cell is popped and its VC's counter lowered.
//! * `steady`: one arrival per slot, VCs in turn, the queue at three quarters of the buffer;
//! * `random`: 0, 1 or 2 arrivals per slot (1/4, 1/2, 1/4) of random VCs: the queue walks up and down and meets the
//!   buffer's end.
//!
//! Nothing is drawn in advance, because a simulator has to produce its arrivals too.

use crate::measure::timed;
use std::hint::black_box;

const VCS: usize = 16;
const RING: usize = 16_384;
/// Cell slots of 10 s at 155.52 Mb/s.
pub const SLOTS: u32 = 3_667_924;

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Cell {
    vc: u32,
    flags: u32,
    number: u32,
    slot: u32,
}

/// One port with what it counts.
struct FifoPort {
    ring: Box<[Cell; RING]>,
    head: u32,
    tail: u32,
    waiting: [u32; VCS],
    lost: [u32; VCS],
    sent: [u32; VCS],
    delay: u64,
}

impl FifoPort {
    /// With three quarters of `buffer` filled.
    fn new(buffer: u32) -> FifoPort {
        let mut port = FifoPort {
            ring: Box::new([Cell::default(); RING]),
            head: 0,
            tail: 0,
            waiting: [0; VCS],
            lost: [0; VCS],
            sent: [0; VCS],
            delay: 0,
        };
        for i in 0..buffer * 3 / 4 {
            port.push(i, 0, buffer);
        }
        port
    }

    #[inline(always)]
    fn push(&mut self, vc: u32, slot: u32, buffer: u32) {
        let vc = vc & (VCS as u32 - 1);
        let i = vc as usize;
        if self.tail.wrapping_sub(self.head) >= buffer {
            self.lost[i] += 1;
            return;
        }
        let flags = u32::from(self.waiting[i] > buffer / VCS as u32);
        self.waiting[i] += 1;
        self.ring[self.tail as usize & (RING - 1)] = Cell {
            vc,
            flags,
            number: slot,
            slot,
        };
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline(always)]
    fn pop(&mut self, slot: u32) {
        if self.head == self.tail {
            return;
        }
        let cell = self.ring[self.head as usize & (RING - 1)];
        self.head = self.head.wrapping_add(1);
        let i = cell.vc as usize & (VCS - 1);
        self.waiting[i] -= 1;
        self.sent[i] += 1 + cell.flags;
        self.delay += u64::from(slot.wrapping_sub(cell.slot));
    }

    #[inline(never)]
    fn steady(&mut self, slots: u32, buffer: u32) {
        for t in 0..slots {
            self.push(t, t, buffer);
            self.pop(t);
        }
    }

    #[inline(never)]
    fn random(&mut self, slots: u32, buffer: u32) {
        let mut x = 88_172_645_463_325_252u64;
        for t in 0..slots {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let arrivals = (x >> 40) as u32 & 3; // 0 1 1 2
            if arrivals > 0 {
                self.push((x >> 20) as u32, t, buffer);
            }
            if arrivals == 3 {
                self.push((x >> 30) as u32, t, buffer);
            }
            self.pop(t);
        }
    }
}

/// One mode of the reference loop.
#[derive(Clone, Copy)]
pub struct Mode {
    /// Name in the table.
    pub name: &'static str,
    random: bool,
    buffer: u32,
}

/// All modes: both arrival patterns with the buffers of a LAN and of a WAN.
pub const MODES: [Mode; 4] = [
    Mode {
        name: "steady, 1000 cells",
        random: false,
        buffer: 1_000,
    },
    Mode {
        name: "steady, 12000 cells",
        random: false,
        buffer: 12_000,
    },
    UNIT,
    Mode {
        name: "random, 12000 cells",
        random: true,
        buffer: 12_000,
    },
];

/// The mode that times are compared with.
pub const UNIT: Mode = Mode {
    name: "random, 1000 cells",
    random: true,
    buffer: 1_000,
};

impl Mode {
    /// CPU time of one cell slot, ns.
    pub fn ns_per_cell(self) -> f64 {
        let mut port = FifoPort::new(self.buffer);
        let ((), seconds) = timed(|| {
            if self.random {
                port.random(SLOTS, self.buffer);
            } else {
                port.steady(SLOTS, self.buffer);
            }
        });
        black_box((port.sent, port.lost, port.delay));
        seconds * 1e9 / f64::from(SLOTS)
    }
}
