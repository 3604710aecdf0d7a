//! RM cells (resource management): what they say.

/// What an RM cell carries. Rates are in cells per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rm {
    /// DIR: on its way back to the source that sent it, or that it was sent for.
    pub backward: bool,
    /// BN: made by a switch or the destination rather than sent by the source.
    pub bn: bool,
    /// CI: the rate must fall.
    pub ci: bool,
    /// NI: the rate must not rise.
    pub ni: bool,
    /// ER, the highest rate that all that it has passed allow.
    pub er: f64,
    /// CCR, ACR of the source when it sent the cell.
    pub ccr: f64,
    /// MCR of the VC.
    pub mcr: f64,
}

impl Rm {
    /// With what a place that it passes tells: the rate is lowered, marks are added.
    pub fn marked(self, er: f64, ci: bool, ni: bool) -> Rm {
        Rm {
            er: self.er.min(er),
            ci: self.ci | ci,
            ni: self.ni | ni,
            ..self
        }
    }
}

/// TEMP
pub fn coded(rate: f64) -> f64 {
    rate
}
