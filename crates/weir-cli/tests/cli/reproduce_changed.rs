//! `weir reproduce` with settings changed: `--set` and `--tried`; where results come from; the schema of rows.

use std::path::Path;

use serde_json::{Value, json};

use crate::results::conforms;
use crate::support::Place;

/// Half of a link, and its tried variants: twice as much, and on a link of twice the rate.
const ROW: &str = r#"
title = "Half of the link"
seeds = { quick = 3, full = 4 }
cause = "It is half."

[scenario]
title = "A flow"
duration = "2s"

[scenario.dumbbell]
access = { rate = "100Mbps", delay = "1ms" }

[scenario.dumbbell.bottleneck]
rate = "1Mbps"
delay = "10ms"

[scenario.flows.load]
kind = "constant"
rate = "500kbps"
packet_size = "1000B"

[variants.run]

[[claims]]
id = "all"
class = "NUM"
claim = "what is sent is all of the capacity"
paper = 100
of = "100 * run:links.bottleneck.utilisation.bits"
unit = "%"
accept = { min = 90, max = 101 }

[[tried]]
set = ["flows.load.rate=990kbps"]
claim = "all"
expected = 99
accept = { min = 97, max = 101 }
seeds = 2

[[tried]]
set = ["dumbbell.bottleneck.rate=2Mbps"]
of = "run:links.bottleneck.utilisation.bits"
unit = ""
expected = 0.25
accept = { min = 0.24, max = 0.26 }
seeds = 1
"#;

fn place(row: &str) -> Place {
    let place = Place::new();
    place.write("mine/row.toml", row);
    place
}

fn json(printed: &str) -> Value {
    serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

#[test]
fn figures_that_stand_are_counted_and_those_that_moved_are_printed() {
    let standing = place(ROW).weir("reproduce mine/row.toml --tried --quiet");
    assert_eq!(standing.code, Some(0), "{}", standing.stderr);
    assert_eq!(standing.stdout, "0 of 2 figures with settings changed have moved.\n");

    let moved = ROW
        .replace("expected = 99\naccept = { min = 97, max = 101 }", "expected = 50\naccept = { max = 60 }");
    let place = place(&moved);
    let outcome = place.try_weir("reproduce mine/row.toml --tried --quiet");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(lines[0].starts_with("row       tried  of   expected  range"), "{}", lines[0]);
    assert!(lines[1].starts_with("mine/row  1      all  50 %      ≤ 60"), "{}", lines[1]);
    assert!(lines[1].ends_with("flows.load.rate=990kbps"), "{}", lines[1]);
    assert_eq!(lines[2..], ["", "1 of 2 figures with settings changed have moved."]);

    let printed = place.try_weir("reproduce mine/row.toml --tried --quiet --json");
    assert_eq!(printed.code, Some(1));
    let printed = json(&printed.stdout);
    assert_eq!(printed["provenance"]["command"], "weir reproduce mine/row.toml --tried");
    let [first, second] = &printed["tried"].as_array().unwrap()[..] else { panic!("{printed}") };
    assert_eq!((&first["moved"], &second["moved"]), (&json!(true), &json!(false)));
    assert_eq!((&first["expected"], &first["unit"], &first["seeds"]), (&json!(50.0), &json!("%"), &json!(2)));
    assert_eq!(first["places"][0]["values"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&second["of"], &second["number"]),
        (&json!("run:links.bottleneck.utilisation.bits"), &json!(2))
    );
}

#[test]
fn mistakes_of_a_figure_are_reported_with_file_and_line() {
    let line = |of: &str| ROW.lines().position(|line| line.contains(of)).unwrap() + 1;
    for (right, wrong, told, help) in [
        ("claim = \"all\"", "claim = \"al\"", "there is no claim `al`", "did you mean `all`?"),
        ("claim = \"all\"", "", "nothing is measured", "add `claim`"),
        (
            "accept = { min = 97, max = 101 }",
            "accept = { min = 2, max = 1 }",
            "nothing is in this range",
            "`min` is at most `max`",
        ),
        ("expected = 99", "expected = 90", "lies outside of its own range", "write a range around it"),
        ("flows.load.rate=990kbps", "flows.load.rte=990kbps", "rte", "did you mean `rate`?"),
        ("flows.load.rate=990kbps", "flows.laod.rate=990kbps", "laod", "load"),
        ("seeds = 2\n", "seeds = 0\n", "seeds", "1"),
    ] {
        let place = place(&ROW.replacen(right, wrong, 1));
        let outcome = place.try_weir("reproduce mine/row.toml --tried --quiet");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{wrong}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("mine/row.toml:"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(told) && outcome.stderr.contains(help), "{}", outcome.stderr);
    }
    let wrong = ROW.replacen("flows.load.rate=990kbps", "flows.load.rte=990kbps", 1);
    let outcome = place(&wrong).try_weir("reproduce mine/row.toml --tried --quiet");
    let at = format!("mine/row.toml:{}:", line("flows.load.rate=990kbps"));
    assert!(outcome.stderr.contains(&at), "{}", outcome.stderr);

    let none = Place::new().try_weir("reproduce coupled-rtp-2014/alg1 --tried");
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("none of these rows has `[[tried]]`"), "{}", none.stderr);
}

#[test]
fn a_row_that_was_changed_is_marked_wherever_it_is_printed() {
    let place = place(ROW);
    let changed = "reproduce mine/row.toml --quiet --set flows.load.rate=990kbps";
    let plain = json(&place.weir("reproduce mine/row.toml --quiet --json").stdout);
    assert_eq!(plain["claims"][0]["verdict"], "not reproduced");
    assert_eq!(plain["claims"][0]["cause"], "It is half.");
    assert!(plain["provenance"].get("changed").is_none(), "{plain}");

    let printed = json(&place.weir(&format!("{changed} --json --out report")).stdout);
    assert_eq!(printed["claims"][0]["verdict"], "reproduced");
    assert_eq!(printed["claims"][0]["cause"], Value::Null);
    assert_eq!(printed["provenance"]["changed"], json!(["flows.load.rate=990kbps"]));
    for text in [
        place.weir(changed).stdout,
        place.weir(&format!("{changed} --markdown")).stdout,
        place.read("report/index.html"),
    ] {
        assert!(text.contains("with flows.load.rate=990kbps laid over them"), "{text}");
    }

    // Changed results are neither compared nor a base of comparison.
    let refused = place.try_weir(&format!("{changed} --baseline base.json"));
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--baseline"), "{}", refused.stderr);
    let base = place.try_weir("reproduce mine/row.toml --quiet --baseline report/claims.json");
    assert_eq!(base.code, Some(2));
    assert!(base.stderr.contains("its rows were changed by `--set`"), "{}", base.stderr);

    for (arguments, told) in [
        ("reproduce --set duration=1s", "<ID>"),
        ("reproduce mine/row.toml --set flows.load.rte=1kbps", "did you mean `rate`?"),
        ("reproduce mine/row.toml --set duration", "="),
        (
            "reproduce coupled-rtp-2014/alg1 --set duration=1s",
            "no run of coupled-rtp-2014/alg1 has a scenario",
        ),
        ("reproduce mine/row.toml --tried --set duration=1s", "--set"),
    ] {
        let outcome = place.try_weir(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments}");
        assert!(outcome.stderr.contains(told), "{arguments}: {}", outcome.stderr);
    }
}

#[test]
fn results_say_where_they_come_from() {
    let place = place(ROW);
    let command = "reproduce mine/row.toml coupled-rtp-2014/alg1 --full --quiet";
    let printed = json(&place.weir(&format!("{command} --json --jobs 1 --out report")).stdout);
    let provenance = &printed["provenance"];
    assert_eq!(provenance["weir"], env!("CARGO_PKG_VERSION"));
    assert_eq!(provenance["command"], "weir reproduce mine/row.toml coupled-rtp-2014/alg1 --full");
    assert_eq!(provenance["form"], "full");
    assert_eq!(provenance["seeds"]["mine/row"], 4);
    let commit = provenance["commit"].as_str();
    assert!(commit.is_none_or(|commit| commit.len() >= 7), "{commit:?}");
    let claims = printed["claims"].as_array().unwrap();
    let own = claims.iter().find(|claim| claim["id"] == "mine/row/all").unwrap();
    let values = own["places"][0]["values"].as_array().unwrap();
    assert_eq!(values.len(), 4, "{printed}");
    assert!(values.iter().all(Value::is_f64));
    assert_eq!(json(&place.read("report/claims.json")), printed);
    assert_eq!(json(&place.read("report/plots.json"))["provenance"], *provenance);
    let page = place.read("report/index.html");
    assert!(page.contains("full form, 4 to 10 seeds: weir reproduce mine/row.toml"), "{page}");

    let summary = printed["summary"].as_array().unwrap();
    let mine = summary.iter().find(|paper| paper["paper"] == "mine").unwrap();
    assert_eq!(mine["rows"], json!({ "whole": 0, "in_part": 0, "none": 1 }));
    assert_eq!(mine["numbers"], json!({ "claims": 1, "met": 0, "within_20_percent": 0 }));
    // The output is a baseline.
    let same = place.weir(&format!("{command} --baseline report/claims.json"));
    assert_eq!(same.code, Some(0), "{}", same.stderr);
}

#[test]
fn every_row_that_ships_conforms_to_the_schema_of_rows() {
    let schema = json(&Place::new().weir("schema study").stdout);
    let read = |text: &str| serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap();
    assert_eq!(conforms(&read(ROW), &schema, &schema), Ok(()));
    for (right, wrong) in
        [("[[tried]]", "[[treid]]"), ("class = \"NUM\"", "class = \"NMU\""), ("expected = 99", "")]
    {
        assert!(conforms(&read(&ROW.replacen(right, wrong, 1)), &schema, &schema).is_err(), "{wrong}");
    }
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut rows = 0;
    for paper in std::fs::read_dir(experiments).unwrap().map(|entry| entry.unwrap().path()) {
        if !paper.is_dir() || paper.ends_with("templates") {
            continue;
        }
        for file in std::fs::read_dir(paper).unwrap().map(|entry| entry.unwrap().path()) {
            let row = read(&std::fs::read_to_string(&file).unwrap());
            assert_eq!(conforms(&row, &schema, &schema), Ok(()), "{}", file.display());
            rows += 1;
        }
    }
    assert!(rows >= 146, "{rows}");
}
