//! Weir's controllers against independent implementations.

mod goog_cc;
mod webrtc_rs;
