//! Experiments as data: claims of papers, the runs that test them, and the verdicts.
//!
//! A row is a file `experiments/<paper>/<row>.toml`. Its keys are a scenario with settings, variants that are compared,
//! sweeps, seeds, and claims. Each claim has its class, the paper's value, a formula over the results, and
//! the accepted range. [`Reproduction`] plans the runs of many rows, makes each once, and judges.

mod baseline;
mod cases;
mod catalogue;
mod claim;
mod command_line_sweep;
mod harvest;
mod judge;
mod markdown;
mod named;
mod overview;
mod plan;
mod plots;
mod provenance;
mod read;
mod report;
mod reproduce;
mod results;
mod row;
mod row_runs;
mod sense;
mod sweep;
mod sweep_check;
mod table;
#[cfg(test)]
mod tests;
mod trials;
mod values;

pub use crate::judge::{Harvest, MeasuredPlace};
pub use baseline::{LostClaim, lost};
pub use catalogue::{ROWS, ShippedRow};
pub use claim::{
    BetterConditions, Claim, Class, NoMore, NumberSide, OverPlaces, OverSeeds, Range, Reported, Selection,
    SignOrder, Trend, TrendDirection,
};
pub use command_line_sweep::SweptScenario;
pub use harvest::KeptRun;
pub use markdown::markdown;
pub use named::open;
pub use overview::{PaperSummary, WordTable, classes_in_words, numbers_in_words, summary};
pub use plan::Extent;
pub use plots::{Axis, Drawn, LineOf, Plot, PlotKind, PlotLine, PlotResult};
pub use provenance::Provenance;
pub use read::Experiment;
pub(crate) use report::figure;
pub use report::{figures, report};
pub use reproduce::{Reproduced, Reproduction};
pub use results::{Accepted, Basis, ClaimResult, Count, PlaceResult, counts};
pub use row::{
    ComparedVariant, GeometricGrid, Row, RowForm, ScenarioSource, Seeds, Sweep, SweepValues, Tried,
};
pub use row_runs::RowRuns;
pub use sweep::{SweepRequest, Swept, varied_controllers};
pub use sweep_check::{SweepError, SweepPart, check_keys};
pub use table::Table;
pub use trials::{TrialResult, Trials};
