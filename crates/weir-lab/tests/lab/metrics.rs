//! What is measured of a run.

mod histogram;
mod recorder;
mod results;
mod simulation;
