//! Which room may import which: those of an earlier floor, and of its own none but itself. `ARCHITECTURE.md` draws the same.

use std::fs;
use std::path::{Path, PathBuf};

const FLOORS: [&[&str]; 7] = [
    &["results", "form"],
    &["metrics"],
    &["registry", "traces", "shipped", "report", "capture", "fluid"],
    &["scenario"],
    &["build"],
    &["runs"],
    &["comparison", "suite"],
];

fn floor(room: &str) -> usize {
    let floor = FLOORS.iter().position(|rooms| rooms.contains(&room));
    floor.unwrap_or_else(|| panic!("`{room}` stands on no floor"))
}

fn source_files(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            source_files(&entry.unwrap().path(), files);
        }
    } else {
        files.push(path.to_owned());
    }
}

/// The rooms that `text` names behind `crate::`, but for those in comments.
fn imported(text: &str) -> Vec<&str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = code.flat_map(|line| line.split("crate::").skip(1));
    let rooms = paths.filter_map(|path| path.split(|c: char| !c.is_ascii_lowercase()).next());
    rooms.filter(|room| !room.is_empty()).collect()
}

#[test]
fn no_room_imports_one_of_its_own_floor_or_of_a_later_one() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut rooms = Vec::new();
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let room = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if ["lib", "rooms"].contains(&room.as_str()) {
            continue;
        }
        rooms.push(room.clone());
        let mut files = Vec::new();
        source_files(&path, &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                !text.contains(concat!("use crate", "::{")),
                "{}: one import for each room",
                file.display()
            );
            for other in imported(&text).into_iter().filter(|other| *other != room) {
                assert!(floor(other) < floor(&room), "{} imports `{other}`", file.display());
            }
        }
    }
    assert_eq!(rooms.len(), FLOORS.iter().map(|floor| floor.len()).sum::<usize>(), "{rooms:?}");
}

#[test]
fn imports_are_found_and_comments_are_none() {
    let text =
        "use crate::form::advice;\n/// See [`x`](crate::build).\nlet a = crate::results::b() + crate::runs;";
    assert_eq!(imported(text), ["form", "results", "runs"]);
}
