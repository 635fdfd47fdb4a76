//! The far end of an endpoint: a receiving endpoint behind a path that loses, delays, reorders and copies.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::{ArrivalTime, Ecn, PacketFormat, SendTime};
use weir_media::receiving::{ArrivedPacket, IncomingStream, ReceivingConfig, ReceivingEndpoint};
use weir_media::{SentReport, StreamConfig};
use weir_units::TimeDelta;

use crate::input::Input;

/// Offset of the receiver's clock.
const AHEAD: i64 = 7_200_000_000_000;
/// Most packets on the way; further ones are lost.
const MOST_AWAY: usize = 2000;
/// Most RTCP packets that leave the far end at one moment.
const MOST_REPORTS: usize = 500;

/// A packet on its way to the far end.
#[derive(Debug)]
enum TravellingPacket {
    /// RTP or RTCP.
    Datagram(Vec<u8>),
    /// The header of a packet that was never written.
    Header(ArrivedPacket),
}

/// Times of arrival, with a count that makes them unique.
type OnTheWay<T> = BTreeMap<(SendTime, u64), T>;

/// The receiver, the path to it, and the path back.
#[derive(Debug)]
pub(super) struct FarEnd {
    receiver: ReceivingEndpoint,
    there: OnTheWay<TravellingPacket>,
    back: OnTheWay<Vec<u8>>,
    count: u64,
    /// Latest time at the receiver.
    latest: SendTime,
    rng: Pcg64Mcg,
    /// Of 256 packets, the number that is lost.
    losses: u8,
    /// One-way delay and its spread in milliseconds.
    delay: i64,
    spread: i64,
}

impl FarEnd {
    /// A far end of streams whose reports are of `format`.
    pub(super) fn any(format: PacketFormat, streams: &[StreamConfig], input: &mut Input<'_>) -> Self {
        let config =
            ReceivingConfig { packet_format: format, remb: true, ..ReceivingConfig::new(0x00C0_FFEE) };
        let mut receiver = ReceivingEndpoint::new(config).expect("the defaults");
        for stream in streams {
            let incoming = IncomingStream {
                retransmission: stream.retransmission,
                nack: input.flag(),
                key_frames: input.flag().then(|| TimeDelta::from_millis(100)),
                ..IncomingStream::new(stream.ssrc, stream.clock_hz)
            };
            receiver.add_stream(incoming).expect("sources differ");
        }
        let mut far_end = Self {
            receiver,
            there: BTreeMap::new(),
            back: BTreeMap::new(),
            count: 0,
            latest: SendTime::ZERO,
            rng: Pcg64Mcg::seed_from_u64(input.u64()),
            losses: 0,
            delay: 0,
            spread: 0,
        };
        far_end.change(input);
        far_end
    }

    /// The path changes: lossless, or with any losses.
    pub(super) fn change(&mut self, input: &mut Input<'_>) {
        self.losses = if input.flag() { 0 } else { input.byte() };
        self.delay = i64::from(input.byte());
        self.spread = if input.flag() { 0 } else { i64::from(input.byte()) };
    }

    /// Time of arrival of a packet that leaves now, and a count; `None` if it is lost.
    fn arrival(&mut self, now: SendTime) -> Option<(SendTime, u64)> {
        self.count += 1;
        if self.rng.random::<u8>() < self.losses {
            return None;
        }
        let delay = self.delay + self.rng.random_range(0..=self.spread);
        Some((now + TimeDelta::from_millis(delay), self.count))
    }

    fn send(&mut self, now: SendTime, packet: TravellingPacket) {
        if let Some(at) = self.arrival(now)
            && self.there.len() < MOST_AWAY
        {
            self.there.insert(at, packet);
        }
    }

    /// RTP or RTCP of the sender leaves.
    pub(super) fn send_datagram(&mut self, now: SendTime, bytes: &[u8]) {
        self.send(now, TravellingPacket::Datagram(bytes.to_vec()));
    }

    /// A packet leaves of which only the header is known.
    pub(super) fn send_header(&mut self, now: SendTime, stream: &StreamConfig, packet: &SentReport) {
        self.send(
            now,
            TravellingPacket::Header(ArrivedPacket {
                number: Some(packet.number),
                header: packet.header,
                payload: packet.payload,
                ..ArrivedPacket::of_stream(stream.ssrc, packet.sequence, packet.timestamp)
            }),
        );
    }

    /// The application at the far end needs a key frame.
    pub(super) fn request_key_frame(&mut self, now: SendTime, ssrc: u32) {
        self.latest = now;
        self.receiver.request_key_frame(there(now), ssrc).expect("time goes on");
    }

    /// RTCP that reaches the sender until `now`.
    pub(super) fn deliver(&mut self, now: SendTime) -> Vec<Vec<u8>> {
        while let Some(first) = self.there.first_entry().filter(|first| first.key().0 <= now) {
            let ((at, count), packet) = first.remove_entry();
            let at = there(at.max(self.latest));
            let ecn = if count % 8 == 0 { Ecn::Ce } else { Ecn::NotEct };
            match packet {
                TravellingPacket::Datagram(bytes) => {
                    self.receiver.on_datagram(at, &bytes, ecn).expect("well-formed, in order of time");
                }
                TravellingPacket::Header(packet) => {
                    self.receiver.on_arrival(at, &ArrivedPacket { ecn, ..packet }).expect("in order");
                }
            }
        }
        self.latest = now;
        let mut out = [0; 1200];
        for report in 0.. {
            let Some(length) = self.receiver.poll_report(there(now), &mut out) else { break };
            assert!(report < MOST_REPORTS, "the far end reports without end");
            // Reports are copied now and then.
            for _ in 0..=u8::from(self.rng.random_range(0..16) == 0) {
                if let Some(at) = self.arrival(now) {
                    self.back.insert(at, out[..length].to_vec());
                }
            }
        }
        let mut arrived = Vec::new();
        while let Some(first) = self.back.first_entry().filter(|first| first.key().0 <= now) {
            arrived.push(first.remove());
        }
        arrived
    }
}

/// The reading of the receiver's clock.
fn there(now: SendTime) -> ArrivalTime {
    ArrivalTime::from_nanos(now.nanos() + AHEAD)
}
