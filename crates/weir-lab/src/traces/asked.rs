//! What is asked of an import, and what it found out.

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
    /// What `iperf3 --json` prints.
    Iperf3,
    /// Packets of a transfer: pcap or pcapng.
    Pcap,
}

/// Which flow of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichFlow {
    /// This one of those that are listed, counted from 1.
    Number(usize),
    /// All that go to the address to which most goes.
    All,
}

/// How a file is to be read; what is not said is found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// Its form.
    pub form: Option<ImportForm>,
    /// The column with the times, by its name or its number from 1.
    pub time: Option<String>,
    /// The column with the rates, or which of the sums of an iperf3 report.
    pub rate: Option<String>,
    /// The unit of the times.
    pub time_unit: Option<TimeUnit>,
    /// The unit of the rates.
    pub rate_unit: Option<RateUnit>,
    /// What stands between the columns.
    pub delimiter: Option<char>,
    /// Whether numbers have a comma where others have a point.
    pub decimal_comma: bool,
    /// Which flow of a capture.
    pub flow: Option<WhichFlow>,
}

/// Something that was found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Of what, in a word.
    pub what: &'static str,
    /// What it is.
    pub is: String,
    /// Whether it can hardly be otherwise.
    pub sure: bool,
    /// Why it is thought to be so.
    pub why: String,
}

impl Finding {
    /// It can hardly be otherwise.
    pub(super) fn sure(what: &'static str, is: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what, is: is.into(), sure: true, why: why.into() }
    }

    /// It is probably so.
    pub(super) fn guess(what: &'static str, is: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what, is: is.into(), sure: false, why: why.into() }
    }
}
