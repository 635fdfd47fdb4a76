//! The list of differences between `gcc` and libwebrtc is the same in the controller's module and in the
//! documentation.

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The words from `begin` on, up to `end`.
fn words(text: &str, begin: &str, end: &str) -> Vec<String> {
    let from = text.find(begin).unwrap_or_else(|| panic!("no {begin:?}"));
    let list = text[from..].split(end).next().unwrap_or_default();
    list.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_list_of_differences_from_libwebrtc_is_that_of_the_module() {
    let begin = "Differences from libwebrtc follow";
    let module: Vec<String> = read("crates/weir-cc/src/gcc/goog_cc/mod.rs")
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::to_owned)
        .collect();
    let docs = words(&read("docs/engineering/gcc.md"), begin, "\u{0}");
    assert_eq!(words(&module.join("\n"), begin, "\u{0}"), docs);
    assert!(docs.len() > 300, "the list is there");
}
