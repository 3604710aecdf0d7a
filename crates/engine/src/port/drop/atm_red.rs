//! ATM-RED: random early detection that decides at every cell and discards the next whole frame.
//!
//! m: the mark is on; at a cell in accept-first or accept-cell it is set by draw < p (`red.rs`)
//! while it is off.
//! e: the cell is an EOM.     A: accepted.     D: discarded.     !: not.
//!
//! ```text
//!                  !m e / A                                 !e / A
//!                 +--------+                              +--------+
//!                 |        v                              |        v
//!             +----------------+       !m !e / A        +----------------+
//!   start --> |  accept-first  | ---------------------> |  accept-cell   |
//!             |                | <--------------------- |                |
//!             +----------------+   e / A, m unchanged   +----------------+
//!               |     ^     |  ^
//!               |     |     +--+ m e / D, m := 0
//!     m !e / D, |     |
//!        m := 0 |     | e / D
//!               v     |
//!             +----------------+
//!             |  discard-cell  |
//!             +----------------+
//!                 |        ^
//!                 +--------+
//!                   !e / D
//! ```
//!
//! p is for one cell: `max_p` divided by the cells of one segment.
//! Source: `cell-discard`, section 2.3 and figure 3. Its text gives the three states and two bits
//! per VC. p is evaluated in accept-first and accept-cell only. discard-cell lasts until an EOM. A
//! mark concerns the next frame. The machine hops between accept-first and discard-cell while
//! congestion lasts.
//! Not said clearly there, chosen here: a mark at the first cell of a frame discards that frame;
//! otherwise no two frames in a row could be discarded. A marked EOM is accepted and the next frame
//! discarded, since a frame without its EOM takes the next one with it. Only if a frame is one
//! cell is "the current cell" discarded. The EOM of a discarded frame is discarded. If an EOM
//! was lost, the first cell of another frame leads to accept-first.
//! Limits: a mark after the first cell of a frame discards another frame than the marked one. Where
//! a VC carries both data and ACKs, that frame may be an ACK.
//!
//! `spare_short_frames` lets a mark pass over frames of one or two cells, such as ACKs, and
//! discards the next longer one. At its first cell a switch cannot know the length of a frame. So
//! that cell is accepted. If the second cell is no EOM, it is discarded with all later cells of the
//! frame except the EOM:
//!
//! ```text
//! accept-first,  m:   !e / A -> accept-second     e / A -> accept-first, m unchanged
//! accept-second:      e / A -> accept-first, m unchanged     !e / D, m := 0 -> discard-rest
//! discard-rest:       !e / D     e / A -> accept-first
//! ```
//!
//! Source: the section asks for more than two bits for each VC and leaves open what they hold; this
//! is one answer. An ACK has at most 80 bytes of headers, which fill two cells with LLC/SNAP and
//! AAL5.
//! Limits: of each discarded frame two cells are sent, the first and the EOM, without which the
//! next frame would be lost too. No cell is discarded of a VC that sends only short frames.

use super::red::Red;
use super::{Arriving, AskedRuns, Decision, DropRule, Needs, QueueView};
use crate::ground::units::Time;
use crate::text::scenario::RedParams;

/// State that the next cell of a VC meets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The first cell of a frame is to come.
    #[default]
    AcceptFirst,
    /// The frame goes on and is accepted.
    AcceptCell,
    /// The frame goes on and is discarded.
    DiscardCell,
    /// The mark is on, and the second cell of the frame is to come.
    AcceptSecond,
    /// The frame goes on and is discarded except for its EOM.
    DiscardRest,
}

/// Bits of one VC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bits {
    state: State,
    /// m, whether the mark is on.
    mark: bool,
}

impl Bits {
    /// Whether the next cell is decided on: the mark is off and the frame is not being discarded.
    fn decides(&self) -> bool {
        !self.mark && matches!(self.state, State::AcceptFirst | State::AcceptCell)
    }

    /// Advances the state by one cell and returns whether it is discarded; the mark must be up to
    /// date.
    #[inline(always)]
    fn step(&mut self, eom: bool, spares_short: bool) -> bool {
        let (discards, next) = match self.state {
            State::AcceptFirst if self.mark && spares_short => (false, State::AcceptSecond),
            State::AcceptFirst if self.mark => (true, State::DiscardCell),
            State::AcceptFirst | State::AcceptCell => (false, State::AcceptCell),
            State::AcceptSecond => (!eom, State::DiscardRest),
            State::DiscardCell => (true, State::DiscardCell),
            State::DiscardRest => (!eom, State::DiscardRest),
        };
        // While a frame is discarded the mark is off.
        self.mark &= !discards;
        self.state = if eom { State::AcceptFirst } else { next };
        discards
    }
}

/// ATM-RED for one class queue.
#[derive(Clone, Debug)]
pub struct AtmRed {
    red: Red,
    spares_short: bool,
    /// Bits of the VCs, by local number.
    vcs: Vec<Bits>,
}

impl AtmRed {
    /// Creates the policy for a buffer of `buffer` cells and `flows` flows.
    pub fn new(params: &RedParams, buffer: Option<u64>, flows: usize) -> AtmRed {
        AtmRed {
            red: Red::new(params, buffer),
            spares_short: params.spare_short_frames == Some(true),
            vcs: vec![Bits::default(); flows],
        }
    }
}

impl DropRule for AtmRed {
    fn needs(&self) -> Needs {
        self.red.needs()
    }

    #[inline(always)]
    fn admit(&mut self, _now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        self.red.sees(cell, queue.waiting);
        let bits = &mut self.vcs[cell.vc as usize];
        if cell.begins {
            bits.state = State::AcceptFirst;
        }
        if bits.decides() {
            let p = self.red.probability();
            bits.mark = self.red.marks(p, cell.draws);
        }
        Decision::refuse_if(bits.step(cell.eom, self.spares_short))
    }

    fn admits_all(&mut self, cells: &AskedRuns) -> bool {
        let mut decided = 0;
        for run in cells.runs {
            let bits = self.vcs[run.cell.vc as usize];
            let goes_on = !run.cell.begins && bits.state == State::AcceptCell;
            let is_new = run.cell.begins || bits.state == State::AcceptFirst;
            if !goes_on && (bits.mark || !is_new) {
                return false;
            }
            decided += u64::from(!bits.mark);
        }
        if !self.red.passes_all(cells, decided) {
            return false;
        }
        for run in cells.runs {
            self.vcs[run.cell.vc as usize].state = if run.ends_with(cells.cells) {
                State::AcceptFirst
            } else {
                State::AcceptCell
            };
        }
        true
    }

    fn red(&self) -> Option<&Red> {
        Some(&self.red)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, red};
    use super::*;
    use crate::network::tally::DropReason;

    fn bits(state: State, mark: bool) -> Bits {
        Bits { state, mark }
    }

    #[test]
    fn the_state_machine() {
        use State::{AcceptCell, AcceptFirst, DiscardCell};
        // Columns: state, m, e; then discarded, next state, m.
        for (state, m, e, discarded, next, mark) in [
            (AcceptFirst, false, false, false, AcceptCell, false),
            (AcceptFirst, false, true, false, AcceptFirst, false),
            (AcceptFirst, true, false, true, DiscardCell, false),
            (AcceptFirst, true, true, true, AcceptFirst, false),
            (AcceptCell, false, false, false, AcceptCell, false),
            (AcceptCell, false, true, false, AcceptFirst, false),
            (AcceptCell, true, false, false, AcceptCell, true),
            (AcceptCell, true, true, false, AcceptFirst, true),
            (DiscardCell, false, false, true, DiscardCell, false),
            (DiscardCell, false, true, true, AcceptFirst, false),
        ] {
            let mut vc = bits(state, m);
            assert_eq!(vc.step(e, false), discarded, "{state:?} m {m} e {e}");
            assert_eq!(vc, bits(next, mark), "{state:?} m {m} e {e}");
        }
    }

    #[test]
    fn the_state_machine_that_spares_short_frames() {
        use State::{AcceptCell, AcceptFirst, AcceptSecond, DiscardRest};
        // Columns: state, m, e; then discarded, next state, m.
        for (state, m, e, discarded, next, mark) in [
            (AcceptFirst, false, false, false, AcceptCell, false),
            (AcceptFirst, false, true, false, AcceptFirst, false),
            (AcceptFirst, true, false, false, AcceptSecond, true),
            (AcceptFirst, true, true, false, AcceptFirst, true),
            (AcceptCell, true, false, false, AcceptCell, true),
            (AcceptCell, true, true, false, AcceptFirst, true),
            (AcceptSecond, true, true, false, AcceptFirst, true),
            (AcceptSecond, true, false, true, DiscardRest, false),
            (DiscardRest, false, false, true, DiscardRest, false),
            (DiscardRest, false, true, false, AcceptFirst, false),
        ] {
            let mut vc = bits(state, m);
            assert_eq!(vc.step(e, true), discarded, "{state:?} m {m} e {e}");
            assert_eq!(vc, bits(next, mark), "{state:?} m {m} e {e}");
        }
    }

    /// Fates of `cells` of a VC, A or D each, where `!` behind a cell makes p 1 and else p is 0.
    /// A `.` is a first cell, `-` one in the middle, `e` an EOM, `1` a frame of one cell.
    fn fates(cells: &str) -> String {
        fates_under(&red(1, 1), cells)
    }

    /// Fates of `cells` with short frames spared; see [`fates`].
    fn spared(cells: &str) -> String {
        let params = RedParams {
            spare_short_frames: Some(true),
            ..red(1, 1)
        };
        fates_under(&params, cells)
    }

    fn fates_under(params: &RedParams, cells: &str) -> String {
        let mut policy = AtmRed::new(params, Some(40), 2);
        let mut chars = cells.chars().peekable();
        let mut fates = String::new();
        while let Some(kind) = chars.next() {
            // w_q = 1: avg is X, above max_th or below min_th.
            let waiting = if chars.next_if_eq(&'!').is_some() {
                40
            } else {
                0
            };
            let (begins, eom) = (".1".contains(kind), "e1".contains(kind));
            let queue = QueueView {
                waiting,
                ..QueueView::default()
            };
            let decision = policy.admit(Time::ZERO, &cell(1, begins, eom), &queue);
            fates.push(match decision {
                Decision::Accept => 'A',
                Decision::Refuse(DropReason::Policy) => 'D',
                other => unreachable!("{other:?}"),
            });
        }
        fates
    }

    #[test]
    fn without_a_mark_all_is_accepted() {
        assert_eq!(fates(".--e.--e1"), "AAAAAAAAA");
    }

    #[test]
    fn a_mark_within_a_frame_discards_the_next_one_whole_and_no_other() {
        assert_eq!(fates(".-!-e.--e.--e"), "AAAADDDDAAAA");
        assert_eq!(fates(".--!e.--e.--e"), "AAAADDDDAAAA");
    }

    #[test]
    fn a_marked_eom_is_accepted_and_the_next_frame_discarded() {
        assert_eq!(fates(".--e!.--e.--e"), "AAAADDDDAAAA");
        assert_eq!(fates(".--e!1.e"), "AAAADAA");
    }

    #[test]
    fn a_mark_at_a_first_cell_discards_its_frame() {
        assert_eq!(fates(".!--e.--e"), "DDDDAAAA");
        assert_eq!(fates("1!.e"), "DAA");
    }

    #[test]
    fn while_congestion_lasts_a_series_of_frames_is_discarded() {
        assert_eq!(fates(".-!--e!.!-!e!.!-!e!.-e"), "AAAAADDDDDDAAA");
    }

    #[test]
    fn a_discarded_frame_decides_nothing() {
        assert_eq!(fates(".!-!-!e!.-e"), "DDDDAAA");
    }

    #[test]
    fn without_its_eom_a_frame_ends_where_another_begins() {
        assert_eq!(fates(".--.-e"), "AAAAAA");
        assert_eq!(fates(".!--.-e"), "DDDAAA");
        assert_eq!(fates(".--!.-e.-e"), "AAADDDAAA");
    }

    #[test]
    fn a_mark_on_data_costs_the_next_data_and_no_ack_where_short_frames_are_spared() {
        // Data of four cells, ACKs of one and two, data: two bits discard the first ACK.
        assert_eq!(fates(".-!-e1.e.--e.--e"), "AAAADAAAAAAAAAA");
        assert_eq!(spared(".-!-e1.e.--e.--e"), "AAAAAAAADDAAAAA");
        // Two cells of the discarded frame are sent.
        assert_eq!(spared(".-!-e.----e.e"), "AAAAADDDDAAA");
        assert_eq!(spared(".!--e.--e"), "ADDAAAAA");
    }

    #[test]
    fn a_mark_on_an_ack_waits_for_data_where_short_frames_are_spared() {
        assert_eq!(spared("1!.e.e.--e.e"), "AAAAAADDAAA");
        assert_eq!(spared(".e!1.--e"), "AAAADDA");
    }

    #[test]
    fn what_is_discarded_decides_nothing_where_short_frames_are_spared() {
        assert_eq!(spared(".!-!-!e!.--e"), "ADDAAAAA");
    }

    #[test]
    fn without_its_eom_a_spared_or_discarded_frame_ends_where_another_begins() {
        assert_eq!(spared(".!.e.--e"), "AAAADDA");
        assert_eq!(spared(".!--.-e"), "ADDAAA");
    }

    #[test]
    fn each_vc_has_its_own_bits_and_one_average_is_common() {
        let mut policy = AtmRed::new(&red(1, 1), Some(40), 2);
        let full = QueueView {
            waiting: 40,
            ..QueueView::default()
        };
        let none = QueueView::default();
        let refused = Decision::Refuse(DropReason::Policy);
        let mut admit =
            |vc, begins, queue| policy.admit(Time::ZERO, &cell(vc, begins, false), &queue);
        assert_eq!(admit(0, true, none), Decision::Accept);
        assert_eq!(admit(1, true, full), refused);
        assert_eq!(admit(0, false, none), Decision::Accept);
        assert_eq!(admit(1, false, none), refused);
        assert_eq!(policy.average(), Some(0.0));
    }
}
