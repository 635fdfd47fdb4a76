//! Inference of paths, held against simulated calls over known paths.

mod capacity;
mod paths;
mod recording;
mod rerun;
mod scenarios;
mod winners;

/// Whether the environment asks for tests at full length (`WEIR_LONG=1`).
fn is_long() -> bool {
    std::env::var_os("WEIR_LONG").is_some_and(|value| value == "1")
}
