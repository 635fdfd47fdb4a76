//! The parts on made-up packets: frames of four packets over a link of one rate, and what differs from that.

use weir_world::RecordedCall;
use weir_world::recorded::{ArrivalClock, FORMAT_VERSION, OptionalInteger, PacketRow, RecordedStream};

use super::{InferError, InferOptions, InferredPath, PathEnd, QueueLimit, infer};

/// Bytes of each packet on the wire.
const BYTES: u32 = 1250;

/// A link of made-up calls.
struct MadeLink {
    /// Capacity in bit/s of each second; the last one goes on.
    bps: Vec<f64>,
    /// Propagation delay in microseconds, the difference of the clocks included.
    delay_us: i64,
    /// Drift of the receiver's clock.
    drift: f64,
    /// Most bytes in the queue.
    limit: f64,
    /// Of so many packets one is lost behind the queue; 0 for none.
    lost_of: usize,
    clock: ArrivalClock,
}

impl Default for MadeLink {
    fn default() -> Self {
        Self {
            bps: vec![1e6],
            delay_us: 20_000,
            drift: 0.0,
            limit: 1e9,
            lost_of: 0,
            clock: ArrivalClock::Common,
        }
    }
}

impl MadeLink {
    /// Ten seconds of 30 frames/s, of four packets or of `heavy` in the seconds `from` to `to`.
    fn call(&self, heavy: usize, from: i64, to: i64) -> RecordedCall {
        let mut call =
            RecordedCall { version: FORMAT_VERSION, arrival_clock: self.clock, ..RecordedCall::default() };
        call.streams.push(RecordedStream::default());
        call.packet_overhead_bytes = 28;
        call.duration_us = 10_000_000;
        let mut free_us = 0.0f64;
        let mut number = 0;
        for frame in 0..300 {
            let sent_us = frame * 1_000_000 / 30;
            let second = sent_us / 1_000_000;
            let packets = if (from..to).contains(&second) { heavy } else { 4 };
            for _ in 0..packets {
                number += 1;
                let now = sent_us as f64;
                let at = |us: f64| self.bps[((us / 1e6) as usize).min(self.bps.len() - 1)];
                let backlog = (free_us - now).max(0.0) * at(now) / 8e6 + f64::from(BYTES);
                let mut row = PacketRow {
                    number: OptionalInteger::new(number),
                    sequence: number,
                    timestamp: frame as u32,
                    sent_us: OptionalInteger::new(sent_us),
                    reported_us: OptionalInteger::new(sent_us + 400_000),
                    payload_bytes: BYTES - 28 - 20,
                    header_bytes: 20,
                    ..PacketRow::default()
                };
                if backlog <= self.limit {
                    free_us = free_us.max(now);
                    free_us += f64::from(BYTES) * 8e6 / at(free_us);
                    let is_lost = self.lost_of > 0 && (number as usize).is_multiple_of(self.lost_of);
                    let arrived = (free_us * (1.0 + self.drift)) as i64 + self.delay_us;
                    row.arrived_us =
                        if is_lost { OptionalInteger::UNKNOWN } else { OptionalInteger::new(arrived) };
                }
                call.packets.push(row);
            }
        }
        call
    }

    fn inferred(&self, heavy: usize, from: i64, to: i64) -> InferredPath {
        infer(&self.call(heavy, from, to), &InferOptions::default()).expect("there are packets")
    }
}

#[track_caller]
fn assert_near(path: &InferredPath, second: usize, bps: f64) {
    let found = path.seconds[second].bps.expect("packets queued");
    assert!((found / bps - 1.0).abs() < 0.02, "second {second}: {found}, not {bps}");
}

#[test]
fn a_steady_link_is_found_with_its_delay() {
    let path = MadeLink { bps: vec![1.5e6], ..MadeLink::default() }.inferred(4, 0, 0);
    for second in 0..10 {
        assert_near(&path, second, 1.5e6);
    }
    assert!((path.delay.forward_us - 20_000).abs() < 100, "{:?}", path.delay);
    assert!(path.delay.is_one_way && !path.queue.was_full);
    assert_eq!((path.loss.share, path.jitter.sd_us, path.shared()), (0.0, 0, 0.0));
}

#[test]
fn a_fall_and_a_rise_are_found_in_their_seconds() {
    let path = MadeLink { bps: [[2e6; 3], [1.3e6; 3], [2.4e6; 3]].concat(), ..MadeLink::default() }
        .inferred(4, 0, 0);
    for (second, bps) in [(1, 2e6), (4, 1.3e6), (7, 2.4e6)] {
        assert_near(&path, second, bps);
    }
}

#[test]
fn clocks_with_an_offset_and_a_drift_give_the_same() {
    let clock = ArrivalClock::Receiver;
    let link =
        MadeLink { bps: vec![1.5e6], delay_us: -7_000_000_000, drift: 80e-6, clock, ..MadeLink::default() };
    let mut call = link.call(4, 0, 0);
    call.round_trips.push(weir_world::recorded::RoundTrip { time_us: 1, rtt_us: 50_000 });
    let path = infer(&call, &InferOptions::default()).expect("there are packets");
    for second in 0..10 {
        assert_near(&path, second, 1.5e6);
    }
    assert!((path.delay.forward_us - 25_000).abs() < 500 && !path.delay.is_one_way, "{:?}", path.delay);
}

#[test]
fn a_full_queue_is_no_random_loss() {
    let link = MadeLink { bps: vec![1.5e6], limit: 30_000.0, ..MadeLink::default() };
    let path = link.inferred(8, 3, 7);
    assert!(path.queue.was_full && path.loss.at_full_queue > 50, "{:?} {:?}", path.queue, path.loss);
    let QueueLimit::Bytes(bytes) = path.queue.limit else { panic!("{:?}", path.queue) };
    assert!((28_000..=30_500).contains(&bytes), "{bytes}");
    assert_eq!(path.loss.share, 0.0);
}

#[test]
fn a_full_queue_at_a_high_rate_is_no_random_loss() {
    // 30 kB are 80 ms of the fast link and 480 ms of the slow one.
    let bps = [[3e6; 5], [0.5e6; 5]].concat();
    let path = MadeLink { bps, limit: 30_000.0, ..MadeLink::default() }.inferred(12, 2, 4);
    assert!(path.queue.was_full && path.loss.at_full_queue > 200, "{:?} {:?}", path.queue, path.loss);
    assert_eq!(path.loss.share, 0.0);
}

#[test]
fn random_loss_is_no_full_queue() {
    let path = MadeLink { bps: vec![1.5e6], lost_of: 50, ..MadeLink::default() }.inferred(4, 0, 0);
    assert!((path.loss.share - 0.02).abs() < 0.001 && !path.queue.was_full, "{:?}", path.loss);
    assert!(path.loss.at(PathEnd::Low) > path.loss.share && path.loss.share > path.loss.at(PathEnd::High));
    assert_near(&path, 5, 1.5e6);
}

/// Packets of `bytes` each `gap_ms`, of which one of 40 is lost, over 30 ms with jitter up to 25 ms.
fn sparse_call(bytes: u32, gap_ms: i64) -> RecordedCall {
    let mut call = RecordedCall { version: FORMAT_VERSION, ..RecordedCall::default() };
    call.streams.push(RecordedStream::default());
    call.duration_us = 2000 * gap_ms * 1000;
    for number in 0..2000 {
        let sent_us = number * gap_ms * 1000;
        let arrived = (number % 40 != 39).then_some(sent_us + 30_000 + number * 7919 % 25_000);
        call.packets.push(PacketRow {
            sequence: number,
            sent_us: OptionalInteger::new(sent_us),
            arrived_us: arrived.into(),
            payload_bytes: bytes,
            ..PacketRow::default()
        });
    }
    call
}

#[test]
fn loss_of_packets_that_never_queue_is_random() {
    for (bytes, gap_ms) in [(100, 50), (1200, 200)] {
        let path = infer(&sparse_call(bytes, gap_ms), &InferOptions::default()).expect("there are packets");
        assert!(!path.queue.was_full && path.loss.at_full_queue == 0, "{:?} {:?}", path.queue, path.loss);
        assert!((path.loss.share - 0.025).abs() < 0.001, "{:?}", path.loss);
        assert_eq!((path.summary(), path.coverage()), (None, 0.0));
        let scenario = path.scenario(PathEnd::Middle);
        assert!(scenario.contains("capacity unknown, taken within the band"), "{scenario}");
    }
}

/// `call` as its receiver recorded it: with absolute send times, and without the lost packets.
fn of_receiver(call: &RecordedCall) -> RecordedCall {
    let mut received = RecordedCall {
        source: weir_world::recorded::RecordingSource::EventLogOfReceiver,
        packets: weir_world::recorded::Packets::default(),
        ..call.clone()
    };
    for row in call.packets.rows().filter(|row| row.arrived_us.is_known()) {
        received.packets.push(PacketRow { reported_us: OptionalInteger::UNKNOWN, ..row });
    }
    received
}

#[test]
fn a_stamped_recording_of_the_receiver_has_an_assumed_delay_and_its_loss_by_gaps() {
    let link = MadeLink { bps: vec![1.5e6], delay_us: 0, lost_of: 50, ..MadeLink::default() };
    let path = infer(&of_receiver(&link.call(4, 0, 0)), &InferOptions::default()).expect("there are packets");
    assert!(path.delay.is_assumed && path.delay.forward_us == 25_000, "{:?}", path.delay);
    assert!((path.loss.share - 0.02).abs() < 0.001 && !path.is_weak, "{:?}", path.loss);
    let full = MadeLink { bps: vec![1.5e6], limit: 30_000.0, ..MadeLink::default() }.call(8, 3, 7);
    let path = infer(&of_receiver(&full), &InferOptions::default()).expect("there are packets");
    assert!(path.queue.was_full && path.loss.at_full_queue > 50, "{:?} {:?}", path.queue, path.loss);
}

#[test]
fn rates_of_a_browser_bound_the_flow_and_the_scenario_lasts_as_long() {
    let mut call = MadeLink { bps: vec![1.5e6], ..MadeLink::default() }.call(4, 0, 0);
    call.duration_us = 10_400_000;
    for (time_us, bps) in [(1000, 812_000), (5_000_000, 2_870_000), (5_100_000, 900_000)] {
        let row = weir_world::recorded::LossEstimate { time_us, bps, fraction_lost: 0, packets: 0 };
        call.loss_estimates.push(row);
    }
    let path = infer(&call, &InferOptions::default()).expect("there are packets");
    let scenario = path.scenario(PathEnd::Middle);
    assert_eq!((path.start_bps, path.most_bps), (Some(812_000), 2_870_000));
    assert!(
        scenario.contains("duration = \"11s\"") && scenario.contains("start = \"812kbps\""),
        "{scenario}"
    );
}

#[test]
fn a_summary_leaves_out_single_seconds_and_bounds_are_of_the_others() {
    let second = |bps: Option<f64>, low: f64| super::CapacitySecond {
        bps,
        low_bps: low,
        high_bps: low + 200.0,
        ..super::CapacitySecond::default()
    };
    let mut path = MadeLink::default().inferred(4, 0, 0);
    path.seconds = (0..41).map(|_| second(Some(1000.0), 900.0)).collect();
    path.seconds[7] = second(Some(9000.0), 8900.0);
    path.seconds.extend([second(None, 50.0), second(None, 70.0), second(None, 2158.0)]);
    let summary = path.summary().expect("seconds have figures");
    assert_eq!((summary.p5_bps, summary.median_bps, summary.p95_bps), (1000.0, 1000.0, 1000.0));
    assert!((summary.width - 0.2).abs() < 1e-9);
    assert_eq!(path.bounds(), Some((70.0, 2158.0)));
}

#[test]
fn the_tag_of_srtp_counts_in_event_logs() {
    let mut call = MadeLink { bps: vec![1.5e6], ..MadeLink::default() }.call(4, 0, 0);
    call.source = weir_world::recorded::RecordingSource::EventLogOfSender;
    let path = infer(&call, &InferOptions::default()).expect("there are packets");
    assert_near(&path, 5, 1.5e6 * f64::from(BYTES + 10) / f64::from(BYTES));
    let options = InferOptions { extra_bytes: Some(0), ..InferOptions::default() };
    assert_near(&infer(&call, &options).expect("there are packets"), 5, 1.5e6);
}

#[test]
fn without_departures_frames_give_a_lower_bound() {
    let mut call = MadeLink { bps: vec![1.5e6], ..MadeLink::default() }.call(4, 0, 0);
    call.packets.sent_us.fill(OptionalInteger::UNKNOWN);
    let path = infer(&call, &InferOptions::default()).expect("there are packets");
    assert!(path.is_weak && path.scenario(PathEnd::Middle).contains("a lower bound"));
    assert_near(&path, 5, 1.5e6);
}

#[test]
fn calls_without_packets_are_refused() {
    let call = RecordedCall { version: FORMAT_VERSION, ..RecordedCall::default() };
    assert_eq!(infer(&call, &InferOptions::default()), Err(InferError::NoArrivals));
    let mut call = MadeLink::default().call(4, 0, 0);
    call.packets.arrived_us.iter_mut().skip(20).for_each(|arrived| *arrived = OptionalInteger::UNKNOWN);
    assert_eq!(infer(&call, &InferOptions::default()), Err(InferError::TooFew(20)));
    let mut call = MadeLink::default().call(4, 0, 0);
    *call.packets.arrived_us.last_mut().expect("there are packets") = OptionalInteger::new(i64::MAX);
    assert_eq!(infer(&call, &InferOptions::default()), Err(InferError::TooLong));
    let mut call = MadeLink::default().call(4, 0, 0);
    for column in [&mut call.packets.sent_us, &mut call.packets.arrived_us] {
        for time in column {
            *time = time.get().map(|time| time + 1_000_000_000_000_000).into();
        }
    }
    assert_eq!(infer(&call, &InferOptions::default()), Err(InferError::TooLong));
}
