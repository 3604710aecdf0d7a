//! Builds the pools of switches, and the groups of ports that advance together.

use super::Blueprint;
use crate::ground::units::Span;
use crate::network::pool::PoolState;
use crate::network::tally::CLASSES;
use crate::network::tie::TieRule;
use crate::port::slotted::PoolPlace;
use crate::run::lock_step::Group;

impl Blueprint<'_> {
    /// The switches with a pool, each with the links of the ports that take part.
    fn pooled(&self) -> impl Iterator<Item = (usize, &[usize])> {
        let pools = self.net.topology.pools.iter().enumerate();
        pools.filter_map(|(switch, pool)| Some((switch, pool.as_ref()?.links.as_slice())))
    }

    /// The place of the port of `link` in the pool in which it takes part.
    pub fn pool_of(&self, link: usize) -> Option<PoolPlace> {
        let (switch, terms) = self.net.topology.pool_of(link)?;
        let pool = self.pooled().position(|(of, _)| of == switch)?;
        let number = terms.links.iter().position(|&of| of == link)?;
        Some(PoolPlace {
            pool: pool as u32,
            number: number as u32,
        })
    }

    /// The pools at the start of the run; drops are `traced` if their queues must be known.
    pub fn pools(&self, traced: bool) -> Vec<PoolState> {
        let pool = |(switch, links): (usize, &[usize])| {
            let terms = self.net.topology.pools[switch].as_ref();
            let mut pool = PoolState::new(switch, terms.map_or(0, |terms| terms.shared()));
            if traced {
                pool.keep_queues(links.len() * CLASSES);
            }
            pool
        };
        self.pooled().map(pool).collect()
    }

    /// The ports of each pool.
    pub fn groups(&self) -> Vec<Group> {
        let scenario = self.net.scenario;
        let group = |(switch, links): (usize, &[usize])| {
            let port = |&link: &usize| self.roles.port_of[link].expect("its cells can wait") as u32;
            let tie = TieRule::new(
                scenario.tie_order,
                links.len(),
                self.draws.tie_offset(),
                links.first().map_or(Span(1), |&first| {
                    self.net.topology.cell_time(scenario, first)
                }),
                self.draws
                    .stream(&scenario.switches[switch].name, "pool-tie"),
            );
            Group::new(
                links.iter().map(port).collect(),
                tie,
                self.pool_probe(switch),
            )
        };
        self.pooled().map(group).collect()
    }
}
