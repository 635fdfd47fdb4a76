//! Properties that controllers cannot have by their own definition, as the documentation lists them.

use super::CONTROLLERS;
use super::controllers::Exception;

const HEAD: &str = "| cannot have | controller | because |\n| --- | --- | --- |\n";

/// The rows below [`HEAD`], one for all controllers with the same reason, and one for all encoders of short round trips.
fn table() -> String {
    let mut rows: Vec<(&Exception, Vec<String>)> = Vec::new();
    for line in CONTROLLERS {
        // As the registry names controllers whose observer is at the sender.
        let name = format!("`{}`", line.controller.name.replace(" at the ", "-at-"));
        for exception in line.cannot {
            match rows.iter_mut().find(|(other, _)| *other == exception) {
                Some((_, controllers)) => controllers.push(name.clone()),
                None => rows.push((exception, vec![name.clone()])),
            }
        }
    }
    rows.sort_by_key(|((property, _), _)| *property);
    // Names of properties with the same controllers and reason; those of one family have its name once.
    let mut merged: Vec<(String, &str, String)> = Vec::new();
    for ((property, why), controllers) in rows {
        let (family, controllers) = (property.split(", ").next().unwrap_or_default(), controllers.join(", "));
        let alike = merged
            .iter_mut()
            .find(|(name, other, of)| name.starts_with(family) && *other == *why && *of == controllers);
        match alike {
            Some((name, ..)) => {
                let own = property.strip_prefix(family).unwrap_or_default().trim_start_matches(", ");
                *name = format!("{name}; {own}");
            }
            None => merged.push(((*property).to_owned(), why, controllers)),
        }
    }
    let row = |(property, why, controllers): &(String, &str, String)| {
        format!("| {property} | {controllers} | {why} |\n")
    };
    merged.iter().map(row).collect()
}

#[test]
fn the_documentation_names_what_a_controller_cannot_as_its_line_does() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/controllers.md");
    let docs = std::fs::read_to_string(docs).expect("it can be read");
    let (_, rest) = docs.split_once(HEAD).expect("the table");
    let printed: String = rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).collect();
    let table = table();
    assert!(printed == table, "docs/controllers.md should have\n{HEAD}{table}");
}
