//! Files that import each other.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{Modules, Path};

type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The cycles of files, each in order of names. A module and those within it may depend on each other.
pub(super) fn circles(modules: &Modules) -> Vec<Vec<&str>> {
    let arrows = arrows(modules);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut circles = Vec::new();
    for &file in arrows.keys() {
        if !seen.contains(file) {
            let forth = reachable(&arrows, file);
            let circle: Vec<&str> =
                forth.into_iter().filter(|other| reachable(&arrows, other).contains(file)).collect();
            seen.extend(&circle);
            circles.push(circle);
        }
    }
    circles.retain(|circle| circle.len() > 1);
    circles
}

/// From each file to the files that it imports.
fn arrows(modules: &Modules) -> Arrows<'_> {
    let mut arrows = Arrows::new();
    for (path, module) in &modules.0 {
        let from = arrows.entry(module.file.as_str()).or_default();
        let imported = module.paths.iter().filter_map(|named| modules.definition(path, named));
        from.extend(imported.filter(|file| *file != module.file && !is_above(modules, file, path)));
    }
    arrows
}

/// Whether `file` is that of a module that contains `path`.
fn is_above(modules: &Modules, file: &str, path: &Path) -> bool {
    (0..path.len()).any(|length| modules.0[&path[..length]].file == file)
}

/// The files that can be reached from `from`.
fn reachable<'a>(arrows: &Arrows<'a>, from: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        open.extend(arrows.get(file).into_iter().flatten().filter(|&&next| found.insert(next)));
    }
    found
}
