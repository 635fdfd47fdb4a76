//! Structural rules that no compiler checks: the layers that a crate may depend on, and that no two files import
//! each other.

mod circles;
mod modules;
mod names;
mod public_items;
mod tokens;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use circles::circles;
use modules::Modules;

/// The layers of `ARCHITECTURE.md` from below; crates of one layer do not depend on each other.
const LAYERS: [&[&str]; 11] = [
    &["weir-units"],
    &["weir-net", "weir-wire"],
    &["weir-cc"],
    &["weir-media", "weir-registry"],
    &["weir-world", "weir-form"],
    &["weir-sim", "weir-import", "weir-live"],
    &["weir-measure", "weir-peer"],
    &["weir-scenario", "weir-report", "weir-theory"],
    &["weir-study", "weir-replay"],
    &["weir-cli", "weir-fuzz"],
    &["weir-oracle"],
];

/// The workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of the crates, in order.
fn crates() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/ holds this one");
    let entries =
        fs::read_dir(folder).expect("crates/ can be read").map(|entry| entry.expect("an entry").path());
    let mut crates: Vec<PathBuf> = entries.filter(|path| path.join("Cargo.toml").is_file()).collect();
    crates.sort();
    crates
}

fn name(folder: &Path) -> &str {
    folder.file_name().and_then(|name| name.to_str()).expect("a crate has a name")
}

fn layer(name: &str) -> usize {
    let at = LAYERS.iter().position(|layer| layer.contains(&name));
    at.unwrap_or_else(|| panic!("{name} has no layer: give it one in LAYERS and in ARCHITECTURE.md"))
}

/// The crates of this workspace that a manifest names, except for its tests.
fn seen(manifest: &str) -> Vec<&str> {
    let mut counts = false;
    let mut seen = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            counts = line.ends_with("dependencies]") && !line.contains("dev-");
        } else if counts && line.starts_with("weir-") {
            seen.extend(line.split(['.', ' ', '=']).next());
        }
    }
    seen
}

#[test]
fn a_crate_sees_only_floors_below_its_own() {
    for folder in crates() {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let own = name(&folder);
        for below in seen(&manifest) {
            assert!(layer(below) < layer(own), "{own} depends on {below}, which does not stand below it");
        }
    }
}

#[test]
fn a_manifest_is_read_without_what_tests_alone_need() {
    let manifest = "[dependencies]\nweir-cc.workspace = true\nserde = \"1\"\n[dev-dependencies]\nweir-study.workspace = true\n\
                    [target.'cfg(unix)'.dependencies]\nweir-net = { path = \"..\" }\n";
    assert_eq!(seen(manifest), ["weir-cc", "weir-net"]);
}

fn read(file: &str) -> Option<String> {
    fs::read_to_string(file).ok()
}

/// The library and the programs of the crate in `folder`, each by its modules.
fn targets(folder: &Path) -> Vec<Modules> {
    let programs = fs::read_dir(folder.join("src/bin")).into_iter().flatten();
    let programs = programs.map(|entry| entry.expect("an entry").path().join("main.rs"));
    let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root)).into_iter().chain(programs);
    let roots = roots.filter(|root| root.is_file());
    roots.map(|root| Modules::of(root.to_str().expect("UTF-8"), &read)).collect()
}

/// `file` from `crates/` on.
fn shown(file: &str) -> &str {
    file.rsplit_once("/crates/").map_or(file, |(_, shown)| shown)
}

/// Each cycle of the workspace as its files from `crates/` on.
fn circles_of_the_workspace() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for modules in crates().iter().flat_map(|folder| targets(folder)) {
        let shown = |file: &str| shown(file).to_owned();
        found.extend(circles(&modules).into_iter().map(|circle| circle.into_iter().map(shown).collect()));
    }
    found
}

#[test]
fn no_two_files_import_each_other() {
    let circles = circles_of_the_workspace();
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn a_circle_of_a_made_up_tree_is_found_through_re_exports() {
    let files = BTreeMap::from([
        ("src/lib.rs", "mod a; mod b; mod part; mod apart; pub use a::A; pub use part::Inner;"),
        (
            "src/a.rs",
            "use crate::part::{Inner as I}; pub struct A(I); #[cfg(test)] mod tests { use crate::apart::C; }",
        ),
        ("src/b.rs", "pub fn b() { crate::A; }"),
        ("src/apart.rs", "use super::a::A; pub struct C(A);"),
        ("src/part/mod.rs", "mod inner; mod beside; pub use inner::*; pub struct Own;"),
        ("src/part/inner.rs", "use super::Own; use crate::b::b; pub struct Inner(Own);"),
        ("src/part/beside.rs", "use super::Inner; // use crate::a::A;"),
    ]);
    let modules = Modules::of("src/lib.rs", &|file| files.get(file).map(|&text| text.to_owned()));
    assert_eq!(circles(&modules), [["src/a.rs", "src/b.rs", "src/part/inner.rs"]]);
}
