//! Feedback of a class queue to ABR sources: what its port has measured becomes rates, and marks in RM cells. One file per rule.
//!
//! A rule owns no clock and no queue: it is told of the end of each averaging interval with what was measured, of forward RM cells that
//! reach the port, and is asked what a backward RM cell that passes the switch is to say.

/// What a port has measured in one averaging interval.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Its length, seconds.
    pub interval_s: f64,
    /// Cells of higher classes whose transmission began in it.
    pub higher_cells: u64,
    /// Cells of the class that arrived in it, RM cells included, for each VC with ABR end systems, by its number among those of the port.
    pub arrived_cells: &'a [u64],
    /// Cells of the class that wait at its end.
    pub queue_cells: u64,
}

/// What a backward RM cell is to say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marks {
    /// The highest rate, cells per second; infinite where none is told.
    pub er: f64,
    /// CI.
    pub ci: bool,
    /// NI.
    pub ni: bool,
}

/// A VC with ABR end systems as the port knows it from its set-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subscriber {
    /// MCR, cells per second.
    pub mcr: f64,
    /// PCR, cells per second.
    pub pcr: f64,
    /// Its weight.
    pub weight: f64,
    /// Its max-min fair rate in the whole network, cells per second; only `oracle-rate` looks at it.
    pub fair: f64,
}
