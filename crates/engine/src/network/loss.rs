//! Deliberate losses (model section 7): which data frames a link loses.

use crate::ground::rng::Stream;
use crate::ground::units::Ratio;
use crate::text::scenario::Link;

/// Deliberate losses of one link.
#[derive(Debug)]
pub struct Losses {
    /// Data frames that have begun so far.
    count: u64,
    /// Numbers of the frames to lose, ascending.
    frames: Vec<u64>,
    /// Probability that any frame is lost.
    probability: Ratio,
    stream: Stream,
}

impl Losses {
    /// Losses of `link`, if it has any; `stream` provides the random draws.
    pub fn of(link: &Link, stream: impl FnOnce() -> Stream) -> Option<Losses> {
        is_lossy(link).then(|| {
            let mut frames = link.lose_frames.clone();
            frames.sort_unstable();
            Losses {
                count: 0,
                frames,
                probability: link.lose_probability,
                stream: stream(),
            }
        })
    }

    /// Whether the data frame that now begins is lost.
    pub fn next_is_lost(&mut self) -> bool {
        let number = self.count;
        self.count += 1;
        let listed = self.frames.binary_search(&number).is_ok();
        listed || (self.probability.num > 0 && self.stream.unit(number) < self.probability.as_f64())
    }
}

/// Whether `link` deliberately loses frames.
pub fn is_lossy(link: &Link) -> bool {
    !link.lose_frames.is_empty() || link.lose_probability.num > 0
}
