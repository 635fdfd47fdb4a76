//! Arguments of `weir report`.

use std::path::PathBuf;
use std::str::FromStr;

use super::DataArgs;

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// The directory of a run, as `weir run --out` writes it, or the results.json in it.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Another one, shown beside it.
    #[arg(value_name = "OTHER")]
    pub(crate) against: Option<PathBuf>,
    /// The file to write [default: report.html in the directory of the run; of two, weir-out/report.html].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the report's results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with 1 if a controller of the second run is worse than in the first by more than this, such as 5%. Useful rate, frame delay
    /// and freezes count, by the rule by which controllers are ranked. A controller or a value that the second run lacks fails, too.
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "against")]
    pub(crate) fail_if_worse: Option<f64>,
    /// Compare controller A of the first run with controller B of the second; may be given often.
    #[arg(long, value_name = "A=B", requires = "against")]
    pub(crate) pair: Vec<VariantPair>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

/// Two names of `--pair`, before they are looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariantPair(pub(crate) String);

impl FromStr for VariantPair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('=') {
            return Ok(Self(text.to_owned()));
        }
        Err("write `A=B`: a controller of the first run and one of the second".to_owned())
    }
}

/// A share such as `5%`, as a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|number| (0.0..=1000.0).contains(number)).map(|number| number / 100.0);
    share.ok_or_else(|| "a share in per cent from 0% to 1000%, such as 5%".to_owned())
}
