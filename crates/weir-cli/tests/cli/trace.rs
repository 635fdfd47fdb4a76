//! `weir trace`.

use serde_json::Value;

use crate::support::{GOOD, Place};

#[test]
fn a_trace_is_shown_converted_cut_scaled_and_drawn() {
    let place = Place::new();
    let run = |line: &str| {
        let outcome = place.weir(line);
        assert_eq!(outcome.code, Some(0), "{line}: {}", outcome.stderr);
        outcome.stdout
    };
    let facts =
        |name: &str| -> Value { serde_json::from_str(&run(&format!("trace show {name} --json"))).unwrap() };
    assert!(run("trace show synthetic-lte").contains("2.571 Mbit/s"));
    let whole = facts("synthetic-lte");
    run("trace convert synthetic-lte lte.csv");
    run("trace convert lte.csv lte.json");
    run("trace convert lte.json lte.up");
    assert_eq!(facts("lte.up")["opportunities"], whole["opportunities"]);
    run("trace cut synthetic-lte part.up --from 10s --to 20s");
    let part = facts("part.up")["duration_seconds"].as_f64().unwrap();
    assert!((9.9..=10.0).contains(&part), "{part}");
    run("trace scale synthetic-lte half.up --rate 0.5");
    let half = facts("half.up")["opportunities"].as_u64().unwrap();
    assert_eq!(half, whole["opportunities"].as_u64().unwrap() / 2);
    run("trace plot synthetic-lte lte.svg");
    let svg = std::fs::read_to_string(place.path().join("lte.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
}

#[test]
fn what_is_wrong_with_a_trace_is_told_with_its_place() {
    let place = Place::new();
    place.write("bad.csv", "seconds,bits_per_second\n0,1e6\n1,fast\n");
    place.write("bad.up", "3\n2\n");
    place.write("endless.csv", "seconds,bits_per_second\n0,1e9\n86400,0\n");
    place.write("long.up", "4294967295\n");
    let rates = r#"[{"seconds": 0, "bits_per_second": -1}, {"seconds": 1, "bits_per_second": 0}]"#;
    place.write("bad.json", &format!("{{\"rates\": {rates}}}"));
    for (line, message) in [
        ("trace show bad.csv", "bad.csv, line 3, column 3: `fast` is not a number"),
        ("trace show bad.up", "bad.up, line 2, column 1: the milliseconds must not decrease"),
        ("trace show nowhere", "the trace `nowhere` was not found"),
        ("trace cut synthetic-lte out.up --from 500s", "no opportunity is left between"),
        ("trace scale synthetic-lte out.up --rate 0", "the factor must lie between 0.001 and 1000"),
        ("trace convert synthetic-lte no/such/out.csv", "(os error 2); name a file that can be\n"),
        ("trace show bad.json", "bad.json, entry 1 of `rates`: -1 bit/s: a rate must lie between 0 and"),
        ("trace show endless.csv", "endless.csv, line 3, column 1: 86400 s: until then there are more than"),
        (
            "trace show long.up --bin 1ms",
            "--bin 1ms: a trace of 4294967.295s has 4294967295 bins of this length",
        ),
        ("trace show synthetic-lte --bin 1.5ms", "must be a whole number of milliseconds, 1 ms at least"),
    ] {
        let outcome = place.try_weir(line);
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{line}: {}", outcome.stderr);
    }
    assert!(!place.path().join("out.up").exists());
}

#[test]
fn what_is_told_of_a_trace_holds_for_it_repeated() {
    let place = Place::new();
    let facts = |name: &str, content: &str| -> Value {
        place.write(name, content);
        serde_json::from_str(&place.weir(&format!("trace show {name} --json")).stdout).unwrap()
    };
    assert_eq!(facts("late.up", "5000\n5001\n")["longest_gap_seconds"], 5.0);
    assert_eq!(facts("single.up", "60000\n")["longest_gap_seconds"], 60.0);
    let outage = facts("outage.csv", "seconds,bits_per_second\n0,1200000\n1,0\n10,0\n");
    assert_eq!((&outage["duration_seconds"], &outage["mean_rate_bps"]), (&10.0.into(), &120_000.into()));
    assert_eq!((&outage["longest_gap_seconds"], &outage["bins"]["empty"]), (&9.01.into(), &0.9.into()));
    // Two whole bins with an opportunity every 10 ms, and one of 1 ms with an opportunity.
    let millis = (1..=20).map(|n| 10 * n).chain([201]).map(|ms| format!("{ms}\n"));
    let short = facts("short.up", &millis.collect::<String>());
    assert_eq!(short["bins"]["greatest_bps"], 1.2e6);
}

#[test]
fn silence_at_the_end_is_kept_or_its_loss_told() {
    let place = Place::new();
    place.write("outage.csv", "seconds,bits_per_second\n0,1200000\n1,0\n10,0\n");
    assert_eq!(place.weir("trace convert outage.csv outage.json").stderr, "");
    let lost = place.weir("trace convert outage.json outage.up").stderr;
    assert!(
        lost.starts_with("outage.up: Mahimahi's form ends with the last opportunity; 9s of silence"),
        "{lost}"
    );
}

#[test]
fn a_scenario_takes_a_trace_beside_it_and_what_was_run_can_be_run_again() {
    let place = Place::new();
    place.write("cases/mine.csv", "seconds,bits_per_second\n0,1e6\n5,0\n");
    for name in ["./mine.csv", "mine.csv", "../cases/mine.csv"] {
        let scenario = GOOD.replace("rate = \"1Mbps\"\nqueue", &format!("trace = \"{name}\"\nqueue"));
        place.write("cases/call.toml", &scenario);
        let results = |scenario: &str| -> Value {
            serde_json::from_str(&place.weir(&format!("run {scenario} --quiet --json --out out")).stdout)
                .unwrap()
        };
        let first = results("cases/call.toml");
        let link = first["controllers"][0]["links"].as_array().unwrap()[0].clone();
        std::fs::rename(place.path().join("out/scenario.toml"), place.path().join("again.toml")).unwrap();
        assert_eq!(results("again.toml")["controllers"][0]["links"][0], link, "{name}");
    }
    // What is set begins where the command is called.
    place.write("call.toml", GOOD);
    place.weir("check call.toml --set links.forward.trace=./cases/mine.csv");
    place.weir("check cases/call.toml --set links.forward.trace=./cases/mine.csv");
    let outcome = place.try_weir("check cases/call.toml --set links.forward.trace=./mine.csv");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
}

#[cfg(unix)]
#[test]
fn a_file_that_a_shell_has_opened_keeps_what_is_in_it() {
    let place = Place::new();
    place.write("log", "precious\n");
    let log = std::fs::File::options().append(true).open(place.path().join("log")).unwrap();
    let mut command = place.command(&["trace", "convert", "synthetic-lte", "/dev/stdout"]);
    assert!(command.stdout(log).stderr(std::process::Stdio::null()).status().unwrap().success());
    let text = place.read("log");
    let (first, rest) = text.split_once('\n').unwrap();
    assert_eq!(first, "precious");
    assert!(
        rest.lines().count() > 10_000 && rest.starts_with(|c: char| c.is_ascii_digit()),
        "{}",
        rest.len()
    );
}
