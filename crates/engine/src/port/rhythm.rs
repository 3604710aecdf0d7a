//! Rhythm: one or more inputs that bring one cell per cell time each.
//!
//! If sources send at one rate, their cells come at fixed phases, and each cell time repeats the
//! one before. This lasts until a run ends, another input joins, or the horizon is reached. Both
//! kernels then take many rounds at once, one cell of each input per round. Here is who takes part
//! and for how long. Each kernel adds how many rounds have room, and what they do.
//!
//! Conditions:
//! * the cells of each input are a cell time apart, and no other cell comes between them;
//! * no frame of theirs has lost a cell;
//! * with several inputs, ties are not random.

use super::Inputs;
use crate::ground::units::{Span, Time};
use crate::network::cells::{Fate, Run};
use crate::network::fabric::{Fabric, Hop};
use crate::network::tie::TieRule;

/// An input that takes part.
pub trait Member {
    /// Fewer rounds cost more to find than they save.
    const FEWEST: u32;
    /// Whether the last round is taken with the others.
    const TAKES_LAST: bool;

    /// Arrival of the first cell.
    fn time(&self) -> Time;

    /// Number of the input at the port.
    fn input(&self) -> u32;
}

/// How long the inputs bring one cell per cell time.
pub struct Rhythm {
    /// First arrival of the first and of the last input.
    pub begin: Time,
    pub last_time: Time,
    /// All cells must arrive before this time.
    limit: Time,
    /// Cells of the shortest run.
    shortest: u32,
}

impl Rhythm {
    /// Number of rounds, of cells `c` apart.
    #[inline(always)]
    pub fn rounds(&self, c: Span) -> u64 {
        let rounds = u64::from(self.shortest);
        // Divides only if a limit is near: divisions would be the most expensive part.
        if self.last_time + c * (rounds - 1) >= self.limit {
            (self.limit - self.last_time).0.div_ceil(c.0)
        } else {
            rounds
        }
    }
}

impl Inputs {
    /// The rhythm of the inputs whose next cells come within `c`, the cell time, and before
    /// `horizon`. Fills `members` with them in the order in which their cells are taken. `join` is
    /// told the arrival, the input, its run and hop, and whether a frame begins. It returns `None`
    /// if the kernel cannot take this input.
    #[inline(always)]
    pub fn rhythm<M: Member>(
        &mut self,
        fabric: &Fabric,
        c: Span,
        horizon: Time,
        members: &mut Vec<M>,
        mut join: impl FnMut(Time, u32, &Run, &Hop, bool) -> Option<M>,
    ) -> Option<Rhythm> {
        let (begin, _) = self.order.first()?;
        members.clear();
        let (mut limit, mut last_time) = (horizon, begin);
        // Length of the shortest runs, and the first arrival of a frame behind one of them.
        let (mut shortest, mut next_frame) = (u32::MAX, Time::NEVER);
        for i in 0.. {
            let Some((time, input)) = self.order.get(i) else {
                break;
            };
            if time >= begin + c || time >= horizon {
                limit = limit.min(time);
                break;
            }
            let feed = &fabric.feeds[self.feed(input)];
            let run = &feed.head;
            if run.n < M::FEWEST || run.period != c {
                return None;
            }
            let hop = &fabric.hops[run.hop as usize];
            let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
            if !begins && hop.frame_state.fate != Fate::Accepted {
                return None;
            }
            if run.n < shortest {
                (shortest, next_frame) = (run.n, Time::NEVER);
            }
            if M::TAKES_LAST && run.n == shortest {
                next_frame = next_frame.min(feed.second_time());
            }
            last_time = time;
            members.push(join(time, input, run, hop, begins)?);
        }
        if limit <= last_time || (members.len() > 1 && !self.tie.is_known_ahead()) {
            return None;
        }
        if !self.tie.keeps_ascending() {
            sort_ties(members, &self.tie);
        }
        Some(Rhythm {
            begin,
            last_time,
            // The next frame of an input may begin less than a cell time after its last cell, and
            // so before the last cells of the round.
            limit: limit.min(next_frame),
            shortest,
        })
    }
}

/// Whether the cells of both arrive together.
pub fn ties<M: Member>(one: &M, other: &M) -> bool {
    one.time() == other.time()
}

/// Puts the inputs of each tie into the order in which their cells are taken.
#[inline(never)]
fn sort_ties<M: Member>(members: &mut [M], tie: &TieRule) {
    for group in members.chunk_by_mut(ties) {
        tie.sort(group, M::input);
    }
}
