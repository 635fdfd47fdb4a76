//! A flow alone in a Flow State Exchange behaves as without one: every controller under every form of it, bit by bit.

use alloc::vec::Vec;

use weir_units::DataRate;

use super::coupling::{CAPACITY, change_path, flow};
use crate::controller::Target;
use crate::coupled::fse::{Config, Fse, InitialGrouping, Updates};
use crate::coupled::{Coupler, CouplerAction, CouplingMessage, FlowId, FlowParameters, Join, Update};
use crate::decision::Decision;
use crate::testing::closed_loop::{Loop, PacketSource};
use crate::testing::tested_controller::{TestedController, usual_limits};
use crate::time::SendTime;

const FLOW: FlowId = FlowId(0);

/// Forms of the exchange: the published configurations, and two with options that they do not use.
fn forms() -> [Config; 8] {
    [
        Config::rtp_2014_active(),
        Config::rtp_2014_conservative(),
        Config { increase_div_n: true, timer_exempts_initiator: true, ..Config::rtp_2014_conservative() },
        Config::rfc8699_active(),
        Config::rfc8699_conservative(),
        Config::rfc8699_passive_in_a_testbed(),
        Config::passive_simple_in_a_testbed(),
        Config { updates: Updates::OnChange, literal_dr: true, ..Config::passive_simple_in_a_testbed() },
    ]
}

/// The exchange's clock starts elsewhere than the flow's.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(5_000_000 + ms)
}

/// An exchange that the flow has joined at its start rate.
fn joined(config: Config) -> Fse {
    let mut fse = Fse::new(config, InitialGrouping::Together).unwrap();
    let limits = usual_limits();
    let parameters = FlowParameters { priority: 0.3, desired: None, least: limits.min() };
    let join = Join { parameters, start: limits.start(), present: limits.start(), window: None };
    fse.on_message(at(0), FLOW, &CouplingMessage::Join(join)).unwrap();
    fse
}

/// An exchange with one member. The member's decisions go to it, and its actions go to the member.
struct OneMemberExchange {
    config: Config,
    fse: Fse,
    epoch: u32,
}

impl OneMemberExchange {
    fn new(config: Config) -> Self {
        Self { config, fse: joined(config), epoch: 0 }
    }

    /// Advances by one ms: a due timer, a decision, and the flow takes the actions. Each action must be the present
    /// rate: several exchanges of one flow would otherwise hide an error of one of them.
    fn tick(&mut self, ms: i64, decision: Option<Decision>, present: DataRate, path: &mut Loop) {
        if self.fse.next_timeout().is_some_and(|due| due <= at(ms)) {
            self.fse.on_timeout(at(ms));
        }
        if let Some(decision) = decision {
            let update = Update { decision, window: None, epoch: self.epoch, has_feedback: true };
            self.fse.on_message(at(ms), FLOW, &CouplingMessage::Update(update)).unwrap();
        }
        while let Some((_, action)) = self.fse.poll_action() {
            let CouplerAction::Rate { rate, epoch } = action else { panic!("{action:?}") };
            assert_eq!(rate, present, "{:?} at {ms} ms", self.config);
            if epoch > 0 {
                path.apply_allocation(rate);
                self.epoch = epoch;
            }
        }
        let sum = self.fse.aggregate(FLOW).map(|aggregate| DataRate::from_bps_f64(aggregate.sum));
        assert!(decision.is_none_or(|decision| sum == Some(decision.rate)), "{:?}", self.config);
    }
}

/// The target after each millisecond of a minute with changes of the path, with an exchange of each of `forms`.
fn course(controller: &TestedController, forms: &[Config]) -> Vec<Target> {
    let mut path = flow(controller, usual_limits(), PacketSource::VIDEO, CAPACITY);
    let mut exchanges: Vec<_> = forms.iter().map(|&config| OneMemberExchange::new(config)).collect();
    let mut present = usual_limits().start();
    let advance = |ms: i64| {
        change_path(&mut path, ms);
        path.tick();
        let decision = path.take_decision();
        present = decision.map_or(present, |decision| decision.rate);
        for exchange in &mut exchanges {
            exchange.tick(ms, decision, present, &mut path);
        }
        path.target()
    };
    (0..60_000).map(advance).collect()
}

/// Alone in a Flow State Exchange of any form, a minute with changes of the link is bit by bit as without it.
pub fn alone_in_an_exchange_a_flow_is_as_if_it_were_not_coupled(controller: &TestedController) {
    assert!(course(controller, &forms()) == course(controller, &[]), "{}", controller.name);
}
