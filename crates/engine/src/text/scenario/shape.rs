//! Shapers: what they must fit (model section 5).

use super::model::{Shape, Vc};
use super::network::Network;
use super::report::Report;
use super::traffic::Carries;
use crate::ground::flow::FlowKind;
use crate::ground::format::Format;
use crate::text::notation::show::show_bytes;

impl Vc {
    /// The shaper that a flow of this kind passes.
    pub(crate) fn shape_of(&self, kind: FlowKind) -> Option<Shape> {
        self.shape.filter(|shape| match kind {
            FlowKind::Data => true,
            FlowKind::Ack => shape.both_ways,
            FlowKind::Rm | FlowKind::RmBack => false,
        })
    }

    /// Mean rate in bits per second that the source offers to its NIC regardless of loss. `None` when
    /// it adapts to the network.
    pub(crate) fn offered_rate(&self) -> Option<f64> {
        let offered = self.traffic.offered_rate()?;
        Some(offered.min(self.shaped_bits_per_second()))
    }

    /// Rate of the shaper of the data; infinite without one.
    pub(crate) fn shaped_bits_per_second(&self) -> f64 {
        self.shape
            .map_or(f64::INFINITY, |shape| shape.rate.0 as f64)
    }

    /// Most bits on the line that leave this shaper in `seconds`.
    pub(crate) fn shaped_bits(&self, seconds: f64) -> f64 {
        self.shape.map_or(f64::INFINITY, |shape| {
            8.0 * shape.burst as f64 + shape.rate.0 as f64 * seconds
        })
    }
}

/// Reports shapers without frames to shape, and buckets that never hold a frame. Each entry of the
/// scenario is reported once.
pub(crate) fn check(network: &Network<'_>, report: &mut Report) {
    for (vc, at) in network.scenario.vcs.iter().zip(&network.things.vcs) {
        if let Some((field, message, allowed)) = fault(vc, network.scenario.format) {
            let path = format!("vc[{}].{field}", at.entry);
            report.add_once(&path, message, allowed);
        }
    }
}

/// The field that is wrong, why, and what is allowed.
fn fault(vc: &Vc, format: Format) -> Option<(&'static str, String, String)> {
    let shape = vc.shape?;
    let kind = vc.traffic.name();
    if vc.traffic.carries() == Carries::Cells {
        let message = format!("requires traffic with frames, but {kind} sends single cells");
        return Some(("shape", message, "traffic tcp or udp, or no shape".into()));
    }
    if vc.abr.is_some() {
        let message = "cannot be combined with `abr`, whose end systems pace the cells";
        return Some(("shape", message.into(), "one of the two".into()));
    }
    if shape.both_ways && !vc.traffic.answers() {
        let message = format!("has no effect: nothing flows back with traffic {kind}");
        return Some(("shape.both_ways", message, "false, or traffic tcp".into()));
    }
    let shaped = FlowKind::FRAMES
        .into_iter()
        .filter(|&kind| vc.shape_of(kind).is_some());
    let longest = shaped.map(|kind| vc.traffic.longest_frame(kind, format).line_bytes());
    let longest = longest.max().filter(|&longest| shape.burst < longest)?;
    let message = format!(
        "is {}, so the longest frame, which has {} on the line, could never leave",
        show_bytes(shape.burst),
        show_bytes(longest)
    );
    let allowed = format!("at least {}", show_bytes(longest));
    Some(("shape.burst", message, allowed))
}
