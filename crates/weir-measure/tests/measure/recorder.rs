//! Each metric from a run made by hand.

mod convergence;
mod coupling;
mod decisions;
mod delays;
mod fair_shares;
mod frames;
mod limiting_factors;
mod links;
mod series;
mod shares;
mod stops;
mod traffic;
mod windows;

use weir_cc::{LimitingFactor, Pacing, Target};
use weir_measure::metrics::{FlowPlan, LinkPlan, MeasurePlan, Recorder};
use weir_measure::results::{FlowKind, RunMetrics, Value};
use weir_net::{Service, Time};
use weir_units::{DataRate, TimeDelta};
use weir_world::{FrameMeta, Monitor, PacketMeta};

/// Propagation delay of all flows.
const PROPAGATION_MS: i64 = 25;
/// Header bytes of all packets.
const HEADERS: u32 = 40;

/// A media flow over link 0 for the whole run.
fn media(name: &str) -> FlowPlan {
    FlowPlan { propagation: TimeDelta::from_millis(PROPAGATION_MS), ..FlowPlan::new(name, FlowKind::Media) }
}

/// A run of `end_ms` over one link of 1 Mbit/s, measured from start to end.
fn plan(end_ms: u64, flows: Vec<FlowPlan>) -> MeasurePlan {
    let end = Time::from_millis(end_ms);
    let service = Service::Constant(DataRate::from_mbps(1));
    MeasurePlan::new(end, flows, vec![LinkPlan::bottleneck("bottleneck", service)])
}

/// A run over time, in milliseconds.
struct Run(Recorder);

impl Run {
    fn new(plan: MeasurePlan) -> Self {
        Self(Recorder::new(plan))
    }

    /// The same but measured only from `from_ms` to `to_ms`.
    fn within(mut plan: MeasurePlan, from_ms: u64, to_ms: u64) -> Self {
        plan.window = (Time::from_millis(from_ms), Time::from_millis(to_ms));
        Self::new(plan)
    }

    /// Flow `flow` sends a packet.
    fn sends(&mut self, flow: usize, sent_ms: u64, wire_size: u32) -> PacketMeta {
        let packet = data(sent_ms, wire_size);
        self.0.sent(packet.sent_at, flow, &packet);
        packet
    }

    /// A packet of flow `flow` goes the whole path.
    fn passes(&mut self, flow: usize, sent_ms: u64, received_ms: u64, wire_size: u32) {
        let packet = self.sends(flow, sent_ms, wire_size);
        self.0.delivered(Time::from_millis(received_ms), flow, &packet);
    }

    /// Bytes that arrive every 100 ms from `from_ms` to `to_ms`, the end excluded, at `kbps`.
    fn flows_at(&mut self, flow: usize, from_ms: u64, to_ms: u64, kbps: u32) {
        for ms in (from_ms..to_ms).step_by(100) {
            self.passes(flow, ms, ms, kbps * 100 / 8);
        }
    }

    fn captures(&mut self, number: u32, at_ms: u64, packets: u16, bytes: u32) {
        let frame = FrameMeta { number, packets, bytes, key: false };
        self.0.frame(Time::from_millis(at_ms), 0, &frame);
    }

    /// A packet of a frame arrives.
    fn brings(&mut self, number: u32, at_ms: u64) {
        let packet = PacketMeta { frame: number, ..data(at_ms.saturating_sub(50), 1000) };
        self.0.delivered(Time::from_millis(at_ms), 0, &packet);
    }

    fn aims(&mut self, at_ms: u64, kbps: u64, factor: LimitingFactor) {
        let target = Target::at(DataRate::from_kbps(kbps), Pacing::Unpaced, factor);
        self.0.target(Time::from_millis(at_ms), 0, &target);
    }

    fn metrics(self) -> RunMetrics {
        self.0.finish().metrics
    }
}

/// A packet of no frame.
fn data(sent_ms: u64, wire_size: u32) -> PacketMeta {
    PacketMeta {
        sent_at: Time::from_millis(sent_ms),
        wait: TimeDelta::ZERO,
        wire_size,
        payload: wire_size.saturating_sub(HEADERS),
        frame: PacketMeta::NO_FRAME,
        control: false,
    }
}

/// Checks that `actual` is `expected` within `tolerance`.
#[track_caller]
fn near(actual: Value, expected: f64, tolerance: f64) {
    let actual = actual.expect("a value");
    assert!((actual - expected).abs() <= tolerance, "{actual} instead of {expected}");
}
