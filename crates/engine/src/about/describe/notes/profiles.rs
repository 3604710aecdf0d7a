//! What the profiles of TCPs set. Unlike the other notes, these are no warnings.

use super::named;
use crate::ground::format::Format;
use crate::text::registry::{Choice, Family, Kind};
use crate::text::scenario::{Profile, Scenario, TcpParams};
use serde_json::json;

/// For each profile other than the default one, and each set of fields that it gave, what it set. No
/// profile sets the MSS, so its default is named too.
pub(super) fn defaults(scenario: &Scenario) -> Vec<String> {
    type Key<'f> = (Profile, Vec<&'f str>, Option<u64>);
    // The profile, the fields that differ from it and the MSS if it is the default, and the VCs.
    let mut groups: Vec<(Key<'_>, Vec<&str>)> = Vec::new();
    let mut last: Option<(&TcpParams, usize)> = None;
    let ethernet = Some(scenario.format).filter(|format| format.is_ethernet);
    let [carried, _] = ethernet.unwrap_or(Format::ETHERNET).most_data();
    let tcps = scenario.vcs.iter();
    let tcps = tcps.filter_map(|vc| Some((vc.traffic.tcp()?, vc.name.as_str())));
    for (tcp, vc) in tcps.filter(|(tcp, _)| tcp.profile != Profile::default()) {
        let group = match last {
            Some((like, group)) if like == tcp => group,
            _ => {
                let defaults = TcpParams::of_profile(tcp.profile, scenario.format);
                let mss = (tcp.mss == defaults.mss && tcp.mss < carried).then_some(tcp.mss);
                let key = (tcp.profile, stated(tcp, &defaults), mss);
                let known = groups.iter().position(|(other, _)| *other == key);
                known.unwrap_or_else(|| {
                    groups.push((key, Vec::new()));
                    groups.len() - 1
                })
            }
        };
        last = Some((tcp, group));
        groups[group].1.push(vc);
    }
    let notes = groups.iter().map(|((profile, stated, mss), vcs)| {
        let mss = mss.map(|mss| {
            format!("; mss, which it does not set, is {mss} bytes (Ethernet carries {carried})")
        });
        note(*profile, stated, vcs) + &mss.unwrap_or_default()
    });
    notes.collect()
}

fn note(profile: Profile, stated: &[&str], vcs: &[&str]) -> String {
    let (name, sets) = (profile.name(), choice(profile).sets.iter());
    let values = sets.filter(|(field, _)| !stated.contains(field));
    let values = values.map(|(field, default)| format!("{field} = {}", default.text(field)));
    let values: Vec<String> = values.collect();
    let (vcs, stated) = (named(vcs), stated.join(", "));
    match (values.is_empty(), stated.is_empty()) {
        (true, _) => {
            format!("profile `{name}` sets nothing for {vcs}: every field that it sets is stated")
        }
        (_, true) => format!("profile `{name}` sets for {vcs}: {}", values.join(", ")),
        _ => format!(
            "profile `{name}` sets for {vcs}: {}; stated, with other values: {stated}",
            values.join(", ")
        ),
    }
}

/// The entry of a profile in the registry.
fn choice(profile: Profile) -> &'static Choice {
    let parameter = Family::Traffic
        .find("tcp")
        .and_then(|tcp| tcp.parameter("profile"));
    let Some(Kind::Choice(choices)) = parameter.map(|parameter| parameter.kind) else {
        unreachable!("a TCP has a profile");
    };
    let found = choices.iter().find(|choice| choice.name == profile.name());
    found.expect("the registry has the profiles of the model")
}

/// The fields that a profile sets and that have other values in `tcp`.
fn stated(tcp: &TcpParams, defaults: &TcpParams) -> Vec<&'static str> {
    let (values, defaults) = (json!(tcp), json!(defaults));
    let fields = choice(tcp.profile).sets.iter().map(|(field, _)| *field);
    fields
        .filter(|&field| values[field] != defaults[field])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes_of_lan;

    const PROFILE: (&str, &str) = ("vc.traffic.profile", "linux");

    #[test]
    fn what_a_profile_sets_is_noted_with_what_is_stated_instead() {
        let all = "profile `linux` sets for vc1 and 4 more: recovery = sack, rwnd = 6 MB, initial_window = 10, granularity = 1 ms, \
                   min_rto = 200 ms, initial_rto = 1 s, estimator = rfc6298, delayed_ack = 40 ms, handshake = true; \
                   mss, which it does not set, is 512 bytes (Ethernet carries 1460)";
        let recovery = ("vc.traffic.recovery", "default"); // the example states another
        assert_eq!(notes_of_lan(&[PROFILE, recovery]), [all]);
        let (sets, _) = all.split_once("; mss").expect("it names the MSS");
        let mss = ("vc.traffic.mss", "1460 bytes");
        assert_eq!(notes_of_lan(&[PROFILE, recovery, mss]), [sets]);
        // Another length of a tick is no other time.
        let cells = (
            "format",
            "{ cell = \"53 bytes\", carries = \"48 bytes\", frame_overhead = \"0 bytes\" }",
        );
        assert_eq!(notes_of_lan(&[PROFILE, recovery, cells]), [all]);
        let [one, others] = &notes_of_lan(&[
            PROFILE,
            recovery,
            ("vc.vc2.traffic.recovery", "reno"),
            ("vc.vc2.traffic.delayed_ack", "none"),
        ])[..] else {
            panic!("a note for each set of fields");
        };
        assert_eq!(one, &all.replace("4 more", "3 more"));
        let stated = "handshake = true; stated, with other values: recovery, delayed_ack; \
                      mss, which it does not set, is 512 bytes (Ethernet carries 1460)";
        assert!(
            others.starts_with("profile `linux` sets for vc2: rwnd = 6 MB, "),
            "{others}"
        );
        assert!(others.ends_with(stated), "{others}");
    }

    #[test]
    fn a_profile_without_effect_is_noted_and_the_default_one_is_not() {
        let stated = [
            ("recovery", "tahoe"),
            ("rwnd", "65535 bytes"),
            ("initial_window", "1"),
            ("granularity", "100 ms"),
            ("min_rto", "300 ms"),
            ("initial_rto", "3 s"),
            ("estimator", "bsd"),
            ("delayed_ack", "none"),
            ("handshake", "false"),
        ]
        .map(|(field, value)| (format!("vc.traffic.{field}"), value));
        let mut set: Vec<(&str, &str)> = stated
            .iter()
            .map(|(path, value)| (&path[..], *value))
            .collect();
        assert!(notes_of_lan(&set).is_empty());
        set.push(PROFILE);
        let nothing = "profile `linux` sets nothing for vc1 and 4 more: every field that it sets is stated; \
             mss, which it does not set, is 512 bytes (Ethernet carries 1460)";
        assert_eq!(notes_of_lan(&set), [nothing]);
        assert!(notes_of_lan(&[("vc.traffic.profile", "1996")]).is_empty());
    }
}
