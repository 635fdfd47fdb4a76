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
    assert!(run("trace show synthetic-lte").contains("outages  "));
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
fn an_error_in_a_trace_names_its_line_and_column() {
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
fn gaps_and_rates_are_those_of_the_repeated_trace() {
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
fn silence_at_the_end_is_kept_or_its_loss_is_reported() {
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
fn a_scenario_finds_a_trace_beside_it_and_its_saved_copy_runs_again() {
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
    // Paths in options begin at the current directory.
    place.write("call.toml", GOOD);
    place.weir("check call.toml --set links.forward.trace=./cases/mine.csv");
    place.weir("check cases/call.toml --set links.forward.trace=./cases/mine.csv");
    let outcome = place.try_weir("check cases/call.toml --set links.forward.trace=./mine.csv");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
}

#[cfg(unix)]
#[test]
fn an_appended_file_keeps_its_former_content() {
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

#[test]
fn unknown_endings_and_writing_over_the_input_are_refused() {
    let place = Place::new();
    place.write("part.up", "12\n24\n36\n");
    place.write("data/traces/train.up", "12\n24\n");
    let before = place.tree("");
    for (line, message) in [
        ("trace plot part.up x.png", "x.png: a plot is SVG; let the name end in .svg"),
        (
            "trace convert part.up x.parquet",
            "x.parquet: no trace is written in this form; let the name end in .csv",
        ),
        (
            "trace scale part.up part.up --rate 0.5",
            "part.up: this is the trace that is read; name another file",
        ),
        ("trace cut part.up ./part.up --to 20ms", "./part.up: this is the trace that is read"),
        (
            "trace convert train.up data/traces/train.up",
            "data/traces/train.up: this is the trace that is read",
        ),
        ("trace import part.up --to part.up", "--to part.up: this is the file that is read"),
        (
            "trace import part.up --to x.parquet",
            "--to x.parquet: a trace ends in .csv, .json, .up, .down or .mahi",
        ),
        ("trace import nowhere.csv", "nowhere.csv: No such file"),
        ("trace import part.up --rate-unit MBps", "it must be one of bit/s, kbit/s"),
        (
            "trace import part.up --rate-unit MB/s",
            "part.up: --rate-unit does not apply to Mahimahi's form; leave it out",
        ),
        ("trace import part.up --flow 0", "it must be a number from 1"),
    ] {
        let outcome = place.try_weir(line);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{line}: {}", outcome.stderr);
        assert_eq!(place.tree(""), before, "{line}");
    }
    let cut = place.weir("trace cut part.up rest.up --from 12ms --to 10min");
    assert_eq!(cut.stderr, "rest.up: the trace ends at 36ms, before 10min; the part ends there.\n");
    place.weir("trace plot synthetic-lte lte.svg");
    let svg = place.read("lte.svg");
    for tick in [">20</text>", ">120</text>", ">5</text>"] {
        assert!(svg.contains(tick), "{tick}: {svg}");
    }
}

#[test]
fn an_imported_table_gives_a_link_that_a_scenario_accepts() {
    let place = Place::new();
    place.write("drive.csv", "time,DL throughput\n0,1500\n1000,900\n2000,1200\n");
    let columns = ["--time", "time", "--rate", "DL throughput", "--time-unit", "ms", "--rate-unit", "kbit/s"];
    let import =
        |more: &[&str]| place.call(&[&["trace", "import", "drive.csv"], &columns[..], more].concat());
    let printed = import(&["--to", "mine.csv"]).stdout;
    for part in [
        "times           column `time`, in ms\n",
        "rates           column `DL throughput`, in kbit/s\n",
        "duration        3s",
        "mean rate       1.200 Mbit/s, from 0.900 to 1.500",
        "\n\n[links.forward]\nfrom = \"here\"\nto = \"there\"\ntrace = \"./mine.csv\"\n",
        "\ndelay = \"25ms\"               # a usual value; the file does not tell\n",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert_eq!(place.read("mine.csv"), "seconds,bits_per_second\n0,1500000\n1,900000\n2,1200000\n3,0\n");
    let (_, rest) = GOOD.split_once("[links.backward]").unwrap();
    let scenario = |link: &str| {
        let link = link.replace("\"here\"", "\"left\"").replace("\"there\"", "\"right\"");
        format!("title = \"A call\"\nduration = \"5s\"\n{link}\n[links.backward]{rest}")
    };
    let (_, link) = printed.split_once("\n\n[links").unwrap();
    place.write("call.toml", &scenario(&format!("[links{link}")));
    place.weir("check call.toml");
    // A scenario can name no columns.
    place.write(
        "direct.toml",
        &scenario("[links.forward]\nfrom = \"left\"\nto = \"right\"\ntrace = \"./drive.csv\""),
    );
    let refused = place.try_weir("check direct.toml");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("direct.toml:6:9") && refused.stderr.contains("weir trace import"),
        "{}",
        refused.stderr
    );
    // A name goes into the nearest data directory.
    std::fs::create_dir_all(place.path().join("own/traces")).unwrap();
    let json: Value =
        serde_json::from_str(&import(&["--to", "Drive", "--data", "own", "--json"]).stdout).unwrap();
    let link = json["scenario"].as_str().unwrap();
    assert!(link.contains("\ntrace = \"drive.csv\"\n"), "{link}");
    assert_eq!(json["mean_rate_bps"], 1_200_000);
    place.write("named.toml", &scenario(link));
    place.weir("check named.toml --data own");
    let unnamed = place.try_weir("trace import drive.csv --rate DL");
    assert_eq!(unnamed.code, Some(2));
    assert!(
        unnamed
            .stderr
            .contains("drive.csv: no column is called `seconds`; the first line has `time`, `DL throughput`"),
        "{unnamed:?}"
    );
}

#[test]
fn a_short_file_of_a_long_trace_is_read_at_once() {
    let place = Place::new();
    place.write("long.csv", "seconds,bits_per_second\n0,1000\n4294967,0\n");
    place.write("long.up", "4294967295\n");
    let json =
        r#"{"rates": [{"seconds": 0, "bits_per_second": 1000}, {"seconds": 4294967, "bits_per_second": 0}]}"#;
    place.write("long.json", json);
    let sum = r#"{"start": 0, "end": 4294967, "bytes": 125e6, "sender": false}"#;
    place.write("iperf.json", &format!("{{\"intervals\": [{{\"sum\": {sum}}}]}}"));
    // By the millisecond each of these would be minutes.
    for file in ["long.csv", "long.up", "long.json", "iperf.json"] {
        if file != "iperf.json" {
            let shown = place.weir(&format!("trace show ./{file} --bin 1h")).stdout;
            assert!(shown.contains("4294967"), "{file}: {shown}");
        }
        for to in ["again.csv", "again.up"] {
            let imported: Value =
                serde_json::from_str(&place.weir(&format!("trace import {file} --to {to} --json")).stdout)
                    .unwrap();
            assert!(
                imported["least_rate_bps"].is_number() && imported["duration_seconds"].as_f64() > Some(4e6),
                "{imported}"
            );
        }
    }
}

/// A link of 3 Mbit/s for 10 s and of 1.5 Mbit/s for 10 s, 20 ms long.
const BULK: &str = r#"title = "Bulk"
duration = "20s"
[links.forward]
from = "a"
to = "b"
delay = "20ms"
steps = [{ at = "0s", rate = "3Mbps" }, { at = "10s", rate = "1.5Mbps" }]
queue = { time = "200ms" }
[links.backward]
from = "b"
to = "a"
delay = "25ms"
rate = "50Mbps"
[flows.bulk]
from = "a"
to = "b"
"#;

#[test]
fn the_named_flow_of_a_capture_becomes_a_trace() {
    let place = Place::new();
    place.write("bulk.toml", &format!("{BULK}kind = \"tcp\"\nprofile = \"plain\"\n"));
    place.weir("run bulk.toml --quiet --out out --pcap forward,backward");
    let unnamed = place.try_weir("trace import out/packets-none.pcapng");
    assert_eq!((unnamed.code, unnamed.stdout.as_str()), (Some(2), ""), "{unnamed:?}");
    for part in [
        "the capture has 2 flows; name one with --flow NUMBER: 1: TCP 10.0.0.1:40000 → ",
        "; 2: TCP 10.0.0.2:49152 → ",
    ] {
        assert!(unnamed.stderr.contains(part), "{part}: {unnamed:?}");
    }
    let imported = place.weir("trace import out/packets-none.pcapng --flow 1 --to mine.csv --json").stdout;
    let imported: Value = serde_json::from_str(&imported).unwrap();
    let link = imported["scenario"].as_str().unwrap();
    assert!(
        link.contains("trace = \"./mine.csv\"         # of the transfer; the path may carry more\n"),
        "{link}"
    );
    let rates: Vec<(f64, f64)> = place
        .read("mine.csv")
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap())
        .map(|(seconds, rate)| (seconds.parse().unwrap(), rate.parse().unwrap()))
        .collect();
    let mean = |from: f64, to: f64| {
        let within: Vec<f64> =
            rates.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, rate)| *rate).collect();
        within.iter().sum::<f64>() / within.len() as f64
    };
    // TCP's first second ends in a timeout.
    let (before, after) = (mean(3.0, 9.0), mean(11.0, 19.0));
    assert!((2.91e6..3.03e6).contains(&before) && (1.455e6..1.515e6).contains(&after), "{before} {after}");
    // In one direction there is a single flow.
    place.weir("run bulk.toml --quiet --out out --pcap forward");
    place.weir("trace import out/packets-none.pcapng --to one.csv");
    assert_eq!(place.read("one.csv"), place.read("mine.csv"));
}

#[test]
fn a_short_trace_is_shown_without_statistics() {
    let place = Place::new();
    place.write("short.up", "3\n20\n60\n");
    place.write("second.up", "3\n500\n1000\n");
    let shown = place.weir("trace show short.up").stdout;
    assert!(!shown.contains("NaN") && !shown.contains("deviation") && shown.contains("mean rate"), "{shown}");
    let facts: Value = serde_json::from_str(&place.weir("trace show short.up --json").stdout).unwrap();
    assert_eq!(facts["statistics"], Value::Null);
    let shown = place.weir("trace show second.up").stdout;
    assert!(!shown.contains("NaN") && shown.contains("deviation"), "{shown}");
}

#[test]
fn a_file_with_the_name_of_a_generated_drive_is_not_mistaken_for_it() {
    let place = Place::new();
    place.write("synthetic-lte-7", "10\n20\n");
    let outcome = place.try_weir("trace show synthetic-lte-7");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let problem =
        "the trace `synthetic-lte-7` is a generated drive, and there is a file of this name, synthetic-lte-7";
    assert!(outcome.stderr.contains(problem), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("such as `./synthetic-lte-7`"), "{}", outcome.stderr);
    assert!(place.weir("trace show ./synthetic-lte-7").stdout.contains("opportunities   2 "));
    place.weir("trace show synthetic-lte-8");
    // A scenario beside such a file, too.
    place.weir("run cellular/lte-drive --runs 1 --duration 1s --controller gcc --quiet --out lte");
    let scenario = place.read("lte/scenario.toml").replace("\"synthetic-lte\"", "\"synthetic-lte-7\"");
    place.write("mine.toml", &scenario);
    let outcome = place.try_weir("run mine.toml --quiet");
    assert!(outcome.code == Some(2) && outcome.stderr.contains(problem), "{outcome:?}");
    for name in ["synthetic-lte-007", "synthetic-lte-+7"] {
        let outcome = place.try_weir(&format!("trace show {name}"));
        assert!(outcome.stderr.contains("was not found"), "{name}: {}", outcome.stderr);
    }
}

#[test]
fn an_error_in_a_damaged_capture_names_the_packet() {
    let place = Place::new();
    place.write("bulk.toml", &format!("{BULK}kind = \"tcp\"\n"));
    place.weir("run bulk.toml --quiet --out out --pcap forward --duration 3s");
    let whole = std::fs::read(place.path().join("out/packets-none.pcapng")).unwrap();
    std::fs::write(place.path().join("cut.pcapng"), &whole[..whole.len() / 2 + 5]).unwrap();
    let mut broken = whole.clone();
    let middle = whole.len() / 2;
    broken[middle..middle + 64].fill(0xff);
    std::fs::write(place.path().join("broken.pcapng"), &broken).unwrap();
    for (name, reason) in [("cut", "the file ends within it"), ("broken", "the file is damaged")] {
        let outcome = place.try_weir(&format!("trace import {name}.pcapng"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        let start = format!("error: {name}.pcapng, packet ");
        assert!(outcome.stderr.starts_with(&start) && outcome.stderr.contains(reason), "{outcome:?}");
    }
    place.write("tiny.csv", "seconds,bits_per_second\n0,1\n1e18,0\n");
    let tiny = place.try_weir("trace import tiny.csv");
    assert_eq!(tiny.code, Some(2));
    assert!(tiny.stderr.contains("tiny.csv, line 3, column 1: 1000000000000000000 s"), "{}", tiny.stderr);
}
