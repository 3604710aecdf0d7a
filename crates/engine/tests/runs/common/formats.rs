//! Random networks in other formats than AAL5.

use super::components::entry;
use super::random::{self, Case};
use cellyard_engine::format::Format;
use cellyard_engine::registry::{Family, Formats};
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Span};
use proptest::prelude::*;

/// Random cases as [`random::cases`], a third of them in Ethernet.
pub fn cases(length: u64) -> impl Strategy<Value = Case> {
    let format = prop_oneof![2 => Just(None), 1 => (mtus(), any::<bool>()).prop_map(Some)];
    let cases = (random::cases(length), format);
    cases.prop_map(|(case, format)| match format {
        None => case,
        Some((mtu, equal)) => in_ethernet(case, mtu, equal),
    })
}

/// MTUs of Ethernet: the usual one, jumbo frames, and any other.
pub fn mtus() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(1_500), 1 => Just(9_000), 2 => 76..=65_535u64, 1 => Just(65_535)]
}

/// The case in another format, without what that format lacks. Rates are higher, so that a cell
/// takes as many ticks as before.
pub fn in_format(mut case: Case, format: Format) -> Case {
    let net = &mut case.scenario;
    net.format = format;
    let cell_bytes = format.cell_bits / 8;
    let faster = |rate: BitRate| {
        let rate = u128::from(rate.0) * 25 * u128::from(cell_bytes) / 53;
        BitRate((rate as u64).max(format.least_rate().0))
    };
    for link in &mut net.links {
        link.rate = faster(link.rate);
    }
    for vc in &mut net.vcs {
        (vc.contract, vc.abr) = (None, None);
        vc.guarantee = vc.guarantee.map(faster);
        match &mut vc.traffic {
            Traffic::Cbr { rate } | Traffic::Poisson { rate } => *rate = faster(*rate),
            Traffic::Vbr { rate, off, .. } => {
                *rate = faster(*rate);
                *off = (*off).max(format.cell_time(*rate));
            }
            Traffic::Udp(udp) => {
                udp.rate = faster(udp.rate);
                if udp.on.is_some() {
                    let frame = format.cell_time(udp.rate) * u64::from(udp.frame(format).cells());
                    udp.off = udp.off.max(frame);
                }
            }
            Traffic::Tcp(tcp) => tcp.handshake &= format.syn_is_like_ack(),
        }
    }
    let of_switches = net.switches.iter_mut().flat_map(|s| &mut s.queues);
    for queue in of_switches.chain(net.links.iter_mut().flat_map(|l| &mut l.queues)) {
        (queue.police, queue.feedback) = (None, None);
        if lacks(&queue.drop) {
            queue.drop = DropPolicy::Ppd;
        }
    }
    net.probes.retain(|probe| probe.what != Observable::Capture);
    case
}

/// The case with Ethernet frames. Sources of cells become sources of datagrams. With a longer `mtu`
/// than usual, packets are longer. If lengths are to be `equal`, all packets of a flow have one
/// length, and VCs seldom differ.
pub fn in_ethernet(mut case: Case, mtu: u64, equal: bool) -> Case {
    let format = Format::ethernet(mtu);
    let longer = |bytes: u64| bytes * mtu.max(1_500) / 1_500;
    for vc in &mut case.scenario.vcs {
        match &mut vc.traffic {
            Traffic::Udp(udp) => udp.datagram_size = longer(udp.datagram_size).min(mtu - 28),
            Traffic::Tcp(tcp) => {
                tcp.mss = longer(tcp.mss).min(mtu - 40);
                tcp.rwnd = longer(tcp.rwnd);
                tcp.initial_ssthresh = tcp.initial_ssthresh.map(longer);
                tcp.file_size = tcp.file_size.map(longer);
            }
            _ => {}
        }
    }
    let mut case = in_format(case, format);
    let net = &mut case.scenario;
    let datagrams = |rate, on: Option<Span>, off: Span| {
        let datagram_size = mtu - 28;
        let udp = UdpParams {
            datagram_size,
            rate,
            on,
            off,
        };
        let off = off.max(format.cell_time(rate));
        Traffic::Udp(UdpParams {
            off: if on.is_some() { off } else { Span::ZERO },
            ..udp
        })
    };
    for vc in &mut net.vcs {
        vc.guarantee = None;
        match &mut vc.traffic {
            Traffic::Cbr { rate } | Traffic::Poisson { rate } => {
                vc.traffic = datagrams(*rate, None, Span::ZERO);
            }
            Traffic::Vbr { rate, on, off } => {
                vc.traffic = datagrams(*rate, Some((*on).max(Span(1))), *off);
            }
            Traffic::Udp(_) => {}
            Traffic::Tcp(tcp) => {
                if equal {
                    (tcp.file_size, tcp.files, tcp.both_ways) = (None, None, false);
                    (tcp.handshake, tcp.sack_blocks) = (false, 1);
                    if tcp.recovery == Recovery::Sack {
                        tcp.recovery = Recovery::NewReno;
                    }
                }
            }
        }
    }
    let of_switches = net.switches.iter_mut().map(|s| &mut s.scheduler);
    let of_links = net
        .links
        .iter_mut()
        .filter_map(|l| l.scheduler.as_deref_mut());
    for scheduler in of_switches.chain(of_links) {
        // A frame is a cell, so that turns of both are the same.
        if let Scheduler::PerVc { unit, .. } = scheduler
            && *unit == TurnUnit::Frame
        {
            *unit = TurnUnit::Byte;
        }
        if matches!(scheduler, Scheduler::GuaranteedRate { .. }) {
            *scheduler = Scheduler::StrictPriority;
        }
    }
    net.probes.retain(|probe| probe.what != Observable::Credit);
    case
}

/// Whether only AAL5 has the policy.
fn lacks(policy: &DropPolicy) -> bool {
    entry(Family::Drop, policy).formats == Formats::Aal5
}
