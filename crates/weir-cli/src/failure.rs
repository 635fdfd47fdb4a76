//! Failures of commands: one clear message and an exit code with a meaning.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use miette::{GraphicalReportHandler, GraphicalTheme};
use weir_form::ScenarioError;
use weir_import::calls::CallImportError;
use weir_import::traces::{FormError, TraceStoreError};
use weir_measure::results::UnevenRuns;
use weir_scenario::registry::RegistryError;
use weir_scenario::scenario::Scenario;
use weir_study::comparison::ComparisonError;
use weir_study::judge::BaselineError;
use weir_study::output::OutputError;
use weir_study::runs::RunError;

use crate::table;
use crate::terminal;

/// Line width of output for programs, which has no line breaks.
const UNBROKEN: usize = 10_000;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// An option of the command line makes the scenario wrong.
    #[error("{option}: {problem}")]
    Option {
        /// The option and its value.
        option: String,
        /// The error, and the valid value.
        problem: String,
    },
    /// The controllers do not fit together.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// There is no such trace.
    #[error("{0}{advice}", advice = advice(.0))]
    Trace(#[from] TraceStoreError),
    /// A file is no recorded call.
    #[error("{path}: {error}")]
    Call {
        /// The file.
        path: String,
        /// The problem, and its place.
        error: CallImportError,
    },
    /// There is no base to compare with.
    #[error(transparent)]
    Baseline(BaselineError),
    /// The scenario cannot be run.
    #[error("{0}")]
    Run(RunError),
    /// There is nothing to compare.
    #[error(transparent)]
    NoRuns(UnevenRuns),
    /// The machine lacks what real packets need, or fails.
    #[error("{0}")]
    Machine(String),
    /// A directory cannot be written; found before anything was run.
    #[error("{path}: cannot be written: {source}; give a directory that can be, with --out")]
    Unwritable {
        /// Path of the file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be written; found before anything was run.
    #[error("{path}: cannot be written: {source}; name a file that can be")]
    UnwritableFile {
        /// Path of the file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be written, after everything was run.
    #[error("{path}: cannot be written: {source}")]
    Write {
        /// Path of the file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The report cannot be shown.
    #[error("{path}: cannot be opened: {source}; open it yourself")]
    Open {
        /// Path of the file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Standard output was closed, or results cannot be formatted.
    #[error("cannot print the results: {0}")]
    Print(#[from] std::io::Error),
}

impl From<BaselineError> for Failure {
    fn from(error: BaselineError) -> Self {
        match error {
            BaselineError::Run(error) => error.into(),
            other => Self::Baseline(other),
        }
    }
}

impl From<ComparisonError> for Failure {
    fn from(error: ComparisonError) -> Self {
        match error {
            ComparisonError::Run(error) => error.into(),
            ComparisonError::Runs(error) => Self::NoRuns(error),
        }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Directory { path, source } => Self::Unwritable { path, source },
            OutputError::File { path, source } => Self::UnwritableFile { path, source },
            OutputError::Write { path, source } => Self::Write { path, source },
            other @ OutputError::Rights(_) => Self::Machine(other.to_string()),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Scenario(error) => Self::Scenario(error),
            other => Self::Run(other),
        }
    }
}

/// Advice after a trace was not found.
fn advice(error: &TraceStoreError) -> String {
    match error {
        TraceStoreError::NotFound { advice, .. } | TraceStoreError::Ambiguous { advice, .. } => {
            format!("; {advice}")
        }
        TraceStoreError::Malformed { error: error @ FormError::Undecided { .. }, .. } => {
            format!("; {}", error.form())
        }
        _ => String::new(),
    }
}

impl Failure {
    /// Whether the only failure is that the reader closed the pipe.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Print(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Reports the failure on standard error, and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let (text, code) = match self {
            // A closed pipe is no error: its reader has enough.
            closed if closed.is_closed_pipe() => return ExitCode::SUCCESS,
            Self::Scenario(error) => (with_source(error), 2),
            Self::Option { .. }
            | Self::Registry(_)
            | Self::Trace(_)
            | Self::Call { .. }
            | Self::Baseline(_)
            | Self::Run(_)
            | Self::NoRuns(_)
            | Self::Machine(_)
            | Self::Unwritable { .. }
            | Self::UnwritableFile { .. } => (error(self), 2),
            Self::Write { .. } | Self::Open { .. } | Self::Print(_) => (error(self), 1),
        };
        // If standard error is closed, the exit code still reports it.
        let _: io::Result<()> = terminal::stderr().write_drawn(&(text.trim_end().to_owned() + "\n"));
        ExitCode::from(code)
    }
}

/// Reports errors of the arguments, or the requested help, and returns the exit code.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let text = error.render().ansi().to_string();
    // If standard error is closed, the exit code still reports it.
    let _: io::Result<()> = if error.use_stderr() {
        write!(terminal::stderr(), "{text}")
    } else {
        write!(terminal::stdout(), "{text}")
    };
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Warns on standard error about parts of `scenario` that should not be sent into a network.
pub(crate) fn warn(scenario: &Scenario) {
    for warning in scenario.warnings() {
        // If standard error is closed, the run goes on.
        let text = with_source(&warning).trim_end().to_owned() + "\n";
        let _: io::Result<()> = terminal::stderr().write_drawn(&text);
    }
}

/// An error without a source line.
fn error(failure: &Failure) -> String {
    format!("error: {}", terminal::printable_lines(&failure.to_string()))
}

/// The error with the line that it refers to.
fn with_source(error: &ScenarioError) -> String {
    let theme = if colours() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let width = table::error_width().unwrap_or(UNBROKEN);
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false).with_width(width);
    // Each by itself: as related errors the others would begin differently.
    let shown = |error: &ScenarioError| {
        let mut text = String::new();
        let error = &error.with_texts(terminal::printable_lines);
        match handler.render_report(&mut text, error) {
            Ok(()) => text,
            Err(_) => format!("{error}\n"),
        }
    };
    error.each().iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// Whether standard error shows colours.
fn colours() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}
