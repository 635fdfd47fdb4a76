//! What is measured of a run, through the recorder that watches one.

mod histogram;
mod rankings;
mod recorder;
mod results;
mod simulation;
