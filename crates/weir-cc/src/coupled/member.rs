//! A flow's membership in a coupling, at the host of a rate controller: the messages to the coupler, and the handling
//! of its actions.
//!
//! Messages and actions may be delayed, and the coupler may be unreachable. While a flow waits for an answer, it uses
//! the rate of its own controller. If no answer arrives in time, it uses the lower of its own rate and its last
//! allocation. After several attempts without an answer it is uncoupled (`T_reply`). No source has a protocol for a
//! remote coupler; RFC 8699 §5 only allows one.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::coupled::message::{CouplerAction, CouplingMessage, FlowParameters, Join, Update, Windowed};
use crate::decision::{AllocatedRate, Decision};
use crate::time::SendTime;
use crate::window::Window;

/// Least time after which an answer is late.
const MIN_ANSWER_TIMEOUT: TimeDelta = TimeDelta::from_millis(250);
/// Time allowed for the first answer. Later answers are compared with the longest answer time so far.
const FIRST_ANSWER_TIMEOUT: TimeDelta = TimeDelta::from_secs(2);
/// Multiple of the longest answer time so far, or of the interval between updates, after which an answer is late.
const ANSWER_TIMEOUT_FACTOR: f64 = 2.0;
/// Number of successive late answers after which the flow is uncoupled.
const MAX_LATE_ANSWERS: u32 = 3;
/// Time after which an uncoupled flow tries to join again.
const REJOIN_DELAY: TimeDelta = TimeDelta::from_secs(5);

/// State of a rate-controlled flow in its coupling.
#[derive(Clone, Debug)]
pub struct Membership {
    parameters: FlowParameters,
    standing: JoinState,
    /// Number of the newest action that was taken.
    epoch: u32,
    /// Rate of the last action with a rate.
    share: Option<DataRate>,
    /// The rate of the last decision, or the part of a later action that the controller accepted.
    present: DataRate,
    /// The rate that the controller computed last, without allocations.
    computed: DataRate,
    /// The start rate, for another join.
    start: DataRate,
    segment: DataSize,
    /// The window reported last.
    window: Option<DataSize>,
    base_rtt: Option<TimeDelta>,
    /// Whether feedback has come since the last update.
    has_feedback: bool,
    /// Whether the coupler refused the flow before it had a window. If so it joins again when it has one, because
    /// couplers of windows require it.
    lacks_window: bool,
    answers: AnswerTimes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JoinState {
    /// Not joined.
    Out,
    /// Joined.
    In,
    /// Uncoupled after several missing answers. The flow tries to join again at `until`.
    Uncoupled { until: SendTime },
}

impl Membership {
    /// A flow that has not joined yet. Its window, if any, is in segments of `segment` bytes.
    pub fn new(parameters: FlowParameters, segment: DataSize) -> Self {
        Self {
            parameters,
            standing: JoinState::Out,
            epoch: 0,
            share: None,
            present: DataRate::ZERO,
            computed: DataRate::ZERO,
            start: DataRate::ZERO,
            segment,
            window: None,
            base_rtt: None,
            has_feedback: false,
            lacks_window: false,
            answers: AnswerTimes::default(),
        }
    }

    /// The flow's parameters.
    pub const fn parameters(&self) -> &FlowParameters {
        &self.parameters
    }

    /// The rate of its last decision, or the part of a later action that its controller took.
    pub const fn present(&self) -> DataRate {
        self.present
    }

    /// Whether the flow has joined and its messages are answered in time.
    pub fn is_joined(&self) -> bool {
        self.standing == JoinState::In
    }

    /// Begins the flow, or continues it after a pause. A controller of its kind begins with `start`; without coupling
    /// it would continue with `present`.
    pub fn join(
        &mut self,
        now: SendTime,
        start: DataRate,
        present: DataRate,
        window: Option<DataSize>,
    ) -> CouplingMessage {
        self.standing = JoinState::In;
        (self.start, self.present, self.computed, self.window) = (start, present, present, window);
        (self.epoch, self.share, self.lacks_window) = (0, None, false);
        self.answers = AnswerTimes::default();
        self.answers.on_request(now);
        CouplingMessage::Join(Join { parameters: self.parameters, start, present, window: self.windowed() })
    }

    /// Takes a measured round-trip time.
    pub fn on_rtt(&mut self, rtt: TimeDelta) {
        if !rtt.is_negative() {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        }
    }

    /// Records that feedback on the flow has arrived.
    pub fn on_feedback(&mut self) {
        self.has_feedback = true;
    }

    /// Takes a decision of the flow's controller; `window` belongs to the rate. Returns the message to send, if the
    /// flow has joined.
    pub fn update(
        &mut self,
        now: SendTime,
        decision: Decision,
        window: Option<DataSize>,
    ) -> Option<CouplingMessage> {
        (self.present, self.computed, self.window) = (decision.rate, decision.rate, window);
        match self.standing {
            JoinState::Out => None,
            JoinState::Uncoupled { until } if now < until => None,
            JoinState::Uncoupled { .. } => Some(self.join(now, self.start, decision.rate, window)),
            JoinState::In if self.lacks_window && window.is_some() => {
                Some(self.join(now, self.start, decision.rate, window))
            }
            JoinState::In => {
                let has_feedback = core::mem::take(&mut self.has_feedback);
                self.answers.on_request(now);
                Some(CouplingMessage::Update(Update {
                    decision,
                    window: self.windowed(),
                    epoch: self.epoch,
                    has_feedback,
                }))
            }
        }
    }

    /// Changes the flow's parameters. Returns the message to send, if the flow has joined. The coupler refuses an
    /// invalid weight, which is not stored.
    pub fn set_parameters(&mut self, parameters: FlowParameters) -> Option<CouplingMessage> {
        let changed = self.parameters != parameters;
        if parameters.priority > 0.0 && parameters.priority.is_finite() {
            self.parameters = parameters;
        }
        (changed && self.is_joined()).then_some(CouplingMessage::FlowParameters(parameters))
    }

    /// Pauses the flow intentionally.
    pub fn pause(&mut self) -> Option<CouplingMessage> {
        self.part().then_some(CouplingMessage::Pause)
    }

    /// Continues the flow without coupling for now, at its present rate.
    pub fn withdraw(&mut self) -> Option<CouplingMessage> {
        self.part().then_some(CouplingMessage::Withdraw)
    }

    /// Ends the flow.
    pub fn leave(&mut self) -> Option<CouplingMessage> {
        self.part().then_some(CouplingMessage::Leave)
    }

    /// Ends the membership, also of an uncoupled flow, which its coupler may still count.
    fn part(&mut self) -> bool {
        core::mem::replace(&mut self.standing, JoinState::Out) != JoinState::Out
    }

    /// Whether a newer action than that of this number was taken. Numbers wrap around, and any number may be the
    /// first.
    const fn has_newer_than(&self, epoch: u32) -> bool {
        epoch == 0 || (self.epoch != 0 && epoch.wrapping_sub(self.epoch).cast_signed() <= 0)
    }

    /// Takes an action. Returns the allocation for the controller, if the action has a rate and is the newest.
    pub fn order(&mut self, now: SendTime, order: &CouplerAction) -> Option<AllocatedRate> {
        if !self.is_joined() {
            return None;
        }
        self.answers.answered(now);
        match *order {
            CouplerAction::Rate { rate, epoch } => {
                if self.has_newer_than(epoch) {
                    return None;
                }
                self.epoch = epoch;
                self.share = Some(rate);
                Some(AllocatedRate { rate })
            }
            CouplerAction::Window(window) => {
                let reported = self.window?.bytes_f64();
                let ordered = window.cwnd * self.segment.bytes_f64();
                if !(reported > 0.0 && ordered > 0.0 && ordered.is_finite()) {
                    return None;
                }
                let rate =
                    if ordered == reported { self.present } else { self.present.scale(ordered / reported) };
                self.share = Some(rate);
                Some(AllocatedRate { rate })
            }
            CouplerAction::Uncoupled => {
                self.share = None;
                self.lacks_window = self.window.is_none();
                None
            }
            CouplerAction::Segment | CouplerAction::Reduce => None,
        }
    }

    /// Records that the controller has accepted `rate` of an allocation, and its present window.
    pub fn taken(&mut self, rate: DataRate, window: Option<DataSize>) {
        (self.present, self.window) = (rate, window);
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.is_joined().then(|| self.answers.due()).flatten()
    }

    /// Handles a missing answer. Returns the allocation to use instead, if any.
    pub fn on_timeout(&mut self, now: SendTime) -> Option<AllocatedRate> {
        if self.next_timeout().is_none_or(|due| now < due) {
            return None;
        }
        self.answers.missed();
        if self.answers.late >= MAX_LATE_ANSWERS {
            self.standing = JoinState::Uncoupled { until: now + REJOIN_DELAY };
            return Some(AllocatedRate { rate: self.computed });
        }
        self.share.map(|share| AllocatedRate { rate: share.min(self.present) })
    }

    fn windowed(&self) -> Option<Windowed> {
        let cwnd = self.window?.bytes_f64() / self.segment.bytes_f64().max(1.0);
        let window = Window { cwnd, ssthresh: f64::INFINITY };
        Some(Windowed { window, segment: self.segment, base_rtt: self.base_rtt })
    }
}

/// Times of the coupler's answers.
#[derive(Clone, Copy, Debug, Default)]
struct AnswerTimes {
    /// Time since which an answer is awaited.
    on_request: Option<SendTime>,
    last_request: Option<SendTime>,
    /// Interval between the last two updates.
    interval: TimeDelta,
    /// Longest time that an answer took.
    longest: Option<TimeDelta>,
    /// Number of successive late answers.
    late: u32,
}

impl AnswerTimes {
    fn on_request(&mut self, now: SendTime) {
        self.interval = self.last_request.map_or(TimeDelta::ZERO, |last| now - last);
        self.last_request = Some(now);
        self.on_request.get_or_insert(now);
    }

    fn answered(&mut self, now: SendTime) {
        if let Some(on_request) = self.on_request.take() {
            self.longest = self.longest.max(Some(now - on_request));
        }
        self.late = 0;
    }

    fn missed(&mut self) {
        self.on_request = None;
        self.late += 1;
    }

    fn due(&self) -> Option<SendTime> {
        let usual = self.longest.map_or(FIRST_ANSWER_TIMEOUT, |longest| {
            longest.scale(ANSWER_TIMEOUT_FACTOR).max(MIN_ANSWER_TIMEOUT)
        });
        let patience = usual.max(self.interval.scale(ANSWER_TIMEOUT_FACTOR));
        self.on_request.map(|on_request| on_request + patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::ChangeReason;

    const MS: fn(i64) -> SendTime = SendTime::from_millis;
    const KBPS: fn(u64) -> DataRate = DataRate::from_kbps;

    fn membership() -> Membership {
        let parameters = FlowParameters { priority: 1.0, desired: None, least: KBPS(50) };
        Membership::new(parameters, DataSize::from_bytes(1200))
    }

    fn decision(base: u64, rate: u64) -> Decision {
        Decision { rate: KBPS(rate), base: KBPS(base), why: ChangeReason::Growth, rtt: None }
    }

    fn rate(kbps: u64, epoch: u32) -> CouplerAction {
        CouplerAction::Rate { rate: KBPS(kbps), epoch }
    }

    #[test]
    fn only_the_newest_action_is_applied_and_the_next_update_has_its_number() {
        let mut member = membership();
        assert_eq!(member.update(MS(0), decision(300, 310), None), None, "it has not joined");
        assert!(matches!(member.join(MS(0), KBPS(300), KBPS(300), None), CouplingMessage::Join(_)));
        assert_eq!(member.order(MS(10), &rate(500, 2)), Some(AllocatedRate { rate: KBPS(500) }));
        assert_eq!(member.order(MS(11), &rate(400, 1)), None);
        let Some(CouplingMessage::Update(update)) = member.update(MS(20), decision(500, 510), None) else {
            panic!()
        };
        assert_eq!((update.epoch, update.decision), (2, decision(500, 510)));
        // Another membership numbers anew.
        assert_eq!(member.pause(), Some(CouplingMessage::Pause));
        assert_eq!((member.pause(), member.order(MS(30), &rate(700, 3))), (None, None));
        member.join(MS(40), KBPS(300), KBPS(510), None);
        assert_eq!(member.order(MS(50), &rate(300, 1)), Some(AllocatedRate { rate: KBPS(300) }));
    }

    #[test]
    fn a_member_refused_before_it_has_a_window_joins_with_the_first() {
        let mut member = membership();
        member.join(MS(0), KBPS(300), KBPS(300), None);
        assert_eq!(member.order(MS(1), &CouplerAction::Uncoupled), None);
        assert!(
            matches!(member.update(MS(50), decision(300, 310), None), Some(CouplingMessage::Update(_))),
            "it may be in a group"
        );
        let window = Some(DataSize::from_bytes(6000));
        let Some(CouplingMessage::Join(join)) = member.update(MS(100), decision(310, 320), window) else {
            panic!()
        };
        assert_eq!(join.window.map(|windowed| windowed.window.cwnd), Some(5.0));
        // With a window, it does not join again and again.
        member.order(MS(101), &CouplerAction::Uncoupled);
        assert!(matches!(
            member.update(MS(150), decision(320, 330), window),
            Some(CouplingMessage::Update(_))
        ));
    }

    #[test]
    fn without_answers_the_lower_of_own_rate_and_share_holds_and_then_the_flow_is_on_its_own() {
        let mut member = membership();
        member.join(MS(0), KBPS(300), KBPS(300), None);
        assert_eq!(member.next_timeout(), Some(MS(2000)), "the round-trip time is not known yet");
        member.order(MS(100), &rate(500, 1));
        // Answers took 100 ms at most, updates come each 100 ms: twice that is below the least patience.
        for (on_request, share) in [(100, 500), (400, 500), (700, 600)] {
            member.taken(KBPS(500), None);
            member.update(MS(on_request), decision(500, 600), None);
            let patience = if on_request == 100 { 250 } else { 600 };
            assert_eq!(member.next_timeout(), Some(MS(on_request + patience)));
            assert_eq!(member.on_timeout(MS(on_request + patience - 1)), None);
            assert_eq!(
                member.on_timeout(MS(on_request + patience)),
                Some(AllocatedRate { rate: KBPS(share) })
            );
        }
        assert!(!member.is_joined());
        assert_eq!(member.update(MS(6299), decision(600, 610), None), None);
        assert!(matches!(member.update(MS(6300), decision(610, 620), None), Some(CouplingMessage::Join(_))));
    }

    #[test]
    fn a_long_way_to_the_coupler_is_not_taken_for_silence() {
        // One second there and back, an update each 100 ms: the first answer sets the allowed time.
        let mut member = membership();
        member.join(MS(0), KBPS(300), KBPS(300), None);
        for tick in 1..100 {
            let now = MS(100 * tick);
            member.update(now, decision(300, 300), None);
            assert_eq!(member.on_timeout(now), None);
            if tick >= 10 {
                assert!(member.order(now, &rate(300, tick as u32)).is_some());
            }
        }
        assert!(member.is_joined());
    }

    #[test]
    fn a_flow_in_no_group_still_reports_its_statistics() {
        let mut member = membership();
        member.join(MS(0), KBPS(300), KBPS(300), None);
        assert_eq!(member.order(MS(1), &CouplerAction::Uncoupled), None);
        assert!(matches!(member.update(MS(2), decision(300, 310), None), Some(CouplingMessage::Update(_))));
    }

    #[test]
    fn an_impossible_weight_is_refused_and_not_kept() {
        let mut member = membership();
        member.join(MS(0), KBPS(300), KBPS(300), None);
        let wrong = FlowParameters { priority: 0.0, ..*member.parameters() };
        assert_eq!(member.set_parameters(wrong), Some(CouplingMessage::FlowParameters(wrong)));
        assert_eq!(member.parameters().priority, 1.0);
    }

    #[test]
    fn an_ordered_window_is_relative_to_the_reported_window() {
        let mut member = membership();
        member.join(MS(0), KBPS(300), KBPS(300), Some(DataSize::from_bytes(12_000)));
        let order = |cwnd| CouplerAction::Window(Window { cwnd, ssthresh: 5.0 });
        assert_eq!(member.order(MS(1), &order(10.0)), Some(AllocatedRate { rate: KBPS(300) }));
        assert_eq!(member.order(MS(1), &order(5.0)), Some(AllocatedRate { rate: KBPS(150) }));
        for none in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
            assert_eq!(member.order(MS(1), &order(none)), None, "{none}");
        }
    }

    #[test]
    fn a_member_on_its_own_still_sends_its_leave() {
        for goodbye in [Membership::pause, Membership::leave] {
            let mut member = membership();
            assert_eq!(goodbye(&mut member), None, "it never was there");
            member.join(MS(0), KBPS(300), KBPS(300), None);
            for tick in 1..100 {
                member.on_timeout(MS(2000 * tick));
                let _ = member.update(MS(2000 * tick), decision(300, 300), None);
                if !member.is_joined() {
                    break;
                }
            }
            assert!(!member.is_joined());
            assert!(goodbye(&mut member).is_some());
            assert_eq!(goodbye(&mut member), None);
        }
    }

    #[test]
    fn orders_are_numbered_in_a_circle() {
        let mut member = membership();
        member.join(MS(0), KBPS(300), KBPS(300), None);
        assert!(member.order(MS(1), &rate(500, u32::MAX)).is_some(), "the first may have any number");
        assert!(member.order(MS(2), &rate(400, 1)).is_some());
        assert_eq!(member.order(MS(3), &rate(500, u32::MAX)), None);
        assert_eq!(member.order(MS(3), &rate(500, 0)), None);
    }
}
