//! Bad input: one clear message with its place and its remedy, exit code 2, nothing printed and nothing written.

use crate::support::{GOOD, Outcome, Place};

/// Calls `weir` in `place`; it must refuse, print all of `said`, and leave no trace.
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
        for (piece, said) in [
            (
                "gcc{trendline.windw=4}",
                "`trendline.windw` is not a key that is known here; did you mean `window`?",
            ),
            (
                "gcc{trendline.window=4000}",
                "`trendline.window` must be from 2 to 200; see the options of `gcc`",
            ),
            ("gcc{trendline.window=}", "no table of TOML: "),
            ("gcc-send-side{preset='chrome'}", "\"chrome\""),
        ] {
            let option = format!("error: --controller {piece}: ");
            let arguments = format!("{command} --controller {piece}");
            refused(&arguments, &[&option, said]);
            refused(&arguments.replace("gcc", "nada,gcc"), &["error: --controller ", piece, said]);
        }
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
fn a_row_without_a_scenario_has_no_real_runs() {
    refused("reproduce gcc-2016/claim2 --live", &["--live: none of these rows runs a scenario"]);
}

#[test]
fn an_unknown_scenario_or_row_that_is_near_none_brings_up_some_and_where_all_stand() {
    for (arguments, all) in [
        ("run colours", "`weir list scenarios` has all"),
        ("reproduce colours", "docs/reproduction.md has all"),
    ] {
        let outcome = Place::new().try_weir(arguments);
        let said =
            outcome.stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(said.contains(all) && said.contains("there are "), "{said}");
        assert!(said.matches('`').count() <= 22, "{said}");
    }
    refused("check three-flows", &["`gcc-2016/three-flows`", "`quality/three-flows`"]);
}

#[test]
fn directories_and_binary_files_are_no_scenarios() {
    let place = Place::new();
    place.write("folder/call.toml", GOOD);
    std::fs::write(place.path().join("latin.toml"), b"title = \"a\"\nsource = \"\xe4\"").unwrap();
    refused_in(&place, &["run", "folder"], &["folder: this is a directory", "name a file in it"]);
    refused_in(&place, &["check", "latin.toml"], &["latin.toml: line 2 is no UTF-8 text"]);
    #[cfg(target_os = "linux")]
    refused_in(&place, &["run", "/dev/zero"], &["/dev/zero: this is longer than 16 MB"]);
}

/// Suites, rows, results and tables are files, not devices without an end.
#[cfg(target_os = "linux")]
#[test]
fn endless_files_are_not_read_to_the_end() {
    let place = Place::new();
    place.write("run/scenario.toml", GOOD);
    for name in ["zero.toml", "run/results.json", "tables/table.json"] {
        let path = place.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    }
    for (line, megabytes) in [
        ("suite diff /dev/zero /dev/zero", 256),
        ("suite rfc8867 --baseline /dev/zero", 256),
        ("suite zero.toml", 16),
        ("reproduce zero.toml", 16),
        ("reproduce gcc-2016/claim1 --baseline /dev/zero", 256),
        ("report run", 256),
        ("report tables", 256),
    ] {
        let said = format!("this is longer than {megabytes} MB");
        refused_in(&place, &line.split(' ').collect::<Vec<_>>(), &[&said]);
    }
}

#[test]
fn standard_input_is_a_scenario_too() {
    use std::io::Write as _;
    let place = Place::new();
    let call = |arguments: &[&str], text: &str| {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        drop(writer);
        Outcome::of(place.command(arguments).stdin(reader))
    };
    assert_eq!(call(&["check", "-"], GOOD).stdout, "- is right: A call (2 links, 1 flow, 1 run of 5s)\n");
    let run = call(&["run", "-", "--duration", "2s", "--runs", "2", "-q"], GOOD);
    assert_eq!(
        (run.code, place.path().join("weir-out/stdin/report.html").is_file()),
        (Some(0), true),
        "{run:?}"
    );
    let refused = call(&["check", "-"], &GOOD.replace("5s", "5"));
    assert!(refused.code == Some(2) && refused.stderr.contains("stdin:2:12: "), "{}", refused.stderr);
}

/// The places of all mistakes reported in `text`.
fn places(text: &str) -> Vec<String> {
    let place = Place::new();
    place.write("call.toml", text);
    let outcome = place.call(&["check", "call.toml"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("Error:"), "all begin alike:\n{}", outcome.stderr);
    let told = outcome.stderr.match_indices("× call.toml:").map(|(at, begin)| {
        outcome.stderr[at + begin.len()..]
            .split(' ')
            .next()
            .unwrap_or_default()
            .trim_end_matches(':')
            .to_owned()
    });
    told.collect()
}

#[test]
fn mistakes_of_every_stage_are_reported_together() {
    let spoilt = |changes: &[(&str, &str)]| {
        changes.iter().fold(GOOD.to_owned(), |text, (right, wrong)| {
            assert_eq!(text.matches(right).count(), 1, "`{right}` must be there once");
            text.replace(right, wrong)
        })
    };
    let unit = ("queue = { time = \"300ms\" }", "queue = { time = \"300\" }");
    let controller = ("\"gcc-2016\"", "\"gcc2016\"");
    let node = ("to = \"right\"\nstart", "to = \"rihgt\"\nstart");
    let value = ("start = \"1s\"", "start = \"-1s\"");
    assert_eq!(places(&spoilt(&[unit, controller, node])), ["8:18", "19:14", "17:6"]);
    // A value of the flow and its names, without a mistake of form.
    assert_eq!(places(&spoilt(&[controller, node, value])).len(), 3);
    // For a flow of wrong form only the names are checked further: other errors might vanish with its correction.
    let unknown = ("encoder = \"papers\"", "encodr = \"papers\"");
    assert_eq!(places(&spoilt(&[unknown, controller, value])), ["20:1", "19:14"]);
}

#[test]
fn beside_an_unknown_kind_the_other_mistakes_are_reported() {
    let text = GOOD.replace("\"media\"", "\"medai\"").replace("\"gcc-2016\"", "\"gcc2016\"");
    let text = text.replace("\"50kbps\"", "\"50\"").replace("encoder =", "encodr =");
    assert_eq!(places(&text), ["15:8", "20:1", "21:17", "19:14"]);
}

#[test]
fn values_lost_by_a_mistake_of_form_are_no_further_mistakes() {
    // Without the link there would be no path, without the rate no capacity, and a flow that starts late has
    // nothing to stop.
    let lost = [
        ("links.forward]\nfrom", "links.forward]\nfrm", "4:1"),
        ("rate = \"1Mbps\"\nqueue", "rate = \"1\"\nqueue", "7:8"),
        ("start = \"1s\"", "stop = 4\nstop_spread = \"1s\"", "18:8"),
        ("duration = \"5s\"", "duration = 5\nmeasure = { from = \"90s\" }", "2:12"),
    ];
    for (right, wrong, place) in lost {
        assert_eq!(GOOD.matches(right).count(), 1, "`{right}` must be there once");
        assert_eq!(places(&GOOD.replace(right, wrong)), [place], "{wrong}");
    }
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
fn every_mistake_of_a_file_is_reported_at_once() {
    let place = Place::new();
    let wrong = GOOD.replace("gcc-2016", "bbr").replace("start = \"1s\"", "start = \"-1s\"");
    place.write("call.toml", &wrong);
    refused_in(&place, &["run", "call.toml"], &["call.toml:18:9: ", "call.toml:19:14: "]);
}

#[test]
fn a_file_that_is_no_toml_or_not_there_is_reported() {
    file_refused("duration = \"5s\"", "duration = ", &["call.toml:2:12: "]);
    refused("run missing.toml", &["missing.toml: no scenario ships under this name", "No such file"]);
    refused("check missing.toml", &["missing.toml"]);
}

#[test]
fn a_trace_that_is_none_is_reported_with_file_and_line() {
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
fn a_trace_that_is_not_there_is_reported_with_where_it_was_looked_for() {
    let place = Place::new();
    place.write("data/traces/train", "0\n5\n");
    place.write("call.toml", &GOOD.replace("rate = \"1Mbps\"\nqueue", "trace = \"trian\"\nqueue"));
    let said = ["call.toml:7:9: ", "`trian` was not found in data/traces", "did you mean `train`?", "--data"];
    refused_in(&place, &["run", "call.toml", "--data", "data"], &said);
}

#[test]
fn a_file_that_is_not_there_is_reported_with_line_and_place() {
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
fn an_output_that_cannot_be_written_is_reported_before_anything_runs() {
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
fn options_out_of_range_are_reported_by_their_own_names() {
    refused("run --duration 0s", &["error: --duration 0s: `duration` is 0ns; write a time longer than 0s"]);
    refused("run --duration -5s", &["error: --duration -5s: `duration` is -5s; write a time longer than 0s"]);
    refused("run --seed -1", &["'--seed <S>'", "-1"]);
    refused("run --seed 9223372036854775808", &["'--seed <S>'", "9223372036854775807"]);
    refused("run --jobs 0", &["'--jobs <N>'", "0 is not in 1..=1024"]);
    refused("run --runs many", &["'--runs <N>'", "invalid digit"]);
}

#[test]
fn options_are_applied_together_and_the_first_wrong_one_is_named() {
    let duration = "error: --duration 0s: `duration` is 0ns; write a time longer than 0s";
    refused("run quality/steady --duration 0s --controller gcc{nope=1}", &[duration]);
    let late = ["run", "quality/steady", "--set", "measure={ from = \"40s\" }", "--runs", "1", "--quiet"];
    refused_in(&Place::new(), &late, &["the window begins at 40s, the run ends at 30s"]);
    let longer = [&late[..], &["--duration", "41s", "--out", "out"]].concat();
    assert_eq!(Place::new().call(&longer).code, Some(0));
}

#[test]
fn a_duration_that_ends_before_the_measurement_begins_is_shown_in_the_file() {
    refused(
        "run gcc-2016/tcp-99 --duration 10s",
        &["scenarios/gcc-2016/tcp-99.toml:6:20: the window begins at 100s, the run ends at 10s"],
    );
}

#[cfg(unix)]
#[test]
fn a_crate_goes_only_where_a_folder_can_be() {
    let said =
        ["error: /dev/null/controller: cannot be written: ", "give a directory that can be, with --out"];
    refused("new controller my-controller --out /dev/null/controller", &said);
}

#[test]
fn a_crate_that_could_not_be_built_is_not_written() {
    refused(
        "new law cubic",
        &["error: new controller cubic: this is a TCP algorithm; give yours another name"],
    );
    for address in ["https://", "git@", "https://a\"b"] {
        let said =
            format!("error: --weir {address}: this is no address of a repository; write https://HOST/PATH");
        refused(&format!("new controller my-controller --weir {address}"), &[&said]);
    }
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
fn messages_have_no_colours_without_a_terminal() {
    let place = Place::new();
    place.write("call.toml", &GOOD.replace("5s", "5"));
    let outcomes: [Outcome; 2] =
        [place.call(&["run", "call.toml"]), place.call(&["run", "--controller", "bbr"])];
    for outcome in outcomes {
        assert_eq!(outcome.code, Some(2));
        assert!(!outcome.stderr.contains('\u{1b}'), "{:?}", outcome.stderr);
    }
}
