//! Names of types: a grep for a name of one word finds one type.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Modules;
use super::{crates, shown, targets};

/// Names that several types may have. The module around each of them says of what it is the configuration, state, part
/// or result; so do RFCs with packet, flow, link, path and network.
const SHARED: [&str; 18] = [
    "Case",
    "Config",
    "Entry",
    "Event",
    "Flow",
    "Kind",
    "Link",
    "Network",
    "Packet",
    "Parameters",
    "Path",
    "Phase",
    "Results",
    "Row",
    "Rule",
    "Sender",
    "State",
    "Stream",
];

/// Whether `name` is a capital letter with small letters and digits behind it.
fn is_one_word(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(char::is_uppercase)
        && name.len() > 1
        && letters.all(|c| c.is_lowercase() || c.is_ascii_digit())
}

/// The files that define a type of each name of one word.
fn places(targets: &[Modules]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for module in targets.iter().flat_map(|modules| modules.0.values()) {
        for name in module.types().filter(|name| is_one_word(name)) {
            places.entry(name).or_default().insert(&module.file);
        }
    }
    places
}

#[test]
fn a_type_name_of_one_word_names_one_type() {
    let targets: Vec<Modules> = crates().iter().flat_map(|folder| targets(folder)).collect();
    let mut repeated = places(&targets);
    repeated.retain(|_, files| files.len() > 1);
    let unused: Vec<_> = SHARED.iter().filter(|name| !repeated.contains_key(*name)).collect();
    assert!(unused.is_empty(), "names of SHARED that at most one type has: {unused:?}");
    repeated.retain(|name, _| !SHARED.contains(name));
    let lines = repeated.iter().map(|(name, files)| {
        let files: Vec<&str> = files.iter().map(|file| shown(file)).collect();
        format!("{name}: {}", files.join(", "))
    });
    assert!(
        repeated.is_empty(),
        "several types have the same name of one word:\n{}\nThe more local type gets a longer name, a noun phrase that \
         says of what it is, such as `ActiveSpan` for `Span`.",
        lines.collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn places_of_types_are_found_without_tests_and_associated_types() {
    let read = |file: &str| {
        let text = match file {
            "a.rs" => "mod b; struct Span; type TwoWords = u8; enum A {} impl C for Span { type Item = u8; }",
            "b.rs" => "trait Span {} union Rtt2 {} type Item = u8; #[cfg(test)] mod tests { struct Rtt2; }",
            _ => return None,
        };
        Some(text.to_owned())
    };
    let targets = [Modules::of("a.rs", &|file| read(file.trim_start_matches('/')))];
    let expected = [("Item", vec!["/b.rs"]), ("Rtt2", vec!["/b.rs"]), ("Span", vec!["/b.rs", "a.rs"])];
    let found = places(&targets);
    let found: Vec<(&str, Vec<&str>)> =
        found.into_iter().map(|(name, files)| (name, files.into_iter().collect())).collect();
    assert_eq!(found, expected);
}
