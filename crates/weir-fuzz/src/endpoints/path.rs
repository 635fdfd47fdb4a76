//! The path between the ends, by true time in nanoseconds, with impairments.

use weir_cc::{DataRate, DataSize, TimeDelta};
use weir_media::MediaPacket;
use weir_net::{LinkConfig, QueueConfig, Sent, Service, Time};

use crate::input::Input;

/// Capacity in packets; more are dropped.
const MOST: usize = 5000;
const RATE: DataRate = DataRate::from_mbps(1000);
/// Longest delay of either way.
const LONGEST: u64 = 2_000_000_000;

/// A packet on its way to the receivers.
#[derive(Clone, Debug)]
pub(super) enum FuzzedPacket {
    /// A media packet with the index of its flow.
    Media(usize, MediaPacket),
    SenderReport(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Path {
    wire: weir_net::Path<FuzzedPacket, Vec<u8>>,
    /// The one-way delay.
    delay: TimeDelta,
    /// Further delay of the next media packet, which others overtake.
    late: TimeDelta,
    /// Whether the next media packet comes twice.
    copied: bool,
    /// Counts of the next media packets and of the next reports to be lost.
    lost: [u32; 2],
    /// Whether departing packets are held back.
    held: bool,
}

impl Default for Path {
    fn default() -> Self {
        let queue = QueueConfig { limit_packets: Some(MOST as u32), ..QueueConfig::default() };
        let link = LinkConfig { queue, ..LinkConfig::new(Service::Constant(RATE), TimeDelta::ZERO) };
        Self {
            wire: weir_net::Path::new(&link, 0, TimeDelta::ZERO).expect("its rate is above zero"),
            delay: TimeDelta::from_millis(25),
            late: TimeDelta::ZERO,
            copied: false,
            lost: [0; 2],
            held: false,
        }
    }
}

impl Path {
    pub(super) fn send(&mut self, now: i64, flow: usize, packet: MediaPacket) {
        if self.loses(0) {
            return;
        }
        let size = packet.header.wire_len() + usize::from(packet.payload);
        let late = core::mem::take(&mut self.late);
        if core::mem::take(&mut self.copied) {
            self.wire.insert(time(now) + self.delay, FuzzedPacket::Media(flow, packet));
        }
        self.forward(now, size, self.delay + late, FuzzedPacket::Media(flow, packet));
    }

    pub(super) fn report_of_sender(&mut self, now: i64, bytes: &[u8]) {
        self.forward(now, bytes.len(), self.delay, FuzzedPacket::SenderReport(bytes.to_vec()));
    }

    fn forward(&mut self, now: i64, size: usize, extra_delay: TimeDelta, packet: FuzzedPacket) {
        if self.wire.packets() < MOST {
            let size = DataSize::from_bytes(size as u64);
            // A full queue drops it.
            let _ = self.wire.send(time(now), Sent { extra_delay, ..Sent::new(packet, size) });
        }
    }

    pub(super) fn report(&mut self, now: i64, bytes: &[u8]) {
        if !self.loses(1) && self.wire.answers().len() < MOST {
            self.wire.answer_at(time(now) + self.delay, bytes.to_vec());
        }
    }

    fn loses(&mut self, way: usize) -> bool {
        let lost = self.lost[way] > 0;
        self.lost[way] = self.lost[way].saturating_sub(1);
        lost
    }

    /// A packet that has arrived at the receivers.
    pub(super) fn arrival(&mut self, now: i64) -> Option<FuzzedPacket> {
        if self.held {
            return None;
        }
        self.wire.arrival(time(now)).map(|arrived| arrived.packet)
    }

    /// A report that has arrived.
    pub(super) fn answer(&mut self, now: i64) -> Option<Vec<u8>> {
        if self.held { None } else { self.wire.answered(time(now)) }
    }

    /// The time of the next arrival.
    pub(super) fn next(&self) -> Option<i64> {
        self.wire.next_event().filter(|_| !self.held).map(|at| at.nanos() as i64)
    }

    /// An impairment: losses, another delay, an outage or its end, reordering, a copy, changed bits.
    pub(super) fn impair(&mut self, input: &mut Input<'_>) {
        let delay = |input: &mut Input<'_>| TimeDelta::from_nanos(input.below(LONGEST) as i64);
        match input.below(7) {
            0 => self.lost[0] = input.below(300) as u32,
            1 => self.lost[1] = input.below(60) as u32,
            2 => self.delay = delay(input),
            3 => self.held = !self.held,
            4 => self.late = delay(input),
            5 => self.copied = true,
            _ => self.garble(input),
        }
    }

    /// Bits of the oldest report change, or its end is missing.
    fn garble(&mut self, input: &mut Input<'_>) {
        let Some(bytes) = self.wire.answers().next() else { return };
        for _ in 0..=input.below(4) {
            let place = input.u16() as usize % bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= input.byte();
            }
        }
        if input.seldom(4) {
            bytes.truncate(input.u16() as usize);
        }
    }
}

fn time(now: i64) -> Time {
    Time::from_nanos(now.max(0) as u64)
}
