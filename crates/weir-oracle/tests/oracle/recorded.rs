//! Recorded answers of other implementations, and the paths on which they were recorded.

pub(crate) mod paths;
pub(crate) mod records;
