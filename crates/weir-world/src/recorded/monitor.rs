//! Recording of a run of Weir.

use weir_cc::{Ecn, Target};
use weir_media::MediaPacket;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_wire::media::MediaHeader;

use super::builder::{CallBuilder, RtpDeparture};
use super::tables::{ProbeCluster, RateRow, RecordedFrame, RoundTrip};
use super::{ArrivalClock, RecordedCall, RecordingSource, StreamKind};
use crate::flow::Side;
use crate::host::UDP_OVERHEAD;
use crate::monitor::{FrameMeta, Monitor};

/// Observer that records the media flows of a run, a call for each. Times are true times: both ends have one clock.
#[derive(Debug)]
pub struct CallMonitor {
    /// Calls by the index of the flow.
    calls: Vec<Option<CallBuilder>>,
    /// Whether arrivals at the receivers are recorded.
    records_arrivals: bool,
}

impl CallMonitor {
    /// A recorder of both ends of the flows for which `is_media` is set. Arrivals are those at the receiver.
    pub fn new(is_media: impl IntoIterator<Item = bool>) -> Self {
        Self::with_clock(is_media, ArrivalClock::Common)
    }

    /// A recorder of the sending ends alone: arrivals are those of the reports, by the receiver's clock.
    pub fn at_senders(is_media: impl IntoIterator<Item = bool>) -> Self {
        Self::with_clock(is_media, ArrivalClock::Receiver)
    }

    fn with_clock(is_media: impl IntoIterator<Item = bool>, arrivals: ArrivalClock) -> Self {
        let builder = || {
            let mut builder = CallBuilder::new(RecordingSource::Weir);
            builder.set_arrival_clock(arrivals);
            builder.call_mut().packet_overhead_bytes = UDP_OVERHEAD;
            builder
        };
        let calls = is_media.into_iter().map(|media| media.then(builder)).collect();
        Self { calls, records_arrivals: arrivals == ArrivalClock::Common }
    }

    /// The recorded calls, with the index of their flow.
    pub fn finish(self) -> impl Iterator<Item = (usize, RecordedCall)> {
        let calls = self.calls.into_iter().enumerate();
        calls.filter_map(|(flow, call)| Some((flow, call?.finish())))
    }

    fn call(&mut self, flow: usize) -> Option<&mut CallBuilder> {
        self.calls.get_mut(flow)?.as_mut()
    }
}

fn micros(now: Time) -> i64 {
    (now.nanos() / 1000) as i64
}

/// The ECN field as in an IP header (RFC 3168 §5).
const fn ecn_bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Ce => 0b11,
    }
}

impl Monitor for CallMonitor {
    fn wants_rtp(&self) -> bool {
        true
    }

    fn rtp_sent(&mut self, now: Time, flow: usize, packet: &MediaPacket) {
        let Some(call) = self.call(flow) else { return };
        let MediaPacket { header, payload, audio, probe, .. } = *packet;
        if !call.knows_stream(header.ssrc) {
            let (kind, clock) = if audio {
                (StreamKind::Audio, weir_media::AUDIO_CLOCK_HZ)
            } else {
                (StreamKind::Video, weir_media::VIDEO_CLOCK_HZ)
            };
            call.declare_stream(header.ssrc, kind, clock as u32);
        }
        if let Some(probe) = probe {
            let id = u32::from(probe.id.get());
            let clusters = &mut call.call_mut().probe_clusters;
            if clusters.id.last() != Some(&id) {
                clusters.push(ProbeCluster {
                    time_us: micros(now),
                    id,
                    bps: probe.rate.bps(),
                    min_packets: probe.packets,
                    min_bytes: probe.size.bytes() as u32,
                });
            }
        }
        let (payload_bytes, padding_bytes) =
            if packet.is_padding() { (0, payload) } else { (u32::from(payload), 0) };
        call.on_sent(
            micros(now),
            &RtpDeparture {
                ssrc: header.ssrc,
                sequence: header.sequence,
                timestamp: header.timestamp,
                marker: header.marker,
                transport_number: Some(header.transport_sequence),
                header_bytes: header.wire_len() as u16,
                payload_bytes,
                padding_bytes,
                probe: probe.map(|probe| u32::from(probe.id.get())),
            },
        );
    }

    fn rtp_arrived(&mut self, now: Time, flow: usize, header: &MediaHeader, ecn: Ecn) {
        if self.records_arrivals
            && let Some(call) = self.call(flow)
        {
            call.on_arrival(micros(now), header.ssrc, header.sequence, ecn_bits(ecn));
        }
    }

    fn rtcp_arrived(&mut self, now: Time, flow: usize, at: Side, bytes: &[u8]) {
        if at == Side::Sender
            && let Some(call) = self.call(flow)
        {
            call.on_rtcp(micros(now), bytes);
        }
    }

    fn frame(&mut self, now: Time, flow: usize, frame: &FrameMeta) {
        if let Some(call) = self.call(flow) {
            let FrameMeta { bytes, key, packets, .. } = *frame;
            let bytes = if packets == 0 { 0 } else { bytes };
            let row = RecordedFrame { time_us: micros(now), bytes, key: u8::from(key), width: 0, height: 0 };
            call.call_mut().frames.push(row);
        }
    }

    fn rtt(&mut self, now: Time, flow: usize, rtt: TimeDelta) {
        if let Some(call) = self.call(flow) {
            let row = RoundTrip { time_us: micros(now), rtt_us: rtt.nanos() / 1000 };
            call.call_mut().round_trips.push(row);
        }
    }

    fn target(&mut self, now: Time, flow: usize, target: &Target) {
        if let Some(call) = self.call(flow) {
            let time_us = micros(now);
            let call = call.call_mut();
            call.targets.push(RateRow { time_us, bps: target.media_rate.bps() });
        }
    }
}
