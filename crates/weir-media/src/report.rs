//! Reports as RTCP bytes, and back.

use weir_cc::{Echo, LawReport, NadaReport, ReceptionReport, Report, SendTime, TfrcReport};
use weir_units::{DataRate, TimeDelta};
use weir_wire::ntp::NtpTime;
use weir_wire::rtcp::{
    self, Message, Nada, ReceiverReport, Remb, ReportBlock, SenderInfo, SenderReport, Tfrc,
};

/// Writes `report`, made by `ssrc` on the packets of `source`. `None` if it does not fit, or has no RTCP form here:
/// per-packet reports do not yet.
pub(crate) fn write_report(report: &Report<'_>, ssrc: u32, source: u32, out: &mut [u8]) -> Option<usize> {
    match *report {
        Report::Ceiling(rate) => Remb::write(ssrc, rate.bps(), &[source], out).ok(),
        Report::Reception(report) => ReceiverReport::write(ssrc, &[block(&report, source)], out).ok(),
        Report::Law { report: LawReport::Nada(report), echo } => {
            nada(&report, echo, ssrc, source).write(out).ok()
        }
        Report::Law { report: LawReport::Tfrc(report), echo } => {
            tfrc(&report, echo, ssrc, source).write(out).ok()
        }
        _ => None,
    }
}

/// The reports on `source` in an RTCP compound packet; parts that cannot be read are skipped.
pub(crate) fn reports_about(source: u32, bytes: &[u8]) -> impl Iterator<Item = Report<'static>> {
    rtcp::messages(bytes).filter_map(Result::ok).filter_map(move |message| match message {
        Message::ReceiverReport(report) => report
            .blocks()
            .find(|block| block.ssrc == source)
            .map(|block| Report::Reception(reception(&block))),
        Message::Remb(remb) => {
            let about_us = remb.ssrcs().any(|ssrc| ssrc == source);
            about_us.then(|| Report::Ceiling(DataRate::from_bps(remb.bitrate)))
        }
        Message::Nada(report) => (report.source == source).then(|| nada_report(&report)),
        Message::Tfrc(report) => (report.source == source).then(|| tfrc_report(&report)),
        _ => None,
    })
}

/// Writes a sender report of `ssrc`.
pub(crate) fn write_sender_report(
    now: SendTime,
    ssrc: u32,
    packet_count: u32,
    octet_count: u32,
    out: &mut [u8],
) -> Option<usize> {
    // NTP time counts from the sender clock's zero: only its differences are used.
    let ntp = NtpTime(((i128::from(now.nanos()) << 32) / 1_000_000_000) as u64);
    let ticks = i128::from(now.nanos()) * i128::from(crate::config::VIDEO_CLOCK_HZ) / 1_000_000_000;
    let info = SenderInfo { ntp, rtp_timestamp: ticks as u32, packet_count, octet_count };
    SenderReport::write(ssrc, &info, &[], out).ok()
}

/// The middle 32 bits of the NTP time of the last sender report of `source` among `bytes`.
pub(crate) fn sender_report_of(source: u32, bytes: &[u8]) -> Option<u32> {
    rtcp::messages(bytes).filter_map(Result::ok).fold(None, |last, message| match message {
        Message::SenderReport(report) if report.ssrc == source => Some(report.info.ntp.middle()),
        _ => last,
    })
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

fn nada(report: &NadaReport, echo: Echo, ssrc: u32, source: u32) -> Nada {
    Nada {
        ssrc,
        source,
        ramp_up: report.ramp_up,
        congestion: Nada::congestion_from_nanos(report.congestion.nanos()),
        transport_sequence: echo.sequence,
        receive_rate: Nada::receive_rate_from_bps(report.receive_rate.bps()),
        held: Nada::held_from_nanos(echo.held.nanos()),
    }
}

fn nada_report(report: &Nada) -> Report<'static> {
    Report::Law {
        report: LawReport::Nada(NadaReport {
            ramp_up: report.ramp_up,
            congestion: TimeDelta::from_nanos(report.congestion_nanos()),
            receive_rate: DataRate::from_bps(u64::from(report.receive_rate)),
        }),
        echo: Echo { sequence: report.transport_sequence, held: TimeDelta::from_nanos(report.held_nanos()) },
    }
}

fn tfrc(report: &TfrcReport, echo: Echo, ssrc: u32, source: u32) -> Tfrc {
    Tfrc {
        ssrc,
        source,
        loss_event_rate: Tfrc::loss_event_rate_from(report.loss_event_rate),
        receive_rate: u32::try_from(report.receive_rate.bps()).unwrap_or(u32::MAX),
        held: u32::try_from((echo.held.nanos().max(0).saturating_add(500)) / 1000).unwrap_or(u32::MAX),
        transport_sequence: echo.sequence,
    }
}

fn tfrc_report(report: &Tfrc) -> Report<'static> {
    Report::Law {
        report: LawReport::Tfrc(TfrcReport {
            loss_event_rate: report.loss_event_rate(),
            receive_rate: DataRate::from_bps(u64::from(report.receive_rate)),
        }),
        echo: Echo {
            sequence: report.transport_sequence,
            held: TimeDelta::from_micros(i64::from(report.held)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(report: Report<'static>) {
        let mut bytes = [0; 256];
        let len = write_report(&report, 2, 1, &mut bytes).expect("the buffer is large enough");
        assert_eq!(reports_about(1, &bytes[..len]).collect::<Vec<_>>(), [report]);
        assert_eq!(write_report(&report, 2, 1, &mut [0; 8]), None);
    }

    #[test]
    fn reports_survive_the_wire_at_its_resolution() {
        round_trip(Report::Ceiling(DataRate::from_kbps(1500)));
        round_trip(Report::Reception(ReceptionReport {
            fraction_lost: 13,
            cumulative_lost: -5,
            highest_sequence: 0x2_0010,
            jitter: 900,
            last_sender_report: 0xb705_2000,
            delay_since_last_sender_report: 0x0005_4000,
        }));
        round_trip(Report::Law {
            report: LawReport::Nada(NadaReport {
                ramp_up: false,
                congestion: TimeDelta::from_micros(12_300),
                receive_rate: DataRate::from_kbps(1234),
            }),
            echo: Echo { sequence: 65_535, held: TimeDelta::from_micros(33_333) },
        });
        round_trip(Report::Law {
            report: LawReport::Tfrc(TfrcReport {
                loss_event_rate: 3.0 / 1024.0,
                receive_rate: DataRate::from_kbps(1234),
            }),
            echo: Echo { sequence: 7, held: TimeDelta::from_micros(33_333) },
        });
    }

    #[test]
    fn reports_on_others_are_not_ours() {
        let mut bytes = [0; 256];
        let len = write_report(&Report::Ceiling(DataRate::from_kbps(1)), 2, 1, &mut bytes).unwrap();
        assert_eq!(reports_about(7, &bytes[..len]).count(), 0);
    }

    #[test]
    fn a_sender_report_is_known_by_its_source() {
        let mut bytes = [0; 256];
        let now = SendTime::from_millis(46_853_125);
        let len = write_sender_report(now, 1, 10, 12_000, &mut bytes).unwrap();
        // 46 853.125 s = 0xb705.2000 in 16.16 bits.
        assert_eq!(sender_report_of(1, &bytes[..len]), Some(0xb705_2000));
        assert_eq!(weir_cc::history::compact_ntp(now), 0xb705_2000);
        assert_eq!(sender_report_of(2, &bytes[..len]), None);
    }
}
