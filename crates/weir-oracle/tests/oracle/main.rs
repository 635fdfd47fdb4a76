//! Weir's controllers against independent implementations.

mod goog_cc;
mod house;
mod webrtc_rs;
