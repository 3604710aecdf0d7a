//! Errors of ABR end systems and feedback.

use super::spoil::{GOOD, all_say, only, says};
use cellyard_engine::scenario::read_toml;

const TRAFFIC: &str = "traffic = { kind = \"tcp\", recovery = \"reno\" }\n";

/// `GOOD` with VCs of the class abr that have these end systems.
fn ends(fields: &str) -> String {
    let vc = format!("class = \"abr\"\nabr = {{ {fields} }}\n{TRAFFIC}");
    GOOD.replace(TRAFFIC, &vc)
}

/// Adds `line` to the switch west of `text`.
fn with_queue(text: &str, line: &str) -> String {
    text.replacen(
        "name = \"west\"\n",
        &format!("name = \"west\"\n{line}\n"),
        1,
    )
}

#[test]
fn rates_of_end_systems_are_in_order() {
    all_say(
        |fields| only(&ends(fields)),
        r#"
        icr = "3 Mbps", pcr = "2 Mbps" => abr.icr
            | is 3 Mbps, above the peak rate | at most 2 Mbps, the pcr
        mcr = "3 Mbps", pcr = "2 Mbps" => abr.mcr
            | is 3 Mbps, above the peak rate | at most 2 Mbps, the pcr
        icr = "1 Mbps", mcr = "2 Mbps" => abr.icr
            | is 1 Mbps, below the minimum rate | at least 2 Mbps, the mcr
        pcr = "11 Mbps" => abr.pcr
            | is above the rate of the host link sink1->east | at most 10 Mbps
        icr = "11 Mbps" => abr.icr
            | is above the rate of the host link sink1->east | at most 10 Mbps
        nrm = 33 => abr.nrm | is 33, not a power of 2 | 32, 64
        "#,
    );
    let right = ends("pcr = \"10 Mbps\", mcr = \"1 Mbps\", icr = \"1 Mbps\", nrm = 2");
    assert!(read_toml(&right, "", &[]).is_ok());
}

#[test]
fn minimum_rates_of_end_systems_and_contracts_fit_every_link_in_both_directions() {
    let wide = |fields: &str| ends(fields).replace("rate = \"10 Mbps\"", "rate = \"155.52 Mbps\"");
    says(
        &only(&wide("mcr = \"60 Mbps\"")),
        &[
            "vc[0].abr.mcr",
            "minimum rates on west->east to 180 Mbps",
            "at most 155.52 Mbps in total",
        ],
    );
    assert!(read_toml(&wide("mcr = \"50 Mbps\""), "", &[]).is_ok());
    let other = "[[vc]]\nname = \"other\"\nfrom = \"source1\"\nto = \"sink1\"\n";
    let contract = |mcr: &str| {
        format!(
            "{}{other}contract = {{ mcr = \"{mcr} Mbps\" }}\n{TRAFFIC}",
            wide("mcr = \"50 Mbps\"")
        )
    };
    says(
        &only(&contract("6")),
        &["vc[1].contract.mcr", "to 156 Mbps"],
    );
    assert!(read_toml(&contract("5"), "", &[]).is_ok());
}

#[test]
fn end_systems_are_for_frames_of_the_class_abr() {
    let other = ends("").replace("class = \"abr\"\n", "");
    says(
        &only(&other),
        &[
            "vc[0].abr",
            "requires the class abr, but the class of the VC is ubr",
        ],
    );
    for kind in ["cbr", "poisson"] {
        let cells = ends("").replace(
            TRAFFIC,
            &format!("traffic = {{ kind = \"{kind}\", rate = \"1 Mbps\" }}\n"),
        );
        says(
            &only(&cells),
            &[
                "vc[0].abr",
                &format!("{kind} sends single cells"),
                "tcp or udp",
            ],
        );
    }
}

#[test]
fn parameters_of_feedback_mean_something() {
    let queue = |feedback: &str| format!("abr = {{ feedback = {{ kind = {feedback} }} }}");
    all_say(
        |feedback| only(&with_queue(&ends(""), &queue(feedback))),
        r#"
        "erica", target = 0 => abr.feedback.target | is 0, so no VC could send
        "oracle-rate", target = 0 => abr.feedback.target | is 0, so no VC could send
        "erica", load_decay = 1 => abr.feedback.load_decay
            | new measurements would have no effect
        "erica-mcr", active_decay = 1 => abr.feedback.active_decay | new measurements
        "erica-plus", a = 1 => abr.feedback.a = | above 1
        "erica-plus", b = 1 => abr.feedback.b = | above 1
        "erica-plus", t0 = "0 s" => abr.feedback.t0 | must be above 0
        "relative-rate", low = "9 cells", high = "8 cells" => abr.feedback.low
            | is 9 cells, above `high`
        "#,
    );
}

#[test]
fn feedback_is_for_vcs_with_end_systems() {
    let feedback = "abr = { feedback = \"erica\" }";
    assert!(read_toml(&with_queue(&ends(""), feedback), "", &[]).is_ok());
    says(
        &only(&with_queue(GOOD, feedback)),
        &[
            "switch[0].abr.feedback",
            "has no effect: ",
            "a VC with `abr` there",
        ],
    );
    let cbr = "cbr = { feedback = \"erica\" }";
    says(
        &only(&with_queue(&ends(""), cbr)),
        &[
            "switch[0].cbr.feedback",
            "has an effect only in the class abr",
        ],
    );
    let link = |text: &str| {
        text.replace(
            "delay = \"5 us\"\n",
            &format!("delay = \"5 us\"\n{feedback}\n"),
        )
    };
    assert!(read_toml(&link(&ends("")), "", &[]).is_ok());
    says(
        &only(&link(GOOD)),
        &["link[1].abr.feedback", "has no effect: "],
    );
}

#[test]
fn a_vc_of_the_class_abr_without_end_systems_is_what_feedback_lacks() {
    let deaf = GOOD.replace(TRAFFIC, &format!("class = \"abr\"\n{TRAFFIC}"));
    let feedback = "abr = { feedback = \"erica\" }";
    let message = "vc1 has the class abr, but needs `abr` to follow the feedback on its route";
    let both = with_queue(&deaf, feedback).replace(
        "delay = \"5 us\"\n",
        &format!("delay = \"5 us\"\n{feedback}\n"),
    );
    for text in [with_queue(&deaf, feedback), both] {
        says(&only(&text), &["vc[0].abr", message, "abr = {}"]);
    }
}
