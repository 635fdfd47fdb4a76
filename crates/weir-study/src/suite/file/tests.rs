//! Files of suites (`suite::file`).

use super::*;
use crate::suite::quantities;

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

/// The suite in `text`.
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
    let names: Vec<&str> = suite.controllers.iter().map(|controller| controller.name.as_str()).collect();
    assert_eq!(names, ["gcc", "gcc{trendline.window=40}"]);
    let case = suite.case("steady").unwrap();
    let shipped = &super::super::find("rfc8867").unwrap().case("5.4").unwrap().checks;
    assert_eq!(case.checks[0], Check { limit: Limit::AtLeast(70.0), ..shipped[0].clone() });
    assert_eq!(case.checks[1], Check { limit: Limit::AtMost(150.0), ..shipped[1].clone() });
    assert_eq!(case.set.len(), 2);
    assert!(!case.title.is_empty(), "the scenario's");
}

#[test]
fn a_file_can_have_every_check_of_a_shipped_suite() {
    let words = suite_schema()["$defs"]["Quantity"]["oneOf"].as_array().unwrap();
    let words: Vec<Quantity> =
        words.iter().map(|word| serde_json::from_value(word["const"].clone()).unwrap()).collect();
    assert_eq!(words.len(), quantities().len());
    for word in &words {
        assert_eq!(serde_json::to_value(word).unwrap(), word.name());
    }
    let checks = SUITES.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.checks);
    for check in checks {
        let own = check.quantity().unwrap();
        assert!(words.contains(&own) && own.name().starts_with(&*check.name), "{} for {own:?}", check.name);
        assert_eq!((own.unit(), own.higher_is_better()), (&*check.unit, check.limit.higher_is_better()));
    }
}

#[test]
fn a_formula_is_judged_by_either_limit_and_its_mistakes_have_their_place() {
    let with =
        |check: &str| open(&format!("{GOOD}[[cases.checks]]\n{check}\n[formulas]\nfree = \"2 * 3\"\n"));
    let queue = "run:links.bottleneck.queue_ms.p95 - omniscient:links.bottleneck.queue_ms.p95 + free";
    let good = format!("of = \"{queue}\"\nname = \"more queue\"\nunit = \"ms\"\nat_most = 40");
    let suite = with(&good).unwrap();
    let check = &suite.cases[0].checks[2];
    assert_eq!((&*check.name, &*check.unit, check.limit), ("more queue", "ms", Limit::AtMost(40.0)));
    assert_eq!(check.formula(), Some(queue));
    // Beside what the named quantities of the case read.
    let is_of_a_file = |path: &String| !path.starts_with("judged.");
    let paths: Vec<String> = suite.cases[0].paths().into_iter().filter(is_of_a_file).collect();
    assert_eq!(paths, ["links.bottleneck.queue_ms.p95"]);
    for (from, to, place, message, remedy) in [
        ("run:", "gcc:", (14, 6), "no run `gcc`", "omniscient"),
        ("run:links", "run:lnks", (14, 6), "no `lnks`", "links"),
        ("run:links.bottleneck", "run:links.botleneck", (14, 6), "no `botleneck`", "bottleneck"),
        ("run:links", "run:windows.a.links", (14, 6), "in a window", "between"),
        ("+ free", "+ fre", (14, 6), "no function or formula `fre`", "free"),
        ("+ free", "+ $x", (14, 6), "no sweep `x`", "a number"),
        ("+ free", "+ [1]", (14, 6), "several numbers", "mean"),
        ("name = \"more queue\"\n", "", (13, 1), "no name", "add `name`"),
        ("more queue", "rate", (15, 8), "checked twice", "leave one"),
        ("at_most = 40", "at_most = 40\nat_least = 1", (13, 1), "or two of them", "either"),
        ("at_most = 40", "at_most = 0", (17, 11), "no limit", "above 0"),
        ("unit = ", "quantity = \"Jain\"\nunit = ", (14, 1), "belongs to a formula", "leave it out"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = with(&good.replacen(from, to, 1)).expect_err(to);
        assert_eq!(error.position(), Some(place), "{to}: {error}");
        assert!(error.message().contains(message), "{to}: {error}");
        assert!(error.advice().unwrap_or_default().contains(remedy), "{to}: {:?}", error.advice());
    }
}

#[test]
fn an_error_has_its_place_and_a_remedy() {
    let swapped = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        GOOD.replacen(from, to, 1)
    };
    for (from, to, place, message, remedy) in [
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
        ("quantity = \"rate\"", "", (7, 1), "nothing is measured", "`of`"),
        ("at_least = 70", "at_least = 70\nat = \"60s\"", (10, 1), "has no time", "leave it out"),
        ("\"queue wait p95\"", "\"rate\"", (11, 12), "checked twice", "leave one"),
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
        ("\"rate\"", "\"neighbour\"", (8, 12), "needs a TCP flow", "kind = \"tcp\""),
        ("set = [", "preset = \"gamng\"\nset = [", (6, 10), "no controller has a preset", "gaming"),
    ] {
        let text = swapped(from, to);
        let error = open(&text).expect_err(&text);
        assert_eq!(error.position(), Some(place), "{to}: {error}");
        assert!(error.message().contains(message), "{to}: {error}");
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
