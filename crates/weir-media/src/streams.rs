//! The RTP streams of a flow: video, and audio beside it under the same controller. Each has a source identifier,
//! sequence numbers and a media clock of its own; the history numbers the packets of both.

use weir_cc::{ReceptionReport, SendTime};
use weir_wire::ntp::NtpTime;
use weir_wire::rtcp::{ReceiverReport, ReportBlock, SenderInfo, SenderReport};

use crate::sources::{Kind, Sources};

/// What a sender knows of its streams.
#[derive(Debug)]
pub(crate) struct Streams {
    sources: Sources,
    streams: [Stream; 2],
}

#[derive(Debug, Default)]
struct Stream {
    /// Sequence number of the next packet.
    next: u16,
    /// RTP timestamp of the last media packet.
    timestamp: u32,
    packets: u32,
    octets: u32,
    /// The sequence number after the highest that a receiver report told of, wraps counted.
    told: u32,
    /// The lower 16 bits of each packet's number in the history, by its sequence number; empty for a flow of one
    /// stream, where both are the same.
    numbers: Vec<u16>,
}

impl Streams {
    pub(crate) fn new(sources: Sources) -> Self {
        let stream = || Stream {
            numbers: if sources.audio.is_some() { vec![0; 1 << 16] } else { Vec::new() },
            ..Stream::default()
        };
        Self { sources, streams: [stream(), stream()] }
    }

    pub(crate) fn sources(&self) -> Sources {
        self.sources
    }

    /// Source identifier, sequence number and timestamp of a packet that leaves with the number `id`: a media packet of
    /// `timestamp` and so many `octets`, or padding, which shares the last packet's timestamp and counts for none (RFC
    /// 3550 §6.4.1).
    pub(crate) fn on_sent(
        &mut self,
        kind: Kind,
        id: u64,
        timestamp: Option<u32>,
        octets: u16,
    ) -> (u32, u16, u32) {
        let ssrc = self.ssrc(kind);
        let stream = &mut self.streams[kind as usize];
        let sequence = stream.next;
        stream.next = sequence.wrapping_add(1);
        if let Some(number) = stream.numbers.get_mut(usize::from(sequence)) {
            *number = id as u16;
        }
        stream.packets = stream.packets.wrapping_add(1);
        if let Some(timestamp) = timestamp {
            stream.timestamp = timestamp;
            stream.octets = stream.octets.wrapping_add(u32::from(octets));
        }
        (ssrc, sequence, stream.timestamp)
    }

    fn ssrc(&self, kind: Kind) -> u32 {
        match kind {
            Kind::Video => self.sources.video,
            Kind::Audio => self.sources.audio.unwrap_or(self.sources.video),
        }
    }

    /// The lower 16 bits of the number in the history of the packet `sequence` of a stream.
    pub(crate) fn number(&self, kind: Kind, sequence: u16) -> u16 {
        let stream = &self.streams[kind as usize];
        stream.numbers.get(usize::from(sequence)).copied().unwrap_or(sequence)
    }

    /// Writes a sender report for each stream that has sent something. `None` if none has, or they do not fit.
    pub(crate) fn write_sender_reports(&self, now: SendTime, out: &mut [u8]) -> Option<usize> {
        let mut length = 0;
        for (kind, ssrc) in self.sources.iter() {
            let stream = &self.streams[kind as usize];
            if stream.packets > 0 {
                let (counts, out) = ((stream.packets, stream.octets), &mut out[length..]);
                length += write_sender_report(now, kind, ssrc, counts, out)?;
            }
        }
        (length > 0).then_some(length)
    }

    /// What a receiver report tells of the flow. Of two streams the losses count by how many packets were expected of
    /// each since the report before; the rest is what is told of video, or of audio where video is not told of.
    pub(crate) fn reception(&mut self, report: &ReceiverReport<'_>) -> Option<ReceptionReport> {
        let mut whole: Option<ReceptionReport> = None;
        let (mut lost, mut expected) = (0_u64, 0_u64);
        let mut cumulative_lost = 0_i32;
        for block in report.blocks() {
            let Some(kind) = self.sources.kind(block.ssrc) else { continue };
            let stream = &mut self.streams[kind as usize];
            let end = block.highest_sequence.wrapping_add(1);
            let weight = (end.wrapping_sub(stream.told) as i32).max(1) as u64;
            stream.told = end;
            lost += u64::from(block.fraction_lost) * weight;
            expected += weight;
            cumulative_lost = cumulative_lost.saturating_add(block.cumulative_lost);
            if kind == Kind::Video || whole.is_none() {
                whole = Some(reception(&block));
            }
        }
        let fraction_lost = ((lost + expected / 2).checked_div(expected)?) as u8;
        whole.map(|whole| ReceptionReport { fraction_lost, cumulative_lost, ..whole })
    }
}

/// Writes a sender report of the stream `ssrc`, which has sent so many packets and octets.
pub(crate) fn write_sender_report(
    now: SendTime,
    kind: Kind,
    ssrc: u32,
    (packet_count, octet_count): (u32, u32),
    out: &mut [u8],
) -> Option<usize> {
    // NTP time counts from the sender clock's zero: only its differences are used.
    let ntp = NtpTime(((i128::from(now.nanos()) << 32) / 1_000_000_000) as u64);
    let info = SenderInfo { ntp, rtp_timestamp: kind.ticks(now - SendTime::ZERO), packet_count, octet_count };
    SenderReport::write(ssrc, &info, &[], out).ok()
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
    use crate::sources::AUDIO_BIT;
    use weir_wire::rtcp::{self, Message};

    const BOTH: Sources = Sources { video: 1, audio: Some(1 | AUDIO_BIT) };

    fn reception_of(streams: &mut Streams, blocks: &[ReportBlock]) -> Option<ReceptionReport> {
        let mut bytes = [0; 128];
        let length = ReceiverReport::write(2, blocks, &mut bytes).unwrap();
        let Message::ReceiverReport(report) = rtcp::messages(&bytes[..length]).next().unwrap().unwrap()
        else {
            panic!("a receiver report")
        };
        streams.reception(&report)
    }

    fn block(ssrc: u32, fraction_lost: u8, highest_sequence: u32) -> ReportBlock {
        let cumulative_lost = i32::from(fraction_lost);
        ReportBlock { ssrc, fraction_lost, highest_sequence, cumulative_lost, ..ReportBlock::default() }
    }

    #[test]
    fn each_stream_counts_its_own_packets() {
        let mut streams = Streams::new(BOTH);
        assert_eq!(streams.on_sent(Kind::Video, 70_000, Some(3000), 1200), (1, 0, 3000));
        assert_eq!(streams.on_sent(Kind::Audio, 70_001, Some(960), 50), (1 | AUDIO_BIT, 0, 960));
        assert_eq!(streams.on_sent(Kind::Video, 70_002, None, 255), (1, 1, 3000), "padding");
        // 70 000 and so on less 65 536.
        let numbers = [(Kind::Video, 0), (Kind::Audio, 0), (Kind::Video, 1)];
        assert_eq!(numbers.map(|(kind, sequence)| streams.number(kind, sequence)), [4464, 4465, 4466]);
        let mut out = [0; 64];
        let length = streams.write_sender_reports(SendTime::from_millis(1000), &mut out).unwrap();
        let told: Vec<_> = rtcp::messages(&out[..length])
            .map(|message| match message.unwrap() {
                Message::SenderReport(report) => {
                    let info = report.info;
                    (report.ssrc, info.packet_count, info.octet_count, info.rtp_timestamp)
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(told, [(1, 2, 1200, 90_000), (1 | AUDIO_BIT, 1, 50, 48_000)]);
    }

    #[test]
    fn a_flow_of_one_stream_has_one_numbering() {
        let mut streams = Streams::new(Sources { video: 7, audio: None });
        assert_eq!(streams.write_sender_reports(SendTime::ZERO, &mut [0; 64]), None, "nothing was sent");
        streams.on_sent(Kind::Video, 0, Some(0), 100);
        assert_eq!(streams.number(Kind::Video, 54_321), 54_321);
        assert_eq!(streams.sources().kind(7 | AUDIO_BIT), None);
    }

    #[test]
    fn losses_of_both_streams_count_by_what_was_expected() {
        let mut streams = Streams::new(BOTH);
        // 300 packets of video of which 10 % are lost (26 / 256), 100 of audio of which half are:
        // (300 · 26 + 100 · 128) / 400 = 51.5, rounded 52.
        let report = reception_of(&mut streams, &[block(1 | AUDIO_BIT, 128, 99), block(1, 26, 299)]).unwrap();
        assert_eq!((report.fraction_lost, report.cumulative_lost, report.highest_sequence), (52, 154, 299));
        // 100 and 100 more: the mean.
        let report = reception_of(&mut streams, &[block(1, 0, 399), block(1 | AUDIO_BIT, 64, 199)]).unwrap();
        assert_eq!(report.fraction_lost, 32);
        // Of one alone, it is what that one says.
        assert_eq!(reception_of(&mut streams, &[block(1 | AUDIO_BIT, 99, 210)]).unwrap().fraction_lost, 99);
        assert_eq!(reception_of(&mut streams, &[block(9, 99, 210)]), None);
    }
}
