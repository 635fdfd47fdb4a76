//! `weir reproduce --out`: the report with the figures.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Outcome, Place};

/// A row with each kind of plot.
const ROW: &str = r#"
title = "Half of the link"
words = "A flow <takes> what it sends."
open = "The rate."
stand_in = "A constant flow."

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
count = 2

[sweeps.rate]
set = ["flows.load.rate=<$rate>kbps"]
quick = [100, 200, 400]

[sweeps.delay]
set = ["dumbbell.bottleneck.delay=<$delay>ms"]
quick = [10, 20]

[variants.run]

[[claims]]
id = "tenth"
class = "NUM"
claim = "what is sent is a fifth of the capacity"
of = "run:links.bottleneck.utilisation.bits"
where = { rate = [100], delay = [10] }
accept = { min = 0.15, max = 0.25 }

[[claims]]
id = "missed"
class = "NUM"
claim = "what is sent is all of the capacity"
of = "run:links.bottleneck.utilisation.bits"
where = { rate = [100], delay = [10] }
accept = { min = 0.9 }
cause = "Nobody sends more."

[[plots]]
id = "course"
title = "Rate over time"
kind = "course"
x = { label = "time, s" }
y = { label = "rate, kbit/s" }
lines = { "link" = "run:series.links.bottleneck.rate_bps / 1000", "offered" = "200" }

[[plots]]
id = "cdf"
title = "Rates"
kind = "cdf"
x = { label = "rate, kbit/s" }
y = { label = "share of the time" }
lines = { "link" = "run:series.links.bottleneck.rate_bps / 1000" }

[[plots]]
id = "sweep"
title = "Utilisation"
kind = "sweep"
x = { label = "rate, kbit/s", log = true }
y = { label = "utilisation" }
along = "rate"
lines = { "measured" = "run:links.bottleneck.utilisation.bits", "offered" = "2 * $rate / 1000" }

[[plots]]
id = "bars"
title = "Utilisation"
kind = "bars"
y = { label = "utilisation" }
lines = { "measured" = "run:links.bottleneck.utilisation.bits" }
paper = { "measured" = 0.2 }

[[plots]]
id = "curve"
title = "Of two flows"
kind = "curve"
equal = true
x = { label = "sent, bytes" }
y = { label = "arrived, bytes" }
lines = { "flows" = { x = "run:flows.*.sent.bytes", y = "run:flows.*.received.bytes" }, "none" = { x = "0", y = "0" } }

[[plots]]
id = "map"
title = "Utilisation over rate and delay"
kind = "map"
x = { label = "rate, kbit/s" }
y = { label = "delay, ms" }
across = "rate"
up = "delay"
lines = { "utilisation" = "run:links.bottleneck.utilisation.bits" }
"#;

const COMMAND: &str = "reproduce mine/row.toml coupled-rtp-2014/alg1 --runs 2 --quiet --json --out report";

fn place() -> Place {
    let place = Place::new();
    place.write("mine/row.toml", ROW);
    place
}

#[test]
fn a_report_has_each_row_with_its_figures_and_claims() {
    let place = place();
    let outcome = place.weir(COMMAND);
    let names: Vec<PathBuf> = place.tree("report").into_keys().collect();
    let files = ["claims.json", "index.html", "plots.json", "runs.log", "table", "table/part-00000.parquet"];
    assert_eq!(names, files.map(PathBuf::from));
    assert_eq!(place.read("report/claims.json"), outcome.stdout);
    let plots: Value = serde_json::from_str(&place.read("report/plots.json")).unwrap();
    assert_eq!(plots["provenance"]["command"], "weir reproduce mine/row.toml coupled-rtp-2014/alg1 --runs 2");
    let plots = plots["plots"].as_array().unwrap();
    let kinds: Vec<&str> = plots.iter().filter_map(|plot| plot["kind"].as_str()).collect();
    assert_eq!(kinds, ["course", "cdf", "sweep", "bars", "curve", "map"]);
    assert_eq!(plots[2]["lines"][1]["y"], serde_json::json!([0.2, 0.4, 0.8]));
    let page = place.read("report/index.html");
    for part in [
        "<section id=\"mine/row\">",
        "<section id=\"coupled-rtp-2014/alg1\">",
        "A flow &lt;takes&gt; what it sends.",
        "A constant flow.",
        "Nobody sends more.",
        "<td class=\"verdict met\">reproduced",
        "<td class=\"verdict unmet\">not reproduced",
        "<td class=\"verdict met\">tested",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<figure>").count(), 6);
    assert!(!page.contains("<script") && !page.contains("://"), "the page brings everything along");
    balanced(&page);
}

/// Every element of the page is closed, in order.
fn balanced(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let tags = page.split('<').skip(2).map(|tag| tag.split('>').next().unwrap_or_default());
    for tag in tags {
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{tag}"),
            None if tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_same_rows_give_the_same_report() {
    let of = |jobs: &str| {
        let place = place();
        place.weir(&format!("{COMMAND} --jobs {jobs}"));
        place.tree("report")
    };
    assert!(of("1") == of("3"), "the files differ");
}

#[test]
fn without_a_report_no_figure_is_drawn_and_no_run_is_made_for_one() {
    let place = place();
    let with = place.weir(COMMAND).stdout;
    assert_eq!(
        place.weir("reproduce mine/row.toml coupled-rtp-2014/alg1 --runs 2 --quiet --json").stdout,
        with
    );
}

#[test]
fn a_directory_that_cannot_be_written_has_no_part_of_a_report() {
    let place = place();
    place.write("file", "mine");
    let refused = |outcome: &Outcome, code| {
        assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("cannot be written"), "{}", outcome.stderr);
    };
    let before = place.tree("");
    refused(&place.try_weir("reproduce mine/row.toml --runs 1 --quiet --out file/report"), 2);
    assert!(place.tree("") == before);
    // A directory in the place of one file prevents the others; the runs are kept.
    fs::create_dir_all(place.path().join("report/plots.json")).unwrap();
    refused(&place.try_weir("reproduce mine/row.toml --runs 1 --quiet --out report"), 1);
    let names: Vec<PathBuf> = place.tree("report").into_keys().collect();
    assert_eq!(names, ["plots.json", "runs.log"].map(PathBuf::from));
}

#[test]
fn a_plot_that_cannot_be_drawn_is_reported_before_anything_runs() {
    let place = Place::new();
    place.write("mine/row.toml", &ROW.replace("along = \"rate\"", "along = \"rates\""));
    let outcome = place.try_weir("reproduce mine/row.toml --out report");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    for part in ["there is no sweep `rates`", "did you mean `rate`?", "mine/row.toml"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    assert!(!place.path().join("report").exists());
}
