//! Reports to a monitor on packets in flight.

use weir_cc::{DataRate, DataSize, Ecn, TimeDelta};
use weir_media::AudioConfig;
use weir_net::{LinkConfig, LossModel, QueueConfig, Service, Time};
use weir_sim::Simulation;
use weir_world::{
    FlowSpec, LinkSpec, Loss, Monitor, PacketMeta, RunSpec, Side, Traffic, WireContent, WirePacket,
};

use crate::common::{flow, gcc_2016, spec};

/// Record of events, with times and queuing delays in µs.
#[derive(Debug, Default)]
struct Watch {
    entered: Vec<(u64, usize, u32, bool)>,
    left: Vec<(u64, usize, u64)>,
    delivered: Vec<(u64, u64)>,
    dropped: Vec<(u64, usize, bool)>,
    /// Link, flow, sending end, whether it is media, and ECN field of each packet that came out of a link.
    seen: Vec<(usize, usize, Side, bool, Ecn)>,
}

fn micros(time: Time) -> u64 {
    time.nanos() / 1000
}

impl Monitor for Watch {
    fn wants_packets(&self) -> bool {
        true
    }

    fn wants_queues(&self) -> bool {
        true
    }

    fn link_enter(&mut self, now: Time, link: usize, found: u32, taken: bool) {
        self.entered.push((micros(now), link, found, taken));
    }

    fn link_exit(&mut self, now: Time, link: usize, wire_size: u32, wait: TimeDelta) {
        assert!(wire_size > 0);
        self.left.push((micros(now), link, wait.nanos() as u64 / 1000));
    }

    fn delivered(&mut self, now: Time, _flow: usize, packet: &PacketMeta) {
        self.delivered.push((micros(now), packet.wait.nanos() as u64 / 1000));
    }

    fn dropped(&mut self, now: Time, _flow: usize, link: usize, _packet: &PacketMeta, loss: Loss) {
        self.dropped.push((micros(now), link, loss == Loss::Random));
    }

    fn packet(&mut self, _now: Time, link: usize, packet: &WirePacket<'_>) {
        let media = matches!(packet.content, WireContent::Media(_));
        self.seen.push((link, packet.flow, packet.from, media, packet.ecn));
    }
}

fn watch(spec: RunSpec) -> Watch {
    Simulation::new(spec, Watch::default()).expect("a valid spec").run()
}

fn config(kbps: u64, delay_ms: i64) -> LinkConfig {
    LinkConfig::new(Service::Constant(DataRate::from_kbps(kbps)), TimeDelta::from_millis(delay_ms))
}

/// Packets of 1000 bytes each 5 ms.
fn every_5_ms() -> FlowSpec {
    let (rate, packet_size) = (DataRate::from_kbps(1600), DataSize::from_bytes(1000));
    flow("steady", Traffic::Constant { rate, packet_size }).over([0, 1], []).until(Time::from_millis(15))
}

#[test]
fn a_packet_records_waits_at_bottlenecks_and_a_link_all_of_its_waits() {
    // 8 ms of service and 25 of delay, then 10 of service and 10 of delay.
    let links =
        vec![LinkSpec::bottleneck("first", config(1000, 25)), LinkSpec::new("second", config(800, 10))];
    let watch = watch(RunSpec::over(links, Time::from_millis(1000)).with(every_5_ms()));
    // Served from 0, 8 and 16 ms on, and from 33, 43 and 53 ms on.
    assert_eq!(
        watch.left,
        [
            (33_000, 0, 0),
            (41_000, 0, 3000),
            (49_000, 0, 6000),
            (53_000, 1, 0),
            (63_000, 1, 2000),
            (73_000, 1, 4000)
        ]
    );
    assert_eq!(watch.delivered, [(53_000, 0), (63_000, 3000), (73_000, 6000)]);
    // Only queues of bottlenecks are watched: at 10 ms the second packet is in service.
    assert_eq!(watch.entered, [(0, 0, 0, true), (5000, 0, 1, true), (10_000, 0, 1, true)]);
}

#[test]
fn overflow_losses_count_at_the_queue_and_random_ones_at_the_far_end() {
    let narrow = QueueConfig { limit_packets: Some(1), ..QueueConfig::default() };
    let links = vec![
        LinkSpec::bottleneck("first", LinkConfig { queue: narrow, ..config(1000, 25) }),
        LinkSpec::new("second", LinkConfig { loss: LossModel::Bernoulli(1.0), ..config(800, 10) }),
    ];
    let watch = watch(RunSpec::over(links, Time::from_millis(1000)).with(every_5_ms()));
    // The second finds the first in service; the third does not.
    assert_eq!(watch.entered, [(0, 0, 0, true), (5000, 0, 1, false), (10_000, 0, 0, true)]);
    assert_eq!(watch.dropped, [(5000, 0, false), (53_000, 1, true), (63_000, 1, true)]);
    assert!(watch.delivered.is_empty());
}

#[test]
fn packets_are_shown_with_their_sender_and_their_marks() {
    let Traffic::Media(mut media) = gcc_2016() else { unreachable!() };
    media.config.ecn = Ecn::Ect1;
    let other = flow("other", gcc_2016());
    let watch = watch(spec(1000, 2, vec![other, flow("marked", Traffic::Media(media))]));
    for (flow, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect1)] {
        let of_flow = || watch.seen.iter().filter(|seen| seen.1 == flow);
        // Media goes over link 0, and reports come back over link 1.
        assert!(
            of_flow().filter(|seen| seen.3).all(|seen| (seen.0, seen.2, seen.4) == (0, Side::Sender, ecn))
        );
        assert!(of_flow().all(|seen| (seen.0 == 0) == (seen.2 == Side::Sender)));
        assert!(of_flow().any(|seen| seen.3) && of_flow().any(|seen| seen.2 == Side::Receiver));
        assert!(of_flow().filter(|seen| !seen.3).all(|seen| seen.4 == Ecn::NotEct), "RTCP is not marked");
    }
}

/// The payload of each packet of data that belongs to no frame.
#[derive(Debug, Default)]
struct Payloads(Vec<u32>);

impl Monitor for Payloads {
    fn sent(&mut self, _now: Time, _flow: usize, packet: &PacketMeta) {
        if !packet.control && packet.frame == PacketMeta::NO_FRAME {
            self.0.push(packet.payload);
        }
    }
}

#[test]
fn audio_is_payload_of_no_frame() {
    let Traffic::Media(mut media) = gcc_2016() else { unreachable!() };
    media.config.audio = Some(AudioConfig::default());
    let spec = spec(1000, 2, vec![flow("call", Traffic::Media(media))]);
    let payloads = Simulation::new(spec, Payloads::default()).expect("a valid spec").run().0;
    // 50 bytes each 20 ms, the first at the beginning, until the end at 2 s.
    assert_eq!(payloads, [50; 101]);
}
