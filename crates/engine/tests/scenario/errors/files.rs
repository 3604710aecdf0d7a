//! Errors of TCP files and timers.

use super::spoil::{GOOD, all_say, pair, says, spoilt};
use cellyard_engine::scenario::read_toml;

#[test]
fn files_have_bytes_and_a_number_and_follow_each_other() {
    let tcp = |fields: &str| spoilt("recovery = \"reno\"", fields);
    all_say(
        tcp,
        r#"
        file_size = "0 bytes" => vc[0].traffic.file_size = "0 bytes" | must be at least 1 byte
        file_size = "1 kB", files = 0 => vc[0].traffic.files = 0 | must be at least 1
            | or "unlimited"
        file_size = "1 kB", files = "many" => vc[0].traffic.files = "many" | or "unlimited"
        file_size = "1 kB", files = 2, file_gap = "-1 ms" => vc[0].traffic.file_gap = "-1 ms"
            | must not be negative
        "#,
    );
    for (name, field) in [
        ("files", "files = 2"),
        ("files", "files = \"unlimited\""),
        ("file_gap", "file_gap = \"1 ms\""),
    ] {
        says(
            &tcp(field),
            &[
                &format!("vc[0].traffic.{name}"),
                "has no effect without `file_size`",
            ],
        );
    }
    says(
        &tcp("file_size = \"1 kB\", files = 2, next_file = \"new\""),
        &["next_file = \"new\"", "did you mean `new-connection`?"],
    );
    for good in [
        "files = 1, handshake = true",
        "file_size = \"1 kB\", files = \"unlimited\", file_gap = \"0 s\"",
    ] {
        let text = GOOD.replace("recovery = \"reno\"", good);
        read_toml(&text, "test.toml", &[]).expect("it is right");
    }
}

#[test]
fn a_minimum_rto_is_a_tick_at_least() {
    all_say(
        pair(spoilt),
        r#"
        recovery = "reno" -> granularity = "200 ms", min_rto = "199 ms" => vc[0].traffic.min_rto
            | is 199 ms, below one tick of the timer | at least 200 ms, the granularity
        recovery = "reno" -> min_rto = "10 ms" => below one tick | at least 100 ms
        "#,
    );
    let text = GOOD.replace(
        "recovery = \"reno\"",
        "granularity = \"200 ms\", min_rto = \"200 ms\"",
    );
    read_toml(&text, "test.toml", &[]).expect("it is right");
}
