//! RFC 8888 on several streams by the RTP sequence numbers of each: no number of the transport is needed.

use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{Arrival, ArrivalTime, Ecn, Receiver, Record, Report, SendTime};
use weir_units::{DataSize, TimeDelta};
use weir_wire::rtcp::{CcfbWriter, Twcc};
use weir_wire::seq::Unwrapper;

use super::writer::{metric, timestamp};

/// Arrivals of several streams, and their reports: one message covers all streams. Its caller decides when.
#[derive(Debug)]
pub(crate) struct StreamFeedback {
    ssrc: u32,
    streams: Vec<StreamRecords>,
    /// When the report that is being written was made.
    at: ArrivalTime,
}

#[derive(Debug)]
struct StreamRecords {
    source: u32,
    numbers: Unwrapper,
    /// Remembers arrivals; its own times of reports are not used.
    arrivals: PacketFeedback,
    /// Records of the report that is being written; those from `begin` on are not written yet.
    records: Vec<Record>,
    begin: usize,
}

impl StreamFeedback {
    /// Feedback of the source `ssrc`, on no stream yet.
    pub(crate) fn new(ssrc: u32) -> Self {
        Self { ssrc, streams: Vec::new(), at: ArrivalTime::ZERO }
    }

    /// Adds the stream `source`.
    pub(crate) fn add_stream(&mut self, source: u32) {
        self.streams.push(StreamRecords {
            source,
            numbers: Unwrapper::new(),
            arrivals: PacketFeedback::new(TimeDelta::MAX),
            records: Vec::new(),
            begin: 0,
        });
    }

    /// Removes the stream `source`.
    pub(crate) fn remove_stream(&mut self, source: u32) {
        self.streams.retain(|stream| stream.source != source);
    }

    /// The packet `sequence` of the stream `source` has arrived.
    pub(crate) fn on_packet(&mut self, source: u32, sequence: u16, at: ArrivalTime, ecn: Ecn) {
        if let Some(stream) = self.streams.iter_mut().find(|stream| stream.source == source) {
            let id = stream.numbers.unwrap(sequence);
            let arrival = Arrival::new(id, SendTime::ZERO, at, DataSize::ZERO);
            stream.arrivals.on_arrival(&Arrival { ecn, ..arrival });
        }
    }

    /// Writes as much as fits of the report on all arrivals since the one before; [`Self::write_rest`] writes the rest.
    /// Returns `None` if there are none, or `out` is too small for a packet: 24 bytes are enough.
    pub(crate) fn write(&mut self, at: ArrivalTime, out: &mut [u8]) -> Option<usize> {
        self.at = at;
        for stream in &mut self.streams {
            stream.records.clear();
            stream.begin = 0;
            stream.arrivals.hurry(at);
            if let Some(Report::Packets { records, .. }) = stream.arrivals.poll_report(at) {
                stream.records.extend_from_slice(records);
            }
        }
        self.write_rest(out)
    }

    /// Whether something is left of the last report.
    pub(crate) fn has_rest(&self) -> bool {
        self.streams.iter().any(|stream| stream.begin < stream.records.len())
    }

    /// Writes what is left of the last report; call until `None`. Records that do not fit into `out` are dropped.
    pub(crate) fn write_rest(&mut self, out: &mut [u8]) -> Option<usize> {
        let most = out.len().min(Twcc::MAX_LEN);
        let mut writer = CcfbWriter::new(&mut out[..most]);
        let mut written = 0;
        for stream in &mut self.streams {
            let rest = &stream.records[stream.begin..];
            let fit = writer.most_packets().min(rest.len());
            if fit == 0 {
                continue;
            }
            let metrics = rest[..fit].iter().map(|record| metric(self.at, record));
            if writer.stream(stream.source, rest[0].sequence, metrics).is_ok() {
                stream.begin += fit;
                written += fit;
            }
        }
        let length = writer.finish(self.ssrc, timestamp(self.at)).ok().filter(|_| written > 0);
        if length.is_none() {
            // Records that do not fit now never will.
            self.streams.iter_mut().for_each(|stream| stream.begin = stream.records.len());
        }
        length
    }
}
