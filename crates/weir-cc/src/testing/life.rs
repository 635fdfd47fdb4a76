//! A sender half with arbitrary calls and checks after each.

use alloc::boxed::Box;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::calls::{Call, TimedCall};
use super::signals::{check_evidence, read_signals};
use super::tested_controller::{Ease, ROUNDS_TO_RECOVER};
use crate::controller::{Controller, Pacing, PathEvent, RateLimits, Target};
use crate::decision::{AllocatedRate, ChangeReason, Decision};
use crate::packet::{Ecn, PacketFate, PacketResult, SendState, SentPacket};
use crate::report::{
    DcccReport, Feedback, NadaDelayReport, NadaReport, NativeReport, ReceptionReport, TfrcReport,
};
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

/// Checks a target of a controller with `limits`. Rates are within them, padding is within its rate, the share of
/// dropped frames is below one, and a pacing factor is finite and above zero.
///
/// # Panics
/// If one of these does not hold.
pub fn check_target(limits: &RateLimits, target: &Target) {
    for rate in [target.media_rate, target.sending_rate] {
        assert!(limits.clamp(rate) == rate, "{rate:?} outside {limits:?}");
    }
    assert!(target.padding <= target.sending_rate, "{target:?}");
    assert!((0.0..1.0).contains(&target.frame_drop), "{target:?}");
    if let Pacing::Factor(factor) = target.pacing {
        assert!(factor.is_finite() && factor > 0.0, "{target:?}");
    }
}

/// A sender half that receives calls, and the checks after each of them.
#[derive(Debug)]
pub struct CheckedSender {
    /// The sender half.
    pub sender: Box<dyn Controller>,
    /// The last limits that it was given.
    pub limits: RateLimits,
    now: SendTime,
    sent: u64,
}

impl CheckedSender {
    /// Starts a sender half and checks it at once.
    ///
    /// # Panics
    /// If its rates are outside `limits`, a signal is infinite, or the evidence of a decision is no signal.
    pub fn new(sender: Box<dyn Controller>, limits: RateLimits) -> Self {
        let life = Self { sender, limits, now: SendTime::ZERO, sent: 0 };
        life.check();
        life
    }

    /// Advances the time, makes a call, and checks the invariants of every sender. Returns the decision.
    ///
    /// # Panics
    /// If a rate is outside the limits, a timeout that came early changes something, one that has come does not ask for a
    /// later one, or a signal is infinite.
    pub fn call(&mut self, (step, call, state): &TimedCall) -> Option<Decision> {
        self.now += *step;
        let decision = self.apply(call, state);
        if let Some(decision) = decision {
            self.check_rate(decision.rate);
        }
        self.check();
        decision
    }

    /// Makes `call` at the present time.
    fn apply(&mut self, call: &Call, state: &SendState) -> Option<Decision> {
        match *call {
            Call::Sent(size, padding) => {
                self.sent += 1;
                let (id, at) = (self.sent, self.now);
                let sent = SentPacket { id, at, size, payload: size, padding, probe: None };
                self.sender.on_sent(&sent, state);
                None
            }
            Call::Packets(ref results, at, rtt, missed_reports) => {
                self.feedback(&Feedback::Packets { results, at, rtt, missed_reports }, state)
            }
            Call::Ceiling(rate) => self.feedback(&Feedback::Ceiling(rate), state),
            Call::Reception(report, rtt) => self.feedback(&Feedback::Reception { report, rtt }, state),
            Call::Native(report, rtt) => self.feedback(&Feedback::Native { report, rtt }, state),
            Call::Timeout => self.timeout(state),
            Call::Event(event) => {
                if let PathEvent::Limits(limits) = event {
                    self.limits = limits;
                }
                self.sender.on_event(self.now, event)
            }
            Call::Allocation(rate) => {
                self.sender.apply_allocation(self.now, AllocatedRate { rate });
                None
            }
        }
    }

    fn feedback(&mut self, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        self.sender.on_feedback(self.now, feedback, state)
    }

    /// Checks that an early timeout changes nothing, and that a due one asks for a later one, so that the same one
    /// again is early.
    fn timeout(&mut self, state: &SendState) -> Option<Decision> {
        let decision =
            if self.is_due() { self.sender.on_timeout(self.now, state) } else { self.early_timeout(state) };
        assert!(!self.is_due(), "{:?} after a timeout at {:?}", self.sender.next_timeout(), self.now);
        self.early_timeout(state);
        decision
    }

    /// Checks that a timeout before its time changes nothing.
    fn early_timeout(&mut self, state: &SendState) -> Option<Decision> {
        let before = (self.sender.target(), self.sender.next_timeout());
        let decision = self.sender.on_timeout(self.now, state);
        assert_eq!((self.sender.target(), self.sender.next_timeout(), decision), (before.0, before.1, None));
        decision
    }

    /// Whether a timeout is due now.
    fn is_due(&self) -> bool {
        self.sender.next_timeout().is_some_and(|due| due <= self.now)
    }

    /// Checks the target, the signals and the evidence of each reason.
    fn check(&self) {
        check_target(&self.limits, &self.sender.target());
        read_signals(self.sender.signals(), |out| self.sender.read_signals(out));
        for why in ChangeReason::ALL {
            check_evidence(self.sender.signals(), &self.sender.evidence(why));
        }
    }

    fn check_rate(&self, rate: DataRate) {
        assert!(self.limits.clamp(rate) == rate, "{rate:?} outside {:?}", self.limits);
    }

    /// Sends packets every 10 ms at the sending rate for `span`, without feedback.
    fn send_without_feedback(&mut self, span: TimeDelta) {
        const STEP: TimeDelta = TimeDelta::from_millis(10);
        for _ in 0..span.nanos() / STEP.nanos() {
            let size = self.sender.target().sending_rate * STEP;
            self.call(&(STEP, Call::Sent(size, false), SendState::default()));
            if self.is_due() {
                self.call(&(TimeDelta::ZERO, Call::Timeout, SendState::default()));
            }
        }
    }

    /// Sends packets for 100 ms, and then feedback of every kind that reports that the path carries them with ease.
    fn send_with_ease(&mut self, native_ease: Option<Ease>) {
        const ROUND: TimeDelta = TimeDelta::from_millis(100);
        let rtt = Some(TimeDelta::from_millis(80));
        let (first, began, rate) = (self.sent + 1, self.now, self.sender.target().sending_rate);
        self.send_without_feedback(ROUND);
        let packets = self.sent + 1 - first;
        let results = (0..packets).map(|n| {
            let after = ROUND * (n as i64 + 1) / packets as i64;
            let size = rate * (ROUND / packets as i64);
            let (id, departure) = (first + n, began + after);
            let at = ArrivalTime::ZERO + TimeDelta::from_secs(3600) + (departure - SendTime::ZERO);
            let sent = SentPacket { id, at: departure, size, payload: size, padding: false, probe: None };
            PacketResult { sent, fate: PacketFate::Arrived { at: Some(at), ecn: Ecn::NotEct } }
        });
        let nada = NadaReport { ramp_up: true, congestion: TimeDelta::ZERO, receive_rate: rate };
        let dccc = self.ease_by_dccc(rate);
        let propagation = TimeDelta::from_millis(40);
        let delay = NadaDelayReport { congestion: propagation, reference: propagation };
        for feedback in [
            Call::Packets(results.collect(), None, rtt, 0),
            Call::Ceiling(self.limits.max()),
            Call::Reception(ReceptionReport::default(), rtt),
            Call::Native(NativeReport::Nada(nada), rtt),
            Call::Native(NativeReport::Dccc(dccc), rtt),
            Call::Native(NativeReport::Tfrc(TfrcReport { loss_event_rate: 0.0, receive_rate: rate }), rtt),
            Call::Native(NativeReport::NadaDelay(delay), rtt),
        ] {
            self.call(&(TimeDelta::ZERO, feedback, SendState::default()));
        }
        if let Some(ease) = native_ease {
            let report = NativeReport::Own(ease(rate));
            self.call(&(TimeDelta::ZERO, Call::Native(report, rtt), SendState::default()));
        }
    }

    /// DCCC's report on packets that took 40 ms and arrived as fast as they were sent, made 40 ms ago.
    fn ease_by_dccc(&self, rate: DataRate) -> DcccReport {
        let (way, packet_size) = (TimeDelta::from_millis(40), DataSize::from_bytes(1200));
        let made = ArrivalTime::from_nanos(self.now.nanos()) - way;
        DcccReport {
            delay: ApparentDelay::between(SendTime::ZERO, ArrivalTime::ZERO + way),
            sending_rate: rate,
            interarrival: packet_size / rate,
            packet_size,
            at: made,
        }
    }
}

/// Checks, after arbitrary calls, that five seconds of silence halve the rate at least, and [`ROUNDS_TO_RECOVER`] of
/// good feedback bring it to the maximum.
///
/// # Panics
/// If one of these does not hold.
pub fn survives_silence(sender: Box<dyn Controller>, limits: RateLimits, calls: &[TimedCall]) {
    recovers_from_silence(sender, limits, calls, ROUNDS_TO_RECOVER);
}

/// The same as [`survives_silence`], with so many rounds to recover.
///
/// # Panics
/// If the rounds are not enough.
pub fn recovers_from_silence(
    sender: Box<dyn Controller>,
    limits: RateLimits,
    calls: &[TimedCall],
    rounds: usize,
) {
    recovers(CheckedSender::new(sender, limits), calls, rounds, None);
}

/// The same as [`recovers_from_silence`], for a controller that also accepts reports by `native_ease`, beside those of every kind.
pub(super) fn recovers(
    mut life: CheckedSender,
    calls: &[TimedCall],
    rounds: usize,
    native_ease: Option<Ease>,
) {
    let limits = life.limits;
    for call in calls {
        life.call(call);
    }
    for event in [PathEvent::Resumed, PathEvent::Limits(limits)] {
        life.call(&(TimeDelta::ZERO, Call::Event(event), SendState::default()));
    }
    let mut before = life.sender.target().sending_rate;
    life.send_without_feedback(TimeDelta::from_secs(1));
    // The last feedback may have an effect after it: libwebrtc's next tick takes over a higher estimate.
    before = before.max(life.sender.target().sending_rate);
    life.send_without_feedback(TimeDelta::from_secs(4));
    let after = life.sender.target().sending_rate;
    assert!(after <= before.scale(0.5).max(limits.min()), "{before:?} → {after:?}");
    for _ in 0..rounds {
        life.send_with_ease(native_ease);
        if life.sender.target().sending_rate == limits.max() {
            break;
        }
    }
    assert_eq!(life.sender.target().sending_rate, limits.max());
}
