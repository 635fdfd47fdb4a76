//! The controllers against independent implementations, and the programs in their documentation.

mod aiortc_kalman;
mod examples;
mod kernel_tcp;
mod readme;
mod testing;
