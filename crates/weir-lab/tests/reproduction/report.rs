//! What an experiment measured, for `--nocapture`.

use std::fmt::Write;

use weir_lab::results::stats::Estimate;

/// Lines that are printed together at the end of a test, also of one that fails.
pub(crate) struct Report(String);

impl Report {
    pub(crate) fn new(title: &str) -> Self {
        Self(format!("\n{title}\n"))
    }

    /// Adds a metric with its value in each run; returns the mean.
    pub(crate) fn row(&mut self, label: &str, decimals: usize, runs: &[f64]) -> f64 {
        let estimate = Estimate::of(runs).expect("at least one run");
        let half_width = estimate.half_width.unwrap_or(0.0);
        let each: Vec<String> = runs.iter().map(|value| format!("{value:.decimals$}")).collect();
        let mean = estimate.mean;
        let each = each.join(" ");
        writeln!(self.0, "  {label:<52} {mean:>8.decimals$} ± {half_width:<8.decimals$} [{each}]")
            .expect("strings take everything");
        mean
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}
