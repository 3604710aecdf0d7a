//! Settings of ports, what each can do, and whether the link's or the switch's apply.

use super::abr::Feedback;
use super::program::{ProgramPolicy, ProgramScheduler};
use super::threshold::{Size, Threshold};
use crate::ground::class::Class;
use crate::ground::units::Ratio;
use crate::text::program::Verdict;
use crate::text::program::names::Known;
use serde::{Deserialize, Serialize};

/// The buffer of one class at a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassQueue {
    /// Service class.
    pub class: Class,
    /// What may wait, without the cell in service. Absent: unlimited.
    pub buffer: Option<Size>,
    /// r: part of the switch's pool that only this queue uses. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve: Option<Size>,
    /// Dynamic threshold, relative to the free part of the switch's pool. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Ratio>,
    /// Policer for cells that break their contract. Absent: none.
    pub police: Option<Police>,
    /// Policy that refuses cells before the buffer is full.
    pub drop: DropPolicy,
    /// Feedback to the sources of the VCs that cross the queue. Absent: none.
    pub feedback: Option<Feedback>,
    /// Treatment of the rest of a frame that lost a cell.
    pub rest_of_frame: RestOfFrame,
}

/// Treatment of the later cells of a frame that lost a cell in the middle.
///
/// A frame refused at its first cell is dropped whole, including its EOM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestOfFrame {
    /// Accepted while there is room.
    Accept,
    /// Dropped, except for the EOM, which is accepted while there is room.
    DropButEom,
    /// Dropped, EOM included.
    Drop,
}

/// A drop policy with its parameters. See `port::drop`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DropPolicy {
    /// Tail drop (`port::drop::tail_drop`).
    TailDrop,
    /// Partial packet discard (`port::drop::ppd`).
    Ppd,
    /// Early packet discard (`port::drop::epd`).
    Epd {
        /// Threshold. Absent: buffer - `reserve`.
        threshold: Option<Threshold>,
        /// Reserved for the rest of frames already begun. Absent: 200 cells, but at most half of
        /// the buffer.
        reserve: Option<Threshold>,
    },
    /// Selective drop (`port::drop::selective_drop`).
    SelectiveDrop {
        /// R: the threshold.
        r: Threshold,
        /// Z: the load-ratio cutoff.
        z: Ratio,
    },
    /// Fair buffer allocation (`port::drop::fba`).
    Fba {
        /// R: the threshold.
        r: Threshold,
        /// Z: the linear scale factor of the cutoff.
        z: Ratio,
        /// K in the formula. Absent: the buffer.
        k_fba: Option<Size>,
    },
    /// Drop from front (`port::drop::drop_from_front`).
    DropFromFront,
    /// Leaky buckets with EPD (`port::drop::gcra_epd`).
    GcraEpd {
        /// Th: the threshold.
        threshold: Threshold,
        /// Whether a tag leaves with the cell.
        export_tag: bool,
    },
    /// Leaky buckets that share credit round robin (`port::drop::gcra_round_robin`).
    GcraRoundRobin {
        /// Th: the threshold.
        threshold: Threshold,
        /// Whether credit that finds its bucket empty is kept.
        keep_credit: bool,
        /// Whether a tag leaves with the cell.
        export_tag: bool,
    },
    /// Leaky buckets with two thresholds (`port::drop::gcra_two_thresholds`).
    GcraTwoThresholds {
        /// L: the lower threshold.
        low: Threshold,
        /// Th: the upper threshold.
        threshold: Threshold,
        /// Whether a tag leaves with the cell.
        export_tag: bool,
    },
    /// Differential fair buffer allocation (`port::drop::dfba`).
    Dfba {
        /// L: the lower threshold.
        low: Threshold,
        /// H: the upper threshold.
        high: Threshold,
        /// Z.
        z: Ratio,
        /// alpha.
        alpha: Ratio,
    },
    /// ATM-RED (`port::drop::atm_red`).
    AtmRed(RedParams),
    /// Cell-RED (`port::drop::cell_red`).
    CellRed(RedParams),
    /// Packet-RED (`port::drop::packet_red`).
    PacketRed(RedParams),
    /// Drop from front by whole frames (`port::drop::drop_from_front`).
    FrameDropFromFront,
    /// Program of the scenario (`port::drop::program`).
    Program(ProgramPolicy),
}

/// Parameters of the policies of the RED family. See `port::drop::red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedParams {
    /// Weight of the newest queue length in the average, in (0, 1].
    pub w_q: Ratio,
    /// Drop probability just below `max_th`, in (0, 1]: of a frame, or of all cells of a segment
    /// together.
    pub max_p: Ratio,
    /// Average queue at which marking begins; below `max_th`.
    pub min_th: Threshold,
    /// Average queue from which every cell or frame is marked.
    pub max_th: Threshold,
    /// Cells of a segment, by which `max_p` is divided. Absent if the policy decides on frames.
    pub segment_cells: Option<u64>,
    /// When the average is updated.
    pub average: RedAverage,
    /// Whether marks are spaced evenly.
    pub spacing: bool,
    /// Whether a mark skips frames of one or two cells. Absent if no mark is kept for a later
    /// frame.
    pub spare_short_frames: Option<bool>,
}

/// When RED updates its average queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RedAverage {
    /// At every cell.
    Cell,
    /// At the first cell of each frame.
    Frame,
    /// At every cell, and for idle times.
    Idle,
}

/// A policer. See `port::police`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Police {
    /// Policer of cells (`port::police::cells`).
    Gcra {
        /// Action on a cell that does not conform.
        action: PoliceAction,
        /// Form of the test.
        form: GcraForm,
    },
    /// Policer of frames (`port::police::frames`).
    FGcra {
        /// Action on a frame that is not eligible.
        action: PoliceAction,
    },
}

/// Action of a policer on traffic above the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoliceAction {
    /// Drops the cell or frame.
    Drop,
    /// Tags the cell or frame: CLP := 1.
    Tag,
}

/// Form of the GCRA. Both forms decide alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcraForm {
    /// Continuous-state leaky bucket.
    LeakyBucket,
    /// Virtual scheduling.
    VirtualScheduling,
}

/// Unit for which a processing time is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessingUnit {
    /// Each cell.
    Cell,
    /// Each frame.
    Frame,
}

/// What a VC sends per turn, and is charged for, under per-VC scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnUnit {
    /// A cell.
    Cell,
    /// A frame, by its cells.
    Frame,
    /// A packet of the format `ethernet`, by its bytes on the line.
    Byte,
}

/// Scheduler: which class queue a port serves next. See `port::sched`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scheduler {
    /// Order of arrival over all classes.
    Fifo,
    /// The most urgent class that has a cell.
    StrictPriority,
    /// Strict priority, except that one class gets at least a fraction of the cell slots.
    GuaranteedRate {
        /// The class with the guarantee.
        class: Class,
        /// Guaranteed fraction of the slots, in [0, 1).
        gr: Ratio,
    },
    /// Strict priority between classes; within `class`, per-VC queues served by weight.
    PerVc {
        /// The class with per-VC queues.
        class: Class,
        /// What a turn is.
        unit: TurnUnit,
    },
    /// Program of the scenario (`port::sched::program`).
    Program(ProgramScheduler),
}

/// The scheduler that applies at a port: the link's own, else the scheduler of the switch it
/// leaves.
pub(crate) fn scheduler<T>(of_link: Option<T>, of_switch: Option<T>) -> Option<T> {
    of_link.or(of_switch)
}

/// The queue of `class` at a port: the link's own, else the switch's, else unlimited tail drop.
pub(crate) fn queue<'a>(
    of_link: &'a [ClassQueue],
    of_switch: &'a [ClassQueue],
    class: Class,
) -> &'a ClassQueue {
    let mut queues = of_link.iter().chain(of_switch);
    let found = queues.find(|q| q.class == class);
    found.unwrap_or(&UNLIMITED[class as usize])
}

/// The unlimited tail-drop queue of each class.
static UNLIMITED: [ClassQueue; Class::ALL.len()] = [
    ClassQueue::unlimited(Class::ALL[0]),
    ClassQueue::unlimited(Class::ALL[1]),
    ClassQueue::unlimited(Class::ALL[2]),
    ClassQueue::unlimited(Class::ALL[3]),
    ClassQueue::unlimited(Class::ALL[4]),
];

impl ClassQueue {
    /// r, places.
    pub fn reserved(&self) -> u64 {
        self.reserve.map_or(0, Size::stated)
    }

    /// An unlimited tail-drop queue of `class`.
    pub const fn unlimited(class: Class) -> ClassQueue {
        ClassQueue {
            class,
            buffer: None,
            reserve: None,
            alpha: None,
            police: None,
            drop: DropPolicy::TailDrop,
            feedback: None,
            rest_of_frame: RestOfFrame::Accept,
        }
    }
}

/// Properties of a drop policy besides its decisions. The plain policies have none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Abilities {
    /// Whether the policy drops from the front of its queue.
    pub pushes_out: bool,
    /// Whether the policy decides by an average queue, which probes can record.
    pub keeps_average: bool,
    /// Name of the policy, if it needs the minimum rates of VCs.
    pub asks_for_rates: Option<&'static str>,
    /// Threshold above which the policy admits only the minimum rates of VCs. `None` without such a
    /// threshold, or when kept credit is unbounded.
    pub rates_above: Option<Threshold>,
    /// What the policy does with tagged cells, if it looks at tags.
    pub reads_tags: Option<&'static str>,
    /// Whether tags that the policy makes leave with the cells.
    pub exports_tags: bool,
}

impl DropPolicy {
    /// Properties of the policy besides its decisions.
    pub(crate) fn abilities(&self) -> Abilities {
        let plain = Abilities::default();
        let bucket = |name, rates_above, exports_tags| Abilities {
            asks_for_rates: Some(name),
            rates_above,
            reads_tags: Some("its buckets count a tagged cell as above the minimum rate"),
            exports_tags,
            ..plain
        };
        match *self {
            DropPolicy::Program(ref policy) => {
                let uses = |verdict| policy.program.uses.verdicts.contains(&verdict);
                Abilities {
                    pushes_out: uses(Verdict::PushOutCell) || uses(Verdict::PushOutFrame),
                    exports_tags: policy.written.export_tag && uses(Verdict::Tag),
                    reads_tags: policy
                        .program
                        .uses
                        .knows(Known::Clp)
                        .then_some("its program reads CLP"),
                    ..plain
                }
            }
            DropPolicy::TailDrop
            | DropPolicy::Ppd
            | DropPolicy::Epd { .. }
            | DropPolicy::SelectiveDrop { .. }
            | DropPolicy::Fba { .. } => plain,
            DropPolicy::DropFromFront | DropPolicy::FrameDropFromFront => Abilities {
                pushes_out: true,
                ..plain
            },
            DropPolicy::AtmRed(_) | DropPolicy::CellRed(_) | DropPolicy::PacketRed(_) => {
                Abilities {
                    keeps_average: true,
                    ..plain
                }
            }
            DropPolicy::Dfba { .. } => Abilities {
                asks_for_rates: Some("dfba"),
                reads_tags: Some("dfba looks only at first cells, which are never tagged"),
                ..plain
            },
            DropPolicy::GcraEpd {
                threshold,
                export_tag,
            } => bucket("gcra-epd", Some(threshold), export_tag),
            DropPolicy::GcraTwoThresholds {
                threshold,
                export_tag,
                ..
            } => bucket("gcra-two-thresholds", Some(threshold), export_tag),
            DropPolicy::GcraRoundRobin {
                threshold,
                keep_credit,
                export_tag,
            } => {
                let above = (!keep_credit).then_some(threshold);
                bucket("gcra-round-robin", above, export_tag)
            }
        }
    }
}

impl Scheduler {
    /// The class that the scheduler treats differently from the others.
    pub(crate) fn class(&self) -> Option<Class> {
        match self {
            Scheduler::Fifo | Scheduler::StrictPriority => None,
            Scheduler::GuaranteedRate { class, .. } | Scheduler::PerVc { class, .. } => {
                Some(*class)
            }
            Scheduler::Program(scheduler) => scheduler.written.class,
        }
    }

    /// Whether the scheduler serves the VCs of `class` one by one.
    pub(crate) fn serves_vcs_of(&self, class: Class) -> bool {
        match self {
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::GuaranteedRate { .. } => false,
            Scheduler::PerVc { class: served, .. } => *served == class,
            Scheduler::Program(scheduler) => scheduler.written.class.is_none_or(|c| c == class),
        }
    }

    /// Whether the weights of VCs of `class` have an effect.
    pub(crate) fn weighs_vcs_of(&self, class: Class) -> bool {
        let reads_weights = match self {
            Scheduler::Program(scheduler) => scheduler.ranking.knows(Known::Weight),
            _ => true,
        };
        reads_weights && self.serves_vcs_of(class)
    }

    /// Whether the scheduler keeps guaranteed rates of VCs of `class`.
    pub(crate) fn guarantees_vcs_of(&self, class: Class) -> bool {
        matches!(self, Scheduler::PerVc { .. }) && self.serves_vcs_of(class)
    }

    /// Whether the scheduler has a credit that probes can record.
    pub(crate) fn has_credit(&self) -> bool {
        match self {
            Scheduler::GuaranteedRate { .. } => true,
            Scheduler::Fifo
            | Scheduler::StrictPriority
            | Scheduler::PerVc { .. }
            | Scheduler::Program(_) => false,
        }
    }
}
