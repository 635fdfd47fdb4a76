//! The flows of a mixed group and their sum.

use alloc::vec::Vec;

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, DrivingFlow};
use super::flow::{Flow, is_bound};
use crate::coupled::message::{CouplerAction, CwndUpdate, FlowId, FlowParameters, Update, WindowEvent};
use crate::coupled::water_fill::{Claim, Leftover, fill, weigh};
use crate::decision::{ChangeReason, Decision};
use crate::time::SendTime;

/// Largest sum, in bit/s.
const LARGEST: f64 = 1e15;

/// Flows by their number, and the state that they share.
#[derive(Debug)]
pub(super) struct Group {
    config: Config,
    flows: Vec<Flow>,
    /// Buffer for a distribution.
    claims: Vec<Claim>,
    /// `S_CR` in bit/s.
    sum: f64,
    /// End of the time after a loss in which the sum does not change.
    hold_until: Option<SendTime>,
    /// Set where a data flow's loss took only its part: until this time, congestion of a media flow takes the rest, by
    /// this factor.
    partial: Option<(SendTime, f64)>,
    /// Whether the path has been full: then slow start is over.
    settled: bool,
    /// Lower bound of the times at which a flow without messages pauses.
    expiry: SendTime,
    /// Newest number of an action to a flow that has left.
    epochs: u32,
}

impl Group {
    pub(super) const fn new(config: Config) -> Self {
        Self {
            config,
            flows: Vec::new(),
            claims: Vec::new(),
            sum: 0.0,
            hold_until: None,
            partial: None,
            settled: false,
            expiry: SendTime::MAX,
            epochs: 0,
        }
    }

    pub(super) const fn sum(&self) -> f64 {
        self.sum
    }

    /// The place of the flow, or the place where it would be inserted.
    pub(super) fn place(&self, member: FlowId) -> Result<usize, usize> {
        self.flows.binary_search_by_key(&member, |flow| flow.member)
    }

    pub(super) fn flow(&self, place: usize) -> &Flow {
        &self.flows[place]
    }

    /// A flow joins. A media flow adds its start rate beside other media; a data flow adds no rate: it takes its share
    /// of the sum.
    pub(super) fn join(&mut self, now: SendTime, place: usize, mut flow: Flow) {
        let brings = flow.data().map_or(flow.start, |data| data.rate(&self.config));
        self.sum = match flow.media() {
            Some(_) => self.with_media(brings),
            None if !self.flows.is_empty() => self.sum,
            None => self.sum.max(brings),
        };
        self.settled |= flow.media().is_some();
        // A later flow of this number may still receive older actions, and must take its own for newer ones.
        flow.epoch = self.epochs;
        self.expiry = self.expiry.min(flow.expiry(&self.config));
        self.flows.insert(place, flow);
        self.claims.reserve(self.flows.len());
        self.distribute(now);
        self.flows[place].answer();
    }

    fn with_media(&self, brings: f64) -> f64 {
        let has_media = self.flows.iter().any(|flow| flow.present_media().is_some());
        if has_media { self.sum + brings } else { self.sum.max(brings) }
    }

    /// Counts a message of a flow.
    pub(super) fn note_message(&mut self, now: SendTime, place: usize) {
        self.flows[place].note_message(now);
    }

    /// Whether one flow alone takes part: it has the rate that its controller computes.
    fn is_alone(&self, place: usize) -> bool {
        !self.flows.iter().enumerate().any(|(other, flow)| other != place && flow.present)
    }

    /// Whether the path delivers to another flow.
    fn others_progress(&self, now: SendTime, place: usize) -> bool {
        let others = self.flows.iter().enumerate().filter(|&(other, flow)| other != place && flow.present);
        others.into_iter().any(|(_, flow)| flow.progresses(now, &self.config))
    }

    /// Answers a flow that waits.
    pub(super) fn answer(&mut self, place: usize) {
        self.flows[place].answer();
    }

    fn count_present(&self) -> f64 {
        self.flows.iter().filter(|flow| flow.present).count().max(1) as f64
    }

    /// A flow that took no part gets feedback again, and had `rate`: it begins with no more than its start rate.
    /// Returns whether it did.
    fn resume(&mut self, place: usize, rate: DataRate) -> bool {
        let (flow, brings) = (&self.flows[place], rate.bps_f64());
        if flow.present {
            return false;
        }
        if flow.media().is_some() {
            self.sum = if self.is_alone(place) { brings } else { self.with_media(brings.min(flow.start)) };
        }
        self.flows[place].resume(rate);
        self.expiry = self.expiry.min(self.flows[place].expiry(&self.config));
        true
    }

    /// Sets the sum of a flow that is alone: its rate, and the rates that others have left to it.
    fn follow_one(&mut self, decision: &Decision) {
        let (rate, inherited) = (decision.rate.bps_f64(), self.sum - decision.base.bps_f64());
        // A share is in whole bit/s.
        let sum = if inherited.abs() < 1.0 { rate } else { rate + inherited };
        self.sum = sum.clamp(1.0, LARGEST);
    }

    /// A time of [`Self::next_timeout`] has come: shares may grow again, and flows without messages have paused.
    pub(super) fn on_timeout(&mut self, now: SendTime) {
        if now >= self.expiry {
            self.expiry = SendTime::MAX;
            for flow in self.flows.iter_mut().filter(|flow| flow.present) {
                let expiry = flow.expiry(&self.config);
                flow.present = expiry > now;
                if flow.present {
                    self.expiry = self.expiry.min(expiry);
                }
            }
        }
        self.distribute(now);
    }

    /// A flow leaves and takes its share along.
    pub(super) fn withdraw(&mut self, now: SendTime, place: usize) {
        let flow = &self.flows[place];
        if flow.present {
            self.sum = (self.sum - flow.share).max(1.0);
        }
        self.leave(now, place);
    }

    pub(super) fn leave(&mut self, now: SendTime, place: usize) {
        let epoch = self.flows.remove(place).epoch;
        if self.epochs == 0 || epoch.wrapping_sub(self.epochs).cast_signed() > 0 {
            self.epochs = epoch;
        }
        if self.flows.is_empty() {
            *self = Self {
                flows: core::mem::take(&mut self.flows),
                claims: core::mem::take(&mut self.claims),
                epochs: self.epochs,
                ..Self::new(self.config)
            };
        }
        self.distribute(now);
    }

    pub(super) fn set_parameters(&mut self, now: SendTime, place: usize, parameters: FlowParameters) {
        self.flows[place].parameters = parameters;
        self.distribute(now);
    }

    /// Takes a rate of a rate controller.
    pub(super) fn on_update(&mut self, now: SendTime, place: usize, update: &Update) {
        let decision = &update.decision;
        let accepts = update.heard && decision.why != ChangeReason::Timeout;
        let resumes = accepts && self.resume(place, decision.base);
        if decision.why == ChangeReason::Timeout && self.others_progress(now, place) {
            // The path still delivers to another flow, so only this flow's feedback is missing.
            self.flows[place].present = false;
        }
        let joins_media = self.flows[place].data().is_some();
        let alone = self.is_alone(place);
        self.flows[place].on_update(now, update, alone);
        if joins_media {
            self.settled = true;
            self.distribute(now);
        }
        self.take_rest_of_loss(now, &update.decision);
        let counts = self.flows[place].present;
        if alone && counts {
            self.follow_one(&update.decision);
        } else if counts && !resumes && !self.is_held(now) {
            self.follow(now, place, &update.decision);
        }
        self.distribute(now);
        self.flows[place].answer();
    }

    /// Moves the sum by a decision, on behalf of the flows that do not decide.
    fn follow(&mut self, now: SendTime, place: usize, decision: &Decision) {
        let (rate, base) = (decision.rate.bps_f64(), decision.base.bps_f64());
        let grows = rate > base;
        let flow = &self.flows[place];
        let counts = if grows { flow.wants_more() } else { !is_bound(decision.why) };
        if !counts || rate == base {
            return;
        }
        let change = flow.entitled * (rate / base - 1.0);
        // Rule 2: a media flow decides on behalf of the flows that do not (divergence 2).
        let on_behalf = match self.config.lead {
            DrivingFlow::All => 1.0 / self.count_present(),
            DrivingFlow::Delay => self.sum / self.entitled_media(),
        };
        self.set_sum(self.sum + change * on_behalf);
        if !grows && matches!(decision.why, ChangeReason::Loss | ChangeReason::Mark | ChangeReason::Timeout) {
            self.hold(now, place);
        }
    }

    /// Sum of the media flows' parts, above 0.
    fn entitled_media(&self) -> f64 {
        let shares =
            self.flows.iter().filter(|flow| flow.present_media().is_some()).map(|flow| flow.entitled);
        shares.sum::<f64>().max(1.0)
    }

    /// Takes a window event.
    pub(super) fn on_window(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        let config = self.config;
        if !matches!(cwnd_update.event, WindowEvent::TimedOut | WindowEvent::Reduced | WindowEvent::Idle) {
            self.resume(place, DataRate::ZERO);
        }
        let flow = &mut self.flows[place];
        flow.on_window(cwnd_update);
        match cwnd_update.event {
            WindowEvent::Acknowledged => {
                flow.set_recovering(false);
                flow.on_acknowledged(now, cwnd_update, &config);
                self.move_by_data(now, place, cwnd_update);
                self.distribute(now);
                self.flows[place].steer(cwnd_update.before, &config);
            }
            WindowEvent::Repairing => flow.progress = now,
            WindowEvent::RecoveryEntered => {
                flow.set_recovering(true);
                self.on_loss(now, place);
            }
            WindowEvent::RecoveryLeft => {
                flow.set_recovering(false);
                flow.progress = now;
                self.distribute(now);
                self.flows[place].restore(&config);
            }
            WindowEvent::TimedOut => self.on_timer(now, place),
            WindowEvent::Reduced => {}
            WindowEvent::Marked => {
                self.on_loss(now, place);
                self.flows[place].restore(&config);
            }
            WindowEvent::Idle => {
                flow.set_idle();
                self.distribute(now);
            }
        }
    }

    /// Retransmission timeout. The flow only retransmits while the path delivers to another flow.
    fn on_timer(&mut self, now: SendTime, place: usize) {
        let config = self.config;
        let progress = self.others_progress(now, place);
        self.on_loss(now, place);
        let flow = &mut self.flows[place];
        flow.set_recovering(false);
        if progress { flow.restore(&config) } else { flow.order_reduction() }
    }

    /// A loss event, at most one per two round trips for the group.
    fn on_loss(&mut self, now: SendTime, place: usize) {
        self.settled = true;
        if !self.is_held(now) {
            let whole = self.config.loss_factor;
            let leads = self.is_led(now);
            // Rule 3: a loss of a data flow may take only its part, until media has congestion, too.
            let factor = if self.config.partial_loss && leads { self.partly(place) } else { whole };
            self.set_sum(self.sum * factor);
            self.partial =
                (factor > whole).then(|| (now + self.flows[place].rtt(&self.config), whole / factor));
            self.hold(now, place);
        }
        self.distribute(now);
    }

    /// The factor that takes only this flow's part.
    fn partly(&self, place: usize) -> f64 {
        let part = (self.flows[place].share / self.sum).clamp(0.0, 1.0);
        1.0 - (1.0 - self.config.loss_factor) * part
    }

    fn take_rest_of_loss(&mut self, now: SendTime, decision: &Decision) {
        let Some((until, factor)) = self.partial else { return };
        let confirms = decision.why.is_congestion() && decision.rate < decision.base;
        if now >= until || confirms {
            self.partial = None;
        }
        if now < until && confirms {
            self.set_sum(self.sum * factor);
        }
    }

    /// Moves the sum by an acknowledgement of a data flow: it grows while no rate controller leads, or beside them, and
    /// shrinks while the queue is long.
    fn move_by_data(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        if self.is_held(now) {
            return;
        }
        let led = self.is_led(now);
        let flow = &self.flows[place];
        let Some(data) = flow.data() else { return };
        let queuing = (data.queuing() - data.spacing(flow.share)).max(TimeDelta::ZERO);
        self.settled |= led || queuing >= self.config.grow_below;
        let rounds = (cwnd_update.acked / self.windows().max(1.0)).min(1.0);
        let shrinks = self.shrinks(led, queuing) * rounds;
        let segments = match (cwnd_update.window_limited && !flow.is_satisfied(), self.settled) {
            (false, _) => 0.0,
            (true, true) => rounds,
            (true, false) => (cwnd_update.after.cwnd - cwnd_update.before.cwnd).clamp(0.0, cwnd_update.acked),
        };
        let grown = segments * self.grows(led, queuing) * data.segment / flow.rtt(&self.config).secs_f64();
        self.set_sum(self.sum * (1.0 - shrinks) + grown);
    }

    /// Factor on the data flows' own growth by which the sum grows.
    fn grows(&self, led: bool, queuing: TimeDelta) -> f64 {
        let room = || 1.0 - queuing.secs_f64() / self.config.grow_below.secs_f64();
        match (self.config.lead, led) {
            (DrivingFlow::All, true) => 1.0 / self.count_present(),
            (DrivingFlow::Delay, true) => 0.0,
            // Rule 4: growth falls linearly to zero (divergence 4).
            (_, false) => room().clamp(0.0, 1.0),
        }
    }

    /// Part of the sum that a round trip takes for this queue.
    fn shrinks(&self, led: bool, queuing: TimeDelta) -> f64 {
        let Config { led_queue, led_shrink_per_rtt, grow_below, shrink_above, shrink_per_rtt, .. } =
            self.config;
        let part = |from: TimeDelta, to: TimeDelta| {
            ((queuing - from).secs_f64() / (to - from).secs_f64()).clamp(0.0, 1.0)
        };
        if led {
            led_shrink_per_rtt * part(led_queue, led_queue * 2)
        } else {
            shrink_per_rtt * part(grow_below, shrink_above)
        }
    }

    /// Segments that all data flows together may have in flight.
    fn windows(&self) -> f64 {
        self.flows.iter().filter_map(Flow::data).map(|data| data.window.cwnd).sum()
    }

    fn is_led(&self, now: SendTime) -> bool {
        self.flows.iter().any(|flow| flow.leads(now, &self.config))
    }

    fn is_held(&self, now: SendTime) -> bool {
        self.hold_until.is_some_and(|until| now < until)
    }

    fn hold(&mut self, now: SendTime, place: usize) {
        let rtt = self.flows[place].rtt(&self.config);
        self.hold_until = Some(now + rtt.scale(self.config.loss_hold_rtts));
    }

    fn set_sum(&mut self, sum: f64) {
        let least: f64 = self.flows.iter().map(|flow| flow.parameters.least.bps_f64()).sum();
        self.sum = sum.max(least.max(1.0)).min(LARGEST);
    }

    /// Divides the sum. An amount that no flow can use is forgotten, unless no flow can use any.
    pub(super) fn distribute(&mut self, now: SendTime) {
        self.claims.clear();
        let present = self.flows.iter().filter(|flow| flow.present).count();
        for (flow, place) in self.flows.iter().zip(0..).filter(|(flow, _)| flow.is_active()) {
            // A lone flow's controller has a least rate of its own.
            let alone = flow.media().is_some() && present == 1;
            let least = if alone { 0.0 } else { flow.parameters.least.bps_f64().min(flow.most()) };
            self.claims.push(Claim::new(place, flow.parameters.priority, least, flow.most()));
        }
        self.claims.sort_unstable_by(Claim::order);
        weigh(&mut self.claims);
        let given = fill(&mut self.claims, self.sum, Leftover::Shared);
        if given > 0.0 {
            self.sum = self.sum.min(given);
        }
        for claim in &self.claims {
            if let Some(flow) = self.flows.get_mut(claim.of as usize) {
                flow.give(now, claim.share, &self.config);
            }
        }
    }

    pub(super) fn next_timeout(&self) -> Option<SendTime> {
        let steps = self.flows.iter().filter_map(|flow| flow.present_media()?.next_step(&self.config));
        let due = steps.min().unwrap_or(SendTime::MAX).min(self.expiry);
        (due < SendTime::MAX).then_some(due)
    }

    pub(super) fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        self.flows.iter_mut().find_map(|flow| Some((flow.member, flow.next_order()?)))
    }
}
