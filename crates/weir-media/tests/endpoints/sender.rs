//! The sending end, tested by the packets that leave it and their times.

use proptest::prelude::*;
use weir_cc::gcc::remb::{self, GccReceiver, GccSender};
use weir_cc::{
    AllocatedRate, Controller, Decision, Feedback, Pacing, PathEvent, SendState, SendTime, Target,
};
use weir_media::{EncoderConfig, KeyFrames, MediaConfig, MediaPacket, MediaSender, RtcpOutcome};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::rtcp::{Ccfb, MetricBlock, NadaFeedback, ReceiverReport, Remb, ReportBlock, Twcc, TwccHeader};

use crate::rig::{
    Call, Event, Halves, RECEIVER, SENDER, config, gcc_2016, limits, media_receiver, media_sender, nada,
};

/// A controller with a constant target.
#[derive(Debug)]
pub(crate) struct Fixed(pub(crate) Target);

impl Controller for Fixed {
    fn on_feedback(&mut self, _: SendTime, _: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        None
    }

    fn on_event(&mut self, _: SendTime, _: PathEvent) -> Option<Decision> {
        None
    }

    fn target(&self) -> Target {
        self.0
    }

    fn apply_allocation(&mut self, _: SendTime, share: AllocatedRate) -> DataRate {
        self.0.media_rate = share.rate;
        self.0.sending_rate = share.rate;
        share.rate
    }
}

pub(crate) fn target(kbps: u64) -> Target {
    Target::rate(DataRate::from_kbps(kbps))
}

/// A sender with a constant target.
fn started(target: Target) -> MediaSender {
    let mut sender = media_sender(Box::new(Fixed(target)), &config());
    sender.start(SendTime::ZERO);
    sender
}

/// Packets that leave until `end`.
pub(crate) fn departures(sender: &mut MediaSender, end: SendTime) -> Vec<(SendTime, MediaPacket)> {
    let mut left = Vec::new();
    let mut now = SendTime::ZERO;
    while let Some(due) = sender.next_timeout().filter(|&due| due <= end) {
        now = now.max(due);
        while sender.poll_frame(now).is_some() {}
        sender.on_timeout(now);
        while let Some(packet) = sender.poll_packet(now) {
            left.push((now, packet));
        }
        while sender.poll_rtcp(now, &mut [0; 256]).is_some() {}
    }
    left
}

fn size(packet: &MediaPacket) -> u64 {
    packet.header.wire_len() as u64 + u64::from(packet.payload)
}

fn kbps(packets: &[(SendTime, MediaPacket)], seconds: f64) -> f64 {
    packets.iter().map(|(_, packet)| size(packet) as f64 * 8.0).sum::<f64>() / seconds / 1e3
}

fn second(s: i64) -> SendTime {
    SendTime::from_millis(1000 * s)
}

/// A NADA report that acknowledges all packets up to `sequence`.
fn acknowledgement(sequence: u16) -> Vec<u8> {
    let mut bytes = vec![0; NadaFeedback::WIRE_LEN];
    NadaFeedback { ssrc: RECEIVER, source: SENDER, transport_sequence: sequence, ..NadaFeedback::default() }
        .write(&mut bytes)
        .unwrap();
    bytes
}

#[test]
fn frames_are_skipped_while_too_much_waits() {
    let encoder = EncoderConfig { skip_above: Some(TimeDelta::from_millis(100)), ..EncoderConfig::papers() };
    let half = Target { pacing: Pacing::Exact(DataRate::from_kbps(150)), ..target(300) };
    let mut sender = media_sender(Box::new(Fixed(half)), &MediaConfig { encoder, ..config() });
    sender.start(SendTime::ZERO);
    let (mut sent, mut skipped, mut now) = (Vec::new(), 0, SendTime::ZERO);
    while let Some(due) = sender.next_timeout().filter(|&due| due < second(20)) {
        now = now.max(due);
        while let Some(frame) = sender.poll_frame(now) {
            if frame.packets == 0 {
                skipped += 1;
                assert_eq!((frame.number as usize, frame.size.bytes()), (sent.len(), 0));
            } else {
                sent.push(frame.number);
            }
        }
        while sender.poll_packet(now).is_some() {}
        while sender.poll_rtcp(now, &mut [0; 256]).is_some() {}
    }
    // 600 frames of 1250 bytes come due. In 20 s 375 000 bytes leave, 300 frames. At the end the queue holds between
    // 100 ms at the target, 3750 bytes, and a frame more than that.
    assert_eq!(sent.len() + skipped, 600);
    assert!((300 + 2..=300 + 4).contains(&sent.len()), "{}", sent.len());
    assert!(sent.iter().enumerate().all(|(n, &number)| n == number as usize), "numbers have no gaps");
}

#[test]
fn gcc_2016_paces_at_one_and_a_half_times_the_target() {
    let encoder =
        EncoderConfig { key_frames: Some(KeyFrames { every: 3000, size: 4.0 }), ..EncoderConfig::papers() };
    let mut sender = media_sender(gcc_2016().0, &MediaConfig { encoder, ..config() });
    sender.start(SendTime::ZERO);
    let left = departures(&mut sender, SendTime::from_millis(90));
    // 300 kbit/s at 30 frames/s: 1250 bytes, four times for a key frame: 5 packets of 1000 + 24 bytes.
    assert!(left[..5].iter().all(|(_, packet)| packet.frame == Some(0) && size(packet) == 1024));
    for pair in left[..5].windows(2) {
        // The payload's 1000 · 8 bits at 450 kbit/s, rounded up to the nanosecond.
        assert_eq!(pair[1].0 - pair[0].0, TimeDelta::from_nanos(17_777_778));
    }
}

#[test]
fn unpaced_frames_leave_at_once() {
    let left = departures(&mut started(target(1200)), SendTime::from_millis(99));
    // 5000 bytes a frame: 5 packets.
    assert_eq!(left.len(), 15);
    for (n, (at, packet)) in left.iter().enumerate() {
        let frame = n / 5;
        assert_eq!(packet.frame, Some(frame as u32));
        assert_eq!(*at, SendTime::ZERO + TimeDelta::from_secs_f64(frame as f64 / 30.0));
        // 90 kHz, rounded down.
        assert!(packet.header.timestamp.abs_diff(3000 * frame as u32) <= 1);
        assert_eq!((packet.header.marker, packet.header.sequence), (n % 5 == 4, n as u16));
    }
}

#[test]
fn padding_fills_up_to_the_rate_the_controller_asks_for() {
    let mut sender = started(Target { padding: DataRate::from_kbps(500), ..target(200) });
    let left = departures(&mut sender, second(10));
    let (media, padding): (Vec<_>, Vec<_>) = left.iter().partition(|(_, packet)| packet.frame.is_some());
    // 500 kbit/s of payload; the padding's 300 kbit/s are 147 packets a second with 24 bytes of header each, 28.2 kbit/s.
    assert!((kbps(&left, 10.0) - 534.0).abs() < 10.0, "{} kbit/s", kbps(&left, 10.0));
    // 200 kbit/s in 30 packets a second with 24 bytes of header each: 205.8 kbit/s.
    assert!((kbps(&media, 10.0) - 205.8).abs() < 1.0, "{} kbit/s", kbps(&media, 10.0));
    assert!(padding.iter().all(|(_, packet)| !packet.header.marker && packet.payload == 255));
    assert!(left.windows(2).all(|pair| pair[1].1.header.sequence == pair[0].1.header.sequence + 1));
    let without = departures(&mut started(target(200)), second(10));
    assert!(without.iter().all(|(_, packet)| packet.frame.is_some()));
}

#[test]
fn bytes_in_flight_stay_within_the_window() {
    let window = DataSize::from_bytes(5000);
    // 2500 kbit/s: frames of 10 417 bytes, packets of 1158 + 24 bytes.
    let mut sender = started(Target { window: Some(window), ..target(2500) });
    let left = departures(&mut sender, SendTime::from_millis(99));
    assert_eq!(left.len(), 4);
    assert!(left.iter().map(|(_, packet)| size(packet)).sum::<u64>() <= window.bytes());
    // Queued packets need no timer: the next one is that of the next frame.
    assert_eq!(sender.next_timeout(), Some(SendTime::ZERO + TimeDelta::from_millis(100)));
    let now = SendTime::from_millis(99);
    sender.on_rtcp(now, &acknowledgement(1));
    assert_eq!(sender.next_timeout().map(|due| due <= now), Some(true));
    let more = std::iter::from_fn(|| sender.poll_packet(now)).count();
    assert_eq!(more, 2, "room for as many as were acknowledged");
}

#[test]
fn a_window_smaller_than_a_packet_lets_one_through_at_a_time() {
    let mut sender = started(Target { window: Some(DataSize::from_bytes(100)), ..target(2500) });
    sender.poll_frame(SendTime::ZERO);
    for n in 0..5 {
        assert!(sender.poll_packet(SendTime::ZERO).is_some());
        assert!(sender.poll_packet(SendTime::ZERO).is_none());
        sender.on_rtcp(SendTime::ZERO, &acknowledgement(n));
    }
}

#[test]
fn before_the_start_nothing_happens() {
    let mut sender = media_sender(gcc_2016().0, &config());
    let now = second(1);
    assert_eq!(sender.next_timeout(), None);
    assert_eq!(sender.poll_frame(now), None);
    assert_eq!(sender.poll_packet(now), None);
    assert_eq!(sender.poll_rtcp(now, &mut [0; 256]), None);
    assert_eq!(sender.on_timeout(now), None);
    assert_eq!(sender.on_rtcp(now, &acknowledgement(0)), RtcpOutcome::default());
    assert_eq!(sender.target().media_rate, limits().start());
}

#[test]
fn a_stop_drops_what_waits() {
    let mut sender = started(Target { pacing: Pacing::Exact(DataRate::from_kbps(100)), ..target(1200) });
    let before = departures(&mut sender, second(1));
    assert!(before.len() < 20, "150 packets were made, 12 kbyte a second may leave");
    sender.stop();
    assert_eq!(sender.next_timeout(), None);
    assert_eq!(sender.poll_frame(second(2)), None);
    assert_eq!(sender.poll_packet(second(2)), None);
    assert_eq!(sender.poll_rtcp(second(2), &mut [0; 256]), None);
}

#[test]
fn a_share_becomes_the_target() {
    let mut sender = started(target(300));
    assert!(sender.take_target_change());
    sender.apply_allocation(SendTime::ZERO, AllocatedRate { rate: DataRate::from_kbps(600) });
    assert!(sender.take_target_change());
    assert!(!sender.take_target_change());
    let left = departures(&mut sender, second(10));
    // 2500 bytes a frame in 3 packets.
    assert!((kbps(&left, 10.0) - 617.0).abs() < 5.0, "{} kbit/s", kbps(&left, 10.0));
}

#[test]
fn a_call_works_with_two_thirds_of_its_reports_lost() {
    let mut call = Call::new(gcc_2016(), &config(), DataRate::from_mbps(1));
    call.reports_kept = 3;
    call.run(TimeDelta::from_secs(60));
    let mean = (0..30).map(|_| {
        call.run(TimeDelta::from_secs(1));
        call.target_kbps()
    });
    let mean = mean.sum::<f64>() / 30.0;
    assert!((500.0..1100.0).contains(&mean), "{mean} kbit/s");
}

#[test]
fn a_call_without_any_report_falls_to_the_minimum_and_goes_on() {
    for controller in [gcc_2016, nada] {
        let mut call = Call::new(controller(), &config(), DataRate::from_mbps(1));
        call.reports_kept = 0;
        call.run(TimeDelta::from_secs(10));
        // NADA sends up to 5 % above its reference rate while packets wait.
        assert!(call.sender.target().sending_rate <= limits().min().scale(1.05));
        let before = call.packets;
        call.run(TimeDelta::from_secs(10));
        // 30 frames a second of 208 + 24 bytes: 55.7 kbit/s, of which NADA's pacer lets out 52.5.
        assert!(call.packets - before >= 270, "{} packets", call.packets - before);
        call.reports_kept = 1;
        call.run(TimeDelta::from_secs(30));
        assert!(call.target_kbps() > 150.0, "{} kbit/s", call.target_kbps());
    }
}

/// Well-formed RTCP packets.
fn sound() -> Vec<Vec<u8>> {
    let mut remb = vec![0; Remb::wire_len(1)];
    Remb::write(RECEIVER, 1_000_000, &[SENDER], &mut remb).unwrap();
    let mut report = vec![0; ReceiverReport::wire_len(1)];
    let block = ReportBlock { ssrc: SENDER, fraction_lost: 100, ..ReportBlock::default() };
    ReceiverReport::write(RECEIVER, &[block], &mut report).unwrap();
    let times = [Some(0), None, Some(1_000_000), Some(300_000_000), Some(299_000_000)];
    let mut transport_wide = vec![0; 100];
    let header = TwccHeader { ssrc: RECEIVER, source: SENDER, base_sequence: 1, number: 2 };
    let length = Twcc::write(&header, times, &mut transport_wide).unwrap().length;
    transport_wide.truncate(length);
    let metrics = times.map(|time| time.map(|_| MetricBlock { ecn: 3, offset: 20 }));
    let mut rfc_8888 = vec![0; Ccfb::wire_len(times.len())];
    Ccfb::write(RECEIVER, 70_000, SENDER, 4, metrics.into_iter(), &mut rfc_8888).unwrap();
    vec![remb, report, acknowledgement(3), transport_wide, rfc_8888]
}

/// Any bytes, or a row of well-formed packets with some bytes changed.
fn datagram() -> impl Strategy<Value = Vec<u8>> {
    let packets = prop::collection::vec(prop::sample::select(sound()), 1..4);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    let changed = (packets, changes, any::<prop::sample::Index>()).prop_map(|(packets, changes, length)| {
        let mut bytes = packets.concat();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        bytes.truncate(1 + length.index(2 * bytes.len()));
        bytes
    });
    prop_oneof![prop::collection::vec(any::<u8>(), 0..200), changed]
}

proptest! {
    #[test]
    fn no_datagram_makes_an_endpoint_stumble(
        datagrams in prop::collection::vec((0..200_i64, datagram()), 0..50),
        controller in prop::sample::select(vec![gcc_2016 as fn() -> _, nada]),
    ) {
        let (controller, receiver) = controller();
        let mut sender = media_sender(controller, &config());
        let mut receiver = media_receiver(receiver, &config());
        sender.start(SendTime::ZERO);
        let mut now = SendTime::ZERO;
        for (later, bytes) in datagrams {
            now += TimeDelta::from_millis(later);
            departures(&mut sender, now);
            let rtt = sender.on_rtcp(now, &bytes).rtt;
            prop_assert!(rtt.is_none_or(|rtt| !rtt.is_negative()));
            receiver.on_rtcp(weir_cc::ArrivalTime::from_nanos(now.nanos()), &bytes);
            let target = sender.target();
            for rate in [target.media_rate, target.sending_rate] {
                prop_assert_eq!(rate, limits().clamp(rate));
            }
        }
        prop_assert!(!departures(&mut sender, now + TimeDelta::from_secs(1)).is_empty(), "it sends on");
    }
}

#[test]
fn a_full_window_whose_reports_are_all_lost_goes_on_when_the_history_gives_up() {
    let window = Some(DataSize::from_bytes(5000));
    let left = departures(&mut started(Target { window, ..target(600) }), second(12));
    let after = |at| left.iter().filter(|(left, _)| *left > second(at)).count();
    assert!(after(4) > 0, "nothing left after 4 s");
    // The window is emptied each 5 s: the last time after 10 s.
    assert!(after(10) > 0, "nothing left after 10 s");
    assert!(left.len() < 20, "{} packets are no three windows", left.len());
}

#[test]
fn padding_shares_the_timestamp_of_the_frame_before_it() {
    let left =
        departures(&mut started(Target { padding: DataRate::from_kbps(500), ..target(200) }), second(3));
    let timestamps: Vec<u32> = left.iter().map(|(_, packet)| packet.header.timestamp).collect();
    assert!(left.iter().any(|(_, packet)| packet.frame.is_none()));
    assert!(timestamps.is_sorted());
    assert_eq!(timestamps.last(), Some(&270_000), "3 s at 90 kHz");
}

#[test]
fn a_sender_starts_once_and_never_after_its_stop() {
    let mut sender = started(target(300));
    departures(&mut sender, SendTime::from_millis(500));
    // The next frame is due at 533 ms.
    sender.start(SendTime::from_millis(510));
    assert_eq!(sender.poll_frame(SendTime::from_millis(510)), None);
    sender.stop();
    sender.start(SendTime::from_millis(600));
    assert_eq!((sender.has_started(), sender.next_timeout()), (false, None));
}

#[test]
fn the_perfect_source_keeps_to_any_rate() {
    for rate in [10, 20_000] {
        let config = MediaConfig { encoder: EncoderConfig::perfect(), ..config() };
        let mut sender = media_sender(Box::new(Fixed(target(rate))), &config);
        sender.start(SendTime::ZERO);
        let seconds = 20_000 / rate.min(1000) as i64;
        let bytes: u64 =
            departures(&mut sender, second(seconds)).iter().map(|(_, own)| u64::from(own.payload)).sum();
        let expected = (rate * 125) * seconds as u64;
        // A packet of 1000 bytes more or less.
        assert!(bytes.abs_diff(expected) <= 2000, "{rate}: {bytes} instead of {expected}");
    }
}

#[test]
fn padding_of_gcc_2016_makes_the_mean_rate_the_target() {
    let encoder = EncoderConfig { max_rate: DataRate::from_kbps(400), ..EncoderConfig::papers() };
    let ratio = |padding| {
        let remb_config = remb::Config { padding, ..remb::Config::default() };
        let halves: Halves = (
            Box::new(GccSender::new(remb_config, limits()).unwrap()),
            Box::new(GccReceiver::new(remb_config, limits()).unwrap()),
        );
        let mut call = Call::new(halves, &MediaConfig { encoder, ..config() }, DataRate::from_mbps(1));
        call.run(TimeDelta::from_secs(20));
        call.events.clear();
        let steps = 300;
        let targets: Vec<f64> = (0..steps)
            .map(|_| {
                call.run(TimeDelta::from_millis(100));
                call.target_kbps()
            })
            .collect();
        let payload = |event: &Event| match event {
            Event::Media(packet) => u64::from(packet.payload),
            _ => 0,
        };
        let arrived: u64 = call.events.iter().map(|(_, event)| payload(event)).sum();
        let seconds = f64::from(steps) / 10.0;
        (arrived as f64 * 8.0 / 1000.0 / seconds) / (targets.iter().sum::<f64>() / f64::from(steps))
    };
    let (with, without) = (ratio(true), ratio(false));
    assert!((0.95..1.05).contains(&with), "{with}");
    // A_r is at most 1.5 times the receive rate.
    assert!((0.6..0.8).contains(&without), "{without}");
}
