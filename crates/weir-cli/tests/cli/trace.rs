//! `weir trace`.

use serde_json::Value;

use crate::support::Place;

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
    assert!(run("trace show synthetic-lte").contains("2.572 Mbit/s"));
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
    for (line, message) in [
        ("trace show bad.csv", "bad.csv, line 3, column 3: `fast` is not a number"),
        ("trace show bad.up", "bad.up, line 2, column 1: the milliseconds must not decrease"),
        ("trace show nowhere", "the trace `nowhere` was not found"),
        ("trace cut synthetic-lte out.up --from 500s", "no opportunity is left between"),
        ("trace scale synthetic-lte out.up --rate 0", "the factor must lie between 0.001 and 1000"),
        ("trace convert synthetic-lte no/such/out.csv", "cannot be written"),
    ] {
        let outcome = place.try_weir(line);
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{line}: {}", outcome.stderr);
    }
    assert!(!place.path().join("out.up").exists());
}
