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
                let said = end.earliest_forward_rm(cells);
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
    assert!(end.earliest_forward_rm(0) > Time::ZERO);
    end.set_acr(at(3), TCR / 2.0);
    assert_eq!(end.earliest_forward_rm(0), Time::ZERO, "out of rate");
    assert_eq!(EndSystem::new(terms()).earliest_forward_rm(0), Time::ZERO);
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
