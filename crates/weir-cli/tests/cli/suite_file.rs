//! Suites of one's own: `weir suite my-suite.toml`.

use serde_json::Value;

use crate::support::{GOOD, Outcome, Place};

/// Every line is tested at its number: do not reflow.
pub(crate) const CALLS: &str = r#"title = "My calls"
controllers = ["gcc-2016", "gcc{trendline.window=40}"]
[[cases]]
name = "narrow"
title = "A call on 1 Mbit/s"
scenario = "scenarios/call.toml"
set = ["duration=30s"]
[[cases.checks]]
quantity = "loss"
at_most = 50
[[cases.checks]]
quantity = "rate"
at_least = 1
[[cases]]
name = "too much"
scenario = "scenarios/call.toml"
set = ["duration=30s", "links.forward.rate=2Mbps"]
[[cases.checks]]
quantity = "frame delay p99"
at_most = 1
"#;

/// A place with the suite and its scenario; the suite is called `mine/calls.toml`.
pub(crate) fn place() -> Place {
    let place = Place::new();
    place.write("mine/calls.toml", CALLS);
    place.write("mine/scenarios/call.toml", GOOD);
    place
}

#[test]
fn a_file_is_judged_as_a_suite_that_ships() {
    let place = place();
    let outcome = place.weir("suite mine/calls.toml --runs 1 --quiet --save base.json");
    let row = |name: &str| outcome.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert_eq!(row("narrow ").matches('✓').count(), 2, "{}", outcome.stdout);
    assert_eq!(row("too much ").matches('✗').count(), 2, "{}", outcome.stdout);
    assert!(outcome.stdout.starts_with("My calls\n"), "{}", outcome.stdout);
    let result: Value = serde_json::from_str(&place.read("weir-out/suite-calls/suite.json")).unwrap();
    assert_eq!([&result["suite"], &result["cases"][1]["title"]], ["calls", "A call"]);
    let same = place.weir("suite mine/calls.toml --runs 1 --quiet --json --baseline base.json");
    assert_eq!(same.stdout, place.read("base.json"));
    assert!(same.stderr.contains("Of 6 checks 0 got better and 0 got worse."), "{}", same.stderr);
    let other = place.weir("suite mine/calls.toml --runs 1 --quiet --json --controller nada --case narrow");
    let result: Value = serde_json::from_str(&other.stdout).unwrap();
    assert_eq!(result["cases"].as_array().map(Vec::len), Some(1));
    assert_eq!(result["cases"][0]["controllers"][0]["name"], "nada");
}

#[test]
fn mistakes_of_a_file_are_reported_at_their_place_and_nothing_runs() {
    let place = place();
    for (right, wrong, said) in [
        ("title = \"My calls\"", "title = 3", ["calls.toml:1:9", "write text"]),
        ("quantity = \"loss\"", "quantity = \"lost\"", ["calls.toml:9:12", "did you mean `loss`?"]),
        ("at_most = 50", "atmost = 50", ["calls.toml:10:1", "did you mean `at_most`?"]),
        ("at_most = 50", "at_most = -1", ["calls.toml:10:11", "a number above 0"]),
        ("duration=30s\"]", "duratio=30s\"]", ["calls.toml:7:8", "duration"]),
        (
            "scenarios/call.toml",
            "scenarios/cal.toml",
            ["calls.toml:6:12", "there is no file mine/scenarios/cal.toml"],
        ),
        ("\"gcc-2016\",", "\"gcc-2061\",", ["calls.toml:2:16", "did you mean `gcc-2016`?"]),
        ("window=40", "windw=40", ["calls.toml:2:28", "did you mean `window`?"]),
        ("\"too much\"", "\"narrow\"", ["calls.toml:15:8", "a name of its own"]),
        ("[[cases]]", "[[cases", ["calls.toml:3:", ""]),
    ] {
        assert!(CALLS.contains(right), "{right}");
        place.write("mine/calls.toml", &CALLS.replacen(right, wrong, 1));
        let before = place.tree("");
        let outcome = place.try_weir("suite mine/calls.toml --quiet --save base.json");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{wrong}: {}", outcome.stderr);
        for part in said {
            assert!(outcome.stderr.contains(part), "{wrong}: `{part}` is not said: {}", outcome.stderr);
        }
        assert_eq!(place.tree(""), before, "{wrong} wrote something");
    }
}

#[test]
fn mistakes_of_its_scenario_are_reported_there() {
    let place = place();
    place.write("mine/scenarios/call.toml", &GOOD.replace("\"1Mbps\"\nqueue", "\"1Mbs\"\nqueue"));
    let outcome = place.try_weir("suite mine/calls.toml --quiet");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("mine/scenarios/call.toml:7:8: "), "{}", outcome.stderr);
    for (name, said) in [
        (
            "rfc8876",
            "no suite ships under this name; write rfc8867, rfc8869, gaming, sharing, quality, drawn, or a file that ends in `.toml`",
        ),
        ("missing.toml", "missing.toml: the suite cannot be read"),
    ] {
        let outcome = place.try_weir(&format!("suite {name} --quiet"));
        assert_eq!(outcome.code, Some(2), "{name}");
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
}

#[test]
fn the_schema_of_suites_is_printed() {
    let printed = Place::new().weir("schema study").stdout;
    for alias in ["suite", "row"] {
        assert_eq!(Place::new().weir(&format!("schema {alias}")).stdout, printed, "{alias}");
    }
    let schema: Value = serde_json::from_str(&printed).unwrap();
    let forms = ["SuiteFile", "Row"].map(|form| serde_json::json!({ "$ref": format!("#/$defs/{form}") }));
    assert_eq!(schema["oneOf"], serde_json::json!(forms));
    for (form, key) in [("SuiteFile", "cases"), ("Row", "claims")] {
        let required = schema["$defs"][form]["required"].as_array().unwrap();
        assert!(required.contains(&key.into()), "{form} differs from the other by `{key}`");
    }
}

#[test]
fn the_example_of_the_document_is_right() {
    let document = std::fs::read_to_string(crate::support::data().join("../docs/suites.md")).unwrap();
    let (_, section) = document.split_once("## A suite of your own").unwrap();
    let example = section.split("```toml\n").nth(1).and_then(|text| text.split("```").next()).unwrap();
    let place = Place::new();
    place.write("meetings.toml", example);
    place.write("lift.toml", GOOD);
    let outcome = place.weir("suite meetings.toml --runs 1 --case lift --quiet");
    assert!(outcome.stdout.lines().any(|line| line.starts_with("lift ")), "{}", outcome.stdout);
}

#[test]
fn the_formulas_of_the_document_are_judged_shown_and_saved() {
    let document = std::fs::read_to_string(crate::support::data().join("../docs/suites.md")).unwrap();
    let (_, section) = document.split_once("### A formula as a check").unwrap();
    let example = section.split("```toml\n").nth(1).and_then(|text| text.split("```").next()).unwrap();
    let place = Place::new();
    place.write("queue.toml", example);
    let run = "suite queue.toml --controller nada --runs 1 --quiet";
    let outcome = place.weir(&format!("{run} --save base.json"));
    assert!(outcome.stdout.lines().any(|line| line.starts_with("steady ")), "{}", outcome.stdout);
    let page = place.read("weir-out/suite-queue/suite.html");
    let saved: Value = serde_json::from_str(&place.read("base.json")).unwrap();
    let checks = saved["cases"][0]["controllers"][0]["checks"].as_array().unwrap();
    for (check, name) in checks.iter().zip(["queue beyond omniscient", "steadiness"]) {
        assert!(check["name"] == name && page.contains(name), "{check}");
        assert!(check["mean"].is_number() && check["of"].as_str().unwrap().contains("run:"), "{check}");
        assert!(["passed", "missed"].contains(&check["verdict"].as_str().unwrap()), "{check}");
    }
    let reference = &saved["cases"][0]["omniscient"]["checks"];
    assert_eq!(reference[0]["mean"], 0.0, "the omniscient sender against itself");
    assert_ne!(reference[1]["mean"], checks[1]["mean"]);
    let same = place.weir(&format!("{run} --json --baseline base.json"));
    assert_eq!(same.stdout, place.read("base.json"));
    place.write("queue.toml", &example.replace("1 - variation", "2 - variation"));
    let other = place.try_weir(&format!("{run} --json --baseline base.json"));
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("the formula of another suite"), "{}", other.stderr);
    place.write("queue.toml", &example.replace("omniscient:", "gcc:"));
    let wrong = place.try_weir(run);
    assert_eq!(wrong.code, Some(2));
    for part in ["queue.toml:9:6", "there is no run `gcc`", "`run` and `omniscient`"] {
        assert!(wrong.stderr.contains(part), "`{part}` is not said: {}", wrong.stderr);
    }
}

#[test]
fn re_convergence_is_asked_at_a_time_at_which_something_changes_also_in_a_sweep() {
    let place = Place::new();
    place.write("lift.toml", GOOD);
    let timed = |at: &str| {
        let check = format!("[[cases.checks]]\nquantity = \"re-convergence\"\nat_most = 15\nat = \"{at}\"\n");
        let case = "title = \"Lift\"\n[[cases]]\nname = \"lift\"\nscenario = \"lift.toml\"\nset = [\"duration=30s\"]\n";
        place.write("meetings.toml", &format!("{case}{check}"));
    };
    let refused = |arguments: &str, said: &[&str]| {
        let before = place.tree("");
        let outcome = place.try_weir(&format!("suite {arguments} --quiet --controller nada --runs 1"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments}: {}", outcome.stderr);
        for part in said {
            assert!(outcome.stderr.contains(part), "{arguments}: `{part}` is not said: {}", outcome.stderr);
        }
        assert_eq!(place.tree(""), before, "{arguments} wrote something");
    };
    timed("13s");
    let said = ["meetings.toml:9:6", "within 1 s of 13s nothing changes", "something does: 1s"];
    refused("meetings.toml", &said);
    let over =
        "--sweep duration=119s,50s in case 5.8: `re-convergence`: at 1min the run is over: it lasts 50s";
    refused("rfc8867 --case 5.8 --sweep duration=119s,50s", &[&over.replace("119s,", "")]);
    // A piece of 4 s is too short to recover in.
    refused("rfc8867 --case 5.8 --sweep duration=64s", &["within 1 s of 1min nothing changes"]);
    timed("1s");
    place.weir("suite meetings.toml --quiet --controller nada --runs 1");
}

#[cfg(unix)]
#[test]
fn the_command_that_repeats_a_cell_runs_in_a_shell() {
    let place = place();
    std::fs::create_dir(place.path().join("my traces")).unwrap();
    place.write("mine/our calls.toml", &CALLS.replace("\"narrow\"", "\"one's 1 $call\""));
    let controller = "gcc-2016{rate_window='700ms'}";
    let file = "mine/our calls.toml";
    let call = [
        "suite",
        file,
        "--data",
        "my traces",
        "--allow-stand-ins",
        "--case",
        "one's 1 $call",
        "--sweep",
        "links.forward.rate=1Mbps",
        "--controller",
        controller,
        "--runs",
        "1",
        "--seed",
        "3",
        "--quiet",
    ];
    let outcome = place.call(&call);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let result = "weir-out/suite-our calls-sweep/suite.json";
    let first = place.read(result);
    let page = place.read("weir-out/suite-our calls-sweep/suite.html");
    let line = page.split("<code>").nth(1).and_then(|rest| rest.split("</code>").next()).unwrap();
    let line = line.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    for part in ["--data 'my traces'", "--allow-stand-ins", "--seed 3", "'mine/our calls.toml'"] {
        assert!(line.contains(part), "`{part}` is not in {line}");
    }
    std::fs::remove_dir_all(place.path().join("weir-out")).unwrap();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_weir")).parent().unwrap().display().to_string();
    let paths = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = std::process::Command::new("sh");
    let again = Outcome::of(
        shell.args(["-c", &line]).current_dir(place.path()).env("PATH", paths).env("TERM", "dumb"),
    );
    assert_eq!(again.code, Some(0), "{line}: {}", again.stderr);
    assert_eq!(place.read(result), first, "{line}");
}

#[test]
fn variants_of_a_cases_scenario_are_judged_by_name() {
    let place = place();
    let wide = "[variants.wide]\ncontroller = \"gcc\"\noptions = { trendline.window = 40 }\n";
    place.write("mine/scenarios/call.toml", &format!("{GOOD}{wide}"));
    let run = "suite mine/calls.toml --runs 2 --quiet";
    place.weir(&format!("{run} --controller gcc,wide --case narrow --save wide.json"));
    let result: Value = serde_json::from_str(&place.read("wide.json")).unwrap();
    let own = &result["cases"][0]["controllers"][1];
    assert_eq!([&own["name"], &own["controller"]], ["wide", "gcc"]);
    let in_braces =
        place.weir(&format!("{run} --controller gcc,gcc{{trendline.window=40}} --case narrow --json")).stdout;
    let in_braces: Value = serde_json::from_str(&in_braces).unwrap();
    assert_eq!(
        own["checks"], in_braces["cases"][0]["controllers"][1]["checks"],
        "with what it is beyond gcc"
    );
    assert!(own["checks"][0]["less"]["gcc"].is_object(), "{own}");
    // Files may name them as well; if only some of the scenarios have it, this is an error.
    place.write("mine/calls.toml", &CALLS.replace("\"gcc-2016\",", "\"wide\","));
    assert!(place.weir(run).stdout.contains("wide"));
    place.write("mine/other.toml", GOOD);
    let some = CALLS.replacen(
        "\"too much\"\nscenario = \"scenarios/call.toml\"",
        "\"too much\"\nscenario = \"other.toml\"",
        1,
    );
    place.write("mine/calls.toml", &some);
    let mixed = place.try_weir(&format!("{run} --controller wide"));
    assert_eq!(mixed.code, Some(2), "{}", mixed.stdout);
    let said = "--controller wide: the scenario of case narrow has a variant of this name, that of too much has none";
    assert!(mixed.stderr.contains(said), "{}", mixed.stderr);
    place.weir(&format!("{run} --controller wide --case narrow"));
    let unknown = place.try_weir(&format!("{run} --controller wid"));
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("--controller wid"), "{}", unknown.stderr);
}

#[test]
fn cases_are_drawn_by_a_seed_or_by_files_and_printed() {
    let place = Place::new();
    let printed = place.weir("suite drawn --seed 1 --print").stdout;
    assert_eq!(printed.matches("\ntitle = ").count(), 40);
    let third = place.weir("suite drawn --seed 1 --cases 5 --print --case 03").stdout;
    assert!(printed.contains(&third) && third.starts_with("# 03 of weir suite drawn --seed 1\n"), "{third}");
    place.write("case.toml", &third);
    place.weir("check case.toml");
    place.write("rule.rs", "fn rule() {}");
    let [one, same] = [(); 2].map(|()| place.weir("suite drawn --seed-of rule.rs --cases 2 --print").stdout);
    place.write("rule.rs", "fn rule() { }");
    let other = place.weir("suite drawn --seed-of rule.rs --cases 2 --print").stdout;
    assert!(one == same && one != other, "a change of the file changes the cases");
    let run = place.weir("suite drawn --seed 1 --cases 3 --case 03 --runs 1 --controller nada --quiet");
    assert!(run.stdout.contains("DualPI2"), "the case is described: {}", run.stdout);
    for (wrong, said) in [
        ("suite rfc8867 --print", "--print: only cases that are drawn have it"),
        ("suite drawn --seed 1 --seed-of rule.rs", "cannot be used with"),
        ("suite drawn --seed-of nowhere", "--seed-of nowhere: the file cannot be read"),
        ("suite drawn --seed-of /dev/zero", "--seed-of /dev/zero: the file cannot be read"),
        ("suite drawn --case 41 --print", "has no such case"),
    ] {
        let outcome = place.try_weir(wrong);
        assert_eq!(outcome.code, Some(2), "{wrong}");
        assert!(outcome.stderr.contains(said), "{wrong}: {}", outcome.stderr);
    }
    place.write("drawn-1.toml", "title = \"Mine\"\n");
    let outcome = place.try_weir("suite drawn-1.toml");
    assert!(outcome.stderr.contains("a suite called `drawn-1` ships with weir"), "{}", outcome.stderr);
}

#[test]
fn a_suite_with_a_cache_gives_the_same_bytes_and_fills_it_once() {
    let place = Place::new();
    let run = |cache: &str| {
        let mut command = place.command(&[
            "suite",
            "quality",
            "--case",
            "single flow",
            "--controller",
            "nada",
            "--runs",
            "1",
            "--quiet",
            "--json",
        ]);
        let outcome = Outcome::of(command.env("WEIR_CACHE", cache));
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        outcome.stdout
    };
    let cache = place.path().join("cache");
    let (without, first) = (run(""), run(cache.to_str().unwrap()));
    let kept = place.tree("cache");
    assert_eq!(kept.len(), 1);
    assert!(without == first && first == run(cache.to_str().unwrap()));
    assert_eq!(place.tree("cache"), kept, "nothing is made twice");
    assert!(run("/dev/null/nowhere") == without, "a cache that cannot be written is none");
}
