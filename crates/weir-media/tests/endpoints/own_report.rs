//! A custom controller with a report of its own: an observer that counts losses, and a sender half that uses them.
//! Their report passes through the bytes of the wire.

use weir_cc::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use weir_cc::testing::{TestedController, controller_tests, halves, properties};
use weir_cc::{
    Arrival, ArrivalTime, AtReceiver, ChangeReason, DataRate, Feedback, LimitingFactor, NativeReport,
    Observer, OwnReport, Pacing, RateLimits, SendState, SendTime, Signal, TimeDelta,
};
use weir_wire::rtcp::{self, Message};

use crate::rig::{Call, Event, Halves, PROPAGATION, RECEIVER, SENDER, config, limits};

const NAME: [u8; 4] = *b"LOST";
const INTERVAL: TimeDelta = TimeDelta::from_millis(50);
/// Increase in bit/s for each report: 80 kbit/s in a second.
const STEP: f64 = 4000.0;
const CUT: f64 = 0.7;

/// Content of the report: packets received and lost since the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    received: u16,
    lost: u16,
}

impl Counted {
    fn report(self, name: [u8; 4]) -> OwnReport {
        let ([a, b], [c, d]) = (self.received.to_be_bytes(), self.lost.to_be_bytes());
        OwnReport::new(name, &[a, b, c, d]).expect("4 bytes are few enough")
    }

    fn read(report: &OwnReport) -> Option<Self> {
        let &[a, b, c, d] = report.bytes_of(NAME)? else { return None };
        Some(Self { received: u16::from_be_bytes([a, b]), lost: u16::from_be_bytes([c, d]) })
    }
}

/// The observer: skipped numbers count as lost.
#[derive(Debug)]
struct Counter {
    name: [u8; 4],
    newest: Option<u64>,
    counted: Counted,
    due: Option<ArrivalTime>,
}

impl Counter {
    fn new(name: [u8; 4]) -> Self {
        Self { name, newest: None, counted: Counted::default(), due: None }
    }
}

impl Observer for Counter {
    fn on_arrival(&mut self, packet: &Arrival) {
        let Counted { received, lost } = &mut self.counted;
        *received = received.saturating_add(1);
        if let Some(newest) = self.newest
            && packet.id > newest
        {
            *lost = lost.saturating_add(u16::try_from(packet.id - newest - 1).unwrap_or(u16::MAX));
        }
        self.newest = self.newest.max(Some(packet.id));
        let due = packet.at + INTERVAL;
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    fn next_report(&self) -> Option<ArrivalTime> {
        self.due
    }

    fn report(&mut self, now: ArrivalTime) -> Option<NativeReport> {
        self.due.take_if(|due| *due <= now)?;
        Some(NativeReport::Own(std::mem::take(&mut self.counted).report(self.name)))
    }

    fn on_route_changed(&mut self) {
        *self = Self::new(self.name);
    }

    fn signals(&self) -> &'static [Signal] {
        &[]
    }
}

/// Additive increase with each report, multiplicative decrease at most once in a round trip.
#[derive(Debug)]
struct LossRule {
    rest_until: Option<SendTime>,
    counted_last: Counted,
}

impl Rule for LossRule {
    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        _: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let Feedback::Native { report: NativeReport::Own(report), rtt } = feedback else {
            return FeedbackOutcome::Ignored;
        };
        let Some(counted) = Counted::read(report) else { return FeedbackOutcome::Ignored };
        self.counted_last = counted;
        frame.end_silence();
        frame.set_rtt(*rtt);
        if counted.lost > 0 && self.rest_until.is_none_or(|until| until <= now) {
            self.rest_until = Some(now + rtt.unwrap_or(INTERVAL));
            return FeedbackOutcome::Rate(Computed {
                rate: frame.rate() * CUT,
                why: ChangeReason::Loss,
                limited_by: Some(LimitingFactor::Loss),
            });
        }
        FeedbackOutcome::Rate(Computed {
            rate: frame.rate() + STEP,
            why: ChangeReason::Growth,
            limited_by: None,
        })
    }

    fn forget_path(&mut self, _: SendTime, _: &mut FlowContext) {
        self.rest_until = None;
    }

    // The frame's rate is its only one.
    fn scale(&mut self, _: SendTime, _: f64, _: &FlowContext) {}

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        SendRates::at(frame.data_rate(), Pacing::Factor(1.0))
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "received", unit: "", meaning: "packets that the last report tells to have come" },
            Signal { name: "lost", unit: "", meaning: "packets that it tells not to have come" },
        ];
        SIGNALS
    }

    fn read_signals(&self, _: &FlowContext, out: &mut [f64]) {
        out[0] = f64::from(self.counted_last.received);
        out[1] = f64::from(self.counted_last.lost);
    }
}

fn sender(limits: RateLimits) -> RateController<LossRule> {
    let frame = FlowContext::new(limits, Some(TimeDelta::from_secs(1)));
    RateController::new_by(LossRule { rest_until: None, counted_last: Counted::default() }, frame)
}

controller_tests!(
    loss_rule,
    TestedController::new("loss controller", |limits| halves(
        sender(limits),
        AtReceiver::new(Counter::new(NAME))
    ))
    .hearing(|_| Counted { received: 10, lost: 0 }.report(NAME))
    // (2500 − 50)/4 = 613 of them.
    .recovering_within(620)
    .cutting_to(CUT)
);

#[test]
#[should_panic(expected = "left == right")]
fn a_line_that_contradicts_the_report_on_a_good_path_is_caught() {
    let build = |limits| halves(sender(limits), AtReceiver::new(Counter::new(NAME)));
    let controller = TestedController::new("loss controller", build).recovering_within(620).cutting_to(CUT);
    properties::a_sender_survives_five_seconds_of_silence_whatever_came_before(&controller);
}

fn call(reports_as: [u8; 4], capacity: DataRate) -> Call {
    let halves: Halves = halves(sender(limits()), AtReceiver::new(Counter::new(reports_as)));
    Call::new(halves, &config(), capacity)
}

#[test]
fn the_sender_gets_the_counts_of_the_observer() {
    let mut call = call(NAME, DataRate::from_mbps(100));
    call.media_loss = 20;
    call.run(TimeDelta::from_secs(20));
    let receiver_rtcp = call.events.iter().filter_map(|(_, event)| match event {
        Event::ReceiverRtcp(bytes, _) => Some(bytes),
        _ => None,
    });
    let (mut received, mut lost, mut reports) = (0, 0, 0);
    for (bytes, outcome) in receiver_rtcp.zip(&call.outcomes) {
        let Message::Own(report) = rtcp::messages(bytes).next().unwrap().unwrap() else { continue };
        // Header, two SSRCs, name, echo and 4 bytes of data: the size on the return path.
        assert_eq!(bytes.len(), 28);
        assert_eq!((report.ssrc, report.source, report.name), (RECEIVER, SENDER, NAME));
        let &[a, b, c, d] = report.data else { panic!("{report:?}") };
        let counted = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
        assert_eq!(outcome.signals, counted.map(f64::from));
        let error = outcome.rtt.expect("an echo") - PROPAGATION * 2;
        assert!(error.abs() < TimeDelta::from_millis(1), "off by {error:?}");
        received += u64::from(counted[0]);
        lost += u64::from(counted[1]);
        reports += 1;
    }
    assert!(reports > 250, "{reports} reports");
    // A twentieth of the packets, except for the last ones, which are not reported yet.
    assert_eq!(lost, (received + lost) / 20);
    assert!(call.packets - received - lost < 20, "{} of {}", received + lost, call.packets);
}

#[test]
fn the_sender_obeys_and_uses_its_link() {
    let mut call = call(NAME, DataRate::from_mbps(1));
    call.run(TimeDelta::from_secs(20));
    let mut rates = Vec::new();
    for _ in 0..600 {
        call.run(TimeDelta::from_millis(100));
        rates.push(call.target_kbps());
    }
    let mean = rates.iter().sum::<f64>() / 600.0;
    let lowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = rates.iter().copied().fold(0.0, f64::max);
    assert!((800.0..1100.0).contains(&mean), "{mean} kbit/s");
    assert!(lowest > 500.0 && highest < 1500.0, "{lowest} to {highest} kbit/s");
    assert!(highest / lowest > 1.0 / CUT - 0.01, "it was never cut: {lowest} to {highest} kbit/s");
}

#[test]
fn a_report_of_another_name_is_passed_over() {
    let mut call = call(*b"OTHR", DataRate::from_mbps(1));
    call.run(TimeDelta::from_secs(10));
    let receiver_rtcp = call.events.iter().filter(|(_, event)| match event {
        Event::ReceiverRtcp(bytes, _) => rtcp::messages(bytes)
            .any(|message| matches!(message, Ok(Message::Own(report)) if report.name == *b"OTHR")),
        _ => false,
    });
    assert!(receiver_rtcp.count() > 100);
    assert!(call.outcomes.iter().all(|outcome| outcome.signals == [0.0, 0.0]));
    // Without feedback the rate falls to the least.
    assert_eq!(call.target_kbps(), 50.0);
}
