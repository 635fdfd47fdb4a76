//! Description of a controller for the properties, with the exceptions by its own design.

use alloc::boxed::Box;

use weir_units::{DataRate, TimeDelta};

use crate::controller::{Controller, RateLimits, Receiver};
use crate::report::OwnReport;

/// Default number of rounds of good feedback after which a controller is at its maximum
/// ([`TestedController::recovering_within`](TestedController::recovering_within)). A round is 100 ms with one report of
/// each kind.
pub const ROUNDS_TO_RECOVER: usize = 100;

/// Both halves of a controller.
pub type BothHalves = (Box<dyn Controller>, Box<dyn Receiver>);

/// Both halves of a controller, for an entry of [`controller_tests!`](super::controller_tests).
pub fn halves(sender: impl Controller + 'static, receiver: impl Receiver + 'static) -> BothHalves {
    (Box::new(sender), Box::new(receiver))
}

/// Rate limits of 50 to 2500 kbit/s, with a start rate of 300 kbit/s. From any rate within them recovery takes a few
/// seconds.
///
/// # Panics
/// Never: the limits are in order.
pub fn usual_limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(2500)).expect("they are in order")
}

/// A controller by name, the function that builds both its halves, and the properties that it does not hold by its own
/// design. Each such exception is named, so that no property is weaker than it states.
#[derive(Clone, Copy, Debug)]
pub struct TestedController {
    pub(crate) name: &'static str,
    pub(crate) build: fn(RateLimits) -> BothHalves,
    /// Rounds of good feedback, each of one report, after which it is at the maximum of [`usual_limits`].
    pub(super) rounds_to_recover: usize,
    /// Highest start rate from which it comes down on a path of 1 Mbit/s.
    pub(super) highest_start_kbps: u64,
    /// Whether it uses absolute one-way delays: hours between the clocks are then hours of delay.
    pub(super) absolute_delays: bool,
    /// Least forward step of the receiver's clock that the controller can distinguish from a queue.
    pub(super) clock_step: TimeDelta,
    /// Full packets per round trip by which the target may exceed its bound while the source offers less, or `None`
    /// without such a bound. The bound is the start rate, twice the sent rate, or the rate of a probe, whichever is the
    /// most.
    pub(super) packets_when_limited: Option<u32>,
    /// Factor of one cut for congestion, for a controller that may make one within a second after an allocation; else
    /// 1.
    pub(crate) own_cut: f64,
    /// Whether its rate is a function of receiver reports alone, so that an allocation is forgotten.
    pub(crate) forgets_shares: bool,
    /// Content of its own report on a path that carries a rate with ease.
    pub(super) ease: Option<Ease>,
}

/// Makes a controller's own report for packets that arrive at this rate, all of them and soon.
pub(super) type Ease = fn(DataRate) -> OwnReport;

impl TestedController {
    /// A controller without exceptions. `build` makes both halves for given limits ([`halves`] boxes them); failures
    /// print `name`.
    pub const fn new(name: &'static str, build: fn(RateLimits) -> BothHalves) -> Self {
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

    /// For a controller with a report of its own ([`NativeReport::Own`](crate::NativeReport::Own)): `ease` makes that
    /// report for a path that carries a rate with ease. The controller recovers by this feedback, and arbitrary reports
    /// have its name.
    pub const fn hearing(self, ease: fn(DataRate) -> OwnReport) -> Self {
        Self { ease: Some(ease), ..self }
    }

    /// Name of the controller's own report, if it has one.
    pub(super) fn report_name(&self) -> Option<[u8; 4]> {
        self.ease.map(|ease| ease(DataRate::ZERO).name())
    }

    /// For a controller that climbs slowly by its own design: rounds until it is at 2500 kbit/s, whatever came before.
    /// A round is 100 ms with one good report of each kind. The default is 100 rounds.
    pub const fn recovering_within(self, rounds_to_recover: usize) -> Self {
        Self { rounds_to_recover, ..self }
    }

    /// For a controller whose equilibrium grows with the maximum rate. From a start rate above this one (kbit/s), with
    /// a maximum as high, it need not come down on a path of 1 Mbit/s. By default it comes down from 100 Mbit/s.
    pub const fn starting_at_most(self, highest_start_kbps: u64) -> Self {
        Self { highest_start_kbps, ..self }
    }

    /// For a controller that needs synchronised clocks: it is tested only with clocks that agree.
    pub const fn by_absolute_delays(self) -> Self {
        Self { absolute_delays: true, ..self }
    }

    /// For a controller that takes less than 10 s above the smallest delay of the last minutes for a queue. The
    /// receiver's clock is then set forward by 11 s and not by 5.
    pub const fn by_the_smallest_delay(self) -> Self {
        Self { clock_step: TimeDelta::from_secs(11), ..self }
    }

    /// For a controller that does not take an empty path for one with more capacity than ever measured, a stronger
    /// property. Its target stays bounded while its source offers less. The bound is the start rate, twice the rate
    /// sent in a second of the last five, or the rate of a probe, whichever is the most.
    pub const fn bounded_when_limited(self) -> Self {
        Self { packets_when_limited: Some(0), ..self }
    }

    /// The same for a controller with a window, in whole packets: one more in a round trip.
    pub const fn bounded_by_a_window_when_limited(self) -> Self {
        Self { packets_when_limited: Some(1), ..self }
    }

    /// For a controller that cuts its rate to this share of it after a short burst: within a second after an allocation
    /// it may have done so.
    pub const fn cutting_to(self, own_cut: f64) -> Self {
        Self { own_cut, ..self }
    }

    /// For a controller whose rate depends on receiver reports alone: it takes an allocation as it is, and forgets it
    /// with the next report.
    pub const fn forgetting_shares(self) -> Self {
        Self { forgets_shares: true, ..self }
    }
}
