//! Weir's controllers against independent implementations.

mod goog_cc;
mod house;
mod nada_rmcat;
mod webrtc_rs;
