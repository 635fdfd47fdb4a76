//! The command `weir` as a library: judges congestion controllers.
//!
//! Exit codes: 0 done, 1 something outside failed in the middle, or a suite found something worse than in its base, 2 the
//! input is wrong and nothing was written.

mod analyse;
mod args;
mod check;
mod compare;
mod detection;
mod effective;
mod failure;
mod list;
mod numbers;
mod output;
mod pairs;
mod progress;
mod report;
mod reproduce;
mod run;
mod suite;
mod table;
mod trace;

use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;

/// The whole command: reads the arguments of the process, does what they ask for, and tells what went wrong.
pub fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Suite(args) => match suite::suite(&args) {
            Ok(true) => Ok(()),
            Ok(false) => return ExitCode::FAILURE,
            Err(failure) => Err(failure),
        },
        Command::Pairs(args) => pairs::pairs(&args),
        Command::Detection(args) => detection::detection(&args),
        Command::Reproduce(args) => match reproduce::reproduce(&args) {
            Ok(true) => Ok(()),
            Ok(false) => return ExitCode::FAILURE,
            Err(failure) => Err(failure),
        },
        Command::Report(args) => report::report(&args),
        Command::Trace(command) => trace::trace(&command),
        Command::Analyse(args) => analyse::analyse(&args),
        Command::List(args) => list::list(&args),
        Command::Schema(args) => list::schema(&args),
        Command::Check(args) => check::check(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
