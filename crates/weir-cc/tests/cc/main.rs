//! The controllers against what others wrote, and what their documentation shows.

mod aiortc_kalman;
mod examples;
mod kernel_tcp;
mod readme;
mod testing;
