//! The owner of files that a process makes with the rights of another user.

use std::fs::{self, File};
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt as _;

#[cfg(target_os = "linux")]
use weir_live::caller::Caller;

/// The owner of new files: the process, or the user who called it by `sudo`.
#[derive(Debug, Default)]
pub struct FileOwner {
    #[cfg(target_os = "linux")]
    caller: Option<Caller>,
}

#[cfg(target_os = "linux")]
impl FileOwner {
    /// The user who called.
    pub fn caller() -> Self {
        Self { caller: Caller::of_sudo() }
    }

    /// Makes the process one of this user for good, unless `directory`, into which it writes, is of another.
    pub(super) fn drop_root(&self, directory: Option<&Path>) -> io::Result<()> {
        let Some(caller) = &self.caller else { return Ok(()) };
        let is_own = |path: &Path| Ok::<bool, io::Error>(path.metadata()?.uid() == caller.uid);
        if directory.map_or(Ok(true), is_own)? { caller.become_for_good() } else { Ok(()) }
    }

    /// Its file at `path`, without its content.
    fn overwrite(&self, path: &Path) -> io::Result<File> {
        self.caller.as_ref().map_or_else(|| File::create(path), |caller| caller.overwrite(path))
    }

    /// Gives it a file.
    pub(super) fn take(&self, file: &File) -> io::Result<()> {
        self.caller.as_ref().map_or(Ok(()), |caller| caller.own(file))
    }

    /// Gives it a directory.
    pub(super) fn take_directory(&self, path: &Path) -> io::Result<()> {
        self.caller.as_ref().map_or(Ok(()), |caller| caller.own_directory(path))
    }
}

impl FileOwner {
    /// A file without content at `path`, of this owner. With the rights of root, neither a link nor a file of another user is
    /// overwritten.
    ///
    /// # Errors
    /// The file cannot be made or given away.
    pub fn create(&self, path: &Path) -> io::Result<File> {
        match File::create_new(path) {
            Ok(file) => match self.take(&file) {
                Ok(()) => Ok(file),
                Err(error) => {
                    fs::remove_file(path)?;
                    Err(error)
                }
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.overwrite(path),
            Err(error) => Err(error),
        }
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "as on Linux")]
impl FileOwner {
    pub fn caller() -> Self {
        Self::default()
    }

    pub(super) fn drop_root(&self, _: Option<&Path>) -> io::Result<()> {
        Ok(())
    }

    fn overwrite(&self, path: &Path) -> io::Result<File> {
        File::create(path)
    }

    pub(super) fn take(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn take_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}
