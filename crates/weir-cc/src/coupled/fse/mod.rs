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
//! [`Fse::merge`] and [`Fse::split`]; until then [`Grouping`] puts all flows into one group, or none into any. Flows
//! with windows are converted (`coupled::conversion`).
//!
//! Parts: the flow table (`table`), groups and their seats (`group`), and the effect of an update on `S_CR` (`sum`,
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
mod group;
mod membership;
mod passive;
mod sum;
mod table;
#[cfg(test)]
mod tests;
mod update;
mod windows;

use alloc::collections::VecDeque;

use weir_units::DataRate;

use crate::config_error::ConfigError;
use crate::coupled::conversion::is_sound;
use crate::coupled::coupler::{Aggregate, Coupler, Refusal};
use crate::coupled::message::{CouplerAction, CouplingMessage, FlowId, Update, WindowEvent};
use crate::decision::ChangeReason;
use crate::time::SendTime;
pub use config::{Algorithm, Config, Updates};
use group::Groups;
use table::{Pending, Presence, Table};

/// Initial grouping of flows, before any call that groups them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Grouping {
    /// All flows in one group: they are known to share their bottleneck.
    #[default]
    Together,
    /// No groups: flows are not coupled until [`Fse::set_group`].
    Apart,
}

/// Numbers of refused messages, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Messages of flows that have not joined.
    pub unknown_flow: u64,
    /// Joins of flows that have joined already.
    pub joined_already: u64,
    /// Priorities that are not positive and finite.
    pub priority: u64,
    /// Rates of zero, and impossible windows.
    pub amount: u64,
    /// Flows of a kind that this exchange cannot couple.
    pub kind: u64,
}

impl Refused {
    fn count(&mut self, refusal: Refusal) {
        let counter = match refusal {
            Refusal::UnknownFlow(_) => &mut self.unknown_flow,
            Refusal::JoinedAlready(_) => &mut self.joined_already,
            Refusal::Priority(_) => &mut self.priority,
            Refusal::Amount(_) => &mut self.amount,
            Refusal::Kind(_) => &mut self.kind,
        };
        *counter = counter.saturating_add(1);
    }
}

/// The Flow State Exchange.
#[derive(Debug)]
pub struct Fse {
    config: Config,
    grouping: Grouping,
    table: Table,
    groups: Groups,
    /// Actions not yet polled, at most one share of each flow.
    actions: VecDeque<Pending>,
    /// Lower bound of the times at which a flow without messages pauses.
    expiry: SendTime,
    /// Newest number of an action to a flow that has left.
    epochs: u32,
    refused: Refused,
}

impl Fse {
    /// An exchange without flows.
    ///
    /// # Errors
    /// The first constant of `config` out of its range, or a passive algorithm outside of a testbed.
    pub fn new(config: Config, grouping: Grouping) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            grouping,
            table: Table::default(),
            groups: Groups::default(),
            actions: VecDeque::new(),
            expiry: SendTime::MAX,
            epochs: 0,
            refused: Refused::default(),
        })
    }

    /// Numbers of refused messages, by reason.
    pub const fn refused(&self) -> Refused {
        self.refused
    }

    /// `FSE_R` of a flow that is in a group, in bit/s.
    pub fn share(&self, member: FlowId) -> Option<f64> {
        let (_, seat) = self.seated(self.table.find(member)?)?;
        self.groups.get(seat.group).map(|group| group.share(seat.claim))
    }

    /// Whether the least rates of a group's flows exceed its sum: its flows have their least rates, and send more than
    /// congestion allows. The caller, which chose the least rates, should then stop a flow.
    pub fn is_overloaded(&self, member: FlowId) -> bool {
        let seat = self.table.find(member).and_then(|slot| self.seated(slot)).map(|(_, seat)| seat);
        seat.and_then(|seat| self.groups.get(seat.group)).is_some_and(|group| group.overloaded)
    }

    /// Includes the expiry of a flow that has joined.
    fn expect_silence(&mut self, slot: u32) {
        if let Some(flow) = self.table.get(slot) {
            self.expiry = self.expiry.min(flow.expiry(&self.config));
        }
    }

    fn take_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        let slot = self.table.find(member);
        let presence = slot.and_then(|slot| self.table.get(slot)).map(|flow| flow.presence);
        let active = presence == Some(Presence::Active);
        if let CouplingMessage::Join(join) = message {
            return if active {
                Err(Refusal::JoinedAlready(member))
            } else {
                self.on_join(now, member, join)
            };
        }
        let slot = slot.ok_or(Refusal::UnknownFlow(member))?;
        if !active && matches!(message, CouplingMessage::Update(_) | CouplingMessage::Window(_)) {
            if presence == Some(Presence::Paused) {
                return Err(Refusal::UnknownFlow(member));
            }
            let Some(present) = self.returning_rate(slot, message) else {
                self.answer_absent(member, message);
                return Ok(());
            };
            self.resume(now, slot, present);
        }
        if let Some(flow) = self.table.get_mut(slot) {
            flow.message_at = now;
        }
        match message {
            CouplingMessage::Update(update) => self.on_update(now, slot, update),
            CouplingMessage::Window(cwnd_update) => self.on_window(now, slot, cwnd_update),
            CouplingMessage::FlowParameters(parameters) => {
                return self.on_parameters(member, slot, parameters);
            }
            CouplingMessage::Pause => self.leave(slot, Some(Presence::Paused)),
            CouplingMessage::Withdraw => self.withdraw(now, slot),
            CouplingMessage::Leave => self.leave(slot, None),
            CouplingMessage::Statistics(_) | CouplingMessage::Join(_) => {}
        }
        Ok(())
    }

    /// The rate of a silent flow whose message brings it back: it gets feedback again.
    fn returning_rate(&self, slot: u32, message: &CouplingMessage) -> Option<f64> {
        match message {
            CouplingMessage::Update(update) if self.is_back(slot, update) => {
                let base = update.decision.base;
                Some(if base.is_zero() { self.config.least_rate } else { base }.bps_f64())
            }
            CouplingMessage::Window(cwnd_update)
                if !matches!(
                    cwnd_update.event,
                    WindowEvent::TimedOut | WindowEvent::Reduced | WindowEvent::Idle
                ) =>
            {
                let steering = self.table.get(slot)?.steering?;
                steering.rate(cwnd_update.before.cwnd).filter(|_| is_sound(cwnd_update))
            }
            _ => None,
        }
    }

    /// Whether the decision of a silent flow brings it back; a flow that missed feedback needs new feedback first.
    fn is_back(&self, slot: u32, update: &Update) -> bool {
        let deaf = self.table.get(slot).is_some_and(|flow| flow.deaf);
        update.decision.why != ChangeReason::Timeout && (update.heard || !deaf)
    }

    /// Answers a message that makes no sense with the action that holds for its sender.
    fn answer_refused(&mut self, member: FlowId, message: &CouplingMessage) {
        let active = self.table.find(member).filter(|&slot| self.seated(slot).is_some());
        if let Some(slot) = active {
            if let Some(flow) = self.table.get_mut(slot) {
                flow.in_force = f64::NAN;
            }
            self.send_share(slot);
        } else {
            self.answer_absent(member, message);
        }
    }

    /// Acknowledges a join or an update that brings no new action: without an answer the coupler would seem absent.
    fn acknowledge(&mut self, member: FlowId) {
        if let Some(slot) = self.table.find(member)
            && let Some(flow) = self.table.get(slot)
            && !flow.ordered
            && flow.steering.is_none()
        {
            self.actions.push_back(Pending::Acknowledgement(slot, member));
        }
    }

    /// Answers a flow that takes no part: it goes on without coupling.
    fn answer_absent(&mut self, member: FlowId, message: &CouplingMessage) {
        if let CouplingMessage::Window(cwnd_update) = message
            && cwnd_update.event == WindowEvent::TimedOut
        {
            self.actions.push_back(Pending::Reduce(member));
        }
    }
}

impl Coupler for Fse {
    fn on_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        let taken = self.take_message(now, member, message);
        if let Err(refusal) = taken {
            self.refused.count(refusal);
            self.answer_refused(member, message);
        }
        if matches!(message, CouplingMessage::Join(_) | CouplingMessage::Update(_)) {
            self.acknowledge(member);
        }
        taken
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        loop {
            match self.actions.pop_front()? {
                Pending::Reduce(member) => return Some((member, CouplerAction::Reduce)),
                Pending::Uncoupled(member) => return Some((member, CouplerAction::Uncoupled)),
                Pending::Acknowledgement(slot, member) => {
                    if let Some(flow) = self.table.get(slot) {
                        let rate = DataRate::from_bps_f64(flow.present());
                        return Some((member, CouplerAction::Rate { rate, epoch: 0 }));
                    }
                }
                Pending::AllocatedRate(slot, member) => {
                    if let Some(action) = self.share_action(slot) {
                        return Some((member, action));
                    }
                }
            }
        }
    }

    fn next_timeout(&self) -> Option<SendTime> {
        (self.expiry < SendTime::MAX).then_some(self.expiry)
    }

    fn on_timeout(&mut self, now: SendTime) {
        if now < self.expiry {
            return;
        }
        self.expiry = SendTime::MAX;
        for place in 0..self.table.len() {
            let Some(slot) = self.table.slot(place) else { continue };
            let Some(flow) = self.table.get(slot).filter(|flow| flow.presence == Presence::Active) else {
                continue;
            };
            let expiry = flow.expiry(&self.config);
            if expiry <= now {
                self.fall_silent(slot);
            } else {
                self.expiry = self.expiry.min(expiry);
            }
        }
    }

    fn aggregate(&self, member: FlowId) -> Option<Aggregate> {
        let (_, seat) = self.seated(self.table.find(member)?)?;
        let group = self.groups.get(seat.group)?;
        Some(Aggregate { group: group.number, sum: group.sum })
    }
}

impl Fse {
    /// The newest share of a flow that is still present.
    fn share_action(&mut self, slot: u32) -> Option<CouplerAction> {
        let flow = self.table.get_mut(slot)?;
        flow.ordered = false;
        let group = self.groups.get(flow.seat?.group)?;
        match &mut flow.steering {
            Some(steering) => {
                steering.order(flow.in_force, group.sum, group.threshold).map(CouplerAction::Window)
            }
            None => Some(CouplerAction::Rate {
                rate: DataRate::from_bps(flow.in_force as u64),
                epoch: flow.epoch,
            }),
        }
    }
}
