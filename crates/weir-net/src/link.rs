//! The link: a passive one where departures are known on arrival, else an active one.

use weir_units::{DataRate, TimeDelta};

use crate::backlog::Backlog;
use crate::changes::{self, LinkChange};
use crate::config::LinkConfig;
use crate::disciplined::Disciplined;
use crate::error::ConfigError;
use crate::packet::{Dropped, Exit, Packet};
use crate::passive::Passive;
use crate::server::NEVER;
use crate::time::Time;

/// A directed link that carries packets of type `P`.
///
/// The time given to its methods should never decrease; an earlier time counts as the latest one given.
#[derive(Clone, Debug)]
pub struct Link<P> {
    kind: Kind<P>,
    seed: u64,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a link is built once, and the fast one is kept in place")]
enum Kind<P> {
    Passive(Passive<P>),
    Active(Disciplined<P>),
}

impl<P: Packet> Link<P> {
    /// An idle link. `seed` begins its random draws: the same seed, the same draws.
    ///
    /// # Errors
    /// [`ConfigError`] if the description makes no link.
    pub fn new(config: &LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        if config.is_passive() {
            return Ok(Self { kind: Kind::Passive(Passive::new(config, seed)), seed });
        }
        Ok(Self { kind: Kind::Active(Disciplined::new(config, seed)), seed })
    }

    /// The passive link inside, if departures are known on arrival: a caller that uses it directly saves a
    /// dispatch per call.
    #[inline]
    pub fn as_passive(&mut self) -> Option<&mut Passive<P>> {
        match &mut self.kind {
            Kind::Passive(link) => Some(link),
            Kind::Active(_) => None,
        }
    }

    /// Puts an arriving packet on the link. Afterwards [`Self::next_departure`] may be earlier than before.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason if the link does not take it.
    #[inline]
    pub fn enqueue(&mut self, now: Time, packet: P) -> Result<(), Dropped<P>> {
        match &mut self.kind {
            Kind::Passive(link) => link.enqueue(now, packet).map(drop),
            Kind::Active(link) => link.enqueue(now, packet),
        }
    }

    /// Time at which [`Self::pop`] should next be called, or `None` if the link is empty or its rate is zero. A link
    /// with drop-tail queue and order yields a packet then. Another one may have to be polled earlier, because its
    /// queue decides at this moment what to serve or to drop.
    #[inline]
    pub fn next_departure(&self) -> Option<Time> {
        let next = match &self.kind {
            Kind::Passive(link) => link.next_departure().nanos(),
            Kind::Active(link) => link.next_departure(),
        };
        (next != NEVER).then_some(Time::from_nanos(next))
    }

    /// The next packet that has left the link by `now`: at the far end, or dropped by the queue after it had been
    /// taken. Call until `None`.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Exit<P>> {
        match &mut self.kind {
            Kind::Passive(link) => link.pop(now),
            Kind::Active(link) => link.pop(now),
        }
    }

    /// Replaces the service by a constant rate from `now` on. Packets in the queue keep their order, the bits left of
    /// the packet in service continue at the new rate, and nothing queued is dropped. Rate zero holds the queue until
    /// the next call.
    pub fn set_rate(&mut self, now: Time, rate: DataRate) {
        match &mut self.kind {
            Kind::Passive(link) => link.set_rate(now, rate),
            Kind::Active(link) => link.set_rate(now, rate),
        }
    }

    /// Applies a change now, at the time that it names, as if it had been among those of the description
    /// ([`LinkConfig::changes`]). Changes of the same values that were to come end.
    ///
    /// # Errors
    /// A value out of its range. Then nothing changes.
    pub fn apply(&mut self, change: &LinkChange) -> Result<(), ConfigError> {
        changes::validate(std::slice::from_ref(change))?;
        match &mut self.kind {
            Kind::Passive(link) => link.apply(change, self.seed),
            Kind::Active(link) => link.apply(change, self.seed),
        }
        Ok(())
    }

    /// The backlog at `now`. The packet in service counts as a packet, and its unserved part as bytes. For a queue
    /// that is not drop-tail, first call [`Self::pop`] for everything up to `now`.
    pub fn backlog(&mut self, now: Time) -> Backlog {
        match &mut self.kind {
            Kind::Passive(link) => link.backlog(now),
            Kind::Active(link) => link.backlog(now),
        }
    }

    /// Packets on the link: in the queue, in service, and on their way to the far end.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Passive(link) => link.len(),
            Kind::Active(link) => link.len(),
        }
    }

    /// Whether no packet is on the link.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match &self.kind {
            Kind::Passive(link) => link.is_empty(),
            Kind::Active(link) => link.is_empty(),
        }
    }

    /// The propagation delay, without serialisation, queue and jitter; the least one where changes are scheduled.
    pub fn propagation(&self) -> TimeDelta {
        match &self.kind {
            Kind::Passive(link) => link.propagation(),
            Kind::Active(link) => link.propagation(),
        }
    }
}
