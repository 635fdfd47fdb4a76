//! The RTP streams of a sender under one controller, such as video with audio beside it. Each has a source identifier,
//! sequence numbers and a media clock of its own; the history numbers the packets of all.

use weir_cc::{ReceiverReportTracker, ReceptionReport, SendTime};
use weir_wire::ntp::NtpTime;
use weir_wire::rtcp::{ReportBlock, SenderInfo, SenderReport};

use crate::feedback::StreamNumbers;
use crate::sources::{NANOS_PER_SECOND, StreamIdentity, ticks};

/// A sender's state of its streams. The first one is the main stream.
#[derive(Debug)]
pub(crate) struct SenderStreams {
    streams: Vec<Stream>,
    /// Streams of other senders over the same transport.
    beside: Vec<u32>,
    /// Number of each packet in the history, where reports name packets by stream and sequence number.
    numbers: Option<StreamNumbers>,
    /// The last sender reports, by the middle of their NTP time; the next one replaces the oldest.
    sender_reports: [u32; SENDER_REPORTS],
    next_sender_report: usize,
    /// Place at which the sender reports go on that did not fit into one packet.
    next_reported: usize,
    refused: u64,
}

/// Number of sender reports that are remembered. Receiver reports that refer to an older one are not believed.
const SENDER_REPORTS: usize = 32;

#[derive(Debug)]
struct Stream {
    identity: StreamIdentity,
    /// Sequence number of the next packet.
    next: u16,
    /// Sequence number of the first packet.
    first: Option<u16>,
    /// RTP timestamp of the last media packet.
    timestamp: u32,
    packets: u32,
    octets: u32,
    /// Totals of the reports on the stream.
    totals: ReceiverReportTracker,
}

impl SenderStreams {
    /// Streams whose packets are named by stream and sequence number in reports if `by_stream` says so (RFC 8888).
    pub(crate) fn new(identities: &[StreamIdentity], by_stream: bool) -> Self {
        let numbers = match identities {
            [only] => Some(StreamNumbers::same_as_history(only.ssrc)),
            _ => by_stream.then(StreamNumbers::new),
        };
        Self {
            streams: identities.iter().copied().map(Stream::new).collect(),
            beside: Vec::new(),
            numbers,
            sender_reports: [0; SENDER_REPORTS],
            next_sender_report: 0,
            next_reported: 0,
            refused: 0,
        }
    }

    /// Adds a stream behind the others, and returns its place.
    pub(crate) fn add(&mut self, identity: StreamIdentity) -> usize {
        self.streams.push(Stream::new(identity));
        self.streams.len() - 1
    }

    /// Place of the stream with the identifier `ssrc`.
    pub(crate) fn find(&self, ssrc: u32) -> Option<usize> {
        self.streams.iter().position(|stream| stream.identity.ssrc == ssrc)
    }

    /// Place of the stream with the identifier `ssrc`, if reports cover it.
    pub(crate) fn find_reported(&self, ssrc: u32) -> Option<usize> {
        self.find(ssrc).filter(|&place| self.streams[place].identity.reported)
    }

    /// Other senders have these streams over the same transport.
    pub(crate) fn share_transport(&mut self, sources: &[u32]) {
        if self.beside != sources {
            self.beside = sources.to_vec();
        }
    }

    /// Whether transport-wide feedback that names the stream `ssrc` covers packets of these streams.
    pub(crate) fn shares_transport_with(&self, ssrc: u32) -> bool {
        self.find_reported(ssrc).is_some() || self.beside.contains(&ssrc)
    }

    /// Identifiers of the streams that reports cover.
    pub(crate) fn reported(&self) -> impl Iterator<Item = u32> {
        self.streams.iter().filter(|stream| stream.identity.reported).map(|stream| stream.identity.ssrc)
    }

    /// Source identifier, sequence number and timestamp of a packet that leaves with the number `id`: a media packet of
    /// `timestamp` with `octets`, or padding. Padding shares the last packet's timestamp and counts no octets (RFC 3550
    /// §6.4.1).
    pub(crate) fn on_sent(
        &mut self,
        place: usize,
        id: u64,
        timestamp: Option<u32>,
        octets: u16,
    ) -> (u32, u16, u32) {
        let stream = &mut self.streams[place];
        let ssrc = stream.identity.ssrc;
        let sequence = stream.next;
        stream.next = sequence.wrapping_add(1);
        stream.first.get_or_insert(sequence);
        if let Some(numbers) = &mut self.numbers {
            numbers.on_sent(ssrc, sequence, id);
        }
        stream.packets = stream.packets.wrapping_add(1);
        if let Some(timestamp) = timestamp {
            stream.timestamp = timestamp;
            stream.octets = stream.octets.wrapping_add(u32::from(octets));
        }
        (ssrc, sequence, stream.timestamp)
    }

    /// [`Self::on_sent`] of a packet that has a sequence number already.
    pub(crate) fn on_sent_as(
        &mut self,
        place: usize,
        sequence: u16,
        id: u64,
        timestamp: Option<u32>,
        octets: u16,
    ) {
        self.streams[place].next = sequence;
        self.on_sent(place, id, timestamp, octets);
    }

    /// Number of each packet in the history, where reports name packets by stream and sequence number.
    pub(crate) fn numbers(&self) -> Option<&StreamNumbers> {
        self.numbers.as_ref()
    }

    /// Writes a sender report for each stream that has sent packets, as many as fit. The next call goes on behind them
    /// ([`Self::has_more_reports`]). Returns `None` if no stream has sent packets, or no report fits.
    pub(crate) fn write_sender_reports(&mut self, now: SendTime, out: &mut [u8]) -> Option<usize> {
        let (mut length, mut next) = (0, 0);
        for (place, stream) in self.streams.iter().enumerate().skip(self.next_reported) {
            if !stream.identity.reported || stream.packets == 0 {
                continue;
            }
            let counts = (stream.packets, stream.octets);
            let Some(written) = write_sender_report(now, stream.identity, counts, &mut out[length..]) else {
                next = place;
                break;
            };
            length += written;
        }
        self.next_reported = next;
        if length == 0 {
            return None;
        }
        // Several packets at one time are one report to those that answer.
        let middle = ntp(now).middle();
        let last = self.next_sender_report.wrapping_sub(1) % SENDER_REPORTS;
        if self.sender_reports[last] != middle {
            self.sender_reports[self.next_sender_report % SENDER_REPORTS] = middle;
            self.next_sender_report = self.next_sender_report.wrapping_add(1);
        }
        Some(length)
    }

    /// Whether streams have sent packets that the sender reports do not cover yet.
    pub(crate) fn has_more_reports(&self) -> bool {
        self.next_reported > 0
    }

    /// Merges the blocks of a report to one report on all streams. Of several streams it has the sums of the last
    /// totals, and the losses since the report before weighted by the packets expected of each. The other values are
    /// those of the main stream, or of another one without a block on it. Impossible blocks are left out and counted.
    pub(crate) fn reception(&mut self, blocks: impl Iterator<Item = ReportBlock>) -> Option<ReceptionReport> {
        let mut whole: Option<ReceptionReport> = None;
        let (mut lost, mut expected) = (0_u64, 0_u64);
        for mut block in blocks {
            let Some(place) = self.find(block.ssrc) else { continue };
            let Some(weight) = self.take_totals(place, &block) else { continue };
            if !self.has_sent(block.last_sender_report) {
                self.refused += 1;
                block.last_sender_report = 0;
            }
            lost += u64::from(block.fraction_lost) * weight;
            expected += weight;
            if place == 0 || whole.is_none() {
                whole = Some(reception(&block));
            }
        }
        let fraction_lost = ((lost + expected / 2).checked_div(expected)?) as u8;
        let totals =
            || self.streams.iter().filter(|stream| stream.identity.reported).map(|stream| stream.totals);
        let cumulative_lost = totals().fold(0_i32, |sum, totals| sum.saturating_add(totals.lost()));
        let highest_sequence =
            totals().fold(0_u32, |sum, totals| sum.wrapping_add(totals.highest().unwrap_or(0)));
        whole.map(|whole| ReceptionReport { fraction_lost, cumulative_lost, highest_sequence, ..whole })
    }

    /// The blocks of a report on the stream at `place`, whether or not they are newer than those taken. Impossible
    /// blocks are left out.
    pub(crate) fn reports_on(
        &self,
        place: usize,
        blocks: impl Iterator<Item = ReportBlock>,
    ) -> impl Iterator<Item = ReceptionReport> {
        let stream = &self.streams[place];
        blocks.filter(|block| block.ssrc == stream.identity.ssrc && stream.can_be(block)).map(|block| {
            let last = block.last_sender_report;
            let last_sender_report = if self.has_sent(last) { last } else { 0 };
            ReceptionReport { last_sender_report, ..reception(&block) }
        })
    }

    /// Takes the totals of a stream. Returns the number of packets expected of it since the block before, at least one.
    /// The result is `None` if the totals are older than those taken last, or impossible.
    fn take_totals(&mut self, place: usize, block: &ReportBlock) -> Option<u64> {
        let stream = &mut self.streams[place];
        let end = stream.end(block);
        if !stream.can_be(block) {
            self.refused += 1;
            return None;
        }
        let first = stream.totals.highest().is_none();
        let (_, expected) = stream.totals.on_report(block.highest_sequence, block.cumulative_lost)?;
        Some(if first { u64::from(end) } else { expected }.max(1))
    }

    /// Whether a sender report with this middle of its NTP time is among the remembered ones; zero stands for no sender
    /// report.
    fn has_sent(&self, sender_report: u32) -> bool {
        sender_report == 0 || self.sender_reports.contains(&sender_report)
    }

    /// Number of blocks with impossible values.
    pub(crate) fn refused(&self) -> u64 {
        self.refused + self.streams.iter().map(|stream| stream.totals.refused()).sum::<u64>()
    }
}

impl Stream {
    fn new(identity: StreamIdentity) -> Self {
        Self {
            identity,
            next: 0,
            first: None,
            timestamp: 0,
            packets: 0,
            octets: 0,
            totals: ReceiverReportTracker::default(),
        }
    }

    /// Number of packets up to the highest that the block names.
    fn end(&self, block: &ReportBlock) -> u32 {
        block.highest_sequence.wrapping_add(1).wrapping_sub(u32::from(self.first.unwrap_or(0)))
    }

    /// Whether a block covers only packets that were sent, and has no more losses than packets.
    fn can_be(&self, block: &ReportBlock) -> bool {
        let end = self.end(block);
        self.packets.wrapping_sub(end) as i32 >= 0 && i64::from(block.cumulative_lost) <= i64::from(end)
    }
}

/// NTP time counts from the sender clock's zero: only its differences are used.
fn ntp(at: SendTime) -> NtpTime {
    // Whole seconds and the rest apart, which 64 bits can hold.
    let (seconds, rest) = (at.nanos() / NANOS_PER_SECOND, at.nanos() % NANOS_PER_SECOND);
    NtpTime((seconds << 32).wrapping_add((rest << 32) / NANOS_PER_SECOND) as u64)
}

/// Writes a sender report of a stream, with its counts of packets and octets.
pub(crate) fn write_sender_report(
    now: SendTime,
    identity: StreamIdentity,
    (packet_count, octet_count): (u32, u32),
    out: &mut [u8],
) -> Option<usize> {
    let info = SenderInfo {
        ntp: ntp(now),
        rtp_timestamp: ticks(now - SendTime::ZERO, identity.clock_hz),
        packet_count,
        octet_count,
    };
    SenderReport::write(identity.ssrc, &info, &[], out).ok()
}

fn reception(block: &ReportBlock) -> ReceptionReport {
    ReceptionReport {
        fraction_lost: block.fraction_lost,
        cumulative_lost: block.cumulative_lost,
        highest_sequence: block.highest_sequence,
        jitter: block.jitter,
        last_sender_report: block.last_sender_report,
        delay_since_last_sender_report: block.delay_since_last_sender_report,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::{AUDIO_BIT, Kind, Sources};
    use weir_wire::rtcp::{self, Message};

    const BOTH: Sources = Sources { video: 1, audio: Some(1 | AUDIO_BIT), retransmissions: None };

    #[test]
    fn ntp_times_are_exact_to_two_to_the_minus_32() {
        for nanos in [0, 1, 999_999_999, 1_500_000_000, 7_123_456_789, i64::MAX, -1, -2_750_000_001, i64::MIN]
        {
            let exact = ((i128::from(nanos) << 32) / 1_000_000_000) as u64;
            assert_eq!(ntp(SendTime::from_nanos(nanos)), NtpTime(exact), "{nanos} ns");
        }
    }

    const VIDEO: usize = Kind::Video as usize;
    const AUDIO: usize = Kind::Audio as usize;

    /// Streams that have sent `video` packets of video and `audio` of audio.
    fn having_sent(video: u32, audio: u32) -> SenderStreams {
        let mut streams = SenderStreams::new(&BOTH.identities(), true);
        (0..video).for_each(|n| _ = streams.on_sent(VIDEO, u64::from(n), Some(0), 100));
        (0..audio).for_each(|n| _ = streams.on_sent(AUDIO, u64::from(n), Some(0), 100));
        streams
    }

    fn video(fraction_lost: u8, cumulative_lost: i32, highest_sequence: u32) -> ReportBlock {
        ReportBlock { ssrc: 1, fraction_lost, cumulative_lost, highest_sequence, ..ReportBlock::default() }
    }

    fn audio(fraction_lost: u8, cumulative_lost: i32, highest_sequence: u32) -> ReportBlock {
        ReportBlock { ssrc: 1 | AUDIO_BIT, ..video(fraction_lost, cumulative_lost, highest_sequence) }
    }

    /// Loss ratio in 1/256, cumulative losses, and the highest number.
    fn received(streams: &mut SenderStreams, blocks: &[ReportBlock]) -> Option<(u8, i32, u32)> {
        let report = streams.reception(blocks.iter().copied())?;
        Some((report.fraction_lost, report.cumulative_lost, report.highest_sequence))
    }

    #[test]
    fn each_stream_counts_its_own_packets() {
        let mut streams = SenderStreams::new(&BOTH.identities(), true);
        assert_eq!(streams.on_sent(VIDEO, 70_000, Some(3000), 1200), (1, 0, 3000));
        assert_eq!(streams.on_sent(AUDIO, 70_001, Some(960), 50), (1 | AUDIO_BIT, 0, 960));
        assert_eq!(streams.on_sent(VIDEO, 70_002, None, 255), (1, 1, 3000), "padding");
        // 70 000 and so on less 65 536.
        let numbers = [(1, 0), (1 | AUDIO_BIT, 0), (1, 1)];
        let numbers = numbers.map(|(source, sequence)| streams.numbers().unwrap().number(source, sequence));
        assert_eq!(numbers, [4464, 4465, 4466].map(Some));
        let mut out = [0; 64];
        let length = streams.write_sender_reports(SendTime::from_millis(1000), &mut out).unwrap();
        let reports: Vec<_> = rtcp::messages(&out[..length])
            .map(|message| match message.unwrap() {
                Message::SenderReport(report) => {
                    let info = report.info;
                    (report.ssrc, info.packet_count, info.octet_count, info.rtp_timestamp)
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(reports, [(1, 2, 1200, 90_000), (1 | AUDIO_BIT, 1, 50, 48_000)]);
    }

    #[test]
    fn a_flow_of_one_stream_has_one_numbering() {
        let mut streams =
            SenderStreams::new(&Sources { video: 7, audio: None, retransmissions: None }.identities(), false);
        assert_eq!(streams.write_sender_reports(SendTime::ZERO, &mut [0; 64]), None, "nothing was sent");
        streams.on_sent(VIDEO, 0, Some(0), 100);
        assert_eq!(streams.numbers().unwrap().number(7, 54_321), Some(54_321));
        assert_eq!(streams.find(7 | AUDIO_BIT), None);
    }

    #[test]
    fn losses_of_both_streams_count_by_what_was_expected() {
        let mut streams = having_sent(400, 211);
        // 300 packets of video of which 10 % are lost (26 / 256), 100 of audio of which half are:
        // (300 · 26 + 100 · 128) / 400 = 51.5, rounded 52.
        assert_eq!(received(&mut streams, &[audio(128, 50, 99), video(26, 30, 299)]), Some((52, 80, 398)));
        // 100 more of each: the mean.
        assert_eq!(received(&mut streams, &[video(0, 30, 399), audio(64, 75, 199)]), Some((32, 105, 598)));
        // With a block on one stream the ratio is that of the block.
        assert_eq!(received(&mut streams, &[audio(99, 79, 210)]), Some((99, 109, 609)));
        let other = ReportBlock { ssrc: 9, ..video(99, 0, 210) };
        assert_eq!(received(&mut streams, &[other]), None);
        assert_eq!(streams.refused(), 0);
    }

    #[test]
    fn totals_grow_with_the_reports_of_each_stream() {
        let mut streams = having_sent(1000, 300);
        let reports = [
            vec![video(0, 0, 99), audio(0, 0, 29)],
            vec![audio(0, 3, 59)],
            vec![video(0, 10, 199)],
            vec![audio(0, 3, 89)],
            vec![video(0, 15, 299), audio(0, 4, 119)],
        ];
        let mut losses = ReceiverReportTracker::NONE;
        let increments = reports.map(|blocks| {
            let (_, lost, highest) = received(&mut streams, &blocks).unwrap();
            losses.on_report(highest, lost).unwrap()
        });
        assert_eq!(increments, [(0, 0), (3, 30), (10, 100), (0, 30), (6, 130)]);
    }

    #[test]
    fn reports_on_unsent_packets_are_refused_and_counted() {
        let mut streams = having_sent(100, 0);
        assert_eq!(received(&mut streams, &[video(0, 0, 100)]), None, "a packet that has not left");
        assert_eq!(received(&mut streams, &[audio(0, 0, 0)]), None);
        assert_eq!(received(&mut streams, &[video(0, 51, 49)]), None, "more lost than there were");
        assert_eq!(streams.refused(), 3);
        assert_eq!(received(&mut streams, &[video(0, 5, 49)]), Some((0, 5, 49)));
        assert_eq!(received(&mut streams, &[video(0, 30, 59)]), None, "25 of ten");
        assert_eq!(
            received(&mut streams, &[video(0, 5, 39)]),
            None,
            "an old block is not counted as impossible"
        );
        assert_eq!(received(&mut streams, &[video(0, 8, 99)]), Some((0, 8, 99)));
        assert_eq!(streams.refused(), 4);
    }

    #[test]
    fn only_a_sender_report_that_has_left_lately_measures_a_round_trip() {
        let mut streams = having_sent(100, 0);
        let echo = |streams: &mut SenderStreams, last_sender_report| {
            let block = ReportBlock { last_sender_report, ..video(0, 0, 9) };
            streams.reception(core::iter::once(block)).unwrap().last_sender_report
        };
        assert_eq!(echo(&mut streams, 65_536), 0, "none has left");
        // One a second: of forty the last 32 are remembered.
        for second in 1..=40 {
            streams.write_sender_reports(SendTime::from_millis(1000 * second), &mut [0; 64]).unwrap();
        }
        let echoed = [8, 9, 40, 41].map(|second| echo(&mut streams, 65_536 * second) / 65_536);
        assert_eq!(echoed, [0, 9, 40, 0]);
        assert_eq!((echo(&mut streams, 0), streams.refused()), (0, 3));
    }
}
