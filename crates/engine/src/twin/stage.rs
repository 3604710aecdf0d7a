//! Processing delays (model section 8).

use super::Cell;
use crate::ground::flow::FlowId;
use crate::ground::rng::Stream;
use crate::ground::units::{Span, Time};
use crate::text::scenario::{Processing, ProcessingKind, ProcessingUnit};
use std::collections::HashMap;

/// Processing time of draw `n`: mean - spread + a draw from [0, 2 spread].
fn time(processing: Processing, draws: Stream, n: u64) -> Span {
    let (mean, spread) = (processing.mean.0, processing.spread.0);
    Span(mean - spread + draws.below(n, 2 * spread + 1))
}

/// Processing stage for whole frames, at a host or a transport.
pub(super) struct FrameStage {
    processing: Processing,
    previous: Time,
}

impl FrameStage {
    pub(super) fn new(processing: Processing) -> FrameStage {
        FrameStage {
            processing,
            previous: Time::ZERO,
        }
    }

    /// Whether the backlog reaches beyond [`Time::LATEST`].
    pub(super) fn is_overdue(&self) -> bool {
        self.previous > Time::LATEST
    }

    /// When a frame that comes at `now` leaves; `n` is the number of its draw.
    pub(super) fn leave(&mut self, now: Time, draws: Stream, n: u64) -> Time {
        let time = time(self.processing, draws, n);
        self.previous = match self.processing.kind {
            ProcessingKind::Server => now.max(self.previous) + time,
            ProcessingKind::Latency => (now + time).max(self.previous),
        };
        self.previous
    }
}

/// Processing stage between an input link of a switch and the output ports.
pub(super) struct SwitchStage {
    processing: Processing,
    /// Random draws, by flow among those of the link.
    draws: HashMap<FlowId, Stream>,
    /// When the latest cell left.
    previous: Option<Time>,
    /// The latest frame of each flow.
    latest: HashMap<FlowId, u32>,
}

impl SwitchStage {
    pub(super) fn new(processing: Processing, draws: HashMap<FlowId, Stream>) -> SwitchStage {
        SwitchStage {
            processing,
            draws,
            previous: None,
            latest: HashMap::new(),
        }
    }

    /// Whether the backlog reaches beyond [`Time::LATEST`].
    pub(super) fn is_overdue(&self) -> bool {
        self.previous > Some(Time::LATEST)
    }

    /// When `cell`, which arrives at `at`, reaches its output port. Cells must come in the order of
    /// the link.
    pub(super) fn leave(&mut self, at: Time, cell: &Cell) -> Time {
        let begins = self.latest.insert(cell.flow, cell.frame) != Some(cell.frame);
        let index = match self.processing.per {
            ProcessingUnit::Cell => cell.index,
            ProcessingUnit::Frame => 0,
        };
        let n = u64::from(cell.frame)
            .wrapping_mul(1 << 12)
            .wrapping_add(u64::from(index));
        let time = time(self.processing, self.draws[&cell.flow], n);
        let free = self.previous.unwrap_or(Time::ZERO);
        let leaves = match (self.processing.kind, self.processing.per) {
            (ProcessingKind::Latency, _) => at + time,
            (ProcessingKind::Server, ProcessingUnit::Frame) if !begins => at.max(free),
            (ProcessingKind::Server, _) => at.max(free) + time,
        };
        let soonest = self.previous.map_or(Time::ZERO, |p| p + Span(1));
        self.previous = Some(leaves.max(soonest));
        leaves.max(soonest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processing(kind: ProcessingKind, per: ProcessingUnit) -> Processing {
        Processing {
            kind,
            per,
            mean: Span(10),
            spread: Span::ZERO,
        }
    }

    fn draws() -> Stream {
        Stream::new(1, 0, "", "")
    }

    #[test]
    fn server_takes_one_frame_at_a_time_latency_all_at_once() {
        let leaving = |kind| {
            let mut stage = FrameStage::new(processing(kind, ProcessingUnit::Frame));
            [0, 0, 5, 40].map(|now| stage.leave(Time(now), draws(), 0).0)
        };
        assert_eq!(leaving(ProcessingKind::Server), [10, 20, 30, 50]);
        assert_eq!(leaving(ProcessingKind::Latency), [10, 10, 15, 50]);
    }

    #[test]
    fn cells_leave_a_switch_stage_one_per_tick_in_order() {
        let leaving = |kind, per| {
            let mut stage = SwitchStage::new(
                processing(kind, per),
                (0..8).map(|flow| (FlowId(flow), draws())).collect(),
            );
            [(0, 0, 0), (3, 0, 1), (6, 1, 0), (9, 1, 1)].map(|(at, frame, index)| {
                let cell = Cell {
                    flow: FlowId(0),
                    is_data: true,
                    frame,
                    index,
                    eom: index == 1,
                    is_rm: false,
                    tagged: false,
                    bytes: 53,
                    left_source: Time::ZERO,
                };
                stage.leave(Time(at), &cell).0
            })
        };
        use ProcessingKind::{Latency, Server};
        assert_eq!(leaving(Latency, ProcessingUnit::Cell), [10, 13, 16, 19]);
        assert_eq!(leaving(Latency, ProcessingUnit::Frame), [10, 13, 16, 19]);
        assert_eq!(leaving(Server, ProcessingUnit::Cell), [10, 20, 30, 40]);
        assert_eq!(leaving(Server, ProcessingUnit::Frame), [10, 11, 21, 22]);
    }

    #[test]
    fn draws_lie_within_the_spread_and_reach_its_ends() {
        let spread = Processing {
            spread: Span(3),
            ..processing(ProcessingKind::Latency, ProcessingUnit::Frame)
        };
        let times: Vec<u64> = (0..200).map(|n| time(spread, draws(), n).0).collect();
        assert_eq!(times.iter().min(), Some(&7));
        assert_eq!(times.iter().max(), Some(&13));
    }
}
