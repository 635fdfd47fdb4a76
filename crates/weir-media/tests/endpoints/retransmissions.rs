//! Lost video is requested and sent again.

use std::collections::BTreeSet;

use weir_media::chromium::{ChromiumConfig, EncoderTargetParts};
use weir_media::{CountedBytes, EncoderConfig, MediaConfig};
use weir_units::{DataRate, TimeDelta};
use weir_wire::rtcp::{self, Message};

use crate::rig::{Call, Event, PROPAGATION, config, gcc};

fn around(chromium: ChromiumConfig) -> MediaConfig {
    let counted = CountedBytes::WithHeaders(28);
    MediaConfig { chromium: Some(chromium), counted, ..config() }
}

/// A call of which every 50th packet is lost.
fn lossy(chromium: ChromiumConfig) -> Call {
    let mut call = Call::new(gcc(), &around(chromium), DataRate::from_mbps(100));
    call.media_loss = 50;
    call.run(TimeDelta::from_secs(20));
    call
}

/// Sequence numbers of the video: those that came at first, those that were requested, and those that came again.
fn sequences(call: &Call) -> [BTreeSet<u16>; 3] {
    let [mut first, mut requested, mut again] = [const { BTreeSet::new() }; 3];
    for (_, event) in &call.events {
        match event {
            Event::Media(packet) => match packet.header.original {
                Some(original) => _ = again.insert(original),
                None if packet.header.ssrc == 1 => _ = first.insert(packet.header.sequence),
                None => {}
            },
            Event::ReceiverRtcp(bytes, _) => {
                for message in rtcp::messages(bytes).map(Result::unwrap) {
                    if let Message::Nack(request) = message {
                        assert_eq!(request.source, 1);
                        requested.extend(request.sequences());
                    }
                }
            }
            Event::SenderRtcp(_) => {}
        }
    }
    [first, requested, again]
}

#[test]
fn each_lost_packet_comes_again_and_no_other() {
    let [first, requested, again] = sequences(&lossy(ChromiumConfig::ALL));
    let newest = *first.last().unwrap();
    // The last losses are not known, or on their way.
    let missing: BTreeSet<u16> = (0..newest - 50).filter(|sequence| !first.contains(sequence)).collect();
    assert!(missing.len() > 20, "{} of {newest} are missing", missing.len());
    assert!(missing.is_subset(&requested) && missing.is_subset(&again));
    assert!(again.is_disjoint(&first), "{:?}", again.intersection(&first));
}

#[test]
fn a_packet_comes_again_a_round_trip_after_its_gap() {
    let call = lossy(ChromiumConfig::ALL);
    let (mut expected, mut gaps, mut checked) = (0, Vec::new(), 0);
    for (at, event) in &call.events {
        let Event::Media(packet) = event else { continue };
        match packet.header.original {
            None if packet.header.ssrc == 1 => {
                gaps.extend((expected..packet.header.sequence).map(|sequence| (sequence, *at)));
                expected = packet.header.sequence.max(expected) + 1;
            }
            None => {}
            Some(original) => {
                let (_, seen) = gaps.iter().find(|(sequence, _)| *sequence == original).unwrap();
                let waited = *at - *seen;
                // One retransmission in fifty is lost itself, and comes an interval later.
                if waited < TimeDelta::from_millis(90) {
                    assert!(waited >= PROPAGATION * 2, "{waited:?}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn without_them_nothing_is_requested() {
    let [_, requested, again] =
        sequences(&lossy(ChromiumConfig { retransmissions: false, ..ChromiumConfig::ALL }));
    assert!(requested.is_empty() && again.is_empty());
}

#[test]
fn headers_and_overshoot_are_taken_off_the_target() {
    let sent = |target| {
        let chromium = ChromiumConfig { target, ..ChromiumConfig::NONE };
        let encoder = EncoderConfig { max_rate: DataRate::from_mbps(10), ..EncoderConfig::papers() };
        let mut call =
            Call::new(gcc(), &MediaConfig { encoder, ..around(chromium) }, DataRate::from_mbps(100));
        call.run(TimeDelta::from_secs(20));
        let last = |event: &&(weir_cc::ArrivalTime, Event)| matches!(event.1, Event::Media(_));
        let end = call.events.iter().rfind(last).unwrap().0;
        let payload = call.events.iter().filter_map(|(at, event)| match event {
            Event::Media(packet) if *at > end - TimeDelta::from_secs(2) => Some(f64::from(packet.payload)),
            _ => None,
        });
        payload.sum::<f64>() * 4.0 / call.target_kbps() / 1e3
    };
    // At the highest rate of 2500 kbit/s: nothing, 255 packets of 52 bytes, and a utilisation of nearly 1.
    let none = EncoderTargetParts::NONE;
    let [whole, headers] = [none, EncoderTargetParts { headers: true, ..none }].map(sent);
    assert!((whole - 1.0).abs() < 0.03, "{whole}");
    assert!((headers - (1.0 - 0.0424)).abs() < 0.03 && headers < whole - 0.03, "{headers}");
}
