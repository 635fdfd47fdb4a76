//! Weir's controllers against independent implementations.

mod goog_cc;
mod house;
mod nada_rmcat;
mod recorded;
mod scream_2026;
mod webrtc_rs;
