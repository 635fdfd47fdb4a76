//! The exchange by numbers worked by hand: rates in kbit/s.

mod edges;
mod groups;
mod properties;
mod reasons;
mod vectors;
mod windows;

use weir_units::{DataRate, TimeDelta};

use super::{Config, Fse, InitialGrouping};
use crate::coupled::coupler::{Coupler, Refusal};
use crate::coupled::message::{CouplerAction, CouplingMessage, FlowId, FlowParameters, Join, Update};
use crate::decision::{ChangeReason, Decision};
use crate::time::SendTime;

fn kbps(rate: f64) -> DataRate {
    DataRate::from_bps_f64(rate * 1e3)
}

fn greedy(priority: f64) -> FlowParameters {
    FlowParameters { priority, desired: None, least: DataRate::ZERO }
}

fn wanting(priority: f64, desired: f64) -> FlowParameters {
    FlowParameters { desired: Some(kbps(desired)), ..greedy(priority) }
}

fn join(parameters: FlowParameters, start: f64, present: f64) -> CouplingMessage {
    CouplingMessage::Join(Join { parameters, start: kbps(start), present: kbps(present), window: None })
}

/// An exchange, and the hosts of its flows, which take actions at once.
struct Flows {
    fse: Fse,
    now: SendTime,
    /// The rate in use of each flow, in kbit/s, and the newest action it took.
    taken: Vec<(f64, u32)>,
    actions: Vec<(u32, CouplerAction)>,
    /// Flows that got an answer without a new rate.
    acknowledged: Vec<u32>,
}

impl Flows {
    fn new(config: Config) -> Self {
        Self::grouped(config, InitialGrouping::Together)
    }

    fn grouped(config: Config, grouping: InitialGrouping) -> Self {
        let fse = Fse::new(config, grouping).unwrap();
        Self { fse, now: SendTime::ZERO, taken: Vec::new(), actions: Vec::new(), acknowledged: Vec::new() }
    }

    /// Greedy flows at these rates, in order.
    fn at(config: Config, flows: &[(f64, f64)]) -> Self {
        let mut all = Self::new(config);
        for &(priority, rate) in flows {
            all.joins(greedy(priority), rate);
        }
        all
    }

    /// The next flow begins.
    fn joins(&mut self, parameters: FlowParameters, rate: f64) -> u32 {
        let flow = self.taken.len() as u32;
        self.taken.push((rate, 0));
        self.send_message(flow, join(parameters, rate, rate)).unwrap();
        flow
    }

    /// Passes `message` to the exchange, and stores its actions.
    fn send_message(&mut self, flow: u32, message: CouplingMessage) -> Result<(), Refusal> {
        let taken = self.fse.on_message(self.now, FlowId(flow), &message);
        self.poll();
        taken
    }

    fn poll(&mut self) {
        while let Some((FlowId(flow), action)) = self.fse.poll_action() {
            if matches!(action, CouplerAction::Rate { epoch: 0, .. }) {
                self.acknowledged.push(flow);
                continue;
            }
            self.actions.push((flow, action));
            if let (CouplerAction::Rate { rate, epoch }, Some(taken)) =
                (action, self.taken.get_mut(flow as usize))
            {
                assert!(epoch > taken.1, "actions are numbered");
                *taken = (rate.bps_f64() / 1e3, epoch);
            }
        }
    }

    fn at_ms(&mut self, ms: i64) -> &mut Self {
        self.now = SendTime::from_millis(ms);
        self
    }

    /// A flow's controller computes a rate from the one that it took last.
    fn computes(&mut self, flow: u32, rate: f64, why: ChangeReason) -> &mut Self {
        let (base, epoch) = self.taken[flow as usize];
        self.computes_from(flow, base, epoch, rate, why)
    }

    /// Flow `flow` decides `rate` kbit/s from `base` kbit/s, after the action numbered `epoch`.
    fn computes_from(&mut self, flow: u32, base: f64, epoch: u32, rate: f64, why: ChangeReason) -> &mut Self {
        self.actions.clear();
        self.acknowledged.clear();
        let rtt = Some(TimeDelta::from_millis(100));
        let decision = Decision { rate: kbps(rate), base: kbps(base), why, rtt };
        self.taken[flow as usize].0 = rate;
        self.send_message(
            flow,
            CouplingMessage::Update(Update { decision, window: None, epoch, has_feedback: true }),
        )
        .unwrap();
        self
    }

    fn grows(&mut self, flow: u32, rate: f64) -> &mut Self {
        self.computes(flow, rate, ChangeReason::Growth)
    }

    fn loses(&mut self, flow: u32, rate: f64) -> &mut Self {
        self.computes(flow, rate, ChangeReason::Loss)
    }

    /// Checks `S_CR` of the first flow's group, and each flow's rate.
    #[track_caller]
    fn are(&self, sum: f64, shares: &[f64]) {
        self.shared_among(&(0..).zip(shares.iter().copied()).collect::<Vec<_>>(), sum);
        let near = |(&(taken, _), &share): (&(f64, u32), &f64)| (taken - share).abs() < 0.01;
        assert!(self.taken.iter().zip(shares).all(near), "{:?} go by {shares:?}", self.taken);
    }

    /// Checks the group of these flows: its sum and their shares.
    #[track_caller]
    fn shared_among(&self, shares: &[(u32, f64)], sum: f64) {
        let aggregate = self.fse.aggregate(FlowId(shares[0].0)).unwrap();
        assert!((aggregate.sum / 1e3 - sum).abs() < 0.01, "S_CR is {} and not {sum}", aggregate.sum / 1e3);
        for &(flow, share) in shares {
            let is = self.fse.share(FlowId(flow)).unwrap() / 1e3;
            assert!((is - share).abs() < 0.01, "flow {flow} has {is} and not {share}");
            assert_eq!(self.fse.aggregate(FlowId(flow)), Some(aggregate));
        }
    }

    /// The flows that got an action, in increasing order.
    fn ordered_to(&self) -> Vec<u32> {
        let mut flows: Vec<u32> = self.actions.iter().map(|&(flow, _)| flow).collect();
        flows.sort_unstable();
        flows
    }
}

/// The forms of the exchange that papers and RFC 8699 define.
fn all_forms() -> [Config; 6] {
    [
        Config::rtp_2014_active(),
        Config::rtp_2014_conservative(),
        Config::rfc8699_active(),
        Config::rfc8699_conservative(),
        Config::rfc8699_passive_in_a_testbed(),
        Config::passive_simple_in_a_testbed(),
    ]
}
