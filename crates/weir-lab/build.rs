//! Tells the crate what it was built from, so that results that were kept are not taken for those of other sources.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// What results depend on, as seen from this crate: sources of the workspace and versions of libraries. Of what is not there, as in
/// a package from a registry, the version of this crate speaks.
const BESIDES: [&str; 8] = [
    "weir-cc",
    "weir-measure",
    "weir-media",
    "weir-net",
    "weir-sim",
    "weir-units",
    "weir-wire",
    "weir-world",
];

fn main() -> io::Result<()> {
    let crates = Path::new("..");
    let mut files = Vec::new();
    for folder in BESIDES.map(|name| crates.join(name).join("src")).into_iter().chain([PathBuf::from("src")])
    {
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            collect(&folder, &mut files)?;
        }
    }
    let lock = crates.join("../Cargo.lock");
    if lock.is_file() {
        println!("cargo::rerun-if-changed={}", lock.display());
        files.push(lock);
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        fs::read(&file)?.hash(&mut hasher);
    }
    println!("cargo::rustc-env=WEIR_SOURCES={:016x}", hasher.finish());
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // What a test says changes no result.
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
