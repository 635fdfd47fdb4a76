//! Small networks for the tests of the engine.

use weir_cc::gcc::remb::{Config, GccReceiver, GccSender};
use weir_cc::window::NewReno;
use weir_cc::{DataRate, DataSize, RateLimits, TimeDelta};
use weir_media::{EncoderConfig, MediaConfig};
use weir_net::{LinkConfig, QueueConfig, Service, Time};
use weir_world::{FlowSpec, LinkSpec, MediaSpec, RunSpec, Traffic};

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

pub(crate) fn tcp() -> Traffic {
    Traffic::Tcp {
        law: Box::new(NewReno::default()),
        config: weir_world::tcp::TcpConfig::default(),
        size: None,
    }
}

pub(crate) fn gcc_2016() -> Traffic {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(2000)).expect("in order");
    Traffic::Media(MediaSpec::new(
        Box::new(GccSender::new(Config::default(), limits).expect("valid")),
        Box::new(GccReceiver::new(Config::default(), limits).expect("valid")),
        MediaConfig::new(limits, EncoderConfig::gcc_2016()),
    ))
}
