//! Arguments of `weir schema`.

use clap::ValueEnum;

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The kind of file.
    #[arg(default_value = "scenario")]
    pub(crate) what: SchemaOf,
    /// The controller or coupler, for its options.
    #[arg(required_if_eq("what", "options"))]
    pub(crate) name: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Scenario files.
    Scenario,
    /// The output of `weir run --json`.
    Results,
    /// The table of all runs, `table/part-*`: columns, metrics and units.
    Table,
    /// Recorded calls, as `weir import` writes them.
    Call,
    /// The output of `weir testbed --json`.
    Live,
    /// The output of `weir send --json` and `weir recv --json`.
    Peer,
    /// Study files: suites of one's own, and rows with the claims of papers; also as `suite` or `row`.
    #[value(aliases = ["suite", "row"])]
    Study,
    /// The options of a controller or coupler.
    Options,
}
