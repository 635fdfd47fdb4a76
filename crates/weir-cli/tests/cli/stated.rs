//! Messages about probably unintended input, and output for machines.

use serde_json::Value;

use crate::support::{GOOD, Place};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn check_reports_a_scenario_and_its_mistakes_to_machines() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let right = json(&place.weir("check call.toml --json").stdout);
    assert_eq!((&right["right"], &right["title"]), (&true.into(), &"A call".into()));
    assert_eq!(right["links"], serde_json::json!(["forward", "backward"]));
    assert_eq!(
        (&right["duration_seconds"], right["warnings"].as_array().map(Vec::len)),
        (&5.0.into(), Some(0))
    );
    place.write("call.toml", &GOOD.replace("5s", "5 parsecs").replace("\"1Mbps\"\nqueue", "\"fast\"\nqueue"));
    let outcome = place.try_weir("check call.toml --json");
    assert_eq!(outcome.code, Some(2));
    let wrong = json(&outcome.stdout);
    assert_eq!(wrong["right"], false);
    let lines: Vec<u64> =
        wrong["problems"].as_array().unwrap().iter().map(|own| own["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 7], "{wrong}");
    assert!(outcome.stderr.contains("call.toml:2:"), "people read it, too: {}", outcome.stderr);
}

#[test]
fn tables_of_many_runs_are_json_by_either_option() {
    let place = Place::new();
    let command = "pairs --controller gcc --runs 1 --quiet";
    let short = place.weir(&format!("{command} --json"));
    json(&short.stdout);
    assert_eq!(short.stdout, place.weir(&format!("{command} --format json")).stdout);
    let both = place.try_weir("pairs --controller gcc --json --format markdown");
    assert_eq!(both.code, Some(2), "{both:?}");
    // The cheapest form of each; `detection` takes longest, some five seconds.
    for command in [
        "attack --controller gcc --role blind --attack foreign",
        "compare --controller gcc --runs 1",
        "detection --controller newreno --runs 1",
    ] {
        let outcome = place.weir(&format!("{command} --quiet --json"));
        assert!(!json(&outcome.stdout).as_array().unwrap().is_empty(), "{command}: {}", outcome.stdout);
    }
}

#[test]
fn a_controller_that_is_named_twice_runs_once_and_that_is_said() {
    let place = Place::new();
    for (command, option) in [
        ("run quality/steady --duration 2s --runs 1 --controller gcc,nada,gcc", "--controller"),
        ("pairs --runs 1 --controller gcc,gcc", "--controller"),
    ] {
        let outcome = place.weir(&format!("{command} --quiet"));
        let said = format!("{option}: `gcc` is named more than once; it runs once.\n");
        assert_eq!(outcome.stderr.matches(&said).count(), 1, "{command}: {}", outcome.stderr);
    }
    let outcome = place.weir("run quality/steady --duration 2s --runs 1 --controller gcc,nada --quiet");
    assert_eq!(outcome.stderr, "");
}

#[test]
fn a_flow_that_starts_when_the_run_is_over_is_said_with_its_place() {
    let place = Place::new();
    place.write("late.toml", &GOOD.replace("start = \"1s\"", "start = \"5s\""));
    for command in ["check late.toml", "run late.toml --quiet"] {
        let outcome = place.weir(command);
        let said = "the run ends at 5s, before `video` starts at 5s: it sends nothing";
        assert!(outcome.stderr.contains(said), "{command}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("late.toml:18:9"), "{command}: {}", outcome.stderr);
    }
}

#[test]
fn that_nothing_was_delivered_is_said() {
    let place = Place::new();
    place.write("late.toml", &GOOD.replace("start = \"1s\"", "start = \"4990ms\""));
    let outcome = place.weir("run late.toml --controller gcc,nada --runs 5 --quiet");
    assert_eq!(outcome.last_line(), "No controller delivered anything over 5 runs.");
}

#[test]
fn an_unknown_attack_is_refused_with_the_attacks_of_its_role() {
    let outcome = Place::new().try_weir("attack --role blind --attack silence");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let refusal = "--attack silence: no attack matches; the attacks are all arrived, all missing, ";
    assert!(outcome.stderr.contains(refusal), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("early acknowledgement"), "{}", outcome.stderr);
}
