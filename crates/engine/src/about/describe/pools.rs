//! Pools of switches, for a reader.

use super::names::NameRange;
use crate::run::resolved::Resolved;
use crate::text::scenario::topology::PoolTerms;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Switches with equal pools, and what is shared in each.
#[derive(Clone, Debug, Serialize)]
pub struct PoolFacts<'s> {
    /// The switches.
    pub switches: NameRange<'s>,
    /// What a place is: see [`PoolTerms::noun`].
    pub place: &'static str,
    /// Bytes of a memory cell, if that is a place.
    pub memory_cell: Option<u32>,
    /// B: places of the pool.
    pub places: u64,
    /// Sum of the reserves of all queues that take part.
    pub reserved: u64,
    /// S: places that they share.
    pub shared: u64,
    /// Number of ports that take part.
    pub ports: usize,
}

/// The pools of `net` in the order of the first switch of each.
pub(super) fn pools<'s>(net: &Resolved<'s>) -> Vec<PoolFacts<'s>> {
    let mut known: FxHashMap<(u64, u64, usize, Option<u32>), usize> = FxHashMap::default();
    let mut found: Vec<PoolFacts> = Vec::new();
    let pools = net.scenario.switches.iter().zip(&net.topology.pools);
    for (switch, terms) in pools {
        let (Some(pool), Some(terms)) = (&switch.pool, terms) else {
            continue;
        };
        let key = (terms.places, terms.reserved, terms.links.len(), pool.cell);
        let at = *known.entry(key).or_insert(found.len());
        match found.get_mut(at) {
            Some(facts) => facts.switches.add(&switch.name),
            None => found.push(PoolFacts {
                switches: NameRange::of(&switch.name),
                place: PoolTerms::noun(pool, net.scenario.format),
                memory_cell: pool.cell,
                places: terms.places,
                reserved: terms.reserved,
                shared: terms.shared(),
                ports: terms.links.len(),
            }),
        }
    }
    found
}
