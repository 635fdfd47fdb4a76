//! A progress bar on standard error, only where someone looks.

use std::io::IsTerminal;

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
