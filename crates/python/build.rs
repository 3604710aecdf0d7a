//! Passes the crate a hash of the engine's sources, so that results of another engine are not taken
//! for its own.

use std::fs;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    // FNV-1a over relative paths and contents.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file);
        let name = name.to_string_lossy().replace('\\', "/");
        for byte in name.into_bytes().into_iter().chain(fs::read(file)?) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo:rustc-env=CELLYARD_ENGINE_SOURCES={hash:016x}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
