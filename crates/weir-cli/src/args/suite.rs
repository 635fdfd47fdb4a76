//! Arguments of `weir suite`.

use std::path::{Path, PathBuf};

use super::{DataArgs, ShardArgs, TableForm};
use crate::failure::Failure;
use clap::{Subcommand, value_parser};
use weir_form::Varied;
use weir_study::suite::{self, Suite};

/// Source of a suite.
#[derive(Clone, Debug)]
pub(crate) enum SuiteSource {
    /// The suite ships with Weir.
    Shipped(&'static Suite),
    /// Drawn by a seed.
    Drawn,
    /// A file.
    File(PathBuf),
}

impl SuiteArgs {
    /// The file that the suite is read from.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.suite {
            Some(SuiteSource::File(path)) => Some(path),
            _ => None,
        }
    }

    /// The arguments that repeat `suite` over the same traces.
    pub(crate) fn repeated(&self, suite: &Suite) -> Vec<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let source = self.file().map_or_else(|| suite.name.clone(), text);
        let drawn = matches!(self.suite, Some(SuiteSource::Drawn));
        let source = if drawn { suite::DRAWN.to_owned() } else { source };
        let cases = self.draw.cases.iter().flat_map(|cases| ["--cases".to_owned(), cases.to_string()]);
        let seed_of = self.draw.seed_of.iter().flat_map(|path| ["--seed-of".to_owned(), text(path)]);
        let further = cases.chain(seed_of).collect();
        suite::command_words(&source, further, self.data.given(), self.allow_stand_ins)
    }
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct SuiteArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SuiteCommand>,
    /// The suite (see `weir list suites`), or a file of your own that ends in `.toml`.
    #[arg(required = true, value_parser = source)]
    pub(crate) suite: Option<SuiteSource>,
    /// Controllers, with options of their own in braces, such as `gcc,gcc{trendline.window=40}` [default: those of the suite's
    /// file, else all].
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Vec<String>,
    /// Only these cases, such as `5.1`.
    #[arg(long, value_name = "CASE", value_delimiter = ',')]
    pub(crate) case: Vec<String>,
    /// Each case over values of a key, such as `links.forward.delay=10ms,50ms,1s`, `1ms..100ms/5log` or words: a row for each of them;
    /// may be given often, all with all.
    #[arg(long, value_name = "PATH=V,V")]
    pub(crate) sweep: Vec<Varied>,
    /// Runs per controller and case, each with a seed of its own.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: u32,
    /// Seed of the first run; the others follow it. For `drawn` it also draws the cases.
    #[arg(long, value_name = "S", default_value_t = 1, allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: u64,
    /// Number of threads [default: one per core]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Save the result, as the base of later comparisons.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    pub(crate) save: Option<PathBuf>,
    /// Compare with a saved result; exit with 1 if anything got worse.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    pub(crate) baseline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    /// Write the verdicts as JUnit's XML, each case a test of its controller: missed ones failed, those that are
    /// open or not judged skipped.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the matrix as a table of Markdown; `-` prints it in place of the usual one.
    #[arg(long, value_name = "FILE|-", conflicts_with = "shard")]
    pub(crate) markdown: Option<PathBuf>,
    /// Directory for the matrix as a page, the result as JSON, and the runs, by which an interrupted run goes on
    /// [default, without the runs: weir-out/suite-NAME, of some of the cases weir-out/suite-NAME-some, of a sweep
    /// weir-out/suite-NAME-sweep].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) parts: ShardArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Make the runs of the omniscient sender and of TCP in the place of calls anew, and keep nothing of them.
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Open the matrix once it is written.
    #[arg(long, conflicts_with = "shard")]
    pub(crate) open: bool,
    /// Accept stand-ins for missing recorded traces, which are otherwise an error.
    #[arg(long)]
    pub(crate) allow_stand_ins: bool,
    /// Form of the table of all runs, `table/part-*` in the directory.
    #[arg(long, value_name = "FORM", default_value = "parquet")]
    pub(crate) table: TableForm,
    /// Print the result as JSON, and write only the files that other options name.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Drawing of the cases of `drawn`.
#[derive(Debug, clap::Args)]
pub(crate) struct DrawArgs {
    /// Number of cases of `drawn` [default: 40].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) cases: Option<u32>,
    /// Take the seed of `drawn` from a hash of these files, such as those of a controller whose tuning is
    /// finished.
    #[arg(long, value_name = "FILE", conflicts_with = "seed", num_args = 1..)]
    pub(crate) seed_of: Vec<PathBuf>,
    /// Print the scenarios of the cases of `drawn`, those of --case or all, without a run.
    #[arg(long)]
    pub(crate) print: bool,
}

impl DrawArgs {
    /// Refuses these options of a suite whose cases are not drawn.
    ///
    /// # Errors
    /// An error if one of them is given.
    pub(crate) fn suits(&self, suite: Option<&SuiteSource>) -> Result<(), Failure> {
        let given = [
            ("--cases", self.cases.is_some()),
            ("--seed-of", !self.seed_of.is_empty()),
            ("--print", self.print),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) if !matches!(suite, Some(SuiteSource::Drawn)) => {
                let problem = "only cases that are drawn have it; write `weir suite drawn`".to_owned();
                Err(Failure::Option { option: option.to_owned(), problem })
            }
            _ => Ok(()),
        }
    }
}

/// Requirements on every controller; the exit code is 1 if one fails.
#[derive(Debug, clap::Args)]
pub(crate) struct GateArgs {
    /// These cases have to pass, such as `5.1,5.4`; exit with 1 if one does not.
    #[arg(long, value_name = "CASE", value_delimiter = ',', conflicts_with = "shard")]
    pub(crate) require: Vec<String>,
    /// Least number of cases that have to pass; exit with 1 if fewer do.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), conflicts_with = "shard")]
    pub(crate) min_passed: Option<u32>,
    /// Open verdicts count as passed for --require and --min-passed.
    #[arg(long)]
    pub(crate) allow_open: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// Compare two saved results without a run: what got better and what got worse; exit with 1 if anything did.
    Diff(SuiteDiffArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SuiteDiffArgs {
    /// The earlier result, as `--save` or `--json` wrote it.
    pub(crate) old: PathBuf,
    /// The later one.
    pub(crate) new: PathBuf,
    /// Write what changed as a table of Markdown; `-` prints it in place of the usual one.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) markdown: Option<PathBuf>,
}

/// A suite that ships, or a file.
fn source(text: &str) -> Result<SuiteSource, String> {
    let path = PathBuf::from(text);
    match suite::find(text) {
        None if text == suite::DRAWN => Ok(SuiteSource::Drawn),
        Some(suite) => Ok(SuiteSource::Shipped(suite)),
        None if path.extension().is_some_and(|end| end == "toml") => Ok(SuiteSource::File(path)),
        None => {
            let names = suite::SUITES.iter().map(|suite| suite.name.as_str());
            let names: Vec<&str> = names.chain([suite::DRAWN]).collect();
            Err(format!(
                "no suite ships under this name; write {}, or a file that ends in `.toml`",
                names.join(", ")
            ))
        }
    }
}
