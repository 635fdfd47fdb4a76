//! Bad input: one clear message with its place and its remedy, exit code 2, nothing printed and nothing written.

use crate::support::{GOOD, Outcome, Place};

/// Calls `weir` in `place`; it must refuse, say all of `said`, and leave no trace.
#[track_caller]
fn refused_in(place: &Place, arguments: &[&str], said: &[&str]) {
    let before = place.tree("");
    let outcome = place.call(arguments);
    assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:#?}");
    assert_eq!(outcome.stdout, "", "{arguments:?}");
    assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
    for part in said {
        assert!(outcome.stderr.contains(part), "`{part}` is not said:\n{}", outcome.stderr);
    }
    assert_eq!(place.tree(""), before, "{arguments:?} wrote something");
}

#[track_caller]
fn refused(arguments: &str, said: &[&str]) {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    refused_in(&Place::new(), &arguments, said);
}

/// A file in which `right` of the good one is `wrong`.
#[track_caller]
fn file_refused(right: &str, wrong: &str, said: &[&str]) {
    assert_eq!(GOOD.matches(right).count(), 1, "`{right}` must be there once");
    let place = Place::new();
    place.write("call.toml", &GOOD.replace(right, wrong));
    refused_in(&place, &["run", "call.toml"], said);
    refused_in(&place, &["run", "call.toml", "--out", "out", "--json"], said);
    refused_in(&place, &["check", "call.toml"], said);
}

#[test]
fn the_scenario_that_the_others_spoil_is_right() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let outcome = place.weir("check call.toml");
    assert_eq!(outcome.stdout, "call.toml is right: A call (2 links, 1 flow, 1 run of 5s)\n");
    assert_eq!(outcome.stderr, "");
}

#[test]
fn an_unknown_controller_brings_up_the_nearest() {
    refused("run --controller gcc-2061", &["--controller", "`gcc-2061`", "did you mean `gcc-2016`?"]);
    refused("run bench/tcp --controller nada,ndaa", &["`ndaa`", "did you mean `nada`?"]);
    for command in ["run", "compare", "suite rfc8867"] {
        refused(
            &format!("{command} --controller gcc{{trendlin.window=3}}"),
            &["trendlin", "did you mean `trendline`?"],
        );
        refused(&format!("{command} --controller gcc{{a=1"), &["--controller gcc{a=1", "stays open"]);
        refused(&format!("{command} --controller gcd{{a=1}}"), &["there is no controller `gcd`", "`gcc`"]);
    }
    file_refused(
        "controller = \"gcc-2016\"",
        "controller = \"gcc2016\"",
        &["call.toml:19:14: there is no controller `gcc2016`", "did you mean `gcc-2016`?"],
    );
}

#[test]
fn an_unknown_scenario_brings_up_the_nearest() {
    let said =
        ["gcc-2016/three-flow: no scenario ships under this name", "did you mean `gcc-2016/three-flows`?"];
    refused("run gcc-2016/three-flow", &said);
    refused("check gcc-2016/three-flow", &said);
}

#[test]
fn a_wrong_unit_is_shown_at_its_place() {
    file_refused(
        "\"5s\"",
        "\"5 furlongs\"",
        &[
            "call.toml:2:12: ",
            "`5 furlongs` has a unit that is not known here",
            "write a time such as \"25ms\"",
        ],
    );
    refused("run --duration 10", &["--duration 10: `duration` cannot be 10; write a time such as \"25ms\""]);
}

#[test]
fn a_negative_rate_is_shown_at_its_place() {
    file_refused(
        "rate = \"1Mbps\"\nqueue",
        "rate = \"-1Mbps\"\nqueue",
        &["call.toml:7:8: `links.forward.rate`: `-1Mbps` must not be negative", "write a rate such as"],
    );
}

#[test]
fn a_link_to_nowhere_leaves_a_flow_without_a_way() {
    file_refused(
        "to = \"right\"\ndelay",
        "to = \"nowhere\"\ndelay",
        &["call.toml:14:8: there is no way from `left` to `right`", "add a link from `left` towards `right`"],
    );
    file_refused(
        "to = \"right\"\nstart",
        "to = \"rihgt\"\nstart",
        &["call.toml:17:6: no link touches the node `rihgt`", "did you mean `right`?"],
    );
}

#[test]
fn a_flow_that_stops_before_it_starts_is_shown_at_its_place() {
    file_refused(
        "start = \"1s\"",
        "start = \"1s\"\nstop = \"500ms\"",
        &[
            "call.toml:19:8: the flow stops at 500ms, before it starts at 1s",
            "let `stop` be later than `start`",
        ],
    );
}

#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    let place = Place::new();
    let wrong = GOOD.replace("gcc-2016", "bbr").replace("start = \"1s\"", "start = \"-1s\"");
    place.write("call.toml", &wrong);
    refused_in(&place, &["run", "call.toml"], &["call.toml:18:9: ", "call.toml:19:14: "]);
}

#[test]
fn a_file_that_is_no_toml_or_not_there_is_told() {
    file_refused("duration = \"5s\"", "duration = ", &["call.toml:2:12: "]);
    refused("run missing.toml", &["missing.toml: no scenario ships under this name", "No such file"]);
    refused("check missing.toml", &["missing.toml"]);
}

#[test]
fn a_trace_that_is_none_is_told_with_file_and_line() {
    let cases = [
        ("words", "0\n5\nten\n", "line 3"),
        ("falling", "0\n5\n4\n", "line 3"),
        ("empty", "", "a trace needs at least one line"),
    ];
    for (name, content, said) in cases {
        let place = Place::new();
        place.write(&format!("data/traces/{name}"), content);
        let scenario = GOOD.replace("rate = \"1Mbps\"\nqueue", &format!("trace = \"{name}\"\nqueue"));
        place.write("call.toml", &scenario);
        let file = format!("data/traces/{name}");
        let said = ["call.toml:7:9: ", file.as_str(), said, "one line per delivery opportunity"];
        refused_in(&place, &["run", "call.toml", "--data", "data"], &said);
        refused_in(&place, &["check", "call.toml", "--data", "data"], &said);
    }
}

#[test]
fn a_trace_that_is_not_there_is_told_with_where_it_was_looked_for() {
    let place = Place::new();
    place.write("data/traces/train", "0\n5\n");
    place.write("call.toml", &GOOD.replace("rate = \"1Mbps\"\nqueue", "trace = \"trian\"\nqueue"));
    let said = ["call.toml:7:9: ", "`trian` was not found in data/traces", "did you mean `train`?", "--data"];
    refused_in(&place, &["run", "call.toml", "--data", "data"], &said);
}

#[test]
fn a_file_that_is_not_there_is_told_with_line_and_place() {
    let place = Place::new();
    place.write("cases/mine.csv", "seconds,bits_per_second\n0,1e6\n5,0\n");
    place.write("cases/call.toml", &GOOD.replace("rate = \"1Mbps\"\nqueue", "trace = \"./mien.csv\"\nqueue"));
    let looked = place.path().canonicalize().unwrap().join("cases/./mien.csv").display().to_string();
    let looked = looked.replace("/./", "/");
    let said = [
        "cases/call.toml:7:9: ",
        "`./mien.csv` was not found as",
        looked.as_str(),
        "did you mean `mine.csv` there?",
    ];
    refused_in(&place, &["run", "cases/call.toml"], &said);
    refused_in(&place, &["check", "cases/call.toml"], &said);
    place.write("cases/mien.csv", "seconds,bits_per_second\n0,1e6\n5,fast\n");
    refused_in(
        &place,
        &["check", "cases/call.toml"],
        &["cases/call.toml:7:9: ", "mien.csv, line 3, column 3: `fast`"],
    );
}

#[test]
fn an_output_that_cannot_be_written_is_told_before_anything_runs() {
    let place = Place::new();
    place.write("file", "kept");
    place.write("call.toml", GOOD);
    for out in ["file", "file/below"] {
        let said = [&format!("error: {out}: cannot be written: "), "--out"];
        refused_in(&place, &["run", "call.toml", "--out", out], &said.map(|s: &str| s));
        refused_in(&place, &["run", "--out", out, "--json"], &said.map(|s: &str| s));
    }
}

#[test]
fn an_unknown_path_of_set_brings_up_the_nearest() {
    refused(
        "run gcc-2016/variable-capacity --set links.forward.dealy=30ms",
        &["--set:1:1: `links.forward.dealy` is not a key that is known here", "did you mean `delay`?"],
    );
    refused(
        "run --set links.uplnik.delay=30ms",
        &["--set:1:1: there is no `links.uplnik`", "did you mean `uplink`?"],
    );
    refused("run --set duration", &["`duration` has no `=`", "write `path=value`"]);
    refused("check bench/tcp --set duration=-5s", &["--set:1:10: "]);
}

#[test]
fn zero_runs_are_no_comparison() {
    refused("run --runs 0", &["'--runs <N>'", "0 is not in 1..=100000"]);
    refused("run --set runs=0", &["--set:1:6: `runs`: 0 is out of range", "from 1 to 100000"]);
    file_refused(
        "duration = \"5s\"",
        "duration = \"5s\"\nruns = 0",
        &["call.toml:3:8: `runs`: 0 is out of range", "write a whole number from 1 to 100000"],
    );
}

#[test]
fn options_out_of_range_are_told_by_their_own_names() {
    refused("run --duration 0s", &["error: --duration 0s: `duration` is 0ns; write a time longer than 0s"]);
    refused("run --duration -5s", &["error: --duration -5s: `duration` is -5s; write a time longer than 0s"]);
    refused("run --seed -1", &["'--seed <S>'", "-1"]);
    refused("run --seed 9223372036854775808", &["'--seed <S>'", "9223372036854775807"]);
    refused("run --jobs 0", &["'--jobs <N>'", "0 is not in 1..=1024"]);
    refused("run --runs many", &["'--runs <N>'", "invalid digit"]);
}

#[test]
fn a_duration_that_ends_before_the_measurement_begins_is_shown_in_the_file() {
    refused(
        "run gcc-2016/tcp-99 --duration 10s",
        &["scenarios/gcc-2016/tcp-99.toml:6:20: the window begins at 100s, the run ends at 10s"],
    );
}

#[test]
fn controllers_without_media_to_control_are_refused() {
    refused(
        "run bench/tcp --controller nada",
        &["error: --controller nada: `bench/tcp` has no media flow that it could control; leave it out"],
    );
}

#[test]
fn an_unknown_command_or_listing_is_refused() {
    refused("rnu", &["unrecognized subcommand 'rnu'", "--help"]);
    refused("lists", &["similar subcommand exists: 'list'"]);
    refused("list scenario", &["'scenario'", "similar value exists: 'scenarios'"]);
    refused("schema reslts", &["similar value exists: 'results'"]);
}

#[test]
fn messages_have_no_colours_where_nobody_looks() {
    let place = Place::new();
    place.write("call.toml", &GOOD.replace("5s", "5"));
    let outcomes: [Outcome; 2] =
        [place.call(&["run", "call.toml"]), place.call(&["run", "--controller", "bbr"])];
    for outcome in outcomes {
        assert_eq!(outcome.code, Some(2));
        assert!(!outcome.stderr.contains('\u{1b}'), "{:?}", outcome.stderr);
    }
}
