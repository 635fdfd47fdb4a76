//! The group: the coordinator, the aggregate and the actions for each flow.

mod answers;
mod clocks;
mod delay;
mod growth;
mod handover;
mod losses;
mod members;
mod review;
mod timeouts;

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use super::config::Config;
use super::episode::Episode;
use super::flow::{Flow, Phase};
use super::flow_table::FlowTable;
use super::shares::Shares;
use super::tenants::Tenants;
use crate::config_error::ConfigError;
use crate::coupled::conversion::possible_rtt;
use crate::coupled::coupler::{Aggregate, Coupler, Refusal};
use crate::coupled::message::{CouplerAction, CouplingMessage, CwndUpdate, FlowId, WindowEvent};
use crate::time::SendTime;

use clocks::Clocks;

/// Couples windows: the aggregate reacts as one connection does, and each flow has its share of it.
#[derive(Clone, Debug)]
pub struct CtrlTcp {
    config: Config,
    tenants: Tenants,
    flows: FlowTable<Flow>,
    shares: Shares,
    /// `CoCo`: the flow whose growth is the aggregate's.
    coordinator: Option<FlowId>,
    episode: Episode,
    clocks: Clocks,
    /// Number of flows whose timeout is not decided.
    undecided: u32,
    /// Whether the last flow has not yet reached all that the others left.
    inheriting: bool,
    /// The sum of priorities, tenants' among them.
    priorities: f64,
    srtt: Option<TimeDelta>,
    next_review: SendTime,
    actions: VecDeque<(FlowId, CouplerAction)>,
}

impl CtrlTcp {
    /// A coupler without flows.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Self::for_tenants(config, Tenants::none())
    }

    /// The same for flows of several tenants.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn for_tenants(config: Config, tenants: Tenants) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            tenants,
            flows: FlowTable::default(),
            shares: Shares::default(),
            coordinator: None,
            episode: Episode::default(),
            clocks: Clocks::default(),
            undecided: 0,
            inheriting: false,
            priorities: 0.0,
            srtt: None,
            next_review: SendTime::from_nanos(i64::MIN),
            actions: VecDeque::with_capacity(16),
        })
    }

    /// The coordinating flow (`CoCo`), or `None` without flows.
    pub fn coordinator(&self) -> Option<FlowId> {
        self.coordinator
    }

    /// The share of a flow in bytes, or `None` for one that is not coupled.
    pub fn share(&self, member: FlowId) -> Option<f64> {
        self.flows.place(member).map(|place| self.shares.share(&self.flows[place]))
    }

    /// `sum_ssthresh` in bytes, or `None` before the first congestion.
    pub fn threshold(&self) -> Option<f64> {
        self.shares.threshold()
    }

    /// Whether a loss event is in progress: the sum stands still.
    pub fn in_episode(&self, now: SendTime) -> bool {
        self.episode.is_running(now)
    }

    fn on_cwnd_update(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        self.measure(place, cwnd_update);
        match cwnd_update.event {
            WindowEvent::Acknowledged => self.on_acknowledged(now, place, cwnd_update),
            WindowEvent::Repairing => self.on_repairing(now, place, cwnd_update),
            WindowEvent::RecoveryEntered => self.on_recovery_entered(now, place, cwnd_update),
            WindowEvent::RecoveryLeft => self.on_recovery_left(now, place, cwnd_update),
            WindowEvent::TimedOut => self.on_timed_out(now, place),
            WindowEvent::Reduced => self.on_reduced(place, cwnd_update),
            WindowEvent::Marked => self.on_marked(now, place, cwnd_update),
            WindowEvent::Idle => self.on_idle(now, place, cwnd_update),
        }
    }

    fn measure(&mut self, place: usize, cwnd_update: &CwndUpdate) {
        if let Some(srtt) = cwnd_update.srtt.filter(|srtt| *srtt > TimeDelta::ZERO) {
            self.srtt = Some(possible_rtt(srtt));
        }
        let flow = &mut self.flows[place];
        if cwnd_update.base_rtt.is_some() && cwnd_update.base_rtt != flow.base_rtt {
            flow.base_rtt = cwnd_update.base_rtt;
            if self.config.by_rates {
                self.reweigh();
            }
        }
    }

    fn round_trip(&self) -> TimeDelta {
        self.srtt.unwrap_or(self.config.usual_rtt)
    }

    /// Sets `sum_cwnd`. ACK clocks do not hand out a reduced part.
    fn set_sum(&mut self, sum: f64) {
        let falls = sum < self.shares.sum();
        self.shares.set_sum(sum, self.flows.all());
        if falls && self.clocks.are_running() {
            self.shorten_clocks();
        }
    }

    fn push(&mut self, place: usize, action: CouplerAction) {
        self.actions.push_back((self.flows.member(place), action));
    }

    fn coordinates(&self, place: usize) -> bool {
        self.coordinator == Some(self.flows.member(place))
    }

    /// Whether one flow is alone and has all: its own controller steers it, and the aggregate follows.
    fn is_alone(&self) -> bool {
        self.flows.len() == 1 && !self.inheriting
    }
}

/// Whether an event has numbers that a window can have.
fn is_sound(cwnd_update: &CwndUpdate) -> bool {
    let amount = |value: f64| value >= 0.0 && value.is_finite();
    [cwnd_update.before.cwnd, cwnd_update.after.cwnd, cwnd_update.acked, cwnd_update.flight]
        .into_iter()
        .all(amount)
        && cwnd_update.before.ssthresh >= 0.0
        && cwnd_update.after.ssthresh >= 0.0
}

impl Coupler for CtrlTcp {
    fn on_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        if let CouplingMessage::Join(join) = message {
            return self.join(now, member, join);
        }
        let Some(place) = self.flows.place(member) else {
            if waits_for_an_answer(message) {
                self.actions.push_back((member, CouplerAction::Uncoupled));
            }
            return Err(Refusal::UnknownFlow(member));
        };
        match message {
            CouplingMessage::Window(cwnd_update) if is_sound(cwnd_update) => {
                self.on_cwnd_update(now, place, cwnd_update);
            }
            CouplingMessage::Window(cwnd_update) => {
                if cwnd_update.event == WindowEvent::TimedOut {
                    self.push(place, CouplerAction::Reduce);
                }
                return Err(Refusal::Amount(member));
            }
            CouplingMessage::Update(update) => return self.on_update(now, place, update),
            CouplingMessage::FlowParameters(parameters) => return self.on_parameters(now, place, parameters),
            CouplingMessage::Withdraw => self.withdraw(now, place),
            CouplingMessage::Pause | CouplingMessage::Leave => self.leave(now, place),
            CouplingMessage::Join(_) | CouplingMessage::Statistics(_) => {}
        }
        Ok(())
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        self.actions.pop_front()
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.clocks.are_running().then(|| self.next_silence()).flatten()
    }

    fn on_timeout(&mut self, now: SendTime) {
        if self.clocks.are_running() {
            self.end_silent_clocks(now);
        }
    }

    fn aggregate(&self, member: FlowId) -> Option<Aggregate> {
        self.flows.place(member).map(|_| Aggregate { group: 0, sum: self.shares.sum() })
    }
}

/// Whether a flow waits for an answer before it goes on.
fn waits_for_an_answer(message: &CouplingMessage) -> bool {
    match message {
        CouplingMessage::Update(_) => true,
        CouplingMessage::Window(cwnd_update) => cwnd_update.event == WindowEvent::TimedOut,
        _ => false,
    }
}

/// Whether a flow is outside of any loss recovery.
fn is_open(flow: &Flow) -> bool {
    flow.phase == Phase::Open
}
