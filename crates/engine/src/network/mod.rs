//! What ports and hosts have in common: cells, links, counters, receivers, records, and ABR.

pub mod abr;
pub mod capture;
pub mod cells;
pub mod fabric;
pub mod loss;
pub mod observe;
pub mod pool;
pub mod processing;
pub mod record;
pub mod sink;
pub mod stop;
pub mod tally;
pub mod tie;
