//! Decisions of a controller, and allocations of coupling.

use weir_units::{DataRate, TimeDelta};

/// A computed rate. A coupler needs it even if the number did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decision {
    /// The rate that the controller computed for itself.
    pub rate: DataRate,
    /// The rate it started from: that of the decision before, or the allocation taken since.
    pub base: DataRate,
    /// Reason of the change. The present limit is [`Target::limiting_factor`](crate::Target::limiting_factor).
    pub why: ChangeReason,
    /// The controller's round-trip time, if it knows one.
    pub rtt: Option<TimeDelta>,
}

impl Decision {
    /// Merges two decisions into one: from this one's base to the rate of `later`, with the reason that explains
    /// the difference.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        let undone = later.why == ChangeReason::Growth && later.rate >= self.base;
        let (fell, fell_last) = (later.rate < self.base, later.rate < later.base);
        let why = match (self.why.is_congestion(), later.why.is_congestion()) {
            // No other reason hides congestion, unless the rate is back at its base.
            (true, false) if !undone || later.rate == self.rate => self.why,
            (false, false) if fell && !fell_last => self.why,
            _ => later.why,
        };
        Self { base: self.base, why, ..later }
    }

    /// The one decision that `earlier` and `later` make together, if there is any.
    pub fn merged(earlier: Option<Self>, later: Option<Self>) -> Option<Self> {
        match (earlier, later) {
            (Some(earlier), Some(later)) => Some(earlier.then(later)),
            (earlier, later) => later.or(earlier),
        }
    }
}

/// Reason of a changed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ChangeReason {
    /// The controller begins: its first rate by the feedback on the path.
    Start,
    /// No sign of congestion: the rate grew, or stays.
    Growth,
    /// A probe's result.
    Probe,
    /// Queuing delay or its gradient.
    Delay,
    /// Loss.
    Loss,
    /// Congestion marks (ECN).
    Mark,
    /// Feedback is missing.
    Timeout,
    /// The rate that the receiver allows or received, without a sign of congestion.
    Ceiling,
    /// The source offered less than the controller allowed: application-limited.
    Application,
    /// New bounds.
    Limits,
    /// The path is another one.
    Route,
}

impl ChangeReason {
    /// Whether measurements of the path decided, which a controller shows among its signals.
    pub const fn is_measured(self) -> bool {
        matches!(self, Self::Start | Self::Growth | Self::Delay | Self::Loss | Self::Mark | Self::Ceiling)
    }

    /// Every reason, in the order of declaration.
    pub const ALL: [Self; 11] = [
        Self::Start,
        Self::Growth,
        Self::Probe,
        Self::Delay,
        Self::Loss,
        Self::Mark,
        Self::Timeout,
        Self::Ceiling,
        Self::Application,
        Self::Limits,
        Self::Route,
    ];

    /// The reason's name, for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Growth => "growth",
            Self::Probe => "probe",
            Self::Delay => "delay",
            Self::Loss => "loss",
            Self::Mark => "mark",
            Self::Timeout => "timeout",
            Self::Ceiling => "ceiling",
            Self::Application => "application",
            Self::Limits => "limits",
            Self::Route => "route",
        }
    }

    /// Whether it is a sign of congestion on the path: flows that share the path should yield together.
    pub const fn is_congestion(self) -> bool {
        matches!(self, Self::Delay | Self::Loss | Self::Mark | Self::Timeout)
    }

    /// Whether the controller's own rule changed the rate, and neither a probe, nor bounds, nor another path.
    pub(crate) const fn is_own_rule(self) -> bool {
        !matches!(self, Self::Probe | Self::Limits | Self::Route)
    }

    /// Whether it lowers a rate.
    const fn is_cut(self) -> bool {
        self.is_congestion() || matches!(self, Self::Ceiling | Self::Application)
    }

    /// Reason of a rate that was computed for `self` and came out `lower` than before, or not.
    pub(crate) const fn of(self, lower: bool) -> Self {
        if !lower && self.is_cut() { Self::Growth } else { self }
    }
}

/// The rate that coupling assigns to a flow.
///
/// The allocation is relative: a controller scales each of its rates and windows by this rate over that of its last
/// decision (before the first, its start rate). Clocks, phases, histories and estimates of the path stay. An
/// allocation of the present rate changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AllocatedRate {
    /// The flow's new sending rate.
    pub rate: DataRate,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(base: u64, rate: u64, why: ChangeReason) -> Decision {
        Decision { rate: DataRate::from_kbps(rate), base: DataRate::from_kbps(base), why, rtt: None }
    }

    #[test]
    fn a_cut_is_not_hidden_by_the_growth_after_it() {
        let cut = decision(1000, 500, ChangeReason::Loss);
        assert_eq!(
            cut.then(decision(500, 510, ChangeReason::Growth)),
            decision(1000, 510, ChangeReason::Loss)
        );
        assert_eq!(
            cut.then(decision(500, 400, ChangeReason::Delay)),
            decision(1000, 400, ChangeReason::Delay)
        );
        assert_eq!(
            cut.then(decision(500, 1100, ChangeReason::Growth)),
            decision(1000, 1100, ChangeReason::Growth)
        );
        assert_eq!(
            cut.then(decision(500, 490, ChangeReason::Application)),
            decision(1000, 490, ChangeReason::Loss)
        );
        let at_minimum = decision(100, 100, ChangeReason::Loss);
        assert_eq!(at_minimum.then(decision(100, 100, ChangeReason::Growth)), at_minimum);
        let grown = decision(1000, 1100, ChangeReason::Growth);
        assert_eq!(
            grown.then(decision(1100, 600, ChangeReason::Limits)),
            decision(1000, 600, ChangeReason::Limits)
        );
        assert_eq!(
            grown.then(decision(1100, 600, ChangeReason::Mark)),
            decision(1000, 600, ChangeReason::Mark)
        );
        let limited = decision(1000, 600, ChangeReason::Limits);
        assert_eq!(
            limited.then(decision(600, 610, ChangeReason::Growth)),
            decision(1000, 610, ChangeReason::Limits)
        );
        assert_eq!(Decision::merged(Some(cut), None), Some(cut));
        assert_eq!(Decision::merged(None, Some(cut)), Some(cut));
    }

    #[test]
    fn a_rate_that_did_not_fall_was_not_cut() {
        assert_eq!(
            (ChangeReason::Loss.of(true), ChangeReason::Loss.of(false)),
            (ChangeReason::Loss, ChangeReason::Growth)
        );
        assert_eq!(
            (ChangeReason::Probe.of(true), ChangeReason::Probe.of(false)),
            (ChangeReason::Probe, ChangeReason::Probe)
        );
        assert!(ChangeReason::ALL.iter().all(|why| !why.name().is_empty()));
    }
}
