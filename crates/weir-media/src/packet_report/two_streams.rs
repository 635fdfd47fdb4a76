//! RFC 8888 on a flow of two streams: what a report tells by the numbers of the transport is told for each stream by
//! its own.

use weir_cc::Record;
use weir_wire::rtcp::{Ccfb, CcfbWriter, Metric};
use weir_wire::seq::newer;

use crate::sources::Kind;

/// Packets that are remembered: more than a report covers.
const REMEMBERED: usize = 2048;
/// Most packets of a stream in a block, so that a leap of its numbers makes no long row of losses.
const MOST_METRICS: u16 = 1024;

/// Where each packet that has arrived stands in its stream, and what of each stream was told.
#[derive(Debug)]
pub(super) struct TwoStreams {
    /// Video's and audio's.
    ssrcs: [u32; 2],
    /// By transport-wide number modulo the length.
    places: Vec<Place>,
    /// The number after the highest that was told of, for each stream.
    told: [Option<u16>; 2],
    metrics: Vec<Option<Metric>>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    kind: Kind,
    sequence: u16,
}

impl TwoStreams {
    pub(super) fn new(ssrcs: [u32; 2]) -> Self {
        Self {
            ssrcs,
            places: vec![Place { kind: Kind::Video, sequence: 0 }; REMEMBERED],
            told: [None; 2],
            metrics: Vec::with_capacity(usize::from(MOST_METRICS)),
        }
    }

    pub(super) fn on_packet(&mut self, kind: Kind, transport_sequence: u16, sequence: u16) {
        self.places[usize::from(transport_sequence) % REMEMBERED] = Place { kind, sequence };
    }

    /// Writes as many of `records` as fit. Returns the length of the message and how many records it tells.
    pub(super) fn write(
        &mut self,
        ssrc: u32,
        timestamp: u32,
        records: &[Record],
        metric: impl Fn(&Record) -> Option<Metric>,
        out: &mut [u8],
    ) -> Option<(usize, usize)> {
        let mut count = Ccfb::most_packets(out.len()).min(records.len());
        while count > 0 {
            let told = self.told;
            if let Some(length) = self.try_write(ssrc, timestamp, &records[..count], &metric, out) {
                return Some((length, count));
            }
            self.told = told;
            count /= 2;
        }
        None
    }

    fn try_write(
        &mut self,
        ssrc: u32,
        timestamp: u32,
        records: &[Record],
        metric: &impl Fn(&Record) -> Option<Metric>,
        out: &mut [u8],
    ) -> Option<usize> {
        let mut writer = CcfbWriter::new(out);
        for kind in [Kind::Video, Kind::Audio] {
            let Some((begin, end)) = self.span(kind, records) else { continue };
            self.metrics.clear();
            self.metrics.resize(usize::from(end.wrapping_sub(begin)), None);
            for record in records {
                if let Some(sequence) = self.sequence(kind, record)
                    && let Some(place) = self.metrics.get_mut(usize::from(sequence.wrapping_sub(begin)))
                {
                    *place = metric(record);
                }
            }
            writer.stream(self.ssrcs[kind as usize], begin, self.metrics.iter().copied()).ok()?;
            let told = &mut self.told[kind as usize];
            *told = told.filter(|&told| newer(told, end)).or(Some(end));
        }
        writer.finish(ssrc, timestamp).ok()
    }

    /// The number of the packet of `record` in the stream, if it is one of it that has arrived.
    fn sequence(&self, kind: Kind, record: &Record) -> Option<u16> {
        record.arrival?;
        let place = self.places[usize::from(record.sequence) % REMEMBERED];
        (place.kind == kind).then_some(place.sequence)
    }

    /// The numbers of a stream of which there is something to tell: from the one after those told, or from the first
    /// that has arrived if that is before, up to the last that has arrived, the end excluded. `None` if none has.
    fn span(&self, kind: Kind, records: &[Record]) -> Option<(u16, u16)> {
        let mut arrived = records.iter().filter_map(|record| self.sequence(kind, record));
        let first = arrived.next()?;
        let end = arrived.next_back().unwrap_or(first).wrapping_add(1);
        let told = self.told[kind as usize].unwrap_or(first);
        let back = |from: u16| end.wrapping_sub(from);
        let begin = if back(told) <= MOST_METRICS && back(told) > back(first) { told } else { first };
        Some((if back(begin) <= MOST_METRICS { begin } else { end.wrapping_sub(MOST_METRICS) }, end))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PacketReportReader, codepoint};
    use super::*;
    use crate::sources::Sources;
    use crate::streams::Streams;
    use weir_cc::{ArrivalTime, Ecn, Report, SendTime};
    use weir_wire::rtcp::{self, Message};

    const SOURCES: Sources = Sources { video: 1, audio: Some(9) };

    /// A sender of packets, of which each fifth is audio, and the streams of those that arrived.
    struct Path {
        streams: Streams,
        two: TwoStreams,
    }

    impl Path {
        fn new() -> Self {
            Self { streams: Streams::new(SOURCES), two: TwoStreams::new([1, 9]) }
        }

        /// Packets of these numbers leave, and those that `arrives` lets through arrive a ms apart.
        fn packets(&mut self, ids: core::ops::Range<u64>, arrives: impl Fn(u64) -> bool) -> Vec<Record> {
            let record = |id: u64| {
                let kind = if id % 5 == 4 { Kind::Audio } else { Kind::Video };
                let (_, sequence, _) = self.streams.on_sent(kind, id, Some(0), 100);
                if !arrives(id) {
                    return Record { sequence: id as u16, arrival: None, ecn: Ecn::NotEct };
                }
                self.two.on_packet(kind, id as u16, sequence);
                let arrival = Some(ArrivalTime::from_millis(id as i64));
                Record { sequence: id as u16, arrival, ecn: Ecn::Ect1 }
            };
            ids.map(record).collect()
        }

        /// What a sender reads of a message on `records`, and how many of them it tells.
        fn through(&mut self, records: &[Record], room: usize) -> (Vec<(u16, bool)>, usize) {
            let mut out = vec![0; room];
            let metric =
                |record: &Record| record.arrival.map(|_| Metric { ecn: codepoint(record.ecn), offset: 0 });
            let (length, told) = self.two.write(2, 0, records, metric, &mut out).unwrap();
            let message = rtcp::messages(&out[..length]).next().unwrap().unwrap();
            let Message::Ccfb(feedback) = message else { panic!("{message:?}") };
            let mut reader = PacketReportReader::new();
            let report = reader.read_rfc_8888(SendTime::ZERO, &feedback, &self.streams).unwrap();
            let Report::Packets { records, .. } = report else { panic!("{report:?}") };
            (records.iter().map(|record| (record.sequence, record.arrival.is_some())).collect(), told)
        }
    }

    #[test]
    fn each_packets_fate_is_told_by_its_number_on_the_transport() {
        let mut path = Path::new();
        // Around the end of the 16 bits: 65 530 to 65 549, of which each third is lost; the last one arrives.
        path.packets(0..65_530, |_| true);
        let records = path.packets(65_530..65_550, |id| id % 3 != 0);
        let (told, count) = path.through(&records, 1400);
        let expected: Vec<_> = (65_530..65_550_u64).map(|id| (id as u16, id % 3 != 0)).collect();
        assert_eq!((told, count), (expected, 20));
    }

    #[test]
    fn what_ends_in_a_loss_is_told_when_a_later_packet_of_the_stream_comes() {
        let mut path = Path::new();
        let first = path.packets(0..10, |id| id != 9);
        // 9, the last, is the second packet of audio: nothing of audio has come after it.
        assert_eq!(path.through(&first, 1400).0, (0..9).map(|id| (id, true)).collect::<Vec<_>>());
        let second = path.packets(10..20, |id| id != 12);
        let expected: Vec<_> = (9..20).map(|id| (id, id != 9 && id != 12)).collect();
        assert_eq!(path.through(&second, 1400).0, expected);
    }

    #[test]
    fn what_does_not_fit_is_left_for_the_next_message() {
        let mut path = Path::new();
        let records = path.packets(0..100, |_| true);
        // One block would have room for 50 packets in 120 bytes; 40 and 10 in two take 8 + 8 + 80 + 8 + 20 + 4 = 128.
        // Half of them, 20 and 5, take 8 + 8 + 40 + 8 + 12 + 4 = 80.
        let (first, count) = path.through(&records, 120);
        assert_eq!((first.len(), count), (25, 25));
        let (second, rest) = path.through(&records[count..], 120);
        assert_eq!(second[0], (25, true));
        assert!(rest >= 20);
    }
}
