//! The receiving end of a media flow: unwraps the fields of the wire, passes arrivals to the controller's receiver
//! half, reports.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use weir_cc::coupled::Statistics;
use weir_cc::coupled::sbd::ArrivalStatistics;
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{Arrival, ArrivalTime, Ecn, Receiver, SendTime, Stamp};
use weir_units::{DataRate, TimeDelta};
use weir_wire::abs_send_time::{AbsSendTime, AbsSendTimeUnwrapper};
use weir_wire::media::MediaHeader;
use weir_wire::rtcp::{self, Message};
use weir_wire::seq::{TimestampUnwrapper, Unwrapper};

use crate::chromium::NackList;
use crate::config::CountedBytes;
use crate::config::MediaConfig;
use crate::detection::DetectionSide;
use crate::key_frames::KeyFrameRequests;
use crate::numbers_ahead::NumbersAhead;
use crate::reception::ReceptionStatistics;
use crate::report_codec::ReportWriter;
use crate::rtcp_interval::RtcpInterval;
use crate::sources::{Kind, Sources};

/// The receiving end of a media flow.
#[derive(Debug)]
pub struct MediaReceiver {
    receiver: Box<dyn Receiver>,
    /// Makes per-packet reports beside the controller's receiver half ([`MediaConfig::witness`]).
    witness: Option<PacketFeedback>,
    /// Statistics for shared bottleneck detection.
    detected: Option<Box<DetectionStatistics>>,
    rtcp_interval: RtcpInterval,
    /// The streams that are reported on.
    sources: Sources,
    reports: ReportWriter,
    /// Reception statistics of each stream.
    statistics: [ReceptionStatistics; 3],
    /// Lost video that is requested again.
    nacks: Option<NackList>,
    key_frames: Option<KeyFrameRequests>,
    /// Whether packets leave ECN-capable.
    capable: bool,
    numbers: NumbersAhead,
    ids: Unwrapper,
    departures: AbsSendTimeUnwrapper,
    /// Departure of the first packet, as [`first_departure`] reads it.
    departed: Option<SendTime>,
    media_times: TimestampUnwrapper,
    rng: Pcg64Mcg,
    report_due: Option<ArrivalTime>,
    /// Arrival time of the last packet.
    newest: Option<ArrivalTime>,
    /// Packets of sources that the flow does not have.
    unknown_packets: u64,
    counted: CountedBytes,
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
        let witness = config.witness.filter(|_| !receiver.reports_packets());
        let detected = config.detection.and_then(|detection| detection.at(DetectionSide::Receiver));
        let detected = detected.and_then(|config| ArrivalStatistics::new(config).ok());
        Self {
            receiver,
            witness: witness.map(PacketFeedback::new),
            detected: detected
                .map(|statistics| Box::new(DetectionStatistics { statistics, unreported: None, anew: true })),
            rtcp_interval: RtcpInterval::of(&config),
            sources,
            reports: ReportWriter::new(config.packet_format, ssrc, sources),
            statistics: Default::default(),
            nacks: config.retransmits().then(NackList::default),
            key_frames: config.key_frame_requests.map(KeyFrameRequests::new),
            capable: config.ecn != Ecn::NotEct,
            numbers: NumbersAhead::default(),
            ids: Unwrapper::new(),
            departures: AbsSendTimeUnwrapper::new(),
            departed: None,
            media_times: TimestampUnwrapper::new(),
            rng: Pcg64Mcg::seed_from_u64(rtcp),
            report_due: None,
            newest: None,
            unknown_packets: 0,
            counted: config.counted,
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
        let Some(kind) = self.sources.kind(header.ssrc) else {
            self.unknown_packets += 1;
            return;
        };
        if !self.numbers.admit(header.transport_sequence) {
            return;
        }
        // The next report is never further away than an interval, even if the clock was set back.
        let latest = now + self.rtcp_interval.longest();
        let due = self.report_due.unwrap_or_else(|| now + self.rtcp_interval.draw(&mut self.rng));
        self.report_due = Some(due.min(latest));
        let elapsed = self.newest.replace(now).map_or(TimeDelta::ZERO, |newest| now - newest);
        let ticks = kind.ticks(now - ArrivalTime::ZERO);
        self.statistics[kind as usize].on_packet(header.sequence, header.timestamp, ticks);
        self.reports.on_packet(header.ssrc, header.transport_sequence, header.sequence);
        if let Some(nacks) = &mut self.nacks {
            match (kind, header.original) {
                (Kind::Video, _) => nacks.on_packet(now, header.sequence),
                (Kind::Retransmission, Some(original)) => nacks.on_retransmission(original),
                _ => {}
            }
        }
        if let Some(requests) = self.key_frames.as_mut().filter(|_| kind == Kind::Video) {
            requests.on_packet(now, header.sequence, header.frame_marking);
        }
        let departed = *self.departed.get_or_insert_with(|| first_departure(now, header.abs_send_time));
        let since = self.departures.unwrap_after(header.abs_send_time, elapsed.nanos());
        let arrival = Arrival {
            id: self.ids.unwrap(header.transport_sequence),
            departure: departed + TimeDelta::from_nanos(since),
            at: now,
            size: self.counted.of(header.wire_len(), payload).1,
            ecn,
            media_time: match kind {
                Kind::Video => self.media_times.unwrap(header.timestamp),
                Kind::Audio | Kind::Retransmission => self.media_times.newest().unwrap_or(0),
            },
            marker: header.marker,
            stamp: header.stamp.map_or_else(Stamp::default, |stamp| Stamp {
                rtt: TimeDelta::from_nanos(stamp.rtt_nanos()),
                rate: DataRate::from_bps(u64::from(stamp.rate)),
            }),
        };
        let possible = self.capable || self.receiver.reports_packets();
        let believed = if possible { ecn } else { Ecn::NotEct };
        self.receiver.on_arrival(&Arrival { ecn: believed, ..arrival });
        self.witness.iter_mut().for_each(|witness| witness.on_arrival(&arrival));
        if let Some(detected) = &mut self.detected {
            detected.statistics.on_arrival(&arrival);
            detected.unreported = detected.statistics.poll().or(detected.unreported);
        }
    }

    /// An RTCP compound packet has come.
    pub fn on_rtcp(&mut self, now: ArrivalTime, bytes: &[u8]) {
        for message in rtcp::messages(bytes).filter_map(Result::ok) {
            if let Message::SenderReport(report) = message
                && let Some(kind) = self.sources.kind(report.ssrc)
            {
                self.statistics[kind as usize].on_sender_report(report.info.ntp.middle(), now);
            }
        }
    }

    /// The network path has changed, and this end knows it. Call this with the first packet of the new route, before
    /// [`Self::on_packet`].
    pub fn on_route_changed(&mut self) {
        self.receiver.on_route_changed();
        self.witness.iter_mut().for_each(Receiver::on_route_changed);
        if let Some(DetectionStatistics { statistics, unreported, anew }) = self.detected.as_deref_mut() {
            statistics.reset();
            (*unreported, *anew) = (None, true);
        }
    }

    /// Time of the next call of [`Self::poll_rtcp`].
    pub fn next_timeout(&self) -> Option<ArrivalTime> {
        if self.key_frames.as_ref().is_some_and(KeyFrameRequests::is_due) {
            return self.newest;
        }
        if self.detected.as_ref().is_some_and(|detected| detected.unreported.is_some()) {
            return self.newest;
        }
        if self.nacks.as_ref().is_some_and(NackList::wants_key_frame) {
            return self.newest;
        }
        let witness = self.witness.as_ref().and_then(Receiver::next_timeout);
        let nacks = self.nacks.as_ref().and_then(NackList::next_timeout);
        [self.receiver.next_timeout(), witness, nacks, self.report_due].into_iter().flatten().min()
    }

    /// Writes the RTCP packet that is due into `out` and returns its length; call until `None`.
    pub fn poll_rtcp(&mut self, now: ArrivalTime, out: &mut [u8]) -> Option<usize> {
        if self.key_frames.as_mut().is_some_and(|requests| requests.poll(now)) {
            return self.reports.write_key_frame_request(out);
        }
        if let Some(written) = self.reports.write_rest(out) {
            return Some(written);
        }
        if let Some(written) = self.write_nack(now, out) {
            return Some(written);
        }
        if let Some(DetectionStatistics { unreported, anew, .. }) = self.detected.as_deref_mut()
            && let Some(statistics) = unreported.take()
        {
            return self.reports.write_statistics(&statistics, core::mem::take(anew), out);
        }
        if self.receiver.next_timeout().is_some_and(|due| due <= now)
            && let Some(law) = self.receiver.poll_report(now)
            && let Some(written) = self.reports.write(&law, out)
        {
            return Some(written);
        }
        if let Some(witness) = &mut self.witness
            && let Some(report) = witness.poll_report(now)
            && let Some(written) = self.reports.write(&report, out)
        {
            return Some(written);
        }
        if self.report_due.is_some_and(|due| due <= now) {
            self.report_due = Some(now + self.rtcp_interval.draw(&mut self.rng));
            let statistics = &mut self.statistics;
            return self.reports.write_reception(|kind| statistics[kind as usize].report(now), out);
        }
        None
    }

    /// Writes a request for lost video, or for a key frame where too much is lost.
    fn write_nack(&mut self, now: ArrivalTime, out: &mut [u8]) -> Option<usize> {
        let nacks = self.nacks.as_mut()?;
        if nacks.take_key_frame_request() {
            return self.reports.write_key_frame_request(out);
        }
        nacks.next_timeout().filter(|&due| due <= now)?;
        let (length, packets) = self.reports.write_nack(nacks.due(now), out)?;
        nacks.on_requested(now, packets);
        Some(length)
    }

    /// The controller's receiver half, to observe its signals.
    pub fn receiver(&self) -> &dyn Receiver {
        &*self.receiver
    }
}

/// The time nearest to the receiver's clock among those that the 24 bits may stand for, which are 64 s apart. With
/// synchronised clocks this is the sender's own time.
fn first_departure(now: ArrivalTime, time: AbsSendTime) -> SendTime {
    let before = time.nanos_since(AbsSendTime::from_nanos(now.nanos()));
    SendTime::from_nanos(now.nanos().saturating_add(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_departure_is_the_nearest_that_the_bits_may_mean() {
        let departure = |arrived: i64, left: i64| {
            let left = AbsSendTime::from_nanos(left * 1_000_000);
            first_departure(ArrivalTime::from_millis(arrived), left).nanos() / 1_000_000
        };
        assert_eq!(departure(2_125, 2_000), 2_000);
        // The sender's 24 bits have wrapped at 64 and 128 s.
        assert_eq!(departure(128_100, 128_000), 128_000);
        assert_eq!(departure(128_100, 127_900), 127_900);
        // A clock that is 7168 s ahead, 112 times 64 s.
        assert_eq!(departure(7_178_100, 10_000), 7_178_000);
    }
}
