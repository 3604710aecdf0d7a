//! Max-min fair rates above minimum rates, over a whole network.
//!
//! VC i gets MCR_i + w_i u, with one u that grows for all from 0. A VC stops when it is at its PCR
//! or a link on its way is full; the others go on. In the outcome every VC is at its PCR or has a
//! full link on which no VC has a larger (rate - MCR) / weight.
//! Source: Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2, with rates counted
//! above MCR and by weight (ATM Forum 98-0408).
//! Chosen here: if the MCRs alone exceed the capacity of a link, its VCs stay at them.

/// VC that takes all it can get.
#[derive(Clone, Debug, PartialEq)]
pub struct FairVc {
    /// MCR, cells per second.
    pub mcr: f64,
    /// PCR, cells per second, at least the MCR; may be infinite if a link bounds the VC.
    pub pcr: f64,
    /// Weight, above 0.
    pub weight: f64,
    /// Links that the VC crosses, by position, none twice.
    pub links: Vec<usize>,
}

/// Capacity left on a link.
#[derive(Clone, Copy, Debug)]
struct LinkLevel {
    /// Cells per second above the rates of stopped VCs and the MCRs of growing ones.
    left: f64,
    /// Sum of the weights of growing VCs.
    weights: f64,
}

/// Fair rate of each VC, cells per second, over links with these capacities in cells per second.
pub fn fair_rates(vcs: &[FairVc], links: &[f64]) -> Vec<f64> {
    let mut rates: Vec<f64> = vcs.iter().map(|vc| vc.mcr).collect();
    let mut growing: Vec<usize> = (0..vcs.len()).collect();
    // Level u.
    let mut level = 0.0_f64;
    while !growing.is_empty() {
        let full = full_at(vcs, links, &rates, &growing);
        let stops = |vc: usize| {
            let links = vcs[vc].links.iter();
            links.fold(peak_at(&vcs[vc]), |u, &link| u.min(full[link]))
        };
        let next = growing
            .iter()
            .fold(f64::INFINITY, |u, &vc| u.min(stops(vc)));
        // The level never falls; rounding alone could lower it.
        level = level.max(next);
        let (stay, grow) = growing.iter().partition(|&&vc| stops(vc) <= level);
        let stay: Vec<usize> = stay;
        for vc in stay {
            let FairVc {
                mcr, pcr, weight, ..
            } = vcs[vc];
            rates[vc] = if peak_at(&vcs[vc]) <= level {
                pcr
            } else {
                (mcr + weight * level).min(pcr)
            };
        }
        growing = grow;
    }
    rates
}

/// Value of u at which a VC has its PCR.
fn peak_at(vc: &FairVc) -> f64 {
    (vc.pcr - vc.mcr) / vc.weight
}

/// Value of u at which each link is full; infinite for a link on which no VC grows.
/// Rates of growing VCs are still their MCRs.
fn full_at(vcs: &[FairVc], links: &[f64], rates: &[f64], growing: &[usize]) -> Vec<f64> {
    let mut rooms: Vec<LinkLevel> = links
        .iter()
        .map(|&left| LinkLevel { left, weights: 0.0 })
        .collect();
    for (vc, &rate) in vcs.iter().zip(rates) {
        for &link in &vc.links {
            rooms[link].left -= rate;
        }
    }
    for &vc in growing {
        for &link in &vcs[vc].links {
            rooms[link].weights += vcs[vc].weight;
        }
    }
    let full = |room: &LinkLevel| {
        if room.weights > 0.0 {
            room.left / room.weights
        } else {
            f64::INFINITY
        }
    };
    rooms.iter().map(full).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vc(mcr: f64, pcr: f64, weight: f64, links: &[usize]) -> FairVc {
        FairVc {
            mcr,
            pcr,
            weight,
            links: links.to_vec(),
        }
    }

    const NONE: f64 = f64::INFINITY;

    // Parking lot: the VC over all links is held at the narrowest, and the others get what it
    // leaves.
    #[test]
    fn rates_of_small_networks_by_hand() {
        let lot = [
            vc(0.0, NONE, 1.0, &[0, 1, 2]),
            vc(0.0, NONE, 1.0, &[0]),
            vc(0.0, NONE, 1.0, &[1]),
            vc(0.0, NONE, 1.0, &[1]),
            vc(0.0, 10.0, 1.0, &[2]),
        ];
        let rates = fair_rates(&lot, &[100.0, 90.0, 80.0]);
        assert_eq!(rates, [30.0, 70.0, 30.0, 30.0, 10.0]);
        let minimum = [
            vc(10.0, NONE, 1.0, &[0]),
            vc(30.0, 35.0, 1.0, &[0]),
            vc(50.0, NONE, 3.0, &[0]),
        ];
        assert_eq!(fair_rates(&minimum, &[135.0]), [20.0, 35.0, 80.0]);
    }

    #[test]
    fn bounds_alone_where_nothing_is_left_to_share() {
        let over = [vc(60.0, NONE, 1.0, &[0]), vc(50.0, NONE, 1.0, &[0, 1])];
        assert_eq!(fair_rates(&over, &[100.0, 500.0]), [60.0, 50.0]);
        assert_eq!(fair_rates(&[vc(1.0, 7.0, 2.0, &[])], &[]), [7.0]);
        assert!(fair_rates(&[], &[1.0]).is_empty());
    }

    fn network() -> impl Strategy<Value = (Vec<FairVc>, Vec<f64>)> {
        let links = proptest::collection::vec(0.0..1000.0, 1..7);
        links.prop_flat_map(|spare: Vec<f64>| {
            let n = spare.len();
            let path = proptest::sample::subsequence((0..n).collect::<Vec<_>>(), 1..=n);
            let mcr = prop_oneof![Just(0.0), 0.0..200.0];
            let room = prop_oneof![Just(NONE), 0.0..500.0];
            let weight = prop_oneof![Just(1.0), 1.0..5.0];
            let vc = (mcr, room, weight, path).prop_map(|(mcr, room, weight, links)| FairVc {
                mcr,
                pcr: mcr + room,
                weight,
                links,
            });
            let vcs = proptest::collection::vec(vc, 1..12);
            vcs.prop_map(move |vcs| {
                let reserved = |link| -> f64 {
                    let of_link = vcs.iter().filter(|vc| vc.links.contains(&link));
                    of_link.map(|vc| vc.mcr).sum()
                };
                let links = spare.iter().enumerate();
                let links = links.map(|(l, spare)| spare + reserved(l)).collect();
                (vcs, links)
            })
        })
    }

    const NEAR: f64 = 1e-6;

    proptest! {
        #[test]
        fn every_vc_has_its_peak_or_a_full_link_where_none_has_more((vcs, links) in network()) {
            let rates = fair_rates(&vcs, &links);
            let load = |link: usize| -> f64 {
                let of_link = vcs.iter().zip(&rates).filter(|(vc, _)| vc.links.contains(&link));
                of_link.map(|(_, rate)| rate).sum()
            };
            for (link, capacity) in links.iter().enumerate() {
                prop_assert!(load(link) <= capacity + NEAR, "link {}", link);
            }
            let above = |vc: usize| (rates[vc] - vcs[vc].mcr) / vcs[vc].weight;
            for (i, vc) in vcs.iter().enumerate() {
                prop_assert!(rates[i] >= vc.mcr && rates[i] <= vc.pcr);
                let held = |&link: &usize| {
                    let mut others = (0..vcs.len()).filter(|&j| vcs[j].links.contains(&link));
                    load(link) >= links[link] - NEAR && others.all(|j| above(j) <= above(i) + NEAR)
                };
                prop_assert!(rates[i] >= vc.pcr - NEAR || vc.links.iter().any(held), "VC {}: {:?}", i, rates);
            }
        }
    }
}
