//! Data that a run gathers, and the memory it takes. Estimates are on the safe side and include the
//! Python objects made from it.

/// Bytes of a recorded point, in the engine and on the way to Python.
pub const POINT_BYTES: f64 = 48.0;
/// Bytes of a transfer: times in the engine, in the result, as text and as Python objects.
/// Measured: 403.
pub const TRANSFER_BYTES: f64 = 1_000.0;
/// Bytes of a traced drop, counted like a transfer. Measured: 336.
pub const DROP_BYTES: f64 = 500.0;
/// Bytes of a frame in transit: in the NIC's feed and in the records of both ends. Doubled, because
/// a list may just have grown.
pub const FRAME_BYTES: f64 = 128.0;

/// Bytes of a frame or RM cell in the reference engine, which keeps all frames of a run.
pub const KEPT_FRAME_BYTES: f64 = 168.0;

/// Data gathered so far and not yet drained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Points of series.
    pub points: u64,
    /// Traced drops.
    pub drops: u64,
    /// Runs of cells that wait in NICs or are in transit, and events.
    pub frames: u64,
    /// Frames and RM cells since the start of a run of the reference engine, which keeps all of
    /// them.
    pub kept_frames: u64,
    /// Points and drops that were drained and need no more memory here.
    pub drained: u64,
    /// Bytes of captured packets that are not yet written.
    pub captured: u64,
    /// Index in the scenario of the probe with the most points or drops, and their number.
    pub largest_probe: Option<(usize, u64)>,
}

impl Gathered {
    /// Bytes of points, drops, frames in transit and kept frames.
    pub fn parts(&self) -> [f64; 4] {
        [
            self.points as f64 * POINT_BYTES,
            self.drops as f64 * DROP_BYTES,
            self.frames as f64 * FRAME_BYTES,
            self.kept_frames as f64 * KEPT_FRAME_BYTES,
        ]
    }

    /// Points and drops in total, drained ones included.
    pub fn recorded(&self) -> u64 {
        self.points + self.drops + self.drained
    }

    /// Bytes of everything gathered.
    pub fn bytes(&self) -> f64 {
        self.parts().iter().sum::<f64>() + self.captured as f64
    }
}
