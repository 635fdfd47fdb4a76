//! A link of a cell: its queue, and the part of it that the receiver already has.

use std::collections::VecDeque;

use rand_pcg::Pcg64;

use super::airtime::Airtime;
use super::config::{BLOCK, WifiLink};
use crate::backlog::span;
use crate::loss::LossSource;
use crate::packet::{DropReason, Exit, Fate, Packet};

/// A link of a cell. Times in ns.
#[derive(Clone, Debug)]
pub(super) struct WifiPort<P> {
    pub(super) transmitter: usize,
    pub(super) airtime: Airtime,
    loss: Option<LossSource>,
    limit_packets: Option<u32>,
    limit_bytes: Option<u64>,
    lifetime: Option<u64>,
    /// Frames in order of arrival. The first one waits or is on the air: frames that need not wait any longer
    /// leave.
    frames: VecDeque<WifiFrame<P>>,
    /// Frames that wait or are on the air, and their bytes.
    pub(super) waiting: usize,
    bytes: u64,
}

#[derive(Clone, Debug)]
struct WifiFrame<P> {
    arrival: u64,
    size: u32,
    /// Failed attempts so far.
    failures: u32,
    state: State,
    packet: P,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The frame is to be sent, for the first time or again.
    Waiting,
    OnAir,
    /// The frame need not be sent any more, and leaves the link when the frames before it do.
    Done(Fate),
}

impl<P: Packet> WifiPort<P> {
    pub(super) fn new(link: &WifiLink, airtime: Airtime, loss: Pcg64) -> Self {
        Self {
            transmitter: link.transmitter,
            airtime,
            loss: LossSource::new(link.loss, None, loss),
            limit_packets: link.queue.limit_packets,
            limit_bytes: link.queue.limit_bytes.map(weir_units::DataSize::bytes),
            lifetime: link.queue.limit_time.map(|time| time.nanos().max(0) as u64),
            frames: VecDeque::new(),
            waiting: 0,
            bytes: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Why a packet of `size` bytes must not enter the queue. An empty one takes every packet.
    pub(super) fn refusal(&self, size: u32) -> Option<DropReason> {
        if self.waiting == 0 {
            return None;
        }
        if self.limit_packets.is_some_and(|limit| self.waiting >= limit as usize) {
            return Some(DropReason::QueuePackets);
        }
        let too_many = self.limit_bytes.is_some_and(|limit| self.bytes + u64::from(size) > limit);
        too_many.then_some(DropReason::QueueBytes)
    }

    pub(super) fn push(&mut self, arrival: u64, size: u32, packet: P) {
        self.frames.push_back(WifiFrame { arrival, size, failures: 0, state: State::Waiting, packet });
        self.waiting += 1;
        self.bytes += u64::from(size);
    }

    /// Drops the frames that have waited for too long at `now`.
    pub(super) fn expire(&mut self, now: u64) {
        let Some(lifetime) = self.lifetime else { return };
        for index in 0..self.frames.len() {
            if now.saturating_sub(self.frames[index].arrival) <= lifetime {
                return;
            }
            if self.frames[index].state == State::Waiting {
                self.finish(index, Fate::Dropped(DropReason::QueueTime));
            }
        }
    }

    /// Puts the next frames on the air; returns how long that takes.
    pub(super) fn begin(&mut self) -> u64 {
        let (mut frames, mut bytes) = (0, 0);
        for frame in self.frames.iter_mut().take(BLOCK).filter(|frame| frame.state == State::Waiting) {
            let more = bytes + self.airtime.frame(frame.size);
            if frames > 0 && !self.airtime.fits(frames + 1, more) {
                break;
            }
            frame.state = State::OnAir;
            (frames, bytes) = (frames + 1, more);
        }
        self.airtime.transmission(bytes)
    }

    /// Ends the transmission: its frames have arrived, or are to be sent again, or are given up after more than
    /// `retries` retries. Returns whether any arrived, and whether any was given up.
    pub(super) fn end(&mut self, collision: bool, retries: u32) -> (bool, bool) {
        let (mut arrived, mut given_up) = (false, false);
        for index in 0..self.frames.len().min(BLOCK) {
            if self.frames[index].state != State::OnAir {
                continue;
            }
            let lost = collision || self.loss.as_mut().is_some_and(|loss| loss.draw(0));
            let frame = &mut self.frames[index];
            frame.state = State::Waiting;
            if !lost {
                arrived = true;
                self.finish(index, Fate::Arrived);
                continue;
            }
            frame.failures += 1;
            if frame.failures > retries {
                given_up = true;
                self.finish(index, Fate::Lost);
            }
        }
        (arrived, given_up)
    }

    fn finish(&mut self, index: usize, fate: Fate) {
        let frame = &mut self.frames[index];
        frame.state = State::Done(fate);
        self.waiting -= 1;
        self.bytes -= u64::from(frame.size);
    }

    /// The first packet, if its frame need not be sent any more.
    pub(super) fn release(&mut self, now: u64) -> Option<Exit<P>> {
        let &WifiFrame { state: State::Done(fate), arrival, size, .. } = self.frames.front()? else {
            return None;
        };
        let own = if matches!(fate, Fate::Dropped(_)) { 0 } else { self.airtime.bits(size) };
        let wait = span(now.saturating_sub(arrival).saturating_sub(own));
        let packet = self.frames.pop_front()?.packet;
        Some(Exit { packet, wait, fate, marked: false })
    }
}
