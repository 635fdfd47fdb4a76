//! Many calls in one process, over loopback without an emulator.

use std::error::Error;

use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{DataRate, RateLimits};
use weir_live::run::{HostFigures, run_hosts_alone};
use weir_media::{EncoderConfig, MediaConfig};
use weir_net::{LinkConfig, Service, Time};
use weir_units::TimeDelta;
use weir_world::{FlowSpec, LinkSpec, MediaSpec, RunSpec, Traffic};

/// The figures of many calls.
pub(crate) struct CallFigures {
    figures: HostFigures,
    calls: u32,
    mbps: u64,
    seconds: u64,
}

/// Runs `calls` calls of `mbps` each for `seconds`.
pub(crate) fn calls(calls: u32, mbps: u64, seconds: u64) -> Result<CallFigures, Box<dyn Error>> {
    let rate = DataRate::from_mbps(mbps);
    let limits = RateLimits::new(rate, rate, rate)?;
    let link = |name| {
        let service = Service::Constant(DataRate::from_mbps(10_000));
        LinkSpec::bottleneck(name, LinkConfig::new(service, TimeDelta::ZERO))
    };
    let flow = |index: u32| {
        let sender = Box::new(GoogCc::new(Config::default(), limits)?);
        let receiver = Box::new(PacketFeedback::new(TimeDelta::from_millis(50)));
        let media =
            MediaSpec::new(sender, receiver, MediaConfig::new(limits, EncoderConfig::rfc8593_statistical()));
        Ok::<_, Box<dyn Error>>(FlowSpec::new(&format!("call-{index}"), Traffic::Media(media)))
    };
    let flows: Vec<FlowSpec> = (0..calls).map(flow).collect::<Result<_, _>>()?;
    let end = Time::from_millis(1000 * seconds);
    let spec = RunSpec::over(vec![link("forward"), link("reverse")], end).with_all(flows);
    Ok(CallFigures { figures: run_hosts_alone(spec, true)?, calls, mbps, seconds })
}

impl CallFigures {
    /// The senders' thread and the receivers': lateness in ms, and processor time in cores.
    pub(crate) fn rows(&self) -> [(&'static str, [f64; 3], f64); 2] {
        let share = |cpu: TimeDelta| cpu.secs_f64() / self.seconds as f64;
        let HostFigures { lateness: [senders, receivers], cpu, .. } = &self.figures;
        [
            ("senders of 200 calls, 2 Mbit/s each", senders.summary_ms(), share(cpu[0])),
            ("receivers of these", receivers.summary_ms(), share(cpu[1])),
        ]
    }

    /// The packets in words.
    pub(crate) fn note(&self) -> String {
        let HostFigures { sent, arrived, lost, .. } = self.figures;
        let wanted = f64::from(self.calls) * self.mbps as f64;
        format!("{wanted:.0} Mbit/s, {sent} packets sent, {arrived} arrived, {lost} lost")
    }
}
