//! Every constant of the Flow State Exchange.

use weir_units::{DataRate, TimeDelta};

use crate::config_error::{ConfigError, amount, check, ratio, span};
use crate::coupled::water_fill::Leftover;

/// Rule by which an update changes the shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Algorithm {
    /// Algorithm 1 of coupled-rtp-2014: the sum follows each change. The remainder that a limited flow leaves is
    /// unused.
    Rtp2014Active,
    /// Algorithm 2 of coupled-rtp-2014: a decrease scales the sum, and is the only change for two round trips.
    Rtp2014Conservative,
    /// RFC 8699 §5.3.1: the sum follows each change. Other flows share the remainder that a limited flow leaves.
    Rfc8699Active,
    /// RFC 8699 §5.3.2: a decrease scales the sum, and is the only change for two round trips.
    Rfc8699Conservative,
    /// RFC 8699, appendix C: only the updating flow is answered. The next flow to update takes the remainder.
    Rfc8699Passive,
    /// The sum follows each change, and only the updating flow is answered. This is the form in which coupling-2018
    /// coupled NADA and GCC.
    PassiveSimple,
}

impl Algorithm {
    /// Whether a decrease scales the sum of all flows.
    pub(super) const fn is_conservative(self) -> bool {
        matches!(self, Self::Rtp2014Conservative | Self::Rfc8699Conservative)
    }

    /// Whether only the updating flow is answered.
    pub(super) const fn is_passive(self) -> bool {
        matches!(self, Self::Rfc8699Passive | Self::PassiveSimple)
    }

    pub(super) const fn leftover(self) -> Leftover {
        match self {
            Self::Rfc8699Active | Self::Rfc8699Conservative => Leftover::Shared,
            _ => Leftover::Kept,
        }
    }
}

/// Decisions of a controller that are updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Updates {
    /// Every decision, even if the rate stays the same.
    #[default]
    EveryDecision,
    /// Decisions that changed the rate. A passive form then answers fast flows more often than slow ones.
    OnChange,
}

/// Constants of the Flow State Exchange; [`Config::default`] is RFC 8699's algorithm 1. Section numbers without a source
/// are RFC 8699's.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a reading of a source")]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// How an update becomes shares (§5.3, appendix C).
    pub algorithm: Algorithm,
    /// Whether the exchange runs in a testbed, required for the passive algorithms. RFC 8699 calls that of its appendix
    /// C unsafe outside of testbeds.
    pub in_a_testbed: bool,
    /// Decisions of a controller that are updates.
    pub updates: Updates,
    /// Whether `S_CR` becomes the sum of `FSE_R` after each distribution: an amount that no flow can use is then
    /// forgotten. Without it `S_CR` of limited flows grows beyond what they share. Active algorithms only. Divergence
    /// 3.
    pub reconcile_s_cr: bool,
    /// Whether a flow that joins others gets its share at once, instead of its start rate until the next update.
    pub distribute_on_join: bool,
    /// Whether a changed priority or desired rate has effect at once, instead of from the next update on.
    pub distribute_on_change: bool,
    /// Whether `DR` of a greedy flow is the last rate of its controller, as §5.2 says literally: then no flow gets the
    /// rate that another gave up. Divergence 4.
    pub literal_dr: bool,
    /// Whether one N-th of a flow's increase counts (coupled-rtp-2014 §3, the prose: `I/N`). Conservative algorithms
    /// only. Divergence 1.
    pub increase_div_n: bool,
    /// Whether the flow that started the timer may change the sum while it runs (coupled-rtp-2014 §3, the prose).
    /// Divergence 2.
    pub timer_exempts_initiator: bool,
    /// Number of round trips of the flow that reduced the sum, during which the reduction is the only change; 0 or
    /// above (§5.3.2: 2).
    pub timer_rtts: f64,
    /// Round-trip time of the timer where no flow of the group has reported one.
    pub unknown_rtt: TimeDelta,
    /// Least part of `S_CR` that remains after one update, in [0, 1], unless feedback is missing.
    pub smallest_cut: f64,
    /// Least rate of a flow that states none, unless its desired rate is lower; also replaces a rate of zero.
    pub least_rate: DataRate,
    /// Time without messages after which a flow counts as paused (§4: soft state), or `soft_updates` of the flow's
    /// own intervals between updates if that is longer.
    pub soft_state: TimeDelta,
    /// Number of intervals between updates without messages after which a flow counts as paused, 0 or above.
    pub soft_updates: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self::rfc8699_active()
    }
}

impl Config {
    fn of(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            in_a_testbed: false,
            updates: Updates::EveryDecision,
            reconcile_s_cr: true,
            distribute_on_join: false,
            distribute_on_change: false,
            literal_dr: false,
            increase_div_n: false,
            timer_exempts_initiator: false,
            timer_rtts: 2.0,
            unknown_rtt: TimeDelta::from_millis(100),
            smallest_cut: 0.1,
            least_rate: DataRate::from_kbps(10),
            soft_state: TimeDelta::from_secs(5),
            soft_updates: 20.0,
        }
    }

    /// Algorithm 1 of coupled-rtp-2014, as printed.
    pub fn rtp_2014_active() -> Self {
        Self { reconcile_s_cr: false, ..Self::of(Algorithm::Rtp2014Active) }
    }

    /// Algorithm 2 of coupled-rtp-2014, as printed.
    pub fn rtp_2014_conservative() -> Self {
        Self { reconcile_s_cr: false, ..Self::of(Algorithm::Rtp2014Conservative) }
    }

    /// Algorithm 1 of RFC 8699 (§5.3.1): for delay-based controllers.
    pub fn rfc8699_active() -> Self {
        Self::of(Algorithm::Rfc8699Active)
    }

    /// Algorithm 2 of RFC 8699 (§5.3.2): for loss-based controllers.
    pub fn rfc8699_conservative() -> Self {
        Self::of(Algorithm::Rfc8699Conservative)
    }

    /// The passive algorithm of RFC 8699's appendix C, in a testbed.
    pub fn rfc8699_passive_in_a_testbed() -> Self {
        Self { in_a_testbed: true, ..Self::of(Algorithm::Rfc8699Passive) }
    }

    /// The simple passive form, in a testbed.
    pub fn passive_simple_in_a_testbed() -> Self {
        Self { in_a_testbed: true, ..Self::of(Algorithm::PassiveSimple) }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range, or a passive algorithm outside of a testbed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let admitted = self.in_a_testbed || !self.algorithm.is_passive();
        check([
            ("in_a_testbed", admitted, "true for a passive algorithm, which is unsafe elsewhere (RFC 8699)"),
            ("timer_rtts", amount(self.timer_rtts), "0 or above"),
            ("unknown_rtt", span(self.unknown_rtt), "longer than 0"),
            ("smallest_cut", ratio(self.smallest_cut), "in [0, 1]"),
            ("least_rate", !self.least_rate.is_zero(), "above 0"),
            ("soft_state", span(self.soft_state), "longer than 0"),
            ("soft_updates", amount(self.soft_updates), "0 or above"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        for right in [
            Config::default(),
            Config::rtp_2014_active(),
            Config::rtp_2014_conservative(),
            Config::rfc8699_conservative(),
            Config::rfc8699_passive_in_a_testbed(),
            Config::passive_simple_in_a_testbed(),
        ] {
            assert_eq!(right.validate(), Ok(()));
        }
        for wrong in [
            Config { timer_rtts: f64::NAN, ..Config::default() },
            Config { unknown_rtt: TimeDelta::ZERO, ..Config::default() },
            Config { smallest_cut: 1.1, ..Config::default() },
            Config { least_rate: DataRate::ZERO, ..Config::default() },
            Config { soft_state: TimeDelta::ZERO, ..Config::default() },
            Config { soft_updates: -1.0, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_passive_algorithm_is_refused_outside_of_a_testbed() {
        for algorithm in [Algorithm::Rfc8699Passive, Algorithm::PassiveSimple] {
            let error = Config { algorithm, ..Config::default() }.validate().unwrap_err();
            assert_eq!(
                error.to_string(),
                "`in_a_testbed` must be true for a passive algorithm, which is unsafe elsewhere (RFC 8699)"
            );
        }
    }
}
