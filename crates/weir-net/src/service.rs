//! How fast a link serves its queue, as a function of time.

use std::sync::Arc;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::error::ConfigError;
use crate::time::Time;
use crate::trace::{OPPORTUNITY_BYTES, Trace};

/// Bits times nanoseconds per second in a byte: work is counted in units of 10⁻⁹ bit. A rate in bit/s thus does
/// that many units per nanosecond, and no fraction is lost.
pub(crate) const NANOBITS_PER_BYTE: u64 = 8 * 1_000_000_000;

/// The rate of a link's server over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// A constant rate.
    Constant(DataRate),
    /// Rates, each from its time on; the first at time zero, times strictly increasing. Rate zero is an outage. A
    /// packet in service when the rate changes has its remaining bits sent at the new rate.
    Steps(Vec<(Time, DataRate)>),
    /// Delivery opportunities. An opportunity carries up to [`Trace::OPPORTUNITY`] of the backlog when it comes,
    /// parts of packets included; unused capacity is lost. A packet cannot use an opportunity at or before its own
    /// arrival.
    Trace {
        /// The opportunities.
        trace: Arc<Trace>,
        /// How far into the trace the run begins.
        offset: TimeDelta,
        /// Whether the trace begins again after its end; otherwise the link is dead from there on.
        repeat: bool,
    },
    /// A token bucket.
    TokenBucket(TokenBucket),
}

/// A token bucket, full at the start: a packet leaves at once when the bucket holds tokens for all of its bytes. Packets
/// larger than the bucket are dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenBucket {
    /// The rates at which tokens come, as for [`Service::Steps`].
    pub rates: Vec<(Time, DataRate)>,
    /// Capacity of the bucket, at least 1500 bytes.
    pub burst: DataSize,
    /// Above the rates: a second bucket, of this rate and one packet, through which packets must pass as well.
    pub peak: Option<DataRate>,
}

impl Service {
    /// Capacity of the link from `from` (included) to `to` (excluded), in whole bytes rounded down. A token bucket
    /// may carry its burst on top.
    pub fn capacity(&self, from: Time, to: Time) -> DataSize {
        match self {
            Self::Constant(rate) => *rate * (to - from),
            Self::Steps(steps) | Self::TokenBucket(TokenBucket { rates: steps, .. }) => {
                let work = rates_between(steps, from.nanos(), to.nanos())
                    .map(|(rate, span)| u128::from(rate) * u128::from(span))
                    .fold(0, u128::saturating_add);
                DataSize::from_bytes(u64::try_from(work / u128::from(NANOBITS_PER_BYTE)).unwrap_or(u64::MAX))
            }
            Self::Trace { trace, offset, repeat } => {
                let before = |at: Time| match (at + *offset).nanos() {
                    0 => 0,
                    nanos => trace.count_until(nanos - 1, *repeat),
                };
                let count = before(to).saturating_sub(before(from));
                DataSize::from_bytes(count.saturating_mul(OPPORTUNITY_BYTES))
            }
        }
    }

    /// Times from which each rate holds; empty for one that never changes, and for a trace.
    pub fn steps(&self) -> &[(Time, DataRate)] {
        match self {
            Self::Steps(steps) | Self::TokenBucket(TokenBucket { rates: steps, .. }) => steps,
            Self::Constant(_) | Self::Trace { .. } => &[],
        }
    }

    /// Nominal rate: the constant rate, the highest step, or the trace's mean rate.
    pub fn nominal_rate(&self) -> DataRate {
        match self {
            Self::Constant(rate) => *rate,
            Self::Steps(steps) | Self::TokenBucket(TokenBucket { rates: steps, .. }) => {
                steps.iter().map(|&(_, rate)| rate).max().unwrap_or_default()
            }
            Self::Trace { trace, .. } => trace.mean_rate(),
        }
    }

    /// The highest rate it ever has; of a trace, over 100 ms.
    pub fn peak_rate(&self) -> DataRate {
        match self {
            Self::Trace { trace, .. } => trace.peak_rate(),
            Self::Constant(_) | Self::Steps(_) | Self::TokenBucket(_) => self.nominal_rate(),
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Steps(steps) => validate_steps(steps)?,
            Self::TokenBucket(TokenBucket { rates, burst, peak }) => {
                validate_steps(rates)?;
                if *burst < TokenBucket::MTU {
                    return Err(ConfigError::BurstBelowMtu);
                }
                let highest = rates.iter().map(|&(_, rate)| rate).max().unwrap_or_default();
                if peak.is_some_and(|peak| peak <= highest) {
                    return Err(ConfigError::OutOfRange {
                        name: "peak rate of a token bucket",
                        must: "above the rates at which tokens come",
                    });
                }
            }
            Self::Trace { trace, .. } if trace.is_empty() => return Err(ConfigError::EmptyTrace),
            Self::Trace { offset, .. } if offset.is_negative() => {
                return Err(ConfigError::Negative { name: "trace offset" });
            }
            Self::Constant(_) | Self::Trace { .. } => {}
        }
        if self.nominal_rate().is_zero() { Err(ConfigError::NoRate) } else { Ok(()) }
    }
}

impl TokenBucket {
    /// The smallest burst that lets every packet of full size pass.
    pub const MTU: DataSize = DataSize::from_bytes(1500);
}

fn validate_steps(steps: &[(Time, DataRate)]) -> Result<(), ConfigError> {
    if steps.first().is_none_or(|&(start, _)| start != Time::ZERO) {
        return Err(ConfigError::StepsNotFromZero);
    }
    match steps.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
        Some(pair) => Err(ConfigError::StepsNotIncreasing { at: pair[1].0 }),
        None => Ok(()),
    }
}

/// The rates in bit/s between two times in nanoseconds, each with the span for which it holds.
pub(crate) fn rates_between(
    steps: &[(Time, DataRate)],
    from: u64,
    to: u64,
) -> impl Iterator<Item = (u64, u64)> + '_ {
    let first = steps.partition_point(|(start, _)| start.nanos() <= from).saturating_sub(1);
    (first..steps.len()).take_while(move |&i| steps[i].0.nanos() < to).map(move |i| {
        let end = steps.get(i + 1).map_or(u64::MAX, |(start, _)| start.nanos()).min(to);
        (steps[i].1.bps(), end.saturating_sub(steps[i].0.nanos().max(from)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBPS: fn(u64) -> DataRate = DataRate::from_mbps;
    const AT: fn(u64) -> Time = Time::from_millis;

    fn steps() -> Service {
        Service::Steps(vec![(AT(0), MBPS(8)), (AT(10), MBPS(0)), (AT(20), MBPS(16))])
    }

    fn trace(text: &str, offset: i64, repeat: bool) -> Service {
        let trace = Arc::new(Trace::parse(text).unwrap());
        Service::Trace { trace, offset: TimeDelta::from_millis(offset), repeat }
    }

    #[test]
    fn capacity_of_a_rate_is_its_integral() {
        // 8 Mbit/s are 1 byte per µs.
        let constant = Service::Constant(MBPS(8));
        assert_eq!(constant.capacity(AT(2), AT(5)), DataSize::from_bytes(3000));
        assert_eq!(constant.capacity(AT(5), AT(2)), DataSize::ZERO);
        // 5 ms at 1 byte/µs, an outage, 5 ms at 2 bytes/µs.
        assert_eq!(steps().capacity(AT(5), AT(25)), DataSize::from_bytes(5000 + 10_000));
        assert_eq!(steps().capacity(AT(12), AT(18)), DataSize::ZERO);
        assert_eq!(steps().capacity(AT(30), AT(31)), DataSize::from_bytes(2000));
        assert_eq!(steps().capacity(AT(5), AT(4)), DataSize::ZERO);
        assert_eq!(steps().capacity(AT(9), AT(10)), DataSize::from_bytes(1000));
    }

    #[test]
    fn capacity_of_a_trace_counts_opportunities_from_the_start_to_before_the_end() {
        // 1, 1, 3 | 4, 4, 6 | 7, ...: two at 1 ms, one at 3 ms, two at 4 ms.
        let repeating = trace("1\n1\n3\n", 0, true);
        assert_eq!(repeating.capacity(AT(0), AT(1)), DataSize::ZERO);
        assert_eq!(repeating.capacity(AT(1), AT(2)), DataSize::from_bytes(2 * 1500));
        assert_eq!(repeating.capacity(AT(1), AT(5)), DataSize::from_bytes(5 * 1500));
        assert_eq!(repeating.capacity(AT(0), AT(3000)), DataSize::from_bytes((3000 - 1) * 1500));
        assert_eq!(trace("1\n1\n3\n", 0, false).capacity(AT(0), AT(99)), DataSize::from_bytes(3 * 1500));
        // Beginning 2 ms into the trace, the next opportunities are at 1 ms and, two of them, at 2 ms.
        assert_eq!(trace("1\n1\n3\n", 2, true).capacity(AT(0), AT(3)), DataSize::from_bytes(3 * 1500));
    }

    #[test]
    fn a_link_is_called_by_its_highest_step_or_the_mean_of_its_trace() {
        assert_eq!((steps().nominal_rate(), steps().peak_rate()), (MBPS(16), MBPS(16)));
        // Three opportunities in 3 ms: 12 Mbit/s, and 360 kbit/s over 100 ms.
        let trace = trace("1\n1\n3\n", 0, true);
        assert_eq!((trace.nominal_rate(), trace.peak_rate()), (MBPS(12), DataRate::from_kbps(360)));
    }

    #[test]
    fn services_that_cannot_serve_are_refused() {
        let message = |service: Service| service.validate().map_err(|e| e.to_string()).unwrap_err();
        assert_eq!(message(Service::Constant(MBPS(0))), "the link needs a rate above zero");
        assert_eq!(message(Service::Steps(vec![(AT(0), MBPS(0))])), "the link needs a rate above zero");
        assert_eq!(message(Service::Steps(vec![])), "the first rate step must begin at time 0");
        assert_eq!(
            message(Service::Steps(vec![(AT(1), MBPS(1))])),
            "the first rate step must begin at time 0"
        );
        assert_eq!(
            message(Service::Steps(vec![(AT(0), MBPS(1)), (AT(5), MBPS(1)), (AT(5), MBPS(2))])),
            "rate steps must be in order of time: the step at 0.005000000s is not later than the one before"
        );
        let silent = Arc::new(Trace::from_rate(TimeDelta::from_secs(1), |_| DataRate::ZERO));
        let service = Service::Trace { trace: silent, offset: TimeDelta::ZERO, repeat: true };
        assert_eq!(message(service), "the trace has no delivery opportunity");
        assert_eq!(message(trace("1\n", -1, true)), "the trace offset must not be negative");
        let peak = |rate| {
            let (rates, burst) = (vec![(AT(0), MBPS(1)), (AT(9), MBPS(8))], DataSize::from_bytes(9000));
            Service::TokenBucket(TokenBucket { rates, burst, peak: Some(rate) })
        };
        assert_eq!(
            message(peak(MBPS(8))),
            "the peak rate of a token bucket must be above the rates at which tokens come"
        );
        assert_eq!((peak(MBPS(9)).validate(), steps().validate()), (Ok(()), Ok(())));
    }
}
