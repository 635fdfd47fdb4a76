//! Signals during real runs: the runs end in order, and a sentence says so.

use crate::failure::Failure;

#[cfg(target_os = "linux")]
pub(crate) use linux::SignalWatch;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    use weir_live::interrupts::{Happened, Interrupts};

    use super::Failure;

    /// Time between two looks at the flag that ends the thread.
    const INTERVAL: Duration = Duration::from_millis(50);

    /// A thread that reads SIGINT, SIGTERM and SIGHUP instead of obeying them.
    pub(crate) struct SignalWatch {
        came: Arc<AtomicU32>,
        ends: Arc<AtomicBool>,
        thread: JoinHandle<io::Result<Interrupts>>,
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is the argument of `map_err`")]
    fn machine(error: io::Error) -> Failure {
        Failure::Machine(format!("signals cannot be read: {error}"))
    }

    impl SignalWatch {
        /// Starts to read the signals. Threads that start later do not obey them either.
        pub(crate) fn start() -> Result<Self, Failure> {
            let interrupts = Interrupts::block().map_err(machine)?;
            let (came, ends) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
            let flags = (Arc::clone(&came), Arc::clone(&ends));
            let watch = move || {
                let (came, ends) = flags;
                while !ends.load(Ordering::Relaxed) {
                    if let Happened::Signal { .. } = interrupts.wait(None, INTERVAL)? {
                        came.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Ok(interrupts)
            };
            let thread = thread::Builder::new().name("weir-signals".to_owned()).spawn(watch);
            Ok(Self { came, ends, thread: thread.map_err(machine)? })
        }

        /// Whether a signal has come.
        pub(crate) fn has_signal(&self) -> bool {
            self.count() > 0
        }

        /// The number of signals that have come.
        pub(crate) fn count(&self) -> u32 {
            self.came.load(Ordering::Relaxed)
        }

        /// Obeys the signals again. The result is whether one has come.
        pub(crate) fn end(self) -> Result<bool, Failure> {
            self.ends.store(true, Ordering::Relaxed);
            let interrupts = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            interrupts.and_then(Interrupts::unblock).map_err(machine)?;
            Ok(self.came.load(Ordering::Relaxed) > 0)
        }
    }
}

/// No signals, where there are no real runs.
#[cfg(not(target_os = "linux"))]
pub(crate) struct SignalWatch;

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "as on Linux")]
impl SignalWatch {
    pub(crate) fn start() -> Result<Self, Failure> {
        Ok(Self)
    }

    pub(crate) fn has_signal(&self) -> bool {
        false
    }

    pub(crate) fn end(self) -> Result<bool, Failure> {
        Ok(false)
    }
}
