//! `weir call`: the program `weir-call` that stands beside this one, which is a package of its own.

use std::env::{self, consts::EXE_SUFFIX};
use std::process::{Command, ExitCode};

use crate::args::CallArgs;
use crate::failure::Failure;

/// Runs the program. The exit code is its own.
pub(crate) fn call(args: &CallArgs) -> Result<ExitCode, Failure> {
    let own = env::current_exe();
    let own = own.map_err(|error| Failure::Machine(format!("the place of `weir` is not known: {error}")))?;
    let program = own.with_file_name(format!("weir-call{EXE_SUFFIX}"));
    if !program.is_file() {
        return Err(Failure::Machine(format!(
            "there is no {}; `make call` in Weir's sources builds it, with a C compiler, in some minutes",
            program.display()
        )));
    }
    let failed = |error| Failure::Machine(format!("{} cannot be run: {error}", program.display()));
    run(Command::new(&program).args(&args.arguments)).map_err(failed)
}

/// Becomes the program: signals reach it, and nothing else stays.
#[cfg(unix)]
fn run(command: &mut Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

/// Waits for the program.
#[cfg(not(unix))]
fn run(command: &mut Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
