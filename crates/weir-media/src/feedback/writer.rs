//! Writes per-packet reports as RTCP messages.

use weir_cc::{ArrivalTime, Ecn, Reception, Record, Report};
use weir_wire::rtcp::{Ccfb, MetricBlock, Twcc, TwccHeader};

use super::by_stream::ByStream;

/// Makes RTCP packets of per-packet reports ([`Report::Packets`]), each of at most 1200 bytes. A report that does not
/// fit into one continues in the next.
///
/// Transport-wide feedback has arrival times to 250 µs, but neither ECN nor the report's own time. Where reports
/// overlap, it reports an arrival once, and one without a time as missing. RFC 8888 has times to 1/1024 s, ECN, and the
/// report's time; it reports an arrival each time.
#[derive(Debug)]
pub struct FeedbackWriter {
    form: FeedbackForm,
    ssrc: u32,
    reported: ReportedArrivals,
    /// Number of RTCP packets written beyond the first of each report, modulo 256: each has a number of its own.
    extra: u8,
    /// Records of the last report; those from `begin` on are not written yet.
    rest: Vec<Record>,
    begin: usize,
    number: u8,
    at: Option<ArrivalTime>,
}

#[derive(Debug)]
enum FeedbackForm {
    TransportWide { source: u32 },
    Rfc8888 { source: u32 },
    Rfc8888ByStream(ByStream),
}

impl FeedbackWriter {
    /// Transport-wide feedback, made by the source `ssrc`. Records use the numbers of the transport's header extension;
    /// `source` is any stream of that transport.
    pub fn transport_wide(ssrc: u32, source: u32) -> Self {
        Self::new(FeedbackForm::TransportWide { source }, ssrc)
    }

    /// RFC 8888 on one stream, made by the source `ssrc`. Records use the RTP sequence numbers of the stream `source`;
    /// with several streams each has a writer and a [`PacketFeedback`](weir_cc::packet_feedback::PacketFeedback) of its
    /// own.
    pub fn rfc_8888(ssrc: u32, source: u32) -> Self {
        Self::new(FeedbackForm::Rfc8888 { source }, ssrc)
    }

    /// RFC 8888 on the streams `sources` of one transport, made by the source `ssrc`. Records use the numbers of the
    /// transport's header extension. The report on each stream uses its RTP sequence numbers, which [`Self::on_packet`]
    /// takes. A lost packet of a stream is reported when a later packet of it has come.
    pub fn rfc_8888_by_stream(ssrc: u32, sources: &[u32]) -> Self {
        Self::new(FeedbackForm::Rfc8888ByStream(ByStream::new(sources)), ssrc)
    }

    fn new(form: FeedbackForm, ssrc: u32) -> Self {
        Self {
            form,
            ssrc,
            reported: ReportedArrivals::default(),
            extra: 0,
            rest: Vec::new(),
            begin: 0,
            number: 0,
            at: None,
        }
    }

    /// The packet `transport_sequence` of the transport has arrived, which is `sequence` of the stream `source`. Only a
    /// writer made by [`Self::rfc_8888_by_stream`] uses this.
    pub fn on_packet(&mut self, source: u32, transport_sequence: u16, sequence: u16) {
        if let FeedbackForm::Rfc8888ByStream(by_stream) = &mut self.form {
            by_stream.on_packet(source, transport_sequence, sequence);
        }
    }

    /// Sets the stream that transport-wide feedback names.
    pub(crate) fn set_named(&mut self, stream: u32) {
        if let FeedbackForm::TransportWide { source } = &mut self.form {
            *source = stream;
        }
    }

    /// Writes as much of `report` as fits and returns the length; [`Self::write_rest`] writes the rest. Returns `None`
    /// if the report is of another kind or empty, or `out` too small for a packet: 24 bytes are enough.
    pub fn write(&mut self, report: &Report<'_>, out: &mut [u8]) -> Option<usize> {
        let Report::Packets { records, number, at } = *report else { return None };
        self.number = number.wrapping_add(self.extra);
        self.at = at;
        let (length, written) = self.write_some(records, out)?;
        self.rest.clear();
        self.rest.extend_from_slice(&records[written..]);
        self.begin = 0;
        Some(length)
    }

    /// Whether something is left of the last report.
    #[inline]
    pub(crate) fn has_rest(&self) -> bool {
        self.begin < self.rest.len()
    }

    /// Writes what is left of the last report; call until `None`. Records that do not fit into `out` are dropped.
    pub fn write_rest(&mut self, out: &mut [u8]) -> Option<usize> {
        if !self.has_rest() {
            return None;
        }
        self.extra = self.extra.wrapping_add(1);
        self.number = self.number.wrapping_add(1);
        let rest = std::mem::take(&mut self.rest);
        let written = self.write_some(&rest[self.begin..], out);
        self.rest = rest;
        // Records that do not fit now never will.
        self.begin = written.map_or(self.rest.len(), |(_, written)| self.begin + written);
        written.map(|(length, _)| length)
    }

    /// Writes one RTCP packet and returns its length and the number of records in it.
    fn write_some(&mut self, records: &[Record], out: &mut [u8]) -> Option<(usize, usize)> {
        let records = contiguous(records);
        let first = records.first()?.sequence;
        match self.form {
            FeedbackForm::TransportWide { source } => self.write_transport_wide(source, first, records, out),
            FeedbackForm::Rfc8888 { .. } | FeedbackForm::Rfc8888ByStream(_) => {
                self.write_rfc_8888(first, records, out)
            }
        }
    }

    fn write_transport_wide(
        &mut self,
        source: u32,
        first: u16,
        records: &[Record],
        out: &mut [u8],
    ) -> Option<(usize, usize)> {
        let (ssrc, number) = (self.ssrc, self.number);
        let header = TwccHeader { ssrc, source, base_sequence: first, number };
        let reported = &self.reported;
        let unreported = |record: &Record| {
            record.reception.time().filter(|_| !reported.contains(record.sequence)).map(ArrivalTime::nanos)
        };
        let written = Twcc::write(&header, records.iter().map(unreported), out).ok()?;
        for record in &records[..written.packets] {
            if record.reception.time().is_some() {
                self.reported.insert(record.sequence);
            }
        }
        Some((written.length, written.packets))
    }

    fn write_rfc_8888(&mut self, first: u16, records: &[Record], out: &mut [u8]) -> Option<(usize, usize)> {
        let newest = || records.iter().filter_map(|record| record.reception.time()).max();
        let at = self.at.or_else(newest).unwrap_or(ArrivalTime::ZERO);
        let metric = |record: &Record| metric(at, record);
        let most = out.len().min(Twcc::MAX_LEN);
        let out = &mut out[..most];
        let source = match &mut self.form {
            FeedbackForm::Rfc8888ByStream(by_stream) => {
                return by_stream.write(self.ssrc, timestamp(at), records, metric, out);
            }
            FeedbackForm::TransportWide { source } | FeedbackForm::Rfc8888 { source } => *source,
        };
        let fit = Ccfb::most_packets(most).min(records.len());
        if fit == 0 {
            return None;
        }
        let metrics = records[..fit].iter().map(metric);
        let length = Ccfb::write(self.ssrc, timestamp(at), source, first, metrics, out).ok()?;
        Some((length, fit))
    }
}

/// The records up to the first whose number is not the next one: both formats cover consecutive packets.
fn contiguous(records: &[Record]) -> &[Record] {
    let gap = records.windows(2).position(|pair| pair[1].sequence != pair[0].sequence.wrapping_add(1));
    &records[..gap.map_or(records.len(), |gap| gap + 1)]
}

/// The metric of `record` in a report made at `at`.
pub(super) fn metric(at: ArrivalTime, record: &Record) -> Option<MetricBlock> {
    let offset = match record.reception {
        Reception::Missing => return None,
        Reception::Untimed => MetricBlock::UNAVAILABLE,
        Reception::At(arrival) => MetricBlock::offset_from_nanos((at - arrival).nanos()),
    };
    Some(MetricBlock { ecn: codepoint(record.ecn), offset })
}

/// The middle 32 bits of NTP time, which counts from the receiver clock's zero: only its differences are used.
pub(super) fn timestamp(at: ArrivalTime) -> u32 {
    (i128::from(at.nanos()) << 16).div_euclid(1_000_000_000) as u32
}

/// Set of those of the last 1024 numbers that were reported as arrived. Where reports overlap, transport-wide feedback
/// must not report an arrival twice, as RFC 8888 must.
#[derive(Debug, Default)]
pub(super) struct ReportedArrivals {
    newest: Option<u16>,
    bits: [u64; Self::SPAN as usize / 64],
}

impl ReportedArrivals {
    const SPAN: u16 = 1024;

    pub(super) fn contains(&self, sequence: u16) -> bool {
        let behind = self.newest.map(|newest| newest.wrapping_sub(sequence));
        behind.is_some_and(|behind| behind < Self::SPAN) && self.bits[word(sequence)] & bit(sequence) != 0
    }

    pub(super) fn insert(&mut self, sequence: u16) {
        let newest = *self.newest.get_or_insert(sequence);
        let ahead = sequence.wrapping_sub(newest) as i16;
        if ahead.unsigned_abs() >= Self::SPAN {
            // Far from all known numbers: the numbering begins anew.
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
    (sequence % ReportedArrivals::SPAN / 64) as usize
}

const fn bit(sequence: u16) -> u64 {
    1 << (sequence % 64)
}

const fn codepoint(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Ce => 0b11,
    }
}
