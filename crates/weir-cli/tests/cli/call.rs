//! `weir call`: the program beside `weir`.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{Outcome, Place};

/// A copy of `weir` in a folder of its own.
fn alone(place: &Place) -> PathBuf {
    let weir = place.path().join("weir");
    fs::copy(env!("CARGO_BIN_EXE_weir"), &weir).unwrap();
    weir
}

#[test]
fn without_the_program_a_sentence_says_how_to_build_it() {
    let place = Place::new();
    for arguments in [&["call", "gcc"][..], &["call", "--help"]] {
        let outcome = Outcome::of(Command::new(alone(&place)).args(arguments));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        let expected = format!(
            "there is no {}; `make call` in Weir's sources builds it",
            place.path().join("weir-call").display()
        );
        assert!(outcome.stderr.contains(&expected), "{outcome:?}");
        assert_eq!(outcome.stderr.trim().lines().count(), 1, "{outcome:?}");
    }
}

#[test]
fn the_program_gets_all_arguments_and_gives_the_exit_code() {
    let place = Place::new();
    place.write("weir-call", "#!/bin/sh\necho \"$@\"\nexit 7\n");
    fs::set_permissions(place.path().join("weir-call"), fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = ["call", "gcc", "--capacity", "1Mbps", "--help", "--", "-x"];
    let outcome = Outcome::of(Command::new(alone(&place)).args(arguments));
    assert_eq!(outcome.code, Some(7), "{outcome:?}");
    assert_eq!(outcome.stdout, "gcc --capacity 1Mbps --help -- -x\n");
}

#[test]
fn a_program_that_cannot_run_is_a_sentence() {
    let place = Place::new();
    place.write("weir-call", "no program");
    let outcome = Outcome::of(Command::new(alone(&place)).arg("call"));
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("cannot be run"), "{outcome:?}");
}
