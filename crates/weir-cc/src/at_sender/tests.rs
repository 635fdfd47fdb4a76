//! The same arrivals seen from both ends.

mod lost_reports;
mod untimed;

use proptest::prelude::*;
use weir_units::{DataRate, DataSize, TimeDelta};

use super::*;
use crate::at_receiver::AtReceiver;
use crate::controller::{LimitingFactor, Pacing, RateLimits, Receiver};
use crate::dccc::{self, DcccObserver};
use crate::decision::ChangeReason;
use crate::gcc;
use crate::history::SendHistory;
use crate::nada::{self, NadaObserver};
use crate::packet_feedback::PacketFeedback;
use crate::report::{NadaReport, NativeReport, Report};
use crate::tfrc::{self, TfrcObserver};

/// Difference between the clocks of the hosts.
const OFFSET: TimeDelta = TimeDelta::from_secs(7200);

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// Sender time of `ms` milliseconds.
fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// A controller that records its input; its rate is the number of reports in kbit/s.
#[derive(Debug)]
struct Clerk {
    reports: Vec<NativeReport>,
    rtts: Vec<Option<TimeDelta>>,
    others: usize,
    stamp: Stamp,
}

impl Clerk {
    const SIGNALS: &[Signal] = &[
        Signal { name: "reports", unit: "", meaning: "reports so far" },
        Signal { name: "both", unit: "", meaning: "what controller and observer call the same" },
    ];

    fn new() -> Self {
        Self { reports: Vec::new(), rtts: Vec::new(), others: 0, stamp: Stamp::default() }
    }

    fn rate(&self) -> DataRate {
        kbps(self.reports.len() as u64)
    }
}

impl Controller for Clerk {
    fn on_feedback(&mut self, _: SendTime, feedback: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        let base = self.rate();
        match *feedback {
            Feedback::Native { report, rtt } => {
                self.reports.push(report);
                self.rtts.push(rtt);
            }
            _ => self.others += 1,
        }
        Some(Decision { rate: self.rate(), base, why: ChangeReason::Delay, rtt: feedback.rtt() })
    }

    fn on_timeout(&mut self, _: SendTime, _: &SendState) -> Option<Decision> {
        Some(Decision { rate: kbps(7), base: kbps(8), why: ChangeReason::Timeout, rtt: None })
    }

    fn on_event(&mut self, _: SendTime, _: PathEvent) -> Option<Decision> {
        Some(Decision { rate: kbps(5), base: kbps(6), why: ChangeReason::Route, rtt: None })
    }

    fn next_timeout(&self) -> Option<SendTime> {
        Some(ms(4321))
    }

    fn target(&self) -> Target {
        Target::at(self.rate(), Pacing::Unpaced, LimitingFactor::Delay)
    }

    fn stamp(&self) -> Option<Stamp> {
        Some(self.stamp)
    }

    fn poll_probe(&mut self) -> Option<Probe> {
        let id = core::num::NonZeroU16::MIN;
        Some(Probe { id, rate: kbps(1), packets: 1, size: DataSize::ZERO })
    }

    fn apply_allocation(&mut self, _: SendTime, share: AllocatedRate) -> DataRate {
        self.stamp.rate = share.rate;
        share.rate
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        out.copy_from_slice(&[self.reports.len() as f64, 1.0]);
    }
}

/// An observer whose reports depend on every field of every arrival and on their order.
#[derive(Debug)]
struct NetworkObserver {
    digest: u64,
    arrivals: u64,
    interval: TimeDelta,
    due: Option<ArrivalTime>,
}

impl NetworkObserver {
    const SIGNALS: &[Signal] = &[
        Signal { name: "digest", unit: "", meaning: "of all arrivals" },
        Signal { name: "both", unit: "", meaning: "what controller and observer call the same" },
        Signal { name: "arrivals", unit: "", meaning: "so far" },
    ];

    fn new(interval: TimeDelta) -> Self {
        Self { digest: 0, arrivals: 0, interval, due: None }
    }

    fn take(&mut self, value: u64) {
        self.digest = (self.digest ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(7);
    }
}

impl Observer for NetworkObserver {
    fn on_arrival(&mut self, packet: &Arrival) {
        self.arrivals += 1;
        for value in
            [packet.id, packet.size.bytes(), u64::from(packet.ecn == Ecn::Ce), packet.stamp.rate.bps()]
        {
            self.take(value);
        }
        self.take(packet.at.nanos() as u64);
        self.take(packet.departure.nanos() as u64);
        self.due.get_or_insert(packet.at + self.interval);
    }

    fn next_report(&self) -> Option<ArrivalTime> {
        self.due
    }

    fn report(&mut self, now: ArrivalTime) -> Option<NativeReport> {
        let due = self.due.filter(|&due| due <= now)?;
        self.due = Some((due + self.interval).max(now + TimeDelta::from_nanos(1)));
        self.take(now.nanos() as u64);
        let congestion = TimeDelta::from_nanos(self.digest as i64);
        Some(NativeReport::Nada(NadaReport { ramp_up: false, congestion, receive_rate: kbps(self.arrivals) }))
    }

    fn on_route_changed(&mut self) {
        *self = Self::new(self.interval);
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        out.copy_from_slice(&[self.digest as f64, 2.0, self.arrivals as f64]);
    }
}

const SHOWN: [Signal; 4] = join_signals(Clerk::SIGNALS, NetworkObserver::SIGNALS);

fn mount<O: Observer>(observer: O) -> AtSender<O, Clerk> {
    AtSender::new(observer, Clerk::new(), &SHOWN)
}

/// A packet of an open-loop path: the gap before it, its one-way delay and its size, whether it is marked, and
/// whether it arrives.
#[derive(Clone, Copy, Debug)]
struct Trip {
    gap: i64,
    delay: i64,
    size: u64,
    marked: bool,
    lost: bool,
}

fn trips() -> impl Strategy<Value = Vec<Trip>> {
    let gap = prop_oneof![20 => 0..15_000_000_i64, 1 => 0..2_000_000_000_i64];
    // Mostly 40 ms and a little, at times far more: packets overtake each other.
    let delay = prop_oneof![9 => 40_000_000..60_000_000_i64, 1 => 40_000_000..300_000_000_i64];
    let trip = (gap, delay, 1..1400_u64, prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    let trip = trip.prop_map(|(gap, delay, size, marked, lost)| Trip { gap, delay, size, marked, lost });
    prop::collection::vec(trip, 1..400)
}

/// The arrivals of `trips` in order of arrival, and the packets sent, as an endpoint would have them with `stamp` on
/// each.
fn arrivals(trips: &[Trip], stamp: impl Fn(u64) -> Stamp) -> Vec<Arrival> {
    let mut departure = SendTime::ZERO;
    let mut arrivals = Vec::new();
    for (trip, id) in trips.iter().zip(0..) {
        departure += TimeDelta::from_nanos(trip.gap);
        if !trip.lost {
            let at = ArrivalTime::from_nanos(departure.nanos() + trip.delay) + OFFSET;
            let ecn = if trip.marked { Ecn::Ce } else { Ecn::Ect0 };
            let plain = Arrival::new(id, departure, at, DataSize::from_bytes(trip.size));
            arrivals.push(Arrival { ecn, stamp: stamp(id), ..plain });
        }
    }
    arrivals.sort_by_key(|packet| (packet.at, packet.id));
    arrivals
}

/// Reports of `receiver` on `arrivals` until `end`, each made when it is due: after all arrivals before that time
/// and at it.
fn polled(
    receiver: &mut dyn Receiver,
    arrivals: &[Arrival],
    end: ArrivalTime,
    mut deliver: impl FnMut(ArrivalTime, &Report<'_>),
) {
    let mut next = 0;
    loop {
        let arrival = arrivals.get(next).map(|packet| packet.at);
        let due = receiver.next_timeout().filter(|&due| due <= end);
        match (arrival, due) {
            (Some(at), due) if due.is_none_or(|due| at <= due) => {
                receiver.on_arrival(&arrivals[next]);
                next += 1;
            }
            (_, Some(due)) => {
                while let Some(report) = receiver.poll_report(due) {
                    deliver(due, &report);
                }
            }
            (_, None) => break,
        }
    }
}

/// The reports of an observer at the receiver and of the same one at the sender, fed by a report each `interval`.
fn both<O: Observer>(
    build: impl Fn() -> O,
    trips: &[Trip],
    interval: TimeDelta,
) -> (Vec<NativeReport>, Vec<NativeReport>) {
    // The controller changes its stamp with every fifth packet.
    let stamp = |id: u64| Stamp { rate: kbps(100 + id / 5), ..Stamp::default() };
    let arrivals = arrivals(trips, stamp);
    let mut sender = mount(build());
    let mut history = SendHistory::new(TimeDelta::from_secs(100_000));
    history.set_ecn(Ecn::Ect0);
    let mut departure = SendTime::ZERO;
    for (trip, id) in trips.iter().zip(0..) {
        departure += TimeDelta::from_nanos(trip.gap);
        sender.apply_allocation(departure, AllocatedRate { rate: stamp(id).rate });
        let sent = history.on_sent(
            departure,
            DataSize::from_bytes(12),
            DataSize::from_bytes(trip.size),
            false,
            None,
        );
        sender.on_sent(&sent, &SendState::default());
    }
    // Long after all has left, when any arrival can be.
    let now = departure + TimeDelta::from_secs(40_000);
    let mut end = ArrivalTime::ZERO;
    polled(&mut PacketFeedback::new(interval), &arrivals, ArrivalTime::MAX, |made, report| {
        end = made;
        let feedback = history.join(now, report).expect("it is believed");
        sender.on_feedback(now, &feedback, &SendState::default());
    });
    let mut reports = Vec::new();
    polled(&mut AtReceiver::new(build()), &arrivals, end, |_, report| {
        let Report::Native { report, .. } = *report else { panic!("{report:?}") };
        reports.push(report);
    });
    (reports, sender.controller.reports)
}

proptest! {
    // 128 stamps, one for each five packets, reach back 640 packets: more than there are.
    #[test]
    fn any_observer_sees_the_same_at_either_end(trips in trips(), every in 40..300_i64, interval in 1..200_i64) {
        let build = || NetworkObserver::new(TimeDelta::from_millis(every));
        let (receiver, sender) = both(build, &trips, TimeDelta::from_millis(interval));
        prop_assert_eq!(receiver, sender);
    }

    #[test]
    fn nada_reports_the_same_at_either_end(trips in trips(), interval in 1..200_i64) {
        let build = || NadaObserver::new(nada::Config::default()).unwrap();
        let (receiver, sender) = both(build, &trips, TimeDelta::from_millis(interval));
        prop_assert_eq!(receiver, sender);
    }

    #[test]
    fn dccc_reports_the_same_at_either_end(trips in trips(), interval in 1..200_i64) {
        let build = || DcccObserver::new(dccc::Config::default()).unwrap();
        let (receiver, sender) = both(build, &trips, TimeDelta::from_millis(interval));
        prop_assert_eq!(receiver, sender);
    }
}

fn sent(id: u64, at: i64) -> SentPacket {
    let size = DataSize::from_bytes(1212);
    SentPacket { id, at: ms(at), size, payload: DataSize::from_bytes(1200), padding: false, probe: None }
}

/// The result of a packet that left at `sent_at` and arrived at `at`, in ms.
fn came(id: u64, sent_at: i64, at: i64) -> PacketResult {
    PacketResult {
        sent: sent(id, sent_at),
        fate: PacketFate::Arrived { at: Some(ArrivalTime::from_millis(at)), ecn: Ecn::NotEct },
    }
}

/// Passes `results` to `sender` in a report made `at`.
fn deliver<O: Observer>(
    sender: &mut AtSender<O, Clerk>,
    results: &[PacketResult],
    at: Option<i64>,
) -> Option<Decision> {
    let rtt = Some(TimeDelta::from_millis(80));
    let at = at.map(ArrivalTime::from_millis);
    let feedback = Feedback::Packets { results, at, rtt, missed_reports: 0 };
    sender.on_feedback(ms(0), &feedback, &SendState::default())
}

/// A sender half with a network observer that reports every 100 ms, after ten packets.
fn witness_each_100_ms() -> AtSender<NetworkObserver, Clerk> {
    let mut sender = mount(NetworkObserver::new(TimeDelta::from_millis(100)));
    (0..10).for_each(|id| sender.on_sent(&sent(id, 0), &SendState::default()));
    sender
}

#[test]
fn reports_are_made_up_to_the_time_of_the_feedback_and_decide_once() {
    let mut sender = witness_each_100_ms();
    assert_eq!(deliver(&mut sender, &[came(0, 0, 50)], Some(149)), None, "due at 150");
    // Due at 150 and 250 ms: one decision, from before the first to after the second.
    let decision = deliver(&mut sender, &[came(1, 0, 200)], Some(250)).unwrap();
    assert_eq!((decision.base, decision.rate), (kbps(0), kbps(2)));
    assert_eq!(decision.rtt, Some(TimeDelta::from_millis(80)));
    assert_eq!(sender.controller.rtts, [decision.rtt; 2]);
    assert_eq!(deliver(&mut sender, &[], Some(349)), None);
    assert!(deliver(&mut sender, &[], Some(350)).is_some(), "without a report the time of the sender counts");
}

#[test]
fn without_a_time_in_the_feedback_the_newest_arrival_is_its_time() {
    let mut sender = witness_each_100_ms();
    assert_eq!(deliver(&mut sender, &[came(0, 0, 50), came(1, 0, 149)], None), None);
    assert_eq!(deliver(&mut sender, &[], None), None);
    assert!(deliver(&mut sender, &[came(2, 0, 150)], None).is_some());
    let Some(&NativeReport::Nada(report)) = sender.controller.reports.first() else { panic!("it was due") };
    assert_eq!(report.receive_rate, kbps(3), "a packet that comes when the report is due is in it");
}

#[test]
fn a_packet_that_was_not_sent_here_did_not_arrive() {
    let mut sender = witness_each_100_ms();
    deliver(&mut sender, &[came(10, 0, 50)], Some(1000));
    assert_eq!(sender.observer.arrivals, 0);
    deliver(&mut sender, &[came(9, 0, 50)], Some(60));
    assert_eq!(sender.observer.arrivals, 1);
}

#[test]
fn a_packet_that_is_recovered_has_arrived_and_a_missing_one_has_not() {
    let mut sender = witness_each_100_ms();
    let recovered = PacketFate::Recovered { at: Some(ArrivalTime::from_millis(70)), ecn: Ecn::Ce };
    deliver(
        &mut sender,
        &[
            PacketResult { sent: sent(3, 0), fate: recovered },
            PacketResult { sent: sent(4, 0), fate: PacketFate::Missing },
        ],
        None,
    );
    assert_eq!(sender.observer.arrivals, 1);
}

#[test]
fn a_clock_that_leaps_a_year_does_not_owe_all_its_reports() {
    let mut sender = witness_each_100_ms();
    deliver(&mut sender, &[came(0, 0, 50), came(1, 0, 31_536_000_000)], None);
    assert_eq!(sender.controller.reports.len(), MAX_REPORTS);
    assert!(sender.observer.due.is_some_and(|due| due > ArrivalTime::from_millis(31_536_000_000)));
}

#[test]
fn the_controllers_own_report_is_nothing_new_and_other_feedback_goes_on() {
    let mut sender = witness_each_100_ms();
    let report =
        NativeReport::Nada(NadaReport { ramp_up: true, congestion: TimeDelta::ZERO, receive_rate: kbps(1) });
    let native = Feedback::Native { report, rtt: None };
    assert_eq!(sender.on_feedback(ms(0), &native, &SendState::default()), None);
    assert!(sender.on_feedback(ms(0), &Feedback::Ceiling(kbps(3)), &SendState::default()).is_some());
    assert_eq!((sender.controller.reports.len(), sender.controller.others), (0, 1));
}

#[test]
fn everything_else_is_the_controllers() {
    let mut sender = witness_each_100_ms();
    let state = SendState::default();
    assert_eq!(sender.on_timeout(ms(0), &state).map(|d| d.rate), Some(kbps(7)));
    assert_eq!(sender.on_event(ms(0), PathEvent::Paused).map(|d| d.rate), Some(kbps(5)));
    assert_eq!(sender.next_timeout(), Some(ms(4321)));
    assert_eq!(sender.poll_probe().map(|probe| probe.rate), Some(kbps(1)));
    assert_eq!(sender.target(), sender.controller.target());
    assert_eq!(sender.stamp(), None, "the stamp does not travel");
}

#[test]
fn signals_are_the_controllers_and_then_those_the_controller_does_not_name() {
    let mut sender = witness_each_100_ms();
    deliver(&mut sender, &[came(0, 0, 50), came(1, 0, 60)], Some(150));
    let names: Vec<&str> = sender.signals().iter().map(|signal| signal.name).collect();
    assert_eq!(names, ["reports", "both", "digest", "arrivals"]);
    let mut values = [0.0; 4];
    sender.read_signals(&mut values);
    assert_eq!(values, [1.0, 1.0, sender.observer.digest as f64, 2.0]);
}

#[test]
fn a_signal_of_no_controller_is_unknown() {
    const WRONG: [Signal; 3] =
        [Clerk::SIGNALS[0], Clerk::SIGNALS[1], Signal { name: "digests", unit: "", meaning: "" }];
    let sender = AtSender::new(NetworkObserver::new(TimeDelta::from_millis(100)), Clerk::new(), &WRONG);
    let mut values = [0.0; 3];
    sender.read_signals(&mut values);
    assert!(values[2].is_nan());
}

#[test]
fn stamps_are_remembered_as_long_as_there_is_room() {
    let mut stamps = Stamps::new();
    let stamp = |n| Stamp { rate: kbps(n), ..Stamp::default() };
    for id in 0..3 * MAX_STAMPS as u64 {
        stamps.put(id, stamp(id / 2));
    }
    // A change with every other packet: the last 128 changes began with packets 128, 130, … 382.
    assert_eq!(stamps.0.len(), MAX_STAMPS);
    assert_eq!((stamps.of(383), stamps.of(128), stamps.of(129)), (stamp(191), stamp(64), stamp(64)));
    assert_eq!(stamps.of(127), Stamp::default());
    assert_eq!(stamps.of(100_000), stamp(191));
}

#[test]
fn the_observer_begins_anew_on_another_route() {
    let mut sender = witness_each_100_ms();
    deliver(&mut sender, &[came(0, 0, 50), came(1, 0, 60)], None);
    sender.on_event(ms(70), PathEvent::RouteChanged);
    sender.on_sent(&sent(10, 80), &SendState::default());
    deliver(&mut sender, &[came(10, 80, 120)], None);
    assert_eq!(sender.observer.arrivals, 1);
}

#[test]
fn every_receiver_half_that_learns_begins_anew_on_another_route() {
    fn check(mut receiver: impl Receiver) {
        let stamp = Stamp { rtt: TimeDelta::from_millis(50), rate: kbps(900) };
        let known = |receiver: &dyn Receiver| {
            let mut values = [f64::NAN; MAX_SIGNALS];
            receiver.read_signals(&mut values[..receiver.signals().len()]);
            values.map(f64::to_bits)
        };
        let unknown = known(&receiver);
        for id in (0..60).filter(|id| id % 9 != 5) {
            let at = ArrivalTime::from_millis(40 + 11 * id as i64);
            let packet = arrival(&sent(id, 10 * id as i64), at, Ecn::NotEct, stamp);
            receiver.on_arrival(&Arrival { media_time: 900 * id, ..packet });
            while receiver.poll_report(at).is_some() {}
        }
        assert!(receiver.next_timeout().is_some() && known(&receiver) != unknown);
        receiver.on_route_changed();
        assert!(receiver.next_timeout().is_none() && known(&receiver) == unknown, "{receiver:?}");
    }
    check(AtReceiver::new(NadaObserver::new(nada::Config::default()).unwrap()));
    check(AtReceiver::new(nada::v2016::Nada2016Observer::new(nada::v2016::Config::default()).unwrap()));
    check(AtReceiver::new(nada::zhu_03::Zhu03Observer::new(nada::zhu_03::Config::default()).unwrap()));
    check(AtReceiver::new(DcccObserver::new(dccc::Config::default()).unwrap()));
    check(AtReceiver::new(TfrcObserver::new(tfrc::Config::default()).unwrap()));
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap();
    check(gcc::remb::GccReceiver::new(gcc::remb::Config::default(), limits).unwrap());
    check(gcc::simplified::SimplifiedGccReceiver::new(gcc::simplified::Config::default(), limits).unwrap());
}
