//! Incoming RTCP at a sender: the guard reads it, the history joins reports with packets, and the controller decides.

use weir_cc::coupled::sbd::FlowStatistics;
use weir_cc::{Decision, Feedback, PathEvent, SendTime};
use weir_wire::rtcp::{self, Message};

use super::MediaSender;
use crate::guard::{Alarm, RefusedReports, RtcpContent};
use crate::rtcp_outcome::RtcpOutcome;

impl MediaSender {
    /// Takes an RTCP compound packet. Malformed parts and parts about other flows are skipped.
    pub fn on_rtcp(&mut self, now: SendTime, bytes: &[u8]) -> RtcpOutcome {
        let mut outcome = RtcpOutcome::default();
        if self.phase.started().is_none() {
            return outcome;
        }
        let mut is_about = false;
        for message in rtcp::messages(bytes).filter_map(Result::ok) {
            let Some(part) = self.on_message(now, &message) else { continue };
            is_about = true;
            outcome.rtt = part.rtt.or(outcome.rtt);
            outcome.decision = Decision::merged(outcome.decision, part.decision);
            outcome.statistics = part.statistics.or(outcome.statistics);
        }
        if is_about {
            self.guard.on_compound_read(now, &self.streams, &self.history);
            self.refresh(now);
        }
        outcome
    }

    /// Takes an RTCP packet; returns `None` if it is not about this flow.
    fn on_message(&mut self, now: SendTime, message: &Message<'_>) -> Option<RtcpOutcome> {
        let state = self.state();
        let Self { guard, streams, history, controller, statistics, chromium, .. } = self;
        let (mut outcome, mut is_read) = (RtcpOutcome::default(), false);
        match guard.read(now, message, streams, history, |kind| controller.accepts(kind))? {
            RtcpContent::Report(report, accepted) => {
                is_read = true;
                let feedback = history.join(now, &report);
                if let Some(feedback) = &feedback {
                    outcome.rtt = feedback.rtt();
                    if let (Some(chromium), Some(rtt)) = (chromium.as_deref_mut(), outcome.rtt) {
                        chromium.on_rtt(rtt);
                    }
                    guard.on_feedback(now, outcome.rtt, accepted);
                    if accepted {
                        outcome.decision = controller.on_feedback(now, feedback, &state);
                    }
                }
                if let (Some(statistics), Some(Feedback::Packets { results, .. })) = (statistics, feedback) {
                    statistics.on_results(results);
                }
                outcome.statistics = self.statistics.as_deref_mut().and_then(FlowStatistics::poll);
                if self.history.take_refuted_delay() {
                    self.controller.on_event(now, PathEvent::DelayRefuted);
                }
                // Additional per-packet reports do not reach the controller, so they do not limit its rate either.
                if accepted {
                    outcome.decision = Decision::merged(outcome.decision, self.weigh_reports(now));
                }
            }
            RtcpContent::Statistics(statistics) => outcome.statistics = Some(statistics),
            RtcpContent::KeyFrameRequest => self.encoder.request_key_frame(),
            RtcpContent::PacketRequest => self.on_packet_request(now, message),
            RtcpContent::Unused => {}
        }
        if self.guard.on_blocks(now, message, &self.streams, &mut self.history, is_read) {
            outcome.decision = Decision::merged(outcome.decision, self.pause(now));
        }
        Some(outcome)
    }

    /// The receiver lacks packets of the video.
    fn on_packet_request(&mut self, now: SendTime, message: &Message<'_>) {
        if let (Some(chromium), Message::Nack(request)) = (self.chromium.as_deref_mut(), message) {
            chromium.on_request(now, request.sequences(), self.target.sending_rate);
        }
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

    /// Restricts the sources that report on the flow to those that the other end announced. While the list is empty,
    /// any source that knows the flow's identifiers is believed.
    pub fn believe_only(&mut self, reporters: &[u32]) {
        self.guard.believe_only(reporters);
    }

    /// Time of the last feedback to the controller.
    pub fn heard_at(&self) -> Option<SendTime> {
        self.guard.last_feedback()
    }

    /// The next alarm to the embedder, each returned once; call until `None`.
    pub fn take_alarm(&mut self) -> Option<Alarm> {
        self.guard.take_alarm()
    }

    /// Number of reports of the receiver's statistics with impossible values.
    pub fn refused_statistics(&self) -> u64 {
        self.guard.refused_statistics()
    }

    /// Counts of reports about the flow that were not believed.
    pub fn refused_reports(&self) -> RefusedReports {
        self.guard.refused_reports(&self.streams, &self.history)
    }
}
