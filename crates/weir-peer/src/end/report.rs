//! Results of an end.

use weir_net::Time;
use weir_units::TimeDelta;

use super::{DroppedDatagrams, EndOutcome, PeerEnd};
use crate::message::ReceivedFigures;
use crate::monitor::SentFigures;
use crate::results::{DroppedResults, FlowResults, PeerResults};

impl EndOutcome {
    /// The cause as a sentence without a subject.
    pub fn text(&self) -> String {
        match self {
            Self::Done => "done".to_owned(),
            Self::Interrupted => "interrupted".to_owned(),
            Self::Refused(refusal) => format!("refused: {refusal}"),
            Self::NoAnswer(None) => "no answer".to_owned(),
            Self::NoAnswer(Some(refusal)) => format!("no valid answer: {refusal}"),
            Self::Silent => "the other end was silent for too long".to_owned(),
            Self::AboveCeiling => "the rate was above the receiver's ceiling".to_owned(),
            Self::Terms(text) => format!("refused: {text}"),
        }
    }
}

impl PeerEnd {
    /// Figures of the received flows by their index, up to now.
    pub fn received(&mut self) -> Vec<(usize, ReceivedFigures)> {
        let base = self.received_base;
        self.reception.iter_mut().zip(base..).map(|(flow, index)| (index, flow.figures())).collect()
    }

    /// Figures of the flows that the peer receives, by their index, as its last report has them.
    pub fn reported(&self) -> Vec<(usize, ReceivedFigures)> {
        let reported = self.reported.iter().flat_map(|(reported, _)| &reported.flows);
        let with_former = reported.filter_map(|(index, figures)| {
            let index = usize::from(*index);
            let own = index.checked_sub(self.sent_base).filter(|own| *own < self.sent().len())?;
            let before = self.reported_before.get(own).copied().unwrap_or_default();
            Some((index, before.and(figures)))
        });
        with_former.collect()
    }

    /// The last round-trip time, that of status messages.
    pub fn rtt(&self) -> Option<TimeDelta> {
        self.rtt
    }

    /// Index of the first flow that this end sends.
    pub fn first_sent(&self) -> usize {
        self.sent_base
    }

    /// Time of the peer's last report.
    pub fn reported_at(&self) -> Option<Time> {
        self.reported.as_ref().map(|&(_, at)| at)
    }

    /// The results at `now`, or at the end of the flows if that has passed. Figures of sockets and timers are the caller's.
    pub fn results(&mut self, now: Time) -> PeerResults {
        let (span, local) = (self.span(now), self.local(self.ended.unwrap_or(now)));
        let (reported, received) = (self.reported(), self.received());
        let mut flows: Vec<FlowResults> = Vec::new();
        let offered = self.terms.flows.iter().zip(self.sent_base..).zip(self.sent());
        for ((offer, index), sent) in offered {
            let figures = reported.iter().find(|(flow, _)| *flow == index).map(|(_, figures)| figures);
            let controller = offer.name().to_owned();
            flows.push(sent_flow(
                FlowResults { flow: index, controller, ..FlowResults::default() },
                sent,
                figures,
                (span, local),
            ));
        }
        let others = self.session.iter().flat_map(|session| &session.terms.flows);
        for ((index, figures), offer) in received.iter().zip(others) {
            let controller = offer.name().to_owned();
            flows.push(received_flow(
                FlowResults { flow: *index, controller, ..FlowResults::default() },
                figures,
                span,
            ));
        }
        flows.sort_by_key(|flow| flow.flow);
        let DroppedDatagrams { forged, replayed, foreign, unreadable, .. } = self.dropped();
        PeerResults {
            peer: self.peer().map(|peer| peer.to_string()),
            keyed: !self.config.keys.is_open(),
            seconds: span.secs_f64(),
            rtt_ms: (self.rtts.count() > 0)
                .then(|| [0.5, 0.95].map(|share| self.rtts.percentile(share).millis_f64())),
            outcome: self.outcome().map_or_else(|| "open".to_owned(), EndOutcome::text),
            flows,
            dropped: DroppedResults { forged, replayed, foreign, unreadable },
            ..PeerResults::default()
        }
    }
}

fn rate(bytes: u64, span: TimeDelta) -> u64 {
    if span <= TimeDelta::ZERO { 0 } else { (bytes as f64 * 8.0 / span.secs_f64()) as u64 }
}

fn received_flow(flow: FlowResults, figures: &ReceivedFigures, span: TimeDelta) -> FlowResults {
    let expected = figures.packets.saturating_add(figures.lost);
    FlowResults {
        received_rate_bps: Some(rate(figures.bytes, span)),
        media_rate_bps: Some(rate(figures.payload, span)),
        loss_ratio: Some(if expected == 0 { 0.0 } else { figures.lost as f64 / expected as f64 }),
        marked: Some(figures.marked),
        delay_ms: Some([figures.delay_p50, figures.delay_p95].map(TimeDelta::millis_f64)),
        ..flow
    }
}

fn sent_flow(
    flow: FlowResults,
    sent: &SentFigures,
    reported: Option<&ReceivedFigures>,
    (span, local): (TimeDelta, Time),
) -> FlowResults {
    let flow = reported.map_or(flow.clone(), |figures| {
        let flow = received_flow(flow, figures, span);
        // Packets behind the last one that arrived are lost, too.
        let loss = 1.0 - figures.packets as f64 / sent.packets.max(1) as f64;
        FlowResults { loss_ratio: Some(loss.max(0.0)), ..flow }
    });
    FlowResults {
        sent_here: true,
        target_rate_bps: Some(sent.mean_target(local).bps()).filter(|&target| target > 0),
        sent_rate_bps: Some(rate(sent.bytes, span)),
        frames: (sent.frames > 0).then_some([sent.frames, sent.skipped_frames]),
        stopped: sent.stopped.clone(),
        ..flow
    }
}
