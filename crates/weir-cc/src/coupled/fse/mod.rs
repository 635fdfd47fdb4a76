//! The Flow State Exchange: flows that share a bottleneck share one sum of rates, in proportion to their weights.
//!
//! Sources: "Coupled Congestion Control for RTP Media" (TR 440, University of Oslo, 2014; here coupled-rtp-2014), both
//! algorithms as printed; RFC 8699, both active algorithms and the passive one of its appendix C; "Lightweight and Flexible
//! Single-Path Congestion Control Coupling" (2018; coupling-2018), the simple passive form. [`Config`] names each.
//!
//! The exchange does not depend on controllers, sockets or bottlenecks. A flow registers with
//! [`Join`](crate::coupled::Join), and sends each rate that its controller computes, together with the rate from which it
//! was computed ([`Update`]). The exchange sends it its share, `FSE_R`. The active algorithms send shares to all flows of
//! a group, the passive ones only to the updating flow. Shared bottlenecks are set with [`Fse::set_group`],
//! [`Fse::merge`] and [`Fse::split`]. Until then [`InitialGrouping`] puts all flows into one group, or none into any.
//! Windows of flows are converted to rates (`coupled::conversion`).
//!
//! Parts: `flow` has the flows, `group` the groups, and `sum` the effect of an update on `S_CR`, with a table of reasons.
//! An update is processed from a controller's rate to actions in `update` and `passive`. Joins, leaves and groupings are
//! in `membership`, windows in `windows`. `coupled::water_fill` computes the shares.
//!
//! Readings where the sources say nothing, or contradict themselves:
//!
//! * `FSE_R(f)` is the rate assigned last. `DELTA` is the controller's change since then; coupled-rtp-2014 has it both
//!   ways.
//! * `DELTA = CC_R − base`, where `base` is the rate from which the controller computed. Without delay between flow and
//!   exchange it is `FSE_R(f)`. With delay, or if two flows decide at once, the order of their updates does not matter to
//!   algorithm 1.
//! * `new_DR` bounds the flow that stated it, not all flows as printed.
//! * Desired rates of greedy flows are infinite. RFC 8699 §5.2 sets them to `CC_R`; then no flow would get the rate that
//!   another has given up.
//! * The timer belongs to the group, starts with a cut of the sum and is not extended. While it runs, shares are still
//!   sent. A flow that is alone never starts it.
//! * Beside other flows, a flow registers with its start rate, also after a pause, because the others have its former
//!   share. Alone it registers with its present rate and gets no action, exactly as without coupling.
//! * A leaving flow leaves its rate in the sum. A flow that changes its group takes its rate along.
//! * A rate that fell without congestion neither lowers nor raises other flows' rates (table in `sum.rs`).
//! * A controller that sends rates is controlled by rates, even if it sends a window, too.
//! * A flow that reports a timeout, but had feedback within its last round trip, has lost packets.
//! * If the feedback of one flow is missing while others get theirs, the path is not congested: that flow has paused. If
//!   no flow gets feedback, the sum is cut at once, and the timeouts of the others belong to the same event.
//!
//! Deliberate divergences:
//!
//! 1. The whole increase of a flow counts, as in the pseudo-code of coupled-rtp-2014. Its prose, and
//!    [`Config::increase_div_n`], divide it by N.
//! 2. While the timer runs no flow changes the sum, as printed. In the prose, and with
//!    [`Config::timer_exempts_initiator`], the flow that started it may.
//! 3. RFC 8699's algorithms drop the amount that no flow can use ([`Config::reconcile_s_cr`]); in the RFC it accumulates.
//!    Those of coupled-rtp-2014 keep it, as printed, so that a flow that was limited for long may get far more than the
//!    capacity.
//! 4. [`Config::literal_dr`] shows the effect of RFC 8699 §5.2 as written.
//! 5. The leftover in appendix C is bounded by the unused amount. Otherwise a limited flow that updates often would
//!    increase it each time.
//! 6. RFC 8699's passes over the flows are replaced by one pass, which always ends.
//! 7. Each flow gets its least rate first, whatever its weight.
//! 8. One update leaves at least a tenth of the sum ([`Config::smallest_cut`]), unless feedback is missing.

mod config;
mod cuts;
mod flow;
mod group;
mod membership;
mod passive;
mod sum;
#[cfg(test)]
mod tests;
mod update;
mod windows;

use weir_units::DataRate;

use crate::config_error::ConfigError;
use crate::coupled::coupler::Aggregate;
use crate::coupled::frame::{AlgorithmCoupler, CouplingAlgorithm, MemberDeparture, SoftState};
use crate::coupled::message::{
    CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Update, WindowEvent,
};
use crate::decision::ChangeReason;
use crate::time::SendTime;

pub use crate::coupled::frame::RefusedMessages;
pub use config::{Algorithm, Config, Updates};
use flow::Flow;
use group::Groups;

/// Initial grouping of flows, before any call that groups them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum InitialGrouping {
    /// All flows in one group: they are known to share their bottleneck.
    #[default]
    Together,
    /// No groups. Flows are not coupled until [`Fse::set_group`] is called.
    Apart,
}

/// State of the exchange: its groups.
#[derive(Debug)]
pub struct Exchange {
    config: Config,
    grouping: InitialGrouping,
    groups: Groups,
}

/// The Flow State Exchange.
pub type Fse = AlgorithmCoupler<Exchange>;

impl Fse {
    /// An exchange without flows.
    ///
    /// # Errors
    /// The first constant of `config` out of its range, or a passive algorithm outside of a testbed.
    pub fn new(config: Config, grouping: InitialGrouping) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::of(Exchange { config, grouping, groups: Groups::default() }))
    }

    /// `FSE_R` of a flow that is in a group, in bit/s.
    pub fn share(&self, member: FlowId) -> Option<f64> {
        let (_, seat) = self.seated(self.flows.place(member)?)?;
        self.algorithm.groups.get(seat.group).map(|group| group.share(seat.claim))
    }

    /// Whether the least rates of a group's flows exceed its sum: its flows have their least rates, and send more than
    /// congestion allows. The caller, which chose the least rates, should then stop a flow.
    pub fn is_overloaded(&self, member: FlowId) -> bool {
        let seat = self.flows.place(member).and_then(|place| self.seated(place)).map(|(_, seat)| seat);
        seat.and_then(|seat| self.algorithm.groups.get(seat.group)).is_some_and(|group| group.overloaded)
    }

    /// The rate of a silent flow whose message brings it back: it gets feedback again.
    fn returning_rate(&self, place: usize, message: &CouplingMessage) -> Option<f64> {
        match message {
            CouplingMessage::Update(update) if self.is_back(place, update) => {
                let base = update.decision.base;
                Some(if base.is_zero() { self.algorithm.config.least_rate } else { base }.bps_f64())
            }
            CouplingMessage::Window(cwnd_update)
                if !matches!(
                    cwnd_update.event,
                    WindowEvent::TimedOut | WindowEvent::Reduced | WindowEvent::Idle
                ) =>
            {
                self.flows.get(place)?.conversion?.rate(cwnd_update.before.cwnd)
            }
            _ => None,
        }
    }

    /// Whether the decision of a silent flow brings it back; a flow that missed feedback needs new feedback first.
    fn is_back(&self, place: usize, update: &Update) -> bool {
        let misses_feedback = self.flows.get(place).is_some_and(|flow| flow.misses_feedback);
        update.decision.why != ChangeReason::Timeout && (update.has_feedback || !misses_feedback)
    }

    /// The newest share of a flow that is still present.
    fn share_action(&mut self, place: usize) -> Option<CouplerAction> {
        let epoch = self.flows.epoch(place);
        let flow = self.flows.get_mut(place)?;
        let group = self.algorithm.groups.get(flow.slot?.group)?;
        match &mut flow.conversion {
            Some(conversion) => {
                conversion.allocate(flow.in_force, group.sum, group.threshold).map(CouplerAction::Window)
            }
            None => Some(CouplerAction::Rate { rate: DataRate::from_bps(flow.in_force as u64), epoch }),
        }
    }
}

impl CouplingAlgorithm for Exchange {
    type Flow = Flow;

    const ZERO_RATES: bool = true;
    const KEEPS_PAUSED: bool = true;

    fn admit(frame: &mut AlgorithmCoupler<Self>, now: SendTime, member: FlowId, join: &Join) -> Flow {
        frame.entry(now, member, join)
    }

    fn on_join(frame: &mut AlgorithmCoupler<Self>, _: SendTime, place: usize, _: &Join) {
        frame.seat_new(place);
    }

    fn on_rate(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, update: &Update) {
        frame.on_update(now, place, update);
    }

    fn on_window(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        frame.on_window(now, place, cwnd_update);
    }

    fn on_parameters(
        frame: &mut AlgorithmCoupler<Self>,
        _: SendTime,
        place: usize,
        parameters: &FlowParameters,
    ) {
        frame.set_parameters(place, parameters);
    }

    fn on_leaving(
        frame: &mut AlgorithmCoupler<Self>,
        now: SendTime,
        place: usize,
        departure: MemberDeparture,
    ) {
        frame.leave(now, place, departure);
    }

    fn counts(message: &CouplingMessage) -> bool {
        matches!(message, CouplingMessage::Update(_) | CouplingMessage::Window(_))
    }

    fn on_left(frame: &mut AlgorithmCoupler<Self>, _: SendTime, _: FlowId, left: Flow, _: MemberDeparture) {
        frame.algorithm.groups.free_rank(left.rank);
    }

    fn on_message_of_silent(
        frame: &mut AlgorithmCoupler<Self>,
        now: SendTime,
        place: usize,
        message: &CouplingMessage,
    ) -> bool {
        let returning = frame.returning_rate(place, message);
        if let Some(present) = returning {
            frame.rejoin(now, place, present);
        }
        returning.is_some()
    }

    fn answer(frame: &mut AlgorithmCoupler<Self>, place: usize, message: &CouplingMessage) {
        if !matches!(message, CouplingMessage::Window(_)) {
            frame.flows[place].in_force = f64::NAN;
            frame.send_share(place);
        }
    }

    fn acknowledgement(frame: &AlgorithmCoupler<Self>, place: usize) -> Option<CouplerAction> {
        let flow = &frame.flows[place];
        let rate = DataRate::from_bps_f64(flow.present());
        flow.conversion.is_none().then_some(CouplerAction::Rate { rate, epoch: 0 })
    }

    fn newest(frame: &mut AlgorithmCoupler<Self>, place: usize) -> Option<CouplerAction> {
        frame.share_action(place)
    }

    fn soft_state(&self) -> Option<SoftState> {
        Some(SoftState { least: self.config.soft_state, intervals: self.config.soft_updates })
    }

    fn aggregate(frame: &AlgorithmCoupler<Self>, place: usize) -> Option<Aggregate> {
        let (_, seat) = frame.seated(place)?;
        let group = frame.algorithm.groups.get(seat.group)?;
        Some(Aggregate { group: group.number, sum: group.sum })
    }
}
