//! Tests of the examples: each reads, describes itself, and survives writing.

use cellyard_engine::scenario::{read_toml, write_toml};
use std::path::Path;

#[test]
fn every_example_reads_and_says_what_it_shows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = Vec::new();
    for file in std::fs::read_dir(folder).expect("the folder of examples") {
        let path = file.expect("an entry").path();
        let name = path
            .file_stem()
            .and_then(|n| n.to_str())
            .expect("a name")
            .to_string();
        let text = std::fs::read_to_string(&path).expect("a text");
        let scenario = read_toml(&text, &name, &[]).unwrap_or_else(|p| panic!("{name}: {p:#?}"));
        assert!(text.starts_with("# "), "{name} begins with what it shows");
        assert_eq!(scenario.name, name);
        assert_eq!(
            read_toml(&write_toml(&scenario), &name, &[]).as_ref(),
            Ok(&scenario),
            "{name}"
        );
        seen.push(name);
    }
    assert!(seen.len() > 1);
}
