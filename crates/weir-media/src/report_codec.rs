//! Writes reports as RTCP messages, and reads them.

use weir_cc::coupled::Statistics;
use weir_cc::{
    ApparentDelay, ArrivalTime, DcccReport, Echo, NadaDelayReport, NadaReport, NativeReport, OwnReport,
    ReceptionReport, Report, SendTime, TfrcReport,
};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::rtcp::{
    ControllerReport, DcccFeedback, Message, Nack, NadaDelay, NadaFeedback, Pli, ReceiverReport, Remb,
    ReportBlock, TfrcFeedback,
};

use crate::detection::statistics_report;
use crate::feedback::{FeedbackWriter, StreamFeedback};
use crate::receiving::packet::ArrivedPacket;

/// Writes the reports that `ssrc` makes on the packets of its streams.
#[derive(Debug)]
pub(crate) struct ReportWriter {
    ssrc: u32,
    /// Source identifiers of the streams that reports name; a report on one stream names the first.
    streams: Vec<u32>,
    packets: PacketReports,
}

/// The writer of per-packet reports.
#[derive(Debug)]
pub(crate) enum PacketReports {
    /// The records of the report, by numbers of the transport.
    Numbered(Box<FeedbackWriter>),
    /// Records of each stream by its own numbers; the report has the time alone.
    ByStream(StreamFeedback),
}

impl ReportWriter {
    /// A writer of the source `ssrc`, of whose per-packet reports `packets` makes RTCP. It has no stream yet.
    pub(crate) fn new(ssrc: u32, packets: PacketReports) -> Self {
        Self { ssrc, streams: Vec::new(), packets }
    }

    /// Adds the stream `source`. `named`: whether reports other than per-packet ones name it.
    pub(crate) fn add_stream(&mut self, source: u32, named: bool) {
        if let PacketReports::ByStream(feedback) = &mut self.packets {
            feedback.add_stream(source);
        }
        if named {
            self.streams.push(source);
        }
        self.name_first();
    }

    /// Removes the stream `source`.
    pub(crate) fn remove_stream(&mut self, source: u32) {
        if let PacketReports::ByStream(feedback) = &mut self.packets {
            feedback.remove_stream(source);
        }
        self.streams.retain(|&stream| stream != source);
        self.name_first();
    }

    fn name_first(&mut self) {
        if let (PacketReports::Numbered(writer), Some(&first)) = (&mut self.packets, self.streams.first()) {
            writer.set_named(first);
        }
    }

    /// Whether per-packet reports use the numbers of each stream instead of those of the transport.
    pub(crate) fn is_by_stream(&self) -> bool {
        matches!(self.packets, PacketReports::ByStream(_))
    }

    /// A packet of the stream `ssrc` has arrived.
    #[inline]
    pub(crate) fn on_packet(&mut self, now: ArrivalTime, ssrc: u32, packet: &ArrivedPacket) {
        match (&mut self.packets, packet.number) {
            (PacketReports::Numbered(writer), Some(number)) => {
                writer.on_packet(ssrc, number, packet.sequence);
            }
            (PacketReports::Numbered(_), None) => {}
            (PacketReports::ByStream(feedback), _) => {
                feedback.on_packet(ssrc, packet.sequence, now, packet.ecn);
            }
        }
    }

    /// Writes `report`, or returns `None` if it does not fit or is empty. [`Self::write_rest`] writes the rest of a
    /// per-packet report that does not fit.
    pub(crate) fn write(&mut self, report: &Report<'_>, out: &mut [u8]) -> Option<usize> {
        match report {
            Report::Packets { at, .. } => match &mut self.packets {
                PacketReports::Numbered(writer) => writer.write(report, out),
                PacketReports::ByStream(feedback) => feedback.write((*at)?, out),
            },
            _ => write_report(report, self.ssrc, &self.streams, out),
        }
    }

    /// Writes a receiver report with as many of `reports` as fit, each of the stream with that source identifier.
    /// Returns `None` if there are none, or none fits.
    pub(crate) fn write_reception(
        &self,
        reports: impl Iterator<Item = (u32, ReceptionReport)>,
        out: &mut [u8],
    ) -> Option<usize> {
        let room = out.len().checked_sub(ReceiverReport::wire_len(0))? / ReportBlock::WIRE_LEN;
        let mut blocks = [ReportBlock::default(); ReceiverReport::MAX_BLOCKS];
        let mut count = 0;
        for (place, (ssrc, report)) in blocks.iter_mut().take(room).zip(reports) {
            *place = block(&report, ssrc);
            count += 1;
        }
        (count > 0).then(|| ReceiverReport::write(self.ssrc, &blocks[..count], out).ok())?
    }

    /// Writes statistics for shared bottleneck detection. `anew` marks the first since the receiver began.
    pub(crate) fn write_statistics(
        &self,
        statistics: &Statistics,
        anew: bool,
        out: &mut [u8],
    ) -> Option<usize> {
        let source = self.streams.first()?;
        statistics_report(statistics, anew, self.ssrc, *source).write(out).ok()
    }

    /// Writes a key frame request for the stream `source`.
    pub(crate) fn write_key_frame_request(&self, source: u32, out: &mut [u8]) -> Option<usize> {
        Pli { ssrc: self.ssrc, source }.write(out).ok()
    }

    /// Writes a request for `sequences` of the stream `source`, rising. Returns the length, and the number of packets
    /// that it names.
    pub(crate) fn write_nack(
        &self,
        source: u32,
        sequences: impl Iterator<Item = u16> + Clone,
        out: &mut [u8],
    ) -> Option<(usize, usize)> {
        Nack::write(self.ssrc, source, sequences, out).ok()
    }

    /// Whether something may be left of the last per-packet report.
    #[inline]
    pub(crate) fn has_rest(&self) -> bool {
        match &self.packets {
            PacketReports::Numbered(writer) => writer.has_rest(),
            PacketReports::ByStream(feedback) => feedback.has_rest(),
        }
    }

    /// Writes what is left of the last per-packet report; call until `None`.
    pub(crate) fn write_rest(&mut self, out: &mut [u8]) -> Option<usize> {
        match &mut self.packets {
            PacketReports::Numbered(writer) => writer.write_rest(out),
            PacketReports::ByStream(feedback) => feedback.write_rest(out),
        }
    }
}

/// Most sources that a REMB names.
const MOST_REMB_SOURCES: usize = 255;

/// Writes `report`, made by `ssrc` on the packets of `streams`. Returns `None` if it does not fit, or there is no stream.
fn write_report(report: &Report<'_>, ssrc: u32, streams: &[u32], out: &mut [u8]) -> Option<usize> {
    let source = *streams.first()?;
    match *report {
        Report::Ceiling(rate) => {
            Remb::write(ssrc, rate.bps(), &streams[..streams.len().min(MOST_REMB_SOURCES)], out).ok()
        }
        Report::Reception(report) => ReceiverReport::write(ssrc, &[block(&report, source)], out).ok(),
        Report::Native { report: NativeReport::Nada(report), echo } => {
            nada(&report, echo, ssrc, source).write(out).ok()
        }
        Report::Native { report: NativeReport::Dccc(report), echo } => {
            dccc(&report, echo, ssrc, source).write(out).ok()
        }
        Report::Native { report: NativeReport::Tfrc(report), echo } => {
            tfrc(&report, echo, ssrc, source).write(out).ok()
        }
        Report::Native { report: NativeReport::NadaDelay(report), echo } => {
            nada_delay(&report, echo, ssrc, source).write(out).ok()
        }
        Report::Native { report: NativeReport::Own(report), echo } => {
            own(&report, echo, ssrc, source).write(out).ok()
        }
        _ => None,
    }
}

/// Converts `message`, if it is a report that can be read without packet numbers and without earlier reports.
pub(crate) fn report_of(message: &Message<'_>) -> Option<Report<'static>> {
    match message {
        Message::Remb(remb) => Some(ceiling(remb)),
        Message::Nada(report) => Some(nada_report(report)),
        Message::Dccc(report) => Some(dccc_report(report)),
        Message::Tfrc(report) => Some(tfrc_report(report)),
        Message::NadaDelay(report) => Some(nada_delay_report(report)),
        Message::Own(report) => own_report(report),
        _ => None,
    }
}

/// Here a REMB becomes a rate that bounds the controller.
const fn ceiling(remb: &Remb<'_>) -> Report<'static> {
    Report::Ceiling(DataRate::from_bps(remb.bitrate))
}

fn block(report: &ReceptionReport, source: u32) -> ReportBlock {
    ReportBlock {
        ssrc: source,
        fraction_lost: report.fraction_lost,
        cumulative_lost: report.cumulative_lost,
        highest_sequence: report.highest_sequence,
        jitter: report.jitter,
        last_sender_report: report.last_sender_report,
        delay_since_last_sender_report: report.delay_since_last_sender_report,
    }
}

fn nada(report: &NadaReport, echo: Echo, ssrc: u32, source: u32) -> NadaFeedback {
    NadaFeedback {
        ssrc,
        source,
        ramp_up: report.ramp_up,
        congestion: NadaFeedback::congestion_from_nanos(report.congestion.nanos()),
        transport_sequence: echo.sequence,
        receive_rate: NadaFeedback::receive_rate_from_bps(report.receive_rate.bps()),
        held: NadaFeedback::held_from_nanos(echo.held.nanos()),
    }
}

fn nada_report(report: &NadaFeedback) -> Report<'static> {
    Report::Native {
        report: NativeReport::Nada(NadaReport {
            ramp_up: report.ramp_up,
            congestion: TimeDelta::from_nanos(report.congestion_nanos()),
            receive_rate: DataRate::from_bps(u64::from(report.receive_rate)),
        }),
        echo: Echo { sequence: report.transport_sequence, held: TimeDelta::from_nanos(report.held_nanos()) },
    }
}

fn dccc(report: &DcccReport, echo: Echo, ssrc: u32, source: u32) -> DcccFeedback {
    DcccFeedback {
        ssrc,
        source,
        delay_nanos: (report.delay - NO_DELAY).nanos(),
        made_nanos: report.at.nanos(),
        interarrival: DcccFeedback::interarrival_from_nanos(report.interarrival.nanos()),
        sending_rate: DcccFeedback::sending_rate_from_bps(report.sending_rate.bps()),
        packet_size: DcccFeedback::packet_size_from_bytes(report.packet_size.bytes()),
        transport_sequence: echo.sequence,
        held: DcccFeedback::held_from_nanos(echo.held.nanos()),
    }
}

fn dccc_report(report: &DcccFeedback) -> Report<'static> {
    Report::Native {
        report: NativeReport::Dccc(DcccReport {
            delay: NO_DELAY + TimeDelta::from_nanos(report.delay_nanos),
            sending_rate: DataRate::from_bps(u64::from(report.sending_rate)),
            interarrival: TimeDelta::from_nanos(i64::from(report.interarrival)),
            packet_size: DataSize::from_bytes(u64::from(report.packet_size)),
            at: ArrivalTime::from_nanos(report.made_nanos),
        }),
        echo: Echo { sequence: report.transport_sequence, held: TimeDelta::from_nanos(report.held_nanos()) },
    }
}

/// Zero of the apparent delays on the wire, which are differences from this one.
const NO_DELAY: ApparentDelay = ApparentDelay::between(SendTime::ZERO, ArrivalTime::ZERO);

fn tfrc(report: &TfrcReport, echo: Echo, ssrc: u32, source: u32) -> TfrcFeedback {
    TfrcFeedback {
        ssrc,
        source,
        loss_event_rate: TfrcFeedback::loss_event_rate_from(report.loss_event_rate),
        receive_rate: u32::try_from(report.receive_rate.bps()).unwrap_or(u32::MAX),
        held: u32::try_from((echo.held.nanos().max(0).saturating_add(500)) / 1000).unwrap_or(u32::MAX),
        transport_sequence: echo.sequence,
    }
}

fn tfrc_report(report: &TfrcFeedback) -> Report<'static> {
    Report::Native {
        report: NativeReport::Tfrc(TfrcReport {
            loss_event_rate: report.loss_event_rate(),
            receive_rate: DataRate::from_bps(u64::from(report.receive_rate)),
        }),
        echo: Echo {
            sequence: report.transport_sequence,
            held: TimeDelta::from_micros(i64::from(report.held)),
        },
    }
}

fn nada_delay(report: &NadaDelayReport, echo: Echo, ssrc: u32, source: u32) -> NadaDelay {
    NadaDelay {
        ssrc,
        source,
        congestion: NadaDelay::micros_from_nanos(report.congestion.nanos()),
        reference: NadaDelay::micros_from_nanos(report.reference.nanos()),
        transport_sequence: echo.sequence,
        held: NadaDelay::micros_from_nanos(echo.held.nanos()),
    }
}

fn nada_delay_report(report: &NadaDelay) -> Report<'static> {
    let micros = |value| TimeDelta::from_micros(i64::from(value));
    Report::Native {
        report: NativeReport::NadaDelay(NadaDelayReport {
            congestion: micros(report.congestion),
            reference: micros(report.reference),
        }),
        echo: Echo { sequence: report.transport_sequence, held: micros(report.held) },
    }
}

fn own(report: &OwnReport, echo: Echo, ssrc: u32, source: u32) -> ControllerReport<'_> {
    ControllerReport {
        ssrc,
        source,
        name: report.name(),
        held: ControllerReport::held_from_nanos(echo.held.nanos()),
        transport_sequence: echo.sequence,
        data: report.bytes(),
    }
}

fn own_report(report: &ControllerReport<'_>) -> Option<Report<'static>> {
    Some(Report::Native {
        report: NativeReport::Own(OwnReport::new(report.name, report.data).ok()?),
        echo: Echo { sequence: report.transport_sequence, held: TimeDelta::from_nanos(report.held_nanos()) },
    })
}

#[cfg(test)]
mod tests {
    use weir_wire::ntp::NtpTime;
    use weir_wire::rtcp::{self, SenderInfo, SenderReport};

    use weir_cc::RateLimits;
    use weir_cc::history::SendHistory;

    use super::*;
    use crate::config::MediaConfig;
    use crate::encoder::EncoderConfig;
    use crate::guard::filter::RtcpFilter;
    use crate::sources::Sources;
    use crate::streams::SenderStreams;

    /// Checks that `report` is read as it was written, and that a small buffer is refused.
    fn round_trip(report: Report<'static>) {
        let mut bytes = [0; 256];
        let mut writer =
            ReportWriter::new(2, PacketReports::Numbered(Box::new(FeedbackWriter::transport_wide(2, 1))));
        writer.add_stream(1, true);
        let len = writer.write(&report, &mut bytes).expect("the buffer is large enough");
        assert_eq!(read(1, &bytes[..len], |read| *read == report), [true]);
        assert_eq!(writer.write(&report, &mut [0; 8]), None);
        assert_eq!(writer.write_rest(&mut bytes), None);
    }

    /// The highest number in a report, and the departure of the sender report that it answers.
    const HIGHEST: u32 = 0x2_0010;
    const ANSWERED: SendTime = SendTime::from_millis(46_853_125);

    const RECEPTION: ReceptionReport = ReceptionReport {
        fraction_lost: 13,
        cumulative_lost: -5,
        highest_sequence: HIGHEST,
        jitter: 900,
        last_sender_report: 0xb705_2000,
        delay_since_last_sender_report: 0x0005_4000,
    };

    /// Streams of a sender that has sent the packets and the sender reports which the tests refer to.
    fn having_sent(source: u32) -> SenderStreams {
        let mut streams = SenderStreams::new(
            &Sources { video: source, audio: None, retransmissions: None }.identities(),
            false,
        );
        (0..=HIGHEST).for_each(|n| _ = streams.on_sent(0, u64::from(n), Some(0), 1));
        streams.write_sender_reports(ANSWERED, &mut [0; 64]).unwrap();
        streams
    }

    /// Results of `look` for each report in `bytes` at a sender of the stream `source`.
    fn read<T>(source: u32, bytes: &[u8], mut look: impl FnMut(&Report<'_>) -> T) -> Vec<T> {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap();
        let config = MediaConfig { remb: true, ..MediaConfig::new(limits, EncoderConfig::papers()) };
        let mut inbox = RtcpFilter::new(&crate::path_config::PathConfig::of(&config));
        let (mut streams, history) = (having_sent(source), SendHistory::new(TimeDelta::from_secs(5)));
        let messages = rtcp::messages(bytes).filter_map(Result::ok);
        messages
            .filter_map(|message| {
                inbox.concerns_flow(&streams, &message).filter(|about| *about)?;
                let read = inbox.read(SendTime::ZERO, &mut streams, &history, &message, |_| true);
                read.map(|(report, _)| look(&report))
            })
            .collect()
    }

    #[test]
    fn reports_survive_the_wire_at_its_resolution() {
        round_trip(Report::Ceiling(DataRate::from_kbps(1500)));
        round_trip(Report::Reception(RECEPTION));
        round_trip(Report::Native {
            report: NativeReport::Nada(NadaReport {
                ramp_up: false,
                congestion: TimeDelta::from_micros(12_300),
                receive_rate: DataRate::from_kbps(1234),
            }),
            echo: Echo { sequence: 65_535, held: TimeDelta::from_micros(33_333) },
        });
        round_trip(Report::Native {
            report: NativeReport::Dccc(DcccReport {
                delay: NO_DELAY + TimeDelta::from_secs(-7200),
                sending_rate: DataRate::from_kbps(1500),
                interarrival: TimeDelta::from_nanos(5_461_333),
                packet_size: DataSize::from_bytes(1024),
                at: ArrivalTime::from_nanos(7_200_123_456_789),
            }),
            echo: Echo { sequence: 1, held: TimeDelta::from_micros(100) },
        });
        round_trip(Report::Native {
            report: NativeReport::Tfrc(TfrcReport {
                loss_event_rate: 3.0 / 1024.0,
                receive_rate: DataRate::from_kbps(1234),
            }),
            echo: Echo { sequence: 7, held: TimeDelta::from_micros(33_333) },
        });
        round_trip(Report::Native {
            report: NativeReport::NadaDelay(NadaDelayReport {
                congestion: TimeDelta::from_micros(105_001),
                reference: TimeDelta::from_micros(25_002),
            }),
            echo: Echo { sequence: 65_534, held: TimeDelta::from_micros(33_333) },
        });
        for bytes in [&[][..], &[0xA5; 5], &[0xA5; 64]] {
            round_trip(Report::Native {
                report: NativeReport::Own(OwnReport::new(*b"MINE", bytes).unwrap()),
                echo: Echo { sequence: 65_533, held: TimeDelta::from_micros(33_333) },
            });
        }
    }

    #[test]
    fn blocks_in_a_sender_report_of_the_other_end_are_read() {
        let info = SenderInfo { ntp: NtpTime(1), rtp_timestamp: 0, packet_count: 9, octet_count: 900 };
        let (of_us, of_others) = (block(&RECEPTION, 1), block(&RECEPTION, 7));
        let mut bytes = [0; 256];
        let mut read_blocks = |blocks: &[ReportBlock]| {
            let len = SenderReport::write(2, &info, blocks, &mut bytes).unwrap();
            read(1, &bytes[..len], |read| *read == Report::Reception(RECEPTION))
        };
        assert_eq!(read_blocks(&[of_others, of_us]), [true]);
        assert!(read_blocks(&[of_others]).is_empty());
        assert!(read_blocks(&[]).is_empty());
    }

    #[test]
    fn reports_on_others_are_not_ours() {
        let mut bytes = [0; 256];
        let len = write_report(&Report::Ceiling(DataRate::from_kbps(1)), 2, &[1], &mut bytes).unwrap();
        assert!(read(7, &bytes[..len], |_| ()).is_empty());
    }

    #[test]
    fn a_sender_report_is_known_by_its_source() {
        let mut bytes = [0; 256];
        let now = ANSWERED;
        let identities = Sources { video: 1, audio: None, retransmissions: None }.identities();
        let len = crate::streams::write_sender_report(now, identities[0], (10, 12_000), &mut bytes).unwrap();
        // 46 853.125 s = 0xb705.2000 in 16.16 bits.
        let sender_report = rtcp::messages(&bytes[..len]).find_map(|message| match message {
            Ok(Message::SenderReport(report)) => Some((report.ssrc, report.info.ntp.middle())),
            _ => None,
        });
        assert_eq!(sender_report, Some((1, 0xb705_2000)));
        assert_eq!(weir_cc::history::compact_ntp(now), 0xb705_2000);
    }
}
