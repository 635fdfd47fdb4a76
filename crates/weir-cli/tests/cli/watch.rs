//! `weir watch`: a scenario is run each time its file is saved.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Stdio};

use crate::support::{GOOD, Place};

/// Begins to watch; returns its output up to the wait.
fn watching(place: &Place, options: &[&str]) -> (Child, BufReader<ChildStdout>, String) {
    let mut command = place.command(&[&["watch", "call.toml", "--once"], options].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let first = until_it_waits(&mut out);
    (child, out, first)
}

fn until_it_waits(out: &mut BufReader<ChildStdout>) -> String {
    let mut said = String::new();
    while !said.lines().last().is_some_and(|line| line.starts_with("Waiting for call.toml")) {
        assert!(out.read_line(&mut said).unwrap() > 0, "it ended:\n{said}");
    }
    said
}

#[test]
fn effects_of_a_change_of_the_file_are_shown_run_by_run() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let (mut child, mut out, first) = watching(&place, &["--runs", "2"]);
    assert!(first.contains("A call\ncall: 2 runs of 5s") && !first.contains("less before"), "{first}");
    // A mistake is reported, and the command waits for the next save.
    place.write("call.toml", &GOOD.replace("\"5s\"", "\"5 s e c\""));
    let nothing = until_it_waits(&mut out);
    assert_eq!(nothing.lines().count(), 1, "{nothing}");
    place.write("call.toml", &GOOD.replace("delay = \"25ms\"", "delay = \"55ms\""));
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    let changes = rest.split("less before, run by run").nth(1).unwrap_or_else(|| panic!("{rest}"));
    assert!(changes.contains("gcc-2016 ") && changes.contains('±'), "{rest}");
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(errors.contains("call.toml:2:12: "), "{errors}");
    assert!(!place.path().join("weir-out").exists(), "nothing is written");
}

#[test]
fn a_change_that_changes_nothing_says_so() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let (mut child, mut out, _) = watching(&place, &["-q"]);
    place.write("call.toml", &format!("# The same.\n{GOOD}"));
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(rest.lines().last(), Some("Nothing came out otherwise than before."), "{rest}");
}

#[test]
fn names_that_are_no_files_are_not_watched() {
    let place = Place::new();
    for (name, said) in [
        ("bench/cbr", "no file that could be saved"),
        ("-", "no file that could be saved"),
        ("mine.toml", "no scenario ships under this name"),
    ] {
        let outcome = place.call(&["watch", name]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{name}");
        assert!(outcome.stderr.contains(said), "{name}: {}", outcome.stderr);
    }
}
