//! The time between two reports of an end.

use rand_pcg::Pcg64Mcg;
use weir_units::TimeDelta;

use crate::config::MediaConfig;
use crate::encoder::spread_factor;

/// Report interval, drawn anew each time, so that reports of many flows do not coincide (RFC 3550 §6.3.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct RtcpInterval {
    mean: TimeDelta,
    spread: f64,
    longest: TimeDelta,
}

impl RtcpInterval {
    /// Intervals of `mean` times `1 ± spread`.
    pub(crate) fn new(mean: TimeDelta, spread: f64) -> Self {
        Self { mean, spread, longest: mean.scale(1.0 + spread) }
    }

    /// The intervals that `config` asks for.
    pub(crate) fn of(config: &MediaConfig) -> Self {
        Self::new(config.rtcp_interval, config.rtcp_spread)
    }

    pub(crate) fn draw(self, rng: &mut Pcg64Mcg) -> TimeDelta {
        self.mean.scale(spread_factor(rng, self.spread))
    }

    /// The mean interval.
    pub(crate) fn mean(self) -> TimeDelta {
        self.mean
    }

    pub(crate) fn longest(self) -> TimeDelta {
        self.longest
    }
}
