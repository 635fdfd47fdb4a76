//! libwebrtc's congestion controller as the yardstick: the crate `goog_cc`, a port of the state of December 2024, in a
//! closed loop in which any controller of Weir runs as well.
//!
//! `docs/goog_cc.md` says what the figures mean:
//!
//! ```sh
//! cargo test --release -p weir-oracle --test oracle goog_cc -- --nocapture --test-threads=1
//! ```

mod browsers;
mod closed_loop;
mod link;
mod oracle;
mod recorded;
mod scenarios;
