//! `weir-call`: a call into a browser, with its page.

mod address;
mod arguments;
mod commands;
mod messages;
mod refusals;
mod run;
mod server;

use std::process::ExitCode;

use clap::Parser as _;

/// Exit code of wrong input, as of `weir`.
const WRONG_INPUT: u8 = 2;

fn main() -> ExitCode {
    let arguments = arguments::CallArguments::parse();
    match run::run(&arguments) {
        Ok(code) => code,
        Err(sentence) => {
            eprintln!("error: {sentence}");
            ExitCode::from(WRONG_INPUT)
        }
    }
}
