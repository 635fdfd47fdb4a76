//! What a sender makes of the RTCP that comes: of whom and what it believes, the controller, the history and the circuit breakers
//! hear.

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
    /// An RTCP compound packet has come; parts that cannot be read are skipped.
    pub fn on_rtcp(&mut self, now: SendTime, bytes: &[u8]) -> RtcpOutcome {
        let mut heard = RtcpOutcome::default();
        for message in rtcp::messages(bytes).filter_map(Result::ok) {
            let Some(news) = self.on_message(now, &message) else { continue };
            heard.rtt = news.rtt.or(heard.rtt);
            heard.decision = Decision::merged(heard.decision, news.decision);
            heard.statistics = news.statistics.or(heard.statistics);
        }
        self.on_messages_read(now);
        heard
    }

    /// An RTCP packet has come; `None` if it is not about this flow. [`Self::on_messages_read`] belongs behind the last
    /// one of a compound.
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

    /// A receiver report on this flow has come: circuit breakers go by each, however old.
    fn on_blocks(
        &mut self,
        now: SendTime,
        message: &Message<'_>,
        blocks: impl Iterator<Item = ReportBlock>,
    ) -> RtcpOutcome {
        let read = self.on_report(now, message);
        let is_read = read.is_some();
        let mut heard = read.unwrap_or_default();
        let breaker = self.breakers.as_mut().and_then(|breakers| {
            let mut told = self.streams.told_of_video(blocks);
            told.find_map(|told| {
                // Totals that others have overtaken, such as forged ones, are no news; the round trip beside them is.
                if !is_read
                    && let Some(Feedback::Reception { rtt, .. }) =
                        self.history.join(now, &Report::Reception(told))
                {
                    breakers.on_heard(now, rtt);
                }
                breakers.on_block(now, told.highest_sequence, told.fraction_lost)
            })
        });
        if let Some(breaker) = breaker {
            heard.decision = Decision::merged(heard.decision, self.trip(now, breaker));
        }
        heard
    }

    /// A report on this flow has come; `None` if nobody reads it, or it says nothing new.
    fn on_report(&mut self, now: SendTime, message: &Message<'_>) -> Option<RtcpOutcome> {
        let (state, controller) = (self.state(), &mut self.controller);
        let accepts = |kind| controller.accepts(kind);
        let (report, heard) = self.inbox.read(now, &mut self.streams, &self.history, message, accepts)?;
        let feedback = self.history.join(now, &report);
        let rtt = feedback.as_ref().and_then(Feedback::rtt);
        let decision = feedback.as_ref().filter(|_| heard).and_then(|feedback| {
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
        // What a witness tells is not what the law goes by.
        let distrust = if heard { self.weigh_reports(now) } else { None };
        let decision = Decision::merged(decision, distrust);
        Some(RtcpOutcome { rtt, decision, statistics })
    }

    /// A circuit breaker stops media.
    pub(super) fn trip(&mut self, now: SendTime, breaker: Breaker) -> Option<Decision> {
        let decision = self.pause(now);
        self.stopped_by = Some(breaker);
        decision
    }

    /// A receiver that tells what it has not seen is worth the least rate; while reports contradict each other the rate rises on
    /// none of them.
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
            // A probe that was asked for by what is doubted now would leave above the new maximum.
            self.prober.clear();
        } else {
            self.refresh(now);
        }
        let decision = self.controller.on_event(now, PathEvent::Limits(self.limits()));
        // Some laws probe for a maximum that rises. This one is what it was, and the path has just been filled by what was believed.
        let regained =
            matches!(before, FeedbackTrust::UpTo { maximum, .. } if self.configured_limits.max() <= maximum);
        if doubts || regained {
            while self.controller.poll_probe().is_some() {}
        }
        decision
    }

    /// The limits that hold now.
    pub(super) fn limits(&self) -> RateLimits {
        let limits = self.configured_limits;
        let most = match self.trust {
            FeedbackTrust::Whole => limits.max(),
            FeedbackTrust::UpTo { rate, .. } => limits.clamp(rate),
            FeedbackTrust::None => limits.min(),
        };
        RateLimits::new(limits.min(), limits.start().min(most), most).unwrap_or(limits)
    }

    /// Only these report on the flow: the source identifiers that the other end announced. As long as nobody is named anybody is
    /// believed who knows the flow's own.
    pub fn believe_only(&mut self, reporters: &[u32]) {
        self.inbox.believe_only(reporters);
    }

    /// What the embedder must hear of, once; call until `None`.
    pub fn take_alarm(&mut self) -> Option<Alarm> {
        let refusals = || core::mem::take(&mut self.refusals.to_tell).then_some(Alarm::ReportsRefused);
        self.stopped_by.take().map(Alarm::Stopped).or_else(|| self.doubt.take()).or_else(refusals)
    }

    pub(crate) fn on_messages_read(&mut self, now: SendTime) {
        self.refusals.on_count(now, self.inbox.refused(&self.streams, &self.history).suspicious());
        if self.started.is_some() {
            self.refresh(now);
        }
    }

    /// How many reports of the receiver's statistics said what cannot be.
    pub fn refused_statistics(&self) -> u64 {
        self.statistics_reports.as_ref().map_or(0, StatisticsReader::refused)
    }

    /// How much of what came about the flow was not believed.
    pub fn refused_reports(&self) -> RefusedReports {
        self.inbox.refused(&self.streams, &self.history)
    }
}
