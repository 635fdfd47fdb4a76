//! `weir reproduce`.

use serde_json::Value;

use crate::support::Place;

/// The shortest of the rows that run.
const SHORT: &str = "reproduce coupled-rtp-2014/fig6 coupled-rtp-2014/alg1 --runs 2 --quiet";

/// The claims in what `--json` printed.
fn claims(printed: &str) -> Vec<Value> {
    let printed: Value = serde_json::from_str(printed).unwrap();
    printed["claims"].as_array().unwrap().clone()
}

#[test]
fn an_object_for_each_claim_says_what_was_reported_measured_and_accepted() {
    let outcome = Place::new().weir(&format!("{SHORT} --json"));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let claims = claims(&outcome.stdout);
    for claim in &claims {
        for key in [
            "id",
            "row",
            "class",
            "claim",
            "reported",
            "measured",
            "accepted",
            "verdict",
            "stand_in",
            "calibration",
        ] {
            assert!(claim.get(key).is_some(), "{key} of {claim}");
        }
    }
    let of = |id: &str| claims.iter().find(|claim| claim["id"] == id).unwrap_or_else(|| panic!("{id}"));
    let tested = of("coupled-rtp-2014/alg1/update");
    assert_eq!((&tested["verdict"], &tested["class"]), (&"tested".into(), &"STRUCT".into()));
    let run = of("coupled-rtp-2014/fig6/restored");
    assert_eq!((&run["measured"]["runs"], &run["accepted"]["high"]), (&2.into(), &1.0.into()));
    assert!(run["measured"]["mean"].is_f64() && run["measured"]["ci95"].is_f64(), "{run}");
}

#[test]
fn the_table_and_the_markdown_say_the_same() {
    let place = Place::new();
    let table = place.weir(SHORT);
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    let markdown = place.weir(&format!("{SHORT} --markdown"));
    for said in ["alg1/update", "fig6/restored", "tested"] {
        assert!(table.stdout.contains(said) && markdown.stdout.contains(said), "{said}");
    }
    assert!(markdown.stdout.starts_with("## coupled-rtp-2014\n"), "{}", markdown.stdout);
}

#[test]
fn threads_change_nothing() {
    let place = Place::new();
    let of = |jobs: &str| place.weir(&format!("{SHORT} --json --jobs {jobs}")).stdout;
    assert_eq!(of("1"), of("3"));
}

#[test]
fn a_row_or_a_paper_that_is_not_there_brings_up_the_nearest() {
    let place = Place::new();
    let row = place.try_weir("reproduce coupled-rtp-2014/fg8");
    assert_eq!(row.code, Some(2));
    assert!(row.stderr.contains("did you mean `coupled-rtp-2014/fig8`?"), "{}", row.stderr);
    let paper = place.try_weir("reproduce --paper coupled-rtp-2015");
    assert_eq!(paper.code, Some(2));
    assert!(paper.stderr.contains("did you mean `coupled-rtp-2014`?"), "{}", paper.stderr);
}

#[test]
fn a_row_of_ones_own_is_a_file() {
    let place = Place::new();
    let row = r#"
        title = "Half of the link"
        scenario = "own"

        [variants.run]

        [[claims]]
        id = "half"
        class = "NUM"
        claim = "what is sent is half of the capacity"
        of = "run:links.bottleneck.utilisation.bits"
        accept = { min = 0.45, max = 0.55 }
    "#;
    let template = r#"
        title = "Own"
        duration = "2s"
        [dumbbell]
        access = { rate = "100Mbps", delay = "1ms" }
        [dumbbell.bottleneck]
        rate = "1Mbps"
        delay = "10ms"
        [flows.load]
        kind = "constant"
        rate = "500kbps"
        packet_size = "1000B"
    "#;
    for (folder, file, text) in [("mine", "row.toml", row), ("templates", "own.toml", template)] {
        let folder = place.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(file), text).unwrap();
    }
    let outcome = place.weir("reproduce mine/row.toml --runs 1 --quiet --json");
    let claims = claims(&outcome.stdout);
    assert_eq!((&claims[0]["id"], claims.len()), (&"mine/row/half".into(), 1), "{}", outcome.stderr);
    let twice = place.try_weir("reproduce mine/row.toml mine/row.toml");
    assert_eq!(twice.code, Some(2));
    assert!(twice.stderr.contains("two rows are called `mine/row`"), "{}", twice.stderr);
    let missing = place.try_weir("reproduce mine/other.toml");
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("the row cannot be read"), "{}", missing.stderr);
}

/// A grid of three by two places, a run of two seconds at each, and an analysis.
const GRID: &str = r#"
title = "A grid"
scenario = "gcc-2016/variable-capacity"
set = ["duration=2s"]
seeds = { quick = 2, full = 2 }

[sweeps.start]
set = ["flows.video.rates.start=<$start>kbps"]
quick = { from = 100, to = 400, points = 3 }

[sweeps.delay]
set = ["links.forward.delay=<$delay>ms"]
quick = { from = 10, to = 20, points = 2 }

[variants.call]

[variants.price]
analysis = "dccc-penalty"

[formulas]
rate = "call:flows.video.sent_rate_bps / 1000"

[[claims]]
id = "rank"
class = "NUM"
claim = "correlation of the start rate and the rate"
of = "correlation(rank($start), rank(rate))"
over_places = "all"
accept = { min = 0.5 }

[[claims]]
id = "theory"
class = "THEORY"
claim = "the price keeps below its bound"
of = "greatest(price:curves.*.price.*)"
accept = { max = 1 }
"#;

/// Content of `directory`, by name.
fn files(place: &Place, directory: &str) -> Vec<(String, Option<Vec<u8>>)> {
    let name = |path: &std::path::Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    place.tree(directory).into_iter().map(|(path, content)| (name(&path), content)).collect()
}

#[test]
fn shards_come_together_in_the_bytes_of_one_machine() {
    let place = Place::new();
    place.write("paper/grid.toml", GRID);
    let row = "reproduce paper/grid.toml --quiet";
    place.weir(&format!("{row} --out whole"));
    for shard in ["1/2", "2/2"] {
        let outcome = place.weir(&format!("{row} --shard {shard} --out part-{}", &shard[..1]));
        assert!(outcome.stdout.contains(&format!("shard {shard}")), "{}", outcome.stdout);
        assert_eq!(files(&place, &format!("part-{}", &shard[..1])).len(), 1, "only the runs");
    }
    place.weir(&format!("{row} --merge part-1 part-2 --out merged"));
    assert_eq!(files(&place, "merged"), files(&place, "whole"));
    let names: Vec<String> = files(&place, "whole").into_iter().map(|(name, _)| name).collect();
    let usual = ["claims.json", "index.html", "paper-grid.parquet", "plots.json", "runs.log"];
    assert_eq!(names, [&usual[..], &["table", "part-00000.parquet"]].concat());

    let missing = place.try_weir(&format!("{row} --merge nowhere --out other"));
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("nowhere"), "{}", missing.stderr);
    let wrong = place.try_weir(&format!("{row} --shard 3/2 --out other"));
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("write `I/N`"), "{}", wrong.stderr);
}

#[test]
fn a_killed_command_goes_on_and_ends_in_the_same_bytes() {
    let place = Place::new();
    place.write("paper/grid.toml", GRID);
    let row = "reproduce paper/grid.toml --quiet";
    place.weir(&format!("{row} --out whole"));
    place.weir(&format!("{row} --shard 1/3 --out killed"));
    // It was killed while it wrote the last line.
    let log = place.read("killed/runs.log");
    place.write("killed/runs.log", &log[..log.len() - 20]);
    place.weir(&format!("{row} --out killed"));
    assert_eq!(files(&place, "killed"), files(&place, "whole"));
}

#[test]
fn theory_is_computed_by_the_command() {
    let place = Place::new();
    place.write("paper/grid.toml", GRID);
    let outcome = place.weir("reproduce paper/grid.toml --quiet --json");
    let claims = claims(&outcome.stdout);
    let theory = claims.iter().find(|claim| claim["id"] == "paper/grid/theory").unwrap();
    assert_eq!((&theory["verdict"], &theory["measured"]["runs"]), (&"reproduced".into(), &1.into()));
    place.write("paper/grid.toml", &GRID.replace("dccc-penalty", "dccc-penalti"));
    let wrong = place.try_weir("reproduce paper/grid.toml --quiet");
    assert!(wrong.stderr.contains("`dccc-penalty`"), "{}", wrong.stderr);
}
