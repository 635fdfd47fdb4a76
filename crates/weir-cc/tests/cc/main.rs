//! The controllers against what others wrote, and what their documentation shows.

mod aiortc_kalman;
mod examples;
mod readme;
