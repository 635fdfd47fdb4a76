//! The receiving endpoint: packets in, RTCP out.

use weir_cc::{ArrivalTime, Ecn, PacketFormat, Receiver};
use weir_units::TimeDelta;
use weir_wire::rtcp::{self, Message};
use weir_wire::seq::Unwrapper;

use super::config::{IncomingStream, ReceivingConfig, UnknownStreams};
use super::core::{CoreParts, PacketAdmission, ReceivingCore, TransportProperties};
use super::packet::ArrivedPacket;
use super::received::{self, ReceivedPacket};
use super::refusal::{ConfigRefusal, ReceivingError};
use super::stats::{InboundStreamStats, ReceivingStats};
use super::stream::ReceivedStream;
use crate::feedback::{FeedbackWriter, StreamFeedback};
use crate::key_frames::KeyFrameRequests;
use crate::nack_list::NackList;
use crate::report_codec::PacketReports;
use crate::rtcp_interval::RtcpInterval;

/// The far end of a sender, for applications with packets and sockets of their own; see the [module](super).
#[derive(Debug)]
pub struct ReceivingEndpoint {
    config: ReceivingConfig,
    core: ReceivingCore,
    /// Counts of each stream, in the order of those in `core`.
    counts: Vec<StreamCounts>,
    stats: ReceivingStats,
    /// The latest time of a call.
    latest: Option<ArrivalTime>,
}

/// Counts of a stream.
#[derive(Clone, Copy, Debug, Default)]
struct StreamCounts {
    numbers: Unwrapper,
    /// Payload type of the packets that are retransmissions, in a stream of them.
    rtx_payload_type: Option<u8>,
    /// Statistics with retransmissions, but without those that `core` has.
    stats: InboundStreamStats,
}

impl ReceivingEndpoint {
    /// An endpoint that reports on single packets: transport-wide feedback or RFC 8888.
    ///
    /// # Errors
    /// [`ConfigRefusal`] if a value is out of its range.
    pub fn new(config: ReceivingConfig) -> Result<Self, ConfigRefusal> {
        Self::with_receiver(config, Box::new(config.feedback.receiver()))
    }

    /// An endpoint with the receiver half of a controller, whose reports are sent in the controller's format. If
    /// `receiver` reports on single packets (SCReAM's), it decides when, and [`ReceivingConfig::packet_format`] is the
    /// format; [`ReceivingConfig::feedback`] is not used.
    ///
    /// # Errors
    /// [`ConfigRefusal`] if a value is out of its range.
    pub fn with_receiver(
        config: ReceivingConfig,
        receiver: Box<dyn Receiver>,
    ) -> Result<Self, ConfigRefusal> {
        config.check()?;
        let ssrc = config.ssrc;
        let packets = match config.packet_format {
            // The first stream takes the place of the source zero.
            PacketFormat::TransportWide => {
                PacketReports::Numbered(Box::new(FeedbackWriter::transport_wide(ssrc, 0)))
            }
            PacketFormat::Rfc8888 => PacketReports::ByStream(StreamFeedback::new(ssrc)),
        };
        let core = ReceivingCore::new(CoreParts {
            ssrc,
            receiver,
            additional_reports: config.additional_reports,
            packets,
            rtcp_interval: RtcpInterval::new(config.rtcp_interval, config.rtcp_spread),
            seed: config.seed,
            transport: TransportProperties {
                numbered: config.extensions.transport_sequence.is_some(),
                ecn: config.ecn,
                remb: config.remb,
            },
            counted: config.counted,
        });
        Ok(Self { config, core, counts: Vec::new(), stats: ReceivingStats::default(), latest: None })
    }

    /// Adds a stream, and that of its retransmissions.
    ///
    /// # Errors
    /// [`ConfigRefusal`] if a stream has the source identifier already, the clock rate is zero, the payload
    /// type is above 127, or key frame requests lack the extension of frame markings. The endpoint stays as it was.
    pub fn add_stream(&mut self, stream: IncomingStream) -> Result<(), ConfigRefusal> {
        if stream.clock_hz == 0 {
            return Err(ConfigRefusal::ClockRate);
        }
        let ssrcs = [Some(stream.ssrc), stream.retransmission.map(|rtx| rtx.ssrc)];
        if let Some(taken) = ssrcs.into_iter().flatten().find(|&ssrc| self.core.place(ssrc).is_some()) {
            return Err(ConfigRefusal::SourceTaken(taken));
        }
        if let Some(rtx) = stream.retransmission {
            if rtx.ssrc == stream.ssrc {
                return Err(ConfigRefusal::SourceTaken(rtx.ssrc));
            }
            if rtx.payload_type > 127 {
                return Err(ConfigRefusal::PayloadType(rtx.payload_type));
            }
        }
        if stream.key_frames.is_some() && self.config.extensions.frame_marking.is_none() {
            return Err(ConfigRefusal::FrameMarking);
        }
        let rtx_ssrc = stream.retransmission.map(|rtx| rtx.ssrc);
        let mut received = ReceivedStream::new(stream.ssrc, stream.clock_hz);
        received.nacks = stream.nack.then(NackList::default);
        received.key_frames = stream.key_frames.map(KeyFrameRequests::new);
        let stats = InboundStreamStats { ssrc: stream.ssrc, rtx_ssrc, ..InboundStreamStats::default() };
        self.core.add_stream(received);
        self.counts.push(StreamCounts { stats, ..StreamCounts::default() });
        if let Some(rtx) = stream.retransmission {
            let mut received = ReceivedStream::new(rtx.ssrc, stream.clock_hz);
            received.repairs = Some(stream.ssrc);
            self.core.add_stream(received);
            let rtx_payload_type = Some(rtx.payload_type);
            self.counts.push(StreamCounts { rtx_payload_type, ..StreamCounts::default() });
        }
        Ok(())
    }

    /// Removes the stream `ssrc` and that of its retransmissions: it has ended, as a BYE says. Returns whether there
    /// was one.
    pub fn remove_stream(&mut self, ssrc: u32) -> bool {
        let of_stream = |stream: &ReceivedStream| stream.ssrc == ssrc || stream.repairs == Some(ssrc);
        let mut removed = false;
        while let Some(place) = self.core.streams().iter().position(of_stream) {
            self.core.remove_stream(place);
            self.counts.remove(place);
            removed = true;
        }
        removed
    }

    /// The bytes of an RTP packet have come; `ecn` is the field of its IP header. Returns the packet for the
    /// application, or `None` if it must be ignored. That is a packet of an unknown stream, or one whose number is
    /// thousands from those before it, unless the next number follows (RFC 3550 A.1).
    ///
    /// # Errors
    /// [`ReceivingError`] if the bytes are malformed, or `now` is before an earlier call. The packet counts for nothing
    /// then.
    pub fn on_packet(
        &mut self,
        now: ArrivalTime,
        bytes: &[u8],
        ecn: Ecn,
    ) -> Result<Option<ReceivedPacket>, ReceivingError> {
        self.advance(now)?;
        self.read_packet(now, bytes, ecn).inspect_err(|_| self.stats.malformed_packets += 1)
    }

    fn read_packet(
        &mut self,
        now: ArrivalTime,
        bytes: &[u8],
        ecn: Ecn,
    ) -> Result<Option<ReceivedPacket>, ReceivingError> {
        let packet = received::read(bytes)?;
        let known = self.core.place(packet.ssrc);
        let rtx = known.and_then(|place| self.counts.get(place)?.rtx_payload_type);
        let arrived = received::fields(&packet, self.config.extensions, rtx, ecn)?;
        let Some(place) = known.or_else(|| self.learn(packet.ssrc)) else { return Ok(None) };
        let Some(counted) = self.take(now, Some(place), &arrived) else { return Ok(None) };
        let ssrc = match (arrived.original, self.core.streams().get(place)) {
            (Some(_), Some(stream)) => stream.repairs.unwrap_or(packet.ssrc),
            (_, _) => packet.ssrc,
        };
        let mut received = received::received(&packet, &arrived, ssrc);
        received.reported = counted.reported;
        received.number = match arrived.original {
            Some(original) => self.number_of(ssrc, original),
            None => counted.number,
        };
        Ok(Some(received))
    }

    /// A packet has arrived whose header the caller has read. Returns whether it counts: not if its stream is unknown,
    /// or its number thousands from those before it, unless the next number follows (RFC 3550 A.1).
    ///
    /// # Errors
    /// [`ReceivingError`] if `now` is before an earlier call. The packet counts for nothing then.
    pub fn on_arrival(&mut self, now: ArrivalTime, packet: &ArrivedPacket) -> Result<bool, ReceivingError> {
        self.advance(now)?;
        let place = match packet.ssrc {
            Some(ssrc) => match self.core.place(ssrc).or_else(|| self.learn(ssrc)) {
                Some(place) => Some(place),
                None => return Ok(false),
            },
            None => None,
        };
        Ok(self.take(now, place, packet).is_some())
    }

    /// RTCP of the sender has come. Its sender reports are answered in the receiver reports.
    ///
    /// # Errors
    /// [`ReceivingError::TimeWentBack`] if `now` is before an earlier call; nothing is read then. The first
    /// [`ReceivingError::Malformed`] of several messages; the others are read.
    pub fn on_rtcp(&mut self, now: ArrivalTime, bytes: &[u8]) -> Result<(), ReceivingError> {
        self.advance(now)?;
        let mut result = Ok(());
        for message in rtcp::messages(bytes) {
            match message {
                Ok(Message::SenderReport(report)) => {
                    self.core.on_sender_report(now, report.ssrc, report.info.ntp.middle());
                }
                Ok(_) => {}
                Err(error) => {
                    self.stats.malformed_rtcp += 1;
                    result = result.and(Err(error.into()));
                }
            }
        }
        result
    }

    /// The application needs a key frame of the stream `ssrc`, as its decoder says. The request is due at once. Returns
    /// whether there is such a stream.
    ///
    /// # Errors
    /// [`ReceivingError`] if `now` is before an earlier call; nothing is requested then.
    pub fn request_key_frame(&mut self, now: ArrivalTime, ssrc: u32) -> Result<bool, ReceivingError> {
        self.advance(now)?;
        Ok(self.core.request_key_frame(now, ssrc))
    }

    /// The network path has changed, and this end knows it. Call this before the first packet of the new route.
    pub fn on_route_changed(&mut self) {
        self.core.on_route_changed();
    }

    /// Time of the next call of [`Self::poll_report`], or `None` before the next packet.
    pub fn next_timeout(&self) -> Option<ArrivalTime> {
        self.core.next_timeout()
    }

    /// Writes an RTCP packet that is due to the start of `out` and returns its length; call until `None`. 1200 bytes
    /// hold every packet; what does not fit into fewer is left out. Returns `None`, with a count, if `now` is before an
    /// earlier call.
    pub fn poll_report(&mut self, now: ArrivalTime, out: &mut [u8]) -> Option<usize> {
        self.advance(now).ok()?;
        if !self.core.is_due(now) {
            return None;
        }
        let length = self.core.poll_requests(now, out).or_else(|| self.core.poll_reports(now, out))?;
        self.stats.rtcp_packets_sent += 1;
        self.stats.rtcp_bytes_sent += length as u64;
        Some(length)
    }

    /// Counts over all streams.
    pub fn stats(&self) -> ReceivingStats {
        ReceivingStats { withheld_reports: self.core.withheld(), ..self.stats }
    }

    /// Statistics of each stream, in the order in which they were added.
    pub fn streams(&self) -> impl Iterator<Item = InboundStreamStats> + '_ {
        let streams = self.core.streams().iter().zip(&self.counts);
        streams.filter(|(stream, _)| stream.repairs.is_none()).map(|(stream, counts)| {
            let statistics = stream.statistics();
            let jitter = i64::from(statistics.jitter()) * 1_000_000_000 / i64::from(stream.clock_hz.max(1));
            InboundStreamStats {
                packets_lost: statistics.cumulative_lost(),
                jitter: TimeDelta::from_nanos(jitter),
                nack_count: stream.nack_count,
                pli_count: stream.pli_count,
                ..counts.stats
            }
        })
    }

    /// Statistics of the stream `ssrc`.
    pub fn stream(&self, ssrc: u32) -> Option<InboundStreamStats> {
        self.streams().find(|stats| stats.ssrc == ssrc)
    }

    /// The controller's receiver half, to observe its signals.
    pub fn receiver(&self) -> &dyn Receiver {
        self.core.receiver()
    }

    /// Refuses a time that runs back, and the one that means never: all timers would be due for ever.
    fn advance(&mut self, now: ArrivalTime) -> Result<(), ReceivingError> {
        if now == ArrivalTime::MAX {
            self.stats.refused_times += 1;
            return Err(ReceivingError::NoTime);
        }
        if let Some(latest) = self.latest.filter(|&latest| now < latest) {
            self.stats.refused_times += 1;
            return Err(ReceivingError::TimeWentBack { now, latest });
        }
        self.latest = Some(now);
        Ok(())
    }

    /// Adds the unknown stream `ssrc`, if that is wanted. Returns its place.
    fn learn(&mut self, ssrc: u32) -> Option<usize> {
        self.stats.unknown_packets += 1;
        let UnknownStreams::Learned { clock_hz, nack, most } = self.config.unknown else { return None };
        if self.counts.len() >= most {
            return None;
        }
        self.add_stream(IncomingStream { nack, ..IncomingStream::new(ssrc, clock_hz) }).ok()?;
        self.core.place(ssrc)
    }

    /// Counts a packet, unless it is stray.
    fn take(
        &mut self,
        now: ArrivalTime,
        place: Option<usize>,
        packet: &ArrivedPacket,
    ) -> Option<CountedPacket> {
        let reported = match self.core.on_packet(now, place, packet, |_| {}) {
            PacketAdmission::Stray => {
                self.stats.stray_packets += 1;
                return None;
            }
            PacketAdmission::StreamAlone => {
                self.stats.unreported_packets += 1;
                false
            }
            PacketAdmission::Reported => true,
        };
        self.stats.packets_received += 1;
        self.stats.bytes_received += u64::from(packet.payload);
        let Some(counts) = place.and_then(|place| self.counts.get_mut(place)) else {
            return Some(CountedPacket { number: 0, reported });
        };
        let number = counts.numbers.unwrap(packet.sequence);
        let repaired = place.and_then(|place| self.core.streams().get(place)?.repairs);
        let place = repaired.and_then(|repaired| self.core.place(repaired)).or(place);
        if let Some(StreamCounts { stats, .. }) = place.and_then(|place| self.counts.get_mut(place)) {
            stats.count(now, packet, repaired.is_some());
        }
        Some(CountedPacket { number, reported })
    }

    /// The number `sequence` of the stream `ssrc` unwrapped, which does not count as one that has come.
    fn number_of(&self, ssrc: u32, sequence: u16) -> u64 {
        let counts = self.core.place(ssrc).and_then(|place| self.counts.get(place));
        counts.map_or(0, |counts| { counts.numbers }.unwrap(sequence))
    }
}

/// A packet that counts.
#[derive(Clone, Copy, Debug)]
struct CountedPacket {
    /// Its number in its stream, unwrapped.
    number: u64,
    reported: bool,
}

impl InboundStreamStats {
    /// Counts `packet`; `rtx`: whether it came in the stream of retransmissions.
    fn count(&mut self, now: ArrivalTime, packet: &ArrivedPacket, rtx: bool) {
        let payload = u64::from(packet.payload);
        self.packets_received += 1;
        self.packets_received_with_ect1 += u64::from(packet.ecn == Ecn::Ect1);
        self.packets_received_with_ce += u64::from(packet.ecn == Ecn::Ce);
        self.bytes_received += payload;
        self.header_bytes_received += u64::from(packet.header) + u64::from(packet.padding);
        self.last_packet_received_timestamp = Some(now);
        if rtx && packet.original.is_some() {
            self.retransmitted_packets_received += 1;
            self.retransmitted_bytes_received += payload;
        }
    }
}
