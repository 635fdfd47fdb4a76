//! libwebrtc's congestion controller as a reference sender: the crate `goog_cc`, a port of its state in
//! December 2024. The closed loop also runs any controller of Weir.
//!
//! `docs/goog_cc.md` explains the figures:
//!
//! ```sh
//! WEIR_LONG=1 cargo test --release -p weir-oracle --test oracle goog_cc -- --nocapture --test-threads=1
//! ```

mod browsers;
mod closed_loop;
mod link;
mod oracle;
mod recorded;
mod scenarios;
