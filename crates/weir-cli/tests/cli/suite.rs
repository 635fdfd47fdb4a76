//! `weir suite`.

use std::process::Stdio;

use serde_json::Value;

use crate::support::{Outcome, Place};

const SHORT: &str = "suite rfc8867 --case 5.1 --controller gcc-2016,nada --runs 2 --quiet";

#[test]
fn a_suite_says_which_check_decides_and_leaves_a_matrix() {
    let place = Place::new();
    let outcome = place.weir(SHORT);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let row = outcome.stdout.lines().find(|line| line.starts_with("5.1 ")).unwrap();
    assert_eq!(row.matches(['✓', '✗', '?']).count(), 2, "{row}");
    // The margin of either, and the points of what is missed.
    let mut margins = row.split(['✓', '✗', '?']).skip(1);
    assert!(margins.all(|own| own.starts_with(" 0.") || own.starts_with(" 1.00 ")), "{row}");
    assert!(!row.contains('✗') || row.contains(" above)") || row.contains(" below)"), "{row}");
    assert!(
        outcome.stdout.contains("2 runs per case and controller; skip_above 100ms"),
        "{}",
        outcome.stdout
    );
    for counted in ["passed ", "open ", "margin ", "overhead "] {
        assert!(outcome.stdout.lines().any(|line| line.starts_with(counted)), "{}", outcome.stdout);
    }
    let saved = std::fs::read_to_string(place.path().join("weir-out/suite-rfc8867-some/suite.json")).unwrap();
    let result: Value = serde_json::from_str(&saved).unwrap();
    let checks = &result["cases"][0]["controllers"][0]["checks"];
    let names: Vec<&str> =
        checks.as_array().unwrap().iter().filter_map(|check| check["name"].as_str()).collect();
    assert_eq!(names, ["rate", "queue wait p95", "loss", "useful", "excess frame delay"]);
    assert_eq!(checks[0]["values"].as_array().map(Vec::len), Some(2));
    let page = std::fs::read_to_string(place.path().join("weir-out/suite-rfc8867-some/suite.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 2);
}

#[test]
fn the_same_is_no_regression_and_a_worse_one_is() {
    let place = Place::new();
    let saved = place.weir(&format!("{SHORT} --json --save base.json"));
    assert_eq!(saved.code, Some(0), "{}", saved.stderr);
    assert_eq!(std::fs::read_to_string(place.path().join("base.json")).unwrap(), saved.stdout);
    let same = place.weir(&format!("{SHORT} --baseline base.json"));
    assert_eq!(same.code, Some(0), "{}", same.stderr);
    assert!(same.stdout.contains("Of 8 checks 0 got better and 0 got worse."), "{}", same.stdout);
    assert!(!same.stdout.contains("The base was saved with"), "{}", same.stdout);
    place.write("earlier.json", &earlier(&saved.stdout));
    let later = place.weir(&format!("{SHORT} --baseline earlier.json"));
    for said in [
        "Of 2 checks 0 got better and 0 got worse.",
        "The base was saved with no word of `skip_above`, and this run has `skip_above 100ms`.",
        "Not compared, as only one of the two has them: 5.1/gcc-2016/useful, 5.1/gcc-2016/excess frame delay, ",
        "Not compared, as the base has them without the wait at the sender: 5.1/queue wait p95\n",
    ] {
        assert!(later.stdout.contains(said), "{said}: {}", later.stdout);
    }
    place.write("better.json", &better(&saved.stdout));
    let worse = place.try_weir(&format!("{SHORT} --baseline better.json"));
    assert_eq!(worse.code, Some(1), "{}", worse.stdout);
    assert!(worse.stdout.contains("1 got worse"), "{}", worse.stdout);
    let mut lines = worse.stdout.lines().skip_while(|line| !line.contains("difference (95 % interval)"));
    let (header, row) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!(
        header.find("controller"),
        row.find("nada"),
        "columns stand below their headers: {header}\n{row}"
    );
}

/// The result `saved` in the form before open checks, reference senders and skipped frames.
fn earlier(saved: &str) -> String {
    let mut base: Value = serde_json::from_str(saved).unwrap();
    base.as_object_mut().unwrap().remove("skip_rule");
    base["cases"][0].as_object_mut().unwrap().remove("omniscient");
    for controller in base["cases"][0]["controllers"].as_array_mut().unwrap() {
        controller.as_object_mut().unwrap().remove("viewed");
        let checks = controller["checks"].as_array_mut().unwrap();
        checks.truncate(3);
        for check in checks.iter_mut().filter_map(Value::as_object_mut) {
            for key in ["open", "void", "verdict"] {
                check.remove(key);
            }
        }
    }
    base.to_string()
}

#[test]
fn a_check_that_counts_for_no_controller_is_no_regression() {
    const CELLULAR: &str = "suite rfc8869 --controller nada --runs 1 --quiet --case";
    let place = Place::new();
    let run = |options: &[&str]| {
        let mut line: Vec<&str> = CELLULAR.split(' ').collect();
        line.push("2.2 up 1/2");
        line.extend(options);
        place.call(&line)
    };
    let saved = run(&["--json"]);
    assert_eq!(saved.code, Some(0), "{}", saved.stderr);
    let mut base: Value = serde_json::from_str(&saved.stdout).unwrap();
    let wait = &mut base["cases"][0]["controllers"][0]["checks"][1];
    assert_eq!([&wait["name"], &wait["verdict"]], ["queue wait p95", "beyond-physics"]);
    wait["values"] = serde_json::json!([1.0]);
    wait["mean"] = serde_json::json!(1.0);
    wait["passed"] = serde_json::json!(true);
    place.write("base.json", &base.to_string());
    let later = run(&["--baseline", "base.json"]);
    assert_eq!(later.code, Some(0), "{}", later.stdout);
    let said =
        "Not compared, as they do not count in one of the two: 2.2 up 1/2/rate, 2.2 up 1/2/queue wait p95\n";
    assert!(later.stdout.contains(said), "{}", later.stdout);
}

#[test]
fn differences_of_variants_are_printed_run_by_run() {
    let place = Place::new();
    let run = "suite rfc8867 --case 5.1 --runs 2 --quiet --controller gcc,gcc{trendline.window=40}";
    let saved = place.weir(&format!("{run} --json")).stdout;
    let result: Value = serde_json::from_str(&saved).unwrap();
    let [gcc, variant] = [0, 1].map(|index| &result["cases"][0]["controllers"][index]["checks"][0]);
    let [own, other] = [variant, gcc].map(|check| check["mean"].as_f64().unwrap());
    let less = &variant["less"]["gcc"];
    assert!((less["mean"].as_f64().unwrap() - (own - other)).abs() < 1e-9, "{variant}");
    assert!(less["ci95"].is_f64() && gcc.get("less").is_none(), "{gcc}");
    for form in ["", " --markdown -"] {
        let text = place.weir(&format!("{run}{form}")).stdout;
        assert!(text.contains("5.1: less gcc, run by run"), "{text}");
    }
    let page = place.read("weir-out/suite-rfc8867-some/suite.html");
    let row = page.split_once("<th>less gcc, run by run</th>").unwrap().1;
    assert!(row.contains("<tr><th>gcc{trendline.window=40}</th><td"), "{row}");
    // The result is a base as any other.
    place.write("base.json", &saved);
    assert!(
        place.weir(&format!("{run} --baseline base.json")).stdout.contains("0 got better and 0 got worse")
    );
}

#[test]
fn each_case_is_swept_over_values_of_a_key() {
    let place = Place::new();
    let run = "suite rfc8867 --case 5.1,5.2 --runs 1 --quiet --controller gcc-2016";
    let sweep = "--sweep dumbbell.bottleneck.delay=10ms,150ms";
    let swept = place.weir(&format!("{run} {sweep} --save swept.json"));
    let names = ["5.1", "5.2"]
        .map(|case| ["10ms", "150ms"].map(|at| format!("{case} dumbbell.bottleneck.delay={at}")));
    let rows: Vec<&str> = swept.stdout.lines().filter(|line| line.starts_with("5.")).collect();
    assert_eq!(rows.len(), 4, "{}", swept.stdout);
    assert!(
        rows.iter().zip(names.as_flattened()).all(|(row, name)| row.starts_with(name.as_str())),
        "{rows:?}"
    );
    let result: Value = serde_json::from_str(&place.read("swept.json")).unwrap();
    let own = |index: usize| &result["cases"][index];
    assert_eq!(
        own(3)["swept"],
        serde_json::json!({"case": "5.2", "at": {"dumbbell.bottleneck.delay": "150ms"}})
    );
    let values = |case: &Value| case["controllers"][0]["checks"].as_array().unwrap().clone();
    assert!(values(own(0)) != values(own(1)), "the delay is another one");
    // A place by itself is the same, and the page shows how to repeat it.
    let alone =
        "suite rfc8867 --case 5.2 --sweep dumbbell.bottleneck.delay=150ms --controller gcc-2016 --runs 1";
    assert!(
        place.read("weir-out/suite-rfc8867-sweep/suite.html").contains(&format!("<code>weir {alone}</code>"))
    );
    // Each check is a curve over the key, a map over two.
    let page = place.read("weir-out/suite-rfc8867-sweep/suite.html");
    let checks = values(own(0)).len() + values(own(2)).len();
    assert_eq!(page.matches("<figure>").count(), checks, "{page}");
    assert_eq!(page.matches(">dumbbell.bottleneck.delay, ms</text>").count(), checks);
    assert_eq!(page.matches("</svg>gcc-2016</li>").count(), checks);
    place.weir(&format!("{run} {sweep} --sweep dumbbell.bottleneck.rate=1Mbps,2Mbps --case 5.1 --out two"));
    let page = place.read("two/suite.html");
    assert!(
        page.contains("<figcaption>gcc-2016: ") && page.contains(">dumbbell.bottleneck.rate, Mbps</text>"),
        "{page}"
    );
    let alone: Value = serde_json::from_str(&place.weir(&format!("{alone} --quiet --json")).stdout).unwrap();
    assert_eq!(alone["cases"][0], *own(3));
    place.weir(&format!("{run} --save plain.json"));
    for (arguments, remedy) in [
        (format!("{run} {sweep} --baseline plain.json"), "; save one with the same --sweep"),
        (format!("{run} --baseline swept.json"), "; save one without --sweep"),
        ("suite diff plain.json swept.json".to_owned(), "; save one with the same --sweep"),
    ] {
        let other = place.try_weir(&arguments);
        assert_eq!(other.code, Some(2), "{arguments}");
        assert!(other.stderr.contains(remedy), "{arguments}: {}", other.stderr);
    }
    // A requirement on a case holds at each of its places.
    let missed = place.try_weir(&format!("{run} {sweep} --require 5.1 --min-passed 4 --json"));
    assert_eq!(missed.code, Some(1), "{}", missed.stderr);
    for (index, name) in names[0].iter().enumerate() {
        let passed = values(own(index)).iter().all(|check| check["verdict"] == "passed");
        assert_eq!(
            missed.stderr.contains(&format!("--require {name}: gcc-2016")),
            !passed,
            "{}",
            missed.stderr
        );
    }
}

#[test]
fn a_key_that_a_case_has_not_is_reported_before_anything_runs() {
    let place = Place::new();
    for (sweep, told) in [
        (
            "dumbbell.bottleneck.dely=1ms,2ms",
            &["bottleneck.dely=1ms in case 5.1: ", "did you mean `delay`?"][..],
        ),
        (
            "links.forward.delay=1ms,2ms",
            &["forward.delay=1ms in case 5.1: ", "`links` is empty", "`flows.video`"],
        ),
        ("dumbbell.bottleneck.delay=1ms,-2ms", &["delay=-2ms in case 5.1: ", "0s or longer"]),
        ("seed=1,2", &["--sweep seed", "sets this itself"]),
    ] {
        let outcome = place.try_weir(&format!("suite rfc8867 --case 5.1,5.2 --quiet --sweep {sweep}"));
        assert_eq!(outcome.code, Some(2), "{sweep}: {}", outcome.stderr);
        assert!(told.iter().all(|part| outcome.stderr.contains(part)), "{sweep}: {}", outcome.stderr);
        assert!(place.tree("").is_empty(), "{sweep} wrote something");
    }
}

/// The result `saved` with a useful rate of 199 %: beside it the true one is worse.
fn better(saved: &str) -> String {
    let mut base: Value = serde_json::from_str(saved).unwrap();
    let rate = &mut base["cases"][0]["controllers"][1]["checks"][3];
    rate["values"] = serde_json::json!([199.0, 199.1]);
    rate["mean"] = serde_json::json!(199.05);
    rate["passed"] = serde_json::json!(true);
    base.to_string()
}

#[test]
fn a_regression_is_reported_by_the_exit_code() {
    let place = Place::new();
    let saved = place.weir(&format!("{SHORT} --json")).stdout;
    place.write("better.json", &better(&saved));
    for form in ["", " --json"] {
        for (file, code) in [("better.json", 1), ("same.json", 0)] {
            place.write("same.json", &saved);
            let line = format!("{SHORT} --baseline {file} --out out{form}");
            let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let outcome = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
            assert_eq!(outcome.status.code(), Some(code), "{line}: {outcome:?}");
        }
    }
}

#[test]
fn a_made_up_trace_is_reported_and_kept_apart_from_the_recorded_one() {
    const CELLULAR: &str = "suite rfc8869 --controller gcc-2016 --runs 1 --quiet --json --case";
    let place = Place::new();
    place.write("empty/traces/README", "no traces");
    let run = |options: &[&str]| {
        let mut line: Vec<&str> = CELLULAR.split(' ').collect();
        line.push("2.2 up 1");
        line.extend(options);
        let mut command = place.command(&line);
        if options.contains(&"empty") {
            command.env_remove("WEIR_DATA");
        }
        Outcome::of(&mut command)
    };
    let note = "The trace `att-lte-driving-2016.up` was not found; `synthetic-lte` stood in for it.";
    let refused = run(&["--data", "empty", "--save", "made-up.json", "--out", "out"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    assert!(refused.stderr.contains(&note.replace("stood in", "would stand in")), "{}", refused.stderr);
    assert!(refused.stderr.contains("--allow-stand-ins"), "{}", refused.stderr);
    assert!(!place.path().join("out").exists() && !place.path().join("made-up.json").exists());
    let allowed = ["--data", "empty", "--allow-stand-ins"];
    let made_up = run(&[&allowed[..], &["--save", "made-up.json", "--out", "out"]].concat());
    assert_eq!(made_up.code, Some(0), "{}", made_up.stderr);
    assert_eq!(made_up.stderr.matches(note).count(), 1, "{}", made_up.stderr);
    let page = place.read("out/suite.html");
    assert!(
        page.contains("was not found") && page.contains("(on the stand-in `synthetic-lte`)</h1>"),
        "{page}"
    );
    let recorded = run(&["--baseline", "made-up.json"]);
    assert_eq!((recorded.code, recorded.stdout.as_str()), (Some(2), ""), "{}", recorded.stderr);
    let said = "2.2 up 1 was saved with `synthetic-lte` on radio, and this run has `att-lte-driving-2016.up` on radio";
    assert!(recorded.stderr.contains(said), "{}", recorded.stderr);
    let again = run(&[&allowed[..], &["--baseline", "made-up.json"]].concat());
    assert_eq!(again.code, Some(0), "{}", again.stderr);
}

#[test]
fn a_run_does_not_write_over_its_base() {
    let place = Place::new();
    let base = place.weir(&format!("{SHORT} --json --save base.json")).stdout;
    std::fs::create_dir(place.path().join("out")).unwrap();
    place.write("out/suite.json", &base);
    for options in ["--baseline base.json --save ./base.json", "--baseline out/suite.json --out out"] {
        let outcome = place.try_weir(&format!("{SHORT} {options}"));
        assert_eq!(outcome.code, Some(2), "{options}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("this run would write over it; keep a copy"), "{}", outcome.stderr);
    }
    assert!(!place.path().join("weir-out").exists());
}

#[test]
fn impossible_bases_are_refused_before_anything_runs() {
    let place = Place::new();
    place.write("none.json", "{\"suite\": 1}");
    place.write("other.json", "{\"suite\": \"gaming\", \"seeds\": [1, 2], \"cases\": []}");
    place.write("seeds.json", "{\"suite\": \"rfc8867\", \"seeds\": [1], \"cases\": []}");
    for (file, message) in [
        ("missing.json", "missing.json: cannot be read"),
        ("none.json", "none.json:1:11: no saved study"),
        ("other.json", "is a result of the suite `gaming`, not of `rfc8867`"),
        ("seeds.json", "was saved with the seed 1, and this run has the seeds 1 to 2"),
    ] {
        let outcome = place.try_weir(&format!("{SHORT} --baseline {file}"));
        assert_eq!(outcome.code, Some(2), "{file}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{file}: {}", outcome.stderr);
        assert!(!place.path().join("weir-out").exists());
    }
    let unknown = place.try_weir("suite rfc8867 --case 5.9 --quiet");
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.stderr.contains("--case 5.9: the suite rfc8867 has no such case; it has 5.1,"),
        "{}",
        unknown.stderr
    );
    let unwritable = place.try_weir(&format!("{SHORT} --save no/such/place.json"));
    assert_eq!(unwritable.code, Some(2));
    assert!(unwritable.stderr.contains("place.json: cannot be written"), "{}", unwritable.stderr);
}
