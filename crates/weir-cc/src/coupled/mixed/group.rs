//! The sum of rates of a mixed group, and its division among the flows.

use alloc::vec::Vec;

use weir_units::{DataRate, TimeDelta};

use super::Mixed;
use super::config::{Config, DrivingFlow};
use super::flow::Flow;
use crate::coupled::bound::is_demand;
use crate::coupled::message::{CouplerAction, CwndUpdate, Update, WindowEvent};
use crate::coupled::water_fill::{Leftover, ShareClaim, fill, weigh};
use crate::decision::{ChangeReason, Decision};
use crate::time::SendTime;

/// Greatest sum, in bit/s.
const MAX_SUM: f64 = 1e15;

/// State that the flows of a mixed group share.
#[derive(Debug)]
pub struct MixedGroup {
    pub(super) config: Config,
    /// Buffer for a distribution.
    claims: Vec<ShareClaim>,
    /// `S_CR`, the sum of rates in bit/s.
    pub(super) sum: f64,
    /// End of the time after a loss in which the sum is constant.
    hold_until: Option<SendTime>,
    /// Set if the loss of a data flow has reduced only that flow's part. Until this time, congestion of a media flow
    /// reduces the remainder by this factor.
    partial: Option<(SendTime, f64)>,
    /// Whether the path has been full, which ends slow start.
    settled: bool,
}

impl MixedGroup {
    pub(super) const fn new(config: Config) -> Self {
        Self { config, claims: Vec::new(), sum: 0.0, hold_until: None, partial: None, settled: false }
    }

    /// Resets all but the buffer, when the last flow has left.
    pub(super) fn reset(&mut self) {
        *self = Self { claims: core::mem::take(&mut self.claims), ..Self::new(self.config) };
    }
}

impl Mixed {
    /// Changes the sum for a flow that joins. Beside other media a media flow adds its start rate. A data flow adds
    /// no rate, but gets a share of the sum.
    pub(super) fn admit(&mut self, flow: &Flow) {
        let brings = flow.data().map_or(flow.start, |data| data.rate(&self.algorithm.config));
        self.algorithm.sum = match flow.media() {
            Some(_) => self.with_media(brings),
            // Rule 6: the newcomer takes its share from the others.
            None if !self.flows.is_empty() => self.algorithm.sum,
            None => self.algorithm.sum.max(brings),
        };
        self.algorithm.settled |= flow.media().is_some();
    }

    /// Takes a flow that has joined.
    pub(super) fn seat(&mut self, now: SendTime, place: usize) {
        self.algorithm.claims.reserve(self.flows.len());
        self.distribute(now);
        self.flows[place].answer();
    }

    fn with_media(&self, brings: f64) -> f64 {
        let has_media = self.flows.present().any(|(_, flow)| flow.media().is_some());
        if has_media { self.algorithm.sum + brings } else { self.algorithm.sum.max(brings) }
    }

    /// Whether one flow is active alone. It has the rate that its controller computes.
    fn is_alone(&self, place: usize) -> bool {
        !self.flows.present().any(|(other, _)| other != place)
    }

    /// Whether the path delivers data of another flow.
    fn others_progress(&self, now: SendTime, place: usize) -> bool {
        let mut others = self.flows.present().filter(|&(other, _)| other != place);
        others.any(|(_, flow)| flow.progresses(now, &self.algorithm.config))
    }

    fn count_present(&self) -> f64 {
        self.flows.present().count().max(1) as f64
    }

    /// Handles feedback of a flow that was inactive and had `rate`: it begins with at most its start rate. Returns
    /// whether it did.
    fn come_back(&mut self, place: usize, rate: DataRate) -> bool {
        if self.flows.is_present(place) {
            return false;
        }
        let (flow, brings) = (&self.flows[place], rate.bps_f64());
        if flow.media().is_some() {
            self.algorithm.sum =
                if self.is_alone(place) { brings } else { self.with_media(brings.min(flow.start)) };
        }
        self.flows[place].resume(rate);
        self.resume(place);
        true
    }

    /// Sets the sum for a flow that is alone: its rate, and the rates that others have left to it.
    fn follow_one(&mut self, decision: &Decision) {
        let (rate, inherited) = (decision.rate.bps_f64(), self.algorithm.sum - decision.base.bps_f64());
        // A share is in whole bit/s.
        let sum = if inherited.abs() < 1.0 { rate } else { rate + inherited };
        self.algorithm.sum = sum.clamp(1.0, MAX_SUM);
    }

    /// Removes the share of a flow that withdraws from the sum.
    pub(super) fn give_up_share(&mut self, place: usize) {
        if self.flows.is_present(place) {
            self.algorithm.sum = (self.algorithm.sum - self.flows[place].share).max(1.0);
        }
    }

    /// Takes a rate of a rate controller.
    pub(super) fn on_update(&mut self, now: SendTime, place: usize, update: &Update) {
        let decision = &update.decision;
        let accepts = update.has_feedback && decision.why != ChangeReason::Timeout;
        let resumes = accepts && self.come_back(place, decision.base);
        if decision.why == ChangeReason::Timeout && self.others_progress(now, place) {
            // Rule 9: the path still delivers to another flow, so only this flow's feedback is missing.
            self.fall_silent(now, place);
        }
        let joins_media = self.flows[place].data().is_some();
        let alone = self.is_alone(place);
        let present = self.flows.is_present(place);
        let follows = !present || update.epoch == self.flows.epoch(place);
        self.flows[place].on_update(now, update, follows, alone);
        if joins_media {
            self.algorithm.settled = true;
            self.distribute(now);
        }
        self.take_rest_of_loss(now, &update.decision);
        if alone && present {
            self.follow_one(&update.decision);
        } else if present && !resumes && !self.is_held(now) {
            self.follow(now, place, &update.decision);
        }
        self.distribute(now);
        self.flows[place].answer();
    }

    /// Changes the sum by a decision, on behalf of the other flows.
    fn follow(&mut self, now: SendTime, place: usize, decision: &Decision) {
        let (rate, base) = (decision.rate.bps_f64(), decision.base.bps_f64());
        let growth_factor = rate > base;
        let flow = &self.flows[place];
        let counts = if growth_factor { flow.wants_more() } else { !is_demand(decision.why) };
        if !counts || rate == base {
            return;
        }
        let change = flow.unlimited_share * (rate / base - 1.0);
        // Rule 2: a media flow decides on behalf of the flows that do not (divergence 2).
        let on_behalf = match self.algorithm.config.lead {
            DrivingFlow::All => 1.0 / self.count_present(),
            DrivingFlow::Delay => self.algorithm.sum / self.entitled_media(),
        };
        self.set_sum(self.algorithm.sum + change * on_behalf);
        if !growth_factor
            && matches!(decision.why, ChangeReason::Loss | ChangeReason::Mark | ChangeReason::Timeout)
        {
            self.hold(now, place);
        }
    }

    /// Sum of the media flows' parts, above 0.
    fn entitled_media(&self) -> f64 {
        let media = self.flows.present().filter(|(_, flow)| flow.media().is_some());
        media.map(|(_, flow)| flow.unlimited_share).sum::<f64>().max(1.0)
    }

    /// Takes a window event.
    pub(super) fn on_window(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        let config = self.algorithm.config;
        if !matches!(cwnd_update.event, WindowEvent::TimedOut | WindowEvent::Reduced | WindowEvent::Idle) {
            self.come_back(place, DataRate::ZERO);
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

    /// Handles a retransmission timeout. The flow only retransmits while the path delivers data of another flow.
    fn on_timer(&mut self, now: SendTime, place: usize) {
        let config = self.algorithm.config;
        let progress = self.others_progress(now, place);
        self.on_loss(now, place);
        let flow = &mut self.flows[place];
        flow.set_recovering(false);
        // Rule 8.
        if progress { flow.restore(&config) } else { flow.order_reduction() }
    }

    /// Handles a loss event. At most one per two round trips counts for the group.
    fn on_loss(&mut self, now: SendTime, place: usize) {
        self.algorithm.settled = true;
        if !self.is_held(now) {
            let whole = self.algorithm.config.loss_factor;
            let leads = self.is_led(now);
            // Rule 3: a loss of a data flow may take only its part, until media has congestion, too.
            let factor =
                if self.algorithm.config.partial_loss && leads { self.partial_factor(place) } else { whole };
            self.set_sum(self.algorithm.sum * factor);
            self.algorithm.partial = (factor > whole)
                .then(|| (now + self.flows[place].rtt(&self.algorithm.config), whole / factor));
            // Rule 3: then nothing changes the sum for two round trips.
            self.hold(now, place);
        }
        self.distribute(now);
    }

    /// The factor that reduces only this flow's part.
    fn partial_factor(&self, place: usize) -> f64 {
        let part = (self.flows[place].share / self.algorithm.sum).clamp(0.0, 1.0);
        1.0 - (1.0 - self.algorithm.config.loss_factor) * part
    }

    fn take_rest_of_loss(&mut self, now: SendTime, decision: &Decision) {
        let Some((until, factor)) = self.algorithm.partial else { return };
        let confirms = decision.why.is_congestion() && decision.rate < decision.base;
        if now >= until || confirms {
            self.algorithm.partial = None;
        }
        if now < until && confirms {
            self.set_sum(self.algorithm.sum * factor);
        }
    }

    /// Changes the sum by an acknowledgement of a data flow. The sum grows while no rate controller leads, or beside
    /// them, and shrinks while the queue is long.
    fn move_by_data(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        if self.is_held(now) {
            return;
        }
        let led = self.is_led(now);
        let flow = &self.flows[place];
        let Some(data) = flow.data() else { return };
        let queuing = (data.queuing() - data.spacing(flow.share)).max(TimeDelta::ZERO);
        self.algorithm.settled |= led || queuing >= self.algorithm.config.grow_below;
        let rounds = (cwnd_update.acked / self.windows().max(1.0)).min(1.0);
        let shrink_share = self.shrink_share(led, queuing) * rounds;
        let segments = match (cwnd_update.window_limited && !flow.is_satisfied(), self.algorithm.settled) {
            (false, _) => 0.0,
            (true, true) => rounds,
            (true, false) => (cwnd_update.after.cwnd - cwnd_update.before.cwnd).clamp(0.0, cwnd_update.acked),
        };
        let grown = segments * self.growth_factor(led, queuing) * data.segment
            / flow.rtt(&self.algorithm.config).secs_f64();
        self.set_sum(self.algorithm.sum * (1.0 - shrink_share) + grown);
    }

    /// Factor on the data flows' own growth that gives the growth of the sum.
    fn growth_factor(&self, led: bool, queuing: TimeDelta) -> f64 {
        let room = || 1.0 - queuing.secs_f64() / self.algorithm.config.grow_below.secs_f64();
        match (self.algorithm.config.lead, led) {
            (DrivingFlow::All, true) => 1.0 / self.count_present(),
            (DrivingFlow::Delay, true) => 0.0,
            // Rule 4: growth falls linearly to zero (divergence 4).
            (_, false) => room().clamp(0.0, 1.0),
        }
    }

    /// Part of the sum by which it shrinks per round trip with this queue.
    fn shrink_share(&self, led: bool, queuing: TimeDelta) -> f64 {
        let Config { led_queue, led_shrink_per_rtt, grow_below, shrink_above, shrink_per_rtt, .. } =
            self.algorithm.config;
        let part = |from: TimeDelta, to: TimeDelta| {
            ((queuing - from).secs_f64() / (to - from).secs_f64()).clamp(0.0, 1.0)
        };
        if led {
            led_shrink_per_rtt * part(led_queue, led_queue * 2)
        } else {
            shrink_per_rtt * part(grow_below, shrink_above)
        }
    }

    /// Number of segments that all data flows together may have in flight.
    fn windows(&self) -> f64 {
        self.flows.all().iter().filter_map(Flow::data).map(|data| data.window.cwnd).sum()
    }

    fn is_led(&self, now: SendTime) -> bool {
        self.flows.present().any(|(_, flow)| flow.is_leader(now, &self.algorithm.config))
    }

    fn is_held(&self, now: SendTime) -> bool {
        self.algorithm.hold_until.is_some_and(|until| now < until)
    }

    fn hold(&mut self, now: SendTime, place: usize) {
        let rtt = self.flows[place].rtt(&self.algorithm.config);
        self.algorithm.hold_until = Some(now + rtt.scale(self.algorithm.config.loss_hold_rtts));
    }

    fn set_sum(&mut self, sum: f64) {
        let least: f64 = self.flows.all().iter().map(|flow| flow.parameters.least.bps_f64()).sum();
        self.algorithm.sum = sum.max(least.max(1.0)).min(MAX_SUM);
    }

    /// Divides the sum. The amount that no flow can use is dropped, unless no flow can use any.
    pub(super) fn distribute(&mut self, now: SendTime) {
        self.algorithm.claims.clear();
        let present = self.flows.present().count();
        for (place, flow) in self.flows.present().filter(|(_, flow)| flow.is_active()) {
            // A lone flow's controller has a least rate of its own.
            let alone = flow.media().is_some() && present == 1;
            let least = if alone { 0.0 } else { flow.parameters.least.bps_f64().min(flow.most()) };
            self.algorithm.claims.push(ShareClaim::new(
                place as u32,
                flow.parameters.priority,
                least,
                flow.most(),
            ));
        }
        self.algorithm.claims.sort_unstable_by(ShareClaim::order);
        weigh(&mut self.algorithm.claims);
        // Rule 5: others have at once what a flow gives up.
        let given = fill(&mut self.algorithm.claims, self.algorithm.sum, Leftover::Shared);
        if given > 0.0 {
            self.algorithm.sum = self.algorithm.sum.min(given);
        }
        for claim in &self.algorithm.claims {
            if let Some(flow) = self.flows.get_mut(claim.of as usize) {
                flow.give(now, claim.share, &self.algorithm.config);
            }
        }
    }

    /// Time at which a media flow with a limited share may get more.
    pub(super) fn next_step(&self) -> Option<SendTime> {
        let media = self.flows.present().filter_map(|(_, flow)| flow.media());
        media.filter_map(|media| media.next_step(&self.algorithm.config)).min()
    }

    /// Queues the flows with pending actions, in the order of members.
    pub(super) fn order_all(&mut self) {
        for place in 0..self.flows.len() {
            if self.flows[place].has_order() {
                self.flows.order(place);
            }
        }
    }

    /// The next action of a flow.
    pub(super) fn next_order(&mut self, place: usize) -> Option<CouplerAction> {
        let order = self.flows[place].next_window_order().or_else(|| {
            if !self.flows[place].has_order() {
                return None;
            }
            let epoch = self.flows.is_present(place).then(|| self.flows.next_epoch(place));
            self.flows[place].rate_order(epoch)
        });
        if self.flows[place].has_order() {
            self.flows.order_next(place);
        }
        order
    }
}
