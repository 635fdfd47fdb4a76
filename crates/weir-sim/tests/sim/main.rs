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

/// Whether the environment asks for tests at full length (`WEIR_LONG=1`).
fn long() -> bool {
    std::env::var_os("WEIR_LONG").is_some_and(|value| value == "1")
}
