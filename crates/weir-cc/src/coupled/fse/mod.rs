//! The Flow State Exchange: flows that share a bottleneck share one sum of rates, each by its weight.
//!
//! Sources: "Coupled Congestion Control for RTP Media" (TR 440, University of Oslo, 2014; here coupled-rtp-2014), both
//! algorithms as printed; RFC 8699, both active algorithms and the passive one of its appendix C; "Lightweight and Flexible
//! Single-Path Congestion Control Coupling" (2018; coupling-2018), the simple passive form. [`Config`] names each.
//!
//! The exchange knows nothing of controllers, sockets or bottlenecks. A flow registers with
//! [`Join`](crate::coupled::Join), and sends each rate that its controller computes with the rate it started from
//! ([`Update`]). The exchange sends it its share, `FSE_R`. The active algorithms send shares to all
//! flows of a group, the passive ones to the updating flow. Shared bottlenecks are set with [`Fse::set_group`],
//! [`Fse::merge`] and [`Fse::split`]; until then [`InitialGrouping`] puts all flows into one group, or none into any.
//! Flows with windows are converted (`coupled::conversion`).
//!
//! Parts: the flows (`flow`), groups and their seats (`group`), and the effect of an update on `S_CR` (`sum`,
//! with the table of reasons). An update goes from a controller's rate to actions in `update` and `passive`. Joins,
//! leaves and groupings are in `membership`, windows in `windows`. The shares themselves are
//! `coupled::water_fill`'s.
//!
//! Readings where the sources are silent, or contradict themselves:
//!
//! * `FSE_R(f)` is the rate last *assigned*; `DELTA` is the controller's change since (coupled-rtp-2014 says it both
//!   ways).
//! * `DELTA = CC_R − base`, where `base` is the rate from which the controller really started. Without delay between
//!   flow and exchange it is `FSE_R(f)`. With delay, or where two flows decide at once, the order of their updates
//!   makes no difference to algorithm 1.
//! * `new_DR` bounds the flow that stated it, not all flows as printed.
//! * Desired rates of greedy flows are infinite. RFC 8699 §5.2 sets them to `CC_R`, by which no flow ever gets the rate
//!   that another gave up.
//! * The timer belongs to the group, starts with a cut and is not extended; while it runs the shares are still sent. A
//!   flow that is alone never starts it.
//! * A flow beside others registers with its start rate, also after a pause: its former share is the others' now. Alone
//!   it registers with its present rate and gets no action: one flow is as if it were not coupled, bit by bit.
//! * A flow that leaves leaves its rate in the sum; one that changes groups takes it along.
//! * A rate that fell without congestion neither lowers nor raises other flows' rates: the table in `sum.rs`.
//! * A controller that sends rates is steered by rates, even if it sends a window as well.
//! * A flow with feedback within its last round trip that reports a timeout has lost packets.
//! * Missing feedback of one flow while others get theirs is no congestion of the path: that flow has paused. Where no
//!   flow gets feedback, it is a cut at once, and the others' timeouts are of the same event.
//!
//! Deliberate divergences:
//!
//! 1. A flow's increase counts whole, as the pseudo-code of coupled-rtp-2014 has it. Its prose, and
//!    [`Config::increase_div_n`], divide by N.
//! 2. While the timer runs nobody changes the sum, as printed; the prose, and [`Config::timer_exempts_initiator`], let the
//!    flow that started it.
//! 3. RFC 8699's algorithms forget what no flow can use ([`Config::reconcile_s_cr`]); the RFC lets it pile up. Those of
//!    coupled-rtp-2014 keep it, as printed: a flow that was limited for long may be ordered to far more than there is.
//! 4. [`Config::literal_dr`] shows what RFC 8699 §5.2 would do.
//! 5. What is left over in appendix C is bounded by what is not in use: a limited flow that updates often would else let it
//!    grow each time.
//! 6. RFC 8699's passes over the flows are one, which always ends.
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
use crate::coupled::frame::{AlgorithmCoupler, CouplingAlgorithm, Departure, SoftState};
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
    /// No groups: flows are not coupled until [`Fse::set_group`].
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

    fn on_leaving(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, departure: Departure) {
        frame.leave(now, place, departure);
    }

    fn counts(message: &CouplingMessage) -> bool {
        matches!(message, CouplingMessage::Update(_) | CouplingMessage::Window(_))
    }

    fn on_left(frame: &mut AlgorithmCoupler<Self>, _: SendTime, _: FlowId, left: Flow, _: Departure) {
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
