//! Tests of data that are committed ahead.

use super::*;
use proptest::prelude::*;

/// Event at an end system: data before a limit, or an RM cell; times are tenths of a millisecond.
#[derive(Clone, Debug)]
enum Step {
    Data { waiting: u64, limit: u64 },
    Arrives { after: u64, rm: Rm },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rm = (any::<[bool; 4]>(), 0.0..1500.0).prop_map(|([backward, bn, ci, ni], er)| Rm {
        backward,
        bn,
        ci,
        ni,
        er,
        ccr: 1.0,
        mcr: 0.0,
    });
    let step = prop_oneof![
        3 => (1..100u64, 0..400u64).prop_map(|(waiting, limit)| Step::Data { waiting, limit }),
        1 => (0..200u64, rm).prop_map(|(after, rm)| Step::Arrives { after, rm }),
    ];
    proptest::collection::vec(step, 1..60)
}

proptest! {
    /// Data committed in a row equal data sent one by one: same times, and same state afterwards.
    #[test]
    fn data_in_a_row_are_those_that_come_one_by_one(
        steps in steps(),
        nrm in 1u32..6,
        trm in 1..40u64,
        mcr in prop_oneof![Just(0.0), 5.0..400.0],
    ) {
        let terms = EndSystemTerms { nrm: 1 << nrm, trm: ms(trm), mcr, crm: 4, adtf: ms(30), ..terms() };
        let (mut many, mut one) = (EndSystem::new(terms), EndSystem::new(terms));
        let mut now = Time::ZERO;
        for step in steps {
            match step {
                Step::Arrives { after, rm } => {
                    now += Span(ms(after).0 / 10);
                    many.take(now, rm);
                    one.take(now, rm);
                }
                Step::Data { waiting, limit } => {
                    now = many.due(true).max(now);
                    let (n, gap) = many.consecutive_data(now, waiting, now + Span(ms(limit).0 / 10));
                    prop_assert!(n <= waiting);
                    if n == 0 {
                        prop_assert_eq!(many.next(now, true), one.next(now, true));
                        continue;
                    }
                    for k in 0..n {
                        let due = one.due(true).max(now);
                        prop_assert_eq!(due, now + gap * k);
                        prop_assert_eq!(one.next(due, true), NextCell::Data);
                    }
                    now += gap * (n - 1);
                    many.sent_data(n, now);
                }
            }
            prop_assert_eq!(format!("{many:?}"), format!("{one:?}"));
        }
    }
}
