//! The coordinated group of ctrlTCP: the coordinator, the aggregate, and the actions for each flow.

mod answers;
mod clocks;
mod delay;
mod growth;
mod handover;
mod losses;
mod members;
mod review;
mod timeouts;

use weir_units::TimeDelta;

use super::config::Config;
use super::flow::{Flow, Phase};
use super::loss_event::LossEvent;
use super::shares::WindowShares;
use super::tenants::Tenants;
use crate::config_error::ConfigError;
use crate::coupled::conversion::possible_rtt;
use crate::coupled::coupler::Aggregate;
use crate::coupled::frame::{AlgorithmCoupler, CouplingAlgorithm, MemberDeparture};
use crate::coupled::message::{
    CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Update, WindowEvent,
};
use crate::time::SendTime;

use clocks::NewcomerClocks;

/// Coupler of windows. The aggregate reacts as one connection does, and each flow has its share of it.
pub type CtrlTcp = AlgorithmCoupler<Coordination>;

/// State of the coordination: the sums, the coordinator and the loss event.
#[derive(Clone, Debug)]
pub struct Coordination {
    config: Config,
    tenants: Tenants,
    shares: WindowShares,
    /// `CoCo`: the flow whose growth is that of the aggregate.
    coordinator: Option<FlowId>,
    loss_event: LossEvent,
    clocks: NewcomerClocks,
    /// Number of flows with a timeout whose kind is not decided.
    undecided: u32,
    /// Whether the only remaining flow has not reached the whole aggregate yet.
    inheriting: bool,
    /// Sum of the priorities, those of tenants included.
    priorities: f64,
    srtt: Option<TimeDelta>,
    next_review: SendTime,
}

impl CtrlTcp {
    /// A coupler without flows.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Self::for_tenants(config, Tenants::none())
    }

    /// As [`Self::new`], for flows of several tenants.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn for_tenants(config: Config, tenants: Tenants) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::of(Coordination {
            config,
            tenants,
            shares: WindowShares::default(),
            coordinator: None,
            loss_event: LossEvent::default(),
            clocks: NewcomerClocks::default(),
            undecided: 0,
            inheriting: false,
            priorities: 0.0,
            srtt: None,
            next_review: SendTime::from_nanos(i64::MIN),
        }))
    }

    /// The coordinating flow (`CoCo`), or `None` without flows.
    pub fn coordinator(&self) -> Option<FlowId> {
        self.algorithm.coordinator
    }

    /// The share of a flow in bytes, or `None` for one that is not coupled.
    pub fn share(&self, member: FlowId) -> Option<f64> {
        self.flows.place(member).map(|place| self.algorithm.shares.share(&self.flows[place]))
    }

    /// `sum_ssthresh` in bytes, or `None` before the first congestion.
    pub fn threshold(&self) -> Option<f64> {
        self.algorithm.shares.threshold()
    }

    /// Whether a loss event is in progress, in which the sum is constant.
    pub fn in_loss_event(&self, now: SendTime) -> bool {
        self.algorithm.loss_event.is_in_progress(now)
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
            self.algorithm.srtt = Some(possible_rtt(srtt));
        }
        let flow = &mut self.flows[place];
        if cwnd_update.base_rtt.is_some() && cwnd_update.base_rtt != flow.base_rtt {
            flow.base_rtt = cwnd_update.base_rtt;
            if self.algorithm.config.by_rates {
                self.reweigh();
            }
        }
    }

    fn round_trip(&self) -> TimeDelta {
        self.algorithm.srtt.unwrap_or(self.algorithm.config.usual_rtt)
    }

    /// Sets `sum_cwnd`. ACK clocks do not release a reduced part.
    fn set_sum(&mut self, sum: f64) {
        let falls = sum < self.algorithm.shares.sum();
        self.algorithm.shares.set_sum(sum, self.flows.all());
        if falls && self.algorithm.clocks.are_running() {
            self.shorten_clocks();
        }
    }

    fn coordinates(&self, place: usize) -> bool {
        self.algorithm.coordinator == Some(self.flows.member(place))
    }

    /// Whether only one flow is coupled and has the whole aggregate, which then follows the flow's own controller.
    fn is_alone(&self) -> bool {
        self.flows.len() == 1 && !self.algorithm.inheriting
    }
}

impl CouplingAlgorithm for Coordination {
    type Flow = Flow;

    const WINDOWS_ONLY: bool = true;

    fn admit(_: &mut AlgorithmCoupler<Self>, now: SendTime, _: FlowId, join: &Join) -> Flow {
        Flow::new(now, join.parameters, &join.windowed())
    }

    fn on_join(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, _: &Join) {
        frame.on_joined(now, place);
    }

    fn on_rate(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, update: &Update) {
        frame.on_update(now, place, update);
    }

    fn on_window(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        frame.on_cwnd_update(now, place, cwnd_update);
    }

    fn on_parameters(
        frame: &mut AlgorithmCoupler<Self>,
        now: SendTime,
        place: usize,
        parameters: &FlowParameters,
    ) {
        frame.set_parameters(now, place, parameters);
    }

    fn on_leaving(
        frame: &mut AlgorithmCoupler<Self>,
        now: SendTime,
        place: usize,
        departure: MemberDeparture,
    ) {
        frame.prepare_leave(now, place, departure);
    }

    fn on_left(
        frame: &mut AlgorithmCoupler<Self>,
        now: SendTime,
        member: FlowId,
        left: Flow,
        _: MemberDeparture,
    ) {
        frame.inherit(now, member, &left);
    }

    fn answer(frame: &mut AlgorithmCoupler<Self>, place: usize, message: &CouplingMessage) {
        match message {
            CouplingMessage::Join(_) => frame.send_window(place, f64::INFINITY, None),
            CouplingMessage::Update(_) => frame.send_window(place, frame.flows[place].window.cwnd, None),
            _ => {}
        }
    }

    fn next_timer(frame: &AlgorithmCoupler<Self>) -> Option<SendTime> {
        frame.algorithm.clocks.are_running().then(|| frame.next_silence()).flatten()
    }

    fn on_timer(frame: &mut AlgorithmCoupler<Self>, now: SendTime) {
        if frame.algorithm.clocks.are_running() {
            frame.end_silent_clocks(now);
        }
    }

    fn aggregate(frame: &AlgorithmCoupler<Self>, _: usize) -> Option<Aggregate> {
        Some(Aggregate { group: 0, sum: frame.algorithm.shares.sum() })
    }
}

/// Whether a flow is outside of any loss recovery.
fn is_open(flow: &Flow) -> bool {
    flow.phase == Phase::Open
}
