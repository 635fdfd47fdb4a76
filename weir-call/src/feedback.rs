//! Reports of the browser, from the RTCP that `str0m` has decrypted and parsed.

use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};

use str0m::rtp::rtcp;
use weir_cc::history::{SendHistory, compact_ntp};
use weir_cc::{ArrivalTime, ReceptionReport, Record, Report, SendTime, TimeDelta};

/// Unit and number of values of the reference time of transport-wide feedback
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
const REFERENCE_MS: i64 = 64;
const REFERENCES: i64 = 1 << 24;
/// Seconds from 1900, where NTP begins, to 1970.
const NTP_TO_UNIX: u64 = 2_208_988_800;
/// Sender reports that are remembered; a browser answers the latest one.
const REMEMBERED: usize = 8;

/// Makes reports for the send history.
#[derive(Debug)]
pub(crate) struct BrowserReports {
    records: Vec<Record>,
    /// Any moment, from which times of arrival are counted meanwhile.
    zero: Instant,
    /// The last reference time, unwrapped.
    reference: Option<i64>,
    /// Sender reports: middle bits of their NTP time, and when they left.
    sent: VecDeque<(u32, SendTime)>,
}

impl BrowserReports {
    pub(crate) fn new(zero: Instant) -> Self {
        Self { records: Vec::new(), zero, reference: None, sent: VecDeque::new() }
    }

    /// The fates of packets. `None` for feedback that claims more packets than have left.
    pub(crate) fn transport_wide(
        &mut self,
        feedback: rtcp::Twcc,
        history: &SendHistory,
    ) -> Option<Report<'_>> {
        if !history.may_cover(feedback.base_seq, feedback.status_count) {
            return None;
        }
        let wire = i64::from(feedback.reference_time);
        let last = self.reference.unwrap_or(wire);
        let ahead = (wire - last).rem_euclid(REFERENCES);
        let reference = last + if ahead < REFERENCES / 2 { ahead } else { ahead - REFERENCES };
        self.reference = Some(reference);
        let begin = self.zero + Duration::from_millis(wire as u64 * REFERENCE_MS as u64);
        let base = ArrivalTime::from_millis(reference * REFERENCE_MS);
        let (number, first) = (feedback.feedback_count, u64::from(feedback.base_seq));
        self.records.clear();
        self.records.extend(feedback.into_iter(self.zero, first.into()).map(|(sequence, _, arrival)| {
            Record::new(*sequence as u16, arrival.map(|arrival| base + between(begin, arrival)))
        }));
        Some(Report::packets(&self.records, number))
    }

    /// Notes a sender report, by which round trips are measured.
    pub(crate) fn on_sender_report(&mut self, now: SendTime, report: &rtcp::SenderReport) {
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        self.sent.push_back((middle_bits(report.sender_info.ntp_time), now));
    }

    /// The statistics of the stream `ssrc` in a receiver report.
    pub(crate) fn reception(&self, report: &rtcp::ReceiverReport, ssrc: u32) -> Option<Report<'static>> {
        let block = (&report.reports).into_iter().find(|block| *block.ssrc == ssrc)?;
        // Sender reports carry the wall clock, and the history counts by its own.
        let answered = self.sent.iter().rev().find(|(bits, _)| bits.abs_diff(block.last_sr_time) <= 2);
        Some(Report::Reception(ReceptionReport {
            fraction_lost: block.fraction_lost,
            // 24 bits with a sign.
            cumulative_lost: (block.packets_lost << 8) as i32 >> 8,
            highest_sequence: block.max_seq,
            jitter: block.jitter,
            last_sender_report: answered.map_or(0, |&(_, left)| compact_ntp(left)),
            delay_since_last_sender_report: block.last_sr_delay,
        }))
    }
}

fn between(begin: Instant, end: Instant) -> TimeDelta {
    let nanos = |span: Duration| i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
    TimeDelta::from_nanos(match end.checked_duration_since(begin) {
        Some(later) => nanos(later),
        None => -nanos(begin - end),
    })
}

/// The middle 32 bits of the NTP time.
fn middle_bits(time: SystemTime) -> u32 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let fraction = (u64::from(since.subsec_nanos()) << 16) / 1_000_000_000;
    (((since.as_secs() + NTP_TO_UNIX) << 16) + fraction) as u32
}

#[cfg(test)]
mod tests {
    use weir_cc::{DataSize, Reception};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "any moment will do")]
    fn any_moment() -> Instant {
        Instant::now()
    }

    #[test]
    fn middle_bits_are_those_of_ntp() {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1, 500_000_000);
        assert_eq!(middle_bits(time), (2_208_988_801_u64 << 16) as u32 + 0x8000);
    }

    #[test]
    fn times_between_moments_have_a_sign() {
        let begin = any_moment();
        let end = begin + Duration::from_micros(250);
        assert_eq!(between(begin, end), TimeDelta::from_micros(250));
        assert_eq!(between(end, begin), TimeDelta::from_micros(-250));
    }

    /// Feedback of one packet, whose delta is 4 · 250 µs.
    fn feedback(reference_time: u32, base_seq: u16, status_count: u16) -> rtcp::Twcc {
        let bytes: Vec<u8> = [0, 0, 0, 1, 0, 0, 0, 2]
            .into_iter()
            .chain(base_seq.to_be_bytes())
            .chain(status_count.to_be_bytes())
            .chain(reference_time.to_be_bytes()[1..].to_vec())
            .chain([5])
            .chain([0x20, status_count as u8])
            .chain(std::iter::repeat_n(4, usize::from(status_count)))
            .collect();
        rtcp::Twcc::try_from(&*bytes).unwrap()
    }

    #[test]
    fn arrivals_count_from_an_unwrapped_reference() {
        let mut history = SendHistory::new(TimeDelta::from_secs(5));
        for _ in 0..3 {
            history.on_media_sent(SendTime::ZERO, DataSize::from_bytes(20), DataSize::from_bytes(1000));
        }
        let mut reports = BrowserReports::new(any_moment());
        let mut times = |reference, base, count| {
            let report = reports.transport_wide(feedback(reference, base, count), &history)?;
            let Report::Packets { records, number: 5, at: None } = report else { panic!("{report:?}") };
            let time = |record: &Record| match record.reception {
                Reception::At(at) => (record.sequence, at.nanos() / 1000),
                other => panic!("{other:?}"),
            };
            Some(records.iter().map(time).collect::<Vec<_>>())
        };
        let last = (1 << 24) - 1;
        let us = i64::from(last) * 64_000;
        assert_eq!(times(last, 0, 2), Some(vec![(0, us + 1000), (1, us + 2000)]));
        assert_eq!(times(0, 2, 1), Some(vec![(2, us + 64_000 + 1000)]));
        assert_eq!(times(0, 3, 1), None, "it has not left");
        assert_eq!(times(0, 0, 4), None);
    }
}
