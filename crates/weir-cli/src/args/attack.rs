//! Arguments of `weir attack`.

use clap::builder::PossibleValuesParser;
use weir_study::attack::Role;
use weir_units::TimeDelta;

use super::TableArgs;

#[derive(Debug, clap::Args)]
pub(crate) struct AttackArgs {
    /// Controllers [default: all].
    #[arg(long, alias = "law", value_name = "NAME", value_delimiter = ',')]
    pub(crate) controller: Vec<String>,
    /// Only attacks of this role: off the path (blind), on the path (reader), or the peer (receiver) [default:
    /// all].
    #[arg(long, value_name = "WHO", value_parser = PossibleValuesParser::new(Role::ALL.map(Role::name)))]
    pub(crate) role: Option<String>,
    /// Only attacks whose name contains this, such as `early`.
    #[arg(long, value_name = "PART")]
    pub(crate) attack: Option<String>,
    /// When attacks begin, from the start of the call, up to an hour; they last 40 s.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = begin)]
    pub(crate) from: TimeDelta,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// The beginning of an attack.
fn begin(text: &str) -> Result<TimeDelta, String> {
    let from: TimeDelta = text.parse().map_err(|error| format!("{error}"))?;
    let most = TimeDelta::from_secs(3600);
    if (TimeDelta::ZERO..=most).contains(&from) {
        Ok(from)
    } else {
        Err("write a time from 0s to 3600s".to_owned())
    }
}
