//! An [`Observer`] mounted at the sender: the same observer and controller as with [`AtReceiver`](crate::AtReceiver),
//! but a receiver that reports single packets.
//!
//! The receiver half is [`PacketFeedback`](crate::packet_feedback::PacketFeedback). The mount rebuilds the arrivals
//! of each report and passes them to the observer in order of arrival. The observer makes its reports at the
//! receiver's times, and the controller gets them as if they had crossed the network. The observer works as at the
//! receiver, except for information that per-packet feedback does not carry:
//!
//! 1. `media_time` and `marker` are unknown at the sender, and so are duplicates. Both fields are as in a packet
//!    without media; of two copies the first counts.
//! 2. With a lost report the information on its packets is lost. The observer is informed of the gap
//!    ([`Observer::on_unreported`]). Unreported packets count neither as lost nor as received, and their time counts
//!    for no rate. If the report was only late, its packets are late packets for the observer.
//! 3. Times of departure are exact; in packets they have the resolution of the wire format.
//! 4. A report of the observer waits for the next feedback, up to one feedback interval.
//! 5. A packet without a reported arrival time gets the delay of the packet before it ([`Observer::on_untimed`]).
//!    Packets before the first reported time are left out.
//! 6. Packets are not reported if they arrive more than half a second after packets sent half a second later, or 1024
//!    numbers late.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use weir_units::DataRate;

use crate::controller::{Controller, Evidence, Observer, PathEvent, Probe, Signal, StreamsConfig, Target};
use crate::decision::{AllocatedRate, ChangeReason, Decision};
use crate::packet::{Arrival, Ecn, PacketFate, PacketResult, SendState, SentPacket, Stamp};
use crate::report::{Feedback, ReportKind};
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

/// Number of remembered changes of the stamp. A controller changes the stamp with its reports, so that this covers
/// several seconds.
const MAX_STAMPS: usize = 128;
/// Initial capacity for the packets of a feedback.
const INITIAL_PACKETS: usize = 256;
/// Greatest number of reports between two arrivals, the last one late. It limits the effect of a clock jump.
const MAX_REPORTS: usize = 256;
/// Greatest number of signals that an observer can show.
const MAX_SIGNALS: usize = 32;

/// A controller `L` with its [`Observer`] `O`, both at the sender.
#[derive(Debug)]
pub struct AtSender<O, L> {
    observer: O,
    controller: L,
    /// Signals of the controller, then those of the observer that `shown` selects.
    signals: &'static [Signal],
    /// Indices into the observer's list of signals.
    shown: Vec<usize>,
    stamps: Stamps,
    /// Arrivals in the present feedback in order of arrival, each with whether its time was reported.
    arrivals: Vec<(Arrival, bool)>,
    /// Arrival time and delay of the newest packet with a reported time, without late packets.
    timed: Option<(ArrivalTime, ApparentDelay)>,
    newest_sent: Option<u64>,
    /// Newest packet whose fate was reported.
    reported: Option<u64>,
}

impl<O: Observer, L: Controller> AtSender<O, L> {
    /// Mounts `observer` beside the controller `controller`. `signals` are those of the controller, then the selected
    /// ones of the observer in its order ([`join_signals`] makes the list).
    pub fn new(observer: O, controller: L, signals: &'static [Signal]) -> Self {
        let extra = signals.get(controller.signals().len()..).unwrap_or_default();
        let place = |wanted: &Signal| observer.signals().iter().position(|signal| signal.name == wanted.name);
        let shown = extra.iter().map(|wanted| place(wanted).unwrap_or(MAX_SIGNALS)).collect();
        Self {
            observer,
            controller,
            signals,
            shown,
            stamps: Stamps::new(),
            arrivals: Vec::with_capacity(INITIAL_PACKETS),
            timed: None,
            newest_sent: None,
            reported: None,
        }
    }

    /// Rebuilds the arrivals in `results`, in order of arrival. Packets that were not sent here are left out.
    fn rebuild(&mut self, results: &[PacketResult]) {
        self.arrivals.clear();
        for PacketResult { sent, fate } in results {
            let (PacketFate::Arrived { at, ecn } | PacketFate::Recovered { at, ecn }) = *fate else {
                continue;
            };
            if self.newest_sent.is_none_or(|newest| sent.id > newest) {
                continue;
            }
            if let PacketFate::Arrived { at: Some(at), .. } = *fate {
                self.timed = Some((at, ApparentDelay::between(sent.at, at)));
            }
            let like_before = self.timed.map(|(before, delay)| before.max(delay.after(sent.at)));
            let Some(time) = at.or(like_before) else { continue };
            self.arrivals.push((arrival(sent, time, ecn, self.stamps.of(sent.id)), at.is_some()));
        }
        self.arrivals.sort_unstable_by_key(|(packet, _)| (packet.at, packet.id));
    }

    /// Informs the observer of missing reports. A report begins with the first packet that no earlier report covered,
    /// so that a gap shows.
    fn find_gap(&mut self, results: &[PacketResult]) {
        let (Some(first), Some(last)) = (results.first(), results.last()) else { return };
        if self
            .reported
            .is_some_and(|reported| first.sent.id.checked_sub(1).is_some_and(|before| before > reported))
        {
            self.observer.on_unreported();
        }
        self.reported = self.reported.max(Some(last.sent.id));
    }

    /// Makes the reports due before `end` (at `end`, too, if `inclusive`) and passes each to the controller.
    fn report(
        &mut self,
        end: ArrivalTime,
        inclusive: bool,
        context: &FeedbackContext<'_>,
    ) -> Option<Decision> {
        let mut decided = None;
        for made in 1..=MAX_REPORTS {
            let due = self.observer.next_report().filter(|&due| due < end || (inclusive && due == end));
            let Some(due) = due else { break };
            let now = if made < MAX_REPORTS { due } else { end };
            let Some(report) = self.observer.report(now) else { continue };
            let feedback = Feedback::Native { report, rtt: context.feedback.rtt() };
            decided =
                Decision::merged(decided, self.controller.on_feedback(context.now, &feedback, context.state));
        }
        decided
    }
}

/// Context shared by all reports of one feedback.
struct FeedbackContext<'a> {
    now: SendTime,
    feedback: &'a Feedback<'a>,
    state: &'a SendState,
}

/// The arrival of a packet, with the fields that its sender knows.
fn arrival(sent: &SentPacket, at: ArrivalTime, ecn: Ecn, stamp: Stamp) -> Arrival {
    Arrival { ecn, stamp, ..Arrival::new(sent.id, sent.at, at, sent.payload) }
}

impl<O: Observer, L: Controller> Controller for AtSender<O, L> {
    fn on_sent(&mut self, packet: &SentPacket, state: &SendState) {
        self.newest_sent = self.newest_sent.max(Some(packet.id));
        self.stamps.put(packet.id, self.controller.stamp().unwrap_or_default());
        self.controller.on_sent(packet, state);
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        match kind {
            ReportKind::Packets => true,
            ReportKind::Ceiling | ReportKind::Reception => self.controller.accepts(kind),
            _ => false,
        }
    }

    /// The controller's own reports are ignored, because they would repeat the observer's. Reports of other kinds are
    /// passed to the controller.
    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        let (results, at) = match *feedback {
            Feedback::Packets { results, at, .. } => (results, at),
            Feedback::Native { .. } => return None,
            _ => return self.controller.on_feedback(now, feedback, state),
        };
        self.find_gap(results);
        self.rebuild(results);
        let context = FeedbackContext { now, feedback, state };
        let mut decided = None;
        for n in 0..self.arrivals.len() {
            let (packet, timed) = self.arrivals[n];
            decided = Decision::merged(decided, self.report(packet.at, false, &context));
            if timed {
                self.observer.on_arrival(&packet);
            } else {
                self.observer.on_untimed(&packet);
            }
        }
        let newest = self.arrivals.last().map(|(packet, _)| packet.at);
        match at.or(newest) {
            Some(end) => Decision::merged(decided, self.report(end, true, &context)),
            None => decided,
        }
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        self.controller.on_timeout(now, state)
    }

    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        if matches!(event, PathEvent::RouteChanged | PathEvent::DelayRefuted) {
            self.observer.on_route_changed();
            (self.reported, self.timed) = (None, None);
        }
        self.controller.on_event(now, event)
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.controller.next_timeout()
    }

    fn target(&self) -> Target {
        self.controller.target()
    }

    fn on_streams(&mut self, now: SendTime, streams: StreamsConfig) {
        self.controller.on_streams(now, streams);
    }

    // No stamp: the sender remembers it, so it need not travel.

    fn poll_probe(&mut self) -> Option<Probe> {
        self.controller.poll_probe()
    }

    fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate {
        self.controller.apply_allocation(now, share)
    }

    fn signals(&self) -> &'static [Signal] {
        self.signals
    }

    fn read_signals(&self, out: &mut [f64]) {
        let (controller, observer) = out.split_at_mut(self.controller.signals().len().min(out.len()));
        self.controller.read_signals(controller);
        let mut values = [f64::NAN; MAX_SIGNALS];
        let known = self.observer.signals().len().min(MAX_SIGNALS);
        self.observer.read_signals(&mut values[..known]);
        for (slot, &place) in observer.iter_mut().zip(&self.shown) {
            *slot = values.get(place).copied().unwrap_or(f64::NAN);
        }
    }

    fn evidence(&self, why: ChangeReason) -> [Option<Evidence>; 3] {
        self.controller.evidence(why)
    }
}

/// The signals of a controller, then those of its observer whose names the controller does not use itself. For
/// constants: `N` that is not the length of the list is an error at compile time.
///
/// # Panics
/// If `N` is not that length.
pub const fn join_signals<const N: usize>(controller: &[Signal], observer: &[Signal]) -> [Signal; N] {
    let mut joined = [Signal { name: "", unit: "", meaning: "" }; N];
    let mut length = 0;
    let mut next = 0;
    while next < controller.len() + observer.len() {
        let from_controller = next < controller.len();
        let signal = if from_controller { controller[next] } else { observer[next - controller.len()] };
        if from_controller || !contains_name(controller, signal.name) {
            joined[length] = signal;
            length += 1;
        }
        next += 1;
    }
    assert!(length == N, "`N` must be the number of different signals");
    joined
}

/// Whether one of `signals` has this name.
const fn contains_name(signals: &[Signal], name: &str) -> bool {
    let mut next = 0;
    while next < signals.len() {
        if same(signals[next].name.as_bytes(), name.as_bytes()) {
            return true;
        }
        next += 1;
    }
    false
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    let mut next = 0;
    while next < left.len() && next < right.len() && left[next] == right[next] {
        next += 1;
    }
    next == left.len() && next == right.len()
}

/// Stamps of the sent packets, each with the first packet that carried it.
#[derive(Debug)]
struct Stamps(VecDeque<(u64, Stamp)>);

impl Stamps {
    fn new() -> Self {
        Self(VecDeque::with_capacity(MAX_STAMPS))
    }

    fn put(&mut self, id: u64, stamp: Stamp) {
        if self.0.back().is_some_and(|&(_, last)| last == stamp) {
            return;
        }
        if self.0.len() == MAX_STAMPS {
            self.0.pop_front();
        }
        self.0.push_back((id, stamp));
    }

    /// The stamp of packet `id`, empty if it left too long ago.
    fn of(&self, id: u64) -> Stamp {
        self.0.iter().rev().find(|&&(first, _)| first <= id).map_or(Stamp::default(), |&(_, stamp)| stamp)
    }
}

#[cfg(test)]
mod tests;
