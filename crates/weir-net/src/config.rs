//! How a link is described, and which descriptions make no link.

use core::fmt;

use weir_units::{DataSize, TimeDelta};

use crate::service::Service;
use crate::time::Time;

/// A link: its server, its queue, and the way to the far end.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// How fast packets leave the queue.
    pub service: Service,
    /// What the queue takes.
    pub queue: QueueConfig,
    /// Propagation delay.
    pub delay: TimeDelta,
    /// Random delay on top of the propagation delay.
    pub jitter: Jitter,
    /// Probability in [0, 1] that a packet is lost after the queue, independently of all others.
    pub loss: f64,
}

impl LinkConfig {
    /// A link with an unlimited queue, without jitter and without loss.
    pub fn new(service: Service, delay: TimeDelta) -> Self {
        Self { service, queue: QueueConfig::default(), delay, jitter: Jitter::None, loss: 0.0 }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.service.validate()?;
        not_negative("delay", Some(self.delay))?;
        not_negative("queue time limit", self.queue.limit_time)?;
        not_negative("marking threshold", self.queue.mark_above)?;
        self.jitter.validate()?;
        if (0.0..=1.0).contains(&self.loss) { Ok(()) } else { Err(ConfigError::LossOutOfRange) }
    }
}

/// A drop-tail queue: a packet is dropped on arrival if taking it would exceed one of the limits; exactly at a
/// limit it is taken. An idle link takes any packet, so that no limit can block it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueConfig {
    /// From arrival to departure of the last bit, by the service as it is known on arrival. At a constant rate this
    /// is the time to send the backlog and the packet. While [`Link::set_rate`](crate::Link::set_rate) holds the rate
    /// at zero, a departure is infinitely far.
    pub limit_time: Option<TimeDelta>,
    /// Bytes in the queue.
    pub limit_bytes: Option<DataSize>,
    /// Packets in the queue.
    pub limit_packets: Option<u32>,
    /// Whether the packet in service takes room in the queue.
    pub in_service: InService,
    /// Step marking (as in RFC 8257 §3.1, by time): "congestion experienced" on ECN-capable packets whose queuing
    /// delay exceeds this.
    pub mark_above: Option<TimeDelta>,
}

/// Whether the packet at the head of the queue counts towards the limits in bytes and packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InService {
    /// It counts as a packet, and the part of it that is not yet served counts as bytes (whole bytes, rounded down).
    #[default]
    Counted,
    /// It does not count.
    Free,
}

/// Random delay `x ≥ 0` on top of the propagation delay. Packets never overtake each other: a packet comes out at
/// the later of its own time and the exit of the packet before it on this link, whichever flow that one belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jitter {
    /// No jitter.
    #[default]
    None,
    /// `min(|N(0, sd²)|, max)`: the truncated Gaussian of RFC 8868 §4.5 with `max = 3·sd`.
    HalfNormal {
        /// Standard deviation of the Gaussian.
        sd: TimeDelta,
        /// Largest delay.
        max: TimeDelta,
    },
    /// Uniform between zero and `max`.
    Uniform {
        /// Largest delay.
        max: TimeDelta,
    },
    /// `N(mean, sd²)`, clipped to [0, `max`].
    ClippedNormal {
        /// Mean of the Gaussian.
        mean: TimeDelta,
        /// Standard deviation of the Gaussian.
        sd: TimeDelta,
        /// Largest delay.
        max: TimeDelta,
    },
}

impl Jitter {
    fn validate(&self) -> Result<(), ConfigError> {
        let (mean, sd, max) = match *self {
            Self::None => return Ok(()),
            Self::HalfNormal { sd, max } => (TimeDelta::ZERO, sd, max),
            Self::Uniform { max } => (TimeDelta::ZERO, TimeDelta::ZERO, max),
            Self::ClippedNormal { mean, sd, max } => (mean, sd, max),
        };
        not_negative("jitter mean", Some(mean))?;
        not_negative("jitter standard deviation", Some(sd))?;
        not_negative("jitter maximum", Some(max))
    }
}

fn not_negative(name: &'static str, span: Option<TimeDelta>) -> Result<(), ConfigError> {
    if span.is_some_and(TimeDelta::is_negative) { Err(ConfigError::Negative { name }) } else { Ok(()) }
}

/// Why a description makes no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A time is negative that must not be.
    Negative {
        /// Which one.
        name: &'static str,
    },
    /// The loss probability is not in [0, 1].
    LossOutOfRange,
    /// The link never has a rate.
    NoRate,
    /// The first rate step does not begin at time zero, or there is none.
    StepsNotFromZero,
    /// A rate step does not begin later than the one before it.
    StepsNotIncreasing {
        /// When the step begins.
        at: Time,
    },
    /// The trace has no delivery opportunity.
    EmptyTrace,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Negative { name } => write!(f, "the {name} must not be negative"),
            Self::LossOutOfRange => f.write_str("the loss probability must lie between 0 and 1"),
            Self::NoRate => f.write_str("the link needs a rate above zero"),
            Self::StepsNotFromZero => f.write_str("the first rate step must begin at time 0"),
            Self::StepsNotIncreasing { at } => {
                write!(
                    f,
                    "rate steps must be in order of time: the step at {at} is not later than the one before"
                )
            }
            Self::EmptyTrace => f.write_str("the trace has no delivery opportunity"),
        }
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use weir_units::DataRate;

    use super::*;

    fn link() -> LinkConfig {
        LinkConfig::new(Service::Constant(DataRate::from_mbps(1)), TimeDelta::from_millis(10))
    }

    #[test]
    fn a_plain_link_is_valid() {
        assert_eq!(link().validate(), Ok(()));
        assert_eq!(LinkConfig { loss: 1.0, ..link() }.validate(), Ok(()));
    }

    #[test]
    fn loss_must_be_a_probability() {
        for loss in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            assert_eq!(LinkConfig { loss, ..link() }.validate(), Err(ConfigError::LossOutOfRange), "{loss}");
        }
    }

    #[test]
    fn negative_times_are_named() {
        let back = TimeDelta::from_nanos(-1);
        let none = TimeDelta::ZERO;
        let queue = |queue| LinkConfig { queue, ..link() };
        let jitter = |jitter| LinkConfig { jitter, ..link() };
        let cases = [
            (LinkConfig { delay: back, ..link() }, "the delay must not be negative"),
            (
                queue(QueueConfig { limit_time: Some(back), ..QueueConfig::default() }),
                "the queue time limit must not be negative",
            ),
            (
                queue(QueueConfig { mark_above: Some(back), ..QueueConfig::default() }),
                "the marking threshold must not be negative",
            ),
            (
                jitter(Jitter::HalfNormal { sd: back, max: none }),
                "the jitter standard deviation must not be negative",
            ),
            (jitter(Jitter::Uniform { max: back }), "the jitter maximum must not be negative"),
            (
                jitter(Jitter::ClippedNormal { mean: back, sd: none, max: none }),
                "the jitter mean must not be negative",
            ),
        ];
        for (config, message) in cases {
            assert_eq!(config.validate().map_err(|e| e.to_string()), Err(message.to_owned()));
        }
    }
}
