//! A drop policy that a scenario states as a program (`docs/programs.md`).
//!
//! What the program uses decides what the queue provides: Y and N need counts by VC, `idle` the
//! idle time, and verdicts that push out need stored cells. `asked = cells` shows every cell, those
//! of lost frames too.

use super::{
    Arriving, AskedRuns, Decision, DropRule, Needs, PoolView, QueueView, first_above, resolve,
};
use crate::ground::format::Clock;
use crate::ground::units::{Span, Time};
use crate::network::tally::DropReason;
use crate::text::program::bound::acts_from;
use crate::text::program::compile::{ANSWERS, Code, Surroundings, compile};
use crate::text::program::machine::{Outside, UNLIMITED, run};
use crate::text::program::names::Known;
use crate::text::program::{Failure, Program, Type, Verdict, Why};
use crate::text::scenario::{Asked, ContractTerms, ProgramPolicy, shown};
use std::sync::Arc;

/// A compiled program with its state, for one class queue. In a box, so that other policies stay
/// small.
#[derive(Clone, Debug)]
pub struct Programmed(Box<Running>);

/// What is in the box.
#[derive(Clone, Debug)]
struct Running {
    code: Code,
    needs: Needs,
    /// Whether a tag stays on the cell.
    export_tag: bool,
    /// The X up to which it promises to refuse nothing.
    never_below: Option<u64>,
    /// Bound for [`DropRule::smallest_refusal`].
    smallest_refusal: u64,
    /// The smallest X at which it acts or changes, for a text without promise.
    acts_from: u64,
    /// States of the VCs, by local number.
    of_vcs: Vec<i128>,
    /// The program, and its parameters as written.
    program: Arc<Program>,
    parameters: Arc<str>,
    /// Contracts, by local number.
    contracts: Vec<Option<ContractTerms>>,
    /// The pool as last seen.
    pool: PoolView,
    /// Number of random draws so far.
    drawn: u64,
    failure: Option<Failure>,
}

/// What the queue must provide for `policy`.
fn needs(policy: &ProgramPolicy) -> Needs {
    let uses = &policy.program.uses;
    let pushes = [Verdict::PushOutCell, Verdict::PushOutFrame];
    let every_cell = policy.written.asked == Asked::Cells;
    Needs {
        vc_counts: uses.knows(Known::Y) || uses.knows(Known::N),
        every_cell,
        lost_cells: every_cell,
        idle_time: every_cell && uses.knows(Known::Idle),
        stored_cells: uses.verdicts.iter().any(|verdict| pushes.contains(verdict)),
    }
}

/// Constants of `policy` at a queue.
pub fn surroundings(
    policy: &ProgramPolicy,
    buffer: Option<u64>,
    contracts: &[Option<ContractTerms>],
    cell_time: Span,
) -> Surroundings {
    let sum = |rate: fn(&ContractTerms) -> u64| contracts.iter().flatten().map(rate).sum();
    Surroundings {
        parameters: policy
            .written
            .parameters
            .values()
            .map(|p| p.at(buffer))
            .collect(),
        buffer,
        cell_time: cell_time.0,
        sums: [sum(mcr), sum(pcr), sum(scr)],
    }
}

fn mcr(terms: &ContractTerms) -> u64 {
    terms.mcr.map_or(0, |rate| rate.0)
}

fn pcr(terms: &ContractTerms) -> u64 {
    terms.pcr.map_or(0, |rate| rate.0)
}

fn scr(terms: &ContractTerms) -> u64 {
    let other = terms.sustained.filter(|_| terms.mcr.is_none());
    other.map_or(0, |rate| rate.0)
}

/// The value of a name that belongs to the VC's contract; `None` for other names.
pub fn of_contract(name: Known, terms: Option<&ContractTerms>) -> Option<i128> {
    let value = |of: fn(&ContractTerms) -> u64| Some(terms.map_or(0, of).into());
    match name {
        Known::Mcr => value(mcr),
        Known::Pcr => value(pcr),
        Known::Scr => value(scr),
        Known::Cdvt => value(|terms| terms.cdvt.0),
        Known::Mbs => value(|terms| terms.mbs),
        Known::HasContract => Some(terms.is_some().into()),
        _ => None,
    }
}

/// The X up to which `policy` promises to refuse nothing.
pub fn promise(policy: &ProgramPolicy, buffer: Option<u64>) -> Option<u64> {
    let threshold = policy.written.never_below?;
    Some(first_above(resolve(threshold, buffer)).saturating_sub(1))
}

/// The parameters of `policy`, as written.
fn parameters(policy: &ProgramPolicy, clock: Clock) -> String {
    let all = policy.written.parameters.iter();
    let all = all.map(|(name, value)| format!("{name} = {}", shown(*value, clock)));
    all.collect::<Vec<_>>().join(", ")
}

/// The value of a state as text.
fn state_text(of_type: Type, register: i128) -> String {
    match of_type {
        Type::Float => f64::from_bits(register as u64).to_string(),
        Type::Bool => (register != 0).to_string(),
        _ if register == UNLIMITED => "unlimited".to_string(),
        _ => register.to_string(),
    }
}

/// Bytes of the values that `policy` keeps at a queue with a buffer of `buffer` cells: registers,
/// and the states of `flows` flows.
pub fn value_bytes(policy: &ProgramPolicy, buffer: Option<u64>, flows: usize) -> usize {
    let constants = surroundings(policy, buffer, &[], Span::ZERO);
    let code = compile(&[&*policy.program], &constants);
    (code.registers.len() + code.of_vc.len() * flows) * size_of::<i128>()
}

impl Programmed {
    /// Creates the policy for a buffer of `buffer` cells and flows with these contracts, by local
    /// number, on a link that takes `cell_time` for a cell. `clock` counts the ticks.
    pub fn new(
        policy: &ProgramPolicy,
        buffer: Option<u64>,
        contracts: &[Option<ContractTerms>],
        cell_time: Span,
        clock: Clock,
    ) -> Programmed {
        let surroundings = surroundings(policy, buffer, contracts, cell_time);
        let code = compile(&[&policy.program], &surroundings);
        let never_below = promise(policy, buffer);
        let needs = needs(policy);
        let visible = acts_from(&policy.program, &surroundings, !needs.every_cell);
        let promised = never_below.map_or(0, |x| x.saturating_add(1));
        let of_vc = code.of_vc.iter().map(|&(_, start)| start);
        let of_vcs = contracts.iter().flat_map(|_| of_vc.clone()).collect();
        Programmed(Box::new(Running {
            needs,
            export_tag: policy.written.export_tag,
            never_below,
            smallest_refusal: visible.max(promised),
            acts_from: acts_from(&policy.program, &surroundings, true),
            of_vcs,
            program: policy.program.clone(),
            parameters: parameters(policy, clock).into(),
            contracts: contracts.to_vec(),
            pool: PoolView::default(),
            drawn: 0,
            failure: None,
            code,
        }))
    }
}

impl Running {
    /// Sets the names that the program reads.
    #[inline]
    fn look(&mut self, now: Time, cell: &Arriving, queue: &QueueView) {
        let registers = &mut self.code.registers;
        for &(name, register) in &self.code.names {
            let value = match name {
                Known::X => queue.waiting.into(),
                Known::Y => queue.waiting_of_vc.into(),
                Known::N => queue.active_vcs.into(),
                Known::Clp => cell.tagged.into(),
                Known::Begins => cell.begins.into(),
                Known::Ends => cell.eom.into(),
                Known::Lost => cell.lost.into(),
                Known::Idle => cell.idle_cells.map_or(-1, i128::from),
                Known::Length => cell.length.into(),
                Known::Places => cell.places.into(),
                Known::Free => self.pool.free.into(),
                Known::Pool => self.pool.used.into(),
                Known::Reserve => self.pool.reserve.into(),
                Known::Now => now.0.into(),
                of_vc => {
                    let terms = self.contracts[cell.vc as usize].as_ref();
                    of_contract(of_vc, terms).unwrap_or_default()
                }
            };
            registers[usize::from(register)] = value;
        }
    }
}

impl DropRule for Programmed {
    fn see_pool(&mut self, pool: PoolView) {
        self.0.pool = pool;
    }

    fn needs(&self) -> Needs {
        self.0.needs
    }

    fn admit(&mut self, now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        let running = &mut *self.0;
        running.look(now, cell, queue);
        let code = &mut running.code;
        let states = code.of_vc.len();
        let first = cell.vc as usize * states;
        let mut outside = Outside {
            of_vc: &mut running.of_vcs[first..first + states],
            draws: cell.draws,
            drawn: &mut running.drawn,
        };
        let (at, answer) = run(&code.ops, 0, &mut code.registers, &mut outside);
        let decided = answer.and_then(|answer| {
            let verdict = ANSWERS[usize::from(answer)];
            decision(verdict, running.export_tag, queue, running.never_below)
        });
        decided.unwrap_or_else(|why| {
            let at = code.places[at];
            running.failure = Some(Failure { why, at });
            Decision::Fail
        })
    }

    fn failure(&self) -> Option<Failure> {
        self.0.failure
    }

    fn admits_all(&mut self, cells: &AskedRuns) -> bool {
        cells.most < self.0.acts_from
    }

    fn state(&self, vc: u32) -> Option<String> {
        let Running {
            code,
            of_vcs,
            program,
            parameters,
            ..
        } = &*self.0;
        let registers = &code.registers;
        let of_queue = code.of_queue.iter();
        let of_queue = of_queue.map(|&(state, at)| (state, registers[usize::from(at)]));
        let first = vc as usize * code.of_vc.len();
        let of_vc = code.of_vc.iter().zip(&of_vcs[first..]);
        let of_vc = of_vc.map(|(&(state, _), &value)| (state, value));
        let states = of_queue.chain(of_vc).map(|(state, value)| {
            let state = &program.states[state];
            format!("{} = {}", state.name, state_text(state.of_type, value))
        });
        let parameters = (!parameters.is_empty()).then(|| parameters.to_string());
        let all: Vec<String> = parameters.into_iter().chain(states).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    fn smallest_refusal(&self) -> u64 {
        self.0.smallest_refusal
    }
}

/// The decision that a verdict means where `queue` was found.
pub fn decision(
    verdict: Verdict,
    export_tag: bool,
    queue: &QueueView,
    never_below: Option<u64>,
) -> Result<Decision, Why> {
    let is_below = never_below.is_some_and(|bound| queue.waiting <= bound);
    Ok(match verdict {
        Verdict::Refuse | Verdict::RefuseCell if is_below => return Err(Why::BelowBound),
        Verdict::Refuse => Decision::Refuse(DropReason::Policy),
        Verdict::RefuseCell => Decision::RefuseAlone(DropReason::Policy),
        Verdict::Tag if export_tag => Decision::Tag,
        Verdict::Accept | Verdict::Tag => Decision::Accept,
        Verdict::PushOutCell => Decision::PushOut,
        Verdict::PushOutFrame => Decision::PushOutFrame,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::units::BitRate;
    use crate::network::tally::DropReason;
    use crate::text::options::{Kernel, Options};
    use crate::text::scenario::read_toml;
    use std::sync::atomic::AtomicBool;

    /// Engine and twin share these, so no comparison of the two tests them.
    #[test]
    fn names_of_contracts_and_promises_are_those_of_the_page() {
        let guaranteed = ContractTerms {
            pcr: Some(BitRate(9)),
            cdvt: Span(8),
            sustained: Some(BitRate(7)),
            mcr: Some(BitRate(7)),
            mbs: 6,
            mfs: 5,
        };
        let sustained = ContractTerms {
            pcr: None,
            mcr: None,
            ..guaranteed
        };
        use Known::{Cdvt, HasContract, Mbs, Mcr, Pcr, Scr};
        let values = |terms: Option<&ContractTerms>| {
            [Mcr, Pcr, Scr, Cdvt, Mbs, HasContract].map(|name| of_contract(name, terms))
        };
        assert_eq!(values(Some(&guaranteed)), [7, 9, 0, 8, 6, 1].map(Some));
        assert_eq!(values(Some(&sustained)), [0, 0, 7, 8, 6, 1].map(Some));
        assert_eq!(values(None), [0; 6].map(Some));
        assert_eq!(of_contract(Known::X, None), None);
        let queue = |waiting| QueueView {
            waiting,
            ..QueueView::default()
        };
        let refuse = Ok(Decision::Refuse(DropReason::Policy));
        for (verdict, export, x, bound, expected) in [
            (Verdict::Accept, true, 5, Some(9), Ok(Decision::Accept)),
            (Verdict::Refuse, true, 9, Some(9), Err(Why::BelowBound)),
            (Verdict::RefuseCell, true, 9, Some(9), Err(Why::BelowBound)),
            (Verdict::Refuse, true, 10, Some(9), refuse),
            (Verdict::Refuse, true, 0, None, refuse),
            (Verdict::Tag, true, 0, None, Ok(Decision::Tag)),
            (Verdict::Tag, false, 0, None, Ok(Decision::Accept)),
            (
                Verdict::PushOutCell,
                true,
                0,
                Some(9),
                Ok(Decision::PushOut),
            ),
            (
                Verdict::PushOutFrame,
                true,
                0,
                None,
                Ok(Decision::PushOutFrame),
            ),
        ] {
            assert_eq!(decision(verdict, export, &queue(x), bound), expected);
        }
    }

    /// A cell takes 1 ms on the link `s->b`, and the host links are four times as fast. The cells
    /// of VC a come at 0, 0.25, 0.5, ... ms and one of VC b at 0.125 ms. The first goes into
    /// service, b's and a's second wait, and a's third finds X = 2.
    #[test]
    fn a_traced_drop_has_the_parameters_and_the_state_after_the_decision() {
        let text = r#"
duration = "10 ms"
host = [{ name = "a" }, { name = "c" }, { name = "b" }]
link = [
    { from = "a", to = "s", rate = "1696 kbps" },
    { from = "c", to = "s", rate = "1696 kbps" },
    { from = "s", to = "b", rate = "424 kbps" },
]
vc = [
    { name = "a", from = "a", to = "b", class = "ubr", traffic = { kind = "cbr", rate = "1696 kbps" } },
    { name = "b", from = "c", to = "b", class = "ubr", start = "125 us", traffic = { kind = "cbr", rate = "1 kbps" } },
]
probe = [{ what = "trace", of = "a" }]

[[switch]]
name = "s"

[switch.ubr.drop]
policy = "program"
asked = "cells"
program = """
queue state seen = 0
vc state mine = 0
queue state average = 0.0
vc state late = false
seen = seen + 1
mine = mine + 1
average = average + float(weight) * X
late = X >= R
if late { refuse }
"""
R = "2 cells"
weight = 0.25
"#;
        let scenario = read_toml(text, "", &[]).expect("it reads");
        for kernel in [Kernel::Auto, Kernel::Slotted] {
            let options = Options {
                kernel,
                ..Options::default()
            };
            let result =
                crate::run(&scenario, None, &options, &AtomicBool::new(false)).expect("it runs");
            let first = &result.trace[0];
            assert_eq!((first.frame, first.reason), (2, DropReason::Policy));
            let queue = (
                first.waiting_cells,
                first.waiting_of_vc_cells,
                first.active_vcs,
            );
            assert_eq!(queue, (Some(2), Some(1), Some(2)));
            // X was 0, 0, 1 and 2; a has brought three of the four cells.
            let expected =
                "R = 2 cells, weight = 0.25, seen = 4, average = 0.75, mine = 3, late = true";
            assert_eq!(first.policy_state.as_deref(), Some(expected), "{kernel:?}");
        }
        let builtin = text.split("[switch.ubr.drop]").next().expect("a part");
        let builtin = read_toml(
            builtin,
            "",
            &[("switch.s.ubr".into(), "{ buffer = \"2 cells\" }".into())],
        );
        let result = crate::run(
            &builtin.expect("it reads"),
            None,
            &Options::default(),
            &AtomicBool::new(false),
        );
        let trace = result.expect("it runs").trace;
        assert!(!trace.is_empty() && trace.iter().all(|drop| drop.policy_state.is_none()));
    }
}
