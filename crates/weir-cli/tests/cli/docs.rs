//! Output quoted in the documentation is the output of the command.
//!
//! `make docs` prints it anew (`WEIR_DOCS=print`), and `make docs-check` compares all of it (`WEIR_DOCS=check`).
//! Here a sample of the rows is compared, to the digit, with commands that take a second. The first two need bash
//! and `jq`, take the command that `WEIR` names, and only documents whose name contains `WEIR_DOCS_OF`. By default
//! these are all but docs/reproduction.md, which takes longest and has targets of its own.

mod printed;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::data;
use printed::{Printed, blocks, comparable, printed, renewed, rows, tables};

/// The document of the results of `weir reproduce`, in whole sweeps.
const REPRODUCTION: &str = "docs/reproduction.md";

/// Documents with results, which do not depend on the machine.
const RESULTS: [&str; 15] = [
    "README.md",
    "docs/calls.md",
    "docs/tutorial.md",
    "docs/operators.md",
    "docs/researchers.md",
    "docs/analysis.md",
    "docs/controllers.md",
    "docs/suites.md",
    "docs/suites-drawn.md",
    "docs/coupling.md",
    "docs/goog_cc.md",
    "docs/scenarios.md",
    "docs/metrics.md",
    "docs/security.md",
    REPRODUCTION,
];

/// Documents with measurements, which depend on a machine and a day.
const MEASUREMENTS: [&str; 1] = ["docs/performance.md"];

/// The tables of docs/goog_cc.md that are composed of the output of tests, by their heads; before them those of
/// docs/suites.md and docs/suites-drawn.md that define the omniscient sender and the cases. Last those of docs/calls.md, of the tests of weir-replay
/// and of the oracle's simulated browser.
const PUT_TOGETHER: [&str; 10] = [
    "| point | a | W | T | D |",
    "| case | what happens | judged from |",
    "| what | how it is drawn |",
    "| call | source of loss | share, % | after 5 s, % | 90 % reached | loss, % | queue, median / 95th, ms |",
    "| call | controller | share, % | after 5 s, % | 90 % reached | loss, % | queue, median / 95th, ms |",
    "| call | constants | decreases, goog_cc / gcc | matched, % | targets within 10 %, % of the time |",
    "| quantity | result |",
    "| link, seconds | without FEC | with FEC | simulated | without `sender` and `scaling` |",
    "| part | 1 Mbit/s | rise | 0.5 Mbit/s | 2.5 Mbit/s | beside CUBIC | after CUBIC |",
    "| parts | `c1-steps` | `c3-steps` | `c2-beside-cubic` | `c4-beside-cubic` |",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap_or_else(|e| panic!("{document}: {e}"))
}

/// The `weir` under test.
fn weir() -> PathBuf {
    std::env::var_os("WEIR").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_weir")), PathBuf::from)
}

/// The output of `command`, called in a directory of its own; `kept` is the one that commands share.
fn output(command: &str, kept: &Path) -> String {
    let place = tempfile::tempdir().expect("a directory");
    let script = format!("set -euo pipefail\nweir() {{ \"$WEIR\" \"$@\"; }}\nexport -f weir\n{command}\n");
    let weir = fs::canonicalize(weir()).expect("it was built");
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(place.path())
        .env("WEIR", weir)
        .env("WEIR_DATA", data())
        .env("TOOLS", fs::canonicalize(root().join("tools")).expect("it is there"))
        .env("KEPT", kept)
        .stderr(Stdio::inherit())
        .output()
        .expect("bash");
    assert!(output.status.success(), "{command}\n{}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn everything() -> Vec<(&'static str, String, Vec<Printed>)> {
    let of = |document| {
        let text = read(document);
        let printed = printed(&text);
        (document, text, printed)
    };
    RESULTS.into_iter().map(of).collect()
}

/// Prints all anew, from the end, so that positions stay valid; returns the documents whose text changes, with
/// their differences.
fn reprint(keep: bool) -> Vec<String> {
    let kept = tempfile::tempdir().expect("a directory");
    let only = std::env::var("WEIR_DOCS_OF").ok().filter(|word| !word.is_empty());
    let asked = |name: &str| only.as_ref().map_or(name != REPRODUCTION, |word| name.contains(word));
    let mut changed = Vec::new();
    for (document, text, regions) in everything().into_iter().filter(|(name, ..)| asked(name)) {
        let mut new = text.clone();
        for Printed { command, place, .. } in regions.iter().rev() {
            let (old, output) = (&text[place.clone()], output(command, kept.path()));
            let renewed = renewed(old, &output);
            if renewed != old {
                changed.push(format!("{document}: {command}\n{}", difference(old, &renewed)));
                new.replace_range(place.clone(), &renewed);
            }
        }
        if keep && new != text {
            fs::write(root().join(document), new).expect("it can be written");
        }
    }
    changed
}

/// The lines that only one of the two has.
fn difference(old: &str, new: &str) -> String {
    let only = |these: &str, others: &str, sign| {
        let lines = these.lines().filter(|line| !others.lines().any(|other| other == *line));
        lines.map(|line| format!("{sign} {line}\n")).collect()
    };
    let changed: [Vec<String>; 2] = [only(old, new, '-'), only(new, old, '+')];
    changed.concat().concat()
}

#[test]
fn printed_tables_equal_the_output_of_their_commands() {
    match std::env::var("WEIR_DOCS").as_deref() {
        Ok("print") => reprint(true).iter().for_each(|change| println!("{change}")),
        Ok("check") => {
            let changed = reprint(false);
            assert!(changed.is_empty(), "`make docs` prints them anew:\n{}", changed.join("\n"));
        }
        _ => samples_stand_in_their_tables(),
    }
}

fn samples_stand_in_their_tables() {
    let kept = tempfile::tempdir().expect("a directory");
    let mut missing = Vec::new();
    for (document, text, regions) in everything() {
        for Printed { sample, place, .. } in &regions {
            let Some(sample) = sample else { continue };
            let output = output(sample, kept.path());
            let (stands, sampled) = (comparable(&text[place.clone()]), comparable(&output));
            assert!(!sampled.is_empty(), "{document}: `{sample}` prints no row");
            let lost = sampled.into_iter().filter(|row| !stands.contains(row));
            missing.extend(lost.map(|row| format!("{document}: `{sample}` prints\n{row}")));
        }
    }
    assert!(missing.is_empty(), "`make docs` prints them anew:\n{}", missing.join("\n"));
}

#[test]
fn every_table_of_results_names_the_command_that_prints_it() {
    for (document, text, regions) in everything() {
        for table in tables(&text).iter().filter(|table| table.is_of_figures()) {
            let marked = regions.iter().any(|printed| printed.place.contains(&table.at));
            let known = PUT_TOGETHER.contains(&table.head);
            assert!(marked != known, "{document}: {} (marked: {marked}, listed: {known})", table.head);
        }
    }
}

/// "Measured DATE … by `COMMAND` … (MODEL, CLOCK GHz, …)", in the section of the table.
#[test]
fn every_table_of_measurements_names_command_machine_and_date() {
    for document in MEASUREMENTS {
        let text = read(document);
        for table in tables(&text).iter().filter(|table| table.is_of_figures()) {
            let before = &text[..table.at];
            let section = before.rfind("\n#").map_or(before, |at| &before[at..]);
            let said = section.rfind("Measured ").map(|at| &section[at..]);
            let said = said.unwrap_or_else(|| panic!("{document}: {}: nothing `Measured`", table.head));
            let paragraph = said.split("\n\n").next().unwrap_or_default();
            let date = paragraph.split([' ', ',', ':', '\n']).nth(1).unwrap_or_default();
            assert!(is_date(date), "{document}: {}: measured `{date}`", table.head);
            assert!(paragraph.contains(" GHz"), "{document}: {}: on which machine?", table.head);
            let commands = ["`make ", "`cargo ", "`tools/", "`weir "];
            assert!(
                commands.iter().any(|word| paragraph.contains(word)),
                "{document}: {}: by what?",
                table.head
            );
        }
    }
}

fn is_date(text: &str) -> bool {
    let digits = |part: &str, count| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts[..], [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2))
}

#[test]
fn commands_for_readers_are_bash() {
    for (document, text, regions) in everything() {
        let commands =
            regions.iter().flat_map(|printed| [Some(printed.command.as_str()), printed.sample.as_deref()]);
        for script in blocks(&text).into_iter().chain(commands.flatten()) {
            let parsed = Command::new("bash").args(["-n", "-c", script]).output().expect("bash");
            assert!(
                parsed.status.success(),
                "{document}: {}\n{script}",
                String::from_utf8_lossy(&parsed.stderr)
            );
        }
    }
}

#[test]
fn commands_and_places_are_read_from_a_document() {
    let document = "a\n<!-- printed by: weir x\n  --y\nsample: weir z -->\n| a |\n| --- |\n| 1 |\n<!-- end of print -->\n\
                    <!-- printed by: weir w -->\n```\ntext\n```\n<!-- end of print -->\nby\n```sh\nweir w\n```\n";
    let found = printed(document);
    let texts: Vec<&str> = found.iter().map(|printed| &document[printed.place.clone()]).collect();
    assert_eq!(texts, ["| a |\n| --- |\n| 1 |\n", "text\n"]);
    let commands: Vec<&str> = found.iter().map(|printed| printed.command.as_str()).collect();
    assert_eq!(commands, ["weir x\n  --y", "weir w"]);
    assert_eq!([&found[0].sample, &found[1].sample], [&Some("weir z".to_owned()), &None]);
    assert_eq!(blocks(document), ["weir w\n"]);
}

#[test]
fn a_table_keeps_its_head_where_none_is_printed() {
    let old = "| a | b |\n|---|---|\n| x | 1 |\n";
    assert_eq!(renewed(old, "| x | 2 |\n"), "| a | b |\n|---|---|\n| x | 2 |\n");
    assert_eq!(renewed(old, "| c |\n| --- |\n| 3 |\n"), "| c |\n| --- |\n| 3 |\n");
    assert_eq!(rows(old), ["| x | 1 |"]);
    assert_eq!(comparable(&format!("a heading\n\n{old}")), ["| x | 1 |"]);
    assert_eq!(comparable("| x | 1 |\n"), ["| x | 1 |"], "a sample may have no head");
    assert_eq!(comparable("controller    1 ±  2\n\n──"), ["controller 1 ± 2", "──"]);
    assert_eq!(difference(old, "| a | b |\n|---|---|\n| x | 2 |\n"), "- | x | 1 |\n+ | x | 2 |\n");
    assert!(
        tables(old)[0].is_of_figures() && !tables("| a | b |\n|--|--|\n| x | word |\n")[0].is_of_figures()
    );
}
