//! `weir why`: a moment of a run, and where a rate fell most.

use crate::support::Place;

const CALL: &str = "run quality/steady --controller gcc,nada --runs 2 --duration 20s --quiet --out call";

#[test]
fn a_moment_has_five_lines_and_is_json_too() {
    let place = Place::new();
    place.weir(CALL);
    let outcome = place.weir("why call --controller gcc --at 10s");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines.len(), 5, "{}", outcome.stdout);
    for (line, start) in lines.iter().zip([
        "10.00 s, video under gcc, seed 1: the target is ",
        "Limited by ",
        "The last recorded change: ",
        "By its signals: trend ",
        "Around it: ",
    ]) {
        assert!(line.starts_with(start), "{line}");
    }
    let told: serde_json::Value =
        serde_json::from_str(&place.weir("why call --controller gcc --at 10s --json").stdout).unwrap();
    assert_eq!(
        (&told["controller"], &told["flow"], &told["seed"]),
        (&"gcc".into(), &"video".into(), &1.into())
    );
    let moment = &told["moment"];
    let target = moment["target_bps"].as_f64().unwrap() / 1e3;
    assert!(lines[0].contains(&format!("the target is {target:.0} kbit/s")), "{} and {target}", lines[0]);
    assert_eq!(moment["moved"]["signals"][0]["signal"], "trend");
    // The row that it was read from is in the table.
    let at = moment["moved"]["time_s"].as_f64().unwrap();
    let table = place.read("call/decisions-gcc.csv");
    assert!(table.lines().any(|line| line.starts_with(&format!("{at},video,"))), "{at}");
}

#[test]
fn each_flow_has_the_signals_of_its_own_controller() {
    let place = Place::new();
    let flows = "[flows.one]\nkind = \"media\"\ncontroller = \"nada\"\n\
                 [flows.two]\nkind = \"media\"\ncontroller = \"tfrc\"\n";
    let network = "title = \"Two calls\"\nduration = \"15s\"\n\
                   [dumbbell.bottleneck]\nrate = \"2Mbps\"\ndelay = \"50ms\"\nqueue = { time = \"300ms\" }\n\
                   [dumbbell.access]\nrate = \"10Gbps\"\nqueue = {}\n";
    place.write("two.toml", &format!("{network}{flows}"));
    place.weir("run two.toml --runs 1 --quiet --out both");
    for (flow, reading) in [("one", " ms (aggregate congestion signal"), ("two", " kbit/s (")] {
        let outcome = place.weir(&format!("why both --flow {flow} --at 15s"));
        let signals = outcome.stdout.lines().nth(3).unwrap_or_default();
        assert!(signals.contains(reading), "{flow}: {signals}");
    }
    // The page's ticks have the units, too.
    let falls = place.weir("why both --flow one --falls");
    assert!(falls.stdout.contains("x_curr ") && falls.stdout.contains(" ms, above "), "{}", falls.stdout);
}

#[test]
fn the_deepest_falls_stand_in_their_order() {
    let place = Place::new();
    place.weir(CALL);
    let outcome = place.weir("why call --controller gcc --falls");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[0], "video under gcc, seed 1: the deepest falls, the deepest first.");
    assert!((2..=5).contains(&lines.len()), "{}", outcome.stdout);
    let percent = |line: &&str| -> u32 {
        line.split_once("(−").and_then(|(_, rest)| rest.split_once(" %")).unwrap().0.parse().unwrap()
    };
    assert!(lines[1..].iter().map(percent).is_sorted_by(|a, b| a >= b), "{}", outcome.stdout);
}

#[test]
fn another_seed_is_simulated_again_as_it_would_have_been_written() {
    let place = Place::new();
    place.weir(CALL);
    place.weir("run quality/steady --controller gcc --runs 1 --seed 2 --duration 20s --quiet --out second");
    let again = place.weir("why call --controller gcc --falls --seed 2");
    let written = place.weir("why second --falls");
    assert_eq!(again.stdout, written.stdout);
    assert_ne!(again.stdout, place.weir("why call --controller gcc --falls").stdout);
}

#[test]
fn missing_names_are_reported_with_the_existing_ones() {
    let place = Place::new();
    place.weir(CALL);
    for (arguments, problem) in [
        ("why call --at 1s", "--controller: several were compared in this run; name one of gcc, nada"),
        ("why call --controller ncc --at 1s", "--controller ncc: it is not in this run; "),
        ("why call --controller gcc --at 21s", "--at 21s: the run is from 0 s to 20 s; give a time in it"),
        (
            "why call --controller gcc --at 1s --flow x",
            "--flow x: there is no media flow `x`; known here is only `video`",
        ),
        ("why nowhere --at 1s", "nowhere: "),
    ] {
        let outcome = place.try_weir(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments}: {outcome:?}");
        assert!(outcome.stderr.contains(problem), "{arguments}: {}", outcome.stderr);
    }
    std::fs::remove_file(place.path().join("call/decisions-gcc.csv")).unwrap();
    let outcome = place.try_weir("why call --controller gcc --at 1s");
    assert!(
        outcome.stderr.contains("has no decisions of gcc: run it again, with --series csv"),
        "{}",
        outcome.stderr
    );
}
