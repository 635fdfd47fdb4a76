//! Allowed imports between the modules of the crate: a module imports modules of an earlier layer, and within its own layer only
//! itself. `ARCHITECTURE.md` draws the same layers.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers, the lowest first, with their modules.
const LAYERS: [&[&str]; 6] = [
    &["differences", "paired", "shell"],
    &["runs"],
    &["attack", "judge", "testbed"],
    &["comparison", "detection", "experiments", "pairs"],
    &["output"],
    &["reproduce", "suite", "sweep"],
];

/// Number of the layer of `module`.
fn layer(module: &str) -> usize {
    let layer = LAYERS.iter().position(|modules| modules.contains(&module));
    layer.unwrap_or_else(|| panic!("`{module}` is in no layer"))
}

fn source_files(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            source_files(&entry.unwrap().path(), files);
        }
    } else {
        files.push(path.to_owned());
    }
}

/// The modules that `text` names behind `crate::` or behind as many `super::` as lead there, except in comments.
fn imported(text: &str, depth: usize) -> Vec<&str> {
    let code = || text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let named = |path| str::split(path, |c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
    let absolute = code().flat_map(|line| line.split("crate::").skip(1)).map(named);
    let up = "super::".repeat(depth);
    let relative = code().flat_map(|line| line.split(up.as_str()).skip(1)).map(named);
    // In a module of tests within the file the same `super::` lead only to the file's own module, and names there are no
    // modules of the crate.
    let modules = relative.filter(|name| LAYERS.iter().any(|modules| modules.contains(name)));
    absolute.filter(|module| !module.is_empty()).chain(modules).collect()
}

/// Depth of the module of `file`, which lies in `source`, below the root of the crate.
fn depth(source: &Path, file: &Path) -> usize {
    let below = file.strip_prefix(source).unwrap();
    below.components().count() - usize::from(file.ends_with("mod.rs"))
}

#[test]
fn no_module_imports_one_of_its_own_layer_or_of_a_later_one() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut modules = Vec::new();
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if ["lib", "layers"].contains(&module.as_str()) {
            continue;
        }
        modules.push(module.clone());
        let mut files = Vec::new();
        source_files(&path, &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            // Braces would hide imports from `imported`.
            assert!(
                !text.contains(concat!("use crate", "::{")),
                "{}: one import for each module",
                file.display()
            );
            for other in imported(&text, depth(&source, &file)).into_iter().filter(|other| *other != module) {
                assert!(layer(other) < layer(&module), "{} imports `{other}`", file.display());
            }
        }
    }
    assert_eq!(modules.len(), LAYERS.iter().map(|layer| layer.len()).sum::<usize>(), "{modules:?}");
}

#[test]
fn imports_are_found_and_comments_are_none() {
    let text = "use crate::paired;\n/// See [`x`](crate::suite).\nlet a = crate::results::b() + crate::runs;\n\
        use super::super::experiments::Row;\nuse super::suite;\nuse super::super::Own;";
    assert_eq!(imported(text, 2), ["paired", "results", "runs", "experiments"]);
    let depth = |file: &str| depth(Path::new("src"), &Path::new("src").join(file));
    assert_eq!(["shipped.rs", "runs/mod.rs", "runs/task.rs", "runs/task/tests.rs"].map(depth), [1, 1, 2, 3]);
}
