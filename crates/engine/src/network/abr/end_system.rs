//! ABR end system: source of one direction of a VC, destination of the other.
//!
//! Source: ATM Forum, Traffic Management 4.0, sections 5.10.4 and 5.10.5; model section 12. Rule
//! numbers are those of 5.10.4.
//!
//! One stream of cells leaves the end system, at most at ACR: data, forward RM cells, and those
//! that it turns round. The end system owns neither clock nor queue. Given whether data wait, it
//! says when the next cell may go, and which it is.

use super::rm::Rm;
use crate::ground::format::Clock;
use crate::ground::units::{Span, Time};
use crate::network::tally::{AbrTally, raise};
use crate::text::scenario::RmRates;

/// Mrm: number of cells behind a forward RM cell after which the next may be due by time (rule 3a).
const MRM: u64 = 2;
/// TCR, cells per second: below this ACR, RM cells may go out of rate at TCR (rule 11).
const TCR: f64 = 10.0;
/// Clock of the end systems: ABR exists in AAL5 only.
const CLOCK: Clock = Clock::AAL5;
/// Time between two cells at TCR.
const TCR_GAP: Span = Span(CLOCK.ticks_per_second / 10);

/// Parameters of an end system; rates are in cells per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndSystemTerms {
    /// PCR, peak cell rate.
    pub pcr: f64,
    /// MCR, minimum cell rate.
    pub mcr: f64,
    /// ICR, initial cell rate, already limited to TBE / FRTT.
    pub icr: f64,
    /// Nrm: one of so many in-rate cells is a forward RM cell.
    pub nrm: u64,
    /// Trm: time after which a forward RM cell may be due.
    pub trm: Span,
    /// RIF, factor of rate increase.
    pub rif: f64,
    /// RDF, factor of rate decrease.
    pub rdf: f64,
    /// CDF, factor of decrease when answers are missing.
    pub cdf: f64,
    /// ADTF: idle time after which ACR falls to ICR.
    pub adtf: Span,
    /// CRM: number of unanswered forward RM cells from which ACR decreases.
    pub crm: u64,
    /// Coding of rates in RM cells.
    pub rates: RmRates,
    /// Number of cells that may wait at the end system; `None` for any number.
    pub queue: Option<u64>,
}

/// Next cell of an end system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextCell {
    /// First of the waiting data.
    Data,
    /// RM cell.
    Rm {
        /// Content of the cell.
        rm: Rm,
        /// Whether the cell goes out of rate, with CLP = 1.
        out_of_rate: bool,
    },
}

/// Time between cells at rate `acr`, to the nearest tick; longer than any run at rate 0.
fn gap(acr: f64) -> Span {
    let ticks = CLOCK.ticks_per_second as f64 / acr + 0.5;
    Span(ticks.min(Span::FOREVER.0 as f64) as u64)
}

/// State of an end system.
#[derive(Clone, Debug)]
pub struct EndSystem {
    terms: EndSystemTerms,
    /// ACR, cells per second; `acr_since` is the time of the latest change.
    acr: f64,
    acr_since: Time,
    /// Time between cells at ACR.
    gap: Span,
    /// Sending time of the latest in-rate cell; `None` before the first.
    last_cell: Option<Time>,
    /// Sending times of the latest in-rate forward RM cell and of the latest out-of-rate cell.
    last_forward: Time,
    last_out_of_rate: Option<Time>,
    /// Number of in-rate cells since the latest forward RM cell.
    since_forward: u64,
    /// Whether one of the cells of `since_forward` was a backward RM cell.
    returned_since_forward: bool,
    /// Whether the latest out-of-rate cell was a backward RM cell; the two kinds take turns there.
    returned_out_of_rate: bool,
    /// Number of in-rate forward RM cells sent since the latest answer: a backward one with BN = 0.
    unanswered: u64,
    /// Forward RM cell of the other end that is to be turned round.
    to_return: Option<Rm>,
    tally: AbrTally,
}

impl EndSystem {
    /// Creates an end system that has sent nothing.
    pub fn new(terms: EndSystemTerms) -> EndSystem {
        EndSystem {
            terms,
            acr: terms.icr,
            gap: gap(terms.icr),
            acr_since: Time::ZERO,
            last_cell: None,
            last_forward: Time::ZERO,
            last_out_of_rate: None,
            since_forward: 0,
            returned_since_forward: false,
            returned_out_of_rate: false,
            unanswered: 0,
            to_return: None,
            tally: AbrTally::default(),
        }
    }

    /// ACR, cells per second.
    pub fn acr(&self) -> f64 {
        self.acr
    }

    /// Whether every cell was sent before `now`.
    pub fn has_sent_before(&self, now: Time) -> bool {
        self.last_cell.is_none_or(|last| last < now)
    }

    /// Earliest time of the next in-rate cell.
    fn in_rate_from(&self) -> Time {
        self.last_cell.map_or(Time::ZERO, |last| last + self.gap)
    }

    /// Time of the next cell, given whether `data` waits; it may be past.
    /// Returns [`Time::NEVER`] if nothing is to be sent until something arrives.
    pub fn due(&self, data: bool) -> Time {
        let waits = data || self.to_return.is_some();
        let in_rate = match self.last_cell {
            None if waits => Time::ZERO,
            None => Time::NEVER,
            Some(_) if waits || self.since_forward >= self.terms.nrm - 1 => self.in_rate_from(),
            Some(_) if self.since_forward >= MRM => {
                self.in_rate_from().max(self.last_forward + self.terms.trm)
            }
            Some(_) => Time::NEVER,
        };
        if waits && self.acr < TCR {
            let last = self.last_out_of_rate.max(self.last_cell);
            let out_of_rate = last.map_or(Time::ZERO, |last| last + TCR_GAP);
            return in_rate.min(out_of_rate);
        }
        in_rate
    }

    /// Takes the next cell, which must be due at `now`.
    pub fn next(&mut self, now: Time, data: bool) -> NextCell {
        if self.last_cell.is_some() && self.in_rate_from() > now {
            return self.next_out_of_rate(now, data);
        }
        let by_number = self.since_forward >= self.terms.nrm - 1;
        let by_time = self.since_forward >= MRM && now >= self.last_forward + self.terms.trm;
        if self.last_cell.is_none() || by_number || by_time {
            return self.next_forward(now);
        }
        self.last_cell = Some(now);
        self.since_forward += 1;
        if !(data && self.returned_since_forward)
            && let Some(rm) = self.to_return.take()
        {
            self.returned_since_forward = true;
            self.tally.backward_sent += 1;
            return NextCell::Rm {
                rm,
                out_of_rate: false,
            };
        }
        debug_assert!(data, "something is due");
        NextCell::Data
    }

    /// Sends an in-rate forward RM cell, by rules 5 to 7 and 10.
    fn next_forward(&mut self, now: Time) -> NextCell {
        let EndSystemTerms {
            icr,
            mcr,
            cdf,
            adtf,
            crm,
            ..
        } = self.terms;
        let idle = now.since(self.last_forward);
        if self.last_cell.is_some() && self.acr > icr && idle > adtf {
            self.set_acr(now, icr);
        }
        if self.unanswered >= crm {
            self.set_acr(now, (self.acr - self.acr * cdf).max(mcr));
        }
        self.last_cell = Some(now);
        self.last_forward = now;
        self.since_forward = 0;
        self.returned_since_forward = false;
        self.unanswered += 1;
        self.tally.forward_sent += 1;
        NextCell::Rm {
            rm: self.forward(),
            out_of_rate: false,
        }
    }

    /// Sends an out-of-rate RM cell, by rule 11. Rules 3, 5 and 6 count in-rate cells only.
    fn next_out_of_rate(&mut self, now: Time, data: bool) -> NextCell {
        self.last_out_of_rate = Some(now);
        self.tally.out_of_rate += 1;
        let returned = if data && self.returned_out_of_rate {
            None
        } else {
            self.to_return.take()
        };
        self.returned_out_of_rate = returned.is_some();
        let rm = match returned {
            Some(rm) => {
                self.tally.backward_sent += 1;
                rm
            }
            None => {
                self.tally.forward_sent += 1;
                self.forward()
            }
        };
        NextCell::Rm {
            rm,
            out_of_rate: true,
        }
    }

    /// Rounds the rates of an RM cell if they are coded as in the payload.
    fn rounded_if_coded(&self, rm: Rm) -> Rm {
        match self.terms.rates {
            RmRates::Exact => rm,
            RmRates::Coded => rm.rounded(),
        }
    }

    fn forward(&self) -> Rm {
        self.rounded_if_coded(Rm {
            backward: false,
            bn: false,
            ci: false,
            ni: false,
            er: self.terms.pcr,
            ccr: self.acr,
            mcr: self.terms.mcr,
        })
    }

    /// Number of waiting data cells that surely go next, and the time between them.
    /// The first goes at `now`, when a cell must be due, and all go before `limit`.
    pub fn consecutive_data(&self, now: Time, waiting: u64, limit: Time) -> (u64, Span) {
        let gap = self.gap;
        if self.last_cell.is_none() || self.in_rate_from() > now {
            return (0, gap);
        }
        if self.to_return.is_some() && !self.returned_since_forward {
            return (0, gap);
        }
        let until_forward = (self.terms.nrm - 1).saturating_sub(self.since_forward);
        // The forward RM cell that is due by time also needs two cells before it, which this bound
        // ignores.
        let by_time = self.last_forward + self.terms.trm;
        let before = limit.min(by_time);
        if before <= now {
            return (0, gap);
        }
        let in_time = (before - now).0.div_ceil(gap.0.max(1));
        (waiting.min(until_forward).min(in_time), gap)
    }

    /// Lower bound on the time of a data cell behind `others` others, provided that the rate does
    /// not rise.
    /// Below TCR the bound is early: at an ACR of 0 the time between cells cannot be multiplied.
    pub fn earliest_data_cell(&self, others: u64) -> Time {
        self.in_rate_from() + self.gap.min(TCR_GAP) * others
    }

    /// Lower bound on the time of the next forward RM cell, if no RM cell arrives until then. Data
    /// cell number `n` from now on, counted from 1, waits no sooner than `waits_from(n)`.
    pub fn earliest_forward_rm(&self, waits_from: impl FnOnce(u64) -> Time) -> Time {
        let Some(last) = self.last_cell.filter(|_| self.acr >= TCR) else {
            return Time::ZERO;
        };
        let by_time = self.last_forward + self.terms.trm;
        let left = (self.terms.nrm - 1).saturating_sub(self.since_forward);
        if self.to_return.is_some() {
            return Time::ZERO;
        }
        let by_number = last + self.gap * (left + 1);
        if by_number >= by_time || left == 0 {
            return by_number.min(by_time);
        }
        // The RM cell goes one gap behind the last of these cells.
        let waits_from = waits_from(left);
        if waits_from >= by_time {
            return by_time;
        }
        by_time.min(by_number.max(waits_from + self.gap))
    }

    /// Registers `n` data cells sent as [`EndSystem::consecutive_data`] allows, the last at `last`.
    pub fn sent_data(&mut self, n: u64, last: Time) {
        self.since_forward += n;
        self.last_cell = Some(last);
    }

    /// Takes an arriving RM cell.
    /// A forward one of the other end is to be turned round (section 5.10.5). A backward one is an
    /// answer (rules 8 and 9).
    pub fn take(&mut self, now: Time, rm: Rm) {
        let rm = self.rounded_if_coded(rm);
        if !rm.backward {
            self.tally.forward_taken += 1;
            let waited = self.to_return.replace(Rm {
                backward: true,
                bn: false,
                ..rm
            });
            self.tally.overwritten += u64::from(waited.is_some());
            return;
        }
        self.tally.backward_taken += 1;
        if !rm.bn {
            self.unanswered = 0;
        }
        let EndSystemTerms {
            pcr, mcr, rif, rdf, ..
        } = self.terms;
        let mut acr = self.acr;
        if rm.ci {
            acr = (acr - acr * rdf).max(mcr);
        } else if !rm.ni {
            acr = (acr + rif * pcr).min(pcr);
        }
        self.set_acr(now, acr.min(rm.er).max(mcr));
    }

    fn set_acr(&mut self, now: Time, acr: f64) {
        self.tally.allowed_cells += self.acr * now.since(self.acr_since).as_seconds(CLOCK);
        self.acr_since = now;
        self.acr = acr;
        self.gap = gap(acr);
    }

    /// Whether as many as `cells` have waited before. So many then fit, and no counter changes.
    pub fn has_queued(&self, cells: u64) -> bool {
        cells <= self.tally.max_waiting
    }

    /// Whether a frame of `cells` cells fits into the queue behind `waiting` cells; counts the
    /// result.
    pub fn queues(&mut self, waiting: u64, cells: u64) -> bool {
        let all = waiting + cells;
        let fits = self.terms.queue.is_none_or(|most| all <= most);
        if fits {
            raise(&mut self.tally.max_waiting, all);
        } else {
            self.tally.refused_frames += 1;
        }
        fits
    }

    /// Counters up to `end`.
    ///
    /// # Panics
    /// Panics if an arrived RM cell was neither returned, overwritten nor kept, or if ACR is out of
    /// bounds.
    pub fn tally(&self, end: Time, waiting: u64) -> AbrTally {
        let EndSystemTerms { pcr, mcr, .. } = self.terms;
        let tally = &self.tally;
        let waits = u64::from(self.to_return.is_some());
        assert_eq!(
            tally.forward_taken,
            tally.backward_sent + tally.overwritten + waits,
            "RM cells are returned, overwritten or waiting"
        );
        assert!(mcr <= self.acr && self.acr <= pcr, "MCR <= ACR <= PCR");
        AbrTally {
            waiting,
            acr: self.acr,
            allowed_cells: tally.allowed_cells
                + self.acr * end.since(self.acr_since).as_seconds(CLOCK),
            ..*tally
        }
    }
}

#[cfg(test)]
mod tests;
