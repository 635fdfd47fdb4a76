//! Description of a link.

use std::sync::Arc;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::changes::{self, LinkChange, QueueLimits};
use crate::error::{ConfigError, not_negative};
use crate::loss::LossModel;
use crate::queue::{Discipline, MTU};
use crate::service::Service;

/// Description of a link: its server, its queue, and the path to the far end.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Rate at which packets leave the queue.
    pub service: Service,
    /// Limits, drops and marks of the queue.
    pub queue: QueueConfig,
    /// Propagation delay.
    pub delay: TimeDelta,
    /// Random delay on top of the propagation delay.
    pub jitter: Jitter,
    /// The packets that jitter must not reorder.
    pub order: Order,
    /// Random loss after the queue.
    pub loss: LossModel,
    /// Changes of delay, loss and queue limits, in order of time.
    pub changes: Vec<LinkChange>,
}

impl LinkConfig {
    /// A link with an unlimited queue, without jitter and without loss.
    pub fn new(service: Service, delay: TimeDelta) -> Self {
        Self {
            service,
            queue: QueueConfig::default(),
            delay,
            jitter: Jitter::None,
            order: Order::Link,
            loss: LossModel::None,
            changes: Vec::new(),
        }
    }

    /// The least propagation delay that the link ever has.
    pub fn least_delay(&self) -> TimeDelta {
        self.changes.iter().filter_map(|change| change.delay).fold(self.delay, TimeDelta::min)
    }

    /// Whether a packet's departure is known when it arrives.
    pub(crate) fn is_passive(&self) -> bool {
        self.queue.discipline == Discipline::DropTail && self.order == Order::Link
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.service.validate()?;
        not_negative("delay", Some(self.delay))?;
        not_negative("queue time limit", self.queue.limit_time)?;
        not_negative("queue limit at the rate", self.queue.limit_at_rate)?;
        not_negative("marking threshold", self.queue.mark_above)?;
        self.queue.discipline.validate()?;
        self.jitter.validate()?;
        self.loss.validate()?;
        changes::validate(&self.changes)
    }
}

/// Limits of a queue, and the discipline that drops and marks within them. A packet that would exceed a limit on its
/// arrival is dropped, or others in its place, as the [`Discipline`] defines. A packet that just meets a limit is
/// taken. An idle link takes any packet, so that no limit can block it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueConfig {
    /// Limit of the time from arrival to departure of the last bit, by the service as it is known on arrival. At a
    /// constant rate this is the time to send the backlog and the packet. While
    /// [`Link::set_rate`](crate::Link::set_rate) holds the rate at zero, a departure is infinitely far.
    pub limit_time: Option<TimeDelta>,
    /// Limit of the bytes in the queue.
    pub limit_bytes: Option<DataSize>,
    /// Limit of the bytes in the queue that follows the rate: the bytes sent in this time at the present rate, at least
    /// 1500. Unlike [`limit_time`](Self::limit_time) it does not account for later changes of the rate.
    pub limit_at_rate: Option<TimeDelta>,
    /// Limit of the packets in the queue.
    pub limit_packets: Option<u32>,
    /// Whether the packet in service counts towards the limits of the queue.
    pub in_service: InService,
    /// Step marking (as in RFC 8257 §3.1, by time): "congestion experienced" on ECN-capable packets whose queuing
    /// delay exceeds this.
    pub mark_above: Option<TimeDelta>,
    /// Queue discipline: the drops, the marks and the order of service within the limits.
    pub discipline: Discipline,
}

impl QueueConfig {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            time: self.limit_time,
            fixed_bytes: self.limit_bytes.map(DataSize::bytes),
            at_rate: self.limit_at_rate,
            packets: self.limit_packets,
            in_service: self.in_service,
            mark_above: self.mark_above,
        }
    }
}

/// The limits of a queue in the form in which a link keeps them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) time: Option<TimeDelta>,
    fixed_bytes: Option<u64>,
    at_rate: Option<TimeDelta>,
    pub(crate) packets: Option<u32>,
    pub(crate) in_service: InService,
    pub(crate) mark_above: Option<TimeDelta>,
}

impl Limits {
    /// Replaces the limits; `in_service` and `mark_above` stay.
    pub(crate) fn replace(&mut self, limits: &QueueLimits) {
        self.time = limits.time;
        self.fixed_bytes = limits.bytes.map(DataSize::bytes);
        self.at_rate = limits.at_rate;
        self.packets = limits.packets;
    }

    /// Whether any limit counts the backlog.
    pub(crate) fn counts(&self) -> bool {
        let Self { fixed_bytes, at_rate, packets, .. } = self;
        fixed_bytes.is_some() || at_rate.is_some() || packets.is_some()
    }

    /// The limit in bytes, given the `rate` of the moment; one that follows it never keeps out a packet of full size.
    #[inline]
    pub(crate) fn bytes(&self, rate: impl FnOnce() -> DataRate) -> Option<u64> {
        let Some(time) = self.at_rate else { return self.fixed_bytes };
        let following = (rate() * time).bytes().max(MTU);
        Some(self.fixed_bytes.map_or(following, |fixed| fixed.min(following)))
    }
}

/// Whether the packet at the head of the queue counts towards the limits in bytes and packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InService {
    /// The packet counts as one packet, and its unserved part counts as bytes (whole bytes, rounded down).
    #[default]
    Counted,
    /// The packet counts as one packet and with all its bytes until its last bit has left, as in an emulator that
    /// dequeues a packet after serving it.
    Whole,
    /// The packet does not count. With a trace and a drop-tail queue, the packet at the head is in service while it waits
    /// for its delivery opportunity. Any other queue chooses the packet only at the opportunity, and counts it until
    /// then.
    Free,
}

/// Random delay `x ≥ 0` on top of the propagation delay. [`Order`] defines which packets may overtake each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// A recorded sequence of delays, one for each packet, repeated.
    Trace(Arc<[TimeDelta]>),
}

impl Jitter {
    fn validate(&self) -> Result<(), ConfigError> {
        let (mean, sd, max) = match *self {
            Self::None => return Ok(()),
            Self::HalfNormal { sd, max } => (TimeDelta::ZERO, sd, max),
            Self::Uniform { max } => (TimeDelta::ZERO, TimeDelta::ZERO, max),
            Self::ClippedNormal { mean, sd, max } => (mean, sd, max),
            Self::Trace(ref delays) => {
                let least = delays.iter().min().copied().ok_or(ConfigError::EmptyJitterTrace)?;
                return not_negative("delay in the jitter trace", Some(least));
            }
        };
        not_negative("jitter mean", Some(mean))?;
        not_negative("jitter standard deviation", Some(sd))?;
        not_negative("jitter maximum", Some(max))
    }
}

/// The packets that come out in the order in which they left the queue. A packet that jitter would let overtake one of
/// them comes out together with it (NR-BPDV of RFC 8868 §4.5.2, without its serialisation).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// All on this link, whichever flow they belong to.
    #[default]
    Link,
    /// Packets of one [flow](crate::Packet::flow): jitter never reorders a flow, but one flow may overtake
    /// another.
    Flow,
    /// No packets: each one comes out at its own time (random bounded PDV of RFC 8868 §4.5.1).
    None,
}

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
        assert_eq!(LinkConfig { loss: LossModel::Bernoulli(1.0), ..link() }.validate(), Ok(()));
    }

    #[test]
    fn loss_must_be_a_probability() {
        for loss in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            let loss = LossModel::Bernoulli(loss);
            assert_eq!(
                LinkConfig { loss, ..link() }.validate(),
                Err(ConfigError::LossOutOfRange),
                "{loss:?}"
            );
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
