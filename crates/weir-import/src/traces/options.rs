//! Options for the import of a file, and findings about its content.

use super::units::{RateUnit, TimeUnit};

/// A format of files with traces that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportForm {
    /// Mahimahi's format: one delivery opportunity per line.
    Mahimahi,
    /// A table of times and rates.
    Csv,
    /// Rates as [`TraceForm::Json`](super::TraceForm) has them.
    Json,
    /// The output of `iperf3 --json`.
    Iperf3,
    /// Packets of a transfer: pcap or pcapng.
    Pcap,
}

/// Options for the import of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// Name of the column with the times; by default `seconds`.
    pub time: Option<String>,
    /// Name of the column with the rates, by default `bits_per_second`. For an iperf3 report, the name of the sum.
    pub rate: Option<String>,
    /// Unit of the times; by default seconds.
    pub time_unit: Option<TimeUnit>,
    /// Unit of the rates; by default bit/s.
    pub rate_unit: Option<RateUnit>,
    /// Number of the flow in a capture, from 1 in the order of size.
    pub flow: Option<usize>,
}

/// A finding of an import about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFinding {
    /// Subject of the finding, such as `flow` or `copies`.
    pub subject: &'static str,
    /// Statement about the subject.
    pub statement: String,
}

impl ImportFinding {
    /// The finding with this `statement` about `subject`.
    pub fn new(subject: &'static str, statement: impl Into<String>) -> Self {
        Self { subject, statement: statement.into() }
    }
}

impl ReadOptions {
    /// Name of the first given option that does not apply to files of this format.
    pub(super) fn unused(&self, form: ImportForm) -> Option<&'static str> {
        let (table, report) = (form == ImportForm::Csv, form == ImportForm::Iperf3);
        let given = [
            ("--time", self.time.is_some() && !table),
            ("--rate", self.rate.is_some() && !table && !report),
            ("--time-unit", self.time_unit.is_some() && !table),
            ("--rate-unit", self.rate_unit.is_some() && !table),
            ("--flow", self.flow.is_some() && form != ImportForm::Pcap),
        ];
        given.into_iter().find_map(|(option, unused)| unused.then_some(option))
    }
}
