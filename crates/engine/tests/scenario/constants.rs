//! Sizes of ATM cells are in `format.rs` alone.

use std::fs;
use std::path::{Path, PathBuf};

/// Sizes of an ATM cell: its bits, its bytes, and the bytes that it carries.
const SIZES: [&str; 3] = ["424", "53", "48"];

/// Other numbers with these values: file, part of the line, and what the number is.
const OTHER_NUMBERS: [(&str, &str, &str); 4] = [
    ("ground/rng.rs", "1u64 << 53", "bits of a 64-bit float"),
    (
        "ground/gathered.rs",
        "POINT_BYTES",
        "memory of a recorded point",
    ),
    (
        "network/abr/rm.rs",
        "PAYLOAD: usize = 48",
        "an RM cell, which only AAL5 has",
    ),
    (
        "text/registry/scenario.rs",
        "ATM cells of 53 bytes",
        "help of the format aal5",
    ),
];

/// All source files in `folder` that are not only for tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        match name {
            "tests" | "tests.rs" | "testing.rs" | "format.rs" => {}
            _ if path.is_dir() => sources(&path, found),
            _ => found.push(path),
        }
    }
}

/// Whether a word of `line` outside comments is one of [`SIZES`].
fn has_size(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| SIZES.contains(&word))
}

#[test]
fn no_size_of_an_atm_cell_is_outside_the_format() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let (mut silent, mut unused) = (Vec::new(), Vec::from(OTHER_NUMBERS));
    for path in files {
        let text = fs::read_to_string(&path).expect("a text");
        let name = path
            .strip_prefix(&root)
            .expect("in the folder")
            .display()
            .to_string();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for line in code.lines().filter(|line| has_size(line)) {
            let is_it = |other: &(&str, &str, &str)| other.0 == name && line.contains(other.1);
            match OTHER_NUMBERS.iter().any(is_it) {
                true => unused.retain(|other| !is_it(other)),
                false => silent.push(format!("{name}: {line}")),
            }
        }
    }
    assert!(silent.is_empty(), "take these from the format: {silent:#?}");
    assert!(unused.is_empty(), "not there any more: {unused:#?}");
}
