//! Options for reading a file, and findings of an import about it.

use super::units::{RateUnit, TimeUnit};

/// A form that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportForm {
    /// Opportunities, a line each.
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

/// Options for reading a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The name of the column with the times; else `seconds`.
    pub time: Option<String>,
    /// The name of the column with the rates, else `bits_per_second`; or which of the sums of an iperf3 report.
    pub rate: Option<String>,
    /// The unit of the times; else seconds.
    pub time_unit: Option<TimeUnit>,
    /// The unit of the rates; else bit/s.
    pub rate_unit: Option<RateUnit>,
    /// The flow of a capture, by its number in the list, from 1.
    pub flow: Option<usize>,
}

/// A finding of an import about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFinding {
    /// Subject of the finding, in a word or two.
    pub what: &'static str,
    /// The statement.
    pub is: String,
}

impl ImportFinding {
    /// The finding that `what` is `is`.
    pub fn new(what: &'static str, is: impl Into<String>) -> Self {
        Self { what, is: is.into() }
    }
}

impl ReadOptions {
    /// The first option that is given and does not apply to files of this form.
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
