//! Small networks for the tests of the engine.

use std::collections::VecDeque;

use weir_cc::coupled::{
    Aggregate, Coupler, CouplerAction, CouplingMessage, FlowId, Grouped, Refusal, WindowEvent,
};
use weir_cc::gcc::remb::{Config, GccReceiver, GccSender};
use weir_cc::window::NewReno;
use weir_cc::{DataRate, DataSize, RateLimits, SendTime, TimeDelta};
use weir_media::{EncoderConfig, MediaConfig};
use weir_net::{LinkConfig, QueueConfig, Service, Time};
use weir_world::{CoupledSpec, CouplingSpec, FlowSpec, LinkSpec, MediaSpec, RunSpec, Traffic};

/// A link of `kbps`, 25 ms long, with a queue of 300 ms.
pub(crate) fn link(name: &str, kbps: u64) -> LinkSpec {
    let service = Service::Constant(DataRate::from_kbps(kbps));
    let mut config = LinkConfig::new(service, TimeDelta::from_millis(25));
    config.queue = QueueConfig { limit_time: Some(TimeDelta::from_millis(300)), ..QueueConfig::default() };
    LinkSpec { name: name.to_owned(), config, bottleneck: name == "forward" }
}

pub(crate) fn flow(name: &str, traffic: Traffic) -> FlowSpec {
    FlowSpec::new(name, traffic)
}

pub(crate) fn spec(kbps: u64, seconds: u64, flows: Vec<FlowSpec>) -> RunSpec {
    let links = vec![link("forward", kbps), link("reverse", kbps)];
    RunSpec::over(links, Time::from_millis(1000 * seconds)).with_all(flows)
}

pub(crate) fn constant(kbps: u64) -> Traffic {
    Traffic::Constant { rate: DataRate::from_kbps(kbps), packet_size: DataSize::from_bytes(1000) }
}

/// A NewReno transfer without end.
pub(crate) fn tcp() -> Traffic {
    Traffic::Tcp {
        name: "reno".to_owned(),
        algorithm: Box::new(NewReno::default()),
        config: weir_world::tcp::TcpConfig::default(),
        size: None,
    }
}

/// A call of the GCC of 2016, from 50 kbit/s to 2 Mbit/s.
pub(crate) fn gcc_2016() -> Traffic {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(2000)).expect("in order");
    Traffic::Media(MediaSpec::new(
        Box::new(GccSender::new(Config::default(), limits).expect("valid")),
        Box::new(GccReceiver::new(Config::default(), limits).expect("valid")),
        MediaConfig::new(limits, EncoderConfig::gcc_2016()),
    ))
}

/// Coupler that has each flow do what it would do without one.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    orders: VecDeque<(FlowId, CouplerAction)>,
    epoch: u32,
}

impl Coupler for Echo {
    fn on_message(&mut self, _now: SendTime, member: FlowId, word: &CouplingMessage) -> Result<(), Refusal> {
        let order = match word {
            CouplingMessage::Update(update) => {
                self.epoch += 1;
                CouplerAction::Rate { rate: update.decision.rate, epoch: self.epoch }
            }
            CouplingMessage::Window(news) if news.event == WindowEvent::TimedOut => CouplerAction::Reduce,
            CouplingMessage::Window(news) => CouplerAction::Window(news.after),
            _ => return Ok(()),
        };
        self.orders.push_back((member, order));
        Ok(())
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        self.orders.pop_front()
    }

    fn aggregate(&self, _member: FlowId) -> Option<Aggregate> {
        None
    }
}

impl Grouped for Echo {
    fn set_group(&mut self, _now: SendTime, _member: FlowId, _group: u32) {}
}

/// `spec` with all its flows coupled, `delay_ms` away from their coupler.
pub(crate) fn coupled_by(coupler: impl Coupler + 'static, delay_ms: i64, spec: RunSpec) -> RunSpec {
    let flows = spec.flows.into_iter().map(|flow| flow.coupled(CoupledSpec::new(0))).collect();
    let delay = TimeDelta::from_millis(delay_ms);
    let coupling = CouplingSpec { name: "all".to_owned(), coupler: Box::new(coupler), delay };
    RunSpec { flows, ..spec }.coupling(coupling)
}
