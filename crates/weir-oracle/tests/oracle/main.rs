//! Weir's controllers against independent implementations.

mod goog_cc;
mod house;
mod nada_rmcat;
mod ns2;
mod recorded;
mod scream_2026;
mod webrtc_rs;
