//! The view of the network and the decisions from it, over runs made by hand.

use weir_cc::{Controller, DataRate, DataSize, RateLimits, SendState, SendTime, SentPacket, TimeDelta};
use weir_measure::metrics::{FlowPlan, LinkPlan, MeasurePlan, Recorder};
use weir_measure::results::FlowKind;
use weir_net::{Service, Time};
use weir_world::{Monitor, PacketMeta};

use super::{Omniscient, OperatingPoint, Overview};

const MS: fn(u64) -> Time = Time::from_millis;
const BACK: TimeDelta = TimeDelta::from_millis(50);

/// 20 s over a link of 2 Mbit/s, from 10 s on of 1 Mbit/s, without delay on the way there.
fn plan(flows: Vec<FlowPlan>) -> MeasurePlan {
    let steps = vec![(MS(0), DataRate::from_mbps(2)), (MS(10_000), DataRate::from_mbps(1))];
    let link = LinkPlan::bottleneck("bottleneck", Service::Steps(steps));
    MeasurePlan::new(MS(20_000), flows, vec![link])
}

fn call(max_kbps: u64) -> FlowPlan {
    FlowPlan { max_rate: Some(DataRate::from_kbps(max_kbps)), ..FlowPlan::new("call", FlowKind::Media) }
}

fn packet(sent_at: Time, wire_size: u32, wait: TimeDelta) -> PacketMeta {
    PacketMeta { sent_at, wait, wire_size, payload: wire_size, frame: 0, control: false }
}

#[test]
fn its_share_is_that_of_a_window_which_ended_a_round_trip_ago() {
    let plan = plan(vec![call(5000)]);
    let overview = Overview::new(&plan);
    let mut view = overview.flow_view(0, BACK);
    let window = TimeDelta::from_millis(200);
    let mut share = |at: u64| view.share(MS(at), window, 0.5).map(|seen| (seen.bps, seen.aim));
    assert_eq!(share(50), None, "nothing can be known yet");
    assert_eq!(share(150), Some((2e6, 1e6)), "of the window only 100 ms are there");
    assert_eq!(share(10_050), Some((2e6, 1e6)));
    // From 9.9 to 10.1 s half is 2 and half 1 Mbit/s.
    assert_eq!(share(10_150), Some((1.5e6, 0.75e6)));
    assert_eq!(share(10_250), Some((1e6, 0.5e6)));
}

#[test]
fn its_own_highest_rate_limits_its_share_where_there_is_more() {
    let plan = plan(vec![call(1500)]);
    let mut view = Overview::new(&plan).flow_view(0, BACK);
    let mut seen = |at: u64, part: f64| {
        let seen = view.share(MS(at), TimeDelta::from_millis(100), part).unwrap();
        (seen.bps, seen.aim, seen.limited)
    };
    assert_eq!(seen(5000, 0.9), (1.5e6, 1.5e6, true), "1.8 of 2 Mbit/s is more than it can use");
    assert_eq!(seen(5000, 0.5), (1.5e6, 1e6, false), "half of 2");
    assert_eq!(seen(15_000, 0.5), (1e6, 0.5e6, false));
}

#[test]
fn beside_transfers_it_misses_its_part_of_what_they_have_taken_so_far() {
    let plan = plan(vec![call(5000), call(5000), FlowPlan::new("files", FlowKind::Downloads)]);
    let overview = Overview::new(&plan);
    let mut recorder = Recorder::new(plan.clone()).beside(Some(overview.observer()));
    // 100 kB within the first two seconds: 400 kbit/s of the 2 Mbit/s, of which each call loses a half.
    for n in 0..100 {
        recorder.delivered(MS(20 * n), 2, &packet(MS(20 * n), 1000, TimeDelta::ZERO));
    }
    let seen = overview.flow_view(0, BACK).share(MS(2050), TimeDelta::from_millis(100), 1.0).unwrap();
    assert_eq!(seen.bps, 1e6 - 200e3);
}

fn sender(overview: &Overview<'_>) -> Omniscient {
    sender_at(OperatingPoint::default(), overview)
}

/// Limits of 100 kbit/s to 5 Mbit/s.
fn sender_at(point: OperatingPoint, overview: &Overview<'_>) -> Omniscient {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(100), kbps(300), kbps(5000)).unwrap();
    let mut sender = Omniscient::with_view(point, limits, overview.flow_view(0, BACK));
    // Of 1000 bytes on the wire, 28 of UDP and IP among them, 900 are payload.
    let bytes = DataSize::from_bytes;
    let sent = SentPacket {
        id: 0,
        at: SendTime::ZERO,
        size: bytes(972),
        payload: bytes(900),
        padding: false,
        probe: None,
    };
    sender.on_sent(&sent, &SendState::default());
    sender
}

/// The media rate in bit/s at `at` ms, with `queued` bytes at the sender.
fn rate_at(sender: &mut Omniscient, at: u64, queued: u64) -> f64 {
    let queued = DataSize::from_bytes(queued);
    sender.on_timeout(SendTime::from_millis(at as i64), &SendState { queued, ..SendState::default() });
    sender.target().media_rate.bps_f64()
}

#[test]
fn it_sends_at_the_start_rate_until_the_first_report_and_then_a_part_of_its_share() {
    let plan = plan(vec![call(6000)]);
    let overview = Overview::new(&plan);
    let mut sender = sender(&overview);
    assert_eq!(sender.next_timeout(), Some(SendTime::ZERO));
    assert_eq!(rate_at(&mut sender, 0, 0), 300e3);
    assert_eq!(sender.next_timeout(), Some(SendTime::from_millis(100)));
    // 0.95 of 2 Mbit/s, of which 900 / 1000 are payload.
    assert_eq!(rate_at(&mut sender, 100, 0), 1.71e6);
    assert_eq!(rate_at(&mut sender, 150, 90_000), 1.71e6, "not before its time");
}

#[test]
fn the_backlog_drains_within_a_second() {
    let plan = plan(vec![call(6000)]);
    let overview = Overview::new(&plan);
    let mut recorder = Recorder::new(plan.clone()).beside(Some(overview.observer()));
    // 20 kB that wait for a second.
    recorder.sent(MS(1000), 0, &packet(MS(1000), 20_000, TimeDelta::ZERO));
    recorder.delivered(MS(2000), 0, &packet(MS(1000), 20_000, TimeDelta::from_secs(1)));
    let mut sender = sender(&overview);
    // The packet arrived at 1 s, which is known 50 ms later.
    assert_eq!(rate_at(&mut sender, 1000, 0), 1.71e6);
    // 160 kbit, of which 0.9 are payload.
    assert_eq!(rate_at(&mut sender, 1500, 0), 1.71e6 - 144e3);
    // 9 kB of payload at the sender are 10 kB on the wire: 240 kbit in all.
    assert_eq!(rate_at(&mut sender, 1600, 9000), 1.71e6 - 216e3);
    // The packet left at 2 s; a backlog that cannot be sent in time leaves the minimum.
    assert_eq!(rate_at(&mut sender, 2100, 9000), 1.71e6 - 72e3);
    assert_eq!(rate_at(&mut sender, 2200, 900_000), 100e3);
}

#[test]
fn the_steady_point_follows_slowly() {
    let plan = plan(vec![call(6000)]);
    let overview = Overview::new(&plan);
    let mut sender = sender_at(OperatingPoint::steady(), &overview);
    // 0.9 of 2 Mbit/s, of which 0.9 are payload; less 20 kB in two seconds.
    assert_eq!(rate_at(&mut sender, 9000, 18_000), 1.62e6 - 72e3);
    // One second after the change to 1 Mbit/s, seen 50 ms later: 0.9 of 1.5 Mbit/s.
    assert_eq!(rate_at(&mut sender, 11_050, 0), 1.215e6);
    // The bytes that 1.5 Mbit/s carry in a round trip of 50 and 200 ms.
    assert_eq!(sender.target().window, Some(DataSize::from_bytes(46_875)));
}

#[test]
fn waiting_bytes_leave_less_of_its_highest_rate_too() {
    let plan = plan(vec![call(1500)]);
    let overview = Overview::new(&plan);
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(100), kbps(300), kbps(1400)).unwrap();
    let mut sender = Omniscient::with_view(OperatingPoint::default(), limits, overview.flow_view(0, BACK));
    // 0.95 of 2 Mbit/s is more than the 1.5 that its 1.4 of media are on the wire.
    assert_eq!(rate_at(&mut sender, 1000, 0), 1.4e6);
    assert_eq!(rate_at(&mut sender, 1100, 5000), 1.4e6 - 40e3);
}

#[test]
fn points_out_of_range_are_refused() {
    let one = TimeDelta::from_millis(100);
    let ok = OperatingPoint { share: 0.5, window: one, drained_within: one, in_flight: None };
    let refused = [
        OperatingPoint { share: 0.0, ..ok },
        OperatingPoint { share: f64::NAN, ..ok },
        OperatingPoint { window: TimeDelta::ZERO, ..ok },
        OperatingPoint { drained_within: TimeDelta::ZERO, ..ok },
        OperatingPoint { in_flight: Some(TimeDelta::from_millis(-1)), ..ok },
    ];
    assert!(refused.into_iter().all(|point| point.checked().is_err()));
    let points = [
        ok,
        OperatingPoint::default(),
        OperatingPoint::cautious(),
        OperatingPoint::careful(),
        OperatingPoint::steady(),
    ];
    assert!(points.into_iter().all(|point| point.checked().is_ok()));
}
