//! RFC 8888 on several streams of a transport: converts reports by transport-wide number to reports by the sequence
//! numbers of each stream.

use weir_cc::Record;
use weir_wire::rtcp::{Ccfb, CcfbWriter, MetricBlock};
use weir_wire::seq::newer;

/// Number of packets that are remembered: more than a report covers.
const REMEMBERED: usize = 2048;
/// Maximum number of packets of a stream in a block, so that a jump of its numbers makes no long run of losses.
const MOST_METRICS: usize = 1024;

/// Sequence number of each arrived packet in its stream, and the part of each stream that was reported.
#[derive(Debug)]
pub(super) struct ByStream {
    streams: Vec<Stream>,
    /// Stream and sequence number, by transport-wide number modulo the length.
    places: Vec<Option<StreamSlot>>,
    metrics: Vec<Option<MetricBlock>>,
}

#[derive(Debug)]
struct Stream {
    source: u32,
    /// The number after the highest that was reported.
    reported: Option<u16>,
    /// The same before the message that is being written.
    reported_before: Option<u16>,
}

#[derive(Clone, Copy, Debug)]
struct StreamSlot {
    /// Index of the stream.
    stream: usize,
    sequence: u16,
}

impl ByStream {
    pub(super) fn new(sources: &[u32]) -> Self {
        let stream = |&source: &u32| Stream { source, reported: None, reported_before: None };
        Self {
            streams: sources.iter().map(stream).collect(),
            places: vec![None; REMEMBERED],
            metrics: Vec::with_capacity(MOST_METRICS),
        }
    }

    pub(super) fn on_packet(&mut self, source: u32, transport_sequence: u16, sequence: u16) {
        let stream = self.streams.iter().position(|stream| stream.source == source);
        self.places[usize::from(transport_sequence) % REMEMBERED] =
            stream.map(|stream| StreamSlot { stream, sequence });
    }

    /// Writes as many of `records` as fit. Returns the length of the message and the number of records in it.
    pub(super) fn write(
        &mut self,
        ssrc: u32,
        timestamp: u32,
        records: &[Record],
        metric: impl Fn(&Record) -> Option<MetricBlock>,
        out: &mut [u8],
    ) -> Option<(usize, usize)> {
        self.streams.iter_mut().for_each(|stream| stream.reported_before = stream.reported);
        let mut count = Ccfb::most_packets(out.len()).min(records.len());
        while count > 0 {
            if let Some(length) = self.try_write(ssrc, timestamp, &records[..count], &metric, out) {
                return Some((length, count));
            }
            self.streams.iter_mut().for_each(|stream| stream.reported = stream.reported_before);
            count /= 2;
        }
        None
    }

    fn try_write(
        &mut self,
        ssrc: u32,
        timestamp: u32,
        records: &[Record],
        metric: &impl Fn(&Record) -> Option<MetricBlock>,
        out: &mut [u8],
    ) -> Option<usize> {
        // One block of this many packets always fits.
        let most = Ccfb::most_packets(out.len()).min(MOST_METRICS) as u16;
        let mut writer = CcfbWriter::new(out);
        for stream in 0..self.streams.len() {
            let Some((begin, end)) = self.span(stream, records, most) else { continue };
            self.metrics.clear();
            self.metrics.resize(usize::from(end.wrapping_sub(begin)), None);
            for record in records {
                if let Some(sequence) = self.sequence(stream, record)
                    && let Some(place) = self.metrics.get_mut(usize::from(sequence.wrapping_sub(begin)))
                {
                    *place = metric(record);
                }
            }
            let Stream { source, reported, .. } = &mut self.streams[stream];
            writer.stream(*source, begin, self.metrics.iter().copied()).ok()?;
            *reported = reported.filter(|&reported| newer(reported, end)).or(Some(end));
        }
        writer.finish(ssrc, timestamp).ok()
    }

    /// The sequence number of `record` in the stream, if it is a packet of the stream that has arrived.
    fn sequence(&self, stream: usize, record: &Record) -> Option<u16> {
        record.reception.is_arrival().then_some(())?;
        let place = self.places[usize::from(record.sequence) % REMEMBERED]?;
        (place.stream == stream).then_some(place.sequence)
    }

    /// The range of sequence numbers to report of a stream, the end excluded, at most `most` long. The range begins
    /// after those reported, or at the first arrival if that is earlier, and ends with the last arrival. Returns `None`
    /// if no packet of the stream arrived.
    fn span(&self, stream: usize, records: &[Record], most: u16) -> Option<(u16, u16)> {
        let mut arrived = records.iter().filter_map(|record| self.sequence(stream, record));
        let first = arrived.next()?;
        let end = arrived.next_back().unwrap_or(first).wrapping_add(1);
        let reported = self.streams[stream].reported.unwrap_or(first);
        let back = |from: u16| end.wrapping_sub(from);
        let begin = if back(reported) <= most && back(reported) > back(first) { reported } else { first };
        Some((if back(begin) <= most { begin } else { end.wrapping_sub(most) }, end))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FeedbackReader, StreamNumbers};
    use super::*;
    use weir_cc::history::SendHistory;
    use weir_cc::{ArrivalTime, Report, SendTime};
    use weir_units::TimeDelta;
    use weir_wire::rtcp;

    /// A sender of packets, every fifth of which is audio, and the streams of those that arrived.
    struct Path {
        numbers: StreamNumbers,
        /// Sequence number of the next packet of video, and of audio.
        next: [u16; 2],
        streams: ByStream,
    }

    impl Path {
        fn new() -> Self {
            Self { numbers: StreamNumbers::new(), next: [0; 2], streams: ByStream::new(&[1, 9]) }
        }

        /// Sends packets of these numbers, of which those selected by `arrives` arrive one ms apart.
        fn packets(&mut self, ids: core::ops::Range<u64>, arrives: impl Fn(u64) -> bool) -> Vec<Record> {
            let record = |id: u64| {
                let (kind, source) = if id % 5 == 4 { (1, 9) } else { (0, 1) };
                let sequence = self.next[kind];
                self.next[kind] = sequence.wrapping_add(1);
                self.numbers.on_sent(source, sequence, id);
                if !arrives(id) {
                    return Record::new(id as u16, None);
                }
                self.streams.on_packet(source, id as u16, sequence);
                Record::new(id as u16, Some(ArrivalTime::from_millis(id as i64)))
            };
            ids.map(record).collect()
        }

        /// Fates that a sender reads in a message on `records`, and the number of records in it.
        fn through(&mut self, records: &[Record], room: usize) -> (Vec<(u16, bool)>, usize) {
            let mut out = vec![0; room];
            let metric = |record: &Record| record.reception.time().map(|_| MetricBlock { ecn: 1, offset: 0 });
            let (length, reported) = self.streams.write(2, 0, records, metric, &mut out).unwrap();
            let message = rtcp::messages(&out[..length]).next().unwrap().unwrap();
            let mut reader = FeedbackReader::new();
            let report = reader
                .read(SendTime::ZERO, &message, &self.numbers, &SendHistory::new(TimeDelta::ZERO))
                .unwrap();
            let Report::Packets { records, .. } = report else { panic!("{report:?}") };
            (
                records.iter().map(|record| (record.sequence, record.reception.is_arrival())).collect(),
                reported,
            )
        }
    }

    #[test]
    fn each_fate_is_reported_by_the_transport_wide_number() {
        let mut path = Path::new();
        // Around the end of the 16 bits: 65 530 to 65 549, of which each third is lost; the last one arrives.
        path.packets(0..65_530, |_| true);
        let records = path.packets(65_530..65_550, |id| id % 3 != 0);
        let (reported, count) = path.through(&records, 1400);
        let expected: Vec<_> = (65_530..65_550_u64).map(|id| (id as u16, id % 3 != 0)).collect();
        assert_eq!((reported, count), (expected, 20));
    }

    #[test]
    fn a_loss_at_the_end_is_reported_with_a_later_packet_of_the_stream() {
        let mut path = Path::new();
        let first = path.packets(0..10, |id| id != 9);
        // 9, the last, is the second packet of audio: no audio has come after it.
        assert_eq!(path.through(&first, 1400).0, (0..9).map(|id| (id, true)).collect::<Vec<_>>());
        let second = path.packets(10..20, |id| id != 12);
        let expected: Vec<_> = (9..20).map(|id| (id, id != 9 && id != 12)).collect();
        assert_eq!(path.through(&second, 1400).0, expected);
    }

    #[test]
    fn records_that_do_not_fit_wait_for_the_next_message() {
        let mut path = Path::new();
        let records = path.packets(0..100, |_| true);
        // One block in 120 bytes could hold 50 packets; 40 and 10 in two take 8 + 8 + 80 + 8 + 20 + 4 = 128. Half of
        // them, 20 and 5, take 8 + 8 + 40 + 8 + 12 + 4 = 80.
        let (first, count) = path.through(&records, 120);
        assert_eq!((first.len(), count), (25, 25));
        let (second, rest) = path.through(&records[count..], 120);
        assert_eq!(second[0], (25, true));
        assert!(rest >= 20);
    }
    #[test]
    fn packets_after_many_losses_in_a_row_are_reported() {
        let mut path = Path::new();
        let first = path.packets(0..10, |_| true);
        assert_eq!(path.through(&first, 1200).1, 10);
        // 700 of video are more than a message of 1200 bytes can hold: they stay unreported.
        path.packets(10..885, |_| false);
        let after = path.packets(885..890, |_| true);
        let (reported, count) = path.through(&after, 1200);
        let arrived: Vec<_> = reported.iter().filter(|(_, arrived)| *arrived).map(|&(id, _)| id).collect();
        assert_eq!((arrived, count), ((885..890).collect(), 5));
    }
}
