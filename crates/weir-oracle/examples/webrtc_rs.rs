//! `gcc` behind the `BandwidthEstimator` of webrtc-rs, in a call through webrtc-rs's own interceptors over a link
//! whose capacity falls: `cargo run --release -p weir-oracle --example webrtc_rs`. [`Estimator`] is an example to
//! copy.

use std::collections::VecDeque;
use std::error::Error;
use std::time::{Duration, Instant};

use rtc_interceptor::{AttributedPacket, BandwidthEstimator, CongestionControlBuilder};
use rtc_interceptor::{Interceptor, Packet, PacketReport, RTPHeaderExtension, StreamInfo, TaggedPacket};
use rtc_interceptor::{TwccReceiverBuilder, TwccSenderBuilder};
use rtc_shared::TransportContext;
use sansio::Protocol;
use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::{
    ArrivalTime, Controller, DataRate, DataSize, Ecn, Feedback, MonotonicClock, PacketFate, PacketResult,
    RateLimits, SendState, SentPacket,
};

/// A controller of Weir as an estimator of webrtc-rs, for controllers that use the fate of single packets and
/// compute a rate.
///
/// Limitations of the interface, and their effects:
/// * Departures are reported with the feedback: the controller learns of them then. They alone would not show a
///   feedback timeout, so each wake-up counts as an empty packet: a running call sends.
/// * Probes cannot be sent; they are dropped. The controller increases without them, so start near the rate that
///   you expect.
/// * Sizes and the target are those on the wire. Bytes in flight and in the pacer, and ECN marks, are unknown.
pub(crate) struct Estimator {
    controller: Box<dyn Controller>,
    clock: MonotonicClock,
    results: Vec<PacketResult>,
}

impl Estimator {
    pub(crate) fn new(controller: Box<dyn Controller>, epoch: Instant) -> Self {
        Self { controller, clock: MonotonicClock::new(epoch), results: Vec::new() }
    }

    fn on_sent(&mut self, id: u64, at: Instant, size: usize) -> SentPacket {
        let (at, size) = (self.clock.send_time(at), DataSize::from_bytes(size as u64));
        let sent = SentPacket::new(id, at, size);
        self.controller.on_sent(&sent, &SendState::default());
        sent
    }
}

impl BandwidthEstimator for Estimator {
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        self.results.clear();
        for report in reports {
            let sent = self.on_sent(report.id, report.departure, report.size);
            let fate = match report.arrival {
                None if !report.arrived => PacketFate::Missing,
                at => {
                    PacketFate::Arrived { at: at.map(|at| ArrivalTime::ZERO + at.into()), ecn: Ecn::NotEct }
                }
            };
            self.results.push(PacketResult { sent, fate });
        }
        let newest = reports.iter().rfind(|report| report.arrived);
        let rtt = newest.map(|report| now.saturating_duration_since(report.departure).into());
        let (results, now) = (&self.results[..], self.clock.send_time(now));
        let feedback = Feedback::packets(results, rtt);
        self.controller.on_feedback(now, &feedback, &SendState::default());
        while self.controller.poll_probe().is_some() {}
    }

    fn target_bitrate(&self) -> f64 {
        self.controller.target().sending_rate.bps_f64()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.on_sent(self.results.last().map_or(0, |newest| newest.sent.id + 1), now, 0);
        self.controller.on_timeout(self.clock.send_time(now), &SendState::default());
        while self.controller.poll_probe().is_some() {}
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.controller.next_timeout().map(|due| self.clock.instant(due))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    call(|second, capacity, target| println!("{second:>2} s: {:>5.0} kbit/s of {capacity}", target / 1e3))
}

const PROPAGATION: Duration = Duration::from_millis(50); // of both ways
const SIZE: f64 = 1200.0; // on the wire: 12 bytes of RTP header, 8 of its extension

/// A call of 45 s; passes the capacity and the target in bit/s to `observe` each second. Feedback is lost in the last
/// five.
#[expect(clippy::disallowed_methods, reason = "webrtc-rs counts from an instant of the system's clock")]
pub(crate) fn call(mut observe: impl FnMut(u64, DataRate, f64)) -> Result<(), Box<dyn Error>> {
    let epoch = Instant::now();
    let limits = RateLimits::new(DataRate::from_kbps(50), DataRate::from_mbps(2), DataRate::from_mbps(10))?;
    let gcc = Estimator::new(Box::new(GoogCc::new(Config::default(), limits)?), epoch);
    let mut sender = CongestionControlBuilder::new(gcc).build();
    let mut numbers = TwccSenderBuilder::new().build();
    let mut far_end = TwccReceiverBuilder::new().with_interval(Duration::from_millis(50)).build();
    let uri = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01".to_owned();
    let rtp_header_extensions = vec![RTPHeaderExtension { uri, id: 5 }];
    let stream = StreamInfo { ssrc: 1, rtp_header_extensions, ..StreamInfo::default() };
    numbers.bind_local_stream(&stream);
    sender.bind_local_stream(&stream);
    far_end.bind_remote_stream(&stream);

    let (mut on_the_way, mut link_free) = (VecDeque::<TaggedPacket>::new(), epoch);
    let (mut sequence_number, mut credit) = (0_u16, 0.0);
    for ms in 1..=45_000 {
        let now = epoch + Duration::from_millis(ms);
        let capacity = DataRate::from_mbps(if ms <= 20_000 { 3 } else { 1 });
        // One millisecond of the target rate, in bytes: packets leave evenly spaced.
        credit += sender.estimator().target_bitrate() / 8e3;
        while credit >= SIZE {
            let header = rtc_rtp::Header { version: 2, ssrc: 1, sequence_number, ..Default::default() };
            let packet = rtc_rtp::Packet { header, payload: vec![0; SIZE as usize - 20].into() };
            let (transport, message) =
                (TransportContext::default(), AttributedPacket::new(Packet::Rtp(packet)));
            numbers.handle_write(TaggedPacket { now, transport, message })?;
            numbers.poll_write().map(|packet| sender.handle_write(packet)).transpose()?;
            (sequence_number, credit) = (sequence_number.wrapping_add(1), credit - SIZE);
        }
        while let Some(mut packet) = sender.poll_write() {
            let begin = link_free.max(now);
            // Drop-tail: a packet that would wait for longer is lost.
            if begin - now <= Duration::from_millis(600) {
                link_free = begin + Duration::from_secs_f64(SIZE * 8.0 / capacity.bps_f64());
                packet.now = link_free + PROPAGATION;
                on_the_way.push_back(packet);
            }
        }
        while on_the_way.front().is_some_and(|packet| packet.now <= now) {
            on_the_way.pop_front().map(|packet| far_end.handle_read(packet)).transpose()?;
            far_end.poll_read();
        }
        far_end.handle_timeout(now)?;
        while let Some(feedback) = far_end.poll_write().filter(|_| ms <= 40_000) {
            sender.handle_read(feedback)?;
            sender.poll_read();
        }
        if sender.poll_timeout().is_some_and(|due| due <= now) {
            sender.handle_timeout(now)?;
        }
        if ms % 1000 == 0 {
            observe(ms / 1000, capacity, sender.estimator().target_bitrate());
        }
    }
    Ok(())
}
