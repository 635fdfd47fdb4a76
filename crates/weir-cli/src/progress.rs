//! Progress on standard error: a bar where someone looks, else a line now and then.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar without length yet; invisible if `quiet` or if standard error is no terminal.
pub(crate) fn bar(quiet: bool) -> ProgressBar {
    let bar = ProgressBar::new(0);
    if quiet || !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar:.cyan/dim} {pos}/{len} runs  {eta} left")
    {
        bar.set_style(style);
    }
    bar
}

/// So often a line says how far it is where there is no terminal.
const EVERY: Duration = Duration::from_mins(1);

/// Lines in place of a bar, for what takes long and whose standard error is kept in a file.
#[derive(Debug)]
pub(crate) struct Lines(Option<Mutex<Instant>>);

impl Lines {
    /// Lines unless `quiet`, or a terminal shows the bar.
    pub(crate) fn beside_a_bar(quiet: bool) -> Self {
        let wanted = !quiet && !std::io::stderr().is_terminal();
        Self(wanted.then(|| Mutex::new(Instant::now())))
    }

    /// Says how far `bar` is, if it was not said in the last minute.
    pub(crate) fn tell(&self, bar: &ProgressBar) {
        // Whoever finds another at it has nothing to say.
        let Some(Ok(mut last)) = self.0.as_ref().map(Mutex::try_lock) else { return };
        if last.elapsed() >= EVERY {
            *last = Instant::now();
            let (made, all, left) = (bar.position(), bar.length().unwrap_or(0), bar.eta().as_secs());
            anstream::eprintln!("{made} of {all} runs, about {} min left", left.div_ceil(60));
        }
    }
}
