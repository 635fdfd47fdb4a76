//! Suites divided among machines, or interrupted.

use serde_json::Value;

use crate::support::{GOOD, Place};

/// All inputs of comparisons between runs, and many of the other verdicts.
const CALLS: &str = r#"title = "Calls"
controllers = ["gcc-2016", "gcc{trendline.window=40}", "omniscient"]
[[cases]]
name = "alone"
scenario = "call.toml"
set = ["duration=24s"]
[[cases.checks]]
quantity = "rate"
at_least = 80
[[cases.checks]]
quantity = "useful"
at_least = 70
[[cases.checks]]
quantity = "excess frame delay"
at_most = 200
[[cases]]
name = "beside TCP"
scenario = "call.toml"
set = [
    "duration=24s",
    "links.forward.loss=0.001",
    'flows.download={ kind = "tcp", from = "left", to = "right", start = "5s" }',
]
[[cases.checks]]
quantity = "rate against TCP"
at_least = 80
[[cases.checks]]
quantity = "queue wait p95"
at_most = 100
[[cases.checks]]
quantity = "loss"
at_most = 2
"#;

/// Common prefix of every call of this file.
const SUITE: &str = "suite calls.toml --runs 2 --quiet";

/// Runs of two seeds: TCP in the place of the calls in one of the cases, the omniscient sender at four points and two controllers in both.
const RUNS: usize = 2 * (1 + 2 * (4 + 2));

fn place() -> Place {
    let place = Place::new();
    place.write("calls.toml", CALLS);
    place.write("call.toml", GOOD);
    place
}

/// The files of the directory, and those requested separately.
fn whole(place: &Place, out: &str, options: &str) -> (String, Vec<(String, Vec<u8>)>) {
    let outcome = place.weir(&format!(
        "{SUITE} --save saved.json --junit saved.xml --markdown saved.md --out {out}{options}"
    ));
    let saved = ["saved.json", "saved.xml", "saved.md"];
    let files = place.tree(out).into_iter();
    let files = files.filter_map(|(name, content)| Some((name.display().to_string(), content?)));
    let read = |name: &str| (name.to_owned(), place.read(name).into_bytes());
    (outcome.stdout.replace(&format!("{out}/"), ""), files.chain(saved.map(read)).collect())
}

#[test]
fn shards_come_together_in_the_bytes_of_one_machine() {
    let place = place();
    let (printed, files) = whole(&place, "whole", "");
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let of_folder = ["runs.log", "suite.html", "suite.json", "table/part-00000.parquet"];
    assert_eq!(names, [&of_folder[..], &["saved.json", "saved.xml", "saved.md"]].concat());
    assert_eq!(String::from_utf8_lossy(&files[0].1).lines().count(), RUNS);
    let mut made = 0;
    for shard in ["1/3", "2/3", "3/3"] {
        let part = format!("part-{}", &shard[..1]);
        let outcome = place.weir(&format!("{SUITE} --shard {shard} --out {part}"));
        let said = format!("runs, those of shard {shard}, are kept; --merge takes them from there");
        assert!(outcome.stdout.contains(&said), "{}", outcome.stdout);
        assert_eq!(place.tree(&part).len(), 1, "only the runs");
        let runs = place.read(&format!("{part}/runs.log")).lines().count();
        assert!(outcome.stdout.starts_with(&format!("{runs} runs")), "{}", outcome.stdout);
        made += runs;
    }
    assert_eq!(made, RUNS);
    let merged = whole(&place, "merged", " --merge part-1 part-2 part-3");
    assert!(merged == (printed.clone(), files), "a byte differs");
    // Runs that no part has are made; the order of the parts does not matter.
    let again = format!("{SUITE} --merge part-3 part-1 --out again").replace(" --quiet", "");
    let missing = RUNS - place.read("part-2/runs.log").lines().count();
    let told = place.weir(&again).stderr;
    assert!(told.contains(&format!("{missing} of {RUNS} runs were there, of a command built")), "{told}");
    assert!(place.tree("again") == place.tree("whole"), "a file differs");
    // A directory with all runs is judged again without a run, and without a directory nothing is kept.
    let told = place.weir(&again).stderr;
    assert!(told.contains(&format!("{RUNS} of {RUNS} runs were there")), "{told}");
    let usual = place.weir(SUITE).stdout;
    assert_eq!(usual.replace("weir-out/suite-calls/", ""), printed);
    assert_eq!(
        place.tree("weir-out/suite-calls").len(),
        4,
        "the matrix, the result and a folder with the table"
    );
}

#[test]
fn a_killed_command_goes_on_and_ends_in_the_same_bytes() {
    let place = place();
    let sweep = " --case alone --sweep links.forward.delay=10ms,50ms";
    let uninterrupted = whole(&place, "whole", sweep);
    place.weir(&format!("{SUITE}{sweep} --shard 1/2 --out killed"));
    // It was killed while it wrote the last line.
    let log = place.read("killed/runs.log");
    place.write("killed/runs.log", &log[..log.len() - 20]);
    assert!(whole(&place, "killed", sweep) == uninterrupted, "a byte differs");
}

#[test]
fn limits_are_changed_without_a_run_and_runs_of_another_suite_are_of_no_use() {
    let place = place();
    // The omniscient sender at four points, and a controller.
    let one = "--case alone --controller gcc-2016 --runs 1";
    place.weir(&format!("suite calls.toml {one} --out own --quiet"));
    let edited = |from: &str, to: &str| {
        place.write("calls.toml", &CALLS.replace(from, to));
        let outcome = place.weir(&format!("suite calls.toml {one} --merge own --out edited"));
        let result: Value = serde_json::from_str(&place.read("edited/suite.json")).unwrap();
        (outcome.stderr, result["cases"][0]["controllers"][0]["checks"][1].clone())
    };
    let (told, check) = edited("at_least = 70", "at_least = 0.1");
    assert!(told.contains("5 of 5 runs were there"), "{told}");
    assert_eq!((&check["limit"], &check["verdict"]), (&0.1.into(), &"passed".into()));
    let (told, _) = edited("duration=24s", "duration=25s");
    assert!(told.contains("0 of 5 runs were there"), "{told}");
    assert_eq!(place.read("edited/runs.log").lines().count(), 10, "those of the other stay");
}

#[test]
fn senseless_uses_of_parts_are_refused() {
    let place = place();
    for (options, told) in [
        ("--shard 0/2 --out part", &["`0/2` is no shard: write `I/N`"][..]),
        ("--shard 3/2 --out part", &["`3/2` is no shard: write `I/N`"]),
        ("--shard 1/2", &["--out"]),
        ("--merge part", &["--out"]),
        ("--shard 1/2 --out part --merge other", &["'--shard <I/N>' cannot be used with '--merge <DIR>...'"]),
        ("--shard 1/2 --out part --json", &["'--shard <I/N>' cannot be used with '--json'"]),
        ("--shard 1/2 --out part --save a.json", &["--save", "cannot be used with", "--shard"]),
        ("--shard 1/2 --out part --baseline a.json", &["--baseline", "cannot be used with", "--shard"]),
        ("--shard 1/2 --out part --junit a.xml", &["--junit", "cannot be used with", "--shard"]),
        ("--shard 1/2 --out part --markdown -", &["--markdown", "cannot be used with", "--shard"]),
        ("--shard 1/2 --out part --require alone", &["--require", "cannot be used with", "--shard"]),
        ("--shard 1/2 --out part --min-passed 1", &["--min-passed", "cannot be used with", "--shard"]),
        ("--shard 1/2 --out part --open", &["--open", "cannot be used with", "--shard"]),
        ("--merge nowhere --out part", &["nowhere/runs.log: cannot be read or written"]),
        ("--merge garbage --out part", &["garbage/runs.log", "it holds no run, whatever else it holds"]),
        ("--save part/runs.log --out part", &["--out part/runs.log: --save writes there, too"]),
    ] {
        place.write("garbage/runs.log", "not a log");
        let before = place.tree("");
        let outcome = place.try_weir(&format!("{SUITE} {options}"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{options}: {}", outcome.stderr);
        assert!(told.iter().all(|part| outcome.stderr.contains(part)), "{options}: {}", outcome.stderr);
        assert_eq!(place.tree(""), before, "{options} wrote something");
    }
}
