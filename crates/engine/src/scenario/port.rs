//! Ports: what can be set at one and what that can do, and which settings hold.

use super::abr::Feedback;
use super::model::ProcessingUnit;
use crate::class::Class;
use crate::units::Ratio;
use serde::{Deserialize, Serialize};

/// The buffer of one class at a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassQueue {
    /// The class.
    pub class: Class,
    /// K, cells that may wait, without the cell in service; unlimited when absent.
    pub buffer: Option<u64>,
    /// What becomes of cells that do not keep to their contract; nothing when absent.
    pub police: Option<Police>,
    /// What is refused before the buffer is full.
    pub drop: DropPolicy,
    /// What the sources of the VCs that cross it are told; nothing when absent.
    pub feedback: Option<Feedback>,
    /// What happens to the rest of a frame that lost a cell.
    pub rest_of_frame: RestOfFrame,
}

/// What happens to the later cells of a frame that lost a cell in the middle. (All cells of a frame
/// that was refused at its first cell are dropped, its EOM included.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestOfFrame {
    /// Taken while there is room.
    Accept,
    /// Dropped, except for the EOM, which is taken while there is room.
    DropButEom,
    /// Dropped, EOM included.
    Drop,
}

/// A drop policy with its parameters. See `port::drop`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DropPolicy {
    /// `port::drop::tail_drop`.
    TailDrop,
    /// `port::drop::ppd`.
    Ppd,
    /// `port::drop::epd`.
    Epd {
        /// Threshold; buffer - `reserve` when absent.
        threshold: Option<Threshold>,
        /// Cells kept for the rest of frames already begun; 200, but at most half of the buffer, when absent.
        reserve: Option<u64>,
    },
    /// `port::drop::selective_drop`.
    SelectiveDrop {
        /// R.
        r: Threshold,
        /// Z.
        z: Ratio,
    },
    /// `port::drop::fba`.
    Fba {
        /// R.
        r: Threshold,
        /// Z.
        z: Ratio,
        /// K in the formula; the buffer when absent.
        k_fba: Option<u64>,
    },
    /// `port::drop::drop_from_front`.
    DropFromFront,
    /// `port::drop::gcra_epd`.
    GcraEpd {
        /// Th.
        threshold: Threshold,
        /// Whether a tag goes on with the cell.
        export_tag: bool,
    },
    /// `port::drop::gcra_round_robin`.
    GcraRoundRobin {
        /// Th.
        threshold: Threshold,
        /// Whether credit for an empty bucket is kept.
        keep_credit: bool,
        /// Whether a tag goes on with the cell.
        export_tag: bool,
    },
    /// `port::drop::gcra_two_thresholds`.
    GcraTwoThresholds {
        /// L.
        low: Threshold,
        /// Th.
        threshold: Threshold,
        /// Whether a tag goes on with the cell.
        export_tag: bool,
    },
    /// `port::drop::dfba`.
    Dfba {
        /// L.
        low: Threshold,
        /// H.
        high: Threshold,
        /// Z.
        z: Ratio,
        /// alpha.
        alpha: Ratio,
    },
    /// `port::drop::atm_red`.
    AtmRed(RedParams),
    /// `port::drop::cell_red`.
    CellRed(RedParams),
    /// `port::drop::packet_red`.
    PacketRed(RedParams),
    /// `port::drop::frame_drop_from_front`.
    FrameDropFromFront,
}

/// Parameters of the policies of the RED family. See `port::drop::red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedParams {
    /// Weight of the newest queue length in the average, above 0, at most 1.
    pub w_q: Ratio,
    /// Probability just below `max_th`, above 0, at most 1: of a frame, or of the cells of a segment together.
    pub max_p: Ratio,
    /// Average queue from which on cells are marked; below `max_th`.
    pub min_th: Threshold,
    /// Average queue from which on every one is.
    pub max_th: Threshold,
    /// Cells of a segment, by which `max_p` is divided; absent where frames are decided on.
    pub segment_cells: Option<u64>,
    /// When the average is brought up to date.
    pub average: RedAverage,
    /// Whether marks are spaced evenly.
    pub spacing: bool,
    /// Whether a mark passes frames of one or two cells by; absent where no mark is kept for a later frame.
    pub spare_short_frames: Option<bool>,
}

/// When the average queue of RED is brought up to date.
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
    /// `port::police::cells`.
    Gcra {
        /// What becomes of a cell that does not conform.
        action: PoliceAction,
        /// How the test is made.
        form: GcraForm,
    },
    /// `port::police::frames`.
    FGcra {
        /// What becomes of a frame that is not eligible.
        action: PoliceAction,
    },
}

/// What a policer does with what is above the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoliceAction {
    /// It is dropped.
    Drop,
    /// It is tagged: CLP := 1.
    Tag,
}

/// The two forms of the GCRA, which decide alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcraForm {
    /// Continuous-state leaky bucket.
    LeakyBucket,
    /// Virtual scheduling.
    VirtualScheduling,
}

/// A queue length, in cells or as a fraction of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// Cells.
    Cells(u64),
    /// Fraction of K.
    Fraction(Ratio),
}

/// Which class queue a port serves next. See `port::sched`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scheduler {
    /// Order of arrival over all classes.
    Fifo,
    /// The most urgent class that has a cell.
    StrictPriority,
    /// Strict priority, but one class gets at least a fraction of the cell slots.
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
        /// Whether a turn is one cell or one frame.
        unit: ProcessingUnit,
    },
}

/// The scheduler of a port, in whatever form: the link's own, else that of the switch it leaves.
pub(crate) fn scheduler<T>(own: Option<T>, of_switch: Option<T>) -> Option<T> {
    own.or(of_switch)
}

/// The queue of `class` at a port: the link's own, else that of the switch it leaves, else unlimited tail drop.
pub(crate) fn queue(own: &[ClassQueue], of_switch: &[ClassQueue], class: Class) -> ClassQueue {
    let mut queues = own.iter().chain(of_switch);
    let found = queues.find(|q| q.class == class);
    found.cloned().unwrap_or(ClassQueue {
        class,
        buffer: None,
        police: None,
        drop: DropPolicy::TailDrop,
        feedback: None,
        rest_of_frame: RestOfFrame::Accept,
    })
}

/// What a drop policy does beside deciding what its file says; all of it `false` or `None` for the plain ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Abilities {
    /// It drops from the front of its queue.
    pub pushes_out: bool,
    /// It decides by an average of the queue, which can be recorded.
    pub keeps_average: bool,
    /// Its name, if it asks for the minimum rates of VCs.
    pub asks_for_rates: Option<&'static str>,
    /// The threshold above which it lets in no more than the minimum rates of VCs; `None` if there is none such, and where credit that is
    /// kept knows no end.
    pub rates_above: Option<Threshold>,
    /// What it does with cells that come with a tag, if it looks at tags.
    pub reads_tags: Option<&'static str>,
    /// Tags that it makes go on with the cells.
    pub exports_tags: bool,
}

impl DropPolicy {
    /// What it does beside deciding.
    pub(crate) fn abilities(&self) -> Abilities {
        let plain = Abilities::default();
        let bucket = |name, rates_above, exports_tags| Abilities {
            asks_for_rates: Some(name),
            rates_above,
            reads_tags: Some("its buckets take a tagged cell as one above the minimum rate"),
            exports_tags,
            ..plain
        };
        match *self {
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
                reads_tags: Some("dfba looks at first cells, which never have one"),
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
    /// The class that it treats unlike the others.
    pub(crate) fn class(&self) -> Option<Class> {
        match self {
            Scheduler::Fifo | Scheduler::StrictPriority => None,
            Scheduler::GuaranteedRate { class, .. } | Scheduler::PerVc { class, .. } => {
                Some(*class)
            }
        }
    }

    /// Whether it serves the VCs of `class` one by one, by weights and guarantees of their own.
    pub(crate) fn serves_vcs_of(&self, class: Class) -> bool {
        match self {
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::GuaranteedRate { .. } => false,
            Scheduler::PerVc { class: served, .. } => *served == class,
        }
    }

    /// Whether it has a credit that can be recorded.
    pub(crate) fn has_credit(&self) -> bool {
        match self {
            Scheduler::GuaranteedRate { .. } => true,
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::PerVc { .. } => false,
        }
    }
}
