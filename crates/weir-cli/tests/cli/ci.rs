//! The scripts of build servers, as far as they run without one, with a git repository and a `cargo` of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::suite_file::place;
use crate::support::{Outcome, Place};

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// The scripts after `run:` of a workflow or an action: in a line, or in a block that is set in further.
fn scripts(yaml: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut scripts = Vec::new();
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(script) = line.trim_start().trim_start_matches("- ").strip_prefix("run:") else { continue };
        if script.trim() != "|" {
            scripts.push(script.trim().to_owned());
            continue;
        }
        let mut block = String::new();
        while let Some(own) = lines.next_if(|next| next.trim().is_empty() || indent(next) > indent(line)) {
            block.extend([own.trim_start(), "\n"]);
        }
        scripts.push(block);
    }
    scripts
}

#[test]
fn scripts_of_workflows_are_bash_without_texts_of_others() {
    for (file, steps) in [("action.yml", 1), (".github/workflows/release.yml", 4)] {
        let scripts = scripts(&fs::read_to_string(root().join(file)).unwrap());
        assert_eq!(scripts.len(), steps, "{file}");
        for script in scripts {
            assert!(!script.contains("${{"), "{file}: an input would be part of the script: {script}");
            let checked = Command::new("bash").args(["-n", "-c", &script]).output().unwrap();
            assert!(checked.status.success(), "{file}: {script}: {checked:?}");
            let called = script.split_whitespace().filter_map(|word| word.split_once("tools/ci/"));
            for (_, name) in called {
                let name = name.trim_matches(['"', ')']);
                assert!(root().join("tools/ci").join(name).is_file(), "{file} calls {name}");
            }
        }
    }
}

/// In place of cargo: the command of the tests, whatever is to be built; a folder with `result.json` gives that as
/// the result of a suite.
const CARGO: &str = r#"#!/usr/bin/env bash
set -euo pipefail
while [ "$1" != -- ]; do
    if [ "$1" = --manifest-path ]; then folder=$(dirname "$2"); fi
    shift
done
shift
[ -f "$folder/Cargo.toml" ]
if [ -f "$folder/result.json" ] && [ "$2" != diff ]; then exec cat "$folder/result.json"; fi
exec "$WEIR" "$@"
"#;

/// A repository with a suite, and its first commit, in which the rate of the first controller in the first case was 99 %.
fn repository() -> (Place, String) {
    let place = place();
    let saved = place.weir("suite mine/calls.toml --runs 1 --quiet --json").stdout;
    let mut better: Value = serde_json::from_str(&saved).unwrap();
    let rate = &mut better["cases"][0]["controllers"][0]["checks"][1];
    assert_eq!(rate["name"], "rate");
    rate["values"] = serde_json::json!([99.0]);
    rate["mean"] = serde_json::json!(99.0);
    place.write("bin/cargo", CARGO);
    place.write("Cargo.toml", "");
    place.write("result.json", &better.to_string());
    git(&place, &["init", "--quiet"]);
    git(&place, &["add", "."]);
    git(&place, &["commit", "--quiet", "--message", "base"]);
    let base = git(&place, &["rev-parse", "HEAD"]);
    fs::remove_file(place.path().join("result.json")).unwrap();
    (place, base.trim().to_owned())
}

fn git(place: &Place, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Weir", "-c", "user.email=weir@example.org"]).args(arguments);
    let outcome = Outcome::of(command.current_dir(place.path()));
    assert_eq!(outcome.code, Some(0), "git {arguments:?}: {outcome:?}");
    outcome.stdout
}

/// Has `command` find the place's `bin/cargo` as cargo.
fn with_cargo(place: &Place, command: &mut Command) {
    let executable = Command::new("chmod").arg("+x").arg(place.path().join("bin/cargo")).status().unwrap();
    assert!(executable.success());
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", place.path().join("bin").display()));
}

fn suite_diff(place: &Place, variables: &[(&str, &str)]) -> Outcome {
    let mut command = Command::new("bash");
    command
        .arg(root().join("tools/ci/suite-diff.sh"))
        .current_dir(place.path())
        .env("WEIR", env!("CARGO_BIN_EXE_weir"))
        .env("GITHUB_STEP_SUMMARY", place.path().join("summary.md"))
        .env("RUNS", "1");
    with_cargo(place, &mut command);
    for variable in ["SUITE", "BASE", "CONTROLLERS", "CARGO_TARGET_DIR"] {
        command.env_remove(variable);
    }
    Outcome::of(command.envs(variables.iter().copied()))
}

#[test]
fn the_action_reports_regressions_since_the_base_and_fails() {
    let (place, base) = repository();
    let outcome = suite_diff(&place, &[("SUITE", "mine/calls.toml"), ("BASE", &base)]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let summary = place.read("summary.md");
    assert!(summary.starts_with("### My calls\n"), "{summary}");
    assert!(summary.contains(&format!("\n#### Since {base}\n\n|  | case |")), "{summary}");
    assert!(summary.contains("| worse | narrow | gcc-2016 | rate | 99.00 % |"), "{summary}");
    assert!(summary.ends_with("Of 6 checks 0 got better and 1 got worse.\n"), "{summary}");
    let worktrees = git(&place, &["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 1, "the base is gone: {worktrees}");
}

#[test]
fn the_action_compares_with_nothing_where_there_is_no_base() {
    let (place, base) = repository();
    for none in ["", "0000000000000000000000000000000000000000"] {
        let outcome = suite_diff(&place, &[("SUITE", "mine/calls.toml"), ("BASE", none)]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(!place.read("summary.md").contains("Since"));
    }
    fs::remove_file(place.path().join("summary.md")).unwrap();
    git(&place, &["commit", "--quiet", "--all", "--message", "head"]);
    let head = git(&place, &["rev-parse", "HEAD"]);
    let same = suite_diff(
        &place,
        &[("SUITE", "mine/calls.toml"), ("BASE", head.trim()), ("CONTROLLERS", "gcc-2016")],
    );
    assert_eq!(same.code, Some(0), "{same:?}");
    assert!(place.read("summary.md").contains("Of 3 checks 0 got better and 0 got worse."));
    let wrong = suite_diff(&place, &[("SUITE", "no.toml"), ("BASE", &base)]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("no.toml: the suite cannot be read"), "{}", wrong.stderr);
}

#[test]
fn variables_of_the_action_are_no_options_of_git_or_weir() {
    let (place, _) = repository();
    let base = "--upload-pack=touch written; git-upload-pack";
    for variable in [
        ("BASE", base),
        ("BASE", "-q"),
        ("CONTROLLERS", "--out=written"),
        ("RUNS", "-1"),
        ("SUITE", "--help"),
    ] {
        let outcome = suite_diff(&place, &[("SUITE", "mine/calls.toml"), variable]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        assert!(
            outcome.stderr.starts_with(&format!("{}={}: this is an option", variable.0, variable.1)),
            "{outcome:?}"
        );
        assert!(!place.path().join("written").exists());
    }
}

#[test]
fn a_tag_that_is_not_the_version_is_refused() {
    let version =
        |tag: &str| Outcome::of(Command::new("bash").arg(root().join("tools/ci/version.sh")).arg(tag));
    let own = env!("CARGO_PKG_VERSION");
    for tag in ["", &format!("v{own}")] {
        let printed = version(tag);
        assert_eq!((printed.code, printed.stdout.trim()), (Some(0), own), "{printed:?}");
    }
    for tag in [own, "v99.0.0"] {
        let refused = version(tag);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(&format!("the tag should be v{own}")), "{refused:?}");
    }
}

#[test]
fn a_release_is_packed_with_its_licences_and_a_checksum() {
    let place = Place::new();
    place.write("built/weir", "built");
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        place.write(name, name);
    }
    let pack = |version: &str| {
        let mut command = Command::new("bash");
        command.arg(root().join("tools/ci/package-binary.sh")).args(["some-target", version, "built/weir"]);
        Outcome::of(command.current_dir(place.path()).env_remove("CARGO_TARGET_DIR"))
    };
    let wrong = pack("../v1");
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(!place.path().join("dist").exists());
    let packed = pack("v1.2.3");
    assert_eq!(packed.code, Some(0), "{packed:?}");
    let names: Vec<_> = place.tree("dist").into_keys().collect();
    let archive = "weir-v1.2.3-some-target.tar.gz";
    assert_eq!(names, [archive.into(), PathBuf::from(format!("{archive}.sha256"))]);
    assert!(place.read(&format!("dist/{archive}.sha256")).ends_with(&format!(" {archive}\n")));
    let mut list = Command::new("tar");
    let list = Outcome::of(list.args(["-tzf", archive]).current_dir(place.path().join("dist")));
    for name in ["weir", "README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(
            list.stdout.lines().any(|line| line == format!("weir-v1.2.3-some-target/{name}")),
            "{list:?}"
        );
    }
}
