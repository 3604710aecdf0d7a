//! Processing at hosts and transports (model section 8): chooses the stage and the draws for a
//! frame.

use super::event::{Direction, Level};
use super::stage::FrameStage;
use crate::ground::flow::FlowId;
use crate::ground::rng::Stream;
use crate::ground::units::Time;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Host, Scenario};

/// Processing stages of all hosts and of the transports at both ends of all VCs.
pub(super) struct Processing {
    /// By flow: the transport that receives its frames, and the one that sends them.
    transport: Vec<[Option<FrameStage>; 2]>,
    /// By host: stages for received frames and for sent frames.
    host: Vec<[Option<FrameStage>; 2]>,
    /// By flow and direction: random draws for host and transport.
    streams: Vec<[[Stream; 2]; 2]>,
}

impl Processing {
    pub(super) fn new(
        scenario: &Scenario,
        topology: &Topology,
        stream: impl Fn(&str, &str) -> Stream,
    ) -> Processing {
        let mut transport = Vec::new();
        let mut streams = Vec::new();
        for flow in &topology.flows {
            let (vc, kind) = (&scenario.vcs[flow.vc], flow.kind.name());
            let processing = vc.traffic.processing();
            transport.push([(); 2].map(|()| processing.map(FrameStage::new)));
            let draws = |direction: Direction| {
                let (word, end) = match direction {
                    Direction::Receive => ("receive", flow.hosts[1]),
                    Direction::Send => ("send", flow.hosts[0]),
                };
                let host = &scenario.hosts[end].name;
                [
                    stream(host, &format!("{word}-{kind}-{}", vc.name)),
                    stream(&vc.name, &format!("transport-{word}-{kind}")),
                ]
            };
            streams.push([draws(Direction::Receive), draws(Direction::Send)]);
        }
        let of_host = |host: &Host| [(); 2].map(|()| host.processing.map(FrameStage::new));
        Processing {
            transport,
            host: scenario.hosts.iter().map(of_host).collect(),
            streams,
        }
    }

    /// Whether the backlog of the frame's stage, if there is one, reaches beyond [`Time::LATEST`].
    pub(super) fn is_overdue(
        &self,
        flow: FlowId,
        host: usize,
        direction: Direction,
        level: Level,
    ) -> bool {
        let stage = match level {
            Level::Transport => &self.transport[flow.index()][direction as usize],
            Level::Host => &self.host[host][direction as usize],
        };
        stage.as_ref().is_some_and(FrameStage::is_overdue)
    }

    /// When a frame that comes at `now` leaves its stage; `None` without a stage.
    pub(super) fn leave(
        &mut self,
        now: Time,
        flow: FlowId,
        host: usize,
        direction: Direction,
        level: Level,
        frame: u32,
    ) -> Option<Time> {
        let stage = match level {
            Level::Transport => &mut self.transport[flow.index()][direction as usize],
            Level::Host => &mut self.host[host][direction as usize],
        };
        let draws = self.streams[flow.index()][direction as usize][level as usize];
        let stage = stage.as_mut()?;
        Some(stage.leave(now, draws, u64::from(frame)))
    }
}
