//! Random ABR end systems and feedback.

use crate::components::fraction;
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::option;
use proptest::prelude::*;

fn erica() -> impl Strategy<Value = EricaParams> {
    let decays = (fraction(), fraction(), fraction());
    (1u64..10, 1u64..100_000, any::<bool>(), decays).prop_map(
        |(target, interval_us, max_alloc_previous, decays)| EricaParams {
            target: Ratio::new(target, 10),
            interval: Span::from_microseconds(interval_us),
            delta: decays.0,
            max_alloc_previous,
            load_decay: decays.1,
            active_decay: decays.2,
        },
    )
}

/// Random feedback of a class queue.
pub fn feedback() -> BoxedStrategy<Feedback> {
    prop_oneof![
        erica().prop_map(Feedback::Erica),
        erica().prop_map(Feedback::EricaMcr),
        (erica(), 11u64..30, 11u64..30, fraction(), 1u64..5_000).prop_map(
            |(erica, a, b, qdlf, t0_us)| Feedback::EricaPlus(EricaPlusParams {
                t0: Span::from_microseconds(t0_us),
                a: Ratio::new(a, 10),
                b: Ratio::new(b, 10),
                qdlf,
                interval: erica.interval,
                delta: erica.delta,
                max_alloc_previous: erica.max_alloc_previous,
                load_decay: erica.load_decay,
                active_decay: erica.active_decay,
            })
        ),
        (1u64..100_000, 0u64..1_000, 0u64..1_000).prop_map(|(interval_us, low, more)| {
            Feedback::RelativeRate {
                interval: Span::from_microseconds(interval_us),
                high: low + more,
                low,
            }
        }),
        (1u64..100_000, 0u64..1_000).prop_map(|(interval_us, threshold)| Feedback::Efci {
            interval: Span::from_microseconds(interval_us),
            threshold,
        }),
        (1u64..10).prop_map(|target| Feedback::OracleRate {
            target: Ratio::new(target, 10)
        }),
    ]
    .boxed()
}

/// Random end systems with rates that any link can carry.
pub fn end_systems() -> BoxedStrategy<AbrParams> {
    let rates = (
        option::of(100_000u64..1_000_000),
        option::of(1u64..1_000),
        option::of(1_000u64..100_000),
    );
    let microseconds = || (1u64..100_000).prop_map(Span::from_microseconds);
    let times = (option::of(microseconds()), microseconds(), microseconds());
    let counts = (1u64..=16_777_215, 1u32..9, option::of(1u64..1_000));
    let factors = (fraction(), fraction(), fraction());
    let form = prop::sample::select(vec![RmRates::Exact, RmRates::Coded]);
    let form = (form, option::of(1u64..100_000));
    (rates, times, counts, factors, form)
        .prop_map(|(of, times, counts, factors, (rates, queue))| AbrParams {
            pcr: of.0.map(BitRate),
            mcr: of.1.map(BitRate),
            icr: of.2.map(BitRate),
            tbe: counts.0,
            frtt: times.0,
            nrm: 1 << counts.1,
            trm: times.1,
            rif: factors.0,
            rdf: factors.1,
            adtf: times.2,
            cdf: factors.2,
            crm: counts.2,
            rates,
            queue,
        })
        .boxed()
}
