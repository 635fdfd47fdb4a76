//! Scheduling of threads that must be punctual.

use std::io;
use std::thread;
use std::time::Duration;

use nix::sys::prctl::set_timerslack;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use nix::time::ClockId;

use crate::clock::nanos_of;
use crate::lateness::Lateness;
use crate::sys::schedule_fifo;

/// Priority by SCHED_FIFO of the emulator's thread.
pub const EMULATOR_PRIORITY: u8 = 50;

/// Priority by SCHED_FIFO of [`measure_idle_lateness`], above all threads of a run.
const CONTROL_PRIORITY: u8 = 60;
/// Time between two wake-ups of [`measure_idle_lateness`].
const CONTROL_INTERVAL: Duration = Duration::from_millis(1);

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

/// Raises the limit of open files to what the process may have: a socket and a duplicate for each end of many flows.
pub fn allow_many_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // The present limit may suffice; if not, the call that misses a descriptor says so.
        let _as_it_was = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Lateness of the wake-ups of a thread that has the highest priority and no work, once a millisecond while `goes_on`: what the machine
/// itself adds to each run beside it.
///
/// # Errors
/// If the kernel refuses a real-time priority.
pub fn measure_idle_lateness(goes_on: impl Fn() -> bool) -> io::Result<Lateness> {
    be_exact()?;
    be_realtime(CONTROL_PRIORITY)?;
    let now = || Duration::from_nanos(nanos_of(ClockId::CLOCK_MONOTONIC) as u64);
    let mut lateness = Lateness::default();
    let mut due = now() + CONTROL_INTERVAL;
    while goes_on() {
        thread::sleep(due.saturating_sub(now()));
        let woken = now();
        lateness.record(woken.saturating_sub(due).into());
        // After a stall the missed wake-ups are one late wake-up, not many.
        due = woken.max(due) + CONTROL_INTERVAL;
    }
    Ok(lateness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_files_becomes_the_hard_one() {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        allow_many_files();
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), (hard, hard));
    }
}
