//! Random policies of the RED family with thresholds low enough to have an effect.

use super::edges::{LEAST, MOST_CELLS, ONE, or_edge};
use cellyard_engine::scenario::*;
use cellyard_engine::units::Ratio;
use proptest::prelude::*;
use proptest::sample::select;

/// Two random thresholds, the lower one below the other. Each is in cells or a fraction of
/// `buffer`. The lower one is often 0, the upper one sometimes all of the buffer.
fn thresholds(buffer: Option<u64>) -> impl Strategy<Value = (Threshold, Threshold)> {
    let below = |most: u64| {
        let upper = or_edge(1..=most, [1, most]);
        upper.prop_flat_map(|max| {
            let lower = prop_oneof![3 => 0..max, 2 => Just(0), 1 => Just(max - 1)];
            (lower, Just(max))
        })
    };
    let most = buffer.unwrap_or(40).min(60);
    let all = buffer.unwrap_or(MOST_CELLS);
    let all = select(vec![(0, all), (all - 1, all)]);
    let cells = prop_oneof![6 => below(most.min(12)), 2 => below(most), 1 => all]
        .prop_map(|(min, max)| (Threshold::Cells(min), Threshold::Cells(max)));
    let part = |twentieths: u64| Threshold::Fraction(Ratio::new(twentieths * 5, 100));
    let both = below(20).prop_map(move |(min, max)| (part(min), part(max)));
    let mixed = or_edge(
        (1u64..=20).prop_map(part),
        [LEAST, ONE].map(Threshold::Fraction),
    );
    let mixed = mixed.prop_map(|max| (Threshold::Cells(0), max));
    prop_oneof![5 => cells, 2 => both, 1 => mixed]
}

/// Random parameters for a buffer, with or without a segment.
pub fn params(buffer: Option<u64>, per_cell: bool) -> impl Strategy<Value = RedParams> {
    let hundredths = |all: &[u64]| all.iter().map(|&n| Ratio::new(n, 100)).collect::<Vec<_>>();
    let weight = or_edge(select(hundredths(&[100, 50, 10, 10, 2])), [LEAST, ONE]);
    let top = or_edge(select(hundredths(&[100, 50, 10, 2])), [LEAST, ONE]);
    let average = select(vec![RedAverage::Cell, RedAverage::Frame, RedAverage::Idle]);
    let segment = prop_oneof![6 => Just(1u64), 3 => 1..40u64, 1 => Just(MOST_CELLS)];
    let parts = (weight, top, segment, average, any::<bool>());
    (thresholds(buffer), parts).prop_map(
        move |((min_th, max_th), (w_q, max_p, segment, average, spacing))| RedParams {
            w_q,
            max_p,
            min_th,
            max_th,
            segment_cells: per_cell.then_some(segment),
            average,
            spacing,
            spare_short_frames: None,
        },
    )
}

/// Random ATM-RED, with or without sparing short frames.
pub fn atm_red(buffer: Option<u64>) -> impl Strategy<Value = DropPolicy> {
    (params(buffer, true), any::<bool>()).prop_map(|(params, spares)| {
        DropPolicy::AtmRed(RedParams {
            spare_short_frames: Some(spares),
            ..params
        })
    })
}

/// Random policy of any of the three kinds.
pub fn policy(buffer: Option<u64>) -> impl Strategy<Value = DropPolicy> {
    prop_oneof![
        2 => atm_red(buffer),
        1 => params(buffer, true).prop_map(DropPolicy::CellRed),
        1 => params(buffer, false).prop_map(DropPolicy::PacketRed),
    ]
}
