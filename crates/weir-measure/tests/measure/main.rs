//! Measurements of a run, through the recorder that observes it.

mod histogram;
mod rankings;
mod recorder;
mod results;
mod simulation;
