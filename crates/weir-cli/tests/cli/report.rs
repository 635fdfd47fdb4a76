//! `weir report`: a run's report drawn again, and two runs side by side.

use std::fs;

use serde_json::Value;

use crate::support::Place;

const CALL: &str = "run cellular/att-lte-uplink-2016 --controller gcc,nada --runs 3 --duration 10s --quiet";

#[test]
fn a_report_drawn_again_is_the_same_bytes() {
    let place = Place::new();
    for (arguments, out) in [
        (CALL, "call"),
        ("run --duration 5s --runs 2 --controller nada --quiet", "demo"),
        ("run coupling/ledbat-and-tcp --duration 10s --runs 1 --quiet", "coupled"),
        ("run coupling/pause --duration 10s --runs 1 --quiet", "pause"),
    ] {
        place.weir(&format!("{arguments} --out {out}"));
        let page = place.read(&format!("{out}/report.html"));
        fs::remove_file(place.path().join(out).join("report.html")).unwrap();
        let outcome = place.weir(&format!("report {out}"));
        assert_eq!(outcome.last_line(), format!("Report: {out}/report.html"));
        assert!(place.read(&format!("{out}/report.html")) == page, "{out}");
        place.weir(&format!("report {out}/results.json --out there/page.html"));
        assert!(place.read("there/page.html") == page, "{out}");
    }
}

#[test]
fn two_runs_stand_side_by_side_with_what_the_second_has_beyond_the_first() {
    let place = Place::new();
    place.weir(&format!("{CALL} --out a"));
    // One more seed, and the same world.
    place.weir(&format!("{} --out b", CALL.replace("--runs 3", "--runs 4")));
    let outcome = place.weir("report a b");
    assert!(outcome.stdout.contains("over 3 seeds that both have"), "{}", outcome.stdout);
    assert_eq!(outcome.last_line(), "Report: weir-out/report.html");
    let rate = outcome.stdout.lines().find(|line| line.starts_with("gcc")).unwrap_or_default().to_owned();
    assert!(rate.contains("0 ± 0"), "a run is not beyond itself: {}", outcome.stdout);
    let page = place.read("weir-out/report.html");
    assert_eq!(page.matches("second less first").count(), 2, "a difference for each controller");
    assert_eq!(page.matches("<tr class=\"difference\">").count(), 2);
    assert!(page.contains("In colour: a; dashed: b") && page.len() < 1_000_000);
}

#[test]
fn regressions_are_reported_in_words_as_json_and_by_the_exit_code() {
    let place = Place::new();
    let run = "run quality/steady --runs 5 --duration 10s --quiet --set controllers=[\"mine\"]";
    for (controller, out) in [("gcc", "main"), ("gcc-dccc", "branch")] {
        place.weir(&format!("{run} --set variants.mine={{controller=\"{controller}\"}} --out {out}"));
    }
    let outcome = place.try_weir("report main branch --fail-if-worse 5%");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("main → branch. mine: useful rate worse ("), "{}", outcome.stdout);
    assert!(
        outcome.stderr.starts_with("mine: useful rate got worse by more than 5 %: "),
        "{}",
        outcome.stderr
    );
    let json = place.try_weir("report main branch --fail-if-worse 5% --json");
    assert_eq!(json.code, Some(1));
    let told: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&told["seeds"], &told["unpaired"]), (&5.into(), &Value::Null));
    let useful = &told["controllers"][0]["criteria"][0];
    assert_eq!((&useful["criterion"], &useful["verdict"]), (&"useful rate".into(), &"worse".into()));
    assert!(told["differences"][0]["useful rate"]["mean"].as_f64().unwrap() < -100.0, "{told}");
    assert!(!told["worse"].as_array().unwrap().is_empty());
    let same = place.weir("report main main --fail-if-worse 0% --out same.html");
    assert!(same.stdout.contains("mine: no difference."), "{}", same.stdout);
    let alone: Value = serde_json::from_str(&place.weir("report main --json").stdout).unwrap();
    assert_eq!(alone["report"], "main/report.html");

    place.weir(&format!("{run} --set variants.mine={{controller=\"gcc\"}} --seed 4 --out late"));
    let few = place.try_weir("report main late --fail-if-worse 5%");
    assert_eq!((few.code, few.stdout.as_str()), (Some(2), ""));
    let expected =
        "error: --fail-if-worse 5%: these runs cannot be compared: both have only 2 seeds in common; ";
    assert!(few.stderr.starts_with(expected), "{}", few.stderr);
    let wrong = place.try_weir("report main late --fail-if-worse 5");
    assert!(wrong.code == Some(2) && wrong.stderr.contains("such as 5%"), "{wrong:?}");
}

#[test]
fn a_run_of_the_demo_passes_beside_the_same_run_without_its_reference_senders() {
    let place = Place::new();
    let of = "--controller gcc --runs 5 --duration 10s --quiet --out";
    place.weir(&format!("run {of} demo"));
    place.weir(&format!("run cellular/lte-drive {of} plain"));
    let outcome = place.weir("report demo plain --fail-if-worse 5%");
    assert!(outcome.stdout.contains("gcc: no difference."), "{}", outcome.stdout);
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    let sentence =
        "Not compared: freezes beyond fixed of demo and freezes of plain are different quantities.";
    assert!(words.join(" ").contains(sentence), "{}", outcome.stdout);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn a_controller_that_is_missing_or_lacks_a_value_fails_by_name() {
    let place = Place::new();
    let of = "run quality/steady --runs 6 --duration 5s --quiet";
    place.weir(&format!("{of} --controller gcc,nada --out main"));
    place.weir(&format!("{of} --controller gcc --out branch"));
    let outcome = place.try_weir("report main branch --fail-if-worse 5%");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), "nada is not in branch\n"), "{outcome:?}");
    assert!(outcome.stdout.contains("nada is not in branch."), "{}", outcome.stdout);
    let json = place.try_weir("report main branch --fail-if-worse 5% --json");
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        json["missing"][0],
        serde_json::json!({ "controller": "nada", "problem": "is not in branch" })
    );
    assert_eq!(json["worse"], serde_json::json!([]));
    place.weir("report branch main --fail-if-worse 5%");

    let mut table: Value = serde_json::from_str(&place.read("branch/table.json")).unwrap();
    let columns = table["columns"].as_array().unwrap();
    let delay = columns.iter().position(|column| column["label"] == "frame delay p95").unwrap();
    table["rows"][0]["values"][delay][2] = Value::Null;
    place.write("torn/table.json", &table.to_string());
    place.write("torn/scenario.toml", &place.read("branch/scenario.toml"));
    for (pair, run) in [("branch torn", "torn"), ("torn branch", "torn")] {
        let outcome = place.try_weir(&format!("report {pair} --fail-if-worse 5%"));
        let line = format!("gcc has no value of frame delay p95 in {run} for 1 of 6 common seeds\n");
        assert_eq!((outcome.code, outcome.stderr), (Some(1), line));
    }
    place.weir("report torn torn --fail-if-worse 5% --out same.html");
}

#[test]
fn runs_of_different_worlds_are_shown_and_not_paired() {
    let place = Place::new();
    place.weir(&format!("{CALL} --out a"));
    place.weir(&format!("{CALL} --out b --set links.uplink.delay=80ms"));
    let outcome = place.weir("report a b --out page.html");
    assert!(outcome.stdout.contains("was not the same in both"), "{}", outcome.stdout);
    assert!(!place.read("page.html").contains("<tr class=\"difference\">"));
    place.weir("run bench/cbr --duration 1s --quiet --out c");
    let other = place.weir("report a c --out page.html");
    assert!(
        other.stdout.contains("the scenarios are cellular/att-lte-uplink-2016 and bench/cbr"),
        "{}",
        other.stdout
    );
}

#[test]
fn results_alone_give_means_without_curves() {
    let place = Place::new();
    place.weir(&format!("{CALL} --out a"));
    place.write("old/results.json", &place.read("a/results.json"));
    place.weir("report old");
    let page = place.read("old/report.html");
    assert!(page.contains("Numbers are means over runs") && page.contains("useful rate"));
    assert!(!page.contains("class=\"plot\""));
    assert!(place.weir("report a old --out page.html").stdout.contains("values of every run is missing"));
}

#[test]
fn other_folders_than_runs_are_refused_with_the_remedy() {
    let place = Place::new();
    place.write("empty/notes.txt", "");
    place.write("broken/table.json", "{");
    place.write("uneven/table.json", &uneven());
    for (arguments, problem) in [
        ("report missing", "missing: "),
        ("report empty", "empty: has neither table.json nor results.json"),
        ("report empty/notes.txt", "empty/notes.txt: neither a directory nor a results.json"),
        ("report broken", "broken/table.json: EOF while parsing"),
        ("report uneven", "uneven/table.json: the row `gcc` has not a value for each column and seed"),
    ] {
        let before = place.tree("");
        let outcome = place.try_weir(&format!("{arguments} --out page/there.html"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        assert!(outcome.stderr.starts_with(&format!("error: {problem}")), "{}", outcome.stderr);
        let remedy = "name a directory that `weir run --out` wrote, or the results.json in it";
        assert!(outcome.stderr.contains(remedy), "{}", outcome.stderr);
        assert!(before == place.tree(""), "{arguments}");
    }
}

#[test]
fn a_report_is_not_written_over_what_it_is_made_of() {
    let place = Place::new();
    place.weir(&format!("{CALL} --out a"));
    let before = place.tree("");
    for (run, out) in
        [("a", "a/table.json"), ("a/results.json", "a/results.json"), ("a a", "./a/series-gcc.csv")]
    {
        let outcome = place.try_weir(&format!("report {run} --out {out}"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        let said = format!("error: --out {out}: the report of a");
        assert!(outcome.stderr.starts_with(&said), "{}", outcome.stderr);
    }
    assert!(before == place.tree(""));
}

#[test]
fn a_variant_of_a_reference_sender_is_nobodys_best() {
    let place = Place::new();
    let variants =
        "variants.ceiling={controller=\"omniscient\"} --set controllers=[\"ceiling\",\"nada\",\"rap\"]";
    place.weir(&format!(
        "run cellular/att-lte-uplink-2016 --runs 2 --duration 20s --quiet --out a --set {variants}"
    ));
    let page = place.read("a/report.html");
    let table: serde_json::Value = serde_json::from_str(&place.read("a/table.json")).unwrap();
    assert_eq!(
        (&table["rows"][0]["name"], &table["rows"][0]["controller"]),
        (&"ceiling".into(), &"omniscient".into())
    );
    // Written by a version whose rows had no `law` key.
    let without = place.read("a/table.json").replace("\"law\":\"omniscient\",", "");
    place.write("a/table.json", &without);
    place.weir("report a --out again.html");
    assert!(place.read("again.html") == page);
}

#[test]
fn a_series_of_another_run_is_refused() {
    let place = Place::new();
    place.weir(&format!("{CALL} --out a"));
    place.write("a/series-gcc.csv", "time_s,other\n0,1\n");
    let outcome = place.try_weir("report a");
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.starts_with("error: a/series-gcc.csv: there is no column `"),
        "{}",
        outcome.stderr
    );
}

fn uneven() -> String {
    "{\"scenario\":\"s\",\"title\":\"\",\"source\":\"\",\"verdict\":\"\",\"notes\":[],\"seeds\":[1],\"columns\":[],\
     \"rows\":[{\"name\":\"gcc\",\"values\":[[1.0]]}]}"
        .to_owned()
}

#[test]
fn controllers_of_different_names_are_paired_on_request() {
    let place = Place::new();
    let run = "run quality/steady --runs 5 --duration 10s --quiet";
    place.weir(&format!("{run} --controller gcc,nada --out a"));
    place.weir(&format!("{run} --controller gcc{{trendline.window=40}},nada --out b"));
    let series = place.path().join("b/series-gcc-trendline.window-40.csv");
    assert!(series.exists());
    let compared = |pair: &str| {
        let outcome = place.weir(format!("report a b --json {pair}").trim_end());
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let names = json["controllers"].as_array().unwrap().iter().map(|own| own["name"].clone());
        names.map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(compared(""), ["nada"]);
    let both = "gcc → gcc{trendline.window=40}";
    assert_eq!(compared("--pair gcc=gcc{trendline.window=40}"), [both, "nada"]);
    assert!(place.read("weir-out/report.html").contains(both));
    for (pair, told) in [
        ("gcd=nada", "a has no controller `gcd` left to pair; it has gcc, nada"),
        ("gcc=gcc", "b has no controller `gcc` left to pair; it has gcc{trendline.window=40}, nada"),
    ] {
        let refused = place.try_weir(&format!("report a b --pair {pair}"));
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    // Folders of earlier versions have braces in the names of files.
    let page = place.read("weir-out/report.html");
    fs::rename(&series, place.path().join("b/series-gcc{trendline.window=40}.csv")).unwrap();
    for kind in ["decisions", "queuing-delay"] {
        let file = |name: &str| place.path().join(format!("b/{kind}-{name}.csv"));
        fs::rename(file("gcc-trendline.window-40"), file("gcc{trendline.window=40}")).unwrap();
    }
    compared("--pair gcc=gcc{trendline.window=40}");
    assert!(place.read("weir-out/report.html") == page);
}
