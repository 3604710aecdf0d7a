//! Tests of RED, by hand and against its formulas.

use super::*;
use crate::ground::format::Clock;
use crate::ground::units::{Span, Time};
use crate::network::cells::{ENDS_FRAME, Run, SINGLE_CELLS};
use crate::port::drop::testing::{cell, red};
use crate::port::drop::{AskedRun, Decision, DropRule, Policy, QueueView};
use crate::text::scenario::{DropPolicy, Threshold};
use proptest::collection::vec;
use proptest::prelude::*;

/// Average after `cells` cells that each find X = `waiting`.
fn seen(red: &mut Red, cells: usize, waiting: u64) -> f64 {
    for _ in 0..cells {
        red.sees(&cell(0, false, false), waiting);
    }
    red.average()
}

/// RED state with this average.
fn at(params: &RedParams, average: f64) -> Red {
    Red {
        average,
        ..Red::new(params, Some(40))
    }
}

#[test]
fn the_average_is_a_low_pass_of_x_at_every_cell() {
    let mut average = Red::new(&red(1, 2), Some(40));
    assert_eq!(seen(&mut average, 1, 8), 4.0);
    assert_eq!(seen(&mut average, 1, 8), 6.0);
    assert_eq!(seen(&mut average, 1, 0), 3.0);
    // The step response after n cells is 1 - 0.998^n of the step.
    let mut slow = Red::new(&red(2, 1000), Some(40));
    let reached = seen(&mut slow, 500, 1000);
    assert!((reached - 1000.0 * (1.0 - 0.998f64.powi(500))).abs() < 1e-9);
}

#[test]
fn an_average_without_a_queue_ends_at_zero() {
    let mut average = at(&red(1, 2), 1.0);
    assert_eq!(seen(&mut average, 64, 0), NOTHING);
    assert_eq!(seen(&mut average, 1, 0), 0.0);
}

#[test]
fn by_frames_only_first_cells_count() {
    let params = RedParams {
        average: RedAverage::Frame,
        ..red(1, 2)
    };
    let mut average = Red::new(&params, Some(40));
    assert_eq!(seen(&mut average, 5, 8), 0.0);
    average.sees(&cell(0, true, false), 8);
    assert_eq!(average.average(), 4.0);
}

#[test]
fn an_idle_time_counts_as_cells_that_found_nothing() {
    let params = RedParams {
        average: RedAverage::Idle,
        ..red(1, 2)
    };
    let idle = |cells| Arriving {
        idle_cells: Some(cells),
        ..cell(0, true, false)
    };
    for (cells, left) in [(0, 16.0), (1, 8.0), (3, 2.0), (4, 1.0)] {
        let mut average = at(&params, 16.0);
        average.sees(&idle(cells), 0);
        assert_eq!(average.average(), left);
        assert_eq!(seen(&mut average, 1, 8), left / 2.0 + 4.0);
    }
    // Without the correction the cell counts like any other.
    let mut plain = at(&red(1, 2), 16.0);
    plain.sees(&idle(4), 0);
    assert_eq!(plain.average(), 8.0);
}

#[test]
fn powers_are_made_of_squares() {
    assert_eq!(power(0.5, 0), 1.0);
    assert_eq!(power(0.5, 21), 1.0 / f64::from(1 << 21));
    assert!((power(0.998, 1000) - libm::exp(1000.0 * libm::log(0.998))).abs() < 1e-12);
    assert_eq!(power(0.998, u64::MAX.into()), 0.0);
}

// min_th = 10, max_th = 30, max_p = 0.4 over 8 cells: 0.05 at the top.
#[test]
fn the_curve_begins_at_the_lower_threshold_and_steps_at_the_upper() {
    let params = red(1, 2);
    for (average, p) in [
        (0.0, 0.0),
        (9.99, 0.0),
        (10.0, 0.0),
        (20.0, 0.025),
        (25.0, 0.0375),
        (30.0, 1.0),
        (99.0, 1.0),
    ] {
        let found = at(&params, average).probability();
        assert!((found - p).abs() < 1e-15, "{average}: {found}");
    }
    let below = at(&params, 29.999_999).probability();
    assert!(below > 0.0499 && below < 0.05);
    // Without a segment `max_p` holds for what is decided on.
    let whole = RedParams {
        segment_cells: None,
        ..params
    };
    assert_eq!(at(&whole, 20.0).probability(), 0.2);
}

#[test]
fn thresholds_of_an_unlimited_buffer_are_never_reached() {
    let params = RedParams {
        max_th: Threshold::Fraction(Ratio::new(1, 2)),
        ..red(1, 2)
    };
    let mut never = Red {
        average: 1e12,
        ..Red::new(&params, None)
    };
    assert_eq!(never.probability(), 0.0);
    let mut limited = Red {
        average: 20.0,
        ..Red::new(&params, Some(40))
    };
    assert_eq!(limited.probability(), 1.0);
}

/// Numbers of decisions between marks, at an average where p is 0.025.
fn gaps(spacing: bool) -> Vec<u64> {
    let params = RedParams {
        spacing,
        ..red(1, 2)
    };
    let mut red = at(&params, 20.0);
    let (mut gaps, mut since) = (Vec::new(), 0);
    while gaps.len() < 4000 {
        since += 1;
        let p = red.probability();
        if red.marks(p, cell(0, false, false).draws) {
            gaps.push(since);
            since = 0;
        }
    }
    // The first count begins at 0 instead of 1.
    gaps.remove(0);
    gaps
}

// The geometric distribution has mean 1 / p = 40 and standard deviation 39.5. The uniform one
// over 1 .. 39 has 20 and 11.3. Tolerances are five standard deviations over the root of 4000:
// 3.1 and 0.9.
#[test]
fn spacing_makes_the_gaps_between_marks_uniform() {
    let mean = |gaps: &[u64]| gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    let (plain, spaced) = (gaps(false), gaps(true));
    assert!((mean(&plain) - 40.0).abs() < 3.1, "{}", mean(&plain));
    assert!(plain.iter().any(|&gap| gap > 80));
    assert!((mean(&spaced) - 20.0).abs() < 0.9, "{}", mean(&spaced));
    assert_eq!(spaced.iter().max(), Some(&39));
    assert_eq!(spaced.iter().min(), Some(&1));
}

#[test]
fn the_count_begins_anew_below_the_lower_threshold() {
    let params = RedParams {
        spacing: true,
        ..red(1, 2)
    };
    let mut red = at(&params, 20.0);
    red.count = 39;
    // 1 - 39 x 0.025 = 0.025: certain.
    let draws = cell(0, false, false).draws;
    let p = red.probability();
    assert!(red.marks(p, draws));
    assert_eq!((red.drawn, red.count), (0, 1));
    red.count = 39;
    red.average = 9.0;
    assert_eq!(red.probability(), 0.0);
    assert!(!red.marks(0.0, draws));
    assert_eq!((red.drawn, red.count), (0, 0));
}

#[test]
fn what_is_certain_is_not_drawn() {
    let draws = cell(0, false, false).draws;
    let mut red = at(&red(1, 2), 20.0);
    assert!(!red.marks(0.0, draws) && red.marks(1.0, draws));
    assert_eq!(red.drawn, 0);
    red.marks(0.5, draws);
    assert_eq!(red.drawn, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Cells of three VCs, first one by one, then together as the policy allows.
    #[test]
    fn cells_that_are_seen_together_leave_what_they_leave_one_after_the_other(
        (by_frames, w_q, spacing, when) in (any::<bool>(), 1u64..12, 0u8..4, 0u8..4),
        (from_zero, idle) in (any::<bool>(), prop_oneof![Just(0), 0u64..80]),
        before in vec((0u32..3, 0u64..60, any::<bool>(), any::<bool>()), 0..60),
        (runs, cells, x) in (1usize..4, 1u64..40, 0i64..40),
        shapes in vec((any::<bool>(), any::<bool>(), any::<bool>()), 3),
    ) {
        let params = RedParams {
            spacing: spacing == 0,
            average: [RedAverage::Cell, RedAverage::Cell, RedAverage::Idle, RedAverage::Frame][usize::from(when)],
            min_th: Threshold::Cells(if from_zero { 0 } else { 10 }),
            ..red(1, w_q * w_q)
        };
        let spec = if by_frames { DropPolicy::AtmRed(params) } else { DropPolicy::CellRed(params) };
        let mut policy = Policy::new(&spec, Some(40), &[None; 3], Span::ZERO, Clock::AAL5);
        let queue = |waiting| QueueView { waiting, ..QueueView::default() };
        for (vc, waiting, begins, eom) in before {
            policy.admit(Time::ZERO, &cell(vc, begins, eom), &queue(waiting));
        }
        // The average decays, to 0 if w_q is large.
        for _ in 0..idle {
            policy.admit(Time::ZERO, &cell(0, false, false), &queue(0));
        }
        let mut asked: Vec<_> = (0..runs).map(|vc| {
            let (begins, ends, single) = shapes[vc];
            let flags = (ENDS_FRAME * u8::from(ends || single)) | (SINGLE_CELLS * u8::from(single));
            let run = Run { n: cells as u32, flags, ..Run::default() };
            let first = cell(vc as u32, begins || single, run.first_ends_frame());
            AskedRun::new(&run, first, x)
        }).collect();
        let n = cells as usize * runs;
        let waiting: Vec<i64> = (0..n as i64).map(|i| x + i - i / runs as i64).collect();
        let bounds = [waiting.iter().min(), waiting.iter().max()].map(|x| x.map_or(0, |&x| x as u64));
        let together = AskedRuns {
            runs: &asked,
            cells,
            period: Span(1),
            least: bounds[0],
            most: bounds[1],
        };
        let mut other = policy.clone();
        if !other.admits_all(&together) {
            prop_assert_eq!(format!("{policy:?}"), format!("{other:?}"));
            return Ok(());
        }
        for (place, &waiting) in waiting.iter().enumerate() {
            let run = &mut asked[place % runs];
            let decision = policy.admit(Time::ZERO, &run.cell, &queue(waiting as u64));
            prop_assert_eq!(decision, Decision::Accept);
            run.next_cell(Span(1));
        }
        prop_assert_eq!(format!("{policy:?}"), format!("{other:?}"));
    }
}

/// With `min_th` 0 each of eight cells halves an average of 4.5 x 2^-64. It is still on the
/// curve at the first two, after which it becomes 0: two draws, and not eight.
#[test]
fn an_average_that_becomes_zero_among_cells_draws_no_more() {
    let params = RedParams {
        min_th: Threshold::Cells(0),
        ..red(1, 2)
    };
    let first = cell(0, false, false);
    let mut one_by_one = at(&params, 4.5 * NOTHING);
    let mut together = one_by_one.clone();
    for _ in 0..8 {
        one_by_one.sees(&first, 0);
        let p = one_by_one.probability();
        assert!(!one_by_one.marks(p, first.draws));
    }
    assert_eq!((one_by_one.average, one_by_one.drawn), (0.0, 2));
    let cells = AskedRuns {
        runs: &[AskedRun::new(&Run::default(), first, 0)],
        cells: 8,
        period: Span(1),
        least: 0,
        most: 0,
    };
    assert!(!together.passes_all(&cells, 1) || together.drawn == 2);
}

/// In each of the three cases: below the lower threshold, on the curve where no draw marks, and
/// where one would.
#[test]
fn cells_are_seen_together_where_none_is_marked() {
    // Without a segment p is 0.2 at 20 cells.
    let params = RedParams {
        segment_cells: None,
        ..red(1, 1)
    };
    let draws = cell(0, false, false).draws;
    let first = (0..).find(|&n| draws.unit(n) < 0.2).expect("one in five");
    let together = |waiting: u64, cells: u64| {
        let run = AskedRun::new(&Run::default(), cell(0, false, false), waiting as i64);
        let mut red = at(&params, waiting as f64);
        let cells = AskedRuns {
            runs: &[run],
            cells,
            period: Span(1),
            least: waiting,
            most: waiting,
        };
        red.passes_all(&cells, 1).then_some(red.drawn)
    };
    assert_eq!(together(9, 1000), Some(0));
    assert_eq!(together(20, first), Some(first));
    assert_eq!(together(20, first + 1), None);
    assert_eq!(together(31, 1), None);
}
