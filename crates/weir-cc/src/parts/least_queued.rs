//! Least backlog in front of the pacer between reports. A frame just captured, which is about to leave, is no
//! backlog.

use weir_units::DataSize;

/// The least backlog since the previous report. Frames and reports have a common period, so that a single sample
/// might always fall into the same phase of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeastQueued {
    /// Least backlog since the last report, once a packet has left.
    since: Option<DataSize>,
    before: DataSize,
}

impl LeastQueued {
    pub(crate) const NOTHING: Self = Self { since: None, before: DataSize::ZERO };

    /// Takes a packet that has left, with `queued` still waiting.
    pub(crate) fn on_sent(&mut self, queued: DataSize) {
        self.since = Some(self.least(queued));
    }

    /// Takes a report or a timeout with a backlog of `queued`. Returns the least backlog since the previous one.
    pub(crate) fn on_report(&mut self, queued: DataSize) -> DataSize {
        self.before = self.least(queued);
        self.since = None;
        self.before
    }

    /// The least backlog at the last report.
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
    fn packets_about_to_leave_are_no_queue() {
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
