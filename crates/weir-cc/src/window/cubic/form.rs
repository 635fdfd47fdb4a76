//! Forms of CUBIC, and their differences other than window growth.

use super::BETA;
use super::linux_3_16::Linux316;
use super::linux_6::Linux6;
use crate::window::Congestion;

/// Factor of the multiplicative decrease in Linux (`beta`).
const LINUX_BETA: f64 = 717.0 / 1024.0;

/// Form of congestion avoidance.
#[derive(Clone, Copy, Debug)]
pub(super) enum AvoidanceForm {
    /// Real numbers, as in RFC 9438.
    Rfc,
    /// The counts of Linux 3.16.
    Linux316(Linux316),
    /// The counts of Linux 6.
    Linux6(Linux6),
}

impl AvoidanceForm {
    pub(super) fn linux_3_16() -> Self {
        Self::Linux316(Linux316::new())
    }

    pub(super) fn linux_6() -> Self {
        Self::Linux6(Linux6::new())
    }

    /// A new state of the same form.
    pub(super) fn restarted(&self) -> Self {
        match self {
            Self::Rfc => Self::Rfc,
            Self::Linux316(_) => Self::linux_3_16(),
            Self::Linux6(_) => Self::linux_6(),
        }
    }

    /// Factor of the multiplicative decrease.
    pub(super) fn beta(&self) -> f64 {
        if self.is_rfc() { BETA } else { LINUX_BETA }
    }

    /// The window after a reduction; windows of Linux are whole.
    pub(super) fn rounded(&self, segments: f64) -> f64 {
        if self.is_rfc() { segments } else { libm::trunc(segments) }
    }

    pub(super) fn on_congestion(&mut self, kind: Congestion) {
        match self {
            Self::Rfc => {}
            Self::Linux316(counts) => counts.on_congestion(kind),
            Self::Linux6(counts) => counts.on_congestion(kind),
        }
    }

    /// Whether time in which the application limits sending does not count for the cubic function (RFC 9438 §4.2). Linux
    /// leaves out idle time alone.
    pub(super) fn leaves_out_limited_time(&self) -> bool {
        !matches!(self, Self::Linux6(_))
    }

    /// Whether an undone reduction restores `W_max` and the epoch (RFC 9438 §4.9.2). In Linux the next epoch begins at
    /// the present window.
    pub(super) fn undoes(&self) -> bool {
        self.is_rfc()
    }

    fn is_rfc(&self) -> bool {
        matches!(self, Self::Rfc)
    }
}
