//! Errors of drop policies of the RED family.

use super::spoil::{all_say, only, says, spoilt};
use cellyard_engine::scenario::read_toml;

const DROP: &str = "{ policy = \"epd\", threshold = \"800 cells\" }";

/// The problem of a policy with these fields. Must be the same for every kind.
fn told(fields: &str) -> String {
    let mut found = ["atm-red", "cell-red", "packet-red"].map(|policy| {
        let told = spoilt(DROP, &format!("{{ policy = \"{policy}\", {fields} }}"));
        told.replace(policy, "RED")
    });
    // Compare without columns, which differ.
    let place = |told: &str| told[told.find("switch").expect("its path")..].to_string();
    found = found.map(|told| place(&told));
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
    found[0].clone()
}

#[test]
fn the_lower_threshold_is_below_the_upper_one() {
    all_say(
        told,
        r#"
        min_th = "600 cells", max_th = "500 cells" => switch[0].ubr.drop.min_th = "600 cells"
            | is 600 cells, not below max_th = 500 cells | below max_th
        min_th = "500 cells", max_th = "500 cells" => is 500 cells, not below max_th = 500 cells
        min_th = 0.5, max_th = 0.4 => min_th = 0.5
            | is 0.5 of the buffer, not below max_th = 0.4 of the buffer
        # The buffer has 1000 cells, and max_th is 0.75 of it by default.
        min_th = 0.5, max_th = "500 cells" => is 0.5 of the buffer, not below max_th = 500 cells
        min_th = "750 cells" => is 750 cells, not below max_th = 0.75 of the buffer
        max_th = 0.25 => is 0.25 of the buffer, not below
        "#,
    );
}

#[test]
fn thresholds_lie_within_the_buffer() {
    all_say(
        told,
        r#"
        max_th = "1001 cells" => switch[0].ubr.drop.max_th
            | max_th is above the buffer K = 1000 cells
        min_th = -0.1 => drop.min_th = -0.1
        "#,
    );
}

#[test]
fn weights_and_probabilities_are_above_0_and_at_most_1() {
    for name in ["w_q", "max_p"] {
        for value in ["0", "0.0"] {
            says(
                &told(&format!("{name} = {value}")),
                &[
                    &format!("switch[0].ubr.drop.{name}"),
                    "is 0, so",
                    "above 0, at most 1",
                ],
            );
        }
        for value in ["-0.1", "1.000001", "2"] {
            says(
                &told(&format!("{name} = {value}")),
                &[
                    &format!("switch[0].ubr.drop.{name} = {value}"),
                    "from 0 to 1",
                ],
            );
        }
    }
}

#[test]
fn a_segment_has_cells_and_frames_have_none() {
    let drop = |fields: &str| spoilt(DROP, &format!("{{ {fields} }}"));
    all_say(
        drop,
        r#"
        policy = "atm-red", segment_cells = "0 cells" => drop.segment_cells = "0 cells"
            | "1 cell
        policy = "packet-red", segment_cells = "32 cells" => is not a field of `packet-red`
            | but of atm-red, cell-red
        policy = "atm-red", average = "cells" => drop.average | did you mean `cell`?
        policy = "atm-red", spacing = 1 => drop.spacing
        "#,
    );
}

#[test]
fn only_red_has_an_average_to_record() {
    let probe = |fields: &str| {
        format!("probe = [{{ what = \"average-queue\", of = \"west->east\"{fields} }}]\n")
    };
    says(
        &only(&format!("{}{}", probe(""), super::spoil::GOOD)),
        &[
            "probe[0].of",
            "no average queue: no drop policy there computes one",
            "atm-red, cell-red or packet-red",
        ],
    );
    let red = super::spoil::GOOD.replace(DROP, "\"atm-red\"");
    for fields in ["", ", class = \"ubr\""] {
        assert!(read_toml(&format!("{}{red}", probe(fields)), "", &[]).is_ok());
    }
    let other = probe(", class = \"abr\"");
    says(&only(&format!("{other}{red}")), &["no average"]);
    // A port's own queue replaces the switch's.
    let own = red.replace(
        "delay = \"5 us\"",
        "delay = \"5 us\"\nubr = { drop = \"ppd\" }",
    );
    says(&only(&format!("{}{own}", probe(""))), &["no average"]);
}

#[test]
fn without_a_buffer_parts_of_it_are_compared_with_each_other_only() {
    let text = |fields: &str| {
        super::spoil::GOOD.replace(
            &format!("buffer = \"1000 cells\", drop = {DROP}"),
            &format!("drop = {{ policy = \"atm-red\", {fields} }}"),
        )
    };
    says(
        &only(&text("min_th = 0.9")),
        &["is 0.9 of the buffer, not below max_th = 0.75"],
    );
    assert!(read_toml(&text("min_th = \"10 cells\""), "", &[]).is_ok());
}
