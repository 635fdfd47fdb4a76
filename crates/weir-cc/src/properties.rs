//! The laws of this crate by the kit of [`crate::testing`], a line each in [`LAWS`], and what holds of their lines.

mod course;
mod exceptions;
mod laws;
mod tfrc_coupled;

use weir_units::{DataRate, DataSize, TimeDelta};

<<<<<<< HEAD
use crate::controller::{PathEvent, RateLimits};
use crate::packet::{Ecn, Fate, PacketResult, SendState, SentPacket};
use crate::report::ReceptionReport;
use crate::testing::{Call, Law, survives_silence, usual_limits};
use crate::time::{ArrivalTime, SendTime};
use laws::LAWS;
=======
use crate::controller::{Controller, PathEvent, RateLimits, Receiver, Signal};
use crate::decision::{Decision, Share};
use crate::packet::{Arrival, Ecn, Fate, PacketResult, SendState, SentPacket, Stamp};
use crate::report::{
    DcccReport, Feedback, LawReport, NadaDelayReport, NadaReport, ReceptionReport, Record, Report, TfrcReport,
};
use crate::time::{ApparentDelay, ArrivalTime, SendTime};
use laws::{Halves, LAWS, Law, ROUNDS_TO_RECOVER, halves};

pub(crate) use calls::{Call, TimedCall, calls, limits};
use calls::{ecn, size, span, step};

/// No report may be further off than this once packets arrive.
const LONGEST_REPORT_INTERVAL: TimeDelta = TimeDelta::from_secs(5);

/// A sender half that lives through calls, and what must hold after each of them.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) sender: Box<dyn Controller>,
    pub(crate) limits: RateLimits,
    now: SendTime,
    sent: u64,
}

impl Life {
    pub(crate) fn new(sender: Box<dyn Controller>, limits: RateLimits) -> Self {
        let life = Self { sender, limits, now: SendTime::ZERO, sent: 0 };
        life.check();
        life
    }

    /// Time passes, something happens, and what always holds is checked.
    pub(crate) fn live(&mut self, (step, call, state): &TimedCall) -> Option<Decision> {
        self.now += *step;
        let decision = self.apply(call, state);
        if let Some(decision) = decision {
            self.check_rate(decision.rate);
        }
        self.check();
        decision
    }

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
                self.hear(&Feedback::Packets { results, at, rtt, missed_reports }, state)
            }
            Call::Ceiling(rate) => self.hear(&Feedback::Ceiling(rate), state),
            Call::Reception(report, rtt) => self.hear(&Feedback::Reception { report, rtt }, state),
            Call::Law(report, rtt) => self.hear(&Feedback::Law { report, rtt }, state),
            Call::Timeout => self.time_out(state),
            Call::Event(event) => {
                if let PathEvent::Limits(limits) = event {
                    self.limits = limits;
                }
                self.sender.on_event(self.now, event)
            }
            Call::Adopt(rate) => {
                self.sender.adopt(self.now, Share { rate });
                None
            }
        }
    }

    fn hear(&mut self, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        self.sender.on_feedback(self.now, feedback, state)
    }

    /// A timeout that comes early changes nothing; one that has come asks for a later one, so that the same one
    /// again is early.
    fn time_out(&mut self, state: &SendState) -> Option<Decision> {
        let decision =
            if self.is_due() { self.sender.on_timeout(self.now, state) } else { self.time_out_early(state) };
        assert!(!self.is_due(), "{:?} after a timeout at {:?}", self.sender.next_timeout(), self.now);
        self.time_out_early(state);
        decision
    }

    fn time_out_early(&mut self, state: &SendState) -> Option<Decision> {
        let before = (self.sender.target(), self.sender.next_timeout());
        let decision = self.sender.on_timeout(self.now, state);
        assert_eq!((self.sender.target(), self.sender.next_timeout(), decision), (before.0, before.1, None));
        decision
    }

    fn is_due(&self) -> bool {
        self.sender.next_timeout().is_some_and(|due| due <= self.now)
    }

    fn check(&self) {
        let target = self.sender.target();
        self.check_rate(target.media_rate);
        self.check_rate(target.sending_rate);
        read_signals(self.sender.signals(), |out| self.sender.read_signals(out));
    }

    fn check_rate(&self, rate: DataRate) {
        assert!(self.limits.clamp(rate) == rate, "{rate:?} outside {:?}", self.limits);
    }

    /// Packets leave every 10 ms at the sending rate for `span`; the sender hears nothing.
    fn send_unheard(&mut self, span: TimeDelta) {
        const STEP: TimeDelta = TimeDelta::from_millis(10);
        for _ in 0..span.nanos() / STEP.nanos() {
            let size = self.sender.target().sending_rate * STEP;
            self.live(&(STEP, Call::Sent(size, false), SendState::default()));
            if self.is_due() {
                self.live(&(TimeDelta::ZERO, Call::Timeout, SendState::default()));
            }
        }
    }

    /// Packets leave for 100 ms; feedback of every kind says that the path carries them with ease.
    fn send_with_ease(&mut self) {
        const ROUND: TimeDelta = TimeDelta::from_millis(100);
        let rtt = Some(TimeDelta::from_millis(80));
        let (first, began, rate) = (self.sent + 1, self.now, self.sender.target().sending_rate);
        self.send_unheard(ROUND);
        let packets = self.sent + 1 - first;
        let results = (0..packets).map(|n| {
            let after = ROUND * (n as i64 + 1) / packets as i64;
            let size = rate * (ROUND / packets as i64);
            let (id, departure) = (first + n, began + after);
            let at = ArrivalTime::ZERO + TimeDelta::from_secs(3600) + (departure - SendTime::ZERO);
            let sent = SentPacket::new(id, departure, size);
            PacketResult { sent, fate: Fate::Arrived { at, ecn: Ecn::NotEct } }
        });
        let nada = NadaReport { ramp_up: true, congestion: TimeDelta::ZERO, receive_rate: rate };
        let dccc = self.ease_by_dccc(rate);
        let propagation = TimeDelta::from_millis(40);
        let delay = NadaDelayReport { congestion: propagation, reference: propagation };
        for feedback in [
            Call::Packets(results.collect(), None, rtt, 0),
            Call::Ceiling(self.limits.max()),
            Call::Reception(ReceptionReport::default(), rtt),
            Call::Law(LawReport::Nada(nada), rtt),
            Call::Law(LawReport::Dccc(dccc), rtt),
            Call::Law(LawReport::Tfrc(TfrcReport { loss_event_rate: 0.0, receive_rate: rate }), rtt),
            Call::Law(LawReport::NadaDelay(delay), rtt),
        ] {
            self.live(&(TimeDelta::ZERO, feedback, SendState::default()));
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

/// Reads the present values of `signals`: none of them is infinite.
fn read_signals(signals: &[Signal], read: impl FnOnce(&mut [f64])) {
    let mut values = [f64::INFINITY; 64];
    let values = &mut values[..signals.len()];
    read(values);
    let infinite = values.iter().position(|value| value.is_infinite());
    assert!(infinite.is_none(), "{:?} is infinite", infinite.map(|i| signals[i].name));
}

/// Whatever came before: five seconds of silence lower the rate, and good feedback brings it to the maximum.
pub(crate) fn survives_silence(sender: Box<dyn Controller>, limits: RateLimits, calls: &[TimedCall]) {
    recovers_from_silence(sender, limits, calls, ROUNDS_TO_RECOVER);
}

/// As [`survives_silence`], with so many rounds to recover.
pub(crate) fn recovers_from_silence(
    sender: Box<dyn Controller>,
    limits: RateLimits,
    calls: &[TimedCall],
    rounds: usize,
) {
    let mut life = Life::new(sender, limits);
    for call in calls {
        life.live(call);
    }
    for event in [PathEvent::Resumed, PathEvent::Limits(limits)] {
        life.live(&(TimeDelta::ZERO, Call::Event(event), SendState::default()));
    }
    let mut before = life.sender.target().sending_rate;
    life.send_unheard(TimeDelta::from_secs(1));
    // The last feedback may have set something in motion: libwebrtc's next tick takes over a higher estimate.
    before = before.max(life.sender.target().sending_rate);
    life.send_unheard(TimeDelta::from_secs(4));
    let after = life.sender.target().sending_rate;
    assert!(after <= before.scale(0.5).max(limits.min()), "{before:?} → {after:?}");
    for _ in 0..rounds {
        life.send_with_ease();
        if life.sender.target().sending_rate == limits.max() {
            break;
        }
    }
    assert_eq!(life.sender.target().sending_rate, limits.max());
}

/// Usual limits: from any rate within them recovery takes a few seconds.
pub(crate) fn usual_limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap()
}

/// Packets in order of arrival: some twice, some late, some lost, by clocks that now and then are set.
pub(crate) fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let number = || prop_oneof![12 => 0..3_i64, 4 => -5..8_i64, 1 => any::<i64>()];
    let times = (step(), step());
    let packet = (times, number(), number(), size(), ecn(), any::<bool>(), span());
    prop::collection::vec(packet, 0..200).prop_map(|packets| {
        let (mut at, mut departure, mut id, mut frame) = (ArrivalTime::ZERO, SendTime::ZERO, 0_u64, 0_u64);
        let arrive = |((later, sent_later), ahead, frames, size, ecn, marker, rtt)| {
            at += later;
            departure += sent_later;
            id = id.wrapping_add_signed(ahead);
            frame = frame.wrapping_add_signed(frames);
            let media_time = frame.wrapping_mul(3000);
            Arrival {
                id,
                departure,
                at,
                size,
                ecn,
                media_time,
                marker,
                stamp: Stamp { rtt, rate: DataRate::ZERO },
            }
        };
        packets.into_iter().map(arrive).collect()
    })
}

/// A report by content: times since `zero`.
#[derive(Debug, PartialEq)]
enum Content {
    Packets(Vec<(u16, Option<TimeDelta>, Ecn)>, u8, Option<TimeDelta>),
    Other(Report<'static>),
}

fn content(report: &Report<'_>, zero: ArrivalTime) -> Content {
    match *report {
        Report::Packets { records, number, at } => {
            let record = |r: &Record| (r.sequence, r.arrival.map(|at| at - zero), r.ecn);
            Content::Packets(records.iter().map(record).collect(), number, at.map(|at| at - zero))
        }
        Report::Ceiling(rate) => Content::Other(Report::Ceiling(rate)),
        Report::Reception(report) => Content::Other(Report::Reception(report)),
        Report::Law { report, echo } => {
            Content::Other(Report::Law { report: without_offset(report, zero), echo })
        }
    }
}

/// A law's report by a receiver's clock that reads 0 at `zero`.
fn without_offset(report: LawReport, zero: ArrivalTime) -> LawReport {
    let offset = zero - ArrivalTime::ZERO;
    match report {
        LawReport::Dccc(report) => {
            LawReport::Dccc(DcccReport { delay: report.delay + -offset, at: report.at - offset, ..report })
        }
        LawReport::Nada(_) | LawReport::NadaDelay(_) | LawReport::Tfrc(_) => report,
    }
}

/// The reports on `arrivals`, with what must hold after each of them; the receiver's clock is ahead by `offset`.
fn reports(receiver: &mut dyn Receiver, arrivals: &[Arrival], offset: TimeDelta) -> Vec<Content> {
    let zero = ArrivalTime::ZERO + offset;
    let mut told = Vec::new();
    for packet in arrivals {
        let at = packet.at + offset;
        if let Some(due) = receiver.next_timeout().filter(|&due| due < at) {
            drain(receiver, due, |report| told.push(content(report, zero)));
        }
        receiver.on_arrival(&Arrival { at, ..*packet });
        let due = receiver.next_timeout();
        assert!(
            due.is_some_and(|due| due <= at + LONGEST_REPORT_INTERVAL),
            "{due:?} after an arrival at {at:?}"
        );
        drain(receiver, at, |report| told.push(content(report, zero)));
        read_signals(receiver.signals(), |out| receiver.read_signals(out));
    }
    told
}

fn drain(receiver: &mut dyn Receiver, now: ArrivalTime, mut tell: impl FnMut(&Report<'_>)) {
    const MOST_AT_ONCE: usize = 10;
    let before = receiver.next_timeout();
    let mut reports = 0;
    while let Some(report) = receiver.poll_report(now) {
        tell(&report);
        reports += 1;
        assert!(reports <= MOST_AT_ONCE, "it never stops reporting");
    }
    assert!(reports == 0 || before.is_some_and(|due| due <= now), "a report before its time");
    assert!(receiver.next_timeout().is_none_or(|next| next > now));
}

fn law() -> impl Strategy<Value = Law> {
    prop::sample::select(LAWS)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150 * LAWS.len() as u32))]

    #[test]
    fn a_sender_keeps_its_promises_whatever_comes(law in law(), limits in limits(), calls in calls()) {
        let mut life = Life::new((law.build)(limits).0, limits);
        for call in &calls {
            life.live(call);
        }
    }

    #[test]
    fn a_sender_survives_five_seconds_of_silence_whatever_came_before(law in law(), calls in calls()) {
        let sender = (law.build)(usual_limits()).0;
        recovers_from_silence(sender, usual_limits(), &calls, law.rounds_to_recover);
    }

    #[test]
    fn a_receiver_keeps_its_promises_whatever_comes(law in law(), limits in limits(), arrivals in arrivals()) {
        let (_, mut receiver) = (law.build)(limits);
        for report in reports(&mut *receiver, &arrivals, TimeDelta::ZERO) {
            if let Content::Other(Report::Ceiling(rate)) = report {
                prop_assert_eq!(rate, limits.clamp(rate));
            }
        }
    }

    #[test]
    fn hours_between_the_clocks_do_not_change_the_reports(
        law in law(),
        arrivals in arrivals(),
        offset in -100_000_000_000_000..100_000_000_000_000_i64,
    ) {
        prop_assume!(!law.absolute_delays);
        let reports_at = |offset| reports(&mut *(law.build)(usual_limits()).1, &arrivals, offset);
        prop_assert_eq!(reports_at(TimeDelta::ZERO), reports_at(TimeDelta::from_nanos(offset)));
    }
}
>>>>>>> embed

#[test]
fn no_two_laws_share_a_name() {
    for (i, line) in LAWS.iter().enumerate() {
        assert!(LAWS[..i].iter().all(|other| other.law.name != line.law.name), "{}", line.law.name);
    }
}

#[test]
fn at_most_four_laws_have_a_rule_of_their_own_that_is_faster_than_coupling() {
    assert!(LAWS.iter().filter(|line| line.law.forgets_shares || line.law.own_cut < 1.0).count() <= 4);
}

fn law(name: &str) -> &'static Law {
    LAWS.iter().map(|line| &line.law).find(|law| law.name == name).expect("it has a line")
}

/// Silence after `calls`, all at once.
fn survives_silence_after(name: &str, calls: impl IntoIterator<Item = Call>) {
    let calls: Vec<_> = calls.into_iter().map(|call| (TimeDelta::ZERO, call, SendState::default())).collect();
    survives_silence((law(name).build)(usual_limits()).0, usual_limits(), &calls);
}

/// A case that was broken once.
#[test]
fn gcc_dccc_survives_silence_after_the_least_share_and_a_round_trip_of_seconds() {
    let (least, most) = (DataRate::from_bps(1), DataRate::from_bps(4_134_219));
    let limits = RateLimits::new(least, least, most).unwrap();
    let rtt = TimeDelta::from_nanos(5_013_421_884);
    survives_silence_after(
        "gcc-dccc",
        [
            Call::Event(PathEvent::Limits(limits)),
            Call::Ceiling(most),
            Call::Reception(ReceptionReport::default(), Some(rtt)),
            Call::Adopt(DataRate::ZERO),
        ],
    );
}

/// A case that was broken once.
#[test]
fn rap_survives_silence_after_a_packet_that_arrived_three_times_years_apart() {
    let result = |sent_at, at| {
        let (at, fate_at) = (SendTime::from_nanos(sent_at), ArrivalTime::from_nanos(at));
        let zero = DataSize::ZERO;
        let sent = SentPacket { id: 0, at, size: zero, payload: zero, padding: false, probe: None };
        PacketResult { sent, fate: Fate::Arrived { at: fate_at, ecn: Ecn::NotEct } }
    };
    let results =
        vec![result(-3_674_374_216_782_330_472, 5_315_090_460_870_977_262), result(0, 0), result(0, 0)];
    survives_silence_after("rap", [Call::Packets(results, Some(ArrivalTime::ZERO), None, 0)]);
}
