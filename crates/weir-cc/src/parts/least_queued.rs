//! Backlog in front of the pacer: a frame captured a moment ago, and about to leave, is not a queue.

use weir_units::DataSize;

/// The least backlog since the report before. Frames and reports have a common beat: a single sample may fall into
/// the same phase of a frame for ever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeastQueued {
    /// Least backlog since the last report, once a packet has left.
    since: Option<DataSize>,
    before: DataSize,
}

impl LeastQueued {
    pub(crate) const NOTHING: Self = Self { since: None, before: DataSize::ZERO };

    /// A packet has left, and `queued` is still waiting.
    pub(crate) fn on_sent(&mut self, queued: DataSize) {
        self.since = Some(self.least(queued));
    }

    /// A report has come, or a timeout passed, with a backlog of `queued`. Returns the least since the one before.
    pub(crate) fn on_report(&mut self, queued: DataSize) -> DataSize {
        self.before = self.least(queued);
        self.since = None;
        self.before
    }

    /// As of the last report.
    pub(crate) const fn get(&self) -> DataSize {
        self.before
    }

    fn least(&self, queued: DataSize) -> DataSize {
        self.since.map_or(queued, |least| least.min(queued))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_to_leave_is_no_queue() {
        let size = DataSize::from_bytes;
        let mut least = LeastQueued::NOTHING;
        for frame in [5000, 2500, 0, 5000, 2500] {
            least.on_sent(size(frame));
        }
        assert_eq!((least.on_report(size(5000)).bytes(), least.get().bytes()), (0, 0));
        // A backlog that is there at all times is the queue.
        for frame in [5000, 2500, 1200, 5000] {
            least.on_sent(size(frame));
        }
        assert_eq!(least.on_report(size(3000)).bytes(), 1200);
        assert_eq!(least.on_report(size(900)).bytes(), 900, "nothing has left since");
    }
}
