//! The inputs that are kept, each through its target; `fuzz/` has a file and a folder for every target.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_fuzz::TARGETS;
use weir_study::comparison::saved::Saved;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The entries of `folder`, in order.
fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = fuzz().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries
}

fn names(folder: &str) -> BTreeSet<String> {
    let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    entries(folder).into_iter().map(stem).collect()
}

#[test]
fn every_target_holds_on_the_inputs_that_are_kept() {
    for target in TARGETS {
        let inputs = entries(&format!("corpus/{}", target.name));
        assert!(!inputs.is_empty(), "fuzz/corpus/{} is empty", target.name);
        for input in inputs {
            // The panic names the failed invariant; this line names the input.
            println!("{}", input.display());
            (target.run)(&fs::read(&input).expect("an input can be read"));
        }
    }
}

/// Kept inputs of the present forms of files have to be read, not refused: a refused input covers little.
#[test]
fn results_and_tables_that_are_kept_have_the_forms_of_today() {
    let kept = |name: &str| {
        let path = fuzz().join("corpus").join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    Saved::from_results(&kept("results/results.json")).expect("results of today");
    assert!(
        Saved::from_results(&kept("results/results-with-time-per-cause.json")).is_err(),
        "an earlier form"
    );
    serde_json::from_str::<Saved>(&kept("results/table.json")).expect("a table of today");
}

#[test]
fn every_target_has_a_file_and_a_folder_and_no_other_is_there() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(targets.len(), TARGETS.len(), "two targets have one name");
    assert_eq!(names("fuzz_targets"), targets);
    assert_eq!(names("corpus"), targets);
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).expect("a manifest");
    for name in &targets {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "fuzz/Cargo.toml lacks {name}");
        let file = fuzz().join(format!("fuzz_targets/{name}.rs"));
        let text = fs::read_to_string(&file).expect("a target's file");
        assert!(text.contains(&format!("weir_fuzz::run(\"{name}\"")), "{} runs another", file.display());
    }
}

#[test]
fn the_inputs_that_are_kept_are_few() {
    let sizes = TARGETS.iter().flat_map(|target| entries(&format!("corpus/{}", target.name)));
    let size: u64 = sizes.map(|input| fs::metadata(input).expect("a size").len()).sum();
    assert!(size <= 300_000, "{size} bytes of corpus");
}

/// Random calls of an endpoint, some hundred an input: 20 inputs, or a million calls with `WEIR_LONG`.
#[test]
fn an_endpoint_holds_under_random_calls() {
    let inputs = if std::env::var_os("WEIR_LONG").is_some() { 4200 } else { 20 };
    let mut rng = Pcg64Mcg::seed_from_u64(37);
    for input in 0..inputs {
        let bytes: Vec<u8> = (0..3000).map(|_| rng.random()).collect();
        println!("input {input}");
        weir_fuzz::run("embedding", &bytes);
    }
}
