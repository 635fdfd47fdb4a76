//! Files and directories of results.

mod directory;
mod error;
mod file;
mod owner;
mod part;
mod table;

pub use directory::{DECODE_AS, DEFAULT_OUT, Files, OutputDirectory, RUNS, TABLE, TABLE_FOLDER, json_file};
pub use error::OutputError;
pub use file::{OpenOutput, OutputFile};
pub use owner::FileOwner;
pub use table::{TableFormat, add_table};
