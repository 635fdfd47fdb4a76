//! What holds of both halves whatever comes.

use proptest::prelude::*;
use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Config, CongestionBound, LossAverage, Nada, NadaObserver, NadaPacing};
use crate::controller::{AtReceiver, Controller, PathEvent, RateLimits, Receiver, Share};
use crate::packet::{Arrival, Ecn, SendState, SentPacket, Stamp};
use crate::report::{Feedback, LawReport, NadaReport, Report};
use crate::time::{ArrivalTime, SendTime};

fn rate() -> impl Strategy<Value = DataRate> {
    prop_oneof![any::<u64>(), 0..10_000_000_u64].prop_map(DataRate::from_bps)
}

fn size() -> impl Strategy<Value = DataSize> {
    prop_oneof![any::<u64>(), 0..3000_u64].prop_map(DataSize::from_bytes)
}

fn span() -> impl Strategy<Value = TimeDelta> {
    prop_oneof![any::<i64>(), -1_000_000_000..5_000_000_000_i64].prop_map(TimeDelta::from_nanos)
}

/// Mostly a little later, now and then a jump to anywhere within a year.
fn step() -> impl Strategy<Value = TimeDelta> {
    const YEAR: i64 = 31_536_000_000_000_000;
    prop_oneof![
        20 => 0..300_000_000_i64,
        1 => -YEAR..YEAR,
    ]
    .prop_map(TimeDelta::from_nanos)
}

fn limits() -> impl Strategy<Value = RateLimits> {
    prop::array::uniform3(1..20_000_000_u64).prop_map(|mut bounds| {
        bounds.sort_unstable();
        let [min, start, max] = bounds.map(DataRate::from_bps);
        RateLimits::new(min, start, max).unwrap()
    })
}

fn config() -> impl Strategy<Value = Config> {
    let bound = prop_oneof![
        Just(CongestionBound::At(TimeDelta::from_millis(500))),
        Just(CongestionBound::Wire),
        Just(CongestionBound::Unbounded)
    ];
    let pacing =
        prop_oneof![Just(NadaPacing::Shaped), Just(NadaPacing::Factor(2.5)), Just(NadaPacing::Unpaced)];
    let average = prop_oneof![Just(LossAverage::Closed), Just(LossAverage::WithOpen)];
    (bound, pacing, average).prop_map(|(congestion_bound, pacing, loss_average)| Config {
        congestion_bound,
        loss_average,
        pacing,
        ..Config::default()
    })
}

#[derive(Clone, Debug)]
enum Call {
    Sent(DataSize),
    Report(NadaReport, Option<TimeDelta>),
    Ceiling(DataRate),
    Timeout,
    Event(PathEvent),
    Adopt(DataRate),
}

fn call() -> impl Strategy<Value = Call> {
    let report = (any::<bool>(), span(), rate()).prop_map(|(ramp_up, congestion, receive_rate)| NadaReport {
        ramp_up,
        congestion,
        receive_rate,
    });
    let event = prop_oneof![
        limits().prop_map(PathEvent::Limits),
        Just(PathEvent::Paused),
        Just(PathEvent::Resumed),
        Just(PathEvent::RouteChanged)
    ];
    prop_oneof![
        4 => size().prop_map(Call::Sent),
        4 => (report, prop::option::of(span())).prop_map(|(report, rtt)| Call::Report(report, rtt)),
        1 => rate().prop_map(Call::Ceiling),
        3 => Just(Call::Timeout),
        1 => event.prop_map(Call::Event),
        1 => rate().prop_map(Call::Adopt),
    ]
}

/// A sender that lives through calls, and what must hold after each of them.
struct Life {
    sender: Nada,
    limits: RateLimits,
    now: SendTime,
}

impl Life {
    fn apply(&mut self, call: &Call, state: &SendState) {
        let now = self.now;
        match call {
            Call::Sent(size) => {
                let packet = SentPacket { id: 0, at: now, size: *size, padding: false };
                self.sender.on_sent(&packet, state);
            }
            Call::Report(report, rtt) => {
                let feedback = Feedback::Law { report: LawReport::Nada(*report), rtt: *rtt };
                assert!(self.sender.on_feedback(now, &feedback, state).is_some());
            }
            Call::Ceiling(rate) => {
                assert!(self.sender.on_feedback(now, &Feedback::Ceiling(*rate), state).is_none());
            }
            Call::Timeout => {
                self.sender.on_timeout(now, state);
                assert!(self.sender.next_timeout().is_none_or(|next| next > now));
            }
            Call::Event(event) => {
                if let PathEvent::Limits(limits) = event {
                    self.limits = *limits;
                }
                self.sender.on_event(now, *event);
            }
            Call::Adopt(rate) => self.sender.adopt(now, Share { rate: *rate }),
        }
        self.check();
    }

    fn check(&self) {
        let (target, limits) = (self.sender.target(), self.limits);
        for rate in [target.media_rate, target.sending_rate] {
            assert!(limits.min() <= rate && rate <= limits.max(), "{target:?} outside {limits:?}");
        }
        assert!(target.media_rate <= target.sending_rate);
        let mut signals = [0.0; 4];
        self.sender.read_signals(&mut signals);
        let reference = signals[3];
        assert_eq!(reference, limits.clamp_bps(reference));
    }
}

proptest! {
    #[test]
    fn the_target_stays_within_the_limits_whatever_comes(
        config in config(),
        limits in limits(),
        calls in prop::collection::vec((step(), call(), size(), any::<bool>()), 0..200),
    ) {
        let mut life = Life { sender: Nada::new(config, limits).unwrap(), limits, now: SendTime::ZERO };
        life.check();
        for (step, call, queued, application_limited) in calls {
            life.now += step;
            life.apply(&call, &SendState { in_flight: queued, queued, application_limited });
        }
    }

    #[test]
    fn whatever_came_before_the_rate_recovers_from_five_seconds_of_silence(
        config in config(),
        calls in prop::collection::vec((step(), call()), 0..100),
    ) {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap();
        let state = SendState::default();
        let mut life = Life { sender: Nada::new(config, limits).unwrap(), limits, now: SendTime::ZERO };
        for (step, call) in calls {
            life.now += step;
            life.apply(&call, &state);
        }
        life.apply(&Call::Event(PathEvent::Resumed), &state);
        life.apply(&Call::Event(PathEvent::Limits(limits)), &state);
        let before = life.sender.target().sending_rate;
        let silent_until = life.now + TimeDelta::from_secs(5);
        life.apply(&Call::Sent(DataSize::from_bytes(1200)), &state);
        while let Some(due) = life.sender.next_timeout().filter(|&due| due <= silent_until) {
            life.now = due;
            life.apply(&Call::Timeout, &state);
        }
        // Halved at 1, 2, 3, 4 and 5 s: a 32nd is left, or the minimum.
        prop_assert!(life.sender.target().sending_rate <= before.scale(1.0 / 30.0).max(kbps(50)));
        for _ in 0..40 {
            life.now += TimeDelta::from_millis(100);
            let receive_rate = life.sender.target().sending_rate;
            let report = NadaReport { ramp_up: true, congestion: TimeDelta::ZERO, receive_rate };
            life.apply(&Call::Report(report, Some(TimeDelta::from_millis(80))), &state);
        }
        // (7/6)^40 = 476 times 50 kbit/s is above the maximum.
        prop_assert_eq!(life.sender.target().sending_rate, kbps(2500));
    }

    #[test]
    fn the_receiver_answers_sensibly_to_any_arrivals(
        config in config(),
        packets in prop::collection::vec(
            (step(), step(), prop_oneof![9 => 0..3_u64, 1 => any::<u64>()], size(), any::<bool>()),
            0..300,
        ),
    ) {
        let mut receiver = AtReceiver::new(NadaObserver::new(config).unwrap());
        let (mut at, mut departure, mut id) = (ArrivalTime::ZERO, SendTime::ZERO, 0_u64);
        for (later, sent_later, ahead, size, marked) in packets {
            at += later;
            departure += sent_later;
            id = id.wrapping_add(ahead);
            let ecn = if marked { Ecn::Ce } else { Ecn::Ect0 };
            let stamp = Stamp::default();
            receiver.on_arrival(&Arrival { id, departure, at, size, ecn, media_time: 0, marker: false, stamp });
            let due = receiver.next_timeout();
            prop_assert!(due.is_some_and(|due| due <= at + config.feedback_interval));
            while let Some(Report::Law { report: LawReport::Nada(report), .. }) = receiver.poll_report(at) {
                prop_assert!(!report.congestion.is_negative());
                prop_assert!(receiver.next_timeout().is_none_or(|next| next > at));
            }
            let mut signals = [0.0; 6];
            receiver.read_signals(&mut signals);
            prop_assert!((0.0..=1.0).contains(&signals[2]) && (0.0..=1.0).contains(&signals[3]));
        }
        receiver.poll_report(ArrivalTime::MAX);
        prop_assert_eq!(receiver.next_timeout(), None);
    }
}
