//! A law as the properties want it, and what it cannot promise by its own design.

use alloc::boxed::Box;

use weir_units::{DataRate, TimeDelta};

use crate::controller::{Controller, RateLimits, Receiver};
use crate::report::OwnReport;

/// Rounds of good feedback, each of 100 ms and one report of each kind, after which a law is at its maximum, unless its
/// line says otherwise ([`Law::recovering_within`](Law::recovering_within)).
pub const ROUNDS_TO_RECOVER: usize = 100;

/// Both halves of a law.
pub type Halves = (Box<dyn Controller>, Box<dyn Receiver>);

/// Both halves of a law, for a line of [`law_tests!`](super::law_tests).
pub fn halves(sender: impl Controller + 'static, receiver: impl Receiver + 'static) -> Halves {
    (Box::new(sender), Box::new(receiver))
}

/// 50 to 2500 kbit/s, from 300 kbit/s: from any rate within them recovery takes a few seconds.
///
/// # Panics
/// Never: they are in order.
pub fn usual_limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(2500)).expect("they are in order")
}

/// A law by name, how to build both its halves, and what it cannot promise by its own design: each such exception is
/// named, so that a property is never weaker than a line says.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    pub(crate) name: &'static str,
    pub(crate) build: fn(RateLimits) -> Halves,
    /// Rounds of good feedback, each of one report, after which it is at the maximum of [`usual_limits`].
    pub(super) rounds_to_recover: usize,
    /// A start rate from which it comes down on a path of 1 Mbit/s.
    pub(super) highest_start_kbps: u64,
    /// Whether it takes one-way delays for true: hours between the clocks are then hours of delay.
    pub(super) absolute_delays: bool,
    /// By how much the receiver's clock must be set forward that the law knows it from a queue.
    pub(super) clock_step: TimeDelta,
    /// Whether the target stays, while the source offers less, below the start rate, twice of what was sent and what a
    /// probe found; and by how many full packets in a round trip it may exceed that.
    pub(super) packets_when_limited: Option<u32>,
    /// What one cut for congestion leaves of a rate, for a law that may make one within a second of coupling's word; else 1.
    pub(crate) own_cut: f64,
    /// Whether its rate is a function of what the receiver tells alone, in which a share leaves no trace.
    pub(crate) forgets_shares: bool,
    /// What its own report says of a path that carries a rate with ease.
    pub(super) ease: Option<Ease>,
}

/// What a law's own report says when packets come at this rate, all of them and soon.
pub(super) type Ease = fn(DataRate) -> OwnReport;

impl Law {
    /// A law without exceptions. `build` makes both halves for given limits ([`halves`] boxes them); failures tell `name`.
    pub const fn new(name: &'static str, build: fn(RateLimits) -> Halves) -> Self {
        Self {
            name,
            build,
            rounds_to_recover: ROUNDS_TO_RECOVER,
            highest_start_kbps: 100_000,
            absolute_delays: false,
            clock_step: TimeDelta::from_secs(5),
            packets_when_limited: None,
            own_cut: 1.0,
            forgets_shares: false,
            ease: None,
        }
    }

    /// For a law with a report of its own ([`NativeReport::Own`](crate::NativeReport::Own)): what that says of a path that carries a rate
    /// with ease. It is the good feedback that the law recovers by, and arbitrary reports have its name.
    pub const fn hearing(self, ease: fn(DataRate) -> OwnReport) -> Self {
        Self { ease: Some(ease), ..self }
    }

    /// The name of its own report, if it has one.
    pub(super) fn report_name(&self) -> Option<[u8; 4]> {
        self.ease.map(|ease| ease(DataRate::ZERO).name())
    }

    /// For a law that climbs slowly by its own design: rounds of 100 ms, each with one good report of each kind, until it is
    /// at 2500 kbit/s, whatever came before. Without this it has 100 of them.
    pub const fn recovering_within(self, rounds_to_recover: usize) -> Self {
        Self { rounds_to_recover, ..self }
    }

    /// For a law whose equilibrium grows with the maximum rate: from a start rate above this one (kbit/s), with a maximum as
    /// high, it need not come down on a path of 1 Mbit/s. Without this it comes down from 100 Mbit/s.
    pub const fn starting_at_most(self, highest_start_kbps: u64) -> Self {
        Self { highest_start_kbps, ..self }
    }

    /// For a law that needs synchronised clocks: it is tried only where they agree.
    pub const fn by_absolute_delays(self) -> Self {
        Self { absolute_delays: true, ..self }
    }

    /// For a law to which less than 10 s above the smallest delay of the last minutes are a queue: the receiver's clock is
    /// set forward by 11 s and not by 5.
    pub const fn by_the_smallest_delay(self) -> Self {
        Self { clock_step: TimeDelta::from_secs(11), ..self }
    }

    /// For a law that does not take an empty path for one that carries more than it ever did. It promises more than the
    /// others: while its source offers less, its target stays below the start rate, twice of what was sent in a second of the
    /// last five, or what a probe found, whichever is the most.
    pub const fn bounded_when_limited(self) -> Self {
        Self { packets_when_limited: Some(0), ..self }
    }

    /// The same for a law with a window, in whole packets: one more in a round trip.
    pub const fn bounded_by_a_window_when_limited(self) -> Self {
        Self { packets_when_limited: Some(1), ..self }
    }

    /// For a law that a burst of a moment makes cut its rate to this share of it: within a second after coupling's word it may
    /// have done so.
    pub const fn cutting_to(self, own_cut: f64) -> Self {
        Self { own_cut, ..self }
    }

    /// For a law that goes by what the receiver tells alone: it takes a share of coupling as it is, and forgets it with the
    /// next report.
    pub const fn forgetting_shares(self) -> Self {
        Self { forgets_shares: true, ..self }
    }
}
