//! Long runs: either half of every controller through ten million arbitrary operations, the same call begun in
//! other years, and a week of a call. Each runs in a process of its own, so that its memory is its own; as many
//! run at once as there are processors.
//!
//! `make soak` runs all of it; `soak lives gcc,nada` runs one part for these controllers.

mod arbitrary_calls;
mod memory;
mod uptime;
mod week;

use std::collections::VecDeque;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use memory::Memory;
use weir_fuzz::controllers::names;

/// Outcome of a part for a controller.
struct PartOutcome {
    /// Description of the operations.
    done: String,
    memory: Memory,
    /// Limit of the growth of its memory after its first tenth, in KiB.
    most_growth_kib: i64,
}

/// A part of the soak.
struct SoakPart {
    name: &'static str,
    what: &'static str,
    /// Runs the part for a controller.
    run: fn(&str) -> PartOutcome,
}

static PARTS: [SoakPart; 4] = [
    SoakPart { name: "lives", what: "arbitrary calls to the sender half", run: arbitrary_calls::sender },
    SoakPart {
        name: "arrivals",
        what: "arbitrary packets at the receiver half",
        run: arbitrary_calls::receiver,
    },
    SoakPart { name: "uptime", what: "one call, begun in other years", run: uptime::run },
    SoakPart { name: "week", what: "a week of a call, simulated", run: week::run },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words.as_slice() {
        ["one", part, controller] => match find(part) {
            Some(part) => one(part, controller),
            None => usage(),
        },
        [] => all(&PARTS.each_ref(), names()),
        [part] => find(part).map_or_else(usage, |part| all(&[part], names())),
        [part, controllers] => match (find(part), known(controllers)) {
            (Some(part), Some(controllers)) => all(&[part], &controllers),
            _ => usage(),
        },
        _ => usage(),
    }
}

fn find(name: &str) -> Option<&'static SoakPart> {
    PARTS.iter().find(|part| part.name == name)
}

fn known(controllers: &str) -> Option<Vec<&'static str>> {
    controllers
        .split(',')
        .map(|controller| names().iter().copied().find(|name| *name == controller))
        .collect()
}

fn usage() -> ExitCode {
    let parts = PARTS.each_ref().map(|part| part.name).join(", ");
    eprintln!(
        "soak [PART [NAME,NAME]]: PART is one of {parts}; NAME a controller, one of {}",
        names().join(", ")
    );
    ExitCode::from(2)
}

/// Runs one part for one controller, in this process. A line of the table goes to standard output.
fn one(part: &SoakPart, controller: &str) -> ExitCode {
    let begun = now();
    let outcome = (part.run)(controller);
    let Memory { early_kib, late_kib } = outcome.memory;
    let flat = late_kib - early_kib <= outcome.most_growth_kib;
    let mark = if flat { "✓" } else { "✗ memory grows" };
    println!(
        "{:<8} {controller:<16} {:<52} {:>7.1} s {early_kib:>7} → {late_kib:>6} KiB  {mark}",
        part.name,
        outcome.done,
        begun.elapsed().as_secs_f64()
    );
    if flat { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All of `parts` for all of `controllers`, each in a process of its own.
fn all(parts: &[&'static SoakPart], controllers: &[&'static str]) -> ExitCode {
    let jobs = parts.iter().flat_map(|part| controllers.iter().map(|controller| (part.name, *controller)));
    let jobs: Mutex<VecDeque<(&str, &str)>> = Mutex::new(jobs.collect());
    let failed: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let begun = now();
    for part in parts {
        println!("{:<8} {}", part.name, part.what);
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                while let Some((part, controller)) =
                    jobs.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
                {
                    if let Err(problem) = apart(part, controller) {
                        eprintln!("{part} {controller}: {problem}");
                        failed
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(format!("{part} {controller}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (seconds, count) = (begun.elapsed().as_secs(), parts.len() * controllers.len());
    println!("{count} lives in {} min {:02} s; {} failed", seconds / 60, seconds % 60, failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A part for a controller in a process of its own; its output is printed here.
fn apart(part: &str, controller: &str) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let child = Command::new(own).args(["one", part, controller]).stdout(Stdio::piped()).spawn();
    let output = child.and_then(std::process::Child::wait_with_output).map_err(|error| error.to_string())?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    if output.status.success() { Ok(()) } else { Err(output.status.to_string()) }
}

#[expect(clippy::disallowed_methods, reason = "how long it takes is of this machine, and part of no result")]
fn now() -> Instant {
    Instant::now()
}
