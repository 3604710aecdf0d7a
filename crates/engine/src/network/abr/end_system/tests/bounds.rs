//! Tests of the bounds on what an end system does next: nothing may go sooner.

use super::*;

/// End system that has sent `cells` cells, with data waiting all the time.
fn having_sent(terms: EndSystemTerms, cells: u64) -> EndSystem {
    let mut end = EndSystem::new(terms);
    let mut now = Time::ZERO;
    for _ in 0..cells {
        now = end.due(true).max(now);
        end.next(now, true);
    }
    end
}

#[test]
fn no_forward_rm_cell_goes_and_no_data_go_sooner_than_said() {
    for (trm, exact) in [(ms(1_000_000), true), (ms(5), false)] {
        for sent in 1..40 {
            let end = having_sent(EndSystemTerms { trm, ..terms() }, sent);
            for cells in 0..40 {
                let (mut real, mut left) = (end.clone(), cells);
                let waits_from = |n| match n <= cells {
                    true => Time::ZERO,
                    false => Time::NEVER,
                };
                let said = end.earliest_forward_rm(waits_from);
                loop {
                    let due = real.due(left > 0);
                    if due == Time::NEVER {
                        break;
                    }
                    if real.next(due, left > 0) != NextCell::Data {
                        assert!(due >= said, "{sent} {cells}");
                        assert!(!exact || due == said, "{sent} {cells}");
                        break;
                    }
                    assert!(due >= end.earliest_data_cell(cells - left));
                    left -= 1;
                }
            }
        }
    }
    let mut end = having_sent(terms(), 3);
    assert!(end.earliest_forward_rm(|_| Time::NEVER) > Time::ZERO);
    end.set_acr(at(3), TCR / 2.0);
    assert_eq!(
        end.earliest_forward_rm(|_| Time::NEVER),
        Time::ZERO,
        "out of rate"
    );
    assert_eq!(
        EndSystem::new(terms()).earliest_forward_rm(|_| Time::NEVER),
        Time::ZERO
    );
}

#[test]
fn no_forward_rm_cell_goes_sooner_than_a_gap_behind_data_that_come_later() {
    // Twelve of the 31 cells before the next forward RM cell have gone, the last after 12 gaps.
    let end = having_sent(
        EndSystemTerms {
            trm: ms(1_000_000),
            ..terms()
        },
        13,
    );
    let last = end.last_cell.expect("it has sent");
    let gaps = |n: u64| last + end.gap * n;
    let said = |from: Time| {
        end.earliest_forward_rm(|n| {
            assert_eq!(n, 19);
            from
        })
    };
    assert_eq!(said(Time::ZERO), gaps(20));
    assert_eq!(said(gaps(19)), gaps(20));
    assert_eq!(said(gaps(25)), gaps(26));
    assert_eq!(said(Time::NEVER), end.last_forward + ms(1_000_000));
    // 18 cells wait, and the last one comes after 25 gaps.
    let mut real = end.clone();
    for n in 1..=18 {
        assert_eq!(real.next(gaps(n), true), NextCell::Data);
    }
    assert_eq!(real.next(gaps(25), true), NextCell::Data);
    assert_eq!(real.due(false), gaps(26));
    assert_ne!(real.next(gaps(26), false), NextCell::Data);
}

/// Largest number of cells per frame.
const FRAME: u64 = 1_366;

// At 5 cells/s a data cell goes each 0.2 s, with out-of-rate RM cells between. At 0 no data cell
// goes before the end of any run.
#[test]
fn below_tcr_no_data_go_sooner_than_said() {
    for acr in [5.0, 0.0] {
        let mut end = having_sent(terms(), 3);
        end.set_acr(at(3), acr);
        let last = end.last_cell.expect("it has sent");
        assert_eq!(end.earliest_data_cell(0), last + end.gap);
        assert_eq!(
            end.earliest_data_cell(FRAME),
            end.earliest_data_cell(0) + TCR_GAP * FRAME
        );
        let (mut real, mut data) = (end.clone(), 0);
        for _ in 0..100 {
            let due = real.due(true);
            if real.next(due, true) == NextCell::Data {
                assert!(due >= end.earliest_data_cell(data), "{acr}");
                data += 1;
            }
        }
        assert_eq!(data > 10, acr > 0.0, "{data}");
    }
}
