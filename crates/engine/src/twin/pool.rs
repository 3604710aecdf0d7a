//! Shared memories of switches, and the order of their ports at one instant (model section 6).

use super::*;
use crate::network::tally::PoolTally;
use crate::port::drop::PoolView;

/// The pool of a switch.
pub(super) struct Pool {
    /// Links of its ports, in scenario order.
    links: Vec<usize>,
    /// S: places that no queue reserves.
    shared: u64,
    /// Ports by the last contested tie of the pool that they won, longest ago first.
    fair_order: Vec<usize>,
    stream: Stream,
    /// Places in use since `counted_until`.
    used: u64,
    counted_until: Time,
    pub(super) tally: PoolTally,
}

/// What became of the cells that a port took at one instant.
#[derive(Clone, Copy, Default)]
pub(super) struct Taken {
    /// Cells that were still to be judged.
    pub judged: usize,
    pub accepted: usize,
    pub refused: usize,
}

/// By switch: its pool.
pub(super) fn pools(
    scenario: &Scenario,
    topology: &Topology,
    stream: impl Fn(&str) -> Stream,
) -> Vec<Option<Pool>> {
    let pools = scenario.switches.iter().zip(&topology.pools).enumerate();
    let pool = pools.map(|(index, (switch, terms))| {
        let terms = terms.as_ref()?;
        let n = terms.links.len();
        Some(Pool {
            links: terms.links.clone(),
            shared: terms.places - terms.reserved,
            fair_order: (0..n).collect(),
            stream: stream(&switch.name),
            used: 0,
            counted_until: Time::ZERO,
            tally: PoolTally {
                switch: index,
                tied_refusals: vec![0; n],
                ..PoolTally::default()
            },
        })
    });
    pool.collect()
}

impl Twin<'_> {
    /// The switch in whose pool the port of `link` takes part.
    pub(super) fn pool_of(&self, link: usize) -> Option<usize> {
        let is_of = |pool: &Option<Pool>| pool.as_ref().is_some_and(|p| p.links.contains(&link));
        self.pools.iter().position(is_of)
    }

    /// The pool in which the port of `link` takes part, without the reserve of a queue.
    pub(super) fn pool_view(&self, link: usize) -> Option<PoolView> {
        let (free, used) = self.pool_of_switch(self.pool_of(link)?);
        Some(PoolView {
            free,
            used,
            reserve: 0,
        })
    }

    /// Free places of the shared part of the pool of `switch`, and places in use.
    pub(super) fn pool_of_switch(&self, switch: usize) -> (u64, u64) {
        let pool = self.pools[switch].as_ref().expect("a pool");
        let ports = pool.links.iter().map(|&link| self.ports[link].as_ref());
        let ports = ports.map(|port| port.expect("a port"));
        let taken: u64 = ports.clone().map(Port::shared).sum();
        let used = ports.map(|port| port.places_of(|_| true)).sum();
        (pool.shared - taken, used)
    }

    /// Handles the cells that reach ports of the pool of `switch` at this instant, each with its
    /// port and input link.
    pub(super) fn cells_reach_pool(&mut self, switch: usize, cells: Vec<(usize, usize, Cell)>) {
        let mut ports: Vec<usize> = cells.iter().map(|&(port, ..)| port).collect();
        ports.sort_unstable();
        ports.dedup();
        self.sort_ports(switch, &mut ports);
        let mut taken = Vec::new();
        for port in ports {
            let here = cells.iter().filter(|(of, ..)| *of == port);
            let here = here.map(|&(_, input, cell)| (input, cell)).collect();
            taken.push((port, self.cells_reach_port(port, here)));
        }
        let judged = taken.iter().filter(|(_, taken)| taken.judged > 0).count();
        let any = |of: fn(&Taken) -> usize| taken.iter().any(|(_, taken)| of(taken) > 0);
        let contested = judged > 1 && any(|taken| taken.accepted) && any(|taken| taken.refused);
        let pool = self.pools[switch].as_mut().expect("a pool");
        if contested {
            let number = |link: usize| pool.links.iter().position(|&l| l == link).expect("of it");
            let taken: Vec<_> = taken.iter().map(|&(port, t)| (number(port), t)).collect();
            for &(port, taken) in &taken {
                pool.tally.tied_refusals[port] += taken.refused as u64;
                if taken.accepted > 0 {
                    pool.fair_order.retain(|&other| other != port);
                    pool.fair_order.push(port);
                }
            }
        }
    }

    /// Sorts ports of the pool of `switch` into tie order.
    fn sort_ports(&self, switch: usize, ports: &mut [usize]) {
        let pool = self.pools[switch].as_ref().expect("a pool");
        let n = pool.links.len() as u64;
        let cell_time = self.topology.cell_time(self.scenario, pool.links[0]);
        let first = (self.now.0 / cell_time.0 + self.tie_offset) % n;
        ports.sort_by_key(|&link| {
            let number = pool.links.iter().position(|&l| l == link).expect("of it");
            let fair_place = pool.fair_order.iter().position(|&i| i == number);
            let number = number as u64;
            let key = match self.scenario.tie_order {
                TieOrder::Fixed => number,
                TieOrder::Rotating => (number + n - first) % n,
                TieOrder::Random => {
                    let place = self.now.0.wrapping_mul(n).wrapping_add(number);
                    pool.stream.bits(place)
                }
                TieOrder::Fair => fair_place.expect("a port") as u64,
            };
            (key, number)
        });
    }

    /// Brings the counts of a pool up to date after something came or went.
    pub(super) fn count_pool(&mut self, switch: usize) {
        let Some(pool) = &mut self.pools[switch] else {
            return;
        };
        let time = self.now.since(pool.counted_until);
        pool.tally.used_time += u128::from(pool.used) * u128::from(time.0);
        pool.counted_until = self.now;
        let ports = pool.links.iter().map(|&link| self.ports[link].as_ref());
        pool.used = ports
            .map(|port| port.expect("a port").places_of(|_| true))
            .sum();
        pool.tally.max_used = pool.tally.max_used.max(pool.used);
    }
}
