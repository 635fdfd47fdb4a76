//! Weir's controllers against independent implementations.

mod chromium_call;
mod chromium_target;
mod conventions;
mod goog_cc;
mod nada_rmcat;
mod ns2;
mod recorded;
mod scream_2026;
mod webrtc_rs;

/// Whether the environment asks for tests at full length (`WEIR_LONG=1`).
fn long() -> bool {
    std::env::var_os("WEIR_LONG").is_some_and(|value| value == "1")
}
