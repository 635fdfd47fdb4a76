//! Figures of a row, in the paper's axes: their keys in a file, the runs that they need, and the drawn data. The keys
//! are checked, with advice for mistakes.

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
