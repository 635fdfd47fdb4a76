//! Terminal output of foreign files: none of their control characters reaches it.

use crate::suite_file::CALLS;
use crate::support::{GOOD, Outcome, Place};

/// Sequences that set the clipboard, clear the screen and reverse the direction of text, in TOML.
const EVIL: &str = "a\\u001B]52;c;ZWNobw==\\u0007b\\u001B[2J\\u009B2J\\u202Ec";

/// As on a terminal: drawing sequences are kept.
fn drawn(place: &Place, arguments: &[&str]) -> Outcome {
    let outcome = Outcome::of(place.command(arguments).env("CLICOLOR_FORCE", "1"));
    let text = outcome.stdout.clone() + &outcome.stderr;
    assert!(text.contains('\u{fffd}'), "{arguments:?}: {text:?}");
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|c: char| c.is_control() && !"\n\t".contains(c) || c == '\u{202e}') {
        // Attributes and colours of text.
        let end = rest[at..].strip_prefix("\u{1b}[").and_then(|rest| rest.find('m').map(|end| (rest, end)));
        let own =
            end.filter(|(rest, end)| rest[..*end].bytes().all(|byte| byte.is_ascii_digit() || byte == b';'));
        assert!(own.is_some(), "{arguments:?}: {:?} of {text:?}", &rest[at..]);
        rest = &rest[at + 2..];
    }
    outcome
}

#[test]
fn titles_and_names_of_scenarios_and_suites_are_shown_without_control_characters() {
    let place = Place::new();
    let scenario = GOOD.replace("A call", EVIL);
    place.write("call.toml", &scenario);
    let sweep = ["run", "call.toml", "--sweep", "flows.video.start=1s,2s", "--quiet"];
    assert_eq!(drawn(&place, &sweep).code, Some(0));
    let shown = drawn(&place, &["run", "call.toml", "--quiet", "--out", "out"]).stdout;
    let title = "\u{1b}[1ma\u{fffd}]52;c;ZWNobw==\u{fffd}b\u{fffd}[2J\u{fffd}2J\u{fffd}c\u{1b}[0m\n";
    assert!(shown.contains(title), "{shown:?}");
    place.write("calls.toml", &CALLS.replace("My calls", EVIL).replace("A call on 1 Mbit/s", EVIL));
    place.write("scenarios/call.toml", GOOD);
    assert_eq!(drawn(&place, &["suite", "calls.toml", "--runs", "1", "--quiet"]).code, Some(0));
    // JSON holds the text itself, because no terminal shows it.
    let json = place.weir("suite calls.toml --runs 1 --quiet --json").stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let title = "a\u{1b}]52;c;ZWNobw==\u{7}b\u{1b}[2J\u{9b}2J\u{202e}c";
    assert_eq!(json["cases"][0]["title"], title, "{json}");
}

#[test]
fn errors_and_warnings_are_shown_without_control_characters() {
    let place = Place::new();
    let raw = "\u{1b}]52;c;ZWNobw==\u{7}\u{202e}";
    for text in [
        format!("title = \"{raw}\"\n"),
        format!("titel = \"\u{202e}\"\n# {raw}\n"),
        GOOD.replace("rate = \"1Mbps\"", "rate = \"\u{202e}\""),
        GOOD.replace("rate = \"1Mbps\"", &format!("trace = \"{EVIL}\"")),
        GOOD.replace("\"gcc-2016\"", &format!("\"{EVIL}\"")),
    ] {
        place.write("wrong.toml", &text);
        assert_eq!(drawn(&place, &["check", "wrong.toml"]).code, Some(2), "{text}");
    }
    place.write(&format!("{raw}.csv"), &format!("seconds,bits_per_second\n0,1e6\n1,{raw}\n"));
    place.write(&format!("fine{raw}.csv"), "seconds,bits_per_second\n0,1e6\n1,0\n");
    for (arguments, code) in [
        (vec!["check", &format!("no{raw}.toml")], 2),
        (vec!["trace", "show", &format!("./{raw}.csv")], 2),
        (vec!["trace", "import", &format!("./{raw}.csv")], 2),
        (vec!["trace", "show", &format!("./fine{raw}.csv")], 0),
        (vec!["trace", "import", &format!("./fine{raw}.csv"), "--to", "out.csv"], 0),
        (vec!["run", "--controller", raw], 2),
        (vec!["list", &format!("--{raw}")], 2),
        (vec!["suite", "diff", &format!("{raw}.csv"), &format!("{raw}.csv")], 2),
    ] {
        assert_eq!(drawn(&place, &arguments).code, Some(code), "{arguments:?}");
    }
}

/// The snippet of an error still points to the place of the error.
#[test]
fn a_snippet_points_to_its_place_behind_control_characters() {
    let place = Place::new();
    let wrong = GOOD.replace("title = \"A call\"", "title = \"\u{202e}\u{202e}\" ; x");
    place.write("wrong.toml", &wrong);
    let plain = place.try_weir("check wrong.toml").stderr;
    assert!(plain.contains("wrong.toml:1:14") && plain.contains("\u{fffd}\u{fffd}\" ; x"), "{plain}");
    let line = plain.lines().position(|line| line.contains("; x")).unwrap();
    let marked = plain.lines().nth(line + 1).unwrap();
    let column = |line: &str, of: char| line.chars().position(|c| c == of).unwrap();
    assert!(marked.contains(['┬', '▲']), "{plain}");
    assert_eq!(
        column(plain.lines().nth(line).unwrap(), ';'),
        column(marked, if marked.contains('┬') { '┬' } else { '▲' })
    );
}
