//! Any text is read and written as the same scenario, or refused with messages that have a place (`docs/promises.md`). What stands after
//! the first NUL are lines of overrides, PATH=VALUE.

#![no_main]

#[path = "../../crates/engine/tests/runs/fuzz/promise.rs"]
mod promise;

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &str| -> Corpus {
    let (text, rest) = input.split_once('\0').unwrap_or((input, ""));
    if !promise::costly(text).is_empty() || !promise::costly(rest).is_empty() {
        return Corpus::Reject;
    }
    let overrides: Vec<(String, String)> = rest
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(path, value)| (path.into(), value.into()))
        .collect();
    if let Err(fault) = promise::check(text, &overrides) {
        panic!("{fault}");
    }
    Corpus::Keep
});
