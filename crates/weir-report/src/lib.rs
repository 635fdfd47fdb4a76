//! Results for readers: the report as one HTML page, charts in SVG, packet captures and Parquet files.

pub mod capture;
pub mod chart;
pub mod page;
pub mod parquet;
