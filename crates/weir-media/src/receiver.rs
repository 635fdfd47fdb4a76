//! The receiving end of a media flow: unwraps the fields of the wire, passes arrivals to the controller's receiver
//! half, reports.

use weir_cc::coupled::Statistics;
use weir_cc::coupled::sbd::ArrivalStatistics;
use weir_cc::{ArrivalTime, Ecn, PacketFormat, Receiver};
use weir_wire::media::MediaHeader;
use weir_wire::rtcp::{self, Message};

use crate::config::MediaConfig;
use crate::detection::DetectionSide;
use crate::feedback::FeedbackWriter;
use crate::key_frames::KeyFrameRequests;
use crate::nack_list::NackList;
use crate::receiving::{
    ArrivedPacket, CoreParts, PacketDeparture, ReceivedStream, ReceivingCore, TransportProperties,
};
use crate::report_codec::PacketReports;
use crate::rtcp_interval::RtcpInterval;
use crate::sources::{Kind, Sources};

/// The receiving end of a media flow.
#[derive(Debug)]
pub struct MediaReceiver {
    core: ReceivingCore,
    /// Statistics for shared bottleneck detection.
    detected: Option<Box<DetectionStatistics>>,
    /// Packets of sources that the flow does not have.
    unknown_packets: u64,
}

#[derive(Debug)]
struct DetectionStatistics {
    statistics: ArrivalStatistics,
    /// Statistics to be reported.
    unreported: Option<Statistics>,
    /// Whether the next report is the first of a path.
    anew: bool,
}

impl MediaReceiver {
    /// A receiver `ssrc` of the flow whose video has the source identifier `source`. `rtcp` seeds the randomness of the
    /// reports' times.
    pub fn new(receiver: Box<dyn Receiver>, config: MediaConfig, ssrc: u32, source: u32, rtcp: u64) -> Self {
        let sources = Sources::new(source, &config);
        let detected = config.detection.and_then(|detection| detection.at(DetectionSide::Receiver));
        let detected = detected.and_then(|config| ArrivalStatistics::new(config).ok());
        let mut core = ReceivingCore::new(CoreParts {
            ssrc,
            receiver,
            additional_reports: config.additional_reports,
            packets: PacketReports::Numbered(Box::new(packet_writer(config.packet_format, ssrc, sources))),
            rtcp_interval: RtcpInterval::of(&config),
            seed: rtcp,
            transport: TransportProperties { numbered: true, ecn: config.ecn != Ecn::NotEct, remb: true },
            counted: config.counted,
        });
        sources.all().for_each(|(kind, ssrc)| core.add_stream(stream(kind, ssrc, sources, &config)));
        Self {
            core,
            detected: detected
                .map(|statistics| Box::new(DetectionStatistics { statistics, unreported: None, anew: true })),
            unknown_packets: 0,
        }
    }

    /// Packets of sources that the flow does not have; they are ignored.
    pub fn unknown_packets(&self) -> u64 {
        self.unknown_packets
    }

    /// A media packet has arrived with `payload` bytes behind its header. A packet whose number is thousands from those
    /// before it is dropped unless the next number follows (RFC 3550 A.1). A mark (CE) counts for a controller's
    /// receiver half only where packets leave ECN-capable; per-packet reports carry it in any case.
    pub fn on_packet(&mut self, now: ArrivalTime, header: &MediaHeader, payload: u16, ecn: Ecn) {
        let Some(place) = self.core.place(header.ssrc) else {
            self.unknown_packets += 1;
            return;
        };
        let packet = ArrivedPacket {
            ssrc: Some(header.ssrc),
            sequence: header.sequence,
            timestamp: header.timestamp,
            marker: header.marker,
            number: Some(header.transport_sequence),
            departure: Some(PacketDeparture::Wire(header.abs_send_time)),
            header: header.wire_len() as u16,
            payload,
            padding: 0,
            ecn,
            original: header.original,
            frame_marking: header.frame_marking,
            stamp: header.stamp,
        };
        self.core.on_packet(now, Some(place), &packet, |arrival| {
            if let Some(detected) = &mut self.detected {
                detected.statistics.on_arrival(arrival);
                detected.unreported = detected.statistics.poll().or(detected.unreported);
            }
        });
    }

    /// An RTCP compound packet has come.
    pub fn on_rtcp(&mut self, now: ArrivalTime, bytes: &[u8]) {
        for message in rtcp::messages(bytes).filter_map(Result::ok) {
            if let Message::SenderReport(report) = message {
                self.core.on_sender_report(now, report.ssrc, report.info.ntp.middle());
            }
        }
    }

    /// The network path has changed, and this end knows it. Call this with the first packet of the new route, before
    /// [`Self::on_packet`].
    pub fn on_route_changed(&mut self) {
        self.core.on_route_changed();
        if let Some(DetectionStatistics { statistics, unreported, anew }) = self.detected.as_deref_mut() {
            statistics.reset();
            (*unreported, *anew) = (None, true);
        }
    }

    /// Time of the next call of [`Self::poll_rtcp`].
    #[inline]
    pub fn next_timeout(&self) -> Option<ArrivalTime> {
        if self.has_statistics() {
            return self.core.newest();
        }
        self.core.next_timeout()
    }

    /// Writes the RTCP packet that is due into `out` and returns its length; call until `None`.
    #[inline]
    pub fn poll_rtcp(&mut self, now: ArrivalTime, out: &mut [u8]) -> Option<usize> {
        if self.core.is_due(now) || self.has_statistics() { self.write_rtcp(now, out) } else { None }
    }

    /// Whether there are statistics to be reported.
    #[inline]
    fn has_statistics(&self) -> bool {
        self.detected.as_ref().is_some_and(|detected| detected.unreported.is_some())
    }

    #[inline(never)]
    fn write_rtcp(&mut self, now: ArrivalTime, out: &mut [u8]) -> Option<usize> {
        if let Some(written) = self.core.poll_requests(now, out) {
            return Some(written);
        }
        if let Some(DetectionStatistics { unreported, anew, .. }) = self.detected.as_deref_mut()
            && let Some(statistics) = unreported.take()
        {
            return self.core.reports().write_statistics(&statistics, core::mem::take(anew), out);
        }
        self.core.poll_reports(now, out)
    }

    /// The controller's receiver half, to observe its signals.
    pub fn receiver(&self) -> &dyn Receiver {
        self.core.receiver()
    }
}

/// The writer of per-packet reports on `sources`.
fn packet_writer(format: PacketFormat, ssrc: u32, sources: Sources) -> FeedbackWriter {
    match format {
        PacketFormat::TransportWide => FeedbackWriter::transport_wide(ssrc, sources.video),
        PacketFormat::Rfc8888 if sources.all().count() == 1 => FeedbackWriter::rfc_8888(ssrc, sources.video),
        PacketFormat::Rfc8888 => {
            let streams: Vec<u32> = sources.all().map(|(_, ssrc)| ssrc).collect();
            FeedbackWriter::rfc_8888_by_stream(ssrc, &streams)
        }
    }
}

/// The stream `ssrc` of a flow.
fn stream(kind: Kind, ssrc: u32, sources: Sources, config: &MediaConfig) -> ReceivedStream {
    let mut stream = ReceivedStream::new(ssrc, kind.clock_rate());
    match kind {
        Kind::Video => {
            stream.nacks = config.retransmits().then(NackList::default);
            stream.key_frames = config.key_frame_requests.map(KeyFrameRequests::new);
        }
        Kind::Audio => {}
        Kind::Retransmission => stream.repairs = Some(sources.video),
    }
    stream
}
