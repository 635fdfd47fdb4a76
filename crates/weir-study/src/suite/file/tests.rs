use super::*;

/// Every line is tested at its number: do not reflow.
const GOOD: &str = r#"title = "My calls"
controllers = ["gcc", "gcc{trendline.window=40}"]
[[cases]]
name = "steady"
scenario = "rfc8867/three-flows"
set = ["duration=60s", "flows.video-1.priority=2"]
[[cases.checks]]
quantity = "rate"
at_least = 70
[[cases.checks]]
quantity = "queue wait p95"
at_most = 150
"#;

fn open(text: &str) -> Result<Suite, ScenarioError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, text).unwrap();
    Suite::open(&Registry::standard(), &path)
}

#[test]
fn a_file_becomes_the_type_that_ships() {
    let suite = open(GOOD).unwrap();
    assert_eq!((suite.name.as_str(), suite.title.as_str()), ("mine", "My calls"));
    let names: Vec<&str> = suite.controllers.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["gcc", "gcc{trendline.window=40}"]);
    let case = suite.case("steady").unwrap();
    let shipped = &super::super::find("rfc8867").unwrap().case("5.4").unwrap().checks;
    assert_eq!(case.checks[0], Check { limit: Limit::AtLeast(70.0), ..shipped[0] });
    assert_eq!(case.checks[1], Check { limit: Limit::AtMost(150.0), ..shipped[1] });
    assert_eq!(case.set.len(), 2);
    assert!(!case.title.is_empty(), "the scenario's");
}

#[test]
fn whatever_a_shipped_suite_asks_a_file_can_ask() {
    let words = &suite_schema()["$defs"]["Measured"]["oneOf"];
    let words: Vec<Measured> = words
        .as_array()
        .unwrap()
        .iter()
        .map(|word| serde_json::from_value(word["const"].clone()).unwrap())
        .collect();
    for word in &words {
        let name = serde_json::to_value(word).unwrap();
        assert_eq!(name, word.meaning(0).name);
    }
    let checks = SUITES.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.checks);
    for check in checks {
        let at = if let Quantity::Reconvergence { at } = check.quantity { at } else { 0 };
        let own = words.iter().map(|word| word.meaning(at)).find(|own| own.quantity == check.quantity);
        let own = own.unwrap_or_else(|| panic!("{}", check.name));
        assert!(own.name.starts_with(check.name), "{} for {}", own.name, check.name);
        assert_eq!((own.unit, own.higher_is_better), (check.unit, check.limit.higher_is_better()));
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_a_remedy() {
    let swapped = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        GOOD.replacen(from, to, 1)
    };
    for (from, to, place, told, remedy) in [
        ("title = \"My calls\"", "titel = \"a\"", (1, 1), "not a key", "title"),
        ("\"gcc\", ", "\"gc\", ", (2, 16), "no controller `gc`", "gcc"),
        ("window=40", "windw=40", (2, 23), "windw", "window"),
        ("window=40}", "window=40", (2, 23), "stays open", ""),
        ("\"steady\"", "\"a,b\"", (4, 8), "cannot be named", "without commas"),
        ("three-flows", "three-flws", (5, 12), "no scenario ships as `rfc8867/three-flws`", "three-flows"),
        ("priority=2", "priorty=2", (6, 24), "priorty", "priority"),
        ("\"rate\"", "\"rte\"", (8, 12), "cannot be \"rte\"", "rate"),
        ("at_least = 70", "at_least = 0", (9, 12), "0 is no limit", "above 0"),
        ("at_least = 70", "at_most = 70", (9, 1), "the higher it is", "at_least"),
        ("at_least = 70", "", (7, 1), "has no limit", "at_least"),
        ("at_least = 70", "at_least = 70\nat = \"60s\"", (10, 1), "has no time", "leave it out"),
        ("\"queue wait p95\"", "\"rate\"", (11, 12), "asked twice", "leave one"),
        ("\"queue wait p95\"", "\"re-convergence\"", (10, 1), "counts from a time", "\"60s\""),
        (
            "\"queue wait p95\"",
            "\"re-convergence\"\nat = \"60s\"",
            (12, 6),
            "at 1min the run is over: it lasts 1min",
            "before its end",
        ),
        (
            "\"queue wait p95\"",
            "\"re-convergence\"\nat = \"30s\"",
            (12, 6),
            "within 1 s of 30s nothing changes",
            "something does: 0s, 20s, 40s",
        ),
        ("\"rate\"", "\"neighbour\"", (8, 12), "asks for a TCP flow", "kind = \"tcp\""),
        ("set = [", "preset = \"gamng\"\nset = [", (6, 10), "no controller has a preset", "gaming"),
    ] {
        let text = swapped(from, to);
        let error = open(&text).expect_err(&text);
        assert_eq!(error.position(), Some(place), "{to}: {error}");
        assert!(error.message().contains(told), "{to}: {error}");
        assert!(error.advice().unwrap_or_default().contains(remedy), "{to}: {:?}", error.advice());
    }
}

#[test]
fn a_file_has_cases_and_a_name_of_its_own() {
    let none = open("title = \"a\"\ncases = []\n").unwrap_err();
    assert_eq!(none.message(), "there is no case");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gaming.toml");
    std::fs::write(&path, GOOD).unwrap();
    let error = Suite::open(&Registry::standard(), &path).unwrap_err();
    assert!(error.message().contains("ships with weir") && error.advice().unwrap().contains("another name"));
    let missing = Suite::open(&Registry::standard(), &folder.path().join("no.toml")).unwrap_err();
    assert!(missing.message().contains("cannot be read"), "{missing}");
}
