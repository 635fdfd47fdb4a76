//! A whole call: the endpoint finds the capacity, and follows it.

use weir_cc::DataRate;
use weir_media::{EndpointConfig, EndpointEvent, PacketMeta, PayloadHandle, StreamConfig};

use super::rig::{CONTROLLERS, Call, PAYLOAD, VIDEO, at, gcc, limits};

#[test]
fn a_call_takes_the_capacity_and_follows_its_fall() {
    for (name, controller) in CONTROLLERS {
        let mut call = Call::new(controller(), DataRate::from_kbps(2500), EndpointConfig::new(limits()));
        call.run(20);
        call.network.capacity = DataRate::from_kbps(800);
        call.run(20);
        let (before, after) = (call.rate(10, 20), call.rate(30, 40));
        let kbps = |rate: DataRate| rate.bps() / 1000;
        assert!((2000..=2500).contains(&kbps(before)), "{name}: {before}");
        assert!((640..=800).contains(&kbps(after)), "{name}: {after}");
        let has = |found: fn(&EndpointEvent<PayloadHandle>) -> bool| call.events.iter().any(found);
        assert!(has(|event| matches!(event, EndpointEvent::RoundTrip(_))), "{name}");
        assert!(has(|event| matches!(event, EndpointEvent::Decision(_))), "{name}");
        assert!(has(|event| matches!(event, EndpointEvent::Target(_))), "{name}");
        let stats = call.endpoint.stats();
        assert_eq!(stats.reports_refused, 0, "{name}");
        assert_eq!(stats.events_dropped, 0, "{name}");
        assert!(stats.streams[0].packets_sent as usize >= call.departures.len(), "{name}");
    }
}

#[test]
fn a_lost_packet_is_named_with_its_payload() {
    let mut call = Call::new(gcc(), DataRate::from_kbps(2500), EndpointConfig::new(limits()));
    call.run(10);
    // The queue of 300 ms holds less than what waits at a quarter of the rate.
    call.network.capacity = DataRate::from_kbps(200);
    call.run(5);
    let lost: Vec<_> = call
        .events
        .iter()
        .filter_map(|event| match event {
            EndpointEvent::Lost { payload, .. } => Some(*payload),
            _ => None,
        })
        .collect();
    assert!(call.network.dropped > 0);
    assert!(lost.len() as u32 >= call.network.dropped / 2, "{} of {}", lost.len(), call.network.dropped);
    assert!(lost.iter().all(Option::is_some), "a report comes within a second");
    assert_eq!(call.endpoint.stats().streams[0].packets_reported_lost, lost.len() as u64);
}

#[test]
fn audio_leaves_before_video_and_expired_video_never() {
    let mut call = Call::new(gcc(), DataRate::from_kbps(2500), EndpointConfig::new(limits()));
    let audio = call.endpoint.add_stream(StreamConfig::audio(VIDEO + 1, 111)).unwrap();
    let now = at(0);
    let video = |place| PayloadHandle { place, size: PAYLOAD };
    for place in 0..40 {
        let meta = PacketMeta { expires: at(30), ..PacketMeta::new(0, place == 39) };
        call.endpoint.queue(now, call.stream, video(place), meta).unwrap();
    }
    let sound = PayloadHandle { place: 99, size: 80 };
    call.endpoint.queue(now, audio, sound, PacketMeta::new(0, false)).unwrap();
    let mut out = [0; 1500];
    let mut left = Vec::new();
    for ms in 0..200 {
        while let Some(departure) = call.endpoint.poll_packet(at(ms), &mut out).unwrap() {
            left.push((ms, departure.payload.map(|payload| payload.place)));
        }
    }
    assert_eq!(left[0], (0, Some(99)));
    let places: Vec<_> = left[1..].iter().filter_map(|(_, place)| *place).collect();
    assert_eq!(places, (0..places.len() as u64).collect::<Vec<_>>());
    assert!((2..40).contains(&places.len()), "1 Mbit/s carries no forty packets within 30 ms");
    let expired = std::iter::from_fn(|| call.endpoint.poll_event())
        .filter(|event| matches!(event, EndpointEvent::Expired { .. }))
        .count();
    assert_eq!(expired + places.len(), 40);
    call.endpoint.on_timeout(at(200)).unwrap();
    assert!(call.endpoint.next_timeout() > Some(at(200)), "{:?}", call.endpoint.next_timeout());
}

#[test]
fn a_batch_has_packets_of_one_length_and_a_shorter_one_at_its_end() {
    // The burst of gcc lets several packets leave at once.
    let mut call = Call::new(gcc(), DataRate::from_kbps(2500), EndpointConfig::new(limits()));
    call.run(10);
    let mut out = [0; 5000];
    for ms in 10_000..10_100 {
        while call.endpoint.poll_packet(at(ms), &mut out).unwrap().is_some() {}
    }
    for size in [1000, 1000, 1000, 400, 1000, 1200, 1200] {
        let payload = PayloadHandle { place: 0, size };
        call.endpoint.queue(at(10_100), call.stream, payload, PacketMeta::new(0, false)).unwrap();
    }
    let mut batches = Vec::new();
    for ms in 10_100..10_200 {
        while let Some(batch) = call.endpoint.poll_batch(at(ms), &mut out).unwrap() {
            batches.push((batch.segment - 24, batch.packets, batch.length - 24 * batch.packets));
        }
    }
    assert_eq!(batches[..3], [(1000, 4, 3400), (1000, 1, 1000), (1200, 2, 2400)]);
}

#[test]
fn a_still_picture_takes_little_and_a_moving_one_the_capacity_again() {
    for (name, controller) in CONTROLLERS {
        let config = EndpointConfig { breakers: false, ..EndpointConfig::new(limits()) };
        let mut call = Call::new(controller(), DataRate::from_kbps(800), config);
        call.run(20);
        call.is_still = true;
        call.run(10);
        call.is_still = false;
        call.run(20);
        let [before, still, after] =
            [(10, 20), (25, 30), (40, 50)].map(|(from, to)| call.rate(from, to).bps_f64() / 8e5);
        // A packet that left before the ten seconds may end in them.
        let moving = 0.8..=1.0 + f64::from(PAYLOAD + 24) / 1e6;
        assert!(moving.contains(&before) && moving.contains(&after), "{name}: {before}, {after}");
        assert!((0.0..=0.1).contains(&still), "{name}: {still}");
    }
}
