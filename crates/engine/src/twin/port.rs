//! The output port of a switch: acceptance, class queues, service (model section 6).

use super::Cell;
use super::finish::can_queue;
use super::line::Line;
use super::program::policy_of;
use super::ranking::{Failed, Ranker, Waiting};
use crate::ground::flow::FlowId;
use crate::ground::place::Place;
use crate::ground::rng::Stream;
use crate::ground::units::{Ratio, Span, Time};
use crate::network::tally::{CLASSES, DropReason, InputRefusals, MeasuredPort, PortTally};
use crate::port::drop::{Arriving, Decision, DropRule, PoolView, QueueView};
use crate::port::police::{PoliceRule, Policer, Ruling};
use crate::port::sched::{ClassOrder, FlowShare, Pattern, Queues, Scheduler, Slots};
use crate::text::program::Failure;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Class, RestOfFrame, Scenario, Scheduler as Spec};
use std::collections::{HashMap, HashSet, VecDeque};

/// Outcome of a cell's arrival.
#[derive(Clone, Copy)]
pub(super) enum Verdict {
    /// The cell found the port idle and is sent at once.
    Starts,
    Waits,
    Dropped(DropReason),
    /// The cell would wait beyond [`Time::LATEST`].
    Overdue,
    /// The drop policy has no answer.
    Failed(Failure),
}

/// Why a cell is not accepted.
enum NotTaken {
    Dropped(DropReason),
    Failed(Failure),
}

/// How a cell is accepted.
struct Admission {
    /// Cells dropped in favour of this one.
    pushes_out: PushesOut,
    /// Whether the cell arrived with high priority and continues with low.
    tags: bool,
}

/// Cells dropped from the front of a class queue.
#[derive(Clone, Copy, PartialEq)]
enum PushesOut {
    Nothing,
    /// The first waiting cell.
    Cell,
    /// All waiting cells of the first cell's frame.
    Frame,
}

/// State of a frame at the port; a frame not yet seen there is new.
#[derive(Clone, Copy, PartialEq)]
enum FrameState {
    Accepted,
    Refused(DropReason),
    Damaged,
}

struct ClassQueue {
    /// K in places.
    buffer: Option<u64>,
    /// What is a place.
    place: Place,
    /// Of a queue in a pool: r, its reserve, places.
    reserve: u64,
    /// Of a queue in a pool: its dynamic threshold, relative to what is free.
    alpha: Option<Ratio>,
    policer: Option<Policer>,
    policy: Box<dyn DropRule>,
    draws: Stream,
    rest_of_frame: RestOfFrame,
    /// Waiting cells, each with its number among all that the port has accepted.
    cells: VecDeque<(u64, Cell)>,
}

/// The waiting cells of a port, for its scheduler.
struct WaitingCells<'a> {
    queues: &'a [ClassQueue],
    flows: &'a [FlowId],
}

impl WaitingCells<'_> {
    /// Place of the oldest cell of a VC in the queue of `class`.
    fn oldest_of(&self, class: usize, vc: usize) -> Option<usize> {
        let mut cells = self.queues[class].cells.iter();
        cells.position(|(_, cell)| cell.flow == self.flows[vc])
    }
}

impl Queues for WaitingCells<'_> {
    fn oldest(&self, class: usize) -> u64 {
        self.queues[class].cells[0].0
    }

    fn front(&self, class: usize, vc: usize) -> (u64, bool) {
        let oldest = self.oldest_of(class, vc).expect("the VC has a cell");
        (1, self.queues[class].cells[oldest].1.eom)
    }

    fn bytes(&self, class: usize, vc: usize) -> u64 {
        let oldest = self.oldest_of(class, vc).expect("the VC has a cell");
        self.queues[class].cells[oldest].1.bytes.into()
    }
}

pub(super) struct Port {
    /// Decides between classes, and between VCs unless `ranker` does.
    scheduler: Scheduler,
    /// The program of a scheduler that is one.
    ranker: Option<Ranker>,
    /// What failed first in that program.
    pub(super) failed: Option<Failed>,
    queues: Vec<ClassQueue>,
    /// Maximum number of waiting cells that can leave before [`Time::LATEST`].
    most_waiting: u64,
    /// Flows that cross the port; a flow's index is its local number.
    flows: Vec<FlowId>,
    /// Inputs by the last contested tie that they won, longest ago first.
    pub(super) fair_order: Vec<usize>,
    cell_time: Span,
    /// Whether its cells differ in the places that they take.
    cells_differ: bool,
    /// Whether a cell is in service, or none may begin.
    pub(super) busy: bool,
    in_service: bool,
    /// End of the last transmission, or of a time without a rate, if the port is idle.
    idle_since: Time,
    /// Number of transmissions begun.
    sent: u64,
    /// By flow: the frame of the latest cell, and its state.
    latest: HashMap<FlowId, (u32, FrameState)>,
    /// The measuring time, [from, to).
    measured: (Time, Time),
    /// Time up to which `tally.queue_time` is counted.
    counted_until: Time,
    pub(super) tally: PortTally,
}

impl Port {
    pub(super) fn new(
        scenario: &Scenario,
        topology: &Topology,
        link: usize,
        stream: impl Fn(&str, &str) -> Stream,
    ) -> Port {
        let spec = topology.scheduler(scenario, link);
        let ids = (0..topology.flows.len()).map(|i| FlowId(i as u32));
        let of = |id: FlowId| &topology.flows[id.index()];
        let flows: Vec<FlowId> = ids.filter(|&id| of(id).path.contains(&link)).collect();
        let shares = flows.iter().map(|&id| {
            let vc = &scenario.vcs[of(id).vc];
            FlowShare {
                class: vc.class,
                weight: vc.weight,
                guarantee: vc.guarantee.filter(|_| of(id).kind.is_data()),
                sends: true,
            }
        });
        let shares: Vec<FlowShare> = shares.collect();
        let name = &scenario.links[link].name;
        let cell_time = topology.cell_time(scenario, link);
        let queues = Class::ALL.map(|class| {
            let queue = topology.queue(scenario, link, class);
            let k = topology.places(scenario, link, class);
            let contracts = topology.contracts(scenario, link, class);
            let mut policy =
                policy_of(&queue.drop, k, &contracts, cell_time, scenario.format.clock);
            let reserve = topology.reserve(scenario, link, class);
            if let Some(free) = topology.shared(link) {
                let used = 0;
                policy.see_pool(PoolView {
                    free,
                    used,
                    reserve,
                });
            }
            ClassQueue {
                buffer: k,
                place: topology.place(scenario, link),
                reserve,
                alpha: queue.alpha,
                policer: queue.police.map(|spec| Policer::new(&spec, &contracts)),
                policy,
                draws: stream(name, &format!("drop-{}", class.name())),
                rest_of_frame: queue.rest_of_frame,
                cells: VecDeque::new(),
            }
        });
        let (ranker, spec) = match spec {
            Spec::Program(program) => {
                // No text runs at a port that cannot queue.
                let runs = can_queue(scenario, topology, link);
                let ranker = runs.then(|| Ranker::new(program, cell_time, &shares));
                (ranker, &Spec::StrictPriority)
            }
            other => (None, other),
        };
        Port {
            scheduler: Scheduler::new(
                spec,
                scenario.links[link].rate,
                cell_time,
                Place::Cell,
                &shares,
            ),
            ranker,
            failed: None,
            queues: queues.into(),
            most_waiting: {
                let end = Time::ZERO + scenario.duration;
                cell_time.fit_after(end)
            },
            fair_order: (0..topology.inputs[link].len()).collect(),
            flows,
            cell_time,
            cells_differ: topology.places_of_each(scenario, link).is_none(),
            busy: false,
            in_service: false,
            idle_since: Time::ZERO,
            sent: 0,
            latest: HashMap::new(),
            measured: {
                let from = Time::ZERO + scenario.measure.warm_up;
                let window = scenario.measure.window;
                (from, window.map_or(Time::NEVER, |window| from + window))
            },
            counted_until: Time::ZERO,
            tally: PortTally {
                refusals: vec![InputRefusals::default(); topology.inputs[link].len()],
                measured: MeasuredPort {
                    ..MeasuredPort::default()
                },
                ..PortTally::default()
            },
        }
    }

    /// Handles an arriving cell, which finds `pool`, if the switch has one. Returns its fate, the cells dropped from the queue in its favour, and whether it arrived
    /// with high priority and continues with low.
    pub(super) fn arrival(
        &mut self,
        now: Time,
        cell: Cell,
        class: usize,
        pool: Option<PoolView>,
    ) -> (Verdict, Vec<Cell>, bool) {
        self.count_waiting_until(now);
        self.tally.classes[class].arrived += 1;
        if self.measures(now) {
            self.tally.measured.classes[class].arrived += 1;
        }
        let (mut pushed_out, mut tags) = (Vec::new(), false);
        let waiting = self.queues[class].cells.len() as u64;
        let verdict = match self.accepts(now, &cell, class, pool) {
            // The buffer has room for the cell, but it could not leave in time.
            Ok(taken)
                if taken.pushes_out == PushesOut::Nothing
                    && self.busy
                    && waiting >= self.most_waiting =>
            {
                return (Verdict::Overdue, Vec::new(), false);
            }
            Err(NotTaken::Failed(failure)) => return (Verdict::Failed(failure), Vec::new(), false),
            Err(NotTaken::Dropped(reason)) => {
                self.count_drop(now, class, reason);
                Verdict::Dropped(reason)
            }
            Ok(taken) if !self.busy => {
                tags = taken.tags;
                self.busy = true;
                self.in_service = true;
                self.sent += 1;
                Verdict::Starts
            }
            Ok(taken) => {
                tags = taken.tags;
                pushed_out = self.push_out(now, class, taken.pushes_out, &cell);
                let tagged = cell.tagged || tags;
                let cell = Cell { tagged, ..cell };
                let number = self.tally.accepted + 1;
                self.queues[class].cells.push_back((number, cell));
                let local = self.local(cell.flow);
                if let Some(of_class) = self.ranker.as_ref().map(Ranker::class) {
                    if of_class.is_none_or(|c| c as usize == class) {
                        self.begins_to_wait(now, local);
                    }
                } else if let ClassOrder::PerVc(s) = self.scheduler.class_order(class) {
                    s.on_arrival(local, 1, self.sent);
                }
                Verdict::Waits
            }
        };
        if !matches!(verdict, Verdict::Dropped(_)) {
            let x = self.queues[class].cells.len() as u64;
            let all = self.waits();
            let of_class = &mut self.tally.classes[class].max_queue;
            *of_class = x.max(*of_class);
            self.tally.max_queue = all.max(self.tally.max_queue);
            if self.cells_differ {
                let places = self.queues[class].x();
                let of_class = &mut self.tally.classes[class].max_places;
                *of_class = places.max(*of_class);
                let places = self.queues.iter().map(ClassQueue::x).sum();
                self.tally.max_places = self.tally.max_places.max(places);
            }
            if self.measures(now) {
                self.measure_queues();
            }
            self.tally.accepted += 1;
            self.tally.classes[class].tagged += u64::from(tags);
        }
        self.check_conservation();
        (verdict, pushed_out, tags)
    }

    fn local(&self, flow: FlowId) -> usize {
        let place = self.flows.iter().position(|&f| f == flow);
        place.expect("it crosses the port")
    }

    /// Rules 0 to 4 of the model: whether and how the cell is accepted.
    fn accepts(
        &mut self,
        now: Time,
        cell: &Cell,
        class: usize,
        pool: Option<PoolView>,
    ) -> Result<Admission, NotTaken> {
        let free = pool.map(|pool| pool.free);
        let local = self.local(cell.flow) as u32;
        let queue = &mut self.queues[class];
        let latest = self.latest.get(&cell.flow);
        let begun = latest.filter(|(frame, _)| *frame == cell.frame);
        let mut state = begun.map_or(FrameState::Accepted, |&(_, state)| state);
        let is_rm = cell.is_rm;
        let spared = queue.spares(cell);
        let begins = begun.is_none();
        let mut arriving = Arriving {
            vc: local,
            length: cell.bytes,
            places: queue.places(cell) as u32,
            begins,
            eom: cell.eom,
            tagged: cell.tagged,
            lost: false,
            idle_cells: (!self.busy).then(|| now.since(self.idle_since).0 / self.cell_time.0),
            draws: queue.draws,
        };
        let policer = queue.policer.as_mut().filter(|_| !is_rm);
        let ruling = policer.map_or(Ruling::Pass, |policer| policer.judge(now, &arriving));
        let lost = match state {
            _ if ruling == Ruling::Drop => Some(DropReason::Police),
            FrameState::Accepted => None,
            FrameState::Refused(reason) => Some(reason),
            FrameState::Damaged => (!spared).then_some(DropReason::Rest),
        };
        if ruling == Ruling::Drop && state == FrameState::Accepted {
            state = FrameState::Damaged;
        }
        let mut decision = Decision::Accept;
        if !is_rm && (queue.policy.needs().every_cell || (begins && self.busy)) {
            arriving.tagged |= ruling == Ruling::Tag;
            arriving.lost = lost.is_some();
            let view = queue.view(cell.flow);
            if let Some(pool) = pool {
                let reserve = queue.reserve;
                queue.policy.see_pool(PoolView { reserve, ..pool });
            }
            decision = queue.policy.admit(now, &arriving, &view);
        }
        if decision == Decision::Fail {
            let failure = queue.policy.failure().expect("it failed");
            return Err(NotTaken::Failed(failure));
        }
        let needs = queue.needs_shared(cell);
        if let (Some(free), Some(alpha)) = (free, queue.alpha)
            && matches!(decision, Decision::Accept | Decision::Tag)
            && (begins && self.busy && !is_rm && lost.is_none() && needs > 0)
        {
            let threshold = u128::from(alpha.num) * u128::from(free);
            if u128::from(queue.shared()) * u128::from(alpha.den) >= threshold {
                decision = Decision::Refuse(DropReason::Policy);
            }
        }
        let lacks_room = !queue.has_room(cell) || free.is_some_and(|free| needs > free);
        let full = self.busy && lacks_room;
        let never_fits = queue.buffer.is_some_and(|k| queue.places(cell) > k);
        let may_push_out = !queue.cells.is_empty() && !never_fits;
        let taken = |pushes_out| Admission {
            pushes_out,
            tags: ruling == Ruling::Tag || decision == Decision::Tag,
        };
        let verdict = match (lost, decision) {
            (Some(reason), _) => Err(reason),
            (None, Decision::Refuse(reason)) => {
                state = if begins {
                    FrameState::Refused(reason)
                } else {
                    FrameState::Damaged
                };
                Err(reason)
            }
            (None, Decision::RefuseAlone(reason)) => {
                state = FrameState::Damaged;
                Err(reason)
            }
            (None, Decision::PushOut) if may_push_out => Ok(taken(PushesOut::Cell)),
            (None, Decision::PushOutFrame) if may_push_out => Ok(taken(PushesOut::Frame)),
            _ if full => {
                state = FrameState::Damaged;
                Err(DropReason::Full)
            }
            _ => Ok(taken(PushesOut::Nothing)),
        };
        self.latest.insert(cell.flow, (cell.frame, state));
        verdict.map_err(NotTaken::Dropped)
    }

    /// Drops cells at the front of a class queue, once and until the arriving cell has room.
    fn push_out(&mut self, now: Time, class: usize, what: PushesOut, arriving: &Cell) -> Vec<Cell> {
        let mut dropped = self.push_out_once(now, class, what);
        while what != PushesOut::Nothing && !self.queues[class].has_room(arriving) {
            dropped.extend(self.push_out_once(now, class, what));
        }
        dropped
    }

    /// Drops cells at the front of a class queue. Their frame is damaged if it is still arriving.
    fn push_out_once(&mut self, now: Time, class: usize, what: PushesOut) -> Vec<Cell> {
        let queue = &mut self.queues[class];
        let dropped: Vec<Cell> = match what {
            PushesOut::Nothing => Vec::new(),
            PushesOut::Cell => queue
                .cells
                .pop_front()
                .into_iter()
                .map(|(_, c)| c)
                .collect(),
            PushesOut::Frame => {
                let front = queue.cells[0].1;
                let spares_eom = queue.rest_of_frame == RestOfFrame::DropButEom && !front.eom;
                let (dropped, left): (VecDeque<_>, VecDeque<_>) =
                    queue.cells.drain(..).partition(|(_, c)| {
                        let is_of_frame = (c.flow, c.frame) == (front.flow, front.frame);
                        is_of_frame && !(c.eom && spares_eom)
                    });
                queue.cells = left;
                dropped.into_iter().map(|(_, c)| c).collect()
            }
        };
        for cell in &dropped {
            if let Some((frame, state)) = self.latest.get_mut(&cell.flow)
                && *frame == cell.frame
                && *state == FrameState::Accepted
            {
                *state = FrameState::Damaged;
            }
            self.count_drop(now, class, DropReason::Front);
        }
        dropped
    }

    /// Whether the cell is the rest of a frame that the port already discards.
    pub(super) fn discards(&self, cell: &Cell, class: usize) -> bool {
        match self.latest.get(&cell.flow) {
            Some((frame, state)) if *frame == cell.frame => match state {
                FrameState::Accepted => false,
                FrameState::Refused(_) => true,
                FrameState::Damaged => !self.queues[class].spares(cell),
            },
            _ => false,
        }
    }

    /// Counts the refusals of an instant. Of the cells that were still to be judged, those of the
    /// inputs `accepted` were accepted in this order, and those of `refused` were refused. If there
    /// are both, the tie is contested, and its winners go to the back.
    pub(super) fn settle(&mut self, accepted: &[usize], refused: &[usize]) {
        for &input in refused {
            self.tally.refusals[input].all += 1;
            self.tally.refusals[input].tied += u64::from(!accepted.is_empty());
        }
        if !refused.is_empty() {
            self.fair_order.retain(|input| !accepted.contains(input));
            self.fair_order.extend(accepted);
        }
    }

    fn count_drop(&mut self, now: Time, class: usize, reason: DropReason) {
        self.tally.classes[class].dropped[reason] += 1;
        if self.measures(now) {
            self.tally.measured.classes[class].dropped += 1;
        }
    }

    /// Handles the departure of a cell of `class`.
    pub(super) fn departure(&mut self, now: Time, class: usize, line: &Line) {
        self.count_waiting_until(now);
        self.tally.classes[class].sent += 1;
        self.tally.measured.sent += u64::from(self.measures(now));
        self.transmits(line, now);
        self.in_service = false;
    }

    /// The next cell to send, after a departure or when the rate returns. Without one the port is
    /// idle.
    pub(super) fn next_cell(&mut self, now: Time) -> Option<Cell> {
        self.count_waiting_until(now);
        let next = self.take_next(now);
        self.busy = next.is_some();
        self.in_service = self.busy;
        if !self.busy {
            self.idle_since = now;
        }
        self.sent += u64::from(self.busy);
        self.check_conservation();
        next
    }

    fn take_next(&mut self, now: Time) -> Option<Cell> {
        let mut waiting = [0; CLASSES];
        for (count, queue) in waiting.iter_mut().zip(&self.queues) {
            *count = queue.cells.len() as u64;
        }
        if waiting == [0; CLASSES] {
            return None;
        }
        if let Some(of_class) = self.ranker.as_ref().map(Ranker::class) {
            let urgent = (0..CLASSES).find(|&class| waiting[class] > 0)?;
            if of_class.is_none_or(|class| class as usize == urgent) {
                return self.take_by_rank(now, of_class.map(|_| urgent));
            }
        }
        let (queues, flows) = (&self.queues[..], &self.flows[..]);
        let slots = Slots {
            now,
            sent: self.sent,
            most: 1,
            kept: 0,
            waiting: &waiting,
            queues: &WaitingCells { queues, flows },
        };
        let Some(Pattern::Turn(turn)) = self.scheduler.give(slots, &mut Vec::new()) else {
            unreachable!("one slot is no round")
        };
        let oldest = match self.scheduler.class_order(turn.class) {
            ClassOrder::InOrder => 0,
            _ => WaitingCells { queues, flows }.oldest_of(turn.class, turn.vc)?,
        };
        self.queues[turn.class]
            .cells
            .remove(oldest)
            .map(|(_, cell)| cell)
    }

    /// Takes the first cell of the VC that the program chooses, from `class` or from all.
    fn take_by_rank(&mut self, now: Time, class: Option<usize>) -> Option<Cell> {
        let mut candidates = Vec::new();
        for index in 0..CLASSES {
            for local in 0..self.flows.len() {
                let flow = self.flows[local];
                let mut cells = self.queues[index].cells.iter();
                let waits = cells.any(|(_, c)| c.flow == flow);
                if waits && class.is_none_or(|class| class == index) {
                    candidates.push(self.waiting_vc(local));
                }
            }
        }
        let chosen = self.ranker.as_mut()?.choose(now, &candidates);
        let local = match chosen {
            Ok(local) => local,
            Err(failed) => {
                self.failed.get_or_insert(failed);
                return None;
            }
        };
        let flow = self.flows[local];
        let mut queues = self.queues.iter_mut();
        let cell = queues.find_map(|queue| {
            let first = queue.cells.iter().position(|(_, c)| c.flow == flow)?;
            queue.cells.remove(first)
        });
        let mut vc = self.waiting_vc(local);
        if let Some((_, cell)) = &cell {
            (vc.length, vc.places) = (cell.bytes.into(), self.queues[0].places(cell));
        }
        let ran = self.ranker.as_mut()?.served(now, vc);
        self.failed = self.failed.or(ran.err());
        cell.map(|(_, cell)| cell)
    }

    /// Runs the program's text for a VC, one of whose cells has joined the queue, if it is alone.
    fn begins_to_wait(&mut self, now: Time, local: usize) {
        let vc = self.waiting_vc(local);
        if let Some(ranker) = self.ranker.as_mut().filter(|_| vc.cells == 1) {
            let ran = ranker.arrive(now, vc);
            self.failed = self.failed.or(ran.err());
        }
    }

    /// What a program sees of a VC.
    fn waiting_vc(&self, local: usize) -> Waiting {
        let flow = self.flows[local];
        let queues = self.queues.iter().flat_map(|queue| &queue.cells);
        let mut cells = queues.filter(|(_, c)| c.flow == flow);
        let first = cells.next();
        Waiting {
            local,
            arrival: first.map_or(0, |&(number, _)| number),
            cells: u64::from(first.is_some()) + cells.count() as u64,
            length: first.map_or(0, |(_, cell)| cell.bytes.into()),
            // All class queues of a port count the same places.
            places: first.map_or(0, |(_, cell)| self.queues[0].places(cell)),
        }
    }

    /// Sum of s over the queues: places of the shared part of the pool that are in use.
    pub(super) fn shared(&self) -> u64 {
        self.queues.iter().map(ClassQueue::shared).sum()
    }

    /// All waiting cells.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Cell> {
        self.queues
            .iter()
            .flat_map(|q| q.cells.iter().map(|(_, c)| c))
    }

    /// Places of the waiting cells of some flows.
    pub(super) fn places_of(&self, counts: impl Fn(FlowId) -> bool) -> u64 {
        let of_queue = |queue: &ClassQueue| {
            let counted = queue.cells.iter().filter(|(_, cell)| counts(cell.flow));
            counted.map(|(_, cell)| queue.places(cell)).sum::<u64>()
        };
        self.queues.iter().map(of_queue).sum()
    }

    /// The drop policy of each class.
    pub(super) fn policies(&self) -> impl Iterator<Item = &dyn DropRule> {
        self.queues.iter().map(|queue| &*queue.policy)
    }

    /// Credit of the scheduler, slots.
    pub(super) fn credit(&self) -> f64 {
        self.scheduler.credit().unwrap_or(0.0)
    }

    /// Waiting cells of `class`.
    pub(super) fn waiting_of(&self, class: usize) -> u64 {
        self.queues[class].cells.len() as u64
    }

    /// Number of waiting cells.
    fn waits(&self) -> u64 {
        self.queues.iter().map(|q| q.cells.len() as u64).sum()
    }

    /// Counts the time until `end` as one in which the port transmits the latest cell of its line.
    pub(super) fn transmits(&mut self, line: &Line, end: Time) {
        let (from, to) = self.measured;
        let begin = line.begun();
        let all = end.since(begin);
        let measured = end.min(to).since(begin.max(from));
        self.tally.line_time += all;
        self.tally.measured.line_time += measured;
        if line.changes() {
            let rate = u128::from(line.rate_at(begin).0);
            self.tally.line_work += u128::from(all.0) * rate;
            self.tally.measured.line_work += u128::from(measured.0) * rate;
        }
    }

    pub(super) fn finish(&mut self, end: Time) {
        self.count_waiting_until(end);
        self.check_conservation();
    }

    fn count_waiting_until(&mut self, now: Time) {
        let waiting = u128::from(self.waits());
        self.tally.queue_time += waiting * u128::from(now.since(self.counted_until).0);
        let (from, to) = self.measured;
        let measured = now.min(to).since(self.counted_until.max(from));
        self.tally.measured.queue_time += waiting * u128::from(measured.0);
        if self.counted_until < from && from <= now {
            self.measure_queues();
        }
        self.counted_until = now;
    }

    fn measures(&self, now: Time) -> bool {
        let (from, to) = self.measured;
        from <= now && now < to
    }

    /// Raises the largest queues of the measuring time to the current ones.
    fn measure_queues(&mut self) {
        let all = self.waits();
        let measured = &mut self.tally.measured;
        measured.max_queue = all.max(measured.max_queue);
        for (class, queue) in measured.classes.iter_mut().zip(&self.queues) {
            class.max_queue = class.max_queue.max(queue.cells.len() as u64);
        }
    }

    /// Checks the balance (arrived = accepted + dropped on arrival, accepted = sent + held + pushed
    /// out), and that no queue exceeds its buffer.
    fn check_conservation(&mut self) {
        self.tally.held = self.waits() + u64::from(self.in_service);
        self.tally.check();
        for queue in &self.queues {
            assert!(queue.buffer.is_none_or(|k| queue.x() <= k));
        }
    }
}

impl ClassQueue {
    /// Whether this later cell of a damaged frame may still be accepted.
    fn spares(&self, cell: &Cell) -> bool {
        match self.rest_of_frame {
            RestOfFrame::Accept => true,
            RestOfFrame::DropButEom => cell.eom,
            RestOfFrame::Drop => false,
        }
    }

    /// Places that a cell takes: one, or one for each so many bytes that are stored.
    fn places(&self, cell: &Cell) -> u64 {
        match self.place {
            Place::Cell => 1,
            Place::Bytes { each, unstored } => {
                let stored = cell.bytes - unstored;
                u64::from(stored / each) + u64::from(!stored.is_multiple_of(each))
            }
        }
    }

    /// s: places of the shared part of the pool that the waiting cells take.
    fn shared(&self) -> u64 {
        self.x().saturating_sub(self.reserve)
    }

    /// d: places of the shared part that this cell needs.
    fn needs_shared(&self, cell: &Cell) -> u64 {
        (self.x() + self.places(cell)).saturating_sub(self.reserve) - self.shared()
    }

    /// X: places that the waiting cells take.
    fn x(&self) -> u64 {
        self.cells.iter().map(|(_, cell)| self.places(cell)).sum()
    }

    /// Whether X + p <= K.
    fn has_room(&self, cell: &Cell) -> bool {
        self.buffer
            .is_none_or(|k| self.x() + self.places(cell) <= k)
    }

    /// The queue as the policy sees it. Counts per VC are made only for policies that need them.
    fn view(&self, flow: FlowId) -> QueueView {
        if !self.policy.needs().vc_counts {
            return QueueView {
                waiting: self.x(),
                ..QueueView::default()
            };
        }
        let of_vc = self.cells.iter().filter(|(_, c)| c.flow == flow);
        let active: HashSet<FlowId> = self.cells.iter().map(|(_, c)| c.flow).collect();
        QueueView {
            waiting: self.x(),
            waiting_of_vc: of_vc.map(|(_, cell)| self.places(cell)).sum(),
            active_vcs: active.len() as u64,
        }
    }
}
