//! A run of real packets, on a system that has none.

use weir_net::Time;
use weir_world::{Monitor, RunSpec};

pub use crate::report::{
    FaceKind, LiveError, LiveOptions, LiveReport, MOST_HOSTS, PACER_LATENESS, PacketCounts, TcpInfo, TcpTrace,
};

/// Refuses the run.
///
/// # Errors
/// [`LiveError::NeedsLinux`], always.
pub fn run<M: Monitor>(
    _: RunSpec,
    _: LiveOptions,
    _: M,
    _: impl FnMut(Time) -> bool,
) -> Result<LiveReport<M>, LiveError> {
    Err(LiveError::NeedsLinux)
}
