//! ABR end systems and feedback: the usual ones, and random ones with times near the cell time of
//! the base rate.

use super::random::span;
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
        trm: Span::from_milliseconds(100),
        rif: Ratio::new(1, 16),
        rdf: Ratio::new(1, 16),
        adtf: Span::from_milliseconds(500),
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
        interval: Span::from_milliseconds(1),
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

fn tenths(most: u64) -> impl Strategy<Value = Ratio> {
    (0..=most).prop_map(|n| Ratio::new(n, 10))
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
    let counts = (
        prop_oneof![1u64..200, 200u64..100_000],
        1u32..=6,
        option::weighted(0.3, 1u64..8),
    );
    let times = (
        option::weighted(0.3, span(base, 200)),
        span(base, 400),
        span(base, 800),
    );
    let factors = (tenths(10), tenths(10), tenths(10));
    let queue = option::weighted(0.2, 1u64..80);
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
                frtt: frtt.map(|frtt| frtt + Span(1)),
                nrm: 1 << nrm,
                trm: trm + Span(1),
                rif,
                rdf,
                adtf: adtf + Span(1),
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

pub fn feedback(base: u64) -> impl Strategy<Value = Feedback> {
    let measured = (
        span(base, 300),
        tenths(5),
        any::<bool>(),
        tenths(9),
        tenths(9),
    );
    let erica = (1u64..=10, measured).prop_map(
        |(target, (interval, delta, max_alloc_previous, load_decay, active_decay))| EricaParams {
            target: Ratio::new(target, 10),
            interval: interval + Span(1_000_000),
            delta,
            max_alloc_previous,
            load_decay,
            active_decay,
        },
    );
    (
        0..6,
        erica,
        (span(base, 40), 1u64..=10),
        (0u64..30, 0u64..30),
    )
        .prop_map(|(which, erica, (t0, qdlf), (low, more))| match which {
            0 => Feedback::Erica(erica),
            1 => Feedback::EricaMcr(erica),
            2 => Feedback::RelativeRate {
                interval: erica.interval,
                high: low + more,
                low,
            },
            3 => Feedback::Efci {
                interval: erica.interval,
                threshold: low,
            },
            4 => Feedback::OracleRate {
                target: erica.target,
            },
            _ => Feedback::EricaPlus(EricaPlusParams {
                t0: t0 + Span(1),
                a: Ratio::new(115, 100),
                b: Ratio::new(105, 100),
                qdlf: Ratio::new(qdlf, 10),
                interval: erica.interval,
                delta: erica.delta,
                max_alloc_previous: erica.max_alloc_previous,
                load_decay: erica.load_decay,
                active_decay: erica.active_decay,
            }),
        })
}
