//! One mechanism under two users: the endpoint, fed with the frames of a simulated sender, sends the same packets.

use weir_cc::{DataRate, SendTime, Target, TimeDelta};
use weir_media::{EncoderConfig, SentFrame};
use weir_media::{
    Endpoint, EndpointConfig, Frame, MediaConfig, MediaSender, PacketMeta, Packetiser, PayloadHandle,
    SenderSeeds, StreamConfig,
};
use weir_wire::media::ExtensionIds;

use super::rig::{CONTROLLERS, Network, VIDEO, limits};

/// An input of a sender.
enum Input {
    Frame(SendTime, SentFrame),
    Rtcp(SendTime, Vec<u8>),
    Timeout(SendTime),
}

/// A packet that left: its time and its header as bytes.
type Departures = Vec<(SendTime, Vec<u8>, u16)>;

/// Runs a simulated sender for 20 s; returns its inputs, departures and last target.
fn simulated(mut sender: MediaSender) -> (Vec<Input>, Departures, Target) {
    let mut network = Network::new(DataRate::from_kbps(1500));
    let (mut inputs, mut departures) = (Vec::new(), Vec::new());
    let mut now = SendTime::ZERO;
    sender.start(now);
    let end = SendTime::from_millis(20_000);
    while now < end {
        for report in network.deliver(now) {
            sender.on_rtcp(now, &report);
            inputs.push(Input::Rtcp(now, report));
            drain(&mut sender, now, &mut network, &mut inputs, &mut departures);
        }
        if sender.next_timeout().is_some_and(|due| due <= now) {
            sender.on_timeout(now);
            inputs.push(Input::Timeout(now));
            drain(&mut sender, now, &mut network, &mut inputs, &mut departures);
        }
        now += TimeDelta::from_micros(500);
    }
    (inputs, departures, *sender.target())
}

fn drain(
    sender: &mut MediaSender,
    now: SendTime,
    network: &mut Network,
    inputs: &mut Vec<Input>,
    departures: &mut Departures,
) {
    while let Some(frame) = sender.poll_frame(now) {
        inputs.push(Input::Frame(now, frame));
    }
    while let Some(packet) = sender.poll_packet(now) {
        let mut bytes = [0; 1500];
        packet.write(&ExtensionIds::default(), &[], &mut bytes).unwrap();
        let header = bytes[..packet.header.wire_len()].to_vec();
        network.send(now, packet.header.transport_sequence, header.len() + usize::from(packet.payload));
        departures.push((now, header, packet.payload));
    }
    while sender.poll_rtcp(now, &mut [0; 1500]).is_some() {}
}

/// Feeds the endpoint with the same inputs; returns its departures and last target.
fn embedded(
    mut endpoint: Endpoint<PayloadHandle>,
    inputs: &[Input],
    highest: DataRate,
) -> (Departures, Target) {
    let config = StreamConfig { highest_rate: highest, ..StreamConfig::video(VIDEO, 96) };
    let stream = endpoint.add_stream(config).unwrap();
    let mut departures = Vec::new();
    for (place, input) in inputs.iter().enumerate() {
        let now = match input {
            Input::Frame(now, frame) => {
                queue(&mut endpoint, *now, stream, frame);
                *now
            }
            Input::Rtcp(now, report) => {
                endpoint.on_rtcp(*now, report).unwrap();
                *now
            }
            Input::Timeout(now) => {
                endpoint.on_timeout(*now).unwrap();
                *now
            }
        };
        // Frames come before the packets that leave at the same time.
        if matches!(inputs.get(place + 1), Some(Input::Frame(..))) {
            continue;
        }
        let mut out = [0; 1500];
        while let Some(departure) = endpoint.poll_packet(now, &mut out).unwrap() {
            let payload = departure.length - departure.header;
            departures.push((now, out[..departure.header].to_vec(), payload as u16));
        }
        while endpoint.poll_rtcp(now, &mut out).unwrap().is_some() {}
    }
    (departures, *endpoint.target())
}

fn queue(
    endpoint: &mut Endpoint<PayloadHandle>,
    now: SendTime,
    stream: weir_media::StreamId,
    frame: &SentFrame,
) {
    let timestamp = (i128::from(now.nanos()) * 90_000 / 1_000_000_000) as u32;
    let mut packets = Packetiser::new(1200);
    packets.push(&Frame { number: frame.number, size: frame.size, key: frame.key }, timestamp);
    while let Some(packet) = packets.pop() {
        let payload = PayloadHandle { place: 0, size: packet.payload };
        endpoint.queue(now, stream, payload, PacketMeta::new(timestamp, packet.last)).unwrap();
    }
}

#[test]
fn the_endpoint_sends_the_packets_of_a_simulated_sender() {
    for (name, controller) in CONTROLLERS {
        // Frames of 40 ms fall on the steps of the test.
        let encoder = EncoderConfig { frame_rate: 25.0, skip_above: None, ..EncoderConfig::papers() };
        let config = MediaConfig::new(limits(), encoder);
        let sender = MediaSender::new(controller(), config, VIDEO, SenderSeeds { encoder: 1, rtcp: 7 });
        let (inputs, expected, target) = simulated(sender);
        let same = EndpointConfig {
            pacer_lateness: TimeDelta::ZERO,
            queue_limit: None,
            skip_above: None,
            frame_interval: TimeDelta::from_millis(40),
            ..EndpointConfig::new(limits())
        };
        let endpoint = Endpoint::new(controller(), same, 7);
        let (departures, endpoint_target) = embedded(endpoint, &inputs, config.encoder.max_rate);
        assert!(expected.len() > 2000, "{name}: {} packets", expected.len());
        let differs = expected.iter().zip(&departures).position(|(one, other)| one != other);
        if let Some(place) = differs {
            panic!("{name}, packet {place}: {:?}, {:?}", expected[place], departures[place]);
        }
        assert_eq!(departures.len(), expected.len(), "{name}");
        assert_eq!(endpoint_target, target, "{name}");
    }
}

#[test]
fn the_way_of_the_test_carries_packets_and_reports() {
    let mut network = Network::new(DataRate::from_kbps(960));
    network.send(SendTime::ZERO, 5, 1200);
    // 9600 bits at 960 kbit/s are 10 ms.
    assert!(network.deliver(SendTime::from_millis(34)).is_empty());
    network.deliver(SendTime::from_millis(35));
    let report = (36..200).find_map(|ms| network.deliver(SendTime::from_millis(ms)).pop());
    assert!(report.is_some_and(|bytes| !bytes.is_empty()));
}
