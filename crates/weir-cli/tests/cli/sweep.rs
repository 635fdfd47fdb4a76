//! `weir run --sweep`: tables, pictures, parts of several machines, and invalid requests.

use std::path::Path;

use serde_json::Value;

use crate::support::{GOOD, Outcome, Place};

fn place() -> Place {
    let place = Place::new();
    place.write("call.toml", GOOD);
    place
}

#[test]
fn a_key_is_varied_for_each_controller_and_drawn() {
    let place = place();
    let sweep =
        "run call.toml --runs 2 --sweep links.forward.delay=10ms,50ms,200ms --controller gcc,nada --quiet";
    let outcome = place.weir(&format!("{sweep} --out out"));
    let lines: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains(" ± ")).collect();
    // Two controllers at three places, below the line that explains the interval.
    assert_eq!(lines.len(), 1 + 6, "{}", outcome.stdout);
    assert!(
        lines[1].starts_with("10ms ") && lines[6].starts_with("200ms ") && lines[6].contains("nada"),
        "{lines:?}"
    );
    let page = place.read("out/index.html");
    assert!(
        page.contains("<svg") && page.contains("links.forward.delay, ms") && page.contains(">nada<"),
        "{page}"
    );
    let numbers: Value = serde_json::from_str(&place.read("out/sweep.json")).unwrap();
    assert_eq!(numbers[5]["at"]["links.forward.delay"], "200ms");
    assert_eq!((&numbers[5]["controller"], &numbers[5]["rate"]["runs"]), (&"nada".into(), &2.into()));

    // Runs of two machines combine to the same bytes.
    for shard in ["1/2", "2/2"] {
        place.weir(&format!("{sweep} --shard {shard} --out part-{}", &shard[..1]));
    }
    place.weir(&format!("{sweep} --merge part-1 part-2 --out merged"));
    let (merged, whole) = (place.tree("merged"), place.tree("out"));
    assert!(merged == whole, "{:?}, {:?}", merged.keys(), whole.keys());
    for file in ["index.html", "sweep.json", "runs.log", "table/part-00000.parquet"] {
        assert!(whole.contains_key(Path::new(file)), "{file}");
    }
}

#[test]
fn the_table_has_each_run_with_its_place() {
    let place = place();
    let sweep = "run call.toml --runs 2 --controller gcc,nada --quiet --table csv";
    let keys =
        "--sweep links.forward.rate=500kbps,1Mbps --sweep links.forward.queue.discipline=drop-tail,codel";
    place.weir(&format!("{sweep} {keys} --out out"));
    let table = place.read("out/table/part-00000.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|own| *own == name).unwrap();
    let of_metric = rows.iter().filter(|row| row[column("metric")] == "media.rate_bps");
    let runs: Vec<Vec<&str>> = of_metric
        .map(|row| {
            let at = [
                "run",
                "at.links.forward.rate",
                "at.links.forward.queue.discipline",
                "variant",
                "seed",
                "unit",
            ];
            at.iter().map(|name| row[column(name)]).collect()
        })
        .collect();
    assert_eq!(runs.len(), 16);
    assert_eq!(runs[0], ["0", "500000", "drop-tail", "gcc", "1", "bit/s"]);
    assert_eq!(runs[7], ["7", "500000", "codel", "nada", "2", "bit/s"]);
    assert_eq!(runs[15], ["15", "1000000", "codel", "nada", "2", "bit/s"]);
    // The numbers are those of the printed results.
    let set = "--set links.forward.rate=1Mbps --set links.forward.queue.discipline=codel";
    let alone = place.weir(&format!("run call.toml --runs 1 --seed 2 --controller nada {set} --json")).stdout;
    let alone: Value = serde_json::from_str(&alone).unwrap();
    let flow = &alone["controllers"][0]["flows"][0];
    let expected = flow["owd_excess_ms"]["p95"]["mean"].as_f64().unwrap();
    let own = rows.iter().find(|row| {
        row[0] == "15"
            && row[column("flow")] == flow["name"]
            && row[column("metric")] == "flows[].owd_excess_ms.p95"
    });
    assert_eq!(own.unwrap()[column("value")].parse(), Ok(expected));
    // The next sweep has no table, and leaves none behind.
    place.weir(&format!("run call.toml --runs 1 --quiet --table none {keys} --out out"));
    assert!(!place.path().join("out/table").exists());
    assert!(place.path().join("out/sweep.json").exists());
}

#[test]
fn words_and_ranges_are_swept() {
    let place = place();
    let sweep = "run call.toml --runs 1 --quiet --json --sweep links.forward.delay=10ms..40ms/3log";
    let outcome =
        place.weir(&format!("{sweep} --sweep links.forward.queue.discipline=drop-tail,codel --out out"));
    let numbers: Vec<Value> = serde_json::from_str(&outcome.stdout).unwrap();
    let at: Vec<[&str; 2]> = numbers
        .iter()
        .map(|own| {
            ["links.forward.delay", "links.forward.queue.discipline"]
                .map(|key| own["at"][key].as_str().unwrap())
        })
        .collect();
    let expected = ["10ms", "20ms", "40ms"].map(|delay| [[delay, "drop-tail"], [delay, "codel"]]);
    assert_eq!(at, expected.as_flattened());
    assert!(
        place.read("out/index.html").contains("links.forward.queue.discipline: 0 = drop-tail, 1 = codel")
    );
}

#[test]
fn two_keys_are_crossed_to_a_map() {
    let place = place();
    let outcome = place.weir(
        "run call.toml --runs 1 --sweep links.forward.delay=10ms,50ms --sweep links.forward.rate=500kbps,900kbps --json --out out",
    );
    let numbers: Vec<Value> = serde_json::from_str(&outcome.stdout).unwrap();
    let at: Vec<(&str, &str)> = numbers
        .iter()
        .map(|number| {
            let of = |path: &str| number["at"][path].as_str().unwrap();
            (of("links.forward.delay"), of("links.forward.rate"))
        })
        .collect();
    assert_eq!(at, [("10ms", "500kbps"), ("10ms", "900kbps"), ("50ms", "500kbps"), ("50ms", "900kbps")]);
    let rate = |index: usize| numbers[index]["rate"]["mean"].as_f64().unwrap();
    assert!(rate(1) > rate(0) && rate(3) > rate(2), "more capacity, more rate: {numbers:?}");
    assert!(place.read("out/index.html").contains("links.forward.rate, kbps"));
}

#[test]
fn differences_of_variants_are_printed_run_by_run() {
    let place = place();
    let sweep = "run call.toml --runs 5 --quiet --sweep links.forward.delay=10ms,50ms";
    let run = format!("{sweep} --controller gcc,nada,gcc{{trendline.window=40}}");
    // Significant values are bold on a terminal: the runs of a place differ in the seed alone.
    let words: Vec<&str> = run.split(' ').collect();
    let coloured = Outcome::of(place.command(&words).env("CLICOLOR_FORCE", "1")).stdout;
    let text = place.weir(&run).stdout;
    let page = place.read("weir-out/call-sweep/index.html");
    for title in ["<th>controller</th>", "<th>less gcc, run by run</th>"] {
        assert_eq!(page.matches(title).count(), 1, "{title} in {page}");
    }
    let (own, less) = page.split_once("less gcc, run by run").unwrap();
    assert_eq!((own.matches("<tr><th>50ms</th>").count(), less.matches("<tr><th>50ms</th>").count()), (3, 1));
    for (marked, of) in [
        (own.matches("<td class=\"best\"").count(), "controller"),
        (less.matches("<td class=").count(), "less"),
    ] {
        let (head, below) = coloured.split_once("less gcc").unwrap();
        let table = if of == "less" { below } else { head.split_once("controller").unwrap().1 };
        let rows = table.lines().filter(|line| line.contains(" ± "));
        let bold: usize = rows.map(|line| line.matches("\u{1b}[1m").count()).sum();
        assert_eq!(bold, marked, "{of}: {coloured}");
        assert!(marked > 0 || of == "less", "{page}");
    }
    let below = text.split_once("less gcc, run by run").unwrap().1;
    let places: Vec<&str> =
        below.lines().skip(1).take(2).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(places, ["10ms", "50ms"], "{text}");
    let numbers: Vec<Value> = serde_json::from_str(&place.weir(&format!("{run} --json")).stdout).unwrap();
    for at in numbers.chunks(3) {
        let rate = |number: &Value| number["rate"]["mean"].as_f64().unwrap();
        let less = &at[2]["less"]["gcc"];
        assert!((rate(less) - (rate(&at[2]) - rate(&at[0]))).abs() < 1e-6, "{at:?}");
        assert!(at[..2].iter().all(|own| own.get("less").is_none()), "{at:?}");
    }
    let alone = place.weir(&format!("{sweep} --controller gcc,nada")).stdout;
    assert!(!alone.contains("run by run"), "{alone}");
}

#[test]
fn changes_laid_over_a_sweep_stand_as_written() {
    let place = place();
    // A file with the name of a template of a paper's rows; a value that a row would take for a formula.
    place.write("dumbbell-10ms", GOOD);
    for arguments in [vec!["run", "call.toml", "--set", "title=a <b> c < d"], vec!["run", "dumbbell-10ms"]] {
        let sweep = ["--sweep", "links.forward.delay=10ms,50ms", "--runs", "1", "--quiet"];
        let outcome = place.call(&[&arguments[..], &sweep].concat());
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn invalid_sweeps_are_refused_with_their_option() {
    let place = place();
    for (arguments, told) in [
        (
            "--sweep links.forward.dely=1ms,2ms",
            &["--sweep links.forward.dely=1ms", "did you mean `delay`?"][..],
        ),
        ("--sweep links.forward.delay=1ms,-2ms", &["--sweep links.forward.delay=-2ms", "0s or longer"]),
        ("--sweep links.forward.delay=1ms", &["--sweep", "one value"]),
        // Errors that only a built run detects, alone and beside another value.
        ("--sweep measure.from=1s,9s", &["--sweep measure.from=9s", "the run ends at 5s"]),
        (
            "--sweep duration=10s,20s --sweep measure.from=8s,12s",
            &["--sweep measure.from=12s", "the run ends at 10s"],
        ),
        ("--sweep links.forward.delay=1ms,2kbps", &["another quantity"]),
        ("--sweep links.forward.delay=1ms..9ms", &["no range"]),
        ("--sweep links.forward.delay=1ms,soon", &["--sweep links.forward.delay=soon"]),
        ("--sweep flows.video.controller=gcc,nada", &["--sweep flows.video.controller", "--controller"]),
        ("--sweep links.forward.delay=1ms,2ms --seed 3", &["--seed", "seeds from 1 on"]),
        ("--sweep links.forward.delay=1ms,2ms --set seed=3", &["--set seed", "seeds from 1 on"]),
        (
            "--sweep links.forward.delay=1ms,2ms --set links.forward.delay=3ms",
            &["--set links.forward.delay=3ms", "leave one"],
        ),
        ("--sweep duration=5s,6s --duration 7s", &["--duration 7s", "the sweep sets duration already"]),
        ("--sweep links.forward.delay=1ms,2ms --json --open", &["--open", "only with --out"]),
        ("--sweep seed=1,2", &["--sweep seed", "sets this itself"]),
        ("--sweep links.forward.delay=1ms,2ms --sweep links.forward.delay=3ms,4ms", &["varied twice"]),
        ("--sweep links.forward.delay=1ms,2ms --runs 2000", &["--runs 2000", "at most 1000"]),
        ("--shard 1/2 --out parts", &["--sweep"]),
        ("--sweep links.forward.delay=1ms,2ms --controller gcd", &["gcd", "did you mean `gcc`?"]),
    ] {
        let before = place.tree("");
        let outcome = place.try_weir(&format!("run call.toml {arguments}"));
        assert_eq!(outcome.code, Some(2), "{arguments}: {}", outcome.stderr);
        assert!(told.iter().all(|part| outcome.stderr.contains(part)), "{arguments}: {}", outcome.stderr);
        assert_eq!(place.tree(""), before, "{arguments} wrote something");
    }
}

#[test]
fn a_grid_with_too_many_places_is_refused_with_its_counts() {
    let place = place();
    let before = place.tree("");
    let (delay, rate) = ("links.forward.delay=1ms..100ms/1000", "links.forward.rate=1Mbps..9Mbps/1000");
    let suite = format!("suite quality --sweep {delay} --sweep {rate}");
    for (call, keys) in [
        (
            format!("run call.toml --sweep {delay} --sweep {rate} --sweep duration=5s..9s/1000 --out out"),
            "--sweep: links.forward.delay has 1000 values, links.forward.rate has 1000 values, duration has 1000 values",
        ),
        (
            format!("{suite} --out out"),
            "--sweep: links.forward.delay has 1000 values, links.forward.rate has 1000 values",
        ),
        (
            "suite quality --sweep links.forward.delay=1ms..100ms/1000 --sweep links.forward.rate=1Mbps..9Mbps/100 --case steady,step \
             --out out"
                .to_owned(),
            "--sweep: links.forward.delay has 1000 values, links.forward.rate has 100 values, case has 2 values",
        ),
        (
            "reproduce gcc-2016/fig8 --grid 1000 --out out".to_owned(),
            "k_u has 1000 values, k_d has 1000 values",
        ),
    ] {
        let outcome = place.try_weir(&call);
        assert_eq!(outcome.code, Some(2), "{call}: {}", outcome.stderr);
        let told = format!("{keys}; a sweep has at most 100000 combinations of values, so give fewer");
        assert!(outcome.stderr.contains(&told), "{call}: {}", outcome.stderr);
        assert_eq!(place.tree(""), before, "{call} wrote something");
    }
}
