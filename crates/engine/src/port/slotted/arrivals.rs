//! Handling of arrivals in the slotted kernel: one by one, in rounds, or watched.

use super::queued_cells::QueuedCells;
use super::{ClassOrder, Slotted};
use crate::ground::delays::Waits;
use crate::ground::units::{Span, Time};
use crate::network::cells::{Fate, FrameState, Run, TAGGED};
use crate::network::fabric::Fabric;
use crate::network::record::{PoolSnapshot, QueueSnapshot};
use crate::network::tally::{DropReason, raise};
use crate::port::Inputs;
use crate::port::drop::QueueView;
use crate::port::fast_paths::FastPath;
use crate::port::gate::{Share, Verdict};
use crate::port::watch::{Outcome, PortProbe, TracedCell, dynamic_threshold, queue_snapshot};

impl Slotted {
    /// Takes all arrivals and decisions before `horizon`, each time by the first fast path that
    /// applies.
    ///
    /// This is a separate function because inlining it next to the other kernel was measured to be
    /// slower.
    pub fn advance(&mut self, inputs: &mut Inputs, fabric: &mut Fabric, horizon: Time) {
        while let Some(next) = inputs.next(horizon) {
            self.serve_before(fabric, self.decided_before(next.time));
            if let Some(bulk) = FastPath::Bulk.tried(|| self.can_take_bulk(fabric, inputs, &next)) {
                self.take_bulk(fabric, inputs, bulk);
            } else if let Some(rounds) =
                FastPath::Rhythm.tried(|| self.can_take_rounds(fabric, inputs, &next))
            {
                self.take_rounds(fabric, inputs, rounds);
            } else if next.time == next.other {
                let first = inputs.coincident(next.time);
                self.handle_group(fabric, inputs, first);
            } else {
                let more = self.handle_arrival(fabric, next.feed, false).more;
                inputs.advance_first(fabric, next.feed, more);
            }
        }
        self.serve_before(fabric, horizon);
    }

    /// Handles the cells of one instant, one from each input of `inputs.group`. The input at index
    /// `first` has the first turn. Afterwards, all inputs with more cells are back in the order.
    fn handle_group(&mut self, fabric: &mut Fabric, inputs: &mut Inputs, first: usize) {
        fabric.tied = true;
        for i in 0..inputs.group.len() {
            let feed = inputs.feed_in_turn(first, i);
            self.handle_arrival(fabric, feed, false);
        }
        inputs.end_tie(fabric, first);
        inputs.put_back(fabric);
    }

    /// Takes all arrivals and decisions before `horizon` cell by cell, for a port that is watched.
    #[cold]
    pub fn advance_watched(
        &mut self,
        inputs: &mut Inputs,
        fabric: &mut Fabric,
        probe: &mut PortProbe,
        horizon: Time,
    ) {
        while let Some((time, _)) = inputs.order.first() {
            if time >= horizon {
                break;
            }
            self.sample_before(probe, fabric, time);
            self.serve_watched(probe, fabric, self.decided_before(time));
            let first = inputs.coincident(time);
            fabric.tied = inputs.group.len() > 1;
            for i in 0..inputs.group.len() {
                let feed = inputs.feed_in_turn(first, i);
                self.arrive_watched(probe, fabric, feed);
            }
            inputs.end_tie(fabric, first);
            inputs.put_back(fabric);
        }
        self.sample_before(probe, fabric, Time(horizon.0 - 1));
        self.serve_watched(probe, fabric, horizon);
    }

    /// Takes all decisions on transmission ends before `limit`, one by one if changes are watched.
    fn serve_watched(&mut self, probe: &mut PortProbe, fabric: &mut Fabric, limit: Time) {
        if probe.watches_changes() {
            while self.busy && self.free_at < limit {
                let now = self.free_at;
                self.serve_before(fabric, now + Span(1));
                probe.changed(now, |quantity| self.look(quantity));
            }
        }
        self.serve_before(fabric, limit);
    }

    /// Bound for transmission ends: those before it are handled before an arrival at `time`.
    pub(super) fn decided_before(&self, time: Time) -> Time {
        if self.arrival_first {
            time
        } else {
            time + Span(1)
        }
    }

    /// Records the samples due until `time`, each after the decisions that precede it.
    pub fn sample_before(&mut self, probe: &mut PortProbe, fabric: &mut Fabric, time: Time) {
        while let Some(due) = probe.next_sample().filter(|&due| due <= time) {
            self.serve_watched(probe, fabric, self.decided_before(due));
            probe.sample_until(due, |_, quantity| self.look(quantity));
        }
    }

    fn arrive_watched(&mut self, probe: &mut PortProbe, fabric: &mut Fabric, feed: usize) {
        let run = fabric.feeds[feed].head;
        let hop = &fabric.hops[run.hop as usize];
        let cell = TracedCell::first_of(&run, hop);
        let (class, local) = (hop.class as usize, hop.local);
        let queue = self.view(class, local as usize);
        let outcome = self.handle_arrival(fabric, feed, true);
        if probe.watches_arrivals() {
            probe.arrived(run.time, |quantity| self.look(quantity));
        }
        let Some(reason) = outcome.reason() else {
            return;
        };
        let snapshot = || queue_snapshot(&queue, &self.gates[class], Some(reason), local);
        if let Some(reason) = outcome.dropped {
            probe.lost(run.time, cell, reason, || {
                self.with_pool(snapshot(), fabric, class, run.time, &queue, reason)
            });
        }
        if outcome.pushed_out {
            for cell in &self.last_pushed_out {
                let hop = &fabric.hops[cell.hop as usize];
                let cell = TracedCell::new(hop, cell.frame, cell.cell.number());
                probe.lost(run.time, cell, DropReason::Front, snapshot);
            }
        }
    }

    /// Handles the first cell of `feed`, which arrives now.
    /// Unless `one_at_a_time` is set, it also drops the rest of a frame that is lost.
    #[inline]
    fn handle_arrival(&mut self, fabric: &mut Fabric, feed: usize, one_at_a_time: bool) -> Outcome {
        if FastPath::BelowLimits.applies(|| self.can_take_below_limits(fabric, feed)) {
            Outcome::accepted(self.accept_first(fabric, feed))
        } else if self.pool().is_none() {
            self.handle_by_gate::<false>(fabric, feed, one_at_a_time)
        } else {
            self.handle_by_gate::<true>(fabric, feed, one_at_a_time)
        }
    }

    /// Whether the first cell of `feed` finds its class queue below all limits, and its frame has
    /// lost no cell.
    fn can_take_below_limits(&self, fabric: &Fabric, feed: usize) -> bool {
        if !self.has_room_below_limits {
            return false;
        }
        let run = &fabric.feeds[feed].head;
        let hop = &fabric.hops[run.hop as usize];
        let class = hop.class as usize;
        let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
        (begins || hop.frame_state.fate == Fate::Accepted)
            && self.queues[class].limits.fits(self.x(class), begins)
    }

    /// Accepts the first cell of `feed`; returns whether the feed has more.
    #[inline(always)]
    fn accept_first(&mut self, fabric: &mut Fabric, feed: usize) -> bool {
        let run = &fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        hop.frame_state = FrameState::accepted(run.frame);
        hop.arrived += 1;
        let (class, local) = (hop.class as usize, hop.local as usize);
        let cell = QueuedCells::first_of(run, 1);
        self.accept(fabric, class, local, cell);
        fabric.feeds[feed].skip(1)
    }

    /// Handles the first cell of `feed` by the gate; with `POOL` at a port in a pool.
    #[inline(never)]
    fn handle_by_gate<const POOL: bool>(
        &mut self,
        fabric: &mut Fabric,
        feed: usize,
        one_at_a_time: bool,
    ) -> Outcome {
        let mut run = fabric.feeds[feed].head;
        if !self.busy {
            self.pause_at(run.time);
        }
        let hop = &mut fabric.hops[run.hop as usize];
        let (class, local) = (hop.class as usize, hop.local);
        let view = self.view(class, local as usize);
        let (state, idle) = (&mut hop.frame_state, self.idle_cells(class, run.time));
        let pool = if POOL { self.pool() } else { None };
        let gate = &mut self.gates[class];
        let judged = match pool {
            None => gate.judge(run.time, &run, state, local, &view, idle, None),
            Some(place) => {
                let pool = &mut fabric.pools[place.pool as usize];
                let discards = gate.discards(&run, state);
                let found = pool.look(run.time);
                let judged = gate.judge_in_pool(run.time, &run, state, local, &view, idle, found);
                pool.taken.judged += u32::from(!discards);
                pool.taken.accepted += u32::from(judged.verdict.takes());
                pool.taken.refused += u32::from(judged.refused);
                if idle.is_none() && judged.verdict.takes() {
                    let (share, x) = (gate.share(), gate.places_of(view.waiting));
                    let places = share.place.of(run.cell.bytes());
                    pool.take(place.queue(class), places, share.needs(x, places));
                }
                judged
            }
        };
        let mut outcome = Outcome {
            more: true,
            dropped: None,
            pushed_out: false,
        };
        let mut n = 1;
        if judged.tagged && judged.verdict.takes() {
            run.flags |= TAGGED;
            fabric.extras[run.hop as usize].tagged += 1;
        }
        match judged.verdict {
            Verdict::Refuse(reason) => {
                if fabric.captures_drops(run.hop) {
                    let snapshot = queue_snapshot(&view, gate, Some(reason), local);
                    let snapshot = self.with_pool(snapshot, fabric, class, run.time, &view, reason);
                    fabric.capture_drop(&run, reason, Some(snapshot));
                } else if !one_at_a_time {
                    n = judged.cells.min(run.before(fabric.drop_until));
                }
                fabric.drop_arriving(feed, run.hop, reason, n, judged.refused);
                outcome.dropped = Some(reason);
            }
            Verdict::Overdue => fabric.overdue_at(run.hop),
            Verdict::Failed => fabric.fails_at(run.hop, gate.failure()),
            Verdict::PushOut | Verdict::PushOutFrame => {
                let whole = judged.verdict == Verdict::PushOutFrame;
                self.push_out(fabric, class, whole, &run);
                if fabric.captures_drops(run.hop) {
                    self.capture_pushed_out(fabric, class, local, run.time, &view);
                }
                outcome.pushed_out = true;
                let cell = QueuedCells::first_of(&run, 1);
                self.accept_judged(fabric, class, local as usize, cell);
            }
            Verdict::Accept => {
                let cell = QueuedCells::first_of(&run, 1);
                self.accept_judged(fabric, class, local as usize, cell);
            }
        }
        fabric.hops[run.hop as usize].arrived += u64::from(n);
        outcome.more = fabric.feeds[feed].skip(n);
        outcome
    }

    /// Adds the pool to what a cell of `class` found that arrived at `now`, with the limit that it had
    /// reached: the dynamic threshold, or what the pool leaves to the queue.
    #[cold]
    fn with_pool(
        &self,
        mut snapshot: QueueSnapshot,
        fabric: &mut Fabric,
        class: usize,
        now: Time,
        found: &QueueView,
        reason: DropReason,
    ) -> QueueSnapshot {
        let Some(place) = self.pool() else {
            return snapshot;
        };
        let (gate, pool) = (&self.gates[class], &mut fabric.pools[place.pool as usize]);
        let Share { reserve, alpha, .. } = *gate.share();
        let [free, _] = pool.look(now);
        let threshold = alpha.map(|alpha| dynamic_threshold(reserve, alpha, free));
        let room = (gate.places_of(found.waiting).max(reserve) + free) as f64;
        snapshot.threshold = match reason {
            // A policy that refuses above a threshold did not, if the queue is not above it.
            DropReason::Policy => {
                let x = gate.places_of(found.waiting) as f64;
                snapshot
                    .threshold
                    .filter(|&of_policy| x > of_policy)
                    .or(threshold)
            }
            DropReason::Full => snapshot.threshold.map(|k| k.min(room)),
            _ => snapshot.threshold,
        };
        let queues = pool.queues(now);
        snapshot.pool = Some(PoolSnapshot {
            free,
            threshold,
            queues,
        });
        snapshot
    }

    /// Accepts one cell that the gate has judged, as it does each in a kernel that counts places.
    #[inline(always)]
    fn accept_judged(
        &mut self,
        fabric: &mut Fabric,
        class: usize,
        local: usize,
        cell: QueuedCells,
    ) {
        if self.busy && self.places().is_some() {
            self.accept_places(fabric, class, local, cell);
        } else {
            self.accept(fabric, class, local, cell);
        }
    }

    /// Accepts one cell, which waits if the port is busy.
    #[inline(always)]
    fn accept(&mut self, fabric: &mut Fabric, class: usize, local: usize, cell: QueuedCells) {
        self.accepted += 1;
        if self.busy {
            self.count_waiting(class, local, 1);
            self.append(class, local, cell);
            self.note_longest(class);
        } else {
            // The cell never waits, so Y_i does not count it.
            self.busy = true;
            fabric.depart(self.transmit(cell.arrived, &cell));
        }
    }

    /// Updates the maxima of X after a cell of `class` was accepted.
    fn note_longest(&mut self, class: usize) {
        let queue = &mut self.queues[class];
        raise(&mut queue.max, self.waiting[class] + queue.beyond);
        raise(&mut self.max_queue, self.total + self.decided.total);
    }

    /// Pushes out the cell at the front of the queue of `class`, or with `whole` its waiting frame,
    /// until the first cell of `run` has room. A frame that loses a cell while it is still arriving
    /// becomes damaged.
    fn push_out(&mut self, fabric: &mut Fabric, class: usize, whole: bool, run: &Run) {
        self.last_pushed_out.clear();
        self.push_out_once(fabric, class, whole, run.time);
        // One cell of equal ones makes room.
        while let Some(places) = self.places() {
            let places = places.of_bytes(run.cell.bytes());
            if !self.gates[class].lacks_room::<true>(places, self.x(class)) {
                break;
            }
            self.push_out_once(fabric, class, whole, run.time);
        }
    }

    /// Appends what is pushed out once to [`Slotted::last_pushed_out`].
    fn push_out_once(&mut self, fabric: &mut Fabric, class: usize, whole: bool, now: Time) {
        let queue = &mut self.queues[class];
        let before = self.last_pushed_out.len();
        match self.scheduler.class_order(class) {
            ClassOrder::InOrder if whole => {
                let spares_eom = self.gates[class].spares_eom();
                queue.take_front_frame(spares_eom, self.cell_time, &mut self.last_pushed_out);
            }
            ClassOrder::InOrder => self.last_pushed_out.push(queue.pop_front(self.cell_time)),
            ClassOrder::PerVc(_) | ClassOrder::Program(_) => {
                unreachable!("the reader refuses this: which VC's front?")
            }
        }
        for cell in &self.last_pushed_out[before..] {
            let hop = &mut fabric.hops[cell.hop as usize];
            let state = &mut hop.frame_state;
            let damages = state.frame == Some(cell.frame) && state.fate == Fate::Accepted;
            if damages {
                state.fate = Fate::Damaged;
            }
            let places = match &self.one_by_one {
                Some(each) => each.places.as_ref().map_or(1, |places| places.of(cell)),
                None => 1,
            };
            queue.beyond -= places - 1;
            if self.counts[class] {
                queue.count_out(hop.local as usize, places);
            }
            self.waiting[class] -= 1;
            self.total -= 1;
            self.pushed_out += 1;
            self.queue_time += Waits::Equal(now - cell.arrived).sum(1);
            fabric.push_out(cell.hop, damages);
        }
    }

    /// Captures the cells just pushed out at `now` by an arrival of the flow with local number
    /// `local`, which found `view`.
    #[cold]
    fn capture_pushed_out(
        &self,
        fabric: &mut Fabric,
        class: usize,
        local: u32,
        now: Time,
        view: &QueueView,
    ) {
        let snapshot = queue_snapshot(view, &self.gates[class], Some(DropReason::Front), local);
        for cell in &self.last_pushed_out {
            let run = Run {
                time: now,
                n: 1,
                frame: cell.frame,
                cell: cell.cell,
                hop: cell.hop,
                flags: cell.flags(),
                ..Run::default()
            };
            fabric.capture_drop(&run, DropReason::Front, Some(snapshot.clone()));
        }
    }

    /// Counts cells that join their queue.
    #[inline]
    pub(super) fn count_waiting(&mut self, class: usize, local: usize, n: u64) {
        if self.counts[class] {
            self.queues[class].count_in(local, n);
        }
        self.waiting[class] += n;
        self.total += n;
    }

    /// Accepts a cell that waits, in a kernel that counts places.
    fn accept_places(
        &mut self,
        fabric: &mut Fabric,
        class: usize,
        local: usize,
        cell: QueuedCells,
    ) {
        if self.waiting[class] >= self.gates[class].overdue_from() {
            fabric.overdue_at(cell.hop);
        }
        let places = self.places().expect("it counts places").of(&cell);
        self.queues[class].beyond += places - 1;
        if self.counts[class] {
            self.queues[class].count_in(local, places);
        }
        self.accepted += 1;
        self.waiting[class] += 1;
        self.total += 1;
        self.append(class, local, cell);
        self.note_longest(class);
        let beyond: u64 = self.queues.iter().map(|queue| queue.beyond).sum();
        let places = self
            .one_by_one
            .as_mut()
            .and_then(|each| each.places.as_mut());
        let places = places.expect("it counts places");
        raise(&mut places.max_cells[class], self.waiting[class]);
        raise(&mut places.max_queue, self.total + beyond);
    }

    /// Appends a cell to its queue.
    #[inline(always)]
    fn append(&mut self, class: usize, local: usize, cell: QueuedCells) {
        let queue = &mut self.queues[class];
        let by_number = self.scheduler.looks_at_queues();
        match self.scheduler.class_order(class) {
            ClassOrder::PerVc(s) => {
                s.on_arrival(local, 1, self.started);
                return queue.per_vc[local].push(cell, self.cell_time);
            }
            ClassOrder::Program(s) => {
                s.on_arrival(local, self.accepted, cell.cell.bytes(), cell.arrived);
                return queue.per_vc[local].push(cell, self.cell_time);
            }
            // Such cells are not merged into runs: each leaves with its own number.
            ClassOrder::InOrder if by_number => queue.numbers.push_back(self.accepted),
            ClassOrder::InOrder => return queue.push(cell, self.cell_time),
        }
        queue.cells.push_back(cell);
    }
}
