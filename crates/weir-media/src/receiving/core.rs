//! The common part of [`MediaReceiver`](crate::MediaReceiver) and
//! [`ReceivingEndpoint`](super::ReceivingEndpoint): arrivals in, reports and requests out.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{Arrival, ArrivalTime, Ecn, Receiver, Report, SendTime, Stamp};
use weir_units::{DataRate, TimeDelta};
use weir_wire::seq::{TimestampUnwrapper, Unwrapper};

use super::departures::DepartureTimes;
use super::packet::ArrivedPacket;
use super::stream::ReceivedStream;
use crate::config::CountedBytes;
use crate::numbers_ahead::NumbersAhead;
use crate::report_codec::{PacketReports, ReportWriter};
use crate::rtcp_interval::RtcpInterval;

/// Parts from which a [`ReceivingCore`] is made.
#[derive(Debug)]
pub(crate) struct CoreParts {
    /// Source identifier of the receiver.
    pub(crate) ssrc: u32,
    /// The controller's receiver half.
    pub(crate) receiver: Box<dyn Receiver>,
    /// Interval of additional per-packet reports, of a receiver half that makes none.
    pub(crate) additional_reports: Option<TimeDelta>,
    /// Writer of per-packet reports.
    pub(crate) packets: PacketReports,
    /// Intervals of receiver reports.
    pub(crate) rtcp_interval: RtcpInterval,
    /// Seed of these intervals.
    pub(crate) seed: u64,
    /// Properties of the transport.
    pub(crate) transport: TransportProperties,
    /// Bytes of a packet that count.
    pub(crate) counted: CountedBytes,
}

/// Properties of the transport, as they were agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransportProperties {
    /// Whether packets have numbers of the transport. Without them the controller's receiver half gets the count of
    /// packets instead: it sees no loss, and its reports with an echo are withheld.
    pub(crate) numbered: bool,
    /// Whether packets leave ECN-capable.
    pub(crate) ecn: bool,
    /// Whether a REMB may be written.
    pub(crate) remb: bool,
}

/// Reports on the streams of a sender.
#[derive(Debug)]
pub(crate) struct ReceivingCore {
    receiver: Box<dyn Receiver>,
    /// Makes per-packet reports beside the controller's receiver half.
    additional_reports: Option<PacketFeedback>,
    reports: ReportWriter,
    streams: Vec<ReceivedStream>,
    /// Place of the stream whose media times all packets have: the first of video.
    timing: Option<usize>,
    /// Whether a stream may ever request a packet or a key frame.
    may_request: bool,
    rtcp_interval: RtcpInterval,
    rng: Pcg64Mcg,
    report_due: Option<ArrivalTime>,
    /// Index of the first stream that the receiver report being written has not covered.
    unreported: Option<usize>,
    transport: TransportProperties,
    counted: CountedBytes,
    /// Number of packets that continued those before them.
    packets: u64,
    numbers: NumbersAhead,
    ids: Unwrapper,
    departures: DepartureTimes,
    media_times: TimestampUnwrapper,
    /// Time of the last packet or request.
    newest: Option<ArrivalTime>,
    /// Number of reports that must not be written.
    withheld: u64,
}

/// Result of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketAdmission {
    /// Its number does not continue those before it (RFC 3550 A.1).
    Stray,
    /// It counts for its stream alone.
    StreamAlone,
    /// It counts for the reports of the transport, too.
    Reported,
}

impl ReceivingCore {
    pub(crate) fn new(parts: CoreParts) -> Self {
        let additional_reports = parts.additional_reports.filter(|_| !parts.receiver.reports_packets());
        Self {
            receiver: parts.receiver,
            additional_reports: additional_reports.map(PacketFeedback::new),
            reports: ReportWriter::new(parts.ssrc, parts.packets),
            streams: Vec::new(),
            timing: None,
            may_request: false,
            rtcp_interval: parts.rtcp_interval,
            rng: Pcg64Mcg::seed_from_u64(parts.seed),
            report_due: None,
            unreported: None,
            transport: parts.transport,
            counted: parts.counted,
            packets: 0,
            numbers: NumbersAhead::default(),
            ids: Unwrapper::new(),
            departures: DepartureTimes::default(),
            media_times: TimestampUnwrapper::new(),
            newest: None,
            withheld: 0,
        }
    }

    /// Removes the stream in this place. The places of those behind it move up.
    pub(crate) fn remove_stream(&mut self, place: usize) {
        let removed = self.streams.remove(place);
        self.unreported = self.unreported.map(|next| next - usize::from(next > place));
        self.reports.remove_stream(removed.ssrc);
        if self.timing == Some(place) {
            self.media_times = TimestampUnwrapper::new();
        }
        self.timing = self.streams.iter().position(ReceivedStream::is_video);
    }

    /// Adds a stream, whose source identifier no other has.
    pub(crate) fn add_stream(&mut self, stream: ReceivedStream) {
        self.reports.add_stream(stream.ssrc, stream.repairs.is_none());
        self.may_request |= stream.may_request();
        self.streams.push(stream);
        self.timing = self.streams.iter().position(ReceivedStream::is_video);
    }

    /// The streams, in the order in which they were added.
    pub(crate) fn streams(&self) -> &[ReceivedStream] {
        &self.streams
    }

    /// The application wants a key frame of the stream `ssrc`. Returns whether there is one.
    pub(crate) fn request_key_frame(&mut self, now: ArrivalTime, ssrc: u32) -> bool {
        let is_it = |stream: &&mut ReceivedStream| stream.ssrc == ssrc && stream.repairs.is_none();
        let Some(stream) = self.streams.iter_mut().find(is_it) else { return false };
        stream.request_key_frame();
        self.may_request = true;
        self.newest = Some(now);
        true
    }

    /// Number of reports of the controller's receiver half that must not be written.
    pub(crate) fn withheld(&self) -> u64 {
        self.withheld
    }

    /// Place of the stream `ssrc` in the order in which they were added.
    pub(crate) fn place(&self, ssrc: u32) -> Option<usize> {
        self.streams.iter().position(|stream| stream.ssrc == ssrc)
    }

    /// A packet has arrived, of the stream in this place where the streams are known. A packet whose number is thousands
    /// from those before it is dropped unless the next number follows (RFC 3550 A.1). `observe` gets the arrival that
    /// counts for reports.
    #[inline]
    pub(crate) fn on_packet(
        &mut self,
        now: ArrivalTime,
        place: Option<usize>,
        packet: &ArrivedPacket,
        observe: impl FnOnce(&Arrival),
    ) -> PacketAdmission {
        let stream = place.and_then(|place| self.streams.get_mut(place));
        let continues = match (packet.number, stream) {
            (Some(number), _) => self.numbers.admit(number),
            (None, Some(stream)) => stream.admit(packet.sequence),
            (None, None) => false,
        };
        if !continues {
            return PacketAdmission::Stray;
        }
        // The next report is never further away than an interval, even if the clock was set back.
        let latest = now + self.rtcp_interval.longest();
        let due = self.report_due.unwrap_or_else(|| now + self.rtcp_interval.draw(&mut self.rng));
        self.report_due = Some(due.min(latest));
        self.newest = Some(now);
        let media_time = self.on_stream(now, place, packet);
        self.packets += 1;
        let number = packet.number.map(|number| self.ids.unwrap(number));
        let departure = packet.departure.map(|departure| self.departures.of(now, departure));
        let size = self.counted.of(u64::from(packet.header), packet.len_behind_header()).1;
        let mut arrival = Arrival {
            ecn: packet.ecn,
            media_time,
            marker: packet.marker,
            stamp: packet.stamp.map_or_else(Stamp::default, |stamp| Stamp {
                rtt: TimeDelta::from_nanos(stamp.rtt_nanos()),
                rate: DataRate::from_bps(u64::from(stamp.rate)),
            }),
            ..Arrival::new(number.unwrap_or(self.packets), departure.unwrap_or(SendTime::ZERO), now, size)
        };
        let per_packet = self.receiver.reports_packets();
        let known = departure.is_some() && (number.is_some() || !self.transport.numbered);
        if !per_packet && known {
            arrival.ecn = if self.transport.ecn { packet.ecn } else { Ecn::NotEct };
            self.receiver.on_arrival(&arrival);
            arrival.ecn = packet.ecn;
        }
        let by_stream = self.reports.is_by_stream();
        let named = if by_stream { place.is_some() } else { number.is_some() };
        if by_stream {
            // Streams have reports by their own numbers: this one only decides when a report is due.
            arrival.id = self.packets;
        }
        if named {
            self.additional_reports.iter_mut().for_each(|feedback| feedback.on_arrival(&arrival));
            if per_packet {
                self.receiver.on_arrival(&arrival);
            }
        }
        if !(named && (per_packet || self.additional_reports.is_some()) || known && !per_packet) {
            return PacketAdmission::StreamAlone;
        }
        observe(&arrival);
        PacketAdmission::Reported
    }

    /// Counts the packet for its stream. Returns its media time.
    #[inline]
    fn on_stream(&mut self, now: ArrivalTime, place: Option<usize>, packet: &ArrivedPacket) -> u64 {
        let Some(stream) = place.and_then(|place| self.streams.get_mut(place)) else { return 0 };
        stream.on_packet(now, packet);
        self.reports.on_packet(now, stream.ssrc, packet);
        if let (Some(repaired), Some(original)) = (stream.repairs, packet.original)
            && let Some(repaired) = self.streams.iter_mut().find(|stream| stream.ssrc == repaired)
        {
            repaired.on_retransmission(original);
        }
        if self.timing == place {
            return self.media_times.unwrap(packet.timestamp);
        }
        self.media_times.newest().unwrap_or(0)
    }

    /// A sender report of the stream `ssrc` with these middle 32 bits of its NTP time has come.
    pub(crate) fn on_sender_report(&mut self, now: ArrivalTime, ssrc: u32, compact_ntp: u32) {
        if let Some(stream) = self.streams.iter_mut().find(|stream| stream.ssrc == ssrc) {
            stream.on_sender_report(compact_ntp, now);
        }
    }

    /// The network path has changed, before the first packet of the new route.
    pub(crate) fn on_route_changed(&mut self) {
        self.receiver.on_route_changed();
        self.additional_reports.iter_mut().for_each(Receiver::on_route_changed);
    }

    /// Time of the next poll.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<ArrivalTime> {
        if self.is_urgent() {
            return self.newest;
        }
        Some(self.next_timer()).filter(|&due| due < ArrivalTime::MAX)
    }

    /// Whether a poll at `now` may have something to write.
    #[inline]
    pub(crate) fn is_due(&self, now: ArrivalTime) -> bool {
        self.next_timer() <= now || self.unreported.is_some() || self.reports.has_rest() || self.is_urgent()
    }

    /// Time of the next timer; [`ArrivalTime::MAX`] where there is none.
    #[inline]
    fn next_timer(&self) -> ArrivalTime {
        let earlier =
            |due: ArrivalTime, other: Option<ArrivalTime>| other.map_or(due, |other| due.min(other));
        let mut due = earlier(self.report_due.unwrap_or(ArrivalTime::MAX), self.receiver.next_timeout());
        if let Some(reports) = &self.additional_reports {
            due = earlier(due, reports.next_timeout());
        }
        self.requesting().iter().fold(due, |due, stream| earlier(due, stream.next_request()))
    }

    /// Whether a key frame request is due at once.
    #[inline]
    fn is_urgent(&self) -> bool {
        self.requesting().iter().any(ReceivedStream::is_urgent)
    }

    /// The streams, if any of them may request a packet or a key frame.
    #[inline]
    fn requesting(&self) -> &[ReceivedStream] {
        if self.may_request { &self.streams } else { &[] }
    }

    /// Time of the last packet or request.
    pub(crate) fn newest(&self) -> Option<ArrivalTime> {
        self.newest
    }

    /// Writes what has precedence over reports: a key frame request, the rest of a per-packet report, or a request for
    /// lost packets. Call until `None`; it is needed only while [`Self::is_due`].
    pub(crate) fn poll_requests(&mut self, now: ArrivalTime, out: &mut [u8]) -> Option<usize> {
        for stream in &mut self.streams {
            if stream.poll_key_frame(now) {
                return write_key_frame_request(&self.reports, stream, out);
            }
        }
        if let Some(written) = self.reports.write_rest(out) {
            return Some(written);
        }
        if !self.may_request {
            return None;
        }
        self.streams.iter_mut().find_map(|stream| write_nack(&self.reports, stream, now, out))
    }

    /// Writes a report that is due; call until `None`. It is needed only while [`Self::is_due`].
    pub(crate) fn poll_reports(&mut self, now: ArrivalTime, out: &mut [u8]) -> Option<usize> {
        if self.receiver.next_timeout().is_some_and(|due| due <= now)
            && let Some(report) = self.receiver.poll_report(now)
        {
            let forbidden = match report {
                Report::Ceiling(_) => !self.transport.remb,
                Report::Native { .. } => !self.transport.numbered,
                Report::Packets { .. } | Report::Reception(_) => false,
            };
            if forbidden {
                self.withheld += 1;
            } else if let Some(written) = self.reports.write(&report, out) {
                return Some(written);
            }
        }
        if let Some(feedback) = &mut self.additional_reports
            && let Some(report) = feedback.poll_report(now)
            && let Some(written) = self.reports.write(&report, out)
        {
            return Some(written);
        }
        if self.report_due.is_some_and(|due| due <= now) {
            self.report_due = Some(now + self.rtcp_interval.draw(&mut self.rng));
            self.unreported = Some(0);
        }
        self.write_reception(now, out)
    }

    /// Writes a receiver report on the streams that were not covered yet.
    fn write_reception(&mut self, now: ArrivalTime, out: &mut [u8]) -> Option<usize> {
        let mut next = self.unreported?;
        let streams = &mut self.streams;
        let reports = core::iter::from_fn(|| {
            while let Some(stream) = streams.get_mut(next) {
                next += 1;
                if let Some(report) = stream.report(now) {
                    return Some((stream.ssrc, report));
                }
            }
            None
        });
        let written = self.reports.write_reception(reports, out);
        self.unreported = Some(next).filter(|&next| written.is_some() && next < self.streams.len());
        written
    }

    /// Writer of the reports.
    pub(crate) fn reports(&self) -> &ReportWriter {
        &self.reports
    }

    /// The controller's receiver half.
    pub(crate) fn receiver(&self) -> &dyn Receiver {
        &*self.receiver
    }
}

/// Writes a request for lost packets of `stream`, or for a key frame where too many are lost.
fn write_nack(
    reports: &ReportWriter,
    stream: &mut ReceivedStream,
    now: ArrivalTime,
    out: &mut [u8],
) -> Option<usize> {
    let nacks = stream.nacks.as_mut()?;
    if nacks.take_key_frame_request() {
        return write_key_frame_request(reports, stream, out);
    }
    nacks.next_timeout().filter(|&due| due <= now)?;
    let (length, packets) = reports.write_nack(stream.ssrc, nacks.due(now), out)?;
    nacks.on_requested(now, packets);
    stream.nack_count += 1;
    Some(length)
}

fn write_key_frame_request(
    reports: &ReportWriter,
    stream: &mut ReceivedStream,
    out: &mut [u8],
) -> Option<usize> {
    let length = reports.write_key_frame_request(stream.ssrc, out)?;
    stream.pli_count += 1;
    Some(length)
}
