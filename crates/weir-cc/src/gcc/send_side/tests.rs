//! The sender half by itself.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Config, DelayOf, LossForm, SendSideGcc};
use crate::controller::{Controller, LimitingFactor, PathEvent, RateLimits};
use crate::decision::AllocatedRate;
use crate::gcc::blocks::loss_count::LossDefinition;
use crate::packet::{Ecn, PacketFate, PacketResult, SendState, SentPacket};
use crate::report::Feedback;
use crate::time::{ArrivalTime, SendTime};

const SIZE: DataSize = DataSize::from_bytes(1250);
const GAP: i64 = 10;
const RTT: TimeDelta = TimeDelta::from_millis(100);

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// Sender time of `ms` milliseconds.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// A sender at 1 Mbit/s with its feedback: a packet each 10 ms (1 Mbit/s), reported in fives.
struct SenderWithFeedback {
    sender: SendSideGcc,
    next: u64,
    now: SendTime,
    /// From the last departure to the feedback.
    rtt: TimeDelta,
    offset: TimeDelta,
    backwards: bool,
}

impl SenderWithFeedback {
    fn new(config: &Config) -> Self {
        let limits = RateLimits::new(kbps(50), kbps(1000), kbps(2500)).unwrap();
        let sender = SendSideGcc::new(*config, limits).unwrap();
        Self { sender, next: 0, now: SendTime::ZERO, rtt: RTT, offset: TimeDelta::ZERO, backwards: false }
    }

    /// Feedback on five packets; `delay` by number in ms, `None` for a lost one.
    fn deliver_feedback(&mut self, delay: impl Fn(u64) -> Option<i64>) -> DataRate {
        let result = |id: u64| {
            let departure = id as i64 * GAP;
            let sent = SentPacket::new(id, at(departure), SIZE);
            let arrival = |delay| ArrivalTime::from_millis(departure + delay) + self.offset;
            let fate = delay(id).map_or(PacketFate::Missing, |delay| PacketFate::Arrived {
                at: Some(arrival(delay)),
                ecn: Ecn::NotEct,
            });
            PacketResult { sent, fate }
        };
        let mut results: Vec<_> = (self.next..self.next + 5).map(result).collect();
        if self.backwards {
            results.reverse();
        }
        self.next += 5;
        self.now = at(self.next as i64 * GAP) + self.rtt;
        let feedback = Feedback::packets(&results, Some(RTT));
        self.sender.on_feedback(self.now, &feedback, &SendState::default());
        self.sender.target().media_rate
    }

    /// Takes so many reports of constant delay.
    fn deliver_without_loss(&mut self, reports: usize) {
        for _ in 0..reports {
            self.deliver_feedback(|_| Some(50));
        }
    }

    /// A second of constant delay.
    fn settle(&mut self) {
        self.deliver_without_loss(20);
    }

    /// The value of the signal `name`.
    fn signal(&self, name: &str) -> f64 {
        let mut values = vec![0.0; self.sender.signals().len()];
        self.sender.read_signals(&mut values);
        values[self.sender.signals().iter().position(|signal| signal.name == name).unwrap()]
    }
}

/// From packet 100 on the delay grows by 3 ms per packet: 30 % more than the path carries.
fn overload(id: u64) -> i64 {
    50 + 3 * (id as i64 - 100).max(0)
}

#[test]
fn a_constant_delay_lets_the_rate_grow_by_eight_per_cent_a_second() {
    let mut path = SenderWithFeedback::new(&Config::draft_02());
    path.deliver_feedback(|_| Some(50));
    path.deliver_feedback(|_| Some(50));
    let first = path.sender.target().media_rate.bps_f64();
    path.deliver_without_loss(20);
    let second = path.sender.target().media_rate.bps_f64();
    assert!((second / first - 1.08).abs() < 1e-6, "{first} to {second}");
    assert_eq!(path.sender.target().limiting_factor, LimitingFactor::RampUp);
    assert_eq!(path.signal("R"), 1e6);
    // R bounds it: 1.5 · 1 Mbit/s.
    path.deliver_without_loss(200);
    assert_eq!(path.sender.target().media_rate, kbps(1500));
}

#[test]
fn the_filters_gain_can_be_seen() {
    let mut path = SenderWithFeedback::new(&Config::draft_02());
    path.settle();
    let gain = path.signal("k");
    assert!(0.0 < gain && gain < 0.1, "{gain}");
}

#[test]
fn overuse_takes_the_rate_below_the_receive_rate_once_per_round_trip() {
    let mut path = SenderWithFeedback::new(&Config::draft_02());
    path.settle();
    let mut falls = Vec::new();
    let mut before = path.sender.target().media_rate;
    for _ in 0..12 {
        let rate = path.deliver_feedback(|id| Some(overload(id)));
        if rate < before {
            assert_eq!(rate.bps_f64(), (0.85 * path.signal("R")).floor(), "β·R");
            assert_eq!(path.sender.found(), LimitingFactor::Delay);
            falls.push(path.now);
        }
        before = rate;
    }
    assert!(falls.len() >= 3, "{falls:?}");
    assert!(falls.windows(2).all(|pair| pair[1] - pair[0] >= RTT), "{falls:?}");
    assert_eq!(path.signal("usage"), 1.0);
    assert!(path.signal("C") > 0.0);
}

#[test]
fn hours_between_the_clocks_and_order_within_a_report_change_nothing() {
    let life = |offset_hours: i64, backwards: bool| {
        let mut path = SenderWithFeedback::new(&Config::nada_vs_gcc_2016());
        path.offset = TimeDelta::from_secs(3600 * offset_hours);
        path.backwards = backwards;
        path.settle();
        (0..20)
            .map(|_| (path.deliver_feedback(|id| Some(overload(id))), path.signal("m"), path.signal("f_l")))
            .collect::<Vec<_>>()
    };
    let here = life(0, false);
    assert!(here.iter().any(|&(_, m, _)| m > 15.0));
    assert_eq!(life(7, false), here);
    assert_eq!(life(-7, true), here);
}

#[test]
fn much_loss_lowers_the_rate_and_some_holds_it() {
    let mut path = SenderWithFeedback::new(&Config::draft_02());
    path.settle();
    let before = path.sender.target().media_rate.bps_f64();
    // 1 of 5: 51/256; 1 − 0.5·51/256 = 0.900390625. R falls with it, but not to a 1.5th.
    let after = path.deliver_feedback(|id| (id % 5 != 2).then_some(50)).bps_f64();
    assert!((after / before - 0.900_390_625).abs() < 1e-6, "{before} to {after}");
    assert_eq!(path.sender.found(), LimitingFactor::Loss);
    assert_eq!(path.signal("f_l"), 51.0 / 256.0);
    // Without loss 5 % per report, up to A_r.
    let again = path.deliver_feedback(|_| Some(50)).bps_f64();
    assert!((again / after - 1.05).abs() < 1e-6);
    path.deliver_without_loss(5);
    assert_eq!(path.signal("A_s"), path.signal("A_r"));
}

#[test]
fn the_loss_controller_of_libwebrtc_waits_for_twenty_packets_and_a_round_trip() {
    let mut path = SenderWithFeedback::new(&Config { loss: LossForm::LibwebrtcV1, ..Config::draft_02() });
    path.deliver_without_loss(5);
    let mut falls = 0;
    let mut before = path.sender.target().media_rate;
    for _ in 0..20 {
        let rate = path.deliver_feedback(|id| (id % 5 != 2).then_some(50));
        falls += usize::from(rate < before);
        before = rate;
    }
    // A second of 20 % loss, reports of 20 packets each 200 ms: a fall needs one of them and 300 ms + 100 ms.
    assert!((2..=3).contains(&falls), "{falls}");
    assert_eq!(path.sender.found(), LimitingFactor::Loss);
}

#[test]
fn a_delay_that_falls_is_under_use_and_holds_the_rate() {
    let mut path = SenderWithFeedback::new(&Config::draft_02());
    path.settle();
    for _ in 0..12 {
        path.deliver_feedback(|id| Some(overload(id)));
    }
    assert_eq!((path.signal("usage"), path.signal("state")), (1.0, -1.0));
    // From packet 160 on, of 230 ms, the delay falls by 3 ms per packet.
    let falling = |id: u64| Some(230 - 3 * (id as i64 - 160));
    let falls = (0..30).position(|_| {
        path.deliver_feedback(falling);
        path.signal("usage") < 0.0
    });
    assert!(falls.is_some());
    assert_eq!((path.signal("usage"), path.signal("state")), (-1.0, 0.0));
    assert!(path.signal("m") < -path.signal("del_var_th"));
    let before = path.sender.target().media_rate;
    assert_eq!(path.deliver_feedback(falling), before);
}

#[test]
fn a_queue_on_the_way_back_is_over_use_by_round_trips_alone() {
    for (delay_of, grows) in [(DelayOf::OneWay, true), (DelayOf::RoundTrip, false)] {
        let mut path = SenderWithFeedback::new(&Config { delay_of, ..Config::default() });
        path.settle();
        let before = path.sender.target().media_rate;
        // Each of 40 reports, one in 50 ms, comes 5 ms later than the one before: a reverse path overloaded by a
        // tenth.
        let after = (0..40).map(|_| {
            path.rtt += TimeDelta::from_millis(5);
            path.deliver_feedback(|_| Some(50))
        });
        let least = after.min().expect("40 reports");
        assert_eq!(least >= before, grows, "{least:?} after {before:?} by {delay_of:?}");
    }
}

#[test]
fn two_seconds_between_reports_are_no_silence_and_more_are() {
    // 195 packets without a report and five that arrive: 195·256/200 = 249.6. With 196 more than 2 s have passed.
    for (unreported, loss) in [(195, 249.0 / 256.0), (196, 0.0)] {
        let mut path =
            SenderWithFeedback::new(&Config { lost: LossDefinition::Unheard, ..Config::draft_02() });
        path.settle();
        path.next += unreported;
        path.deliver_feedback(|_| Some(50));
        assert_eq!(path.signal("f_l"), loss, "{unreported} packets");
    }
}

#[test]
fn silence_halves_the_rate_each_second_and_reports_of_nothing_are_silence() {
    let mut path = SenderWithFeedback::new(&Config::draft_02());
    path.settle();
    let (rate, last) = (path.sender.target().media_rate, path.now);
    assert_eq!(path.sender.next_timeout(), None, "a source without data waits for nothing");
    let size = DataSize::from_bytes(1000);
    let packet = SentPacket { id: path.next, at: last, size, payload: size, padding: false, probe: None };
    path.sender.on_sent(&packet, &SendState::default());
    path.deliver_feedback(|_| None);
    let due = last + TimeDelta::from_secs(3);
    assert_eq!(path.sender.next_timeout(), Some(due));
    path.sender.on_timeout(due, &SendState::default());
    path.sender.on_sent(&SentPacket { at: due, ..packet }, &SendState::default());
    path.sender.on_timeout(due + TimeDelta::from_secs(1), &SendState::default());
    let target = path.sender.target();
    assert!((target.media_rate.bps_f64() / rate.bps_f64() - 0.25).abs() < 1e-5);
    assert_eq!(target.limiting_factor, LimitingFactor::Silence);
    // Two more seconds without a packet: grouping and the count of losses begin anew, and the rate grows again.
    path.next += 400;
    path.deliver_feedback(|_| Some(250));
    path.deliver_feedback(|_| Some(250));
    assert!(path.sender.target().media_rate > target.media_rate);
    assert_eq!((path.signal("m"), path.signal("f_l")), (0.0, 0.0));
}

#[test]
fn by_libwebrtcs_loss_control_growth_begins_at_the_adopted_rate() {
    let mut path = SenderWithFeedback::new(&Config { loss: LossForm::LibwebrtcV1, ..Config::draft_02() });
    // The first two seconds, in which the delay-based estimate is trusted, are over.
    path.deliver_without_loss(60);
    path.sender.apply_allocation(path.now, AllocatedRate { rate: kbps(600) });
    path.deliver_feedback(|_| Some(50));
    path.sender.apply_allocation(path.now, AllocatedRate { rate: kbps(900) });
    // 900·1.08^0.05 = 903.47; from the 600 of 50 ms ago on it were 1.08·600 + 1 = 649.
    let next = path.deliver_feedback(|_| Some(50)).bps_f64();
    assert!((903e3..904e3).contains(&next), "{next}");
}

#[test]
fn coupling_limits_and_a_new_route_become_the_controllers_own_state() {
    let mut path = SenderWithFeedback::new(&Config::draft_02());
    path.settle();
    path.sender.apply_allocation(path.now, AllocatedRate { rate: kbps(600) });
    assert_eq!(path.sender.target().media_rate, kbps(600));
    assert_eq!(path.sender.target().limiting_factor, LimitingFactor::Coupling);
    // 600·1.08^0.05 = 602.31.
    let next = path.deliver_feedback(|_| Some(50)).bps_f64();
    assert!((602e3..603e3).contains(&next), "{next}");
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(400)).unwrap();
    path.sender.on_event(path.now, PathEvent::Limits(limits));
    assert_eq!(path.sender.target().media_rate, kbps(400));
    assert_eq!(path.sender.target().limiting_factor, LimitingFactor::Maximum);
    path.sender.on_event(path.now, PathEvent::RouteChanged);
    assert_eq!(path.sender.target().media_rate, kbps(300), "the start rate");
    assert!(path.signal("R").is_nan() && path.signal("C").is_nan());
}
