//! A Wi-Fi cell: links that share the air.
//!
//! The model is the distributed coordination of IEEE 802.11-2016 §10.3 and §10.22 in one access category. All
//! stations receive each other, as in Bianchi (2000, IEEE JSAC 18(3)):
//!
//! * **Transmitters** contend for the air, each with one or more links. A station has one, its uplink; an access
//!   point has one to each station and serves those with packets in turn. Each draws a number of slots up to its
//!   contention window and counts them while the air is idle; one that has none left transmits. Transmitters that
//!   reach zero in the same slot collide: everything they send is lost, and each doubles its window. The window
//!   returns to its least after a successful transmission, and after frames have been given up. A transmitter also
//!   counts down after its last packet, and one that comes back later to idle air transmits in the slot that
//!   begins next.
//! * **A transmission** lasts for a preamble, the bits of one frame or of an aggregate (A-MPDU) of several at the
//!   link's rate in whole symbols, a SIFS and the acknowledgement. A failed transmission lasts as long.
//! * **A frame** that is lost, by collision or by chance, is sent again with its link's next transmission. After a
//!   number of retries it is [lost](crate::Fate::Lost). The receiver's reordering buffer releases frames in the
//!   order of the queue, so frames behind a lost one wait for it.
//! * **The queue** of a link drops at its tail by packets and bytes. Its limit of time is a lifetime: a frame that has
//!   waited longer when its turn comes is dropped then.
//!
//! Left out: hidden and exposed stations, capture, rate adaptation, RTS/CTS, several access categories,
//! transmission opportunities of more than one exchange, beacons and management frames, other cells, propagation
//! delay, the longer wait after frames that were not decoded (EIFS).

mod airtime;
mod config;
mod contention;
mod port;
mod saturation;

use std::collections::VecDeque;

use rand::SeedableRng;
use rand_pcg::Pcg64;

use airtime::Airtime;
pub use config::{WifiConfig, WifiLink};
use contention::Transmitter;
use port::WifiPort;

use crate::backlog::{latest, size_of};
use crate::error::ConfigError;
use crate::packet::{Dropped, Exit, Packet};
use crate::random::RandomStreams;
use crate::server::NEVER;
use crate::time::Time;

/// A cell that carries packets of type `P` over its links, which go by their index.
///
/// The time given to its methods should never decrease; an earlier time counts as the latest one given.
#[derive(Clone, Debug)]
pub struct WifiCell<P> {
    config: WifiConfig,
    ports: Vec<WifiPort<P>>,
    transmitters: Vec<Transmitter>,
    /// When the transmission on the air ends, without its acknowledgement; [`NEVER`] for none. Times in ns.
    on_air_until: u64,
    /// Whether that is a collision.
    collision: bool,
    /// When the air becomes idle, or has become so.
    idle_from: u64,
    /// The slot of the present idle time in which the next transmission begins; [`NEVER`] for none.
    next_slot: u64,
    /// Packets that have left a link and have not yet been handed out, with the link.
    left: VecDeque<(usize, Exit<P>)>,
    /// The latest time given.
    now: u64,
}

impl<P: Packet> WifiCell<P> {
    /// An idle cell with these links. `seed` begins its random draws: the same seed, the same draws.
    ///
    /// # Errors
    /// [`ConfigError`] if a number is out of its range, or a queue has a feature that a cell does not support.
    pub fn new(config: &WifiConfig, links: &[WifiLink], seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        links.iter().try_for_each(|link| link.validate(links.len()))?;
        let RandomStreams { mut loss, queue: mut backoff, .. } = RandomStreams::new(seed);
        let count = links.iter().map(|link| link.transmitter + 1).max().unwrap_or(0);
        let mut transmitters: Vec<_> =
            (0..count).map(|_| Transmitter::new(Pcg64::from_rng(&mut backoff))).collect();
        for (index, link) in links.iter().enumerate() {
            transmitters[link.transmitter].ports.push(index);
        }
        let port = |link| WifiPort::new(link, Airtime::new(config, link), Pcg64::from_rng(&mut loss));
        Ok(Self {
            config: *config,
            ports: links.iter().map(port).collect(),
            transmitters,
            on_air_until: NEVER,
            collision: false,
            idle_from: 0,
            next_slot: NEVER,
            left: VecDeque::new(),
            now: 0,
        })
    }

    /// A packet arrives at the link `link`. Afterwards [`Self::next_wake`] may be another one than before.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason if its queue is full.
    pub fn enqueue(&mut self, now: Time, link: usize, packet: P) -> Result<(), Dropped<P>> {
        self.advance(latest(self.now, now));
        let size = size_of(&packet);
        let port = &mut self.ports[link];
        if let Some(reason) = port.refusal(size) {
            return Err(Dropped { packet, reason });
        }
        port.push(self.now, size, packet);
        let transmitter = port.transmitter;
        self.transmitters[transmitter].waiting += 1;
        if self.transmitters[transmitter].waiting == 1 {
            self.join(transmitter);
        }
        Ok(())
    }

    /// When [`Self::pop`] should next be called, or `None` if nothing waits. That call does not always yield a
    /// packet.
    pub fn next_wake(&self) -> Option<Time> {
        let next = if !self.left.is_empty() {
            self.now
        } else if self.on_air_until != NEVER {
            self.on_air_until
        } else {
            self.start_of(self.next_slot)
        };
        (next != NEVER).then_some(Time::from_nanos(next))
    }

    /// The next packet that has left a link by `now`, with the link: at the far end, lost, or dropped by the queue
    /// after it had been taken. Call until `None`.
    pub fn pop(&mut self, now: Time) -> Option<(usize, Exit<P>)> {
        self.advance(latest(self.now, now));
        self.left.pop_front()
    }

    /// Packets on the link: in its queue, on the air, and in the receiver's reordering buffer.
    pub fn len(&self, link: usize) -> usize {
        self.ports[link].len() + self.left.iter().filter(|(left, _)| *left == link).count()
    }

    /// Whether no packet is on any link.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty() && self.ports.iter().all(|port| port.len() == 0)
    }

    /// Time passes: transmissions begin and end.
    fn advance(&mut self, now: u64) {
        self.now = now;
        loop {
            if self.on_air_until <= now {
                self.end_transmission();
            } else if self.on_air_until == NEVER && self.start_of(self.next_slot) <= now {
                self.begin_transmission();
            } else {
                return;
            }
        }
    }

    /// When a slot of the present idle time begins.
    fn start_of(&self, slot: u64) -> u64 {
        if slot == NEVER {
            return NEVER;
        }
        let waited = self.config.aifs() + slot * config::SLOT;
        self.idle_from.saturating_add(waited).min(NEVER - 1)
    }

    /// A transmitter that had nothing to send has a packet.
    fn join(&mut self, transmitter: usize) {
        let counting_from = self.idle_from.saturating_add(self.config.aifs());
        let sender = &mut self.transmitters[transmitter];
        // The first slot that begins at this moment or later.
        sender.ready = self.now.saturating_sub(counting_from).div_ceil(config::SLOT);
        let on_air = self.on_air_until != NEVER;
        if sender.backoff == 0 && (on_air || self.now < self.idle_from) {
            // The air is busy: one that has counted down has to count again.
            sender.draw(&self.config);
        }
        if !on_air {
            self.next_slot = self.next_slot.min(sender.access());
        }
    }

    /// A slot begins in which at least one transmitter sends.
    fn begin_transmission(&mut self) {
        let (slot, start) = (self.next_slot, self.start_of(self.next_slot));
        let (mut senders, mut longest, mut response) = (0, 0, 0);
        for transmitter in &mut self.transmitters {
            let sends = transmitter.waiting > 0 && transmitter.access() == slot;
            transmitter.backoff = transmitter.backoff.saturating_sub(slot);
            transmitter.ready = 0;
            if !sends {
                continue;
            }
            if let Some((port, lasts)) = transmitter.begin(start, &mut self.ports, &mut self.left) {
                senders += 1;
                longest = lasts.max(longest);
                response = self.ports[port].airtime.response().max(response);
            }
        }
        if senders > 0 {
            self.collision = senders > 1;
            self.on_air_until = start.saturating_add(longest).min(NEVER - 1);
            self.idle_from = self.on_air_until.saturating_add(response);
            self.next_slot = NEVER;
        } else {
            // All waiting frames had waited too long. Those slots are over.
            self.idle_from = self.idle_from.saturating_add(slot * config::SLOT);
            self.contend();
        }
    }

    /// The last bit of a transmission is sent.
    fn end_transmission(&mut self) {
        let end = self.on_air_until;
        self.on_air_until = NEVER;
        for transmitter in &mut self.transmitters {
            if transmitter.end(end, self.collision, self.config.retries, &mut self.ports, &mut self.left) {
                transmitter.draw(&self.config);
            }
        }
        self.contend();
    }

    /// Computes the slot of the next transmission, if no other packet arrives.
    fn contend(&mut self) {
        let waiting = self.transmitters.iter().filter(|transmitter| transmitter.waiting > 0);
        self.next_slot = waiting.map(Transmitter::access).min().unwrap_or(NEVER);
    }
}
