//! ABR end systems and feedback: the usual ones, and random ones with times near the cell time of
//! the base rate.

use super::build::ms;
use super::components::{Scale, component};
use super::edges::{LEAST, LONGEST, MOST_CELLS, MOST_TBE, ONE, SHORTEST, ZERO, or_edge, tenths};
use super::random::span;
use cellyard_engine::format::Format;
use cellyard_engine::registry::Family;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::Topology;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::option;
use proptest::prelude::*;

/// End systems with the defaults of TM 4.0.
pub fn usual() -> AbrParams {
    AbrParams {
        pcr: None,
        mcr: None,
        icr: None,
        tbe: 16_777_215,
        frtt: None,
        nrm: 32,
        trm: ms(100),
        rif: Ratio::new(1, 16),
        rdf: Ratio::new(1, 16),
        adtf: ms(500),
        cdf: Ratio::new(1, 16),
        crm: None,
        rates: RmRates::Exact,
        queue: None,
    }
}

/// ERICA with its usual parameters.
pub fn erica() -> EricaParams {
    EricaParams {
        target: Ratio::new(9, 10),
        interval: ms(1),
        delta: Ratio::new(1, 10),
        max_alloc_previous: true,
        load_decay: Ratio::new(0, 1),
        active_decay: Ratio::new(0, 1),
    }
}

/// Gives every switch of `net` the feedback.
pub fn tell(net: &mut Scenario, feedback: Feedback) {
    let queues = net.switches.iter_mut().flat_map(|s| &mut s.queues);
    for queue in queues.filter(|queue| queue.class == Class::Abr) {
        queue.feedback = Some(feedback);
    }
}

/// Removes feedback from queues that no VC with end systems crosses.
pub fn heard(net: &mut Scenario) {
    let topology = Topology::new(net).expect("the shape is right");
    let is_abr = |queue: &ClassQueue| queue.class == Class::Abr;
    let mut at_switch = vec![false; net.switches.len()];
    for link in 0..net.links.len() {
        let mut flows = topology.crossing[link].iter();
        let listens = flows.any(|id| net.vcs[topology.flows[id.index()].vc].abr.is_some());
        let queues = &mut net.links[link].queues;
        if let Some(queue) = queues.iter_mut().find(|queue| is_abr(queue)) {
            queue.feedback = queue.feedback.filter(|_| listens);
        } else if let Some(switch) = topology.switch_of[link] {
            at_switch[switch] |= listens;
        }
    }
    for (switch, listens) in net.switches.iter_mut().zip(at_switch) {
        for queue in &mut switch.queues {
            queue.feedback = queue.feedback.filter(|_| listens);
        }
    }
}

/// A random factor in [0, 1].
fn factor() -> impl Strategy<Value = Ratio> {
    tenths(0, 10, [ZERO, LEAST, ONE])
}

/// Random end systems with PCR, ICR and MCR in order, each optional. Rates stay below a third of
/// the base rate, the lowest rate of a link.
pub fn end_systems(base: u64) -> impl Strategy<Value = AbrParams> {
    let part = move |n: u64| BitRate((base / 60 * n).max(1));
    let rates = (
        option::of(10u64..=20),
        option::of(4u64..=10),
        option::weighted(0.4, 0u64..=3),
    );
    // Sometimes all rates are equal, or the lowest, 1 bit/s.
    let rates = prop_oneof![
        8 => rates,
        1 => Just((Some(3), Some(3), Some(3))),
        1 => (Just(Some(0)), option::of(Just(0)), option::of(Just(0))),
    ];
    let counts = (
        or_edge(prop_oneof![1u64..200, 200u64..100_000], [1, MOST_TBE]),
        or_edge(1u32..=6, [1, 8]),
        option::weighted(0.3, or_edge(1u64..8, [1, MOST_TBE])),
    );
    let time = |cells, longest| {
        let time = span(base, cells).prop_map(|time| time + Span(1));
        or_edge(time, [SHORTEST, longest])
    };
    let times = (
        option::weighted(0.3, time(200, ms(16_700))),
        time(400, ms(100_000)),
        time(800, LONGEST),
    );
    let factors = (factor(), factor(), factor());
    let queue = option::weighted(0.2, or_edge(1u64..80, [1, MOST_CELLS]));
    let form = (any::<bool>(), queue);
    (rates, counts, times, factors, form).prop_map(
        move |(rates, counts, times, factors, (coded, queue))| {
            let ((pcr, icr, mcr), (tbe, nrm, crm)) = (rates, counts);
            let ((frtt, trm, adtf), (rif, rdf, cdf)) = (times, factors);
            AbrParams {
                pcr: pcr.map(part),
                mcr: mcr.map(part),
                icr: icr.map(part),
                tbe,
                frtt,
                nrm: 1 << nrm,
                trm,
                rif,
                rdf,
                adtf,
                cdf,
                crm,
                rates: if coded {
                    RmRates::Coded
                } else {
                    RmRates::Exact
                },
                queue,
            }
        },
    )
}

/// Random feedback of any kind.
pub fn feedback(base: u64) -> BoxedStrategy<Feedback> {
    let scale = Scale {
        buffer: None,
        cell: Format::AAL5.cell_time(BitRate(base)).0,
        is_wide: false,
    };
    component(Family::Feedback, scale, |_| true)
}
