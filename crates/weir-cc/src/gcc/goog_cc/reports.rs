//! Round-trip times and losses as inputs of libwebrtc's controller: those of receiver reports or, without reports,
//! those of feedback.

use weir_units::TimeDelta;

use crate::parts::loss_reports::ReceiverReportTracker;
use crate::report::ReceptionReport;
use crate::time::SendTime;

/// Number of remembered longest feedback rounds. libwebrtc.
const ROUNDS: usize = 32;
/// Greatest time between two receiver reports on packets, after which their loss no longer counts. libwebrtc.
const REPORT_INTERVAL: TimeDelta = TimeDelta::from_secs(5);
/// Resolution of libwebrtc's round-trip times.
const MILLISECOND: TimeDelta = TimeDelta::from_millis(1);

/// State of receiver reports, and of the feedback that replaces them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reports {
    longest: LongestRounds,
    losses: ReceiverReportTracker,
    /// Whether a receiver report carried a round-trip time.
    has_rtt: bool,
    /// Time of the last receiver report whose difference from the previous one covers packets.
    loss_reported_at: Option<SendTime>,
    /// Time of the first feedback.
    first_feedback: Option<SendTime>,
    /// Longest wait for receiver reports, after which losses and round-trip times of feedback count.
    patience: TimeDelta,
}

impl Reports {
    /// A state without any report. Receiver reports are awaited for `patience`.
    pub(super) fn new(patience: TimeDelta) -> Self {
        Self {
            longest: LongestRounds::NONE,
            losses: ReceiverReportTracker::NONE,
            has_rtt: false,
            loss_reported_at: None,
            first_feedback: None,
            patience,
        }
    }

    /// Takes a receiver report. Returns the packets lost and expected since the previous report, if there is one and
    /// packets have arrived since.
    pub(super) fn on_report(&mut self, report: ReceptionReport, now: SendTime) -> Option<(i64, u64)> {
        let news = self.losses.on_report(report.highest_sequence, report.cumulative_lost);
        let reported = news.filter(|&(lost, expected)| lost < expected.cast_signed())?;
        self.loss_reported_at = Some(now);
        Some(reported)
    }

    /// Takes the round-trip time of a receiver report; returns the value that counts.
    pub(super) fn on_rtt(&mut self, rtt: TimeDelta) -> TimeDelta {
        self.has_rtt = true;
        let whole = (rtt.nanos().saturating_add(MILLISECOND.nanos() / 2)) / MILLISECOND.nanos();
        TimeDelta::from_millis(whole.max(1))
    }

    /// Removes every report.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.patience);
    }

    /// Takes feedback at `now` with the longest round `longest`. Returns the round-trip time, if receiver reports
    /// carry none.
    pub(super) fn on_feedback(&mut self, longest: TimeDelta, now: SendTime) -> Option<TimeDelta> {
        let mean = self.longest.add(longest);
        self.first_feedback.get_or_insert(now);
        (!self.has_rtt && self.are_absent(now)).then_some(mean)
    }

    /// Whether losses are those of feedback, because receiver reports have covered no packet within the wait, or for
    /// a long time.
    pub(super) fn lack_losses(&self, now: SendTime) -> bool {
        self.loss_reported_at.map_or(self.are_absent(now), |at| (now - at).abs() > REPORT_INTERVAL)
    }

    fn are_absent(&self, now: SendTime) -> bool {
        let waited = |first_feedback: SendTime| (now - first_feedback).abs() > self.patience;
        self.patience == TimeDelta::ZERO || self.first_feedback.is_some_and(waited)
    }

    /// The least of the longest rounds of the last feedbacks, in whole milliseconds, or `None` before the first.
    pub(super) fn least(&self) -> Option<TimeDelta> {
        (self.longest.count > 0).then_some(self.longest.least)
    }
}

/// The longest round-trip time of each of the last 32 feedbacks, with the waiting time at the receiver.
#[derive(Clone, Copy, Debug)]
struct LongestRounds {
    rounds: [TimeDelta; ROUNDS],
    count: usize,
    sum: TimeDelta,
    least: TimeDelta,
}

impl LongestRounds {
    const NONE: Self =
        Self { rounds: [TimeDelta::MAX; ROUNDS], count: 0, sum: TimeDelta::ZERO, least: TimeDelta::MAX };
    /// Upper bound above any real round trip, so that sums do not overflow.
    const MOST: TimeDelta = TimeDelta::from_secs(100_000);

    /// Takes the longest round of a feedback; returns the mean.
    fn add(&mut self, longest: TimeDelta) -> TimeDelta {
        let longest = longest.clamp(TimeDelta::ZERO, Self::MOST);
        let slot = &mut self.rounds[self.count % ROUNDS];
        if self.count >= ROUNDS {
            self.sum -= *slot;
        }
        self.sum += longest;
        *slot = longest;
        self.count += 1;
        let least = self.rounds.iter().min().copied().unwrap_or(longest);
        self.least = TimeDelta::from_millis(least.nanos() / MILLISECOND.nanos());
        self.sum / self.count.min(ROUNDS) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn the_longest_of_the_last_32_feedbacks_are_remembered() {
        let mut rounds = LongestRounds::NONE;
        assert_eq!((rounds.add(ms(100)), rounds.least), (ms(100), ms(100)));
        assert_eq!((rounds.add(ms(200)), rounds.least), (ms(150), ms(100)));
        let last = (0..32).map(|_| rounds.add(TimeDelta::from_micros(120_900))).last();
        assert_eq!((last, rounds.least), (Some(TimeDelta::from_micros(120_900)), ms(120)));
        rounds.add(TimeDelta::MAX);
        assert!(rounds.add(TimeDelta::from_nanos(-1)) <= LongestRounds::MOST);
        assert_eq!(rounds.least, TimeDelta::ZERO);
    }

    #[test]
    fn feedback_gives_the_round_trip_time_after_5_s_without_a_receiver_report() {
        let mut reports = Reports::new(REPORT_INTERVAL);
        assert_eq!(reports.least(), None);
        assert_eq!(reports.on_feedback(ms(80), at(1000)), None);
        assert_eq!(reports.on_feedback(ms(80), at(6000)), None);
        assert!(!reports.lack_losses(at(6000)));
        assert_eq!(reports.on_feedback(ms(80), at(6001)), Some(ms(80)));
        assert!(reports.lack_losses(at(6001)));
        assert_eq!(reports.least(), Some(ms(80)));
        assert_eq!(reports.on_rtt(TimeDelta::from_micros(50_500)), ms(51));
        assert_eq!(reports.on_rtt(TimeDelta::ZERO), ms(1));
        assert_eq!(reports.on_feedback(ms(80), at(20_000)), None);
    }

    #[test]
    fn without_receiver_reports_feedback_gives_loss_and_round_trip_time() {
        let mut reports = Reports::new(TimeDelta::ZERO);
        assert!(reports.lack_losses(at(0)));
        assert_eq!(reports.on_feedback(ms(80), at(0)), Some(ms(80)));
        let report = |highest_sequence| ReceptionReport { highest_sequence, ..ReceptionReport::default() };
        reports.on_report(report(0), at(1000));
        assert!(reports.lack_losses(at(1000)), "the first reports no packet");
        reports.on_report(report(50), at(2000));
        assert_eq!([2000, 7000, 7001].map(|now| reports.lack_losses(at(now))), [false, false, true]);
        reports.on_rtt(ms(50));
        assert_eq!(reports.on_feedback(ms(80), at(2000)), None);
    }

    #[test]
    fn losses_are_counted_from_report_to_report_where_anything_arrives() {
        let report = |highest_sequence, cumulative_lost| ReceptionReport {
            cumulative_lost,
            highest_sequence,
            ..ReceptionReport::default()
        };
        let mut reports = Reports::new(REPORT_INTERVAL);
        reports.on_feedback(ms(80), at(0));
        assert_eq!(reports.on_report(report(100, 10), at(1000)), None, "the first one");
        assert_eq!(reports.on_report(report(150, 15), at(2000)), Some((5, 50)));
        assert_eq!(
            reports.on_report(report(200, 14), at(3000)),
            Some((-1, 50)),
            "late packets took losses back"
        );
        assert_eq!(reports.on_report(report(150, 14), at(4000)), None, "an old report");
        assert_eq!(reports.on_report(report(210, i32::MAX), at(5000)), None, "more than were expected");
        assert_eq!(reports.on_report(report(210, 24), at(6000)), None, "all that were expected");
        assert_eq!(reports.on_report(report(220, 33), at(7000)), Some((9, 10)));
    }

    #[test]
    fn one_report_does_not_silence_the_losses_of_feedback_for_ever() {
        let report = |highest_sequence| ReceptionReport { highest_sequence, ..ReceptionReport::default() };
        let mut reports = Reports::new(REPORT_INTERVAL);
        reports.on_feedback(ms(80), at(0));
        reports.on_report(report(0), at(1000));
        reports.on_report(report(1_000_000_000), at(6000));
        assert!(!reports.lack_losses(at(11_000)));
        assert!(reports.lack_losses(at(11_001)));
        reports.on_report(report(50), at(12_000));
        assert!(reports.lack_losses(at(12_000)), "it reports no packet");
        reports.on_report(report(60), at(13_000));
        assert!(!reports.lack_losses(at(13_000)));
    }
}
