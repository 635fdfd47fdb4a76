//! Bytes as a file, for readers that accept no other input.

use std::io::Write;
use std::path::Path;

/// The result of `read` for a file that holds `bytes` and whose name ends with `ending`.
pub(crate) fn holding<T>(bytes: &[u8], ending: &str, read: impl FnOnce(&Path) -> T) -> T {
    let file = tempfile::Builder::new().prefix("fuzz").suffix(ending).tempfile();
    let mut file = file.expect("there is room for a file");
    file.write_all(bytes).expect("there is room in it");
    read(file.path())
}
