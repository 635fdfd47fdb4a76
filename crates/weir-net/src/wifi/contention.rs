//! A transmitter: when it may send next, and which of its links is next.

use std::collections::VecDeque;

use rand::RngExt;
use rand_pcg::Pcg64;

use super::config::WifiConfig;
use super::port::WifiPort;
use crate::packet::{Exit, Packet};

/// A station or access point that contends for the air.
#[derive(Clone, Debug)]
pub(super) struct Transmitter {
    /// Its links.
    pub(super) ports: Vec<usize>,
    /// The one of them that is next.
    turn: usize,
    /// The one of them that is on the air.
    sending: Option<usize>,
    /// Frames on its links that are to be sent.
    pub(super) waiting: usize,
    /// Slots to count from the beginning of the present idle time.
    pub(super) backoff: u64,
    /// The slot of the present idle time from which on it has had something to send.
    pub(super) ready: u64,
    /// Failed transmissions since the last success, or since frames were given up.
    failures: u32,
    /// Generator of its backoffs, so that they do not depend on the draws of other transmitters.
    rng: Pcg64,
}

impl Transmitter {
    /// A transmitter without links, which draws from `rng`.
    pub(super) fn new(rng: Pcg64) -> Self {
        Self { ports: Vec::new(), turn: 0, sending: None, waiting: 0, backoff: 0, ready: 0, failures: 0, rng }
    }

    /// Draws a backoff, uniform from 0 to the window.
    pub(super) fn draw(&mut self, config: &WifiConfig) {
        self.backoff = u64::from(self.rng.random_range(0..=self.window(config)));
    }

    /// The slot of the present idle time in which it transmits.
    pub(super) fn access(&self) -> u64 {
        self.backoff.max(self.ready)
    }

    /// The contention window: (CWmin + 1)·2^failures − 1 up to CWmax (§10.22.2.2).
    fn window(&self, config: &WifiConfig) -> u32 {
        let doubled = (u64::from(config.cw_min) + 1) << self.failures.min(16);
        u32::try_from(doubled - 1).unwrap_or(u32::MAX).min(config.cw_max)
    }

    /// Sends from the next link; returns this link and for how long, or `None` if everything has waited too long.
    pub(super) fn begin<P: Packet>(
        &mut self,
        now: u64,
        ports: &mut [WifiPort<P>],
        left: &mut VecDeque<(usize, Exit<P>)>,
    ) -> Option<(usize, u64)> {
        for _ in 0..self.ports.len() {
            let index = self.ports[self.turn];
            let port = &mut ports[index];
            let before = port.waiting;
            port.expire(now);
            self.waiting -= before - port.waiting;
            hand_over(now, index, port, left);
            if port.waiting > 0 {
                self.sending = Some(index);
                return Some((index, port.begin()));
            }
            self.turn = (self.turn + 1) % self.ports.len();
        }
        None
    }

    /// Its transmission ends, if it has one; returns whether it has.
    pub(super) fn end<P: Packet>(
        &mut self,
        now: u64,
        collision: bool,
        retries: u32,
        ports: &mut [WifiPort<P>],
        left: &mut VecDeque<(usize, Exit<P>)>,
    ) -> bool {
        let Some(index) = self.sending.take() else { return false };
        let port = &mut ports[index];
        let before = port.waiting;
        let (arrived, given_up) = port.end(collision, retries);
        self.waiting -= before - port.waiting;
        hand_over(now, index, port, left);
        if arrived || given_up {
            self.failures = 0;
            self.turn = (self.turn + 1) % self.ports.len();
        } else {
            self.failures = self.failures.saturating_add(1);
        }
        true
    }
}

/// Removes the frames from the link that need not wait any longer.
fn hand_over<P: Packet>(
    now: u64,
    index: usize,
    port: &mut WifiPort<P>,
    left: &mut VecDeque<(usize, Exit<P>)>,
) {
    while let Some(exit) = port.release(now) {
        left.push_back((index, exit));
    }
}
