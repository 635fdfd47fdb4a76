//! The figures of a row, in the paper's axes: what a file says of them, what is wrong with that, where on the sweeps they need
//! runs, and the plain data that is drawn.

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
