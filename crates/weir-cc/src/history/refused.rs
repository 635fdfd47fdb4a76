//! Counters of refused reports in a send history.

/// Numbers of impossible reports, or impossible parts of them. The history accepts none of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ImpossibleReports {
    /// Receiver reports with a negative round-trip time.
    pub negative: u64,
    /// A controller's own reports that echo a packet that has not left.
    pub unsent: u64,
    /// A controller's own reports on an older packet than a previous one.
    pub overtaken: u64,
    /// Reports that arrived before a packet can have gone to the receiver and back.
    pub early: u64,
    /// Arrivals, one for each packet, after an impossibly short one-way delay, or in the future.
    pub impossible: u64,
    /// Arrivals, one for each packet, without a time, while reports contradicted each other
    /// ([`SendHistory::is_contested`]).
    ///
    /// [`SendHistory::is_contested`]: crate::history::SendHistory::is_contested
    pub untimed: u64,
    /// Marks (CE), one for each packet, on packets that did not leave ECN-capable ([`SendHistory::set_ecn`]). Their
    /// arrivals are accepted.
    ///
    /// [`SendHistory::set_ecn`]: crate::history::SendHistory::set_ecn
    pub marks: u64,
    /// Reports that claim the arrival of a skipped number.
    pub left_out: u64,
}

impl ImpossibleReports {
    /// Sum of all counters.
    pub const fn total(&self) -> u64 {
        self.negative
            + self.unsent
            + self.overtaken
            + self.early
            + self.impossible
            + self.untimed
            + self.marks
            + self.left_out
    }
}
