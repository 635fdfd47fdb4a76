//! NADA of its authors' C++ (cisco/ns3-rmcat): its recorded answers to feedback (`data/nada-rmcat`) beside those
//! of Weir's sender half to the same feedback, whose rates change nothing.
//!
//! ```sh
//! cargo test -p weir-oracle --test oracle nada_rmcat -- --nocapture --test-threads=1
//! ```

mod closed_loop;
mod open_loop;

/// The folder of the records.
const FOLDER: &str = "nada-rmcat";
