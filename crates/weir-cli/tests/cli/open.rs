//! `--open`: the report in a browser.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread::sleep;
use std::time::Duration;

use crate::support::{GOOD, Outcome, Place};

/// Calls `weir` with an opener that records its argument.
fn opened(place: &Place, arguments: &[&str]) -> (Outcome, Option<String>) {
    place.write("bin/xdg-open", "#!/bin/sh\nprintf %s \"$1\" > opened.part\nmv opened.part opened\n");
    let opener = place.path().join("bin/xdg-open");
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap());
    let outcome = Outcome::of(place.command(arguments).env("PATH", path));
    let asked = arguments.contains(&"--open") && outcome.code == Some(0);
    let trials = if asked { 200 } else { 2 };
    let told = (0..trials).find_map(|_| {
        sleep(Duration::from_millis(50));
        fs::read_to_string(place.path().join("opened")).ok()
    });
    (outcome, told)
}

#[test]
fn the_report_is_opened_where_that_is_asked_for() {
    let place = Place::new();
    let run = ["run", "bench/cbr", "--duration", "1s", "-q", "--out", "my results"];
    assert_eq!(opened(&place, &run).1, None);
    let (outcome, told) = opened(&place, &[&run[..], &["--open"]].concat());
    let path = told.unwrap_or_else(|| panic!("{outcome:?}"));
    assert!(path.ends_with("/my results/report.html") && path.starts_with('/'), "{path}");
    assert!(fs::metadata(path).unwrap().is_file());
}

#[test]
fn a_sweep_has_a_page_of_its_own_to_open() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let sweep = ["run", "call.toml", "--duration", "3s", "-q", "--sweep", "links.forward.delay=1ms,2ms"];
    let (outcome, told) = opened(&place, &[&sweep[..], &["--open"]].concat());
    let path = told.unwrap_or_else(|| panic!("{outcome:?}"));
    assert!(path.ends_with("/weir-out/call-sweep/index.html"), "{path}");
    assert!(outcome.stdout.contains("Report: weir-out/call-sweep/index.html"), "{outcome:?}");
}

#[test]
fn without_a_file_there_is_nothing_to_open() {
    let (outcome, told) = opened(&Place::new(), &["run", "bench/cbr", "--json", "--open"]);
    assert_eq!((outcome.code, outcome.stdout.as_str(), told), (Some(2), "", None));
    assert!(
        outcome.stderr.contains("--open: with --json files are written only with --out"),
        "{}",
        outcome.stderr
    );
}
