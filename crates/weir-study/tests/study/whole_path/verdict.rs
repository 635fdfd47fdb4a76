//! The verdict on a property: the controllers that have it, and the documented exceptions.

use std::collections::BTreeMap;

use super::long;

/// The result of a controller for a property.
pub(super) struct Finding {
    pub(super) controller: &'static str,
    pub(super) figures: String,
    pub(super) holds: bool,
}

/// Controllers by property.
type Lists = [(&'static str, &'static [&'static str])];

/// Exceptions that only the long form shows.
const ONLY_LONG: &Lists = &[
    ("short round trips, trace-driven", &["gcc-send-side"]),
    ("short round trips, simulcast, two streams", &["ledbat"]),
    ("short round trips, simulcast, three streams", &["scream-v2", "ledbat", "rap"]),
];

/// Exceptions that only the short form shows.
const ONLY_SHORT: &Lists = &[("clock skew of 50 ppm", &["scream"])];

/// Controllers that cannot have a property by their own definition, by property, as listed in `docs/controllers.md`, which has
/// the text of their lines in `CONTROLLERS`.
fn exceptions() -> BTreeMap<String, Vec<String>> {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/controllers.md");
    let docs = std::fs::read_to_string(docs).expect("it can be read");
    let (_, table) = docs.split_once("| cannot have | controller |").expect("a table");
    let mut controllers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let names = || cells[2].split(", ").map(|name| name.trim_matches('`').to_owned());
        // Of several properties in a row the later ones share the begin of the first.
        let begin = cells[1].split_once(", ").map_or("", |(begin, _)| begin);
        for (index, property) in cells[1].split("; ").enumerate() {
            let whole = if index == 0 { property.to_owned() } else { format!("{begin}, {property}") };
            controllers.entry(whole).or_default().extend(names());
        }
    }
    controllers
}

fn listed(lists: &Lists, property: &str, controller: &str) -> bool {
    lists.iter().any(|(listed, controllers)| *listed == property && controllers.contains(&controller))
}

pub(super) fn assert_as_said(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Prints the finding of each controller. Returns controllers that lack the property without being exceptions, or have it in
/// spite of being exceptions.
pub(super) fn judge(property: &str, findings: Vec<Finding>) -> Vec<String> {
    let exceptions = exceptions().remove(property).unwrap_or_default();
    let mut wrong = Vec::new();
    for Finding { controller, figures, holds } in findings {
        let cannot = exceptions.iter().any(|name| name == controller);
        let shown = !listed(if long() { ONLY_SHORT } else { ONLY_LONG }, property, controller);
        let word = match (holds, cannot) {
            (true, _) => "holds",
            (false, true) => "cannot",
            (false, false) => "FAILS",
        };
        println!("{property}: {controller}: {word}: {figures}");
        match (holds, cannot) {
            (false, false) => wrong.push(format!("{property}: {controller}: {figures}")),
            (true, true) if shown => {
                wrong.push(format!("{property}: {controller} is listed and holds: {figures}"));
            }
            _ => {}
        }
    }
    wrong
}
