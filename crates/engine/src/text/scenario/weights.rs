//! Rule: the weights that a per-VC scheduler compares have a common multiple, in which its exact start
//! tags can count (model section 6).

use super::network::Network;
use super::report::Report;
use super::{Class, Scheduler};
use crate::text::notation::words::list;
use std::collections::BTreeSet;

/// Largest number of units that a cell may add to a start tag. With fewer than 2^30 cells in a turn,
/// tags fit into 128 bits.
const MOST_UNITS: u128 = 1 << 96;

/// Largest weight of a VC.
const MOST: u64 = 1_000_000;

/// Number of weights that a message names.
const MOST_NAMED: usize = 5;

/// The least common multiple of weights, 1 without any. `None` if it has more than [`MOST_UNITS`] of
/// the smallest weight.
pub(crate) fn common_multiple(weights: impl IntoIterator<Item = u64>) -> Option<u128> {
    let (mut multiple, mut least) = (1u128, u64::MAX);
    for weight in weights {
        least = least.min(weight);
        let rest = multiple % u128::from(weight);
        if rest > 0 {
            let common = gcd(u128::from(weight), rest);
            multiple = multiple.checked_mul(u128::from(weight) / common)?;
        }
    }
    (multiple <= MOST_UNITS.saturating_mul(least.into())).then_some(multiple)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `weight` with all but its `bits` highest bits 0, to the nearest that is allowed.
fn rounded(weight: u64, bits: u32) -> u64 {
    let digits = u64::BITS - weight.leading_zeros();
    let step = 1 << digits.saturating_sub(bits);
    let below = weight / step * step;
    let above = below + step;
    if weight - below < above - weight || above > MOST {
        below
    } else {
        above
    }
}

/// Weights near `weights` that have a common multiple: with as many bits as possible.
fn nearby(weights: &BTreeSet<u64>) -> impl Fn(u64) -> u64 {
    let fits = |&bits: &u32| common_multiple(weights.iter().map(|&w| rounded(w, bits))).is_some();
    // With 5 bits, all that are allowed have one.
    let bits = (5..20).rev().find(fits).unwrap_or(5);
    move |weight| rounded(weight, bits)
}

/// The first of `words`, and how many others there are.
fn first(words: &[String]) -> String {
    let named = list(words.iter().take(MOST_NAMED).map(String::as_str));
    match words.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Reports per-VC schedulers whose VCs have weights without a common multiple.
pub(crate) fn check(network: &Network<'_>, report: &mut Report) {
    let (scenario, topology) = (network.scenario, network.topology);
    for (link, at) in network.ports() {
        let Scheduler::PerVc { class, .. } = *topology.scheduler(scenario, link) else {
            continue;
        };
        let of = |class: Class| {
            let vcs = topology.crossing[link].iter();
            let vcs = vcs.map(|flow| &scenario.vcs[topology.flows[flow.index()].vc]);
            vcs.filter(move |vc| vc.class == class).map(|vc| vc.weight)
        };
        let weights: BTreeSet<u64> = of(class).collect();
        if common_multiple(weights.iter().copied()).is_some() {
            continue;
        }
        let near = nearby(&weights);
        let changed = weights.iter().filter(|&&weight| near(weight) != weight);
        let changed: Vec<_> = changed
            .map(|&weight| format!("{} for {weight}", near(weight)))
            .collect();
        let all: Vec<_> = weights.iter().map(u64::to_string).collect();
        let place = network.place_of_setting(link, scenario.links[link].scheduler.is_some());
        report.add_once(
            &format!("{place}.scheduler"),
            format!(
                "cannot compare the weights {} of its VCs at {} exactly: their least common multiple is too large",
                first(&all),
                at.name
            ),
            format!(
                "a least common multiple of at most 2^96 times the smallest weight, for instance with {}",
                first(&changed)
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_weights_up_to_64_have_a_common_multiple() {
        let all = common_multiple(1..=64).expect("it fits");
        assert!((1..=64).all(|weight| all.is_multiple_of(weight)));
        assert_eq!(common_multiple([]), Some(1));
        assert_eq!(common_multiple(vec![999_983; 10_000]), Some(999_983));
        assert_eq!(common_multiple([4, 6, 10]), Some(60));
    }

    proptest! {
        #[test]
        fn nearby_weights_have_a_common_multiple(
            weights in proptest::collection::btree_set(1..=MOST, 1..200)
        ) {
            let near = nearby(&weights);
            let nearby: BTreeSet<u64> = weights.iter().map(|&w| near(w)).collect();
            prop_assert!(common_multiple(nearby.iter().copied()).is_some());
            for &weight in &weights {
                let rounded = near(weight);
                prop_assert!((1..=MOST).contains(&rounded));
                prop_assert!(rounded.abs_diff(weight) * 16 <= weight, "{rounded} for {weight}");
            }
        }
    }
}
