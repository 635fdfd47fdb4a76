//! The command `weir` with the law `mine` among its own: `run`, `compare`, `suite`, `report`, `list`, `schema` and `check` know it.

mod law;

use std::process::ExitCode;

use weir_lab::registry::Registry;

fn main() -> ExitCode {
    weir_cli::main_with(Registry::standard().with::<law::Mine>())
}
