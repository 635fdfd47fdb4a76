//! Results for readers: the report as one HTML page, charts in SVG, tables as text, packet captures and Parquet files.

pub mod capture;
pub mod chart;
pub mod page;
pub mod parquet;
pub mod text;
