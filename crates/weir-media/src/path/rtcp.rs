//! Incoming RTCP at a sender: the guard reads it, the history joins reports with packets, and the controller decides.

use weir_cc::coupled::sbd::FlowStatistics;
use weir_cc::{
    ArrivalTime, Controller, Decision, Feedback, PathEvent, Record, Report, ReportKind, SendState, SendTime,
};
use weir_wire::rtcp::{self, Message};

use super::{PacketSource, PathSender};
use crate::climb::LayerClimb;
use crate::guard::{Alarm, FeedbackGuard, RefusedReports, RtcpContent};
use crate::rtcp_outcome::RtcpOutcome;

impl<S: PacketSource> PathSender<S> {
    /// Takes an RTCP compound packet. Malformed parts and parts about other flows are skipped.
    pub(crate) fn on_rtcp(&mut self, now: SendTime, bytes: &[u8]) -> RtcpOutcome {
        let mut outcome = RtcpOutcome::default();
        if self.started().is_none() {
            return outcome;
        }
        let mut concerns_flow = false;
        for message in rtcp::messages(bytes).filter_map(Result::ok) {
            let Some(part) = self.on_message(now, &message) else { continue };
            concerns_flow = true;
            outcome.rtt = part.rtt.or(outcome.rtt);
            outcome.decision = Decision::merged(outcome.decision, part.decision);
            outcome.statistics = part.statistics.or(outcome.statistics);
        }
        if concerns_flow {
            self.guard.on_compound_read(now, &self.streams, &self.history);
            self.refresh(now);
        }
        outcome
    }

    /// Takes a per-packet report as records by transport-wide number, made at `made` by the receiver's clock.
    pub(crate) fn on_records(
        &mut self,
        now: SendTime,
        records: &[Record],
        made: Option<ArrivalTime>,
    ) -> RtcpOutcome {
        if self.started().is_none() {
            return RtcpOutcome::default();
        }
        let accepted = self.controller.accepts(ReportKind::Packets);
        self.reports = self.reports.wrapping_add(1);
        let report = Report::Packets { records, number: self.reports, at: made };
        let state = self.state();
        let Self { guard, history, controller, statistics, source, climb, .. } = self;
        let users = FeedbackUsers { guard, controller, statistics, source, climb };
        let mut outcome = users.take(now, history.join(now, &report), accepted, &state);
        self.on_taken(now, accepted, &mut outcome);
        self.refresh(now);
        outcome
    }

    /// Feedback was taken; `accepted` says whether the controller uses it.
    fn on_taken(&mut self, now: SendTime, accepted: bool, outcome: &mut RtcpOutcome) {
        outcome.statistics = self.statistics.as_deref_mut().and_then(FlowStatistics::poll);
        if self.history.take_refuted_delay() {
            self.controller.on_event(now, PathEvent::DelayRefuted);
        }
        // Additional per-packet reports do not reach the controller, so they do not limit its rate either.
        if accepted {
            outcome.decision = Decision::merged(outcome.decision, self.weigh_reports(now));
        }
    }

    /// Takes an RTCP packet; returns `None` if it is not about this flow.
    fn on_message(&mut self, now: SendTime, message: &Message<'_>) -> Option<RtcpOutcome> {
        let state = self.state();
        let Self { guard, streams, history, controller, statistics, source, climb, .. } = self;
        let (mut outcome, mut is_read) = (RtcpOutcome::default(), false);
        match guard.read(now, message, streams, history, |kind| controller.accepts(kind))? {
            RtcpContent::Report(report, accepted) => {
                is_read = true;
                let feedback = history.join(now, &report);
                let users = FeedbackUsers { guard, controller, statistics, source, climb };
                outcome = users.take(now, feedback, accepted, &state);
                self.on_taken(now, accepted, &mut outcome);
            }
            RtcpContent::Statistics(statistics) => outcome.statistics = Some(statistics),
            RtcpContent::KeyFrameRequest(stream) => source.on_key_frame_request(stream),
            RtcpContent::PacketRequest(stream) => {
                if let Message::Nack(request) = message {
                    source.on_packet_request(now, stream, request, &self.target);
                }
            }
            RtcpContent::Unused => {}
        }
        if self.guard.on_blocks(now, message, &self.streams, &mut self.history, is_read) {
            outcome.decision = Decision::merged(outcome.decision, self.pause(now));
        }
        Some(outcome)
    }

    /// Applies a change of the trust in the receiver's reports.
    fn weigh_reports(&mut self, now: SendTime) -> Option<Decision> {
        let change = self.guard.weigh(now, &self.history, self.target.media_rate)?;
        if change.doubts {
            self.prober.clear();
        } else {
            self.refresh(now);
        }
        let decision = self.controller.on_event(now, PathEvent::Limits(change.limits));
        if !change.may_probe {
            while self.controller.poll_probe().is_some() {}
        }
        decision
    }

    /// Restricts the sources that report on the flow; an empty list allows any.
    pub(crate) fn believe_only(&mut self, reporters: &[u32]) {
        self.guard.believe_only(reporters);
    }

    /// Time of the last feedback to the controller.
    pub(crate) fn last_feedback(&self) -> Option<SendTime> {
        self.guard.last_feedback()
    }

    /// The next alarm to the embedder, each returned once.
    pub(crate) fn take_alarm(&mut self) -> Option<Alarm> {
        self.guard.take_alarm()
    }

    /// Number of reports of the receiver's statistics with impossible values.
    pub(crate) fn refused_statistics(&self) -> u64 {
        self.guard.refused_statistics()
    }

    /// Counts of reports about the flow that were not believed.
    pub(crate) fn refused_reports(&self) -> RefusedReports {
        self.guard.refused_reports(&self.streams, &self.history)
    }
}

/// Parts of a sender that use feedback.
struct FeedbackUsers<'a, S> {
    guard: &'a mut FeedbackGuard,
    controller: &'a mut Box<dyn Controller>,
    statistics: &'a mut Option<Box<FlowStatistics>>,
    source: &'a mut S,
    climb: &'a mut Option<LayerClimb>,
}

impl<S: PacketSource> FeedbackUsers<'_, S> {
    /// Passes on `feedback`, if the report was possible.
    fn take(
        self,
        now: SendTime,
        feedback: Option<Feedback<'_>>,
        accepted: bool,
        state: &SendState,
    ) -> RtcpOutcome {
        let mut outcome = RtcpOutcome::default();
        let Some(feedback) = feedback else { return outcome };
        outcome.rtt = feedback.rtt();
        if let Some(rtt) = outcome.rtt {
            self.source.on_round_trip(rtt);
        }
        self.guard.on_feedback(now, outcome.rtt, accepted);
        self.source.on_feedback(&feedback);
        if accepted {
            outcome.decision = self.controller.on_feedback(now, &feedback, state);
        }
        if let Some(climb) = self.climb {
            climb.on_feedback(now, &feedback, accepted);
            outcome.decision.iter().for_each(|decision| climb.on_decision(decision));
        }
        if let (Some(statistics), Feedback::Packets { results, .. }) = (self.statistics, feedback) {
            statistics.on_results(results);
        }
        outcome
    }
}
