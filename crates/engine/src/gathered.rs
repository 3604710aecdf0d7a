//! What a run gathers while it goes on, and the memory that it takes: estimates on the safe side, what Python makes of it included.

/// Bytes of a recorded point, here and on its way to Python.
pub const OF_POINT: f64 = 48.0;
/// Bytes of a transfer: its times here, in the result, as text and as what Python makes of it; 403 were measured.
pub const OF_TRANSFER: f64 = 1_000.0;
/// Bytes of a traced drop, likewise; 336 were measured.
pub const OF_DROP: f64 = 500.0;
/// Bytes of a frame that is under way: in its NIC's feed, in the books of its ends, and as much again where a list has just grown.
pub const OF_FRAME: f64 = 128.0;

/// Bytes of a frame or RM cell in the reference engine, which keeps all frames of a run.
pub const OF_KEPT_FRAME: f64 = 168.0;

/// What has gathered so far and nobody has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Points of series.
    pub points: u64,
    /// Traced drops.
    pub drops: u64,
    /// Runs of cells that wait in NICs or are on their way, and events.
    pub frames: u64,
    /// Frames and RM cells since the beginning of a run of the reference engine, which keeps them all.
    pub kept_frames: u64,
    /// Points and drops that were taken, for which no memory is needed here any more.
    pub drained: u64,
    /// Memory of captured packets that are not written, bytes.
    pub captured: u64,
    /// The probe with the most points or drops, by its index in the scenario, and their number.
    pub most: Option<(usize, u64)>,
}

impl Gathered {
    /// The memory of points, drops, frames under way and frames that are kept.
    pub fn parts(&self) -> [f64; 4] {
        [
            self.points as f64 * OF_POINT,
            self.drops as f64 * OF_DROP,
            self.frames as f64 * OF_FRAME,
            self.kept_frames as f64 * OF_KEPT_FRAME,
        ]
    }

    /// Points and drops in all.
    pub fn recorded(&self) -> u64 {
        self.points + self.drops + self.drained
    }

    /// The memory of all of it.
    pub fn bytes(&self) -> f64 {
        self.parts().iter().sum::<f64>() + self.captured as f64
    }
}
