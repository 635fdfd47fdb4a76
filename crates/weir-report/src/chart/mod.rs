//! Charts as SVG drawings: axes, the box between them, and paths in it. Charts need no script, are sharp on paper, and take their
//! colours from the page, light or dark.

mod escape;
mod frame;
pub mod path;
mod scale;

pub use escape::html as escape_html;
pub use frame::ChartFrame;
pub use scale::step as tick_step;
pub use scale::{AxisScale, Bounds, Ends, said};

/// The style of charts.
pub const CHART_CSS: &str = include_str!("chart.css");
