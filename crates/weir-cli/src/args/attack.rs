//! Arguments of `weir attack`.

use clap::builder::PossibleValuesParser;
use weir_lab::attack::Role;

use super::TableArgs;

#[derive(Debug, clap::Args)]
pub(crate) struct AttackArgs {
    /// Controllers [default: all].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) law: Vec<String>,
    /// Only attacks of whom this is: off the path (blind), on the path (reader), or the peer (receiver) [default: all].
    #[arg(long, value_name = "WHO", value_parser = PossibleValuesParser::new(Role::ALL.map(Role::name)))]
    pub(crate) role: Option<String>,
    /// Only attacks whose name has this in it, such as `early`.
    #[arg(long, value_name = "PART")]
    pub(crate) attack: Option<String>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}
