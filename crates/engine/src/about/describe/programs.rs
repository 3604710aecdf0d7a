//! What the programs of a scenario say and need, for each queue or port where cells can wait.

use super::PortDescription;
use super::names::NameRange;
use crate::ground::format::Clock;
use crate::port::drop::{DropRule, Policy};
use crate::text::program::{self, Owner, Program, SchedulerText, Type};
use crate::text::scenario::{
    Asked, Class, DropPolicy, ProgramPolicy, ProgramScheduler, Scheduler, shown,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The program of a class at ports where its queue has the same settings.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramFacts<'s> {
    /// Service class of the queue.
    pub class: Class,
    /// Names of the ports.
    pub ports: NameRange<'s>,
    /// The condition or the statements, as written.
    pub text: String,
    /// Whether the text is a condition on which cells are refused.
    pub is_condition: bool,
    /// What the program is asked about.
    pub asked: Asked,
    /// Parameters, with their values as written.
    pub parameters: Vec<NameFacts>,
    /// States of the queue.
    pub of_queue: Vec<NameFacts>,
    /// States that each VC has.
    pub of_vc: Vec<NameFacts>,
    /// Names that are assigned without being state.
    pub locals: Vec<NameFacts>,
    /// What the program needs from the queue.
    pub needs: Vec<&'static str>,
    /// Steps of its text.
    pub steps: usize,
    /// The smallest X at which the program can act. Absent: it never acts.
    pub acts_from: Option<u64>,
}

/// The program that schedules at ports with the same scheduler.
#[derive(Clone, Debug, Serialize)]
pub struct SchedulerFacts<'s> {
    /// The class whose VCs it serves. Absent: all classes.
    pub class: Option<Class>,
    /// Names of the ports.
    pub ports: NameRange<'s>,
    /// The fields that have a text, and the texts as written.
    pub texts: Vec<(&'static str, String)>,
    /// Parameters, with their values as written.
    pub parameters: Vec<NameFacts>,
    /// States of the port.
    pub of_port: Vec<NameFacts>,
    /// States that each VC has.
    pub of_vc: Vec<NameFacts>,
    /// Type of the rank.
    pub rank: String,
    /// Steps of all texts.
    pub steps: usize,
}

/// A name of a program.
#[derive(Clone, Debug, Serialize)]
pub struct NameFacts {
    /// The name.
    pub name: String,
    /// Type of its value.
    #[serde(rename = "type")]
    pub of_type: String,
    /// Value of a parameter, as written.
    pub value: Option<String>,
}

/// The programs at `ports`, in the order of the ports. Equal queues are listed once.
pub(super) fn programs<'s>(ports: &[PortDescription<'s>], clock: Clock) -> Vec<ProgramFacts<'s>> {
    let mut found: Vec<(ProgramFacts<'s>, &ProgramPolicy, Option<u64>)> = Vec::new();
    for port in ports.iter().filter(|port| port.can_queue) {
        for queue in &port.queues {
            let DropPolicy::Program(policy) = &queue.drop else {
                continue;
            };
            let known = found.iter_mut().find(|(facts, of, buffer)| {
                facts.class == queue.class && *of == policy && *buffer == queue.k
            });
            match known {
                Some((facts, ..)) => facts.ports.add(port.name),
                None => {
                    let ports = NameRange::of(port.name);
                    let compiled = queue.policy();
                    let facts = facts(policy, queue.class, ports, &compiled, clock);
                    found.push((facts, policy, queue.k));
                }
            }
        }
    }
    found.into_iter().map(|(facts, ..)| facts).collect()
}

/// The programs that schedule at `ports`, in the order of the ports. Equal schedulers are listed once.
pub(super) fn schedulers<'s>(
    ports: &[PortDescription<'s>],
    clock: Clock,
) -> Vec<SchedulerFacts<'s>> {
    let mut found: Vec<(SchedulerFacts<'s>, &ProgramScheduler)> = Vec::new();
    for port in ports.iter().filter(|port| port.can_queue) {
        let Scheduler::Program(scheduler) = port.scheduler else {
            continue;
        };
        match found.iter_mut().find(|(_, of)| *of == scheduler) {
            Some((facts, _)) => facts.ports.add(port.name),
            None => {
                let ports = NameRange::of(port.name);
                found.push((scheduler_facts(scheduler, ports, clock), scheduler));
            }
        }
    }
    found.into_iter().map(|(facts, _)| facts).collect()
}

fn scheduler_facts<'s>(
    scheduler: &ProgramScheduler,
    ports: NameRange<'s>,
    clock: Clock,
) -> SchedulerFacts<'s> {
    let (written, ranking) = (&scheduler.written, &scheduler.ranking);
    let texts = SchedulerText::ALL.map(|text| (text.field(), written.text(text).to_string()));
    SchedulerFacts {
        class: written.class,
        ports,
        texts: texts
            .into_iter()
            .filter(|text| !text.1.is_empty())
            .collect(),
        parameters: parameters(&written.parameters, clock),
        of_port: states(&ranking.rank, Owner::Queue),
        of_vc: states(&ranking.rank, Owner::Vc),
        rank: ranking.rank.locals[0].1.to_string(),
        steps: ranking.rank.steps,
    }
}

fn parameters(parameters: &BTreeMap<String, program::Value>, clock: Clock) -> Vec<NameFacts> {
    let parameters = parameters.iter();
    parameters
        .map(|(name, value)| named(name, value.of_type(), Some(shown(*value, clock))))
        .collect()
}

fn states(program: &Program, owner: Owner) -> Vec<NameFacts> {
    let states = program.states.iter().filter(|state| state.owner == owner);
    states.map(|s| named(&s.name, s.of_type, None)).collect()
}

fn facts<'s>(
    policy: &ProgramPolicy,
    class: Class,
    ports: NameRange<'s>,
    compiled: &Policy,
    clock: Clock,
) -> ProgramFacts<'s> {
    let (written, program) = (&policy.written, &policy.program);
    let locals = program.locals.iter();
    let (needs, acts_from) = (compiled.needs(), compiled.smallest_refusal());
    let needs = [
        (needs.vc_counts, "counts by VC"),
        (needs.every_cell, "every cell"),
        (needs.idle_time, "idle time"),
        (needs.stored_cells, "stored cells"),
    ];
    ProgramFacts {
        class,
        ports,
        text: written.text().to_string(),
        is_condition: written.program.is_none(),
        asked: written.asked,
        parameters: parameters(&written.parameters, clock),
        of_queue: states(program, Owner::Queue),
        of_vc: states(program, Owner::Vc),
        locals: locals.map(|(name, of)| named(name, *of, None)).collect(),
        needs: needs
            .iter()
            .filter(|need| need.0)
            .map(|need| need.1)
            .collect(),
        steps: program.steps,
        acts_from: (acts_from < u64::MAX).then_some(acts_from),
    }
}

fn named(name: &str, of_type: Type, value: Option<String>) -> NameFacts {
    NameFacts {
        name: name.to_string(),
        of_type: of_type.to_string(),
        value,
    }
}

#[cfg(test)]
mod tests {
    use crate::about::describe::outline;
    use crate::text::scenario::read_toml;
    use serde_json::{Value, json};

    fn programs(text: &str) -> Value {
        let scenario = read_toml(text, "", &[]).expect("the example is valid");
        let found = outline(&scenario).expect("it can be built").programs;
        serde_json::to_value(found).expect("it is plain data")
    }

    /// R is 900 of 1000 cells, so the program first acts at 901.
    #[test]
    fn a_condition_has_its_types_needs_and_bound() {
        let text = include_str!("../../../../../examples/program-selective-drop.toml");
        let found = &programs(text)[0];
        assert_eq!(found["needs"], json!(["counts by VC"]));
        assert_eq!(found["is_condition"], true);
        assert_eq!(found["acts_from"], 901);
        let names: Vec<_> = found["parameters"].as_array().unwrap().iter().collect();
        assert!(
            names.iter().all(|name| name["type"] == "decimal"),
            "{names:?}"
        );
    }

    #[test]
    fn statements_have_states_and_local_names() {
        let text = include_str!("../../../../../examples/program-packet-red.toml");
        let found = &programs(text)[0];
        assert_eq!(
            found["needs"],
            json!(["counts by VC", "every cell", "idle time"])
        );
        let plain = |name, of| json!({ "name": name, "type": of, "value": null });
        assert_eq!(
            found["of_queue"],
            json!([plain("average", "float"), plain("count", "integer")])
        );
        assert_eq!(found["of_vc"], json!([]));
        assert_eq!(found["locals"].as_array().unwrap().len(), 3);
        assert_eq!(found["acts_from"], 0);
        assert!(
            programs(include_str!("../../../../../examples/lan-5.toml"))
                .as_array()
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_scheduler_has_its_texts_states_and_the_type_of_its_rank() {
        let text = include_str!("../../../../../examples/program-scheduler-per-vc.toml");
        let scenario = read_toml(text, "", &[]).expect("the example is valid");
        let found = outline(&scenario).expect("it can be built").schedulers;
        let found = &serde_json::to_value(found).expect("it is plain data")[0];
        assert_eq!(found["class"], "ubr");
        assert_eq!(found["texts"][3], json!(["rank", "S"]));
        assert_eq!(found["of_port"][0]["name"], "v");
        assert_eq!(found["of_vc"][0]["name"], "S");
        // Three assignments, max, +, floor and /.
        assert_eq!(found["rank"], "integer");
        assert_eq!(found["steps"], 7);
    }
}
