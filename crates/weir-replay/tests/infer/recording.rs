//! Simulated calls, recorded, beside what their recording does not say.

use weir_cc::{Ecn, Target};
use weir_import::traces::TraceStore;
use weir_measure::metrics::Recorder;
use weir_measure::results::RunMetrics;
use weir_media::MediaPacket;
use weir_net::Time;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_sim::Simulation;
use weir_units::TimeDelta;
use weir_wire::media::MediaHeader;
use weir_world::{CallMonitor, FrameMeta, Monitor, RecordedCall, Side};

/// A recorded call, and packets that waited for another at the first link.
pub(crate) struct SimulatedCall {
    pub(crate) call: RecordedCall,
    /// Packets of each second that waited for another, by the end of their service.
    pub(crate) waited: Vec<u32>,
}

/// Records the first flow, and counts waits at the first link.
struct WaitingMonitor {
    calls: CallMonitor,
    delay: TimeDelta,
    waited: Vec<u32>,
}

impl Monitor for WaitingMonitor {
    fn wants_rtp(&self) -> bool {
        true
    }

    fn rtp_sent(&mut self, now: Time, flow: usize, packet: &MediaPacket) {
        self.calls.rtp_sent(now, flow, packet);
    }

    fn rtp_arrived(&mut self, now: Time, flow: usize, header: &MediaHeader, ecn: Ecn) {
        self.calls.rtp_arrived(now, flow, header, ecn);
    }

    fn rtcp_arrived(&mut self, now: Time, flow: usize, at: Side, bytes: &[u8]) {
        self.calls.rtcp_arrived(now, flow, at, bytes);
    }

    fn frame(&mut self, now: Time, flow: usize, frame: &FrameMeta) {
        self.calls.frame(now, flow, frame);
    }

    fn rtt(&mut self, now: Time, flow: usize, rtt: TimeDelta) {
        self.calls.rtt(now, flow, rtt);
    }

    fn target(&mut self, now: Time, flow: usize, target: &Target) {
        self.calls.target(now, flow, target);
    }

    fn link_exit(&mut self, now: Time, link: usize, wire_size: u32, wait: TimeDelta) {
        // Small packets are reports of the sender.
        if link != 0 || wire_size < 150 || wait < TimeDelta::from_millis(1) {
            return;
        }
        let served = (now - Time::ZERO) - self.delay;
        let second = (served.nanos().max(0) / 1_000_000_000) as usize;
        if self.waited.len() <= second {
            self.waited.resize(second + 1, 0);
        }
        self.waited[second] += 1;
    }
}

/// The scenario of this text.
pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::parse("inferred", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The call of the first flow under `controller`, with this seed.
pub(crate) fn simulate(text: &str, controller: Option<&str>, seed: u64) -> SimulatedCall {
    let options = RunOptions { controller, ..RunOptions::new(seed) };
    let run = scenario(text).build(&options, &TraceStore::at(None)).expect("the scenario is valid");
    let delay = run.spec.links[0].config.delay;
    let flows = run.spec.flows.len();
    let calls = CallMonitor::new((0..flows).map(|flow| flow == 0));
    let monitor = WaitingMonitor { calls, delay, waited: Vec::new() };
    let monitor = Simulation::new(run.spec, monitor).expect("the run is valid").run();
    let (_, call) = monitor.calls.finish().next().expect("the first flow is recorded");
    SimulatedCall { call, waited: monitor.waited }
}

/// The metrics of a run under `controller`, with this seed.
pub(crate) fn metrics(text: &str, controller: &str, seed: u64) -> RunMetrics {
    let options = RunOptions { controller: Some(controller), ..RunOptions::new(seed) };
    let run = scenario(text).build(&options, &TraceStore::at(None)).expect("the scenario is valid");
    let recorder = Recorder::new(run.plan);
    weir_measure::simulate(run.spec, recorder).expect("the run is valid").finish().metrics
}
