//! Progress on standard error: a bar on a terminal, else a line now and then.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal;

/// A bar without length yet; invisible if `quiet` or if standard error is no terminal.
pub(crate) fn bar(quiet: bool) -> ProgressBar {
    let bar = ProgressBar::new(0);
    if quiet || !io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar:.cyan/dim} {pos}/{len} runs  {eta} left")
    {
        bar.set_style(style);
    }
    bar
}

/// Adds `runs` of `what` to the bar: first how many, as a bar without length looks full.
pub(crate) fn expect(bar: &ProgressBar, what: &str, runs: usize) {
    bar.inc_length(runs as u64);
    bar.set_message(terminal::printable(what));
}

/// Lines in place of a bar, one a minute, for long runs whose standard error goes to a file.
#[derive(Debug)]
pub(crate) struct Lines {
    wanted: bool,
    /// The minutes that have been reported.
    reported_minutes: AtomicU64,
}

impl Lines {
    /// Lines unless `quiet`, or a terminal shows the bar.
    pub(crate) fn beside_a_bar(quiet: bool) -> Self {
        Self { wanted: !quiet && !io::stderr().is_terminal(), reported_minutes: AtomicU64::new(0) }
    }

    /// Reports the progress of `bar`, if a minute is over.
    pub(crate) fn report(&self, bar: &ProgressBar) {
        let minutes = bar.elapsed().as_secs() / 60;
        if self.wanted && self.reported_minutes.fetch_max(minutes, Ordering::Relaxed) < minutes {
            let (made, all, left) = (bar.position(), bar.length().unwrap_or(0), bar.eta().as_secs());
            // If standard error is closed, the run goes on.
            let _: io::Result<()> =
                writeln!(terminal::stderr(), "{made} of {all} runs, about {} min left", left.div_ceil(60));
        }
    }
}
