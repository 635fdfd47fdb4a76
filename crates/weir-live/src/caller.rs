//! The user for whom the process works.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::Path;

use nix::libc::{O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK};
use nix::unistd::{Gid, Uid, User, geteuid, getuid, setgroups, setresgid, setresuid};

/// The user who called, where `sudo` made the process root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Variables of the environment that `sudo` may have changed.
    pub environment: Vec<(&'static str, String)>,
}

impl Caller {
    /// The user whom `sudo` names in the environment; `None` if this is no call by `sudo` as root.
    pub fn of_sudo() -> Option<Self> {
        let id = |name| std::env::var(name).ok()?.parse().ok().filter(|&id: &u32| id > 0);
        let (uid, gid) = geteuid().is_root().then(|| Some((id("SUDO_UID")?, id("SUDO_GID")?)))??;
        let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
        let environment = user.map_or_else(Vec::new, |user| {
            let home = user.dir.to_string_lossy().into_owned();
            vec![("HOME", home), ("USER", user.name.clone()), ("LOGNAME", user.name)]
        });
        Some(Self { uid, gid, environment })
    }

    /// Makes the whole process one of this user for good, without capabilities. Threads keep their scheduling.
    ///
    /// # Errors
    /// If the kernel refuses; the process is then as it was, or ends up with fewer rights.
    pub fn become_for_good(&self) -> io::Result<()> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        setgroups(&[gid])?;
        setresgid(gid, gid, gid)?;
        Ok(setresuid(uid, uid, uid)?)
    }

    /// The file at `path`, which is this user's, without its content. With the rights of root, neither a link nor a file of
    /// another user is followed.
    ///
    /// # Errors
    /// If it cannot be opened, or another user has it.
    pub fn overwrite(&self, path: &Path) -> io::Result<File> {
        let file = File::options().write(true).custom_flags(O_NOFOLLOW).open(path)?;
        if file.metadata()?.uid() != self.uid {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user has the file"));
        }
        file.set_len(0)?;
        Ok(file)
    }

    /// Gives a new directory to this user. A link in its place is not followed.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn own_directory(&self, path: &Path) -> io::Result<()> {
        let flags = O_NOFOLLOW | O_DIRECTORY;
        self.own(&File::options().read(true).custom_flags(flags).open(path)?)
    }

    /// Gives a new file to this user.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn own(&self, file: &File) -> io::Result<()> {
        fchown(file, Some(self.uid), Some(self.gid))
    }
}

/// The file at `path` for reading. The call does not wait for the writer of a pipe.
///
/// # Errors
/// If it cannot be opened.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(O_NONBLOCK).open(path)
}

/// Whether `uid` is the user of the process, or the one who called it by `sudo`.
pub fn is_own(uid: u32) -> bool {
    geteuid().as_raw() == uid || Caller::of_sudo().is_some_and(|caller| caller.uid == uid)
}

/// Refuses a process whose file has the set-user-ID bit: rights of another user than the one who called are not for it.
///
/// # Errors
/// A sentence, if the real and the effective user differ.
pub fn refuse_set_user_id() -> io::Result<()> {
    refuse_other(getuid(), geteuid())
}

fn refuse_other(real: Uid, effective: Uid) -> io::Result<()> {
    if real == effective {
        return Ok(());
    }
    let text = "the program has the set-user-ID bit, which it does not support; remove it and use sudo";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_another_user_is_refused() {
        let [user, root] = [1000, 0].map(Uid::from_raw);
        assert!(refuse_other(user, root).unwrap_err().to_string().contains("set-user-ID"));
        assert!(refuse_other(root, user).is_err());
        assert!(refuse_other(user, user).is_ok() && refuse_other(root, root).is_ok());
    }
}
