//! Tests of the profiles of TCPs: what they set, and that stated values win.

use crate::errors::spoil::{all_say, overridden};
use cellyard_engine::format::Format;
use cellyard_engine::scenario::*;
use cellyard_engine::units::Span;

const NETWORK: &str = r#"
duration = "1 s"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "s" }]
link = [{ from = "a", to = "s", rate = "10 Mbps" }, { from = "s", to = "b", rate = "10 Mbps" }]
"#;

fn text(fields: &str) -> String {
    format!(
        "{NETWORK}vc = [{{ from = \"a\", to = \"b\", count = 2, traffic = {{ kind = \"tcp\"{fields} }} }}]"
    )
}

fn read(fields: &str, set: &[(&str, &str)]) -> Result<Scenario, Vec<Problem>> {
    overridden(&text(fields), set)
}

fn tcps(fields: &str, set: &[(&str, &str)]) -> Vec<TcpParams> {
    let scenario = read(fields, set).unwrap_or_else(|p| panic!("{p:#?}"));
    let written = read_toml(&write_toml(&scenario), "", &[]).unwrap_or_else(|p| panic!("{p:#?}"));
    assert_eq!(written, scenario);
    let traffic = scenario.vcs.into_iter().map(|vc| vc.traffic);
    traffic
        .map(|traffic| match traffic {
            Traffic::Tcp(tcp) => *tcp,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn milliseconds(count: u64) -> Span {
    Span::from_microseconds(1_000 * count)
}

/// The values of the profile, by hand.
fn linux() -> TcpParams {
    TcpParams {
        profile: Profile::Linux,
        recovery: Recovery::Sack,
        rwnd: 6_000_000,
        initial_window: 10,
        granularity: milliseconds(1),
        min_rto: milliseconds(200),
        initial_rto: milliseconds(1_000),
        estimator: Estimator::Rfc6298,
        delayed_ack: Some(milliseconds(40)),
        handshake: true,
        ..TcpParams::default()
    }
}

#[test]
fn a_profile_sets_the_fields_that_are_left_out() {
    let old = TcpParams::default();
    assert_eq!(old.profile, Profile::Year1996);
    assert_eq!(
        (old.rwnd, old.initial_window, old.handshake),
        (65_535, 1, false)
    );
    assert_eq!(tcps("", &[]), [old.clone(), old.clone()]);
    assert_eq!(tcps(", profile = \"1996\"", &[]), [old.clone(), old]);
    assert_eq!(tcps(", profile = \"linux\"", &[]), [linux(), linux()]);
    assert_eq!(TcpParams::of_profile(Profile::Linux, Format::AAL5), linux());
}

#[test]
fn stated_values_win_wherever_they_are_stated() {
    let stated =
        ", profile = \"linux\", recovery = \"reno\", delayed_ack = \"none\", handshake = false";
    let own = TcpParams {
        recovery: Recovery::Reno,
        delayed_ack: None,
        handshake: false,
        ..linux()
    };
    assert_eq!(tcps(stated, &[]), [own.clone(), own.clone()]);
    let set = [
        ("vc.traffic.profile", "linux"),
        ("vc.traffic.handshake", "false"),
        ("vc.*.traffic.delayed_ack", "none"),
    ];
    assert_eq!(
        tcps(", recovery = \"reno\"", &set),
        [own.clone(), own.clone()]
    );
    // One VC by itself, and back to the profile's own value.
    let set = [("vc.vc2.traffic.recovery", "default")];
    let second = TcpParams {
        recovery: Recovery::Sack,
        ..own.clone()
    };
    assert_eq!(tcps(stated, &set), [own.clone(), second]);
    let old = [("vc.vc2.traffic.profile", "1996")];
    let second = TcpParams {
        profile: Profile::Year1996,
        handshake: false,
        ..TcpParams::default()
    };
    assert_eq!(tcps(stated, &old), [own, second]);
}

// The other smallest RTO follows from the granularity.
#[test]
fn fields_that_follow_from_others_do_so_unless_the_profile_sets_them() {
    let [tcp, _] = &tcps(", granularity = \"50 ms\"", &[])[..] else {
        panic!("two VCs");
    };
    assert_eq!(tcp.min_rto, milliseconds(100));
    let [tcp, _] = &tcps(", profile = \"linux\", granularity = \"50 ms\"", &[])[..] else {
        panic!("two VCs");
    };
    assert_eq!(tcp.min_rto, milliseconds(200));
}

#[test]
fn options_of_the_recovery_that_a_profile_sets_are_taken() {
    let [tcp, _] = &tcps(", profile = \"linux\", sack_pipe = \"rfc6675\"", &[])[..] else {
        panic!("two VCs");
    };
    assert_eq!(tcp.sack_pipe, SackPipe::Rfc6675);
    let problem = |fields: &str, set: &[(&str, &str)]| {
        let found = read(fields, set).expect_err("it has a problem");
        let [problem] = &found[..] else {
            panic!("one problem: {found:#?}");
        };
        problem.to_string()
    };
    all_say(
        |fields| problem(fields, &[]),
        r#"
        , profile = "linux", reno_window = "rfc2001" => has no effect with recovery = "sack"
        , profile = "linus" => is not one of the choices; did you mean `linux`?
        , profile = "linux", granularity = "500 ms" =>
            | is 200 ms by default, below one tick of the timer
        , profile = "linux", max_rto = "500 ms" =>
            | is 1 s by default, above max_rto (allowed: at most 500 ms)
        , min_rto = "none" =>
        "#,
    );
    let found = problem("", &[("vc.traffic.profile", "1997")]);
    assert!(found.contains("did you mean `1996`?"), "{found}");
}
