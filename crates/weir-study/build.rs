//! Records the origin of the build: a hash of the crate's sources and, if known, the commit. The hash keeps stored results of
//! other sources apart; results are labelled with the commit.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files that results depend on, as seen from this crate: sources of the workspace and versions of libraries. The crate's
/// version stands for missing ones, as in a package from a registry.
const BESIDES: [&str; 13] = [
    "weir-cc",
    "weir-form",
    "weir-import",
    "weir-measure",
    "weir-media",
    "weir-net",
    "weir-registry",
    "weir-scenario",
    "weir-sim",
    "weir-theory",
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
    // The rows are part of the command, though no kept run depends on their texts.
    println!("cargo::rerun-if-changed=experiments");
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
    // A build from sources without a repository can name the commit.
    println!("cargo::rerun-if-env-changed=WEIR_COMMIT");
    let given = env::var("WEIR_COMMIT").ok().filter(|commit| !commit.is_empty());
    if let Some(commit) = given.or_else(commit_of_the_package).or_else(commit) {
        println!("cargo::rustc-env=WEIR_COMMIT={commit}");
    }
    Ok(())
}

/// The commit that cargo wrote into a package.
fn commit_of_the_package() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let behind = text.split_once("\"sha1\": \"")?.1;
    let commit = behind.split('"').next()?;
    let is_one = !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then(|| if text.contains("\"dirty\": true") { format!("{commit}+") } else { commit.to_owned() })
}

/// The commit of the clone that contains this crate. A `+` behind it marks a source, a row or a scenario that differs from that
/// commit. The result is `None` without git, and where the crate lies in a repository that is not Weir's.
fn commit() -> Option<String> {
    if git(&["rev-parse", "--show-prefix"])? != "crates/weir-study/" {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&[
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        "..",
        "../../experiments",
        "../../scenarios",
    ])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}+") })
}

/// The output of git, or `None` where it fails.
fn git(arguments: &[&str]) -> Option<String> {
    // Reading takes no lock from other git processes.
    let git = Command::new("git").env("GIT_OPTIONAL_LOCKS", "0").args(arguments).output();
    let output = git.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Tests change no result.
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
