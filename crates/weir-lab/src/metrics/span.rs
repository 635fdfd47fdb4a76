//! Half-open stretches of time.

use weir_net::Time;

/// The time from `from`, included, to `to`, excluded; empty unless `from < to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: Time,
    pub(super) to: Time,
}

impl Span {
    pub(super) fn new(from: Time, to: Time) -> Self {
        Self { from, to }
    }

    #[inline]
    pub(super) fn contains(self, time: Time) -> bool {
        self.from <= time && time < self.to
    }

    pub(super) fn intersect(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    /// Its length in nanoseconds, zero if empty.
    pub(super) fn nanos(self) -> u64 {
        self.to.nanos().saturating_sub(self.from.nanos())
    }

    /// Its length in seconds; `None` if empty.
    pub(super) fn seconds(self) -> Option<f64> {
        (self.from < self.to).then(|| self.nanos() as f64 / 1e9)
    }
}
