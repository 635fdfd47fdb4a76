//! Experiments as data: what papers claim, what is run to see whether it is so, and the verdict.
//!
//! A row is a file `experiments/<paper>/<row>.toml`: a scenario with what is laid over it, variants that are compared, sweeps,
//! seeds, and claims, each with its class, the paper's value, a [formula](formula) over the results, and what is accepted.
//! [`Reproduction`] plans the runs of many rows, makes each once, and judges.

mod asked;
mod baseline;
mod cases;
mod catalogue;
mod formula;
mod further;
mod harvest;
mod judge;
mod markdown;
mod paths;
mod plan;
mod plots;
mod read;
mod report;
mod reproduce;
mod results;
mod row;
mod sense;
mod sweep;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub use baseline::{Lost, VerdictBaseline, VerdictBaselineError};
pub use catalogue::{ROWS, ShippedRow};
pub use harvest::Harvest;
pub use judge::{Measured, Verdict};
pub use markdown::markdown;
pub use plan::Extent;
pub use plots::{Axis, Drawn, LineOf, Plot, PlotKind, PlotLine, PlotResult};
pub use read::{Experiment, open};
pub(crate) use report::figure;
pub use report::{figures, report};
pub use reproduce::{Reproduced, Reproduction};
pub use results::{Accepted, Basis, ClaimResult, Count, PlaceResult, counts};
pub use row::{
    Better, Claim, Class, Direction, Further, Grid, NoMore, Order, OverPlaces, OverSeeds, Range, Reported,
    Row, Seeds, Selection, Side, Source, Sweep, Trend, Values, Variant,
};
pub use sweep::{SweepRequest, Swept};
pub use table::Table;
