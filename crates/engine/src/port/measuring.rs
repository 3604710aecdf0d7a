//! Counters of a port at the bounds of its measuring time. The counters themselves run on
//! regardless of these bounds.

use crate::ground::units::Time;
use crate::network::tally::{MeasuredClass, MeasuredPort, PortTally, raise};

/// A measuring time that is not the whole run.
#[derive(Debug)]
pub struct Measuring {
    /// Beginning and end of the measuring time; `None` if they are those of the run.
    looks: [Option<Time>; 2],
    /// Counters at these instants. Each largest queue is the largest since the previous instant.
    counted: [Option<PortTally>; 2],
}

impl Measuring {
    /// The measuring time [from, to) of a run that ends at `end`; `None` if it is the whole run.
    pub fn new((from, to): (Time, Time), end: Time) -> Option<Measuring> {
        let looks = [
            Some(from).filter(|&from| from > Time::ZERO),
            Some(to).filter(|&to| to < end),
        ];
        // An empty measuring time at the very beginning counts nothing.
        let nothing = Some(PortTally::default()).filter(|_| to == Time::ZERO);
        looks.iter().any(Option::is_some).then_some(Measuring {
            looks,
            counted: [None, nothing],
        })
    }

    /// The next instant at which the counters must be read.
    pub fn due(&self) -> Option<Time> {
        let looks = self.looks.iter().zip(&self.counted);
        let ahead = looks.filter(|(_, counted)| counted.is_none());
        ahead.filter_map(|(&look, _)| look).next()
    }

    /// Stores `counted`, the counters at the instant that [`Measuring::due`] returned.
    pub fn look(&mut self, counted: PortTally) {
        let mut looks = self.looks.iter().zip(&mut self.counted);
        if let Some((_, place)) = looks.find(|(look, known)| look.is_some() && known.is_none()) {
            *place = Some(counted);
        }
    }

    /// Completes `all`, the counters at the end of the run, whose largest queues cover only the
    /// time since the last reading.
    pub fn complete(&self, all: &mut PortTally) {
        let [before, until] = &self.counted;
        // The measuring time may begin after the end of the run.
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

/// The difference between the counters `until` at the end and `before` at the beginning of the
/// measuring time (`None`: all zero).
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
        line_time: until.line_time - before.line_time,
        line_work: until.line_work - before.line_work,
        sent: until.left() - before.left(),
        max_queue: until.max_queue,
        queue_time: until.queue_time - before.queue_time,
        classes: std::array::from_fn(of_class),
    }
}
