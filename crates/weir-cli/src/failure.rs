//! How commands fail: one clear message and an exit code that means something.

use std::path::PathBuf;
use std::process::ExitCode;

use miette::{GraphicalReportHandler, GraphicalTheme};
use weir_lab::comparison::ComparisonError;
use weir_lab::error::ScenarioError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The scenario cannot be run.
    #[error("{0}")]
    Comparison(ComparisonError),
    /// A directory or file cannot be written; found before anything was run.
    #[error("{path}: cannot be written: {source}; give a directory that can be, with --out")]
    Unwritable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Standard output was closed, or results cannot be put into words.
    #[error("cannot print the results: {0}")]
    Print(#[from] std::io::Error),
}

impl From<ComparisonError> for Failure {
    fn from(error: ComparisonError) -> Self {
        match error {
            ComparisonError::Scenario(error) => Self::Scenario(error),
            other => Self::Comparison(other),
        }
    }
}

impl Failure {
    /// Says what happened on standard error, and with which code to exit.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Scenario(error) => {
                let mut text = String::new();
                let theme =
                    if colours() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
                let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
                if handler.render_report(&mut text, error).is_err() {
                    text = error.to_string();
                }
                anstream::eprintln!("{text}");
                ExitCode::from(2)
            }
            Self::Comparison(_) | Self::Unwritable { .. } => {
                anstream::eprintln!("error: {self}");
                ExitCode::from(2)
            }
            // Who closes the pipe has seen enough.
            Self::Print(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Print(_) => {
                anstream::eprintln!("error: {self}");
                ExitCode::from(1)
            }
        }
    }
}

/// Whether standard error shows colours.
fn colours() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}
