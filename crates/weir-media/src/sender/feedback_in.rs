//! Incoming RTCP at a sender: checks it, and passes feedback to the controller, the history and the circuit breakers.

use weir_cc::{Decision, Feedback, PathEvent, RateLimits, Report, SendTime};
use weir_wire::rtcp::{self, Message, ReportBlock};

use super::MediaSender;
use crate::alarm::Alarm;
use crate::breakers::Breaker;
use crate::detection::StatisticsReader;
use crate::feedback_trust::FeedbackTrust;
use crate::rtcp_filter::RefusedReports;
use crate::rtcp_outcome::RtcpOutcome;

impl MediaSender {
    /// Takes an RTCP compound packet; malformed parts are skipped.
    pub fn on_rtcp(&mut self, now: SendTime, bytes: &[u8]) -> RtcpOutcome {
        let mut outcome = RtcpOutcome::default();
        for message in rtcp::messages(bytes).filter_map(Result::ok) {
            let Some(part) = self.on_message(now, &message) else { continue };
            outcome.rtt = part.rtt.or(outcome.rtt);
            outcome.decision = Decision::merged(outcome.decision, part.decision);
            outcome.statistics = part.statistics.or(outcome.statistics);
        }
        self.on_messages_read(now);
        outcome
    }

    /// Takes an RTCP packet; returns `None` if it is not about this flow. The caller calls [`Self::on_messages_read`]
    /// after the last one of a compound.
    pub(crate) fn on_message(&mut self, now: SendTime, message: &Message<'_>) -> Option<RtcpOutcome> {
        self.started?;
        match self.inbox.is_about(&self.streams, message) {
            Some(true) => {}
            Some(false) => return None,
            None => return Some(RtcpOutcome::default()),
        }
        match message {
            Message::Pli(_) => self.encoder.request_key_frame(),
            Message::Sbd(report) => {
                let reader = self.statistics_reports.as_mut();
                let statistics = reader.and_then(|reader| reader.read(now, report));
                return Some(RtcpOutcome { statistics, ..RtcpOutcome::default() });
            }
            Message::SenderReport(report) => return Some(self.on_blocks(now, message, report.blocks())),
            Message::ReceiverReport(report) => return Some(self.on_blocks(now, message, report.blocks())),
            _ => return Some(self.on_report(now, message).unwrap_or_default()),
        }
        Some(RtcpOutcome::default())
    }

    /// Takes a receiver report on this flow. Circuit breakers use each one, however old.
    fn on_blocks(
        &mut self,
        now: SendTime,
        message: &Message<'_>,
        blocks: impl Iterator<Item = ReportBlock>,
    ) -> RtcpOutcome {
        let read = self.on_report(now, message);
        let is_read = read.is_some();
        let mut outcome = read.unwrap_or_default();
        let breaker = self.breakers.as_mut().and_then(|breakers| {
            let mut reports = self.streams.video_reports(blocks);
            reports.find_map(|report| {
                // Totals older than those of other reports, such as forged ones, are refused as feedback, but their
                // round-trip time counts.
                if !is_read
                    && let Some(Feedback::Reception { rtt, .. }) =
                        self.history.join(now, &Report::Reception(report))
                {
                    breakers.on_heard(now, rtt);
                }
                breakers.on_block(now, report.highest_sequence, report.fraction_lost)
            })
        });
        if let Some(breaker) = breaker {
            outcome.decision = Decision::merged(outcome.decision, self.trip(now, breaker));
        }
        outcome
    }

    /// Takes a report on this flow. Returns `None` if it is not used, or has no new content.
    fn on_report(&mut self, now: SendTime, message: &Message<'_>) -> Option<RtcpOutcome> {
        let (state, controller) = (self.state(), &mut self.controller);
        let accepts = |kind| controller.accepts(kind);
        let (report, accepted) = self.inbox.read(now, &mut self.streams, &self.history, message, accepts)?;
        let feedback = self.history.join(now, &report);
        let rtt = feedback.as_ref().and_then(Feedback::rtt);
        let decision = feedback.as_ref().filter(|_| accepted).and_then(|feedback| {
            self.heard_at = Some(now);
            controller.on_feedback(now, feedback, &state)
        });
        let statistics = self.statistics.as_mut().and_then(|statistics| {
            if let Some(Feedback::Packets { results, .. }) = feedback {
                statistics.on_results(results);
            }
            statistics.poll()
        });
        if let Some(breakers) = self.breakers.as_mut().filter(|_| feedback.is_some()) {
            breakers.on_heard(now, rtt);
        }
        if self.history.take_refuted_delay() {
            self.controller.on_event(now, PathEvent::DelayRefuted);
        }
        // Additional per-packet reports do not reach the controller, so they do not limit its rate either.
        let distrust = if accepted { self.weigh_reports(now) } else { None };
        let decision = Decision::merged(decision, distrust);
        Some(RtcpOutcome { rtt, decision, statistics })
    }

    /// Stops media because of a circuit breaker.
    pub(super) fn trip(&mut self, now: SendTime, breaker: Breaker) -> Option<Decision> {
        let decision = self.pause(now);
        self.stopped_by = Some(breaker);
        decision
    }

    /// Sets the trust in the receiver's reports. A receiver that reports packets that were never sent gets the least
    /// rate; while reports contradict each other the rate does not rise.
    fn weigh_reports(&mut self, now: SendTime) -> Option<Decision> {
        let trust = match self.trust {
            _ if self.history.receiver_lies() => FeedbackTrust::None,
            doubt @ FeedbackTrust::UpTo { .. } if self.history.is_contested(now) => doubt,
            _ if self.history.is_contested(now) => {
                FeedbackTrust::UpTo { rate: self.usual.rate(), maximum: self.configured_limits.max() }
            }
            _ => FeedbackTrust::Whole,
        };
        if trust == FeedbackTrust::Whole {
            self.usual.on_rate(now, self.target.media_rate);
        }
        let before = core::mem::replace(&mut self.trust, trust);
        if before == trust {
            return None;
        }
        self.doubt = Some(match trust {
            FeedbackTrust::None => Alarm::ReceiverLies,
            FeedbackTrust::UpTo { .. } => Alarm::ReportsContradict,
            FeedbackTrust::Whole => Alarm::ReportsAgree,
        });
        let doubts = trust != FeedbackTrust::Whole;
        if doubts {
            // A probe requested because of reports that are doubted now would exceed the new maximum.
            self.prober.clear();
        } else {
            self.refresh(now);
        }
        let decision = self.controller.on_event(now, PathEvent::Limits(self.limits()));
        // Some controllers probe when the maximum rises. Here it is only restored, and the believed reports have just
        // shown how much the path carries.
        let regained =
            matches!(before, FeedbackTrust::UpTo { maximum, .. } if self.configured_limits.max() <= maximum);
        if doubts || regained {
            while self.controller.poll_probe().is_some() {}
        }
        decision
    }

    /// The bounds of the rate in force.
    pub(super) fn limits(&self) -> RateLimits {
        let limits = self.configured_limits;
        let most = match self.trust {
            FeedbackTrust::Whole => limits.max(),
            FeedbackTrust::UpTo { rate, .. } => limits.clamp(rate),
            FeedbackTrust::None => limits.min(),
        };
        RateLimits::new(limits.min(), limits.start().min(most), most).unwrap_or(limits)
    }

    /// Restricts the sources that report on the flow to those that the other end announced. While the list is empty,
    /// any source that knows the flow's identifiers is believed.
    pub fn believe_only(&mut self, reporters: &[u32]) {
        self.inbox.believe_only(reporters);
    }

    /// The next alarm to the embedder, each returned once; call until `None`.
    pub fn take_alarm(&mut self) -> Option<Alarm> {
        let refusals = || core::mem::take(&mut self.refusals.alarm_due).then_some(Alarm::ReportsRefused);
        self.stopped_by.take().map(Alarm::Stopped).or_else(|| self.doubt.take()).or_else(refusals)
    }

    pub(crate) fn on_messages_read(&mut self, now: SendTime) {
        self.refusals.on_count(now, self.inbox.refused(&self.streams, &self.history).suspicious());
        if self.started.is_some() {
            self.refresh(now);
        }
    }

    /// Number of reports of the receiver's statistics with impossible values.
    pub fn refused_statistics(&self) -> u64 {
        self.statistics_reports.as_ref().map_or(0, StatisticsReader::refused)
    }

    /// Counts of reports about the flow that were not believed.
    pub fn refused_reports(&self) -> RefusedReports {
        self.inbox.refused(&self.streams, &self.history)
    }
}
