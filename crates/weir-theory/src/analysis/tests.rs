//! Properties of every analysis.

use super::*;

#[test]
fn every_analysis_runs_as_it_is_and_gives_what_its_schema_describes() {
    for entry in all() {
        let Analysed { parameters, results } =
            entry.analyse(&[], None).unwrap_or_else(|error| panic!("{}: {error}", entry.name()));
        assert!(!entry.summary().is_empty() && !entry.source().is_empty());
        for (value, schema) in [(parameters, entry.parameters()), (results, entry.results())] {
            let value = value.as_object().expect("an object");
            let described = &schema["properties"];
            for key in value.keys() {
                let text = described[key]["description"].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{}: `{key}` is not described", entry.name());
            }
        }
    }
}

#[test]
fn every_preset_runs() {
    for entry in all() {
        for preset in entry.presets() {
            let run = entry.run(&[format!("preset={preset}")], None);
            assert!(run.is_ok(), "{} with {preset}: {}", entry.name(), run.unwrap_err());
        }
    }
}

#[test]
fn names_are_found_and_stand_once() {
    for entry in all() {
        assert_eq!(all().filter(|other| other.name() == entry.name()).count(), 1);
        assert_eq!(find(entry.name()).map(Entry::name), Some(entry.name()));
    }
    assert!(find("dccc").is_none());
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    for entry in all().filter(|entry| entry.has_seed()) {
        assert_eq!(entry.run(&[], Some(3)).unwrap(), entry.run(&[], Some(3)).unwrap(), "{}", entry.name());
    }
}
