//! Figures of a row, in the paper's axes: their keys in a file with a check, the runs that they need, and the data that
//! is drawn.

mod check;
mod data;
mod evaluate;
mod needs;
#[cfg(test)]
mod tests;
mod words;

pub(super) use check::{PlotFormulas, read};
pub use data::{Drawn, PlotLine, PlotResult};
pub(super) use evaluate::evaluate;
pub(super) use needs::{is_drawn, needed};
pub use words::{Axis, LineOf, Plot, PlotKind};
