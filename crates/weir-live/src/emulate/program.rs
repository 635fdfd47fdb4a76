//! Programs in a namespace.

use std::fs::read_to_string;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use weir_net::Time;
use weir_units::TimeDelta;

use crate::caller::Caller;
use crate::clock::RunClock;
use crate::namespace::Namespace;
use crate::sys;

/// A running program with all its descendants. They end with it, when this value is dropped, and when this process ends
/// in whatever way.
#[derive(Debug)]
pub struct Program {
    host: Arc<Namespace>,
    child: Arc<Mutex<Option<Child>>>,
    ended: Arc<EventFd>,
    code: Option<u8>,
    result: Receiver<io::Result<u8>>,
    thread: Option<JoinHandle<()>>,
}

impl Program {
    /// Starts `command` in the network namespace of `host` and a process namespace of its own, as `caller` if there is one.
    ///
    /// # Errors
    /// The program is missing, or a right.
    pub fn start(host: &Arc<Namespace>, mut command: Command, caller: Option<&Caller>) -> io::Result<Self> {
        if let Some(caller) = caller {
            command.envs(caller.environment.iter().map(|(name, value)| (name, value)));
        }
        let user = caller.map(|caller| (caller.uid, caller.gid));
        let ended = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?);
        let child = Arc::new(Mutex::new(None));
        let (started, is_started) = sync_channel(1);
        let (to, result) = sync_channel(1);
        let thread = {
            let (host, child, ended) = (Arc::clone(host), Arc::clone(&child), Arc::clone(&ended));
            // The kernel ends the child with the thread that started it, so that this thread waits for the child.
            let body = move || {
                let mut start = || {
                    host.enter_thread()?;
                    unshare(CloneFlags::CLONE_NEWPID)?;
                    sys::become_first_process(&mut command, user);
                    command.spawn()
                };
                let pid = match start() {
                    Ok(spawned) => {
                        let pid = Pid::from_raw(spawned.id() as i32);
                        *child.lock().unwrap_or_else(PoisonError::into_inner) = Some(spawned);
                        // The one who started the thread waits for this.
                        let _waits = started.send(Ok(()));
                        pid
                    }
                    Err(error) => {
                        let _waits = started.send(Err(error));
                        return;
                    }
                };
                let waited = wait(pid, &child);
                // There is room for the one result, and the counter is far from its limit.
                let _room = to.send(waited);
                let _limit = ended.write(1);
            };
            thread::Builder::new().name("weir-program".to_owned()).spawn(body)?
        };
        let program = Self { host: Arc::clone(host), child, ended, code: None, result, thread: Some(thread) };
        is_started.recv().map_err(io::Error::other)??;
        Ok(program)
    }

    /// Readable once the program has ended.
    pub fn ended(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }

    /// The exit code if the program has ended: that of a signal is 128 and its number.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn code(&mut self) -> io::Result<Option<u8>> {
        if self.code.is_none() {
            self.code = self.result.try_recv().ok().transpose()?;
        }
        Ok(self.code)
    }

    /// Waits for the end, at most for `limit`.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<u8>> {
        if self.code.is_none() {
            self.code = self.result.recv_timeout(limit).ok().transpose()?;
        }
        Ok(self.code)
    }

    /// Waits until a socket of the namespace accepts packets or connections, the program has ended, or `limit` is over.
    ///
    /// # Errors
    /// If the sockets cannot be listed.
    pub fn wait_until_it_listens(&mut self, limit: TimeDelta) -> io::Result<()> {
        let clock = RunClock::start();
        let end = Time::ZERO + limit;
        while self.wait(Duration::from_millis(10))?.is_none() && clock.now() < end {
            if self.host.enter(|| Ok(has_listener()))? {
                break;
            }
        }
        Ok(())
    }

    /// Sends a signal to the program and its descendants.
    pub fn signal(&self, signal: Signal) {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = &*child {
            // A program that has just ended needs no signal.
            let _ended = kill(Pid::from_raw(child.id() as i32), signal);
        }
    }

    /// Asks the program and its descendants to end.
    pub fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// Kills the program and its descendants.
    pub fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
        if let Some(thread) = self.thread.take() {
            // Its panic was printed.
            let _panic = thread.join();
        }
    }
}

/// The exit code of the child, which is then gone.
fn wait(pid: Pid, child: &Mutex<Option<Child>>) -> io::Result<u8> {
    // The number stays that of the child until the lock is held, so that no signal reaches another process.
    while let Err(error) = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {
        if error != nix::Error::EINTR {
            return Err(error.into());
        }
    }
    let taken = child.lock().unwrap_or_else(PoisonError::into_inner).take();
    let status = taken.map(|mut child| child.wait()).transpose()?.unwrap_or_default();
    let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1);
    Ok(u8::try_from(code).unwrap_or(1))
}

/// Whether a socket of the thread's network namespace listens (TCP, state 0A) or is bound (UDP).
fn has_listener() -> bool {
    let lists = [("tcp", true), ("tcp6", true), ("udp", false), ("udp6", false)];
    lists.iter().any(|&(name, is_tcp)| {
        let text = read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
        let state = |line: &str| line.split_whitespace().nth(3).is_some_and(|state| !is_tcp || state == "0A");
        text.lines().skip(1).any(state)
    })
}
