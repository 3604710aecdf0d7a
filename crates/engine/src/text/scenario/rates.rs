//! Rates of links, which may change (model section 2), and what sources offer to them.

use super::model::{Link, Scenario, Vc};
use crate::ground::format::Clock;
use crate::ground::line_rate::LineRate;
use crate::ground::units::{BitRate, Span, Time};
use crate::text::notation::show::show_rate;

impl Link {
    /// Whether the rate changes during the run.
    pub(crate) fn changes_rate(&self) -> bool {
        !self.changes.is_empty()
    }

    /// The rate over time.
    pub(crate) fn rates(&self) -> LineRate {
        let change = |change: &super::model::RateChange| (Time::ZERO + change.at, change.rate);
        LineRate::new(self.rate, self.changes.iter().map(change).collect())
    }

    /// All rates: that at time 0, and those of the changes.
    pub(crate) fn all_rates(&self) -> impl Iterator<Item = BitRate> + '_ {
        let changes = self.changes.iter().map(|change| change.rate);
        changes.chain([self.rate])
    }

    /// Highest rate.
    pub(crate) fn highest_rate(&self) -> BitRate {
        self.all_rates().max().unwrap_or(self.rate)
    }

    /// Lowest rate, which may be 0.
    pub(crate) fn lowest_rate(&self) -> BitRate {
        self.all_rates().min().unwrap_or(self.rate)
    }

    /// Integral of the rate over [from, to), in ticks times bit/s.
    pub(crate) fn integral(&self, [from, to]: [Span; 2]) -> u128 {
        let [from, to] = [from, to].map(|span| Time::ZERO + span);
        self.rates().integral(from, to)
    }

    /// Mean rate over [from, to), bits per second.
    pub(crate) fn mean_rate(&self, [from, to]: [Span; 2]) -> f64 {
        match self.changes_rate() {
            true => self.integral([from, to]) as f64 / (to - from).0 as f64,
            false => self.rate.0 as f64,
        }
    }

    /// Most bits that wait before the line at any time if these rates are offered to it: 0 if it keeps
    /// up.
    pub(crate) fn bits_ahead(&self, offers: &[Offer], duration: Span, clock: Clock) -> f64 {
        let begins = offers.iter().map(|offer| (offer.from, offer.bps, None));
        let ends = offers.iter().map(|offer| (offer.to, -offer.bps, None));
        let changes = self
            .changes
            .iter()
            .map(|change| (change.at, 0.0, Some(change.rate)));
        let mut steps: Vec<(Span, f64, Option<BitRate>)> =
            begins.chain(ends).chain(changes).collect();
        steps.push((duration, 0.0, None));
        steps.retain(|&(at, ..)| at <= duration);
        steps.sort_by_key(|&(at, ..)| at);
        let (mut before, mut rate) = (Span::ZERO, self.rate);
        let (mut offered, mut ahead, mut most) = (0.0, 0.0_f64, 0.0_f64);
        for (at, more, new_rate) in steps {
            let above = offered - rate.0 as f64;
            ahead = (ahead + above * (at - before).as_seconds(clock)).max(0.0);
            most = most.max(ahead);
            offered += more;
            rate = new_rate.unwrap_or(rate);
            before = at;
        }
        // A burst may come when the rate is low.
        let bursts = offers.iter().map(|offer| offer.burst_bits);
        match self.changes_rate() && most > 1.0 {
            true => most + bursts.sum::<f64>(),
            false => most,
        }
    }
}

impl Scenario {
    /// Mean rate of a link over the run, bits per second.
    pub(crate) fn mean_rate(&self, link: usize) -> f64 {
        self.links[link].mean_rate([Span::ZERO, self.duration])
    }

    /// The rate of a link in words, or its mean over the run if it changes.
    pub(crate) fn shown_rate(&self, link: usize) -> String {
        let rate = show_rate(BitRate(self.mean_rate(link).round() as u64));
        match self.links[link].changes_rate() {
            true => format!("{rate} in the mean"),
            false => rate,
        }
    }

    /// Bits that a link carries in the run if it is never idle.
    pub(crate) fn bits_of_link(&self, link: usize) -> f64 {
        self.mean_rate(link) * self.duration.as_seconds(self.format.clock)
    }
}

/// A mean rate that a source offers for some time, regardless of loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub from: Span,
    pub to: Span,
    /// Bits per second.
    pub bps: f64,
    /// Bits of a burst; 0 without bursts.
    pub burst_bits: f64,
}

impl Vc {
    /// What the source offers to its NIC in a run of this duration. `None` when it adapts to the
    /// network, or starts at the end or later.
    pub(crate) fn offer(&self, duration: Span, clock: Clock) -> Option<Offer> {
        let to = self.stop.map_or(duration, |stop| stop.min(duration));
        let bps = self.offered_rate()?;
        let bursts = self.traffic.bursts();
        let burst = bursts.map_or(0.0, |(peak, [on, _])| {
            peak.0 as f64 * on.min(duration).as_seconds(clock)
        });
        (self.start < to).then_some(Offer {
            from: self.start,
            to,
            bps,
            burst_bits: burst.min(self.shaped_bits(duration.as_seconds(clock))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::scenario::read_toml;

    /// Megabits that wait at most for a line of 100 Mb/s that has no rate from 2 to 4 s, in 10 s, with
    /// these sources: times in seconds, and a rate in Mb/s.
    fn ahead(offers: &[(u64, u64, f64)]) -> f64 {
        let text = r#"
            duration = "10 s"
            host = [{ name = "a" }, { name = "b" }]
            link = [{ from = "a", to = "b", rate = "100 Mbps", changes = [{ at = "2 s", rate = "0 bps" }, { at = "4 s", rate = "100 Mbps" }] }]
        "#;
        let net = read_toml(text, "", &[]).expect("it is right");
        let clock = net.format.clock;
        let second = |s: u64| clock.milliseconds(1_000 * s);
        let offer = |&(from, to, mbps): &(u64, u64, f64)| Offer {
            from: second(from),
            to: second(to),
            bps: mbps * 1e6,
            burst_bits: 0.0,
        };
        let offers: Vec<Offer> = offers.iter().map(offer).collect();
        assert_eq!(net.mean_rate(0), 80e6);
        net.links[0].bits_ahead(&offers, net.duration, clock) / 1e6
    }

    #[test]
    fn what_waits_is_what_comes_in_a_pause_and_above_the_rate() {
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        };
        near(ahead(&[(0, 10, 60.0)]), 120.0);
        near(ahead(&[(0, 10, 30.0), (0, 10, 30.0)]), 120.0);
        near(ahead(&[(0, 3, 60.0)]), 60.0);
        // A source that starts after the pause never waits, nor does one that stops before.
        near(ahead(&[(4, 10, 60.0), (0, 2, 100.0)]), 0.0);
        // 20 Mb/s too much until 2 s, 120 more until 4 s, and 20 in each second after that.
        near(ahead(&[(0, 10, 120.0)]), 40.0 + 240.0 + 120.0);
    }

    /// A burst of 1000 Mb/s for 1 s in 100 s has a mean of 10 Mb/s. In the pause of 2 s, it brings 1000
    /// Mbit at most besides the mean.
    #[test]
    fn a_burst_may_come_in_a_pause() {
        let text = r#"
            duration = "10 s"
            format = "ethernet"
            host = [{ name = "a" }, { name = "b" }]
            link = [{ from = "a", to = "b", rate = "1 Gbps", changes = [{ at = "2 s", rate = "0 bps" }, { at = "4 s", rate = "1 Gbps" }] }]
            vc = [{ from = "a", to = "b", traffic = { kind = "udp", rate = "1 Gbps", on = "1 s", off = "99 s" } }]
        "#;
        let net = read_toml(text, "", &[]).expect("it is right");
        let clock = net.format.clock;
        let offer = net.vcs[0].offer(net.duration, clock).expect("it offers");
        let found = net.links[0].bits_ahead(&[offer], net.duration, clock);
        assert!((found - 1.02e9).abs() < 1e6, "{found}");
    }
}
