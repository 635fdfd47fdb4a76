//! Scheduling of threads that must be punctual.

use std::io;

use nix::sys::prctl::set_timerslack;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::sys::schedule_fifo;

/// Priority by SCHED_FIFO of the emulator's thread.
pub const EMULATOR_PRIORITY: u8 = 50;

/// Processor time in µs that a thread of real-time priority may take without a pause; the kernel then ends the process.
/// A fault of the program therefore cannot stop the machine.
pub const LONGEST_BURST: u64 = 200_000;

/// Lets timers of the calling thread fire at their own time, without the usual slack of 50 µs.
///
/// # Errors
/// If the kernel refuses.
pub fn be_exact() -> io::Result<()> {
    Ok(set_timerslack(1)?)
}

/// Gives the calling thread the real-time `priority`, or the highest one allowed. Before that the processor time of such
/// threads is limited to [`LONGEST_BURST`].
///
/// # Errors
/// If the process has neither CAP_SYS_NICE nor a limit RLIMIT_RTPRIO.
pub fn be_realtime(priority: u8) -> io::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_RTTIME)?;
    setrlimit(Resource::RLIMIT_RTTIME, LONGEST_BURST.min(soft).min(hard), hard)?;
    let Err(refusal) = schedule_fifo(priority) else { return Ok(()) };
    let (allowed, _) = getrlimit(Resource::RLIMIT_RTPRIO)?;
    match u8::try_from(allowed).unwrap_or(u8::MAX).min(priority) {
        0 => Err(refusal),
        lower => schedule_fifo(lower),
    }
}
