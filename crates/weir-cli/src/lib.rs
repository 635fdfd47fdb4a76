//! The command `weir` as a library: judges congestion controllers.
//!
//! Exit codes: 0 done; 1 an external failure in the middle, or a suite worse than its base or short of its
//! requirements; 2 the input is wrong and nothing was written; 3 a run of real packets was inconclusive.

mod analyse;
mod args;
mod attack;
mod browser;
mod cache;
mod call;
mod call_explain;
mod call_file;
mod call_import;
mod call_page;
mod call_replay;
mod calls;
mod capture;
mod check;
mod compare;
mod detection;
mod differences;
mod effective;
mod emulate;
mod explain;
mod failure;
mod infer;
mod kept;
mod list;
mod manual;
mod markdown;
mod new;
mod output;
#[cfg(test)]
mod own_controller;
mod pairs;
mod peer;
mod progress;
mod report;
mod reproduce;
mod run;
mod run_folder;
mod signals;
mod suite;
mod sweep;
mod table;
mod terminal;
mod testbed;
mod trace;
mod trace_import;
mod watch;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Args, Command};
use clap::FromArgMatches as _;
use failure::Failure;
use weir_scenario::registry::{Registry, with_references};

/// The whole command: reads the arguments of the process, runs them, and reports errors.
pub fn main() -> ExitCode {
    run_with(&Registry::standard())
}

/// The same with the controllers of `registry`, which every command accepts.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is made for this call, `main_with(Registry::standard().with::<Mine>())`"
)]
pub fn main_with(registry: Registry) -> ExitCode {
    args::has_own_controllers();
    run_with(&registry)
}

/// Whether `words`, the name of the command and its arguments, ask for the version and nothing else.
fn asks_for_version(words: impl Iterator<Item = OsString>) -> bool {
    let mut arguments = words.skip(1);
    arguments.next().is_some_and(|word| word == "--version" || word == "-V") && arguments.next().is_none()
}

fn run_with(registry: &Registry) -> ExitCode {
    let registry = &with_references(registry.clone());
    if let Err(error) = registry.check() {
        return Failure::from(error).report();
    }
    let command = if asks_for_version(std::env::args_os()) {
        Args::bare_command()
    } else {
        Args::command_with(registry)
    };
    let args = command.try_get_matches();
    let args = match args.and_then(|matches| Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) => return failure::report_usage(&error),
    };
    let outcome = match args.command {
        Command::Run(args) => run::run(&args, registry),
        Command::Testbed(args) => match testbed::testbed(&args, registry) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
        Command::Emulate(args) => match emulate::emulate(&args, registry) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
        Command::Call(args) => match call::call(&args) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
        Command::Send(args) => match peer::send(&args, registry) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
        Command::Recv(args) => match peer::recv(&args, registry) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
        Command::Keygen(args) => peer::keygen(&args),
        Command::Watch(args) => watch::watch(&args, registry),
        Command::Compare(args) => compare::compare(&args, registry),
        Command::Suite(args) => match suite::suite(&args, registry) {
            Ok(true) => Ok(()),
            Ok(false) => return ExitCode::FAILURE,
            Err(failure) => Err(failure),
        },
        Command::Pairs(args) => pairs::pairs(&args, registry),
        Command::Detection(args) => detection::detection(&args, registry),
        Command::Attack(args) => attack::attack(&args, registry),
        Command::Reproduce(args) => match reproduce::reproduce(&args, registry) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
        Command::Report(args) => match report::report(&args, registry) {
            Ok(true) => Ok(()),
            Ok(false) => return ExitCode::FAILURE,
            Err(failure) => Err(failure),
        },
        Command::Why(args) => why::why(&args, registry),
        Command::Trace(command) => trace::trace(&command),
        Command::Infer(args) => infer::infer(&args, registry),
        Command::Analyse(args) => analyse::analyse(&args),
        Command::List(args) => list::list(&args, registry),
        Command::Import(args) => call_import::import(&args),
        Command::Replay(args) => call_replay::replay_call(&args, registry),
        Command::ExplainCall(args) => call_explain::explain_call(&args, registry),
        Command::Explain(args) => explain::explain(&args, registry),
        Command::Schema(args) => list::schema(&args, registry),
        Command::New(command) => new::new(&command),
        Command::Check(args) => check::check(&args, registry),
        Command::Completions(args) => manual::completions(&args, registry),
        Command::Man(args) => manual::man(&args, registry),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_same_without_the_tree_of_commands() {
        let asks = |words: &[&str]| asks_for_version(words.iter().map(OsString::from));
        assert!(asks(&["weir", "--version"]) && asks(&["weir", "-V"]));
        assert!(
            !asks(&["weir"]) && !asks(&["weir", "--version", "run"]) && !asks(&["weir", "run", "--version"])
        );
        for word in ["--version", "-V"] {
            let answer = |command: clap::Command| command.try_get_matches_from(["weir", word]).unwrap_err();
            let (bare, whole) =
                (answer(Args::bare_command()), answer(Args::command_with(&Registry::standard())));
            assert_eq!((bare.kind(), bare.to_string()), (whole.kind(), whole.to_string()));
        }
    }
}
