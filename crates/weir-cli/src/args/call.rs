//! Arguments of `weir call`.

use std::ffi::OsString;

/// Arguments of `weir call`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "weir call [CONTROLLER]... [OPTIONS]",
    disable_help_flag = true,
    disable_version_flag = true,
    after_help = "The program `weir-call` beside this one does it, and has the options: `weir call --help`."
)]
pub(crate) struct CallArgs {
    /// Controllers and options of the call.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<OsString>,
}
