//! The folders of the engine are layered, and no files import each other.
//!
//! Everything counts that a file names by `crate::` or `super::` before its tests. What a `mod.rs`
//! gathers counts for the floors only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders from the ground up. A folder imports only those before it, and none next to it.
const FLOORS: [&[&str]; 7] = [
    &["ground"],
    &["text"],
    &["network"],
    &["port", "host"],
    &["run"],
    &["twin"],
    &["about"],
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All files below `folder`.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The paths that `text` names from `crate::` or `super::` on, with the names of one group each.
fn named(text: &str) -> Vec<String> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    for word in ["crate::", "super::"] {
        for (at, _) in text.match_indices(word) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(is_path) {
                continue;
            }
            let rest = &text[at..];
            let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
            let (path, rest) = rest.split_at(end);
            match rest
                .strip_prefix('{')
                .and_then(|group| group.split('}').next())
            {
                Some(group) => {
                    let names = group.split([',', '{']).map(str::trim);
                    found.extend(names.map(|name| format!("{path}{name}")));
                }
                None => found.push(path.into()),
            }
        }
    }
    found
}

/// For each file the files that it names.
fn imports() -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let mut all = Vec::new();
    files(&source(), &mut all);
    let is_test = |path: &PathBuf| {
        let names = path
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        names
            .clone()
            .any(|name| name == "tests.rs" || name == "testing.rs" || name == "tests")
    };
    let mut found = BTreeMap::new();
    for path in all.into_iter().filter(|path| !is_test(path)) {
        let text = fs::read_to_string(&path).expect("a text");
        let text = text.split("\n#[cfg(test)]").next().unwrap_or_default();
        let code: String = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .map(|line| format!("{line}\n"))
            .collect();
        let own = match path.file_name() {
            Some(name) if name == "mod.rs" || name == "lib.rs" => path.parent().map(Path::to_owned),
            _ => Some(path.with_extension("")),
        };
        let own = own.expect("a module");
        let target = |name: String| {
            let mut module = own.clone();
            let mut file = None;
            for part in name.split("::") {
                match part {
                    "crate" => module = source(),
                    "super" => {
                        module.pop();
                    }
                    _ => module.push(part),
                }
                let alone = module.with_extension("rs");
                if alone.exists() {
                    file = Some(alone);
                } else if module != source() && module.join("mod.rs").exists() {
                    file = Some(module.join("mod.rs"));
                }
            }
            file
        };
        let named = named(&code).into_iter().filter_map(target);
        let others: BTreeSet<PathBuf> = named.filter(|other| *other != path).collect();
        found.insert(path, others);
    }
    found
}

#[test]
fn folders_import_only_those_below() {
    let folder = |path: &Path| {
        let inside = path.strip_prefix(source()).expect("a source");
        let mut parts = inside.components().map(|part| part.as_os_str().to_owned());
        let first = parts.next().expect("a name").into_string().expect("a name");
        parts.next().map(|_| first)
    };
    let floor = |name: &str| FLOORS.iter().position(|floor| floor.contains(&name));
    let mut arrows = 0;
    for (path, others) in imports() {
        let Some(own) = folder(&path) else { continue };
        let own_floor = floor(&own).unwrap_or_else(|| panic!("{own} stands on no floor"));
        for other in others {
            let name = folder(&other).unwrap_or_else(|| panic!("{path:?} names {other:?}"));
            arrows += usize::from(name != own);
            let is_below = name == own || floor(&name).is_some_and(|floor| floor < own_floor);
            assert!(is_below, "{path:?} names {other:?}, which is not below");
        }
    }
    assert!(arrows > 500, "{arrows} are too few to be all");
}

#[test]
fn no_files_import_each_other() {
    let mut left = imports();
    left.retain(|path, _| !path.ends_with("mod.rs") && !path.ends_with("lib.rs"));
    loop {
        // Neither who names nobody that is left nor whom nobody names is in a circle.
        let known: BTreeSet<PathBuf> = left.keys().cloned().collect();
        let named: BTreeSet<PathBuf> = left.values().flatten().cloned().collect();
        left.values_mut()
            .for_each(|others| others.retain(|other| known.contains(other)));
        left.retain(|path, others| !others.is_empty() && named.contains(path));
        if left.len() == known.len() {
            break;
        }
    }
    assert!(left.is_empty(), "these import each other: {left:#?}");
}
