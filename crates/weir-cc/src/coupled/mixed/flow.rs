//! State of a flow in the mixed coupler.

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, Conversion};
use crate::coupled::bound::DemandBound;
use crate::coupled::conversion::possible_rtt;
use crate::coupled::message::{CouplerAction, CwndUpdate, FlowParameters, Join, Update, Windowed};
use crate::decision::ChangeReason;
use crate::time::SendTime;
use crate::window::Window;

/// Part of a flow's desired rate from which on its share counts as all of it.
const SATISFIED_SHARE: f64 = 0.999;

/// A flow in the mixed coupler, with its pending actions.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(super) parameters: FlowParameters,
    /// `FSE_R` in bit/s.
    pub(super) share: f64,
    /// The share in bit/s without the limit on its growth.
    pub(super) unlimited_share: f64,
    pub(super) kind: Kind,
    /// Time of the last acknowledgement or report, which shows that the path delivers data.
    pub(super) progress: SendTime,
    /// Start rate with which it enters a group of others, in bit/s.
    pub(super) start: f64,
    /// Bound in bit/s by the flow's sending or by its own controller, besides its desired rate.
    demand: DemandBound,
    pending: PendingActions,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Media(MediaFlow),
    Data(Data),
}

/// A flow with a controller that computes rates.
#[derive(Clone, Debug)]
pub(super) struct MediaFlow {
    /// The rate of its host as known here.
    rate: DataRate,
    /// The rate that its controller computed last, which counts as no growth of the share.
    computed: f64,
    rtt: Option<TimeDelta>,
    updated: SendTime,
    /// Time and share from which the growth of its share is measured.
    step_at: SendTime,
    step_base: f64,
    /// Whether the limit on its growth keeps its share below its part of the sum.
    pub(super) is_limited: bool,
}

/// A flow with a congestion controller that computes windows.
#[derive(Clone, Debug)]
pub(super) struct Data {
    /// Size of a segment in bits.
    pub(super) segment: f64,
    /// The window of its host as known here.
    pub(super) window: Window,
    base_rtt: Option<TimeDelta>,
    srtt: Option<TimeDelta>,
    recovering: bool,
    /// Whether no data is in flight and none waits.
    idle: bool,
    /// Part of a segment by which the whole windows so far were below the limit.
    rest: f64,
    unused_since: Option<SendTime>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PendingActions {
    rate: bool,
    window: Option<Window>,
    reduce: bool,
}

impl Flow {
    pub(super) fn new(now: SendTime, join: &Join) -> Self {
        let kind = match &join.window {
            Some(windowed) => Kind::Data(Data::new(windowed)),
            None => Kind::Media(MediaFlow::new(now, join.start)),
        };
        let start = join.start.bps_f64();
        let parameters = join.parameters;
        Self {
            parameters,
            share: 0.0,
            unlimited_share: 0.0,
            kind,
            progress: now,
            start,
            demand: DemandBound::NONE,
            pending: PendingActions::default(),
        }
    }

    /// Makes the flow active again, with `rate`.
    pub(super) fn resume(&mut self, rate: DataRate) {
        if let Kind::Media(media) = &mut self.kind {
            (media.rate, media.is_limited) = (rate, false);
        }
    }

    pub(super) const fn media(&self) -> Option<&MediaFlow> {
        if let Kind::Media(media) = &self.kind { Some(media) } else { None }
    }

    pub(super) const fn data(&self) -> Option<&Data> {
        if let Kind::Data(data) = &self.kind { Some(data) } else { None }
    }

    /// The greatest rate that the flow can use, in bit/s.
    pub(super) fn most(&self) -> f64 {
        let wished = self.parameters.desired.map_or(f64::INFINITY, DataRate::bps_f64);
        wished.min(self.demand.rate())
    }

    /// Whether the flow's share is all that it can use.
    pub(super) fn is_satisfied(&self) -> bool {
        self.share >= SATISFIED_SHARE * self.most()
    }

    /// Whether the growth of its controller shows free capacity. That of a flow with a limited share does not.
    pub(super) fn wants_more(&self) -> bool {
        !self.is_satisfied() && self.media().is_none_or(|media| !media.is_limited)
    }

    pub(super) fn rtt(&self, config: &Config) -> TimeDelta {
        let known = match &self.kind {
            Kind::Media(media) => media.rtt,
            Kind::Data(data) => data.srtt.or(data.base_rtt),
        };
        known.filter(|rtt| *rtt > TimeDelta::ZERO).map_or(config.usual_rtt, possible_rtt)
    }

    /// Whether the path has recently delivered data of this flow.
    pub(super) fn progresses(&self, now: SendTime, config: &Config) -> bool {
        now - self.progress <= (self.rtt(config) * 2).max(config.progress)
    }

    /// Whether the flow leads if it is active: its rate controller may change the sum.
    pub(super) fn is_leader(&self, now: SendTime, config: &Config) -> bool {
        self.media().is_some_and(|media| {
            let silence = (self.rtt(config) * 2).max(config.leader_silence);
            now - media.updated <= silence && !self.is_satisfied()
        })
    }

    /// Takes a computed rate. A flow not yet known to have a rate controller becomes a media flow.
    ///
    /// `follows` is true if the flow was absent or has taken the newest action, which is otherwise still in transit.
    pub(super) fn on_update(&mut self, now: SendTime, update: &Update, follows: bool, alone: bool) {
        if self.data().is_some() {
            self.kind = Kind::Media(MediaFlow::new(now, update.decision.base));
            self.pending = PendingActions::default();
        }
        let decision = &update.decision;
        if let Kind::Media(media) = &mut self.kind {
            media.updated = now;
            media.rtt = decision.rtt.or(media.rtt);
            media.rate = if follows { decision.rate } else { media.rate };
            media.computed = decision.rate.bps_f64();
        }
        if update.has_feedback && decision.why != ChangeReason::Timeout {
            self.progress = now;
        }
        // Rule 10.
        let (rate, base) = (decision.rate.bps_f64(), decision.base.bps_f64());
        self.demand.follow(rate, base, decision.why, self.parameters.least.bps_f64());
        if alone {
            self.demand = DemandBound::NONE;
        }
    }

    /// Takes a new window.
    pub(super) fn on_window(&mut self, cwnd_update: &CwndUpdate) {
        if let Kind::Data(data) = &mut self.kind {
            data.window = cwnd_update.after;
            data.srtt = cwnd_update.srtt.filter(|rtt| *rtt > TimeDelta::ZERO).or(data.srtt);
            data.base_rtt = cwnd_update.base_rtt.filter(|rtt| *rtt > TimeDelta::ZERO).or(data.base_rtt);
        }
    }

    /// Takes an acknowledgement of new data, and updates the amount that the flow can use of its window.
    pub(super) fn on_acknowledged(&mut self, now: SendTime, cwnd_update: &CwndUpdate, config: &Config) {
        self.progress = now;
        let rtt = self.rtt(config);
        let Kind::Data(data) = &mut self.kind else { return };
        data.idle = false;
        if cwnd_update.window_limited {
            data.unused_since = None;
            self.demand = DemandBound::NONE;
        } else if now - *data.unused_since.get_or_insert(now) >= rtt {
            let used = (cwnd_update.flight + cwnd_update.acked) * config.demand_room;
            self.demand = DemandBound::at(used.max(config.initial_window) * data.segment / rtt.secs_f64());
        }
    }

    pub(super) fn set_recovering(&mut self, recovering: bool) {
        if let Kind::Data(data) = &mut self.kind {
            data.recovering = recovering;
        }
    }

    pub(super) fn set_idle(&mut self) {
        if let Kind::Data(data) = &mut self.kind {
            (data.idle, data.recovering, data.unused_since) = (true, false, None);
        }
    }

    /// Whether the flow can use a share while it is active.
    pub(super) fn is_active(&self) -> bool {
        self.data().is_none_or(|data| !data.idle)
    }

    /// Takes the flow's part of a distribution.
    pub(super) fn give(&mut self, now: SendTime, share: f64, config: &Config) {
        self.unlimited_share = share;
        if self.media().is_some() {
            self.demand.remove_above(share);
        }
        // Rule 5: a media flow's share jumps by no more than `jump`.
        let share = match &mut self.kind {
            Kind::Media(media) => media.without_jump(now, share, config),
            Kind::Data(_) => share,
        };
        self.share = share;
        match &self.kind {
            Kind::Media(media) => self.pending.rate |= DataRate::from_bps_f64(share) != media.rate,
            Kind::Data(data) => {
                // Rule 6: a larger window opens with the flow's acknowledgements, a smaller one takes effect at once.
                // Rule 7: in recovery the window is the flow's own.
                let limit = self.limit(config);
                let cut = Window { cwnd: limit, ssthresh: limit };
                if !data.recovering && limit < data.window.cwnd {
                    self.order_window(cut);
                }
            }
        }
    }

    /// The window of the flow's share, in segments.
    pub(super) fn limit(&self, config: &Config) -> f64 {
        let Kind::Data(data) = &self.kind else { return f64::INFINITY };
        let rtt = data.rtt_of_window(config).secs_f64();
        // Rule 1.
        (self.share * rtt / data.segment).max(config.least_window)
    }

    /// Moves the window towards its limit after an acknowledgement, by at most `burst` segments.
    pub(super) fn steer(&mut self, before: Window, config: &Config) {
        let limit = self.limit(config);
        let Kind::Data(data) = &mut self.kind else { return };
        let whole = data.whole(limit);
        let cwnd = whole.min(before.cwnd.max(config.least_window) + config.burst);
        if !data.recovering && cwnd != data.window.cwnd {
            self.order_window(Window { cwnd, ssthresh: cwnd });
        }
    }

    /// Restores the window of the flow's share, whatever window its own congestion controller has.
    pub(super) fn restore(&mut self, config: &Config) {
        let cwnd = self.limit(config);
        self.order_window(Window { cwnd, ssthresh: cwnd });
    }

    fn order_window(&mut self, window: Window) {
        if let Kind::Data(data) = &mut self.kind {
            data.window = window;
            self.pending.window = Some(window);
        }
    }

    /// Reduces the window to one segment. Neither a waiting action nor a later one increases it before that.
    pub(super) fn order_reduction(&mut self) {
        self.pending = PendingActions { reduce: true, window: None, ..self.pending };
        if let Kind::Data(data) = &mut self.kind {
            data.window.cwnd = data.window.cwnd.min(1.0);
        }
    }

    /// Answers the flow's host, which waits for an answer even if the rate has not changed.
    pub(super) fn answer(&mut self) {
        self.pending.rate = self.media().is_some();
    }

    /// Whether an action waits to be polled.
    pub(super) fn has_order(&self) -> bool {
        let PendingActions { rate, window, reduce } = self.pending;
        rate || window.is_some() || reduce
    }

    /// The next action without a number.
    pub(super) fn next_window_order(&mut self) -> Option<CouplerAction> {
        if core::mem::take(&mut self.pending.reduce) {
            return Some(CouplerAction::Reduce);
        }
        self.pending.window.take().map(CouplerAction::Window)
    }

    /// The action with a rate and the number `epoch`; `None` for a flow that is not active.
    pub(super) fn rate_order(&mut self, epoch: Option<u32>) -> Option<CouplerAction> {
        self.pending.rate = false;
        let Kind::Media(media) = &mut self.kind else { return None };
        let Some(epoch) = epoch else { return Some(media.acknowledgement()) };
        media.rate = DataRate::from_bps_f64(self.share);
        Some(CouplerAction::Rate { rate: media.rate, epoch })
    }
}

impl MediaFlow {
    fn new(now: SendTime, start: DataRate) -> Self {
        let step_base = start.bps_f64();
        Self {
            rate: start,
            computed: step_base,
            rtt: None,
            updated: now,
            step_at: now,
            step_base,
            is_limited: false,
        }
    }

    /// Time at which a flow with a limited share may get more.
    pub(super) fn next_step(&self, config: &Config) -> Option<SendTime> {
        self.is_limited.then(|| self.step_at + config.jump_interval)
    }

    fn without_jump(&mut self, now: SendTime, share: f64, config: &Config) -> f64 {
        if now - self.step_at >= config.jump_interval {
            (self.step_at, self.step_base) = (now, self.rate.bps_f64().max(1.0));
        }
        let most = (self.step_base * config.jump).max(self.computed);
        self.is_limited = share > most;
        share.min(most)
    }

    /// Answer to a flow that is not active and continues without coupling.
    pub(super) const fn acknowledgement(&self) -> CouplerAction {
        CouplerAction::Rate { rate: self.rate, epoch: 0 }
    }
}

impl Data {
    fn new(windowed: &Windowed) -> Self {
        Self {
            segment: windowed.segment.bits_f64().max(8.0),
            window: windowed.window,
            base_rtt: windowed.base_rtt.filter(|rtt| *rtt > TimeDelta::ZERO),
            srtt: None,
            recovering: false,
            idle: false,
            rest: 0.0,
            unused_since: None,
        }
    }

    /// Interval between two segments at this rate in bit/s. A delayed acknowledgement waits that long without any
    /// queue.
    pub(super) fn spacing(&self, rate: f64) -> TimeDelta {
        TimeDelta::from_secs_f64(self.segment / rate.max(1.0))
    }

    /// A window of whole segments, whose mean over time is the limit. Rounding down would cost half a segment on
    /// average, a large part of a small share.
    fn whole(&mut self, limit: f64) -> f64 {
        let whole = libm::floor(limit + self.rest);
        self.rest = (limit + self.rest - whole).clamp(0.0, 1.0);
        whole
    }

    /// The rate of its window, in bit/s.
    pub(super) fn rate(&self, config: &Config) -> f64 {
        self.window.cwnd.max(1.0) * self.segment / self.rtt_of_window(config).secs_f64()
    }

    /// Queuing delay from its round-trip times.
    pub(super) fn queuing(&self) -> TimeDelta {
        self.srtt
            .zip(self.base_rtt)
            .map_or(TimeDelta::ZERO, |(srtt, base)| (srtt - base).max(TimeDelta::ZERO))
    }

    fn rtt_of_window(&self, config: &Config) -> TimeDelta {
        let Some(base) = self.base_rtt.or(self.srtt).map(possible_rtt) else { return config.usual_rtt };
        match config.conversion {
            Conversion::Base => base,
            Conversion::Smoothed { longest_queue } => base + self.queuing().min(longest_queue),
        }
    }
}
