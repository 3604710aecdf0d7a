//! Errors of drop policies that are stated as programs.

use super::spoil::{GOOD, all_say, problems, says, spoilt};

const DROP: &str = "{ policy = \"epd\", threshold = \"800 cells\" }";

fn told(fields: &str) -> String {
    spoilt(DROP, &format!("{{ policy = \"program\", {fields} }}"))
}

#[test]
fn a_mistake_points_at_its_character() {
    let found = told("refuse = \"X > r and Y > 2\", R = \"900 cells\"");
    says(
        &found,
        &[
            "switch[0].ubr.drop.refuse: unknown name `r` (column 5); did you mean `R`?",
            "\n    X > r and Y > 2\n        ^",
        ],
    );
    let lines = told("program = \"\"\"\nif X > 3 {\n  refuze\n}\n\"\"\"");
    says(
        &lines,
        &[
            "switch[0].ubr.drop.program: `refuze` is no statement (line 2, column 3); did you mean `refuse`?",
            "\n      refuze\n      ^",
        ],
    );
}

#[test]
fn a_program_has_one_text() {
    all_say(
        told,
        r#"
        asked = "cells" => drop.refuse | is missing | `program` with statements
        refuse = "X > 1", program = "accept" => drop.program | cannot be combined with `refuse`
        refuse = 3 => drop.refuse = 3 | must not be an integer
        program = "tag" => has the verdict `tag`, which is about one cell | or asked = "cells"
        refuse = "idle > 3" => uses `idle`, but is asked only while the port is busy
        "#,
    );
}

#[test]
fn parameters_are_used_and_have_names_of_their_own() {
    all_say(
        told,
        r#"
        refuse = "X > 3", aksed = "3 cells" => drop.aksed
            | unused parameter: the program does not read it | did you mean `asked`?
        refuse = "X > 3", K = "3 cells" => drop.K | reserved word of the language
        refuse = "X > 3", length = 3 => drop.length | reserved word of the language
        refuse = "X > 3", places = "3 cells" => drop.places | reserved word of the language
        refuse = "X > 3", free = "3 cells" => drop.free | reserved word of the language
        program = "queue state reserve = 0" => `reserve` is a name of the language
        program = "queue state length = 0" => `length` is a name of the language
        program = "places = X" => `places` is a name of the language and cannot be assigned
        refuse = "X > 3", "a b" = 3 => must consist of letters, digits and _
        refuse = "X > R", R = "3 sells" => drop.R | unknown unit `sells`
        refuse = "X > R", R = -1 => must not be negative
        refuse = "X > R", R = "0.9 Kb" => drop.R | unknown unit `Kb`
        "#,
    );
    let many: String = (0..65).map(|i| format!(", p{i} = 1")).collect();
    says(
        &told(&format!("refuse = \"X > 3\"{many}")),
        &["has 65 parameters", "at most 64"],
    );
}

#[test]
fn a_misspelt_field_is_no_parameter_with_any_value() {
    for (field, meant) in [
        ("aksed = \"cells\"", "asked"),
        ("export_tags = true", "export_tag"),
        ("never_bellow = \"900 sells\"", "never_below"),
    ] {
        let found = told(&format!("refuse = \"X > 900\", {field}"));
        let suggested = format!("did you mean `{meant}`?");
        let unused = "unused parameter: the program does not read it";
        says(&found, &[field, unused, &suggested]);
    }
    let text = "{ policy = \"program\", reffuse = \"X > 900\" }";
    let [missing, unused] = &problems(&GOOD.replace(DROP, text))[..] else {
        panic!("two problems");
    };
    says(
        &unused.to_string(),
        &["drop.reffuse", "did you mean `refuse`?"],
    );
    says(&missing.to_string(), &["drop.refuse: is missing"]);
    let text = "name = \"west\"\nscheduler = { kind = \"program\", rank = \"0\", klass = \"ubr\" }";
    says(
        &spoilt("name = \"west\"", text),
        &["scheduler.klass = \"ubr\"", "did you mean `class`?"],
    );
}

#[test]
fn a_promise_needs_a_program_that_may_be_left_out() {
    says(
        &told(
            "program = \"queue state n = 0\\nn = n + 1\\nif n > 3 { refuse }\", never_below = 0.5",
        ),
        &[
            "drop.never_below",
            "would leave it open whether",
            "begin the program with",
        ],
    );
    says(
        &told("refuse = \"X > 3\", never_below = \"2000 cells\""),
        &["drop.never_below = \"2000 cells\": never_below is above the buffer K = 1000 cells"],
    );
}
