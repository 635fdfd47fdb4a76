//! The sender half of GoogCC through its interface: probes, growth, limits and changes of the route.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::delay::DelayBased;
use super::{Config, GoogCc};
use crate::controller::{
    Burst, Controller, LimitingFactor, Pacing, PathEvent, Probe, RateLimits, StreamsConfig,
};
use crate::decision::AllocatedRate;
use crate::gcc::blocks::bursts::ReportedPacket;
use crate::packet::{Ecn, PacketFate, PacketResult, ProbeId, SendState, SentPacket};
use crate::report::{Feedback, ReceptionReport};
use crate::time::{ArrivalTime, SendTime};

const STATE: SendState =
    SendState { in_flight: DataSize::ZERO, queued: DataSize::ZERO, application_limited: false };
/// One-way delay.
const DELAY_MS: i64 = 40;

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

fn limits() -> RateLimits {
    RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap()
}

/// Sender time of `ms` milliseconds.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// A sender half, and the packets that it has sent without feedback so far.
struct GoogCcCall {
    sender: GoogCc,
    now_ms: i64,
    next: u64,
    pending: Vec<SentPacket>,
    /// Packets reported by feedback, and the lost ones among them.
    reported: (u32, i32),
}

impl GoogCcCall {
    fn new(config: &Config) -> Self {
        Self {
            sender: GoogCc::new(*config, limits()).unwrap(),
            now_ms: 0,
            next: 0,
            pending: Vec::new(),
            reported: (0, 0),
        }
    }

    /// The target rate in kbit/s.
    fn rate(&self) -> u64 {
        self.sender.target().media_rate.bps() / 1000
    }

    /// The value of the signal `name`.
    fn signal(&self, name: &str) -> f64 {
        let signals = self.sender.signals();
        let mut values = vec![0.0; signals.len()];
        self.sender.read_signals(&mut values);
        values[signals.iter().position(|signal| signal.name == name).unwrap()]
    }

    /// A packet of `bytes` bytes leaves now.
    fn send(&mut self, bytes: u64, probe: Option<ProbeId>) {
        let size = DataSize::from_bytes(bytes);
        let sent =
            SentPacket { id: self.next, at: at(self.now_ms), size, payload: size, padding: false, probe };
        self.next += 1;
        self.sender.on_sent(&sent, &STATE);
        self.pending.push(sent);
    }

    /// Calls the timeout if it is due.
    fn tick(&mut self) {
        if self.sender.next_timeout().is_some_and(|due| due <= at(self.now_ms)) {
            self.sender.on_timeout(at(self.now_ms), &STATE);
        }
    }

    fn probes(&mut self) -> Vec<Probe> {
        core::iter::from_fn(|| self.sender.poll_probe()).collect()
    }

    /// For `ms` packets of `bytes` leave each 10 ms; feedback comes each 50 ms. `queue_ms` gives the queuing delay
    /// of the packet sent at a time, `None` for lost.
    fn run(&mut self, ms: i64, bytes: u64, queue_ms: impl Fn(i64) -> Option<i64>) {
        for _ in 0..ms / 10 {
            self.now_ms += 10;
            self.tick();
            self.send(bytes, None);
            if self.now_ms % 50 == 0 {
                self.deliver_feedback(&queue_ms);
            }
        }
    }

    /// Feedback on packets sent a round trip ago or earlier.
    fn deliver_feedback(&mut self, queue_ms: impl Fn(i64) -> Option<i64>) {
        let newest_departure = at(self.now_ms - 2 * DELAY_MS);
        let results: Vec<_> = self
            .pending
            .iter()
            .filter(|sent| sent.at <= newest_departure)
            .map(|sent| {
                let left = sent.at.nanos() / 1_000_000;
                let fate = match queue_ms(left) {
                    Some(wait) => PacketFate::Arrived {
                        at: Some(ArrivalTime::from_millis(7_200_000 + left + DELAY_MS + wait)),
                        ecn: Ecn::NotEct,
                    },
                    None => PacketFate::Missing,
                };
                PacketResult { sent: *sent, fate }
            })
            .collect();
        self.pending.retain(|sent| sent.at > newest_departure);
        let feedback = Feedback::Packets {
            results: &results,
            at: None,
            rtt: Some(TimeDelta::from_millis(2 * DELAY_MS)),
            missed_reports: 0,
        };
        self.sender.on_feedback(at(self.now_ms), &feedback, &STATE);
        let lost = results.iter().filter(|result| result.fate == PacketFate::Missing).count();
        self.reported = (self.reported.0 + results.len() as u32, self.reported.1 + lost as i32);
        if self.now_ms % 1000 == 0 {
            self.report(None);
        }
    }

    /// A receiver report comes.
    fn report(&mut self, rtt: Option<TimeDelta>) {
        let (highest_sequence, cumulative_lost) = self.reported;
        let report = ReceptionReport { cumulative_lost, highest_sequence, ..ReceptionReport::default() };
        self.sender.on_feedback(at(self.now_ms), &Feedback::Reception { report, rtt }, &STATE);
    }
}

#[test]
fn it_begins_at_the_start_rate_and_asks_for_two_probes() {
    let mut call = GoogCcCall::new(&Config::default());
    let target = call.sender.target();
    assert_eq!((target.media_rate, target.limiting_factor), (kbps(300), LimitingFactor::RampUp));
    assert_eq!((target.pacing, target.padding), (Pacing::Factor(2.5), DataRate::ZERO));
    let burst = Burst { time: TimeDelta::from_millis(40), size: DataSize::from_bytes(63_000) };
    assert_eq!((target.burst, target.frame_drop), (burst, 0.0));
    assert_eq!(call.sender.next_timeout(), None);
    call.send(1000, None);
    assert_eq!(call.sender.next_timeout(), Some(at(0)));
    call.tick();
    let probes = call.probes();
    // 3 and 6 times the start rate: 900 and 1800 kbit/s.
    assert_eq!(probes.iter().map(|probe| probe.rate).collect::<Vec<_>>(), [kbps(900), kbps(1800)]);
    assert_eq!(call.sender.next_timeout(), Some(at(25)));
    assert_eq!(call.probes().len(), 0, "each is asked for once");
}

#[test]
fn a_probes_result_becomes_the_rate_at_once() {
    let mut call = GoogCcCall::new(&Config::default());
    call.send(1000, None);
    call.tick();
    let probe = call.probes()[0];
    // 1000 bytes each 10 ms: 800 kbit/s are shown, within 10 % of the probe's rate.
    for _ in 0..6 {
        call.now_ms += 10;
        call.send(1000, Some(probe.id));
    }
    call.now_ms += 100;
    call.deliver_feedback(|_| Some(0));
    assert_eq!((call.rate(), call.sender.target().limiting_factor), (800, LimitingFactor::RampUp));
}

#[test]
fn without_congestion_the_rate_grows_by_eight_per_cent_per_second() {
    let mut call = GoogCcCall::new(&Config::default());
    // 375 bytes each 10 ms: 300 kbit/s; growth ends at 1.5·300 + 10 = 460.
    // From the second receiver report on, at 2 s, the loss controller lets it grow.
    call.run(3000, 375, |_| Some(0));
    let before = call.rate();
    call.run(1000, 375, |_| Some(0));
    let growth = call.rate() as f64 / before as f64;
    assert!((1.06..1.10).contains(&growth), "{before} kbit/s · {growth}");
    call.run(10_000, 375, |_| Some(0));
    assert_eq!(call.rate(), 460);
}

#[test]
fn a_growing_queue_lowers_the_rate_below_what_arrives() {
    let mut call = GoogCcCall::new(&Config::default());
    call.run(3000, 375, |_| Some(0));
    // The queue grows by 2 ms per 10 ms: 250 of 300 kbit/s arrive; 0.85·250 − 5 = 207.5.
    call.run(600, 375, |left| Some((left - 3000).max(0) / 5));
    assert!((180..290).contains(&call.rate()), "{}", call.rate());
    assert!(call.signal("C̄") > 200e3);
    call.run(1000, 375, |left| Some((left - 3000).max(0) / 5));
    assert_eq!(call.sender.target().limiting_factor, LimitingFactor::Delay);
}

#[test]
fn packets_out_of_order_are_taken_in_order_of_arrival() {
    let rate_after = |swap: bool| {
        let mut call = GoogCcCall::new(&Config::default());
        for _ in 0..40 {
            for _ in 0..5 {
                call.now_ms += 10;
                call.send(375, None);
            }
            if swap {
                call.pending.reverse();
            }
            call.now_ms += 100;
            call.deliver_feedback(|_| Some(0));
            call.now_ms -= 100;
        }
        (call.rate(), call.signal("R"), call.signal("trend"))
    };
    assert_eq!(rate_after(false), rate_after(true));
}

#[test]
fn a_source_of_little_limits_the_rate_and_another_route_begins_at_what_it_carried() {
    let mut call = GoogCcCall::new(&Config::default());
    // 100 bytes each 10 ms: 80 kbit/s of 300.
    call.run(2000, 100, |_| Some(0));
    assert_eq!(
        (call.signal("ALR"), call.sender.target().limiting_factor),
        (1.0, LimitingFactor::Application)
    );
    assert_eq!((call.signal("R"), call.signal("RTT")), (80e3, 80.0));
    call.sender.on_event(at(2000), PathEvent::RouteChanged);
    assert_eq!((call.rate(), call.signal("ALR")), (80, 0.0));
    assert!(call.signal("R").is_nan());
    // A source that fills its rate is not limited.
    let mut call = GoogCcCall::new(&Config::default());
    call.run(2000, 375, |_| Some(0));
    assert_eq!((call.signal("ALR"), call.sender.target().limiting_factor), (0.0, LimitingFactor::RampUp));
}

#[test]
fn heavy_loss_limits_and_padding_helps_to_come_back() {
    let mut call = GoogCcCall::new(&Config::default());
    call.run(2000, 1250, |_| Some(0));
    // 40 % of 1 Mbit/s.
    call.run(9000, 1250, |left| (left / 10 % 5 < 3).then_some(0));
    assert_eq!(call.sender.target().limiting_factor, LimitingFactor::Loss);
    assert!(call.signal("loss") > 0.35, "{}", call.signal("loss"));
    let padded = (0..100).any(|_| {
        call.run(100, 1250, |_| Some(0));
        call.sender.target().padding == call.sender.target().media_rate
    });
    assert!(padded);
    // Padding does not fill up the share that an overfull window holds back: a tenth with each packet.
    let state = SendState { in_flight: DataSize::from_bytes(1_000_000), ..STATE };
    let sent = SentPacket::new(call.next, at(call.now_ms), DataSize::from_bytes(1250));
    call.sender.on_sent(&sent, &state);
    let target = call.sender.target();
    assert!((target.frame_drop - 0.1).abs() < 1e-9, "{}", target.frame_drop);
    assert_eq!(target.padding, target.media_rate.scale(0.9));
}

#[test]
fn feedback_of_losses_alone_says_nothing_of_delay() {
    let grown = |lost: bool| {
        let mut call = GoogCcCall::new(&Config::default());
        call.run(2000, 1250, |_| Some(0));
        call.run(100, 1250, |left| (left < 2000 || !lost).then_some(0));
        let before = call.signal("A_delay");
        call.run(500, 1250, |_| (!lost).then_some(0));
        call.signal("A_delay") / before
    };
    assert_eq!(grown(true), 1.0);
    assert!(grown(false) > 1.03, "{}", grown(false));
}

#[test]
fn the_end_of_underuse_is_reported_once() {
    let config = Config::default();
    let mut delay = DelayBased::new(&config, limits());
    let recovered = |delay: &mut DelayBased, wait: i64, from: i64| {
        let packet = |n: i64| ReportedPacket {
            departure: at(from + 10 * n),
            arrival: ArrivalTime::from_millis(from + 10 * n + (wait - 2 * n).max(0)),
            size: DataSize::from_bytes(1250),
        };
        let packets: Vec<_> = (0..5).map(packet).collect();
        delay.on_feedback(packets.iter(), None, None, at(from + 200)).recovered
    };
    // A queue of 300 ms drains by 2 ms per packet, and is empty after 150 of them.
    let ends = (0..60).filter(|feedback| recovered(&mut delay, 300 - 10 * feedback, 50 * feedback));
    assert_eq!(ends.count(), 1);
}

#[test]
fn the_older_loss_controller_is_an_option() {
    let mut call = GoogCcCall::new(&Config { use_loss_v2: false, ..Config::default() });
    call.run(3000, 1250, |_| Some(0));
    let before = call.rate();
    call.run(5000, 1250, |left| (left / 10 % 5 < 3).then_some(0));
    assert!(call.rate() < before / 2, "{before} → {}", call.rate());
    assert_eq!(call.sender.target().limiting_factor, LimitingFactor::Loss);
}

#[test]
fn a_ceiling_bounds_the_target_until_it_is_taken_away() {
    let mut call = GoogCcCall::new(&Config::default());
    call.sender.on_feedback(at(0), &Feedback::Ceiling(kbps(200)), &STATE);
    assert_eq!((call.rate(), call.sender.target().limiting_factor), (200, LimitingFactor::Receiver));
    call.sender.on_feedback(at(0), &Feedback::Ceiling(DataRate::ZERO), &STATE);
    assert_eq!(call.rate(), 300);
}

#[test]
fn silence_halves_the_rate_each_second_and_feedback_ends_it() {
    let mut call = GoogCcCall::new(&Config::default());
    call.run(2050, 375, |_| Some(0));
    let before = call.rate();
    for _ in 0..410 {
        call.now_ms += 10;
        call.tick();
        call.send(375, None);
    }
    // 3 and 4 s after the last feedback.
    assert_eq!(call.rate(), before / 4);
    assert_eq!(call.sender.target().limiting_factor, LimitingFactor::Silence);
    call.deliver_feedback(|_| Some(0));
    assert!(call.rate() > before / 2);
}

#[test]
fn a_source_that_paused_goes_on_at_its_rate() {
    for announced in [false, true] {
        let mut call = GoogCcCall::new(&Config::default());
        call.run(2000, 375, |_| Some(0));
        let before = call.rate();
        if announced {
            call.sender.on_event(at(call.now_ms), PathEvent::Paused);
        }
        call.now_ms += 10_000;
        if announced {
            call.sender.on_event(at(call.now_ms), PathEvent::Resumed);
        }
        call.send(375, None);
        for _ in 0..10 {
            call.now_ms += 10;
            call.tick();
        }
        assert!(call.rate() >= before, "{before} → {}", call.rate());
    }
}

#[test]
fn empty_feedback_and_reports_of_other_controllers_change_nothing() {
    let mut call = GoogCcCall::new(&Config::default());
    let empty = Feedback::Packets { results: &[], at: None, rtt: None, missed_reports: 3 };
    assert_eq!(call.sender.on_feedback(at(0), &empty, &STATE), None);
    let reception = Feedback::Reception { report: crate::report::ReceptionReport::default(), rtt: None };
    assert_eq!(call.sender.on_feedback(at(0), &reception, &STATE), None);
    assert_eq!(call.rate(), 300);
}

#[test]
fn events_and_coupling_become_the_controllers_own_state() {
    let mut call = GoogCcCall::new(&Config::default());
    call.run(2050, 375, |_| Some(0));
    call.sender.apply_allocation(at(2050), AllocatedRate { rate: kbps(700) });
    assert_eq!(
        (call.rate(), call.sender.target().limiting_factor),
        (700, LimitingFactor::RampUp),
        "more than it computed"
    );
    call.run(200, 875, |_| Some(0));
    assert!((690..=720).contains(&call.rate()), "{}", call.rate());
    let narrower = RateLimits::new(kbps(50), kbps(100), kbps(250)).unwrap();
    call.sender.on_event(at(2250), PathEvent::Limits(narrower));
    assert_eq!((call.rate(), call.sender.target().limiting_factor), (250, LimitingFactor::Maximum));
    call.sender.on_event(at(2250), PathEvent::Limits(limits()));
    // The rate of the old path, or the start rate if that is less: and probing begins anew.
    call.probes();
    call.sender.on_event(at(2250), PathEvent::RouteChanged);
    assert_eq!((call.rate(), call.probes().len()), (300, 2));
    call.sender.on_event(at(2250), PathEvent::Paused);
    assert_eq!(call.sender.next_timeout(), None);
    call.sender.on_event(at(9000), PathEvent::Resumed);
    call.now_ms = 9000;
    call.send(375, None);
    assert_eq!(call.sender.next_timeout(), Some(at(9000)));
}

#[test]
fn probes_are_bounded_by_twice_what_the_streams_can_use() {
    let mut call = GoogCcCall::new(&Config::default());
    call.sender.on_streams(at(0), StreamsConfig::camera(kbps(700)));
    call.send(1000, None);
    call.tick();
    assert_eq!(call.probes().iter().map(|probe| probe.rate).collect::<Vec<_>>(), [kbps(900), kbps(1400)]);
}

#[test]
fn after_a_change_of_route_probes_go_by_what_the_old_one_carried() {
    let mut call = GoogCcCall::new(&Config::default());
    // 100 bytes each 10 ms: 80 kbit/s.
    call.run(3000, 100, |_| Some(0));
    call.probes();
    let carried = call.signal("R") as u64;
    assert!((75_000..85_000).contains(&carried), "{carried}");
    call.sender.on_event(at(call.now_ms), PathEvent::RouteChanged);
    let rates: Vec<_> = call.probes().iter().map(|probe| probe.rate.bps()).collect();
    assert_eq!(rates, [3 * carried, 6 * carried]);
}

#[test]
fn frames_are_left_out_while_more_is_in_flight_than_350_ms_of_the_target() {
    let mut call = GoogCcCall::new(&Config::default());
    call.run(3000, 375, |_| Some(0));
    assert_eq!(call.sender.target().frame_drop, 0.0);
    let rate = call.sender.target().media_rate;
    // The longest round is 2 · 40 + 40 ms: packets that left after the feedback before wait for the next.
    let full = SendState { in_flight: rate * TimeDelta::from_millis(350 + 130), ..STATE };
    for _ in 0..20 {
        let size = DataSize::from_bytes(375);
        let sent = SentPacket {
            id: call.next,
            at: at(call.now_ms),
            size,
            payload: size,
            padding: false,
            probe: None,
        };
        call.sender.on_sent(&sent, &full);
    }
    let target = call.sender.target();
    // 0.95^20 = 0.358.
    assert!((target.frame_drop - 0.6415).abs() < 1e-3, "{}", target.frame_drop);
    assert_eq!(target.media_rate, rate);
    call.send(375, None);
    assert_eq!(call.sender.target().frame_drop, 0.0, "nothing is in flight any more");
}

#[test]
fn a_receiver_report_changes_the_rate_with_the_next_packet() {
    let mut call = GoogCcCall::new(&Config { use_loss_v2: false, ..Config::default() });
    call.run(2000, 375, |_| Some(0));
    let before = call.rate();
    call.reported = (call.reported.0 + 100, call.reported.1 + 50);
    call.report(None);
    call.now_ms += 1;
    call.tick();
    assert_eq!(call.rate(), before, "no tick is due");
    call.send(375, None);
    call.tick();
    assert!(call.rate() < before, "{} of {before}", call.rate());
}

#[test]
fn receiver_reports_give_the_round_trip_time_and_feedback_after_5_s_without() {
    let growth = |reported: Option<i64>, ms| {
        let mut call = GoogCcCall::new(&Config::default());
        let over_use = |sent| if (1000..1600).contains(&sent) { (sent - 1000) / 4 } else { 0 };
        call.run(3000, 800, |sent| Some(over_use(sent)));
        if let Some(rtt) = reported {
            call.report(Some(TimeDelta::from_millis(rtt)));
        }
        call.run(ms, 800, |_| Some(0));
        let before = call.signal("A_delay");
        call.run(1000, 800, |_| Some(0));
        assert!(call.signal("C̄").is_finite(), "growth is additive");
        (call.signal("A_delay") - before) / 1e3
    };
    // Half a packet of 9.6 kbit per 100 ms and the round trip, as 640 kbit/s have it.
    let [default, reported, feedback] = [growth(None, 500), growth(Some(50), 500), growth(None, 4000)];
    assert!(reported > 1.7 * default, "{reported} kbit/s per s and {default} by 200 ms");
    assert!(feedback > 1.2 * default && feedback < reported, "{feedback} by 120 ms");
}
