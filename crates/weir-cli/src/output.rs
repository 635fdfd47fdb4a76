//! The files of a command, and their names.

mod names;

pub(crate) use names::{file_name, name_among, names_of};
#[cfg(target_os = "linux")]
pub(crate) use weir_study::output::OpenOutput;
pub(crate) use weir_study::output::{
    DECODE_AS, DEFAULT_OUT, FileOwner, Files, OutputDirectory, OutputFile, RUNS, TABLE, add_table, json_file,
};
