//! Tests that each policy changes the outcome as its paper claims.
//!
//! TCPs run on the LAN of the first study with 5 and 15 sources and buffers of 1000, 2000 and 3000
//! cells, by the fast engine. Ensembles use a start jitter of 100 us and a random timer phase and
//! rotation. A single run is one sample of a chaotic system, so tests compare means over all
//! configurations.
//!
//! Policies with leaky buckets promise each VC something regardless of the others. Random VCs test
//! that.

use crate::common;
use crate::common::build::{self, OC3};
use crate::common::build::{ms, us};
use crate::common::engines;
use cellyard_engine::format::Format;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{DropReason, Tally};
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;

const SECONDS: u64 = 10;
const REPLICATIONS: u64 = 3;

/// Efficiency and Jain's fairness index of a run.
fn outcome(sources: usize, buffer: u64, drop: &DropPolicy, replication: u64) -> [f64; 2] {
    let mut net = build::dumbbell(
        sources,
        us(5),
        ms(1_000 * SECONDS),
        Some(buffer),
        drop.clone(),
        |_| Traffic::Tcp(Box::new(build::tcp())),
    );
    net.ensemble = Ensemble {
        start_jitter: us(100),
        timer_phase: true,
        tie_offset: true,
        vbr_phase: true,
    };
    let tally = engines::engine(&net, Some(replication));
    let bytes: Vec<f64> = tally.vcs.iter().map(|v| v.delivered_bytes as f64).collect();
    let sum: f64 = bytes.iter().sum();
    let squares: f64 = bytes.iter().map(|b| b * b).sum();
    let largest = OC3.0 as f64 / 8.0 * SECONDS as f64 * 512.0 / 636.0;
    [sum / largest, sum * sum / (sources as f64 * squares)]
}

/// Means of efficiency and fairness over all configurations and replications.
fn means(drop: DropPolicy) -> [f64; 2] {
    let (mut sums, mut runs) = ([0.0, 0.0], 0.0);
    for sources in [5, 15] {
        for buffer in [1_000, 2_000, 3_000] {
            for replication in 0..REPLICATIONS {
                let found = outcome(sources, buffer, &drop, replication);
                sums = [sums[0] + found[0], sums[1] + found[1]];
                runs += 1.0;
            }
        }
    }
    sums.map(|sum| sum / runs)
}

#[test]
fn each_policy_improves_what_its_paper_says() {
    let r = Threshold::Fraction(Ratio::new(9, 10));
    let z = Ratio::new(8, 10);
    let tail_drop = means(DropPolicy::TailDrop);
    let epd = means(DropPolicy::Epd {
        threshold: None,
        reserve: Some(Threshold::Cells(200)),
    });
    let selective = means(DropPolicy::SelectiveDrop { r, z });
    let fba = means(DropPolicy::Fba { r, z, k_fba: None });
    println!(
        "efficiency, fairness: tail drop {tail_drop:.3?}, EPD {epd:.3?}, selective drop {selective:.3?}, FBA {fba:.3?}"
    );
    let [efficiency, fairness] = [0, 1];
    assert!(epd[efficiency] > tail_drop[efficiency] + 0.1);
    assert!(selective[efficiency] > epd[efficiency]);
    assert!(fba[efficiency] > epd[efficiency]);
    assert!(selective[fairness] > epd[fairness] + 0.02);
    assert!(fba[fairness] > epd[fairness] + 0.02);
}

/// Two sources bring two cells per cell time to a port with room for K, so half of the cells are
/// lost.
///
/// Under tail drop, surviving cells wait for K cell times. Under drop from front they wait for K
/// arrivals, half as long, since the queue holds the youngest cells.
#[test]
fn drop_from_front_keeps_the_youngest_cells() {
    const K: u64 = 100;
    let cell = Format::AAL5.cell_time(OC3).0;
    let outcome = |drop| {
        let cells = Traffic::Cbr { rate: OC3 };
        let duration = Span(10_000 * cell);
        let net = build::dumbbell(2, Span::ZERO, duration, Some(K), drop, |_| cells.clone());
        let tally = engines::engine(&net, None);
        let link = build::index_of(&net, "s", "t");
        let port = tally.ports[link].as_ref().expect("it can queue");
        let longest = tally.vcs.iter().map(|v| v.delay.max).max();
        (port.sent(), port.dropped(), longest.unwrap_or(0) / cell)
    };
    let (sent, dropped, longest) = outcome(DropPolicy::TailDrop);
    let (sent_too, pushed_out, shorter) = outcome(DropPolicy::DropFromFront);
    assert_eq!(sent, sent_too);
    assert_eq!(dropped.total(), dropped[DropReason::Full]);
    assert_eq!(pushed_out.total(), pushed_out[DropReason::Front]);
    assert_eq!(dropped.total(), pushed_out.total());
    // Each port adds one cell time.
    assert!(longest.abs_diff(K + 2) <= 1, "{longest} cell times");
    assert!(shorter.abs_diff(K / 2 + 2) <= 1, "{shorter} cell times");
}

/// RED with the weight and probability that `cell-discard` uses for the LAN, with segments of 12
/// cells and a buffer of 2000.
fn red() -> RedParams {
    RedParams {
        w_q: Ratio::new(2, 1000),
        max_p: Ratio::new(2, 100),
        min_th: Threshold::Cells(500),
        max_th: Threshold::Cells(1_500),
        segment_cells: Some(12),
        average: RedAverage::Cell,
        spacing: false,
        spare_short_frames: None,
    }
}

/// "The average buffer size stays minimal with RED, while it remains very high with other methods"
/// (`cell-discard`, section 4.1). Ten TCPs share room for 2000 cells. Cell-RED cuts frames that
/// other policies lose whole.
#[test]
fn red_keeps_the_queue_short_and_atm_red_loses_frames_whole() {
    let outcome = |drop| {
        let duration = ms(5_000);
        let net = build::dumbbell(10, us(5), duration, Some(2_000), drop, |_| {
            Traffic::Tcp(Box::new(TcpParams {
                recovery: Recovery::Reno,
                ..build::tcp()
            }))
        });
        let tally = engines::engine(&net, None);
        let link = build::index_of(&net, "s", "t");
        let port = tally.ports[link].as_ref().expect("it can queue");
        let queue = port.queue_time as f64 / duration.0 as f64;
        let data = tally.flows.iter().step_by(2);
        let damaged: u64 = data.map(|flow| flow.frames_damaged).sum();
        let dropped = port.dropped();
        println!("queue {queue:.0}, frames damaged {damaged}, {dropped:?}");
        (queue, damaged, dropped)
    };
    let (epd, _, _) = outcome(DropPolicy::Epd {
        threshold: None,
        reserve: Some(Threshold::Cells(200)),
    });
    let segment_cells = None;
    for (policy, whole) in [
        (DropPolicy::AtmRed(red()), true),
        (DropPolicy::CellRed(red()), false),
        (
            DropPolicy::PacketRed(RedParams {
                segment_cells,
                ..red()
            }),
            true,
        ),
    ] {
        let (queue, damaged, dropped) = outcome(policy.clone());
        assert!(queue < 0.75 * epd, "{policy:?}: {queue} cells");
        assert!(dropped[DropReason::Policy] > 0, "{policy:?}");
        assert_eq!(dropped.total(), dropped[DropReason::Policy], "{policy:?}");
        assert_eq!(damaged == 0, whole, "{policy:?}: {damaged}");
    }
}

/// Two sources bring two frames of 23 cells in the time of one, with room for ten. Dropping whole
/// frames from the front delivers fewer damaged frames.
#[test]
fn frames_dropped_from_the_front_leave_more_whole_ones() {
    let outcome = |drop, rest| {
        let udp = build::datagrams(1024, OC3);
        let duration = Format::AAL5.cell_time(OC3) * 50_000;
        let mut net = build::dumbbell(2, Span::ZERO, duration, Some(230), drop, |_| udp.clone());
        for queue in &mut net.switches[0].queues {
            queue.rest_of_frame = rest;
        }
        let tally = engines::engine(&net, None);
        let link = build::index_of(&net, "s", "t");
        let dropped = tally.ports[link].as_ref().expect("it can queue").dropped();
        assert!(dropped[DropReason::Front] > 0 && dropped[DropReason::Full] == 0);
        let data = tally.flows.iter().step_by(2);
        data.map(|flow| flow.frames_delivered).sum::<u64>()
    };
    let by_cell = outcome(DropPolicy::DropFromFront, RestOfFrame::Accept);
    let by_frame = outcome(DropPolicy::FrameDropFromFront, RestOfFrame::DropButEom);
    println!("whole frames: {by_cell} by cells, {by_frame} by frames");
    // The link carries 50 000 / 23 frames.
    assert!(by_frame > 1_500 && by_frame > 2 * by_cell);
}

/// A UDP source that shares the link s-t.
#[derive(Clone, Copy, Debug)]
struct Sender {
    datagram: u64,
    /// Minimum rate in hundredths of the link's rate.
    mcr: u64,
    /// Whether the source sends at the link's rate instead of its guaranteed minimum rate.
    is_greedy: bool,
}

impl Sender {
    fn cells(self) -> u64 {
        let traffic = self.traffic();
        u64::from(
            traffic
                .frame(Format::AAL5)
                .expect("it sends frames")
                .size
                .cells(),
        )
    }

    fn rate(self) -> BitRate {
        BitRate(OC3.0 / 100 * self.mcr)
    }

    fn traffic(self) -> Traffic {
        Traffic::Udp(UdpParams {
            datagram_size: self.datagram,
            rate: if self.is_greedy { OC3 } else { self.rate() },
            on: None,
            off: Span::ZERO,
        })
    }
}

/// The counters of a run of 20 000 cell times. Each VC has its MCR and an MBS of two frames. `drop`
/// is the policy of s-t, with room above `threshold` for all bursts and frames in flight together.
fn guaranteed(senders: &[Sender], threshold: u64, drop: &DropPolicy) -> Tally {
    let cell = Format::AAL5.cell_time(OC3);
    let buffer = threshold + senders.iter().map(|sender| 4 * sender.cells()).sum::<u64>();
    let traffic = |i: usize| senders[i].traffic();
    let n = senders.len();
    let mut net = build::dumbbell(
        n,
        Span::ZERO,
        cell * 20_000,
        Some(buffer),
        drop.clone(),
        traffic,
    );
    for queue in &mut net.switches[0].queues {
        queue.rest_of_frame = RestOfFrame::Drop;
    }
    net.switches[1] = build::switch("t", None, DropPolicy::TailDrop);
    for (vc, sender) in net.vcs.iter_mut().zip(senders) {
        vc.contract = Some(Contract {
            pcr: None,
            cdvt: Span::ZERO,
            scr: None,
            mcr: Some(sender.rate()),
            mbs: None,
            mfs: None,
        });
    }
    engines::engine(&net, None)
}

/// The policies with leaky buckets, with exported tags.
fn buckets(threshold: u64) -> [DropPolicy; 4] {
    let (export_tag, threshold) = (true, Threshold::Cells(threshold));
    let round_robin = |keep_credit| DropPolicy::GcraRoundRobin {
        threshold,
        keep_credit,
        export_tag,
    };
    [
        DropPolicy::GcraEpd {
            threshold,
            export_tag,
        },
        round_robin(false),
        round_robin(true),
        DropPolicy::GcraTwoThresholds {
            low: Threshold::Cells(0),
            threshold,
            export_tag,
        },
    ]
}

/// Up to five senders whose guarantees add up to at most 90 % of the link. The first keeps to its
/// rate.
fn senders() -> impl Strategy<Value = Vec<Sender>> {
    let sender = (5u64..=2_000, 1u64..=18, any::<bool>());
    let sender = sender.prop_map(|(datagram, mcr, is_greedy)| Sender {
        datagram,
        mcr,
        is_greedy,
    });
    prop::collection::vec(sender, 2..=5).prop_map(|mut senders| {
        senders[0].is_greedy = false;
        senders
    })
}

proptest! {
    #![proptest_config(common::config(100))]

    /// Above the threshold only minimum rates are admitted, and the link can carry them all. So
    /// there is always room for them.
    #[test]
    fn who_keeps_to_the_minimum_rate_loses_nothing_and_has_no_tags(senders in senders(), threshold in 0u64..60) {
        for drop in buckets(threshold) {
            let tally = guaranteed(&senders, threshold, &drop);
            let link = tally.ports.iter().flatten().map(|port| port.dropped()[DropReason::Full]);
            prop_assert_eq!(link.sum::<u64>(), 0, "{:?}", drop);
            for (sender, flow) in senders.iter().zip(tally.flows.iter().step_by(2)) {
                if !sender.is_greedy {
                    prop_assert!(flow.frames_sent > 0);
                    prop_assert_eq!((flow.cells_dropped, flow.cells_tagged), (0, 0), "{:?}", drop);
                }
            }
        }
    }

    /// A tag arises in the middle of a frame that began within the minimum rate and exceeds it. One
    /// of the policies may make none, since cells below the threshold are not charged.
    #[test]
    fn who_sends_more_than_all_together_loses_frames_whole(senders in senders(), threshold in 0u64..60) {
        let mut senders = senders;
        senders[1].is_greedy = true;
        let mut tagged = 0;
        for drop in buckets(threshold) {
            let tally = guaranteed(&senders, threshold, &drop);
            let greedy = &tally.flows[2];
            prop_assert!(greedy.frames_lost > 0, "{:?}", drop);
            prop_assert_eq!(greedy.frames_damaged, 0, "{:?}", drop);
            tagged += greedy.cells_tagged;
            // The guarantee, with a tolerance of one frame.
            let least = senders[1].mcr * 20_000 / 100 - 2 * senders[1].cells();
            prop_assert!(greedy.cells_delivered >= least, "{:?}: {} of {least}", drop, greedy.cells_delivered);
        }
        prop_assert!(tagged > 0 || senders[1].cells() == 1);
    }
}

/// Two UDP sources bring twice the link's rate. Tail drop gives both the same; DFBA gives more to
/// the one with three times the minimum rate.
#[test]
fn dfba_shares_the_link_by_minimum_rates() {
    let sender = |mcr| Sender {
        datagram: 1024,
        mcr,
        is_greedy: true,
    };
    let shares = |drop: &DropPolicy| {
        let tally = guaranteed(&[sender(20), sender(60)], 400, drop);
        [0, 2].map(|flow| tally.flows[flow].cells_delivered as f64)
    };
    let [one, other] = shares(&DropPolicy::TailDrop);
    assert!((one / other - 1.0).abs() < 0.05, "{one} and {other} cells");
    let [one, other] = shares(&DropPolicy::Dfba {
        low: Threshold::Cells(100),
        high: Threshold::Cells(400),
        z: Ratio::new(1, 1),
        alpha: Ratio::new(1, 2),
    });
    assert!(other > 1.5 * one, "{one} and {other} cells");
}
