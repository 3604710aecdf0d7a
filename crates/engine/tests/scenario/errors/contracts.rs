//! Errors of contracts, policers, policies that need minimum rates, and UDP.

use super::spoil::{GOOD, all_say, only, pair, says};
use cellyard_engine::scenario::read_toml;

const TRAFFIC: &str = "traffic = { kind = \"tcp\", recovery = \"reno\" }\n";
const DROP: &str = "{ policy = \"epd\", threshold = \"800 cells\" }";

/// `GOOD` with `contract` for its VCs. Adds `queue` to the UBR queue of switch west and makes
/// `drop` its policy.
fn text(contract: &str, queue: &str, drop: &str) -> String {
    let contract = match contract {
        "" => TRAFFIC.to_string(),
        contract => format!("contract = {{ {contract} }}\n{TRAFFIC}"),
    };
    GOOD.replace(TRAFFIC, &contract)
        .replace(&format!("drop = {DROP}"), &format!("{queue} drop = {drop}"))
}

#[test]
fn contracts_must_hold_together() {
    let told = |contract: &str| only(&text(contract, "", DROP));
    all_say(
        told,
        r#"
        pcr = "1 Mbps", scr = "2 Mbps" => test.toml:25: | vc[0].contract.scr
            | is 2 Mbps, above the peak rate | at most 1 Mbps, the pcr
        mcr = "1 Mbps", scr = "2 Mbps" => vc[0].contract.mcr | cannot be combined with `scr`
        mcr = "1 Mbps", cdvt = "-1 us" => vc[0].contract.cdvt = "-1 us" | "0 s" to
        mcr = "1 Mbps", mbs = "11 cells" => vc[0].contract.mbs
            | is less than one frame, which has 12 cells | at least 12 cells
        pcr = "1 Mbps", mbs = "50 cells" => vc[0].contract.mbs
            | has no effect without a sustained rate | `scr` or `mcr`
        cdvt = "1 us" => vc[0].contract | sets no rate | `pcr`, `scr` or `mcr`
        mfs = "50 cells" => vc[0].contract | sets no rate | `pcr`, `scr` or `mcr`
        mbs = "50 cells" => vc[0].contract | sets no rate | `pcr`, `scr` or `mcr`
        # Three VCs on a link of 155.52 Mb/s; the links of the sinks have 10 Mb/s each.
        mcr = "11 Mbps" => vc[0].contract.mcr | minimum rates on east->sink1 to 11 Mbps
            | at most 10 Mbps in total
        "#,
    );
    says(
        &only(&GOOD.replace(TRAFFIC, &format!("contract = {{}}\n{TRAFFIC}"))),
        &["test.toml:25:", "vc[0].contract", "sets no rate"],
    );
    let wide =
        text("mcr = \"60 Mbps\"", "", DROP).replace("rate = \"10 Mbps\"", "rate = \"155.52 Mbps\"");
    says(
        &only(&wide),
        &[
            "minimum rates on west->east to 180 Mbps",
            "at most 155.52 Mbps in total",
        ],
    );
    let fits = wide.replace("60 Mbps", "50 Mbps");
    assert!(read_toml(&fits, "", &[]).is_ok());
}

#[test]
fn what_asks_for_a_contract_gets_one() {
    let policer = |kind: &str| format!("police = \"{kind}\",");
    let policed = |contract: &str, kind: &str| only(&text(contract, &policer(kind), DROP));
    all_say(
        pair(policed),
        r#"
         -> gcra => vc[0].contract | pcr, scr or mcr
            | is missing, but the policer gcra at the queue ubr of west->east needs it
        pcr = "9 Mbps" -> f-gcra => vc[0].contract | missing mcr or scr: the policer f-gcra
        mcr = "1 Mbps" -> grca => unknown policer | `gcra`?
        mcr = "1 Mbps", mfs = "11 cells" -> f-gcra => vc[0].contract.mfs
            | is less than one frame, which has 12 cells | f-gcra | at least 12 cells
        "#,
    );
    assert!(read_toml(&text("pcr = \"9 Mbps\"", &policer("gcra"), DROP), "", &[]).is_ok());
    for policy in [
        "gcra-epd",
        "gcra-round-robin",
        "gcra-two-thresholds",
        "dfba",
    ] {
        let drop = format!("{{ policy = \"{policy}\" }}");
        says(
            &only(&text("", "", &drop)),
            &[
                "vc[0].contract",
                &format!("the drop policy {policy} at the queue ubr of west->east"),
            ],
        );
        assert!(read_toml(&text("mcr = \"1 Mbps\"", "", &drop), "", &[]).is_ok());
    }
}

#[test]
fn a_lower_threshold_is_not_above_the_upper_one() {
    all_say(
        |drop| {
            only(&text(
                "mcr = \"1 Mbps\"",
                "",
                &format!("{{ policy = {drop} }}"),
            ))
        },
        r#"
        "gcra-two-thresholds", low = "600 cells", threshold = "500 cells" =>
            | switch[0].ubr.drop.low | is 600 cells, above the upper threshold | at most 500 cells
        "dfba", low = 0.9, high = "500 cells" => is 900 cells | at most 500 cells
        "#,
    );
}

#[test]
fn a_udp_keeps_to_its_link_and_pauses_after_bursts() {
    let udp = |fields: &str| {
        only(&GOOD.replace(
            TRAFFIC,
            &format!("traffic = {{ kind = \"udp\"{fields} }}\n"),
        ))
    };
    all_say(
        udp,
        r#"
        , rate = "156 Mbps" => vc[0].traffic.rate | is above the rate of the link source1->west
        , off = "1 ms" => vc[0].traffic.off | a burst never ends | with `on`
        # Two frames of 23 cells take 46 cell times, 125.41 us.
        , on = "100 us", off = "25 us" => vc[0].traffic.off | is too short | at least 25.412 us
        , datagram_size = "65500 bytes" => vc[0].traffic.datagram_size | at most 65499 bytes
        "#,
    );
}
