//! SCReAM version 2 of Ericsson's C++ of June 2026: its recorded answers to feedback (`data/scream-2026`) beside
//! those of Weir's sender half.
//!
//! ```sh
//! cargo test -p weir-oracle --test oracle scream_2026 -- --nocapture --test-threads=1
//! ```

mod closed_loop;
mod open_loop;

/// The folder of the records.
const FOLDER: &str = "scream-2026";
