//! Random ABR end systems and feedback.

use crate::components::fraction;
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Span};
use proptest::option;
use proptest::prelude::*;

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
