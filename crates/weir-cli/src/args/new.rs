//! The arguments of `weir new`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum NewCommand {
    /// A crate with a controller of your own, and every command with it.
    #[command(alias = "law")]
    Controller(NewControllerArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewControllerArgs {
    /// Name of the controller and of the crate, such as `my-controller`.
    pub(crate) name: String,
    /// A clone of Weir, or the address of its repository [default: the clone that this command was built from].
    #[arg(long, value_name = "PATH|URL")]
    pub(crate) weir: Option<String>,
    /// Folder of the crate, which must not exist [default: NAME].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
