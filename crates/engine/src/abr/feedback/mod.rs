//! Feedback of a class queue to ABR sources: what its port has measured becomes rates, and marks in RM cells. One file per rule.
//!
//! A rule owns no clock and no queue: it is told of the end of each averaging interval with what was measured, of forward RM cells that
//! reach the port, and is asked what a backward RM cell that passes the switch is to say. To add one: its file here with a
//! [`FeedbackRule`], its line in [`Rule`] and in [`Rule::new`], a variant in `scenario::Feedback` and an entry in the registry.
//!
//! Rates are floats, in cells per second. Both engines ask the same code, and sums go by the number of the VC: so they get the same bits.

mod efci;
mod erica;
mod erica_mcr;
mod erica_plus;
pub mod fair;
mod oracle_rate;
mod relative_rate;
mod shares;
#[cfg(test)]
mod testing;

use crate::scenario::Feedback;
use efci::Efci;
use enum_dispatch::enum_dispatch;
use erica::Erica;
use erica_mcr::EricaMcr;
use erica_plus::EricaPlus;
use oracle_rate::OracleRate;
use relative_rate::RelativeRate;

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

impl Measured<'_> {
    /// Rate of the higher classes, cells per second.
    fn higher(&self) -> f64 {
        self.higher_cells as f64 / self.interval_s
    }
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

impl Marks {
    /// Nothing.
    pub const NONE: Marks = Marks::rate(f64::INFINITY);

    /// A rate, and no marks.
    const fn rate(er: f64) -> Marks {
        Marks {
            er,
            ci: false,
            ni: false,
        }
    }
}

/// A VC with ABR end systems as the port knows it from its set-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subscriber {
    /// MCR, cells per second.
    pub mcr: f64,
    /// PCR, cells per second.
    pub pcr: f64,
    /// Its weight, above 0.
    pub weight: f64,
    /// Its max-min fair rate in the whole network, cells per second; only `oracle-rate` looks at it.
    pub fair: f64,
}

/// What a feedback rule decides. VCs are numbered among the subscribers of the port.
#[enum_dispatch]
pub trait FeedbackRule {
    /// An averaging interval has ended.
    fn end_of_interval(&mut self, measured: &Measured<'_>);

    /// A forward RM cell of VC number `vc` that says `ccr` has arrived at the port.
    fn forward(&mut self, vc: usize, ccr: f64);

    /// What a backward RM cell of VC number `vc`, which passes the switch now, is to say.
    fn backward(&mut self, vc: usize) -> Marks;

    /// Whether data cells that pass now leave with EFCI = 1.
    fn marks_data(&self) -> bool {
        false
    }
}

/// The feedback of one class queue.
#[enum_dispatch(FeedbackRule)]
#[derive(Clone, Debug)]
pub enum Rule {
    /// See the file of that name, here and below.
    Erica,
    /// ERICA that keeps a small queue.
    EricaPlus,
    /// ERICA with minimum rates and weights.
    EricaMcr,
    /// CI and NI by the queue.
    RelativeRate,
    /// EFCI by the queue.
    Efci,
    /// Rates known beforehand.
    OracleRate,
}

impl Rule {
    /// The rule `spec` for a link of `capacity` cells per second that these VCs cross.
    pub fn new(spec: &Feedback, capacity: f64, subscribers: &[Subscriber]) -> Rule {
        match spec {
            Feedback::Erica(params) => Erica::new(params, capacity, subscribers).into(),
            Feedback::EricaPlus(params) => EricaPlus::new(params, capacity, subscribers).into(),
            Feedback::EricaMcr(params) => EricaMcr::new(params, capacity, subscribers).into(),
            Feedback::RelativeRate { high, low, .. } => RelativeRate::new(*high, *low).into(),
            Feedback::Efci { threshold, .. } => Efci::new(*threshold).into(),
            Feedback::OracleRate { .. } => OracleRate::new(subscribers).into(),
        }
    }
}
