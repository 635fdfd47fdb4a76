//! Per-packet reports as RTCP bytes, and back: transport-wide feedback and RFC 8888.
//!
//! Times count from the zero of the receiver's clock, modulo what the wire holds of them. The sender unwraps the first
//! one to the reading nearest to its own clock, each further one to the reading nearest to the one before: clocks that
//! are synchronised stay so, and with others only differences mean anything.

use weir_cc::{ArrivalTime, Ecn, Record, Report, SendTime};
use weir_units::TimeDelta;
use weir_wire::rtcp::{Ccfb, Metric, Reception, Twcc, TwccHeader};

use crate::config::PacketFormat;
use crate::sources::{Kind, Sources};
use crate::streams::Streams;

mod two_streams;

use two_streams::TwoStreams;

/// Writes per-packet reports. One that does not fit into an RTCP packet goes on in the next.
#[derive(Debug)]
pub(crate) struct PacketReportWriter {
    format: PacketFormat,
    ssrc: u32,
    source: u32,
    /// For RFC 8888, which tells of each stream by itself.
    two_streams: Option<TwoStreams>,
    told: Told,
    /// How many RTCP packets more than reports have been written, modulo 256: each has a number of its own.
    extra: u8,
    /// The last report's records, from `begin` on not written yet.
    rest: Vec<Record>,
    begin: usize,
    number: u8,
    at: Option<ArrivalTime>,
}

impl PacketReportWriter {
    pub(crate) fn new(format: PacketFormat, ssrc: u32, sources: Sources) -> Self {
        let by_stream = sources.audio.filter(|_| format == PacketFormat::Rfc8888);
        Self {
            format,
            ssrc,
            source: sources.video,
            two_streams: by_stream.map(|audio| TwoStreams::new([sources.video, audio])),
            told: Told::default(),
            extra: 0,
            rest: Vec::new(),
            begin: 0,
            number: 0,
            at: None,
        }
    }

    /// A packet has arrived that is `sequence` of its stream.
    pub(crate) fn on_packet(&mut self, kind: Kind, transport_sequence: u16, sequence: u16) {
        if let Some(two) = &mut self.two_streams {
            two.on_packet(kind, transport_sequence, sequence);
        }
    }

    /// Writes as much of a report as fits and returns the length. `None` if the report is empty, or `out` too small
    /// for a packet.
    pub(crate) fn write(
        &mut self,
        records: &[Record],
        number: u8,
        at: Option<ArrivalTime>,
        out: &mut [u8],
    ) -> Option<usize> {
        self.number = number.wrapping_add(self.extra);
        self.at = at;
        let (length, written) = self.write_some(records, out)?;
        self.rest.clear();
        self.rest.extend_from_slice(&records[written..]);
        self.begin = 0;
        Some(length)
    }

    /// Writes what is left of the last report; call until `None`.
    pub(crate) fn write_rest(&mut self, out: &mut [u8]) -> Option<usize> {
        if self.begin == self.rest.len() {
            return None;
        }
        self.extra = self.extra.wrapping_add(1);
        self.number = self.number.wrapping_add(1);
        let rest = std::mem::take(&mut self.rest);
        let written = self.write_some(&rest[self.begin..], out);
        self.rest = rest;
        // What cannot be written now never can.
        self.begin = written.map_or(self.rest.len(), |(_, written)| self.begin + written);
        written.map(|(length, _)| length)
    }

    /// Writes one RTCP packet and returns its length and how many records it tells.
    fn write_some(&mut self, records: &[Record], out: &mut [u8]) -> Option<(usize, usize)> {
        let records = contiguous(records);
        let first = records.first()?.sequence;
        match self.format {
            PacketFormat::TransportWide => self.write_transport_wide(first, records, out),
            PacketFormat::Rfc8888 => self.write_rfc_8888(first, records, out),
        }
    }

    fn write_transport_wide(
        &mut self,
        first: u16,
        records: &[Record],
        out: &mut [u8],
    ) -> Option<(usize, usize)> {
        let (ssrc, source, number) = (self.ssrc, self.source, self.number);
        let header = TwccHeader { ssrc, source, base_sequence: first, number };
        let told = &self.told;
        let news = |record: &Record| {
            record.arrival.filter(|_| !told.contains(record.sequence)).map(ArrivalTime::nanos)
        };
        let written = Twcc::write(&header, records.iter().map(news), out).ok()?;
        for record in &records[..written.packets] {
            if record.arrival.is_some() {
                self.told.insert(record.sequence);
            }
        }
        Some((written.length, written.packets))
    }

    fn write_rfc_8888(&mut self, first: u16, records: &[Record], out: &mut [u8]) -> Option<(usize, usize)> {
        let newest = || records.iter().filter_map(|record| record.arrival).max();
        let at = self.at.or_else(newest).unwrap_or(ArrivalTime::ZERO);
        let metric = |record: &Record| {
            let offset = |arrival: ArrivalTime| Metric::offset_from_nanos((at - arrival).nanos());
            record.arrival.map(|arrival| Metric { ecn: codepoint(record.ecn), offset: offset(arrival) })
        };
        let most = out.len().min(Twcc::MAX_LEN);
        let out = &mut out[..most];
        if let Some(two) = &mut self.two_streams {
            return two.write(self.ssrc, timestamp(at), records, metric, out);
        }
        let fit = Ccfb::most_packets(most).min(records.len());
        if fit == 0 {
            return None;
        }
        let metrics = records[..fit].iter().map(metric);
        let length = Ccfb::write(self.ssrc, timestamp(at), self.source, first, metrics, out).ok()?;
        Some((length, fit))
    }
}

/// The records up to the first whose number is not the next one: both formats tell of packets in a row.
fn contiguous(records: &[Record]) -> &[Record] {
    let gap = records.windows(2).position(|pair| pair[1].sequence != pair[0].sequence.wrapping_add(1));
    &records[..gap.map_or(records.len(), |gap| gap + 1)]
}

/// The middle 32 bits of NTP time, which counts from the receiver clock's zero: only its differences are used.
fn timestamp(at: ArrivalTime) -> u32 {
    (i128::from(at.nanos()) << 16).div_euclid(1_000_000_000) as u32
}

const fn codepoint(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Ce => 0b11,
    }
}

const fn ecn(codepoint: u8) -> Ecn {
    match codepoint & 0b11 {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Of the last 1024 numbers those that were told to have arrived: where reports overlap, transport-wide feedback must
/// not tell an arrival twice, as RFC 8888 must.
#[derive(Debug, Default)]
struct Told {
    newest: Option<u16>,
    bits: [u64; Self::SPAN as usize / 64],
}

impl Told {
    const SPAN: u16 = 1024;

    fn contains(&self, sequence: u16) -> bool {
        let behind = self.newest.map(|newest| newest.wrapping_sub(sequence));
        behind.is_some_and(|behind| behind < Self::SPAN) && self.bits[word(sequence)] & bit(sequence) != 0
    }

    fn insert(&mut self, sequence: u16) {
        let newest = *self.newest.get_or_insert(sequence);
        let ahead = sequence.wrapping_sub(newest) as i16;
        if ahead.unsigned_abs() >= Self::SPAN {
            // Far from all that is known: numbers begin anew.
            self.bits = Default::default();
            self.newest = Some(sequence);
        } else if ahead > 0 {
            for passed in 1..=ahead as u16 {
                let sequence = newest.wrapping_add(passed);
                self.bits[word(sequence)] &= !bit(sequence);
            }
            self.newest = Some(sequence);
        }
        self.bits[word(sequence)] |= bit(sequence);
    }
}

const fn word(sequence: u16) -> usize {
    (sequence % Told::SPAN / 64) as usize
}

const fn bit(sequence: u16) -> u64 {
    1 << (sequence % 64)
}

/// Reads per-packet reports into room that is used again.
#[derive(Debug, Default)]
pub(crate) struct PacketReportReader {
    records: Vec<Record>,
    /// The last reference time, unwrapped to nanoseconds.
    reference: Option<i64>,
    /// The last report timestamp, as on the wire and unwrapped to nanoseconds.
    made: Option<(u32, i64)>,
    /// How many reports had another timestamp than the one before, modulo 256.
    number: u8,
}

impl PacketReportReader {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The report that came at `now` as transport-wide feedback.
    pub(crate) fn read_transport_wide(&mut self, now: SendTime, feedback: &Twcc<'_>) -> Report<'_> {
        let near = self.reference.unwrap_or(now.nanos());
        let reference = nearest(near, feedback.reference_nanos(), Twcc::PERIOD_NANOS);
        self.records.clear();
        self.records.extend(feedback.statuses().filter_map(|(sequence, reception)| {
            let arrival = reception.nanos().map(|nanos| ArrivalTime::from_nanos(reference) + span(nanos));
            let told = arrival.is_some() || reception == Reception::Missing;
            told.then_some(Record { sequence, arrival, ecn: Ecn::NotEct })
        }));
        // A report without arrivals has no reference time worth the name.
        if self.records.iter().any(|record| record.arrival.is_some()) {
            self.reference = Some(reference);
        }
        Report::Packets { records: &self.records, number: feedback.number, at: None }
    }

    /// The report on the flow of `streams` that came at `now` as congestion control feedback of RFC 8888, if there is
    /// any in it. Of several streams, records go by the packets' numbers in the history.
    pub(crate) fn read_rfc_8888(
        &mut self,
        now: SendTime,
        feedback: &Ccfb<'_>,
        streams: &Streams,
    ) -> Option<Report<'_>> {
        let ours = || {
            let kinds = feedback.blocks().map(|block| (streams.sources().kind(block.source), block));
            kinds.filter_map(|(kind, block)| Some((kind?, block)))
        };
        ours().next()?;
        let near = self.made.map_or(now.nanos(), |(_, made)| made);
        let made = nearest(near, feedback.timestamp_nanos(), Ccfb::PERIOD_NANOS);
        let at = ArrivalTime::from_nanos(made);
        let before = self.made.replace((feedback.timestamp, made));
        if before.is_none_or(|(timestamp, _)| timestamp != feedback.timestamp) {
            self.number = self.number.wrapping_add(1);
        }
        self.records.clear();
        for (kind, block) in ours() {
            self.records.extend(block.metrics().filter_map(|(sequence, metric)| {
                let sequence = streams.number(kind, sequence);
                let Some(metric) = metric else {
                    return Some(Record { sequence, arrival: None, ecn: Ecn::NotEct });
                };
                let arrival = at - span(metric.offset_nanos()?);
                Some(Record { sequence, arrival: Some(arrival), ecn: ecn(metric.ecn) })
            }));
        }
        if let Some(&Record { sequence: base, .. }) = self.records.first().filter(|_| ours().count() > 1) {
            self.records.sort_unstable_by_key(|record| record.sequence.wrapping_sub(base) as i16);
        }
        Some(Report::Packets { records: &self.records, number: self.number, at: Some(at) })
    }
}

const fn span(nanos: i64) -> TimeDelta {
    TimeDelta::from_nanos(nanos)
}

/// What is nearest to `near` among the values that differ from `value` by whole periods.
fn nearest(near: i64, value: i64, period: i64) -> i64 {
    let ahead = value.rem_euclid(period) - near.rem_euclid(period);
    let ahead = (ahead + period / 2).rem_euclid(period) - period / 2;
    near.saturating_add(ahead)
}

#[cfg(test)]
mod tests;
