//! Recorded calls from files of browsers and captures, as [`RecordedCall`](weir_world::RecordedCall).
//!
//! Readers stream: memory does not grow with the file beyond the call itself, and no length in a file is trusted for an
//! allocation. No address, port, name, session description or other text of a file enters the call; source identifiers become 1, 2, 3.

pub mod counters;
mod error;
pub mod event_log;
mod forms;
mod options;
pub mod packets;
mod recorded;
pub mod table;
mod uses;

pub use error::{CallImportError, CapturePairError};
pub use forms::{CallForm, SNIFFED_BYTES, read, read_file, read_two_files, sniff};
pub use options::{CallOptions, EndSelection, ExtensionOverrides};
pub use recorded::write;
pub use uses::{CallUse, CallUses};
