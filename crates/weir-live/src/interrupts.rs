//! Signals that ask the process to end, read instead of obeyed.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{getpgrp, tcgetpgrp, tcsetpgrp};

/// The event that ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The program has ended.
    Ended,
    /// A signal has come; `sent` is whether a process sent it to this one alone. The terminal sends one to all.
    Signal {
        /// The signal.
        signal: Signal,
        /// Whether a process sent it.
        sent: bool,
    },
    /// The time is over.
    Nothing,
}

/// The signals that are read.
const READ: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// SIGINT, SIGTERM and SIGHUP as events.
#[derive(Debug)]
pub struct Interrupts(SignalFd);

impl Interrupts {
    /// Blocks the signals in the calling thread and in all that it starts later. They stay blocked.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn block() -> io::Result<Self> {
        let mut blocked: SigSet = READ.into_iter().collect();
        let descriptor = SignalFd::with_flags(&blocked, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        // A process in the background may then take the terminal back.
        blocked.add(Signal::SIGTTOU);
        blocked.thread_block()?;
        Ok(Self(descriptor))
    }

    /// Lets the calling thread, and the process with it, obey the signals again.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn unblock(self) -> io::Result<()> {
        Ok(READ.into_iter().collect::<SigSet>().thread_unblock()?)
    }

    /// Waits for a signal or until the descriptor `ended` of a program is readable, at most for `limit`.
    ///
    /// # Errors
    /// If the descriptors cannot be read.
    pub fn wait(&self, ended: Option<BorrowedFd<'_>>, limit: Duration) -> io::Result<Happened> {
        let mut polled = vec![PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        polled.extend(ended.map(|ended| PollFd::new(ended, PollFlags::POLLIN)));
        let limit = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
        match poll(&mut polled, limit) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ended = polled.get(1).is_some_and(|program| program.any().unwrap_or(false));
        if let Some(info) = self.0.read_signal()? {
            let signal = Signal::try_from(info.ssi_signo as i32)?;
            return Ok(Happened::Signal { signal, sent: info.ssi_code == libc::SI_USER });
        }
        Ok(if ended { Happened::Ended } else { Happened::Nothing })
    }
}

/// The terminal of the process, if the process was in its foreground.
#[derive(Debug)]
pub struct Terminal(io::Stdin);

impl Terminal {
    /// The terminal; `None` where there is none, or for a process in the background.
    pub fn own() -> Option<Self> {
        let terminal = Self(io::stdin());
        terminal.is_ours().then_some(terminal)
    }

    /// Whether the process is in the foreground. A shell that controls jobs takes this place.
    pub fn is_ours(&self) -> bool {
        tcgetpgrp(&self.0).is_ok_and(|group| group == getpgrp())
    }

    /// Takes the foreground back. [`Interrupts::block`] comes first.
    pub fn take_back(&self) {
        if !self.is_ours() {
            // A terminal that is gone needs nothing.
            let _gone = tcsetpgrp(&self.0, getpgrp());
        }
    }
}
