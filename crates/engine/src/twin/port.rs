//! The output port of a switch: acceptance, class queues, service (model section 6).

use super::Cell;
use crate::port::drop::{Policy, QueueView};
use crate::port::sched::{CLASSES, Scheduler};
use crate::scenario::{Class, RestOfFrame, Scenario};
use crate::tally::{DropReason, PortTally};
use crate::topology::{Direction, Topology};
use crate::units::Time;
use std::collections::{HashMap, HashSet, VecDeque};

/// What happens to a cell that arrives.
pub(super) enum Verdict {
    /// It found the port idle and is sent at once.
    Starts,
    Waits,
    Dropped,
}

/// How a frame fared so far at the port; a frame that the port has not seen is new.
#[derive(Clone, Copy, PartialEq)]
enum FrameState {
    Accepted,
    Refused,
    Damaged,
}

struct ClassQueue {
    buffer: Option<u64>,
    policy: Policy,
    rest_of_frame: RestOfFrame,
    /// Waiting cells with the number of their arrival at the port.
    cells: VecDeque<(u64, Cell)>,
}

pub(super) struct Port {
    scheduler: Scheduler,
    queues: Vec<ClassQueue>,
    busy: bool,
    arrivals: u64,
    /// Cells whose transmission has begun.
    sent: u64,
    /// By VC direction: the frame of its latest cell.
    latest: HashMap<Direction, (u32, FrameState)>,
    /// Until when `tally.queue_time` is up to date.
    counted_until: Time,
    pub(super) tally: PortTally,
}

impl Port {
    pub(super) fn new(scenario: &Scenario, topology: &Topology, link: usize) -> Port {
        let spec = topology.scheduler(scenario, link);
        let crossing: Vec<_> = (0..topology.paths.len())
            .map(|direction| {
                let vc = &scenario.vcs[direction / 2];
                let per_vc = match spec {
                    crate::scenario::Scheduler::PerVc { class, .. } => *class == vc.class,
                    _ => false,
                };
                if per_vc && topology.paths[direction].contains(&link) {
                    (
                        vc.weight,
                        vc.guarantee.filter(|_| super::is_data(direction)),
                    )
                } else {
                    (0, None)
                }
            })
            .collect();
        let queues = Class::ALL.map(|class| {
            let queue = topology.queue(scenario, link, class);
            ClassQueue {
                buffer: queue.buffer,
                policy: Policy::new(&queue.drop, queue.buffer),
                rest_of_frame: queue.rest_of_frame,
                cells: VecDeque::new(),
            }
        });
        Port {
            scheduler: Scheduler::new(spec, scenario.links[link].rate, &crossing),
            queues: queues.into(),
            busy: false,
            arrivals: 0,
            sent: 0,
            latest: HashMap::new(),
            counted_until: Time::ZERO,
            tally: PortTally::default(),
        }
    }

    pub(super) fn arrival(&mut self, now: Time, cell: Cell, class: usize) -> Verdict {
        self.count_waiting_until(now);
        self.tally.classes[class].arrived += 1;
        self.arrivals += 1;
        let verdict = match self.accepts(&cell, class) {
            Err(reason) => {
                self.tally.classes[class].dropped[reason as usize] += 1;
                Verdict::Dropped
            }
            Ok(()) if !self.busy => {
                self.busy = true;
                self.sent += 1;
                Verdict::Starts
            }
            Ok(()) => {
                self.queues[class].cells.push_back((self.arrivals, cell));
                if let Scheduler::PerVc(s) = &mut self.scheduler
                    && s.class() == class
                {
                    s.on_arrival(cell.direction, self.sent);
                }
                Verdict::Waits
            }
        };
        if !matches!(verdict, Verdict::Dropped) {
            let x = self.queues[class].cells.len() as u64;
            let all = self.waiting().count() as u64;
            let of_class = &mut self.tally.classes[class].max_queue;
            *of_class = x.max(*of_class);
            self.tally.max_queue = all.max(self.tally.max_queue);
            self.tally.accepted += 1;
        }
        self.check_conservation();
        verdict
    }

    /// Rules 1 to 3 of the model.
    fn accepts(&mut self, cell: &Cell, class: usize) -> Result<(), DropReason> {
        let queue = &self.queues[class];
        let begun = self
            .latest
            .get(&cell.direction)
            .filter(|(frame, _)| *frame == cell.frame);
        let mut state = match begun {
            Some(&(_, state)) => state,
            None if self.busy && queue.policy.refuses(&queue.view(cell.direction)) => {
                FrameState::Refused
            }
            None => FrameState::Accepted,
        };
        let spared = match queue.rest_of_frame {
            RestOfFrame::Accept => true,
            RestOfFrame::DropButEom => cell.eom,
            RestOfFrame::Drop => false,
        };
        let full = self.busy && queue.buffer.is_some_and(|k| queue.cells.len() as u64 >= k);
        let verdict = match state {
            FrameState::Refused => Err(DropReason::Policy),
            FrameState::Damaged if !spared => Err(DropReason::Rest),
            _ if full => {
                state = FrameState::Damaged;
                Err(DropReason::Full)
            }
            _ => Ok(()),
        };
        self.latest.insert(cell.direction, (cell.frame, state));
        verdict
    }

    /// A cell of `class` has left: the next one to be sent.
    pub(super) fn departure(&mut self, now: Time, class: usize) -> Option<Cell> {
        self.count_waiting_until(now);
        self.tally.classes[class].sent += 1;
        let next = self.take_next();
        self.busy = next.is_some();
        self.sent += u64::from(self.busy);
        self.check_conservation();
        next
    }

    fn take_next(&mut self) -> Option<Cell> {
        let mut waiting = [0; CLASSES];
        for (count, queue) in waiting.iter_mut().zip(&self.queues) {
            *count = queue.cells.len() as u64;
        }
        if waiting == [0; CLASSES] {
            return None;
        }
        let queues = &self.queues;
        let oldest = |class: usize| queues[class].cells[0].0;
        let class = self.scheduler.pick(&waiting, oldest)?;
        let cells = &mut self.queues[class].cells;
        let (_, cell) = match &mut self.scheduler {
            Scheduler::PerVc(s) if s.class() == class => {
                let vc = s.pick(self.sent);
                let oldest = cells.iter().position(|(_, c)| c.direction == vc)?;
                let taken = cells.remove(oldest)?;
                s.taken(vc, taken.1.eom);
                taken
            }
            _ => cells.pop_front()?,
        };
        Some(cell)
    }

    /// All waiting cells.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Cell> {
        self.queues
            .iter()
            .flat_map(|q| q.cells.iter().map(|(_, c)| c))
    }

    pub(super) fn finish(&mut self, end: Time) {
        self.count_waiting_until(end);
        self.tally.held = self.waiting().count() as u64 + u64::from(self.busy);
        self.check_conservation();
    }

    fn count_waiting_until(&mut self, now: Time) {
        let waiting = self.waiting().count() as u128;
        self.tally.queue_time += waiting * u128::from(now.since(self.counted_until).0);
        self.counted_until = now;
    }

    /// in = out + dropped + held, and no queue beyond its buffer.
    fn check_conservation(&self) {
        let held = self.waiting().count() as u64 + u64::from(self.busy);
        // What is lost on the link has been sent.
        let [policy, full, rest, _] = self.tally.dropped();
        let dropped = policy + full + rest;
        assert_eq!(self.tally.arrived(), self.tally.sent() + dropped + held);
        assert_eq!(self.tally.accepted, self.tally.sent() + held);
        for queue in &self.queues {
            assert!(queue.buffer.is_none_or(|k| queue.cells.len() as u64 <= k));
        }
    }
}

impl ClassQueue {
    fn view(&self, direction: Direction) -> QueueView {
        let of_vc = |d: Direction| self.cells.iter().filter(move |(_, c)| c.direction == d);
        let active: HashSet<Direction> = self.cells.iter().map(|(_, c)| c.direction).collect();
        QueueView {
            waiting: self.cells.len() as u64,
            waiting_of_vc: of_vc(direction).count() as u64,
            active_vcs: active.len() as u64,
        }
    }
}
