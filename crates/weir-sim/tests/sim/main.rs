//! The simulator as its users meet it: what the engine promises, and what queues, cells and TCP do within it.

mod active_queues;
mod bottlenecks;
mod common;
mod coupled;
mod detection;
mod dual_queue;
mod engine;
mod groups;
mod media_and_data;
mod tcp;
mod transfers;
mod watched;
mod wifi;
