//! Recorded calls of simulated runs.

use weir_cc::{Ecn, Target};
use weir_import::traces::TraceStore;
use weir_measure::metrics::Recorder;
use weir_media::MediaPacket;
use weir_net::Time;
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::scenario::Scenario;
use weir_sim::Simulation;
use weir_study::comparison::{ComparisonOptions, ComparisonRequest, RecordedRuns};
use weir_units::TimeDelta;
use weir_wire::media::MediaHeader;
use weir_world::{FrameMeta, Loss, Monitor, PacketMeta, RecordedCall, Side};

/// A call that ends before the run does, so that the fate of each of its packets is known.
fn scenario() -> Scenario {
    let overrides = [
        "duration=20s",
        "flows.video.stop=15s",
        "flows.video.controller=gcc",
        "links.forward.queue.time=30ms",
    ];
    Scenario::open("quality/steady", &overrides.map(str::to_owned)).unwrap()
}

/// A recorder, and its own count of the media packets of the call.
struct Counted {
    recorder: Recorder,
    sent: usize,
    dropped: usize,
    frames: usize,
    targets: usize,
    round_trips: usize,
}

impl Monitor for Counted {
    fn wants_rtp(&self) -> bool {
        self.recorder.wants_rtp()
    }

    fn sent(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        self.sent += usize::from(!packet.control);
        self.recorder.sent(now, flow, packet);
    }

    fn dropped(&mut self, now: Time, flow: usize, link: usize, packet: &PacketMeta, loss: Loss) {
        self.dropped += usize::from(!packet.control);
        self.recorder.dropped(now, flow, link, packet, loss);
    }

    fn rtp_sent(&mut self, now: Time, flow: usize, packet: &MediaPacket) {
        self.recorder.rtp_sent(now, flow, packet);
    }

    fn rtp_arrived(&mut self, now: Time, flow: usize, header: &MediaHeader, ecn: Ecn) {
        self.recorder.rtp_arrived(now, flow, header, ecn);
    }

    fn rtcp_arrived(&mut self, now: Time, flow: usize, at: Side, bytes: &[u8]) {
        self.recorder.rtcp_arrived(now, flow, at, bytes);
    }

    fn frame(&mut self, now: Time, flow: usize, frame: &FrameMeta) {
        self.frames += 1;
        self.recorder.frame(now, flow, frame);
    }

    fn target(&mut self, now: Time, flow: usize, target: &Target) {
        self.targets += 1;
        self.recorder.target(now, flow, target);
    }

    fn rtt(&mut self, now: Time, flow: usize, rtt: TimeDelta) {
        self.round_trips += 1;
        self.recorder.rtt(now, flow, rtt);
    }
}

#[test]
fn a_recorded_call_has_every_packet_and_every_loss_of_the_links() {
    let options = RunOptions { seed: 2, ..RunOptions::default() };
    let Run { spec, mut plan, .. } = scenario().build(&options, &TraceStore::at(None)).unwrap();
    plan.record = true;
    let recorder = Recorder::new(plan);
    let counted = Counted { recorder, sent: 0, dropped: 0, frames: 0, targets: 0, round_trips: 0 };
    let counted = Simulation::new(spec, counted).unwrap().run();
    let (sent, dropped) = (counted.sent, counted.dropped);
    let others = [counted.frames, counted.targets, counted.round_trips];
    let calls = counted.recorder.finish().calls;
    let [(0, call)] = calls.as_slice() else { panic!("{} calls", calls.len()) };
    call.check().unwrap();
    assert_eq!(call.packets.len(), sent);
    let lost =
        call.packets.rows().filter(|packet| packet.sent_us.is_known() && !packet.arrived_us.is_known());
    assert!(dropped > 5, "{dropped} of {sent} were dropped");
    assert_eq!(lost.count(), dropped);
    assert_eq!([call.frames.len(), call.targets.len(), call.round_trips.len()], others);
    assert!(call.has_feedback() && call.feedback.len() > 100);
    let text = serde_json::to_vec(call).unwrap();
    assert_eq!(&serde_json::from_slice::<RecordedCall>(&text).unwrap(), call);
}

#[test]
fn the_first_run_or_all_runs_are_recorded_and_no_result_changes() {
    let scenario = scenario();
    let request = ComparisonRequest { scenario: &scenario, seeds: &[1, 2], jobs: 2, series: false };
    let recorded = |record| {
        let options = ComparisonOptions { record, ..ComparisonOptions::default() };
        request.run_with(&TraceStore::at(None), &|| {}, options).unwrap()
    };
    let [none, first, all] = [RecordedRuns::None, RecordedRuns::First, RecordedRuns::All].map(recorded);
    let seeds = |comparison: &weir_study::comparison::Comparison| {
        comparison.controllers[0].calls.iter().map(|call| (call.seed, call.flow)).collect::<Vec<_>>()
    };
    assert_eq!([&none, &first, &all].map(seeds), [vec![], vec![(1, 0)], vec![(1, 0), (2, 0)]]);
    assert_eq!(none.summary, all.summary);
    assert_eq!(first.controllers[0].calls[0], all.controllers[0].calls[0]);
}
