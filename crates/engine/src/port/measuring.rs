//! The measuring time of a port: what it has counted when that begins, and when it ends. Counters know nothing of it.

use crate::tally::{MeasuredClass, MeasuredPort, PortTally, raise};
use crate::units::Time;

/// A measuring time that is not the whole run.
#[derive(Debug)]
pub struct Measuring {
    /// The instants at which the port is looked at: the beginning, unless the run begins with it, and the end, unless it ends with it.
    looks: [Option<Time>; 2],
    /// What had been counted then. The largest queues are those since the look before.
    counted: [Option<PortTally>; 2],
}

impl Measuring {
    /// That of the measuring time [from, to) of a run until `end`; `None` where it is the whole of it.
    pub fn new((from, to): (Time, Time), end: Time) -> Option<Measuring> {
        let looks = [
            Some(from).filter(|&from| from > Time::ZERO),
            Some(to).filter(|&to| to < end),
        ];
        // Of one without length at the very beginning nothing is counted.
        let nothing = Some(PortTally::default()).filter(|_| to == Time::ZERO);
        looks.iter().any(Option::is_some).then_some(Measuring {
            looks,
            counted: [None, nothing],
        })
    }

    /// When the port is to be looked at next.
    pub fn due(&self) -> Option<Time> {
        let looks = self.looks.iter().zip(&self.counted);
        let ahead = looks.filter(|(_, counted)| counted.is_none());
        ahead.filter_map(|(&look, _)| look).next()
    }

    /// At the instant that is due `counted` had been counted.
    pub fn look(&mut self, counted: PortTally) {
        let mut looks = self.looks.iter().zip(&mut self.counted);
        if let Some((_, place)) = looks.find(|(look, known)| look.is_some() && known.is_none()) {
            *place = Some(counted);
        }
    }

    /// Completes `all`, counted until the end of the run, the largest queues since the last look.
    pub fn complete(&self, all: &mut PortTally) {
        let [before, until] = &self.counted;
        // It may begin after the end.
        let begins = self.looks[0].is_none() || before.is_some();
        if begins {
            all.measured = measured(before.as_ref(), until.as_ref().unwrap_or(all));
        }
        for earlier in self.counted.iter().flatten() {
            raise(&mut all.max_queue, earlier.max_queue);
            for (class, earlier) in all.classes.iter_mut().zip(&earlier.classes) {
                raise(&mut class.max_queue, earlier.max_queue);
            }
        }
    }
}

/// What was counted between two instants, when `before` had been counted at the first, nothing when it was the beginning, and `until` at the second.
pub fn measured(before: Option<&PortTally>, until: &PortTally) -> MeasuredPort {
    let nothing = PortTally::default();
    let before = before.unwrap_or(&nothing);
    let of_class = |class: usize| {
        let [until, before] = [until, before].map(|tally| &tally.classes[class]);
        MeasuredClass {
            arrived: until.arrived - before.arrived,
            dropped: until.dropped_by_port() - before.dropped_by_port(),
            max_queue: until.max_queue,
        }
    };
    MeasuredPort {
        sent: until.left() - before.left(),
        max_queue: until.max_queue,
        queue_time: until.queue_time - before.queue_time,
        classes: std::array::from_fn(of_class),
    }
}
