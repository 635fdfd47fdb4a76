//! The command `weir` with the controller `mine` among its own: every command accepts it.

mod controller;

use std::process::ExitCode;

use weir_registry::Registry;

fn main() -> ExitCode {
    weir_cli::main_with(Registry::standard().with::<controller::Mine>())
}
