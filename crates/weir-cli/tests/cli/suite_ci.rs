//! `weir suite` as a build server calls it: gates, JUnit, Markdown, files that cannot be written, saved results compared.

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use crate::suite_file::{CALLS, place};
use crate::support::{Outcome, Place};

/// A run in which both controllers pass the case `narrow` and miss `too much`.
const RUN: &str = "suite mine/calls.toml --runs 1 --quiet";

fn refused(place: &Place, arguments: &str, said: &[&str]) {
    let before = place.tree("");
    let outcome = place.try_weir(arguments);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments}: {}", outcome.stderr);
    for part in said {
        assert!(outcome.stderr.contains(part), "{arguments}: `{part}` is not said: {}", outcome.stderr);
    }
    assert_eq!(place.tree(""), before, "{arguments} wrote something");
}

fn missed(outcome: &Outcome) -> Vec<&str> {
    outcome.stderr.lines().filter(|line| line.starts_with("missed: ")).collect()
}

#[test]
fn a_missed_gate_is_reported_in_a_line_and_by_the_exit_code() {
    let place = place();
    let passed = place.weir(&format!("{RUN} --require narrow --min-passed 1"));
    assert!(missed(&passed).is_empty(), "{}", passed.stderr);
    let mut line: Vec<&str> = RUN.split(' ').collect();
    line.extend(["--require", "narrow,too much", "--min-passed", "2"]);
    let both = place.call(&line);
    assert_eq!(both.code, Some(1), "{}", both.stderr);
    assert!(both.stdout.contains("passed     1 of 2"), "the table is there all the same: {}", both.stdout);
    let lines = missed(&both);
    assert_eq!(lines.len(), 4, "{lines:?}");
    let said = "missed: --require too much: gcc-2016 ✗ 0.";
    assert!(lines[0].starts_with(said) && lines[0].contains(" frame delay p99 "), "{lines:?}");
    assert_eq!(lines[2], "missed: --min-passed 2: gcc-2016 passed 1 of 2, 0 open");
}

#[test]
fn an_open_case_passes_only_where_that_is_allowed() {
    let place = place();
    let several = RUN.replace("--runs 1", "--runs 3");
    // Frame delay counts whatever the omniscient sender does.
    let asks = |limit: f64| {
        let check = format!("quantity = \"frame delay p99\"\nat_most = {limit}\n");
        place.write("mine/calls.toml", &CALLS.replace("quantity = \"rate\"\nat_least = 1\n", &check));
    };
    asks(1.0);
    let saved = place.weir(&format!("{several} --case narrow --controller nada --json"));
    let result: Value = serde_json::from_str(&saved.stdout).unwrap();
    let values = result["cases"][0]["controllers"][0]["checks"][1]["values"].as_array().unwrap();
    let values: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
    let mean = values.iter().sum::<f64>() / 3.0;
    assert!(values.windows(2).any(|pair| pair[0] != pair[1]), "the runs differ: {values:?}");
    // A limit at the mean is within its interval.
    asks(mean);
    let line = format!("{several} --case narrow --controller nada --require narrow --min-passed 1");
    let open = place.try_weir(&line);
    assert_eq!(open.code, Some(1), "{}", open.stdout);
    assert_eq!(missed(&open).len(), 2, "{}", open.stderr);
    assert!(missed(&open)[1].ends_with("nada passed 0 of 1, 1 open"), "{}", open.stderr);
    place.weir(&format!("{line} --allow-open"));
    place.weir(&format!("{several} --case narrow --controller nada --junit open.xml"));
    assert!(
        place.read("open.xml").contains("<skipped message=\"open: 1.00 frame delay p99 "),
        "{}",
        place.read("open.xml")
    );
}

#[test]
fn a_case_without_anything_to_measure_is_not_judged() {
    let place = place();
    // Rates count from 20 s on.
    let short = CALLS.replace("duration=30s\"]", "duration=20s\"]");
    place.write(
        "mine/calls.toml",
        &short.replacen("[[cases.checks]]\nquantity = \"loss\"\nat_most = 50\n", "", 1),
    );
    let line = format!("{RUN} --case narrow --controller nada");
    let told = place.weir(&format!("{line} --junit short.xml --markdown short.md --save short.json"));
    let row = told.stdout.lines().find(|line| line.starts_with("narrow ")).unwrap();
    assert!(
        row.ends_with("· not judged: nothing to measure of rate")
            && told.stdout.contains("passed     0 of 1"),
        "{}",
        told.stdout
    );
    assert!(
        told.stdout.contains("(rates, shares and frames count from 20 s on): narrow rate."),
        "{}",
        told.stdout
    );
    assert!(!told.stdout.contains("Beyond physics"), "{}", told.stdout);
    assert!(
        place.read("short.md").contains("| narrow | · not judged: nothing to measure of rate |"),
        "{}",
        place.read("short.md")
    );
    let xml = place.read("short.xml");
    assert!(xml.contains("skipped=\"1\"") && xml.contains("<skipped message=\"not judged: nothing"), "{xml}");
    assert!(xml.contains("· rate – (at least 1 %)"), "{xml}");
    let saved: Value = serde_json::from_str(&place.read("short.json")).unwrap();
    assert_eq!(saved["cases"][0]["controllers"][0]["checks"][0]["verdict"], "not-judged");
    assert!(place.read("weir-out/suite-calls-some/suite.html").contains("· not judged"));
    let gate = place.try_weir(&format!("{line} --require narrow --baseline short.json"));
    assert_eq!(gate.code, Some(1), "{}", gate.stderr);
    let said = "missed: --require narrow: nada cannot be judged, as its runs leave nothing to measure of rate; let them last longer";
    assert_eq!(missed(&gate), [said]);
}

#[test]
fn a_case_of_which_a_check_was_not_judged_passes_no_gate() {
    let place = place();
    let asked = "quantity = \"rate\"\nat_least = 1\n[[cases.checks]]\nquantity = \"useful\"\nat_least = 50\n";
    let short = CALLS.replacen("duration=30s\"]", "duration=20s\"]", 1);
    place.write("mine/calls.toml", &short.replacen("quantity = \"rate\"\nat_least = 1\n", asked, 1));
    let gate = "--require narrow --min-passed 1 --allow-open --junit short.xml --save short.json";
    let outcome = place.try_weir(&format!("{RUN} --case narrow --controller nada {gate}"));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
    let of = "nothing to measure of rate, useful";
    assert!(outcome.stdout.contains(&format!("· not judged: {of}")), "{}", outcome.stdout);
    assert!(
        outcome.stdout.contains("count from 20 s on): narrow rate; narrow useful."),
        "{}",
        outcome.stdout
    );
    let lines = missed(&outcome);
    assert!(lines[0].contains(of), "{lines:?}");
    assert!(lines[1].ends_with("nada passed 0 of 1, 0 open, 1 not judged"), "{lines:?}");
    let xml = place.read("short.xml");
    assert!(xml.contains("skipped=\"1\"") && xml.contains("✓ loss"), "{xml}");
    let saved: Value = serde_json::from_str(&place.read("short.json")).unwrap();
    let own = &saved["cases"][0]["controllers"][0];
    assert_eq!(own["checks"][2]["verdict"], "not-judged");
    assert!(own["viewed"][0]["useful_bps"].is_null(), "{own}");
    let page = place.read("weir-out/suite-calls-some/suite.html");
    assert!(page.contains("holds the limit, · not judged."));
}

#[test]
fn a_gate_that_cannot_be_is_reported_before_anything_runs() {
    let place = place();
    let wrong = |gates: &str, said: &[&str]| refused(&place, &format!("{RUN} {gates}"), said);
    wrong("--require narow", &["--require narow: the suite calls has no such case; it has narrow, too much"]);
    wrong("--require narrow --case wide", &["--case wide: the suite calls has no such case"]);
    wrong("--min-passed 3", &["--min-passed 3: 2 of the suite's cases are run"]);
    wrong("--min-passed 2 --case narrow", &["--min-passed 2: 1 of the suite's cases are run"]);
    wrong("--min-passed 0", &["--min-passed"]);
    wrong("--allow-open", &["--allow-open: nothing is required; add --require or --min-passed"]);
    refused(
        &place,
        "suite rfc8867 --quiet --require 5.4 --case 5.1",
        &["--require 5.4: this case is not run; name it after --case, too: 5.1"],
    );
}

/// The names and attributes of the elements, in order, and the texts in them.
fn elements(xml: &str) -> Vec<(String, String)> {
    let mut reader = Reader::from_str(xml);
    let mut elements: Vec<(String, String)> = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) | Event::Empty(start) => {
                let attributes = start.attributes().map(|attribute| {
                    let attribute = attribute.unwrap();
                    format!("{}={};", attribute.key.as_ref(), attribute.value)
                });
                elements.push((start.name().as_ref().to_owned(), attributes.collect()));
            }
            Event::Eof => return elements,
            _ => {}
        }
    }
}

#[test]
fn junit_has_a_test_for_each_case_and_controller() {
    let place = place();
    place.write(
        "mine/calls.toml",
        &CALLS.replace("\"narrow\"", "'a <\"&> b'").replace("My calls", "Ours & <b>"),
    );
    place.weir(&format!("{RUN} --junit junit.xml"));
    let xml = place.read("junit.xml");
    let elements = elements(&xml);
    let of = |name: &str| -> Vec<&str> {
        elements.iter().filter(|(own, _)| own == name).map(|(_, rest)| rest.as_str()).collect()
    };
    assert_eq!(of("testsuites"), ["name=Ours &amp; &lt;b&gt;;tests=4;failures=2;skipped=0;"]);
    assert_eq!(
        of("testsuite"),
        [
            "name=calls/gcc-2016;tests=2;failures=1;skipped=0;",
            "name=calls/gcc{trendline.window=40};tests=2;failures=1;skipped=0;"
        ]
    );
    let tests = of("testcase");
    assert_eq!(tests.len(), 4);
    assert_eq!(tests[0], "classname=calls.gcc-2016;name=a &lt;&quot;&amp;&gt; b;");
    assert!(
        of("failure")[0].starts_with("message=0.") && of("failure")[0].contains(" frame delay p99 "),
        "{xml}"
    );
    assert!(xml.contains("✓ loss 0 % (at most 50 %)"), "{xml}");
}

#[test]
fn the_matrix_is_a_table_of_markdown() {
    let place = place();
    place.weir(&format!("{RUN} --markdown suite.md"));
    let printed = place.weir(&format!("{RUN} --markdown -"));
    assert_eq!(printed.stdout, place.read("suite.md"));
    let rows: Vec<&str> = printed.stdout.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows[0], "| case | `gcc-2016` | `gcc{trendline.window=40}` |");
    assert_eq!(rows[1], "| --- | --- | --- |");
    assert!(
        rows[2].starts_with("| narrow | ✓ 1.00 ") && rows[3].starts_with("| too much | ✗ 0."),
        "{rows:?}"
    );
    assert_eq!(rows[4], "| passed | 1 of 2 | 1 of 2 |");
    refused(
        &place,
        &format!("{RUN} --json --markdown -"),
        &["--markdown -: --json prints to the same place"],
    );
}

#[test]
fn unwritable_and_repeated_outputs_are_refused_before_anything_runs() {
    let place = place();
    for option in ["--junit", "--markdown"] {
        refused(&place, &format!("{RUN} {option} no/such/file"), &["no/such/file: cannot be written"]);
    }
    let twice = format!("{RUN} --junit one --markdown one");
    refused(&place, &twice, &["--markdown one: --junit writes there, too; name another file"]);
    let spelt = format!("{RUN} --junit one --markdown ./one");
    refused(&place, &spelt, &["--markdown ./one: --junit writes there, too"]);
    place.write("base.json", &place.weir(&format!("{RUN} --json")).stdout);
    let over = format!("{RUN} --baseline base.json --junit ./base.json");
    refused(&place, &over, &["this run would write over it", "give another --junit"]);
}

#[cfg(target_os = "linux")]
#[test]
fn results_are_shown_though_they_cannot_be_saved() {
    let place = place();
    for option in ["--save", "--junit", "--markdown"] {
        let full = place.try_weir(&format!("{RUN} {option} /dev/full"));
        assert_eq!(full.code, Some(1), "{option}: {}", full.stderr);
        assert!(full.stdout.contains("passed     1 of 2"), "{option}: {}", full.stdout);
        assert!(full.stderr.contains("/dev/full: cannot be written: "), "{option}: {}", full.stderr);
        assert!(place.path().join("weir-out/suite-calls/suite.json").exists(), "the others are written");
    }
}

#[test]
fn a_run_of_some_cases_leaves_the_matrix_of_all_alone() {
    let place = place();
    let all = place.weir(RUN);
    assert!(all.stdout.contains("Matrix: weir-out/suite-calls/suite.html\n"), "{}", all.stdout);
    let before = place.tree("weir-out/suite-calls");
    let some = place.weir(&format!("{RUN} --case narrow --controller nada"));
    let said = "Matrix: weir-out/suite-calls-some/suite.html (1 of 2 cases)\n";
    assert!(some.stdout.contains(said), "{}", some.stdout);
    assert_eq!(place.tree("weir-out/suite-calls"), before);
}

#[test]
fn two_saved_results_are_compared_without_a_run() {
    let place = place();
    let saved = place.weir(&format!("{RUN} --json")).stdout;
    place.write("old.json", &saved);
    let mut worse: Value = serde_json::from_str(&saved).unwrap();
    let loss = &mut worse["cases"][0]["controllers"][1]["checks"][0];
    loss["values"] = serde_json::json!([60.0]);
    loss["mean"] = serde_json::json!(60.0);
    loss["passed"] = serde_json::json!(false);
    place.write("new.json", &worse.to_string());
    let same = place.weir("suite diff old.json old.json");
    assert_eq!(same.stdout, "Of 6 checks 0 got better and 0 got worse.\n");
    let before = place.tree("");
    let outcome = place.try_weir("suite diff old.json new.json");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let row = outcome.stdout.lines().nth(2).unwrap_or_default();
    let row = outcome.stdout.lines().find(|line| line.starts_with("worse")).unwrap_or(row);
    assert!(
        row.contains("narrow") && row.contains("loss") && row.contains("fails now"),
        "{}",
        outcome.stdout
    );
    assert_eq!(place.tree(""), before, "nothing is written");
    assert_eq!(place.weir("suite diff new.json old.json").stdout.matches("better").count(), 2);
    let markdown = place.try_weir("suite diff old.json new.json --markdown -");
    assert_eq!(markdown.code, Some(1));
    assert!(
        markdown.stdout.contains("\n| worse | narrow | gcc{trendline.window=40} | loss | "),
        "{}",
        markdown.stdout
    );
    assert!(markdown.stdout.ends_with("Of 6 checks 0 got better and 1 got worse.\n"), "{}", markdown.stdout);
}

#[test]
fn results_that_are_not_of_one_kind_are_not_compared() {
    let place = place();
    let saved = place.weir(&format!("{RUN} --json")).stdout;
    place.write("old.json", &saved);
    place.write("suite.json", &saved.replacen("\"calls\"", "\"talks\"", 1));
    place.write("seeds.json", &place.weir(&format!("{RUN} --json --seed 2")).stdout);
    place.write("limit.json", &saved.replace("\"limit\": 50.0", "\"limit\": 40.0"));
    place.write(
        "other.json",
        &saved.replace("\"name\": \"narrow\"", "\"name\": \"a\"").replace("too much", "b"),
    );
    place.write("broken.json", "{\"suite\": 1}");
    for (arguments, said) in [
        ("old.json missing.json", "missing.json: cannot be read"),
        ("broken.json old.json", "broken.json:1:11: no saved study"),
        ("old.json suite.json", "old.json: is a result of the suite `calls`, not of `talks`"),
        ("old.json seeds.json", "old.json: was saved with the seed 1, and seeds.json has the seed 2"),
        (
            "old.json limit.json",
            "narrow/gcc-2016/loss: has the limit at most 50 %, which is at most 40 % in limit.json",
        ),
        (
            "old.json other.json",
            "old.json: has no check of the cases and controllers of other.json; it has narrow",
        ),
        ("old.json", "<NEW>"),
        ("old.json seeds.json --runs 3", "--runs"),
        ("old.json old.json --markdown ./old.json", "this is one of the two results; name another file"),
    ] {
        refused(&place, &format!("suite diff {arguments}"), &[said]);
    }
}
