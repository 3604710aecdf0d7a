//! Random policies of the RED family with thresholds low enough to have an effect.

use cellyard_engine::scenario::*;
use cellyard_engine::units::Ratio;
use proptest::prelude::*;

/// Two random thresholds, the lower one below the other. Each is in cells or a fraction of
/// `buffer`.
fn thresholds(buffer: Option<u64>) -> impl Strategy<Value = (Threshold, Threshold)> {
    let most = buffer.unwrap_or(40);
    let low = (1..=most.min(12)).prop_flat_map(|max| (0..max, Just(max)));
    let any = (1..=most).prop_flat_map(|max| (0..max, Just(max)));
    let cells = prop_oneof![3 => low, 1 => any]
        .prop_map(|(min, max)| (Threshold::Cells(min), Threshold::Cells(max)));
    let part = |twentieths: u64| Threshold::Fraction(Ratio::new(twentieths * 5, 100));
    let parts = (1u64..=20).prop_flat_map(|max| (0..max, Just(max)));
    let both = parts.prop_map(move |(min, max)| (part(min), part(max)));
    let mixed = (1u64..=20).prop_map(move |max| (Threshold::Cells(0), part(max)));
    prop_oneof![5 => cells, 2 => both, 1 => mixed]
}

/// Random parameters for a buffer, with or without a segment.
pub fn params(buffer: Option<u64>, per_cell: bool) -> impl Strategy<Value = RedParams> {
    let weight = proptest::sample::select(vec![(1u64, 1u64), (1, 1), (5, 10), (1, 10), (2, 100)]);
    let top = proptest::sample::select(vec![(1u64, 1u64), (5, 10), (1, 10), (2, 100)]);
    let average =
        proptest::sample::select(vec![RedAverage::Cell, RedAverage::Frame, RedAverage::Idle]);
    let segment = prop_oneof![2 => Just(1u64), 1 => 1..40u64];
    let parts = (weight, top, segment, average, any::<bool>());
    (thresholds(buffer), parts).prop_map(
        move |((min_th, max_th), (w_q, max_p, segment, average, spacing))| RedParams {
            w_q: Ratio::new(w_q.0, w_q.1),
            max_p: Ratio::new(max_p.0, max_p.1),
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
