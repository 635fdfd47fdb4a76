//! What a send history did not believe, in numbers.

/// How many reports, or parts of them, said what cannot be. Of these nothing is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Receiver reports by which a round trip ended before it began.
    pub negative: u64,
    /// Reports of a law's own that echo a packet which has not left.
    pub unsent: u64,
    /// Reports of a law's own on an older packet than one before told of.
    pub overtaken: u64,
    /// Reports that came before a packet can have been there and back.
    pub early: u64,
    /// Arrivals, one for each packet, on a way that cannot be so short, or that would still be to come.
    pub impossible: u64,
    /// Arrivals, one for each packet, at a time that is not told, while reports contradicted each other
    /// ([`SendHistory::is_contested`]).
    ///
    /// [`SendHistory::is_contested`]: crate::history::SendHistory::is_contested
    pub untimed: u64,
    /// Marks (CE), one for each packet, on packets that did not leave ECN-capable ([`SendHistory::set_ecn`]). Their arrivals are
    /// believed.
    ///
    /// [`SendHistory::set_ecn`]: crate::history::SendHistory::set_ecn
    pub marks: u64,
    /// Reports that have a number arrived which was left out.
    pub left_out: u64,
}

impl Refused {
    /// All of them.
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
