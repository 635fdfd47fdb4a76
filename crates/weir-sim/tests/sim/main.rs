//! The simulator through its public interface: guarantees of the engine, and behaviour of queues, cells and TCP.

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
