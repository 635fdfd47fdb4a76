//! Both halves of a controller over a bottleneck of the simplest kind, in simulated time.

mod impairments;
mod reception;
mod source;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use weir_net::{LinkConfig, Path, QueueConfig, Sent, Service, Time};
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::{Controller, Receiver, Signal, Target};
use crate::decision::{AllocatedRate, Decision};
use crate::history::SendHistory;
use crate::pacer::Pacer;
use crate::packet::{Arrival, Ecn, SendState};
use crate::prober::Prober;
use crate::report::Report;
use crate::time::{ArrivalTime, SendTime};
use impairments::{ImpairmentDraws, LATE, LateReport};
use reception::SecondLosses;
use source::Packet;

pub use impairments::Impairments;
pub use source::PacketSource;

const TICK: TimeDelta = TimeDelta::from_millis(1);
/// Round-trip propagation delay, all of it on the forward path: feedback takes no time.
const PROPAGATION: TimeDelta = TimeDelta::from_millis(50);
/// Default length of the queue.
const QUEUE: TimeDelta = TimeDelta::from_millis(300);
/// Rate of one full-size packet per round trip.
pub const PACKET_PER_ROUND_TRIP: DataRate = DataRate::from_kbps(192);
const PADDING: DataSize = DataSize::from_bytes(255);
/// Offset between the clocks of the hosts.
const OFFSET: TimeDelta = TimeDelta::from_secs(7200);

/// A packet in flight. The time of the receiver's clock is filled in on arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlightPacket {
    arrival: Arrival,
    /// Whether a copy arrives later.
    copied: bool,
}

/// A source that fills its target, a pacer, a [link](weir_net::Link) with drop-tail, a receiver that also sends receiver
/// reports, and a reverse path without delay.
#[derive(Debug)]
pub struct Loop {
    sender: Box<dyn Controller>,
    receiver: Box<dyn Receiver>,
    link: LinkConfig,
    path: Path<FlightPacket, LateReport>,
    /// Packets for a bottleneck outside of the loop, if there is one.
    departures: Option<Vec<Sent<FlightPacket>>>,
    /// Capacity of the bottleneck.
    capacity: DataRate,
    /// Share of the capacity that cross traffic leaves.
    share: f64,
    queuing_delay: TimeDelta,
    /// Whether no feedback arrives.
    pub feedback_cut: bool,
    /// Number of reports of the controller's receiver half.
    reports: u64,
    /// Most rate that the source offers.
    pub source_limit: DataRate,
    /// Share of the packets that are lost before they reach the queue.
    pub random_loss: f64,
    /// Other impairments.
    pub impairments: Impairments,
    /// Initial offset of the receiver's clock ahead of the sender's.
    pub clock_offset: TimeDelta,
    /// Time by which the receiver's clock has been set forward.
    pub clock_step: TimeDelta,
    /// Drift by which the receiver's clock is fast, in parts per million.
    pub clock_drift_ppm: i64,
    dice: ImpairmentDraws,
    /// Decisions of the sender half since the last call of [`Self::take_decision`], merged into one.
    decided: Option<Decision>,
    /// Whether coupling answers each decision with the rate decided.
    pub echoes: bool,
    /// ECN field of the packets.
    pub ecn: Ecn,
    /// Packets that the full queue dropped.
    pub dropped: u64,
    /// Amounts sent and delivered so far.
    sent: DataSize,
    delivered: DataSize,
    last_probe: Option<DataRate>,
    now: SendTime,
    source: PacketSource,
    waiting: VecDeque<Packet>,
    pacer: Pacer,
    prober: Prober,
    history: SendHistory,
    reception: SecondLosses,
}

impl Loop {
    /// Both halves of a controller over a bottleneck of `capacity`: a round trip of 50 ms, a queue of 300 ms, clocks
    /// two hours apart.
    pub fn new(
        sender: impl Controller + 'static,
        receiver: impl Receiver + 'static,
        source: PacketSource,
        capacity: DataRate,
    ) -> Self {
        Self::of(Box::new(sender), Box::new(receiver), source, capacity)
    }

    /// The same as [`Self::new`], with boxed halves.
    pub fn of(
        sender: Box<dyn Controller>,
        receiver: Box<dyn Receiver>,
        source: PacketSource,
        capacity: DataRate,
    ) -> Self {
        let queue = QueueConfig { limit_time: Some(QUEUE), ..QueueConfig::default() };
        let link = LinkConfig { queue, ..LinkConfig::new(Service::Constant(capacity), PROPAGATION) };
        Self {
            sender,
            receiver,
            path: path_over(&link),
            link,
            departures: None,
            capacity,
            share: 1.0,
            queuing_delay: TimeDelta::ZERO,
            feedback_cut: false,
            reports: 0,
            source_limit: DataRate::MAX,
            random_loss: 0.0,
            impairments: Impairments::default(),
            clock_offset: OFFSET,
            clock_step: TimeDelta::ZERO,
            clock_drift_ppm: 0,
            dice: ImpairmentDraws(1),
            decided: None,
            echoes: false,
            ecn: Ecn::NotEct,
            dropped: 0,
            sent: DataSize::ZERO,
            delivered: DataSize::ZERO,
            last_probe: None,
            now: SendTime::ZERO,
            source,
            waiting: VecDeque::new(),
            pacer: Pacer::new(TICK),
            prober: Prober::new(),
            history: SendHistory::new(TimeDelta::from_secs(5)),
            reception: SecondLosses::default(),
        }
    }

    /// Changes the description of the bottleneck, before the first packet: its queue, its marks, or its propagation
    /// delay, which is that of the round trip.
    ///
    /// # Panics
    /// If the description makes no link.
    pub fn describe_link(&mut self, change: impl FnOnce(&mut LinkConfig)) {
        change(&mut self.link);
        self.path = path_over(&self.link);
    }

    /// The description of the bottleneck.
    pub(crate) fn link(&self) -> &LinkConfig {
        &self.link
    }

    /// The present capacity of the bottleneck.
    pub fn capacity(&self) -> DataRate {
        self.capacity
    }

    /// Changes the capacity of the bottleneck from now on.
    pub fn set_capacity(&mut self, capacity: DataRate) {
        self.capacity = capacity;
        self.link.service = Service::Constant(capacity);
        self.path.set_rate(true_time(self.now), capacity);
    }

    /// Cross traffic leaves this share of the capacity to the packets sent from now on; above 1, some that the capacity
    /// does not include has gone. Packets in the queue are ahead of it, so that their delay does not change.
    pub(crate) fn set_share(&mut self, share: f64) {
        self.share = share;
    }

    /// Sends packets over a bottleneck outside of the loop from now on ([`Self::take_departures`]).
    pub(crate) fn leave_link(&mut self) {
        self.departures = Some(Vec::new());
    }

    /// The packets for the bottleneck outside of the loop since the last call.
    pub(crate) fn take_departures(&mut self) -> impl Iterator<Item = Sent<FlightPacket>> {
        self.departures.iter_mut().flat_map(|departures| departures.drain(..))
    }

    /// A packet comes out of the bottleneck outside of the loop at `at`.
    pub(crate) fn insert(&mut self, at: Time, flight: FlightPacket) {
        self.path.insert(at, flight);
    }

    /// Runs for `span`, and returns the values of `watch` after each ms.
    pub fn run<T>(&mut self, span: TimeDelta, watch: impl Fn(&Self) -> T) -> Vec<T> {
        (0..span.nanos() / TICK.nanos())
            .map(|_| {
                self.tick();
                watch(self)
            })
            .collect()
    }

    /// The present value of a signal of the sender half.
    ///
    /// # Panics
    /// If there is no signal of this name.
    pub fn sender_signal(&self, name: &str) -> f64 {
        value_of(name, self.sender.signals(), |out| self.sender.read_signals(out))
    }

    /// The present value of a signal of the receiver half.
    ///
    /// # Panics
    /// If there is no signal of this name.
    pub fn receiver_signal(&self, name: &str) -> f64 {
        value_of(name, self.receiver.signals(), |out| self.receiver.read_signals(out))
    }

    /// The target rate in bit/s.
    pub fn target_rate(&self) -> f64 {
        self.sender.target().sending_rate.bps_f64()
    }

    /// The rate of the last probe of the sender half.
    pub fn last_probe(&self) -> Option<DataRate> {
        self.last_probe
    }

    /// The amount sent so far, in bits.
    pub fn sent_bits(&self) -> f64 {
        self.sent.bits_f64()
    }

    /// The amount that has reached the receiver so far, in bits.
    pub fn delivered_bits(&self) -> f64 {
        self.delivered.bits_f64()
    }

    /// The number of reports of the controller's receiver half.
    pub fn reports(&self) -> u64 {
        self.reports
    }

    /// The queuing delay of a packet that leaves now.
    pub fn queuing_delay(&self) -> TimeDelta {
        self.queuing_delay
    }

    /// Takes the decisions since the last call, merged into one.
    pub fn take_decision(&mut self) -> Option<Decision> {
        self.decided.take()
    }

    /// Runs for `span`, and returns its decisions, those of a millisecond merged into one.
    pub fn run_to_decisions(&mut self, span: TimeDelta) -> Vec<Decision> {
        let ticks = 0..span.nanos() / TICK.nanos();
        ticks
            .filter_map(|_| {
                self.tick();
                self.take_decision()
            })
            .collect()
    }

    /// Applies an allocation of coupling; returns the rate that the controller took.
    pub fn apply_allocation(&mut self, rate: DataRate) -> DataRate {
        self.sender.apply_allocation(self.now, AllocatedRate { rate })
    }

    /// The present target of the sender half.
    pub fn target(&self) -> Target {
        self.sender.target()
    }

    fn on_decision(&mut self, decision: Option<Decision>) {
        if self.echoes
            && let Some(Decision { rate, .. }) = decision
        {
            assert_eq!(self.apply_allocation(rate), rate);
        }
        self.decided = Decision::merged(self.decided, decision);
    }

    /// Advances the loop by a millisecond.
    ///
    /// # Panics
    /// If [`Self::echoes`] and the controller does not take the rate that it decided.
    pub fn tick(&mut self) {
        self.now += TICK;
        self.arrive();
        self.report();
        if self.sender.next_timeout().is_some_and(|due| due <= self.now) {
            let decision = self.sender.on_timeout(self.now, &self.state());
            self.on_decision(decision);
        }
        let rate = self.sender.target().media_rate.min(self.source_limit);
        let waited = !self.waiting.is_empty();
        self.source.offer(self.now, rate, &mut self.waiting);
        if !waited && !self.waiting.is_empty() {
            self.pacer.on_queued(self.now);
        }
        self.send();
        self.queuing_delay = self.path.backlog(true_time(self.now)).bytes / self.capacity;
    }

    /// The state of the endpoint.
    fn state(&self) -> SendState {
        let queued = self.waiting.iter().map(|packet| packet.size).sum();
        let application_limited = self.source_limit < self.sender.target().media_rate;
        SendState { in_flight: self.history.in_flight(), queued, application_limited }
    }

    /// Sends all packets and probes that the pacer releases now.
    fn send(&mut self) {
        self.history.expire(self.now);
        while let Some(probe) = self.sender.poll_probe() {
            self.last_probe = Some(probe.rate);
            self.prober.push(self.now, probe);
        }
        if let Some(packet) = self.waiting.front() {
            self.prober.on_queued(packet.size);
        }
        self.prober.expire(self.now);
        self.pacer.apply(self.now, &self.sender.target());
        while let Some((packet, padding)) = self.next_packet() {
            let probe = self.prober.current().map(|probe| probe.id);
            self.pacer.on_sent(self.now, packet.size);
            self.prober.on_sent(self.now, packet.size);
            self.history.set_ecn(self.ecn);
            let sent = self.history.on_sent(self.now, DataSize::ZERO, packet.size, padding, probe);
            self.sent += packet.size;
            self.sender.on_sent(&sent, &self.state());
            self.transmit(sent.id, &packet);
        }
    }

    /// The packet that leaves now, and whether it is padding. A probe has its own pace.
    fn next_packet(&mut self) -> Option<(Packet, bool)> {
        let probing = self.prober.next_departure();
        if self.waiting.is_empty() {
            let due = probing.or_else(|| self.pacer.next_padding(PADDING));
            due.filter(|&due| due <= self.now)?;
            return Some((Packet { media_time: 0, size: PADDING, last: false }, true));
        }
        let due = probing.unwrap_or_else(|| self.pacer.next_departure());
        (due <= self.now && self.fits_window())
            .then(|| self.waiting.pop_front())?
            .map(|packet| (packet, false))
    }

    /// Whether the congestion window, if there is one, allows the next packet.
    fn fits_window(&self) -> bool {
        let (Some(window), Some(packet)) = (self.sender.target().window, self.waiting.front()) else {
            return true;
        };
        let in_flight = self.history.in_flight();
        in_flight.is_zero() || in_flight + packet.size <= window
    }

    /// Puts a packet on the path, unless random loss takes it.
    fn transmit(&mut self, id: u64, packet: &Packet) {
        if self.dice.shows(self.random_loss) {
            return;
        }
        let arrival = Arrival {
            id,
            departure: self.now,
            at: ArrivalTime::ZERO,
            size: packet.size,
            ecn: self.ecn,
            media_time: packet.media_time,
            marker: packet.last,
            stamp: self.sender.stamp().unwrap_or_default(),
        };
        let Impairments { copied, late, .. } = self.impairments;
        let extra_delay = if self.dice.shows(late) { LATE } else { TimeDelta::ZERO };
        let flight = FlightPacket { arrival, copied: self.dice.shows(copied) };
        let ecn_capable = self.ecn != Ecn::NotEct;
        // The packet and the cross traffic that came with it.
        let size = DataSize::from_bytes((packet.size.bytes() as f64 / self.share).round() as u64);
        let sent = Sent { ecn_capable, extra_delay, ..Sent::new(flight, size) };
        match &mut self.departures {
            Some(departures) => departures.push(sent),
            None => self.dropped += u64::from(self.path.send(true_time(self.now), sent).is_err()),
        }
    }

    /// Delivers the packets that arrive by now to the receiver half.
    fn arrive(&mut self) {
        while let Some(arrived) = self.path.arrival(true_time(self.now)) {
            let FlightPacket { mut arrival, copied } = arrived.packet;
            if arrived.marked {
                arrival.ecn = Ecn::Ce;
            }
            if copied {
                self.path.insert(arrived.at + LATE, FlightPacket { arrival, copied: false });
            }
            arrival.at = self.receiver_clock(SendTime::from_nanos(arrived.at.nanos() as i64));
            self.receiver.on_arrival(&arrival);
            self.reception.on_arrival(arrival.id);
            self.delivered += arrival.size;
        }
    }

    /// Reading of the receiver's clock at a time of the sender's.
    fn receiver_clock(&self, at: SendTime) -> ArrivalTime {
        let elapsed = at - SendTime::ZERO;
        let drift = elapsed / 1_000_000 * self.clock_drift_ppm;
        ArrivalTime::ZERO + self.clock_offset + elapsed + drift + self.clock_step
    }

    /// Delivers the delayed reports that are due.
    fn hear_late_reports(&mut self, state: &SendState) {
        while let Some(late) = self.path.answered(true_time(self.now)) {
            let decision =
                deliver_report(self.now, &late.report(), state, &mut self.history, &mut *self.sender);
            self.on_decision(decision);
        }
    }

    /// Delivers the receiver's reports, with the impairments of the reverse path.
    fn report(&mut self) {
        let (state, clock) = (self.state(), self.receiver_clock(self.now));
        self.hear_late_reports(&state);
        while let Some(report) = self.receiver.poll_report(clock) {
            self.reports += 1;
            let Impairments { reports_lost, reports_copied, reports_late, .. } = self.impairments;
            if self.feedback_cut || self.dice.shows(reports_lost) {
                continue;
            }
            let late = self.dice.shows(reports_late);
            if late || self.dice.shows(reports_copied) {
                self.path.answer_at(true_time(self.now) + LATE, LateReport::new(&report));
            }
            if !late {
                let decision =
                    deliver_report(self.now, &report, &state, &mut self.history, &mut *self.sender);
                self.on_decision(decision);
            }
        }
        if let Some(report) = self.reception.poll(self.now)
            && !self.feedback_cut
        {
            let report = Report::Reception(report);
            let decision = deliver_report(self.now, &report, &state, &mut self.history, &mut *self.sender);
            self.on_decision(decision);
        }
    }
}

/// A path without delay back.
fn path_over(link: &LinkConfig) -> Path<FlightPacket, LateReport> {
    Path::new(link, 0, TimeDelta::ZERO).expect("the description makes a link")
}

/// The sender's clock shows the true time.
fn true_time(at: SendTime) -> Time {
    Time::from_nanos(at.nanos().max(0) as u64)
}

/// The value of the signal `name`.
fn value_of(name: &str, signals: &[Signal], read: impl FnOnce(&mut [f64])) -> f64 {
    let mut values = vec![0.0; signals.len()];
    read(&mut values);
    values[signals.iter().position(|signal| signal.name == name).unwrap()]
}

/// Gives `sender` a report, if it is of its kind and possible.
fn deliver_report(
    now: SendTime,
    report: &Report<'_>,
    state: &SendState,
    history: &mut SendHistory,
    sender: &mut dyn Controller,
) -> Option<Decision> {
    let feedback = sender.accepts(report.kind()).then(|| history.join(now, report)).flatten()?;
    sender.on_feedback(now, &feedback, state)
}
