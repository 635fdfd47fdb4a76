//! An endpoint and a receiving endpoint: bytes of an application from one to the other over a path that loses packets.

use std::collections::{BTreeMap, VecDeque};

use weir_cc::{ArrivalTime, Controller, DataRate, DataSize, Ecn, PacketFormat, SendTime, TimeDelta};
use weir_media::receiving::{IncomingStream, PacketContent, ReceivingConfig, ReceivingEndpoint};
use weir_media::{Endpoint, EndpointConfig, PacketMeta, RetransmissionStream, StreamConfig, StreamId};
use weir_wire::rtcp;

use super::rig::{CONTROLLERS, DELAY, RECEIVER, VIDEO, at, limits};

const AUDIO: u32 = 0x0A0D_1000;
const AGAIN: u32 = 77;
const AGAIN_TYPE: u8 = 101;
const CAPACITY: DataRate = DataRate::from_mbps(2);
/// Distance of lost packets: two of a hundred.
const LOST: u64 = 50;

/// The receiver's clock is hours off.
fn there(now: SendTime) -> ArrivalTime {
    ArrivalTime::from_nanos(now.nanos()) + TimeDelta::from_secs(7200)
}

/// The next packet that has arrived by `now`, and when.
fn next_by(packets: &mut VecDeque<(SendTime, Vec<u8>)>, now: SendTime) -> Option<(SendTime, Vec<u8>)> {
    packets.front().filter(|(at, _)| *at <= now)?;
    packets.pop_front()
}

/// A call in one direction, over a link with a queue of 300 ms that loses each fiftieth packet.
struct LossyCall {
    sender: Endpoint<Vec<u8>>,
    receiver: ReceivingEndpoint,
    video: StreamId,
    audio: StreamId,
    forth: VecDeque<(SendTime, Vec<u8>)>,
    back: VecDeque<(SendTime, Vec<u8>)>,
    /// When the link has sent what it took.
    free: SendTime,
    sent: u64,
    /// Bytes that arrived in the last ten seconds.
    late_bytes: u64,
    /// Payloads that were queued, in order, and those that came, by stream and number in it.
    queued: BTreeMap<u32, Vec<Vec<u8>>>,
    came: BTreeMap<(u32, u64), Vec<u8>>,
}

impl LossyCall {
    fn new(controller: Box<dyn Controller>, format: PacketFormat) -> Self {
        let config =
            EndpointConfig { packet_format: format, leave_out: None, ..EndpointConfig::new(limits()) };
        let mut sender = Endpoint::new(controller, config, 7);
        let video = StreamConfig::video(VIDEO, 100).with_retransmissions(AGAIN, AGAIN_TYPE);
        let video = sender.add_stream(video).unwrap();
        let audio = sender.add_stream(StreamConfig::audio(AUDIO, 111)).unwrap();
        let config = ReceivingConfig { packet_format: format, ..ReceivingConfig::new(RECEIVER) };
        let mut receiver = ReceivingEndpoint::new(config).unwrap();
        let retransmission = Some(RetransmissionStream { ssrc: AGAIN, payload_type: AGAIN_TYPE });
        let stream = IncomingStream { retransmission, nack: true, ..IncomingStream::new(VIDEO, 90_000) };
        receiver.add_stream(stream).unwrap();
        receiver.add_stream(IncomingStream::new(AUDIO, 48_000)).unwrap();
        Self {
            sender,
            receiver,
            video,
            audio,
            forth: VecDeque::new(),
            back: VecDeque::new(),
            free: SendTime::ZERO,
            sent: 0,
            late_bytes: 0,
            queued: BTreeMap::new(),
            came: BTreeMap::new(),
        }
    }

    /// Queues a payload of about `length` bytes that begins with its number.
    fn queue(&mut self, ms: i64, ssrc: u32, length: u64, last: bool) {
        let (stream, hz) = if ssrc == VIDEO { (self.video, 90) } else { (self.audio, 48) };
        let of_stream = self.queued.entry(ssrc).or_default();
        let mut payload = (of_stream.len() as u32).to_be_bytes().to_vec();
        payload.resize(length.max(4) as usize, ssrc as u8);
        of_stream.push(payload.clone());
        let meta = PacketMeta::new((ms * hz) as u32, last);
        self.sender.queue(at(ms), stream, payload, meta).unwrap();
    }

    fn run(&mut self, seconds: i64) {
        for ms in 0..1000 * seconds {
            if ms % 20 == 0 {
                self.queue(ms, AUDIO, 80, true);
            }
            if ms % 33 == 0 {
                let frame = self.sender.target().media_rate.bps() * 33 / 8000;
                let packets = frame.div_ceil(1100).max(1);
                (0..packets).for_each(|n| self.queue(ms, VIDEO, frame / packets, n + 1 == packets));
            }
            self.step(at(ms), ms >= 500 * seconds);
        }
    }

    fn step(&mut self, now: SendTime, late: bool) {
        while let Some((_, bytes)) = next_by(&mut self.back, now) {
            self.sender.on_rtcp(now, &bytes).unwrap();
        }
        if self.sender.next_timeout().is_some_and(|due| due <= now) {
            self.sender.on_timeout(now).unwrap();
        }
        let mut out = [0; 1500];
        while let Some(departure) = self.sender.poll_packet(now, &mut out).unwrap() {
            self.sent += 1;
            self.transmit(now, out[..departure.length].to_vec(), self.sent.is_multiple_of(LOST));
        }
        while let Some(length) = self.sender.poll_rtcp(now, &mut out).unwrap() {
            self.transmit(now, out[..length].to_vec(), false);
        }
        while self.sender.poll_event().is_some() {}
        while let Some((arrived, bytes)) = next_by(&mut self.forth, now) {
            self.arrive(arrived, &bytes, late);
        }
        while let Some(length) = self.receiver.poll_report(there(now), &mut out) {
            self.back.push_back((now + DELAY, out[..length].to_vec()));
        }
    }

    fn transmit(&mut self, now: SendTime, bytes: Vec<u8>, lost: bool) {
        let begin = self.free.max(now);
        if lost || begin - now > TimeDelta::from_millis(300) {
            return;
        }
        self.free = begin + DataSize::from_bytes(bytes.len() as u64) / CAPACITY;
        self.forth.push_back((self.free + DELAY, bytes));
    }

    fn arrive(&mut self, now: SendTime, bytes: &[u8], late: bool) {
        if rtcp::is_rtcp(bytes) {
            return self.receiver.on_rtcp(there(now), bytes).unwrap();
        }
        self.late_bytes += if late { bytes.len() as u64 } else { 0 };
        let packet = self.receiver.on_packet(there(now), bytes, Ecn::NotEct).unwrap().expect("of a stream");
        assert!(packet.reported);
        if packet.content != PacketContent::PaddingOnly {
            self.came.insert((packet.ssrc, packet.number), bytes[packet.payload].to_vec());
        }
    }
}

/// Calls a sender of `controller`, and checks what came.
fn carries_all(name: &str, controller: Box<dyn Controller>, format: PacketFormat) {
    let mut call = LossyCall::new(controller, format);
    call.run(20);
    let came = |ssrc: u32| {
        let first = call.came.range((ssrc, 0)..).next().map_or(0, |((_, first), _)| *first);
        let queued = &call.queued[&ssrc];
        // The newest may be lost, or on their way.
        let settled = queued[..queued.len() - 100].iter().zip(first..);
        let came =
            settled.map(|(payload, number)| call.came.get(&(ssrc, number)).map(|came| came == payload));
        came.collect::<Vec<Option<bool>>>()
    };
    assert!(came(VIDEO).iter().all(|&same| same == Some(true)), "{name}: all video comes, in part again");
    let audio = came(AUDIO);
    assert!(audio.iter().all(|&same| same != Some(false)), "{name}: audio is what it was");
    let lost = audio.iter().filter(|same| same.is_none()).count();
    assert!((5..40).contains(&lost), "{name}: {lost} of {} audio packets are lost", audio.len());
    let stats = call.receiver.stream(VIDEO).unwrap();
    assert!(stats.retransmitted_packets_received > 20 && stats.packets_lost > 20, "{name}: {stats:?}");
    let kbps = call.late_bytes * 8 / 10_000;
    // NADA and SCReAM answer to each loss, GCC to more than two in a hundred.
    let least = match name {
        "gcc" => 1400,
        "scream-v2" => 600,
        _ => 1000,
    };
    assert!((least..=2000).contains(&kbps), "{name}: {kbps} kbit/s");
}

#[test]
fn payloads_of_two_streams_come_by_transport_wide_feedback() {
    for (name, controller) in CONTROLLERS {
        carries_all(name, controller(), PacketFormat::TransportWide);
    }
}

#[test]
fn payloads_of_two_streams_come_by_rfc_8888() {
    for (name, controller) in CONTROLLERS {
        carries_all(name, controller(), PacketFormat::Rfc8888);
    }
}
