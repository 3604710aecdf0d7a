//! Tests of each modelled rule of TM 4.0: source behaviour (5.10.4) and destination behaviour
//! (5.10.5).

use super::*;

mod bounds;
mod row;

fn ms(n: u64) -> Span {
    Span::from_milliseconds(n)
}

fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}

/// Terms with one cell per millisecond at first, no cells due by time, and no cut for missing
/// answers.
fn terms() -> EndSystemTerms {
    EndSystemTerms {
        pcr: 1000.0,
        mcr: 0.0,
        icr: 1000.0,
        nrm: 32,
        trm: ms(1_000_000),
        rif: 0.0625,
        rdf: 0.0625,
        cdf: 0.0625,
        adtf: ms(1_000_000),
        crm: 1_000_000,
        rates: RmRates::Exact,
        queue: None,
    }
}

/// Backward RM cell that leaves the rate as it is.
fn answer() -> Rm {
    Rm {
        backward: true,
        bn: false,
        ci: false,
        ni: true,
        er: f64::INFINITY,
        ccr: 0.0,
        mcr: 0.0,
    }
}

fn er(er: f64) -> Rm {
    Rm { er, ..answer() }
}

/// Backward RM cell that lets the rate rise.
fn up() -> Rm {
    Rm {
        ni: false,
        ..answer()
    }
}

/// Backward RM cell made by the network (BN = 1).
fn no_answer() -> Rm {
    Rm { bn: true, ..up() }
}

/// Forward RM cell of the other end.
fn question() -> Rm {
    Rm {
        backward: false,
        bn: false,
        ci: false,
        ni: false,
        er: 700.0,
        ccr: 600.0,
        mcr: 5.0,
    }
}

/// End system that sends as soon as it may.
struct Line {
    end: EndSystem,
    now: Time,
}

impl Line {
    fn new(terms: EndSystemTerms) -> Line {
        Line {
            end: EndSystem::new(terms),
            now: Time::ZERO,
        }
    }

    fn next(&mut self, data: bool) -> NextCell {
        self.now = self.end.due(data).max(self.now);
        assert!(self.now < Time::NEVER, "nothing is due");
        self.end.next(self.now, data)
    }

    /// Kinds of the next `n` cells: `F` forward, `B` backward, `d` data; `f` and `b` out of rate.
    fn order(&mut self, n: usize, data: bool) -> String {
        let name = |turn| match turn {
            NextCell::Data => 'd',
            NextCell::Rm { rm, out_of_rate } => match (rm.backward, out_of_rate) {
                (false, false) => 'F',
                (true, false) => 'B',
                (false, true) => 'f',
                (true, true) => 'b',
            },
        };
        (0..n).map(|_| name(self.next(data))).collect()
    }

    /// Next cell, which must be an RM cell.
    fn rm(&mut self, data: bool) -> Rm {
        match self.next(data) {
            NextCell::Rm { rm, .. } => rm,
            NextCell::Data => panic!("data"),
        }
    }
}

/// ACR after one `rm` has come back to an end system that had sent a cell at `acr`.
fn after(terms: EndSystemTerms, acr: f64, rm: Rm) -> f64 {
    let mut end = EndSystem::new(EndSystemTerms { icr: acr, ..terms });
    end.next(Time::ZERO, true);
    end.take(at(1), rm);
    end.acr()
}

#[test]
fn rule_1_in_rate_cells_are_one_over_acr_apart_and_acr_keeps_its_bounds() {
    let mut line = Line::new(terms());
    line.next(true);
    for n in 1..70 {
        line.next(true);
        assert_eq!(line.now, at(n));
    }
    // A quarter of the rate counts from the previous cell; then the full rate returns.
    line.end.take(at(69), er(250.0));
    assert_eq!(line.end.due(true), at(73));
    (0..16).for_each(|_| line.end.take(at(70), up()));
    assert_eq!((line.end.acr(), line.end.due(true)), (1000.0, at(70)));
    let bounded = EndSystemTerms {
        mcr: 100.0,
        rif: 1.0,
        ..terms()
    };
    assert_eq!(after(bounded, 500.0, up()), 1000.0);
    assert_eq!(after(bounded, 500.0, er(0.0)), 100.0);
}

#[test]
fn rule_2_begins_at_icr_with_a_forward_rm_cell() {
    let terms = EndSystemTerms {
        icr: 40.0,
        ..terms()
    };
    let mut line = Line::new(terms);
    assert_eq!(line.end.acr(), 40.0);
    assert_eq!(line.end.due(false), Time::NEVER);
    assert_eq!(line.rm(true).ccr, 40.0);
    // The forward RM cell comes first even if the end system only answers.
    let mut line = Line::new(terms);
    line.end.take(Time::ZERO, question());
    assert_eq!(line.order(2, false), "FB");
    assert_eq!(line.now, at(25));
}

#[test]
fn rule_3a_one_of_nrm_cells_is_a_forward_rm_cell() {
    for nrm in [2, 4, 32, 256] {
        let mut line = Line::new(EndSystemTerms { nrm, ..terms() });
        let period = format!("F{}", "d".repeat(nrm as usize - 1));
        assert_eq!(line.order(3 * nrm as usize, true), period.repeat(3));
    }
    // Cells that are turned round count among the Nrm.
    let mut line = Line::new(EndSystemTerms { nrm: 4, ..terms() });
    line.next(true);
    line.end.take(line.now, question());
    assert_eq!(line.order(5, true), "BddFd");
    // The forward RM cell goes even if nothing waits; then there is silence.
    let mut line = Line::new(EndSystemTerms { nrm: 4, ..terms() });
    assert_eq!(line.order(4, true), "Fddd");
    assert_eq!(line.order(1, false), "F");
    assert_eq!(line.end.due(false), Time::NEVER);
}

#[test]
fn rule_3a_after_trm_one_goes_behind_two_cells() {
    let terms = EndSystemTerms {
        trm: ms(10),
        ..terms()
    };
    // Forward RM cells go at 0 and 10 ms.
    assert_eq!(Line::new(terms).order(12, true), "FdddddddddFd");
    // The RM cell comes by itself once Mrm cells have gone, not before.
    for (cells, due) in [(1, Time::NEVER), (2, at(10)), (3, at(10))] {
        let mut line = Line::new(terms);
        line.order(1 + cells, true);
        assert_eq!(line.end.due(false), due, "{cells} cells");
    }
    let mut line = Line::new(terms);
    line.order(2, true);
    line.now = at(50);
    assert_eq!(line.order(3, true), "dFd");
}

#[test]
fn rule_3b_one_backward_rm_cell_goes_before_data_and_more_where_none_wait() {
    let mut line = Line::new(EndSystemTerms { nrm: 8, ..terms() });
    line.order(3, true);
    line.end.take(line.now, question());
    assert_eq!(line.order(1, true), "B");
    // The next backward RM cell waits for the forward one.
    line.end.take(line.now, question());
    assert_eq!(line.order(7, true), "ddddFBd");
    // A moment without data also lets it go.
    line.end.take(line.now, question());
    assert_eq!(line.order(2, true), "dd");
    assert_eq!(line.order(1, false), "B");
}

#[test]
fn rule_3_a_forward_rm_cell_that_is_due_goes_before_one_that_is_turned_round() {
    let mut line = Line::new(EndSystemTerms { nrm: 4, ..terms() });
    line.order(4, true);
    line.end.take(line.now, question());
    assert_eq!(line.order(3, true), "FBd");
}

#[test]
fn rule_5_after_adtf_without_forward_rm_cells_acr_falls_to_icr() {
    let terms = EndSystemTerms {
        icr: 100.0,
        nrm: 2,
        adtf: ms(500),
        rif: 1.0,
        ..terms()
    };
    let raised = || {
        let mut line = Line::new(terms);
        line.order(2, true);
        line.end.take(line.now, up());
        assert_eq!(line.end.acr(), 1000.0);
        line
    };
    let mut line = raised();
    line.now = at(500);
    assert_eq!(line.rm(true).ccr, 1000.0, "not after ADTF itself");
    let mut line = raised();
    line.now = at(500) + Span(1);
    assert_eq!(line.rm(true).ccr, 100.0);
    assert_eq!(line.end.due(true), line.now + ms(10));
    // A rate below ICR stays as it is.
    let mut line = raised();
    line.end.take(at(20), er(50.0));
    line.now = at(2000);
    assert_eq!(line.rm(true).ccr, 50.0);
}

#[test]
fn rule_6_with_crm_unanswered_acr_is_cut_by_cdf_at_each_forward_rm_cell() {
    let terms = EndSystemTerms {
        nrm: 2,
        crm: 3,
        cdf: 0.25,
        mcr: 500.0,
        ..terms()
    };
    let mut line = Line::new(terms);
    let rates = |line: &mut Line, n: usize| -> Vec<f64> {
        let mut rates = Vec::new();
        for _ in 0..n {
            rates.push(line.rm(true).ccr);
            line.next(true);
        }
        rates
    };
    assert_eq!(rates(&mut line, 3), [1000.0; 3]);
    assert_eq!(rates(&mut line, 4), [750.0, 562.5, 500.0, 500.0]);
    // A cell made by the network (BN = 1) is no answer.
    line.end.take(line.now, no_answer());
    assert_eq!(line.end.acr(), 562.5);
    assert_eq!(rates(&mut line, 1), [500.0]);
    line.end.take(line.now, up());
    assert_eq!(rates(&mut line, 4), [562.5, 562.5, 562.5, 500.0]);
    // With CDF = 0 nothing is cut.
    let mut line = Line::new(EndSystemTerms { cdf: 0.0, ..terms });
    assert_eq!(rates(&mut line, 5), [1000.0; 5]);
}

#[test]
fn rule_6_follows_rule_5() {
    let late = EndSystemTerms {
        icr: 400.0,
        nrm: 2,
        adtf: ms(500),
        rif: 1.0,
        crm: 1,
        cdf: 0.25,
        ..terms()
    };
    let mut line = Line::new(late);
    line.order(2, true);
    line.end.take(line.now, up());
    line.order(2, true);
    assert_eq!(line.end.acr(), 1000.0);
    line.now = at(5000);
    assert_eq!(line.rm(true).ccr, 300.0, "(1 - CDF) ICR");
}

#[test]
fn rule_7_ccr_is_the_rate_of_the_cells_behind() {
    let mut line = Line::new(EndSystemTerms { nrm: 2, ..terms() });
    line.order(2, true);
    line.end.take(line.now, er(200.0));
    assert_eq!(line.rm(true).ccr, 200.0);
    let sent = line.now;
    line.next(true);
    assert_eq!(line.now, sent + ms(5));
}

#[test]
fn rule_8_ci_lowers_by_rdf_and_neither_mark_raises_by_rif() {
    let terms = EndSystemTerms {
        mcr: 100.0,
        rif: 0.25,
        rdf: 0.125,
        ..terms()
    };
    let marked = |ci, ni| Rm { ci, ni, ..answer() };
    assert_eq!(after(terms, 400.0, marked(true, false)), 350.0);
    assert_eq!(after(terms, 400.0, marked(true, true)), 350.0);
    assert_eq!(after(terms, 400.0, marked(false, true)), 400.0);
    assert_eq!(
        after(terms, 400.0, marked(false, false)),
        650.0,
        "part of PCR"
    );
    assert_eq!(after(terms, 110.0, marked(true, false)), 100.0, "MCR");
    assert_eq!(after(terms, 900.0, marked(false, false)), 1000.0, "PCR");
}

#[test]
fn rule_9_er_bounds_what_rule_8_leaves_but_not_below_mcr() {
    let terms = EndSystemTerms {
        mcr: 100.0,
        rif: 0.25,
        rdf: 0.125,
        ..terms()
    };
    let with = |er, ci| Rm {
        er,
        ci,
        ni: false,
        ..answer()
    };
    assert_eq!(after(terms, 400.0, with(500.0, false)), 500.0);
    assert_eq!(after(terms, 400.0, with(800.0, false)), 650.0);
    assert_eq!(after(terms, 400.0, with(300.0, true)), 300.0);
    assert_eq!(after(terms, 400.0, with(380.0, true)), 350.0);
    assert_eq!(after(terms, 400.0, with(20.0, false)), 100.0);
}

#[test]
fn rules_4_and_10_a_forward_rm_cell_asks_for_pcr_in_rate() {
    let mut line = Line::new(EndSystemTerms {
        mcr: 7.0,
        icr: 300.0,
        ..terms()
    });
    let rm = Rm {
        backward: false,
        bn: false,
        ci: false,
        ni: false,
        er: 1000.0,
        ccr: 300.0,
        mcr: 7.0,
    };
    let out_of_rate = false;
    assert_eq!(line.next(true), NextCell::Rm { rm, out_of_rate });
}

/// End system that has sent a forward RM cell and then fallen to `acr`.
fn slow(acr: f64) -> Line {
    let mut line = Line::new(EndSystemTerms { nrm: 4, ..terms() });
    line.next(true);
    line.end.take(line.now, er(acr));
    line
}

#[test]
fn rule_11_below_tcr_rm_cells_go_out_of_rate_ten_a_second() {
    let mut line = slow(0.0);
    for n in 1..5 {
        assert_eq!(line.order(1, true), "f");
        assert_eq!(line.now, at(100 * n));
    }
    assert_eq!(line.end.due(false), Time::NEVER, "nothing waits");
    // Answers bring the rate back. The cells before the next forward RM cell are still to be sent.
    line.end.take(line.now, up());
    assert_eq!(line.order(5, true), "dddFd");
    // At TCR and above nothing goes out of rate.
    assert_eq!(slow(10.0).order(5, true), "dddFd");
    // Between 0 and TCR, in-rate cells go at their times, 0.4 and 0.8 s.
    assert_eq!(slow(2.5).order(8, true), "fffdfffd");
}

#[test]
fn rule_11_what_goes_out_of_rate_is_not_counted_by_rules_3_5_and_6() {
    let counting = EndSystemTerms {
        nrm: 4,
        crm: 2,
        cdf: 0.5,
        icr: 800.0,
        adtf: ms(1000),
        ..terms()
    };
    let mut line = Line::new(counting);
    line.next(true);
    line.end.take(line.now, er(0.0));
    // A backward RM cell that went out of rate lets another go in rate.
    line.end.take(line.now, question());
    assert_eq!(line.order(12, true), "bfffffffffff");
    line.end.take(line.now, question());
    (0..16).for_each(|_| line.end.take(line.now, no_answer()));
    assert_eq!(line.end.acr(), 1000.0);
    assert_eq!(line.order(3, true), "Bdd");
    // The latest in-rate forward RM cell was 1200 ms ago, so ACR falls to ICR, regardless of what
    // went out of rate. There is no cut, since none in rate is unanswered.
    assert_eq!(line.rm(true).ccr, 800.0);
}

#[test]
fn rule_3b_looks_at_backward_rm_cells_in_rate_only() {
    let raise = |line: &mut Line| (0..16).for_each(|_| line.end.take(line.now, up()));
    // After an out-of-rate backward RM cell, the next may still go in rate.
    let mut line = slow(0.0);
    line.end.take(line.now, question());
    assert_eq!(line.order(1, true), "b");
    line.end.take(line.now, question());
    raise(&mut line);
    assert_eq!(line.order(3, true), "Bdd");
    // After an in-rate one, no out-of-rate cell lets another go before the next forward RM cell.
    let mut line = slow(1000.0);
    line.end.take(line.now, question());
    assert_eq!(line.order(1, true), "B");
    line.end.take(line.now, er(0.0));
    assert_eq!(line.order(1, true), "f");
    line.end.take(line.now, question());
    raise(&mut line);
    assert_eq!(line.order(4, true), "ddFB");
}

#[test]
fn rule_11_backward_and_forward_rm_cells_take_turns_out_of_rate() {
    let mut line = slow(0.0);
    let mut order = String::new();
    for _ in 0..4 {
        line.end.take(line.now, question());
        order += &line.order(1, true);
    }
    assert_eq!(order, "bfbf");
    // Without data only cells to be returned go.
    line.end.take(line.now, question());
    assert_eq!(line.order(1, false), "b");
    line.end.take(line.now, question());
    assert_eq!(line.order(1, false), "b");
    assert_eq!(line.end.due(false), Time::NEVER);
}

#[test]
fn destination_2_turns_a_forward_rm_cell_round_and_leaves_what_it_says() {
    let said = Rm {
        bn: true,
        ci: true,
        ni: true,
        ..question()
    };
    let mut line = Line::new(terms());
    line.end.take(Time::ZERO, said);
    line.next(false);
    let back = Rm {
        backward: true,
        bn: false,
        ..said
    };
    assert_eq!(line.rm(false), back);
    assert_eq!(line.end.acr(), 1000.0, "it is no answer");
}

#[test]
fn destination_3_overwrites_what_still_waits() {
    let mut line = Line::new(terms());
    line.order(2, true);
    for ccr in [1.0, 2.0, 3.0] {
        line.end.take(line.now, Rm { ccr, ..question() });
    }
    assert_eq!(line.rm(true).ccr, 3.0);
    assert_eq!(line.order(4, true), "dddd");
    line.end.take(line.now, question());
    let tally = line.end.tally(line.now, 0);
    let AbrTally {
        forward_taken,
        backward_sent,
        overwritten,
        ..
    } = tally;
    assert_eq!(
        [forward_taken, backward_sent, overwritten],
        [4, 1, 2],
        "one waits"
    );
}

#[test]
fn destination_6_returns_in_rate_what_came_out_of_rate() {
    let mut other = slow(0.0);
    let NextCell::Rm {
        rm,
        out_of_rate: true,
    } = other.next(true)
    else {
        panic!("out of rate");
    };
    let mut line = Line::new(terms());
    line.next(true);
    line.end.take(other.now, rm);
    assert_eq!(line.order(1, true), "B");
}

// 1000 = 2^9 (1 + 488/512); 300 = 2^8 (1 + 88/512); 1001.5 and 700.3 lie between codes.
#[test]
fn rates_have_16_bits_where_told_so() {
    let coded = EndSystemTerms {
        pcr: 1001.5,
        icr: 300.0,
        rates: RmRates::Coded,
        ..terms()
    };
    let mut line = Line::new(coded);
    let rm = line.rm(true);
    assert_eq!((rm.er, rm.ccr), (1001.0, 300.0));
    assert_eq!(after(coded, 900.0, er(700.3)), 700.0);
    assert_eq!(after(terms(), 900.0, er(700.3)), 700.3);
}

#[test]
fn acr_is_integrated_over_time() {
    let mut line = Line::new(terms());
    line.next(true);
    line.end.take(at(2000), er(250.0));
    let tally = line.end.tally(at(6000), 0);
    assert_eq!((tally.acr, tally.allowed_cells), (250.0, 3000.0));
}
