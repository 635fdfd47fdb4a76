//! Both halves of a law over a bottleneck of the simplest kind, in simulated time.

use std::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::{Controller, RateLimits, Receiver, Signal};
use crate::history::SendHistory;
use crate::pacer::Pacer;
use crate::packet::{Arrival, Ecn, SendState};
use crate::prober::Prober;
use crate::report::{ReceptionReport, Record, Report};
use crate::time::{ArrivalTime, SendTime};

const TICK: TimeDelta = TimeDelta::from_millis(1);
/// There and back: feedback takes no time, packets take that of both ways.
const PROPAGATION: TimeDelta = TimeDelta::from_millis(50);
/// What the queue holds, at the present capacity.
const QUEUE: TimeDelta = TimeDelta::from_millis(300);
const PAYLOAD_LIMIT: u64 = 1200;
/// One packet of full size in each round trip.
pub(crate) const PACKET_PER_ROUND_TRIP: DataRate = DataRate::from_kbps(192);
const PADDING: DataSize = DataSize::from_bytes(255);
const FRAMES_PER_SECOND: u64 = 30;
const RECEPTION_INTERVAL: TimeDelta = TimeDelta::from_secs(1);
/// Between the clocks of the hosts.
const OFFSET: TimeDelta = TimeDelta::from_secs(7200);

/// 50 to 2500 kbit/s, from 300 kbit/s.
pub(crate) fn limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap()
}

/// What offers packets at the media rate.
#[derive(Debug)]
pub(crate) enum Source {
    /// Frames, each split evenly into packets of at most the limit; so many have been captured.
    Video { frames: u64 },
    /// A packet of full size as soon as there are so many bits.
    Steady { bits: f64 },
}

impl Source {
    pub(crate) const VIDEO: Self = Self::Video { frames: 0 };
    pub(crate) const STEADY: Self = Self::Steady { bits: 0.0 };

    /// Adds what comes into being at `now`, a tick after the time before.
    fn offer(&mut self, now: SendTime, rate: DataRate, waiting: &mut VecDeque<Packet>) {
        match self {
            Self::Video { frames } => {
                let due = TimeDelta::from_secs(*frames as i64) / FRAMES_PER_SECOND as i64;
                if now - SendTime::ZERO >= due {
                    let media_time = *frames * 90_000 / FRAMES_PER_SECOND;
                    let bytes = rate.bps() / 8 / FRAMES_PER_SECOND;
                    let packets = bytes.div_ceil(PAYLOAD_LIMIT);
                    let size = DataSize::from_bytes(bytes / packets);
                    waiting.extend((1..=packets).map(|n| Packet { media_time, size, last: n == packets }));
                    *frames += 1;
                }
            }
            Self::Steady { bits } => {
                let size = DataSize::from_bytes(PAYLOAD_LIMIT);
                *bits += rate.bps_f64() * TICK.secs_f64();
                while *bits >= size.bits_f64() {
                    *bits -= size.bits_f64();
                    waiting.push_back(Packet { media_time: 0, size, last: true });
                }
            }
        }
    }
}

/// What a network does to packets and reports besides losing packets, in shares of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mishaps {
    /// Packets that arrive a second time, [`LATE`] after the first.
    pub(crate) copied: f64,
    /// Packets that arrive [`LATE`], after others that left later.
    pub(crate) late: f64,
    /// Reports that are lost.
    pub(crate) reports_lost: f64,
    /// Reports that come a second time, [`LATE`] after the first.
    pub(crate) reports_copied: f64,
    /// Reports that come [`LATE`].
    pub(crate) reports_late: f64,
}

/// What is late overtakes nothing for so long.
const LATE: TimeDelta = TimeDelta::from_millis(60);

/// A report on its way, with the records it had borrowed.
#[derive(Debug)]
struct OnItsWay {
    due: SendTime,
    report: Report<'static>,
    records: Vec<Record>,
}

impl OnItsWay {
    fn new(due: SendTime, report: &Report<'_>) -> Self {
        let (report, records) = match *report {
            Report::Packets { records, number, at } => {
                (Report::Packets { records: &[], number, at }, records.to_vec())
            }
            Report::Ceiling(rate) => (Report::Ceiling(rate), Vec::new()),
            Report::Reception(report) => (Report::Reception(report), Vec::new()),
            Report::Law { report, echo } => (Report::Law { report, echo }, Vec::new()),
        };
        Self { due, report, records }
    }

    fn report(&self) -> Report<'_> {
        match self.report {
            Report::Packets { number, at, .. } => Report::Packets { records: &self.records, number, at },
            other => other,
        }
    }
}

/// A source that fills its target, a pacer, a FIFO queue with drop-tail, a receiver that also sends
/// receiver reports, and a silent way back.
#[derive(Debug)]
pub(crate) struct Loop {
    sender: Box<dyn Controller>,
    receiver: Box<dyn Receiver>,
    pub(crate) capacity: DataRate,
    pub(crate) feedback_cut: bool,
    /// Reports of the law's receiver half.
    reports: u64,
    /// The source offers no more than this.
    pub(crate) source_limit: DataRate,
    /// Share of the packets that are lost before they reach the queue.
    pub(crate) random_loss: f64,
    pub(crate) mishaps: Mishaps,
    /// By how much the receiver's clock has been set forward.
    pub(crate) clock_step: TimeDelta,
    /// By how much it is fast, in parts per million.
    pub(crate) clock_drift_ppm: i64,
    dice: Dice,
    /// Packets leave as this …
    pub(crate) ecn: Ecn,
    /// … and are marked, unless it is [`Ecn::NotEct`], when they would wait longer than this.
    pub(crate) mark_above: TimeDelta,
    /// Packets that the full queue dropped.
    pub(crate) dropped: u64,
    /// What has left so far.
    sent: DataSize,
    last_probe: Option<DataRate>,
    now: SendTime,
    source: Source,
    waiting: VecDeque<Packet>,
    pacer: Pacer,
    prober: Prober,
    history: SendHistory,
    link_free: SendTime,
    /// Packets by their arrival in true time; what the receiver's clock reads then is filled in then.
    flying: VecDeque<(SendTime, Arrival)>,
    on_their_way: VecDeque<OnItsWay>,
    reception: Reception,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    media_time: u64,
    size: DataSize,
    last: bool,
}

impl Loop {
    pub(crate) fn new(
        sender: impl Controller + 'static,
        receiver: impl Receiver + 'static,
        source: Source,
        capacity: DataRate,
    ) -> Self {
        Self::of(Box::new(sender), Box::new(receiver), source, capacity)
    }

    pub(crate) fn of(
        sender: Box<dyn Controller>,
        receiver: Box<dyn Receiver>,
        source: Source,
        capacity: DataRate,
    ) -> Self {
        Self {
            sender,
            receiver,
            capacity,
            feedback_cut: false,
            reports: 0,
            source_limit: DataRate::MAX,
            random_loss: 0.0,
            mishaps: Mishaps::default(),
            clock_step: TimeDelta::ZERO,
            clock_drift_ppm: 0,
            dice: Dice(1),
            ecn: Ecn::NotEct,
            mark_above: QUEUE,
            dropped: 0,
            sent: DataSize::ZERO,
            last_probe: None,
            now: SendTime::ZERO,
            source,
            waiting: VecDeque::new(),
            pacer: Pacer::new(TICK),
            prober: Prober::new(),
            history: SendHistory::new(TimeDelta::from_secs(5)),
            link_free: SendTime::ZERO,
            flying: VecDeque::new(),
            on_their_way: VecDeque::new(),
            reception: Reception::default(),
        }
    }

    /// What `watch` sees after each ms of the next `span`.
    pub(crate) fn run<T>(&mut self, span: TimeDelta, watch: impl Fn(&Self) -> T) -> Vec<T> {
        (0..span.nanos() / TICK.nanos())
            .map(|_| {
                self.tick();
                watch(self)
            })
            .collect()
    }

    /// The present value of a signal of the sender half.
    pub(crate) fn sender_signal(&self, name: &str) -> f64 {
        value_of(name, self.sender.signals(), |out| self.sender.read_signals(out))
    }

    /// The present value of a signal of the receiver half.
    pub(crate) fn receiver_signal(&self, name: &str) -> f64 {
        value_of(name, self.receiver.signals(), |out| self.receiver.read_signals(out))
    }

    /// The target rate in bit/s.
    pub(crate) fn target_rate(&self) -> f64 {
        self.sender.target().sending_rate.bps_f64()
    }

    /// The rate of the last probe that the sender half wanted.
    pub(crate) fn last_probe(&self) -> Option<DataRate> {
        self.last_probe
    }

    /// What has left so far, in bits.
    pub(crate) fn sent_bits(&self) -> f64 {
        self.sent.bits_f64()
    }

    /// How many reports the law's receiver half has made.
    pub(crate) fn reports(&self) -> u64 {
        self.reports
    }

    /// How long a packet that leaves now would wait in the queue.
    pub(crate) fn queuing_delay(&self) -> TimeDelta {
        (self.link_free - self.now).max(TimeDelta::ZERO)
    }

    fn tick(&mut self) {
        self.now += TICK;
        self.arrive();
        self.report();
        if self.sender.next_timeout().is_some_and(|due| due <= self.now) {
            self.sender.on_timeout(self.now, &self.state());
        }
        let rate = self.sender.target().media_rate.min(self.source_limit);
        self.source.offer(self.now, rate, &mut self.waiting);
        self.send();
    }

    fn state(&self) -> SendState {
        let queued = self.waiting.iter().map(|packet| packet.size).sum();
        let application_limited = self.source_limit < self.sender.target().media_rate;
        SendState { in_flight: self.history.in_flight(), queued, application_limited }
    }

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
            let probe = self.prober.current();
            self.pacer.on_sent(self.now, packet.size);
            self.prober.on_sent(self.now, packet.size);
            let sent = self.history.on_sent(self.now, DataSize::ZERO, packet.size, padding, probe);
            self.sent += packet.size;
            self.sender.on_sent(&sent, &self.state());
            self.transmit(sent.id, &packet);
        }
    }

    /// What leaves now, and whether it is padding: a probe has its own pace.
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

    /// Whether the window, if there is one, lets the next packet be in flight.
    fn fits_window(&self) -> bool {
        let (Some(window), Some(packet)) = (self.sender.target().window, self.waiting.front()) else {
            return true;
        };
        let in_flight = self.history.in_flight();
        in_flight.is_zero() || in_flight + packet.size <= window
    }

    fn transmit(&mut self, id: u64, packet: &Packet) {
        let begin = self.link_free.max(self.now);
        let wait = begin - self.now;
        if wait > QUEUE {
            self.dropped += 1;
            return;
        }
        if self.dice.shows(self.random_loss) {
            return;
        }
        let marked = self.ecn != Ecn::NotEct && wait > self.mark_above;
        self.link_free = begin + packet.size / self.capacity;
        let arrival = Arrival {
            id,
            departure: self.now,
            at: ArrivalTime::ZERO,
            size: packet.size,
            ecn: if marked { Ecn::Ce } else { self.ecn },
            media_time: packet.media_time,
            marker: packet.last,
            stamp: self.sender.stamp().unwrap_or_default(),
        };
        let (at, Mishaps { copied, late, .. }) = (self.link_free + PROPAGATION, self.mishaps);
        let at = if self.dice.shows(late) { at + LATE } else { at };
        self.fly(at, arrival);
        if self.dice.shows(copied) {
            self.fly(at + LATE, arrival);
        }
    }

    fn fly(&mut self, at: SendTime, arrival: Arrival) {
        let place = self.flying.partition_point(|&(other, _)| other <= at);
        self.flying.insert(place, (at, arrival));
    }

    fn arrive(&mut self) {
        while let Some(&(at, packet)) = self.flying.front()
            && at <= self.now
        {
            self.receiver.on_arrival(&Arrival { at: self.receiver_clock(at), ..packet });
            self.reception.on_arrival(packet.id);
            self.flying.pop_front();
        }
    }

    /// What the receiver's clock reads at a time of the sender's.
    fn receiver_clock(&self, at: SendTime) -> ArrivalTime {
        let elapsed = at - SendTime::ZERO;
        let drift = elapsed / 1_000_000 * self.clock_drift_ppm;
        ArrivalTime::ZERO + OFFSET + elapsed + drift + self.clock_step
    }

    /// Hands on the reports that were held up.
    fn hear_late_reports(&mut self, state: &SendState) {
        while self.on_their_way.front().is_some_and(|late| late.due <= self.now)
            && let Some(late) = self.on_their_way.pop_front()
        {
            let feedback = self.history.join(self.now, &late.report());
            self.sender.on_feedback(self.now, &feedback, state);
        }
    }

    fn report(&mut self) {
        let (state, clock) = (self.state(), self.receiver_clock(self.now));
        self.hear_late_reports(&state);
        while let Some(report) = self.receiver.poll_report(clock) {
            self.reports += 1;
            let Mishaps { reports_lost, reports_copied, reports_late, .. } = self.mishaps;
            if self.feedback_cut || self.dice.shows(reports_lost) {
                continue;
            }
            let late = self.dice.shows(reports_late);
            if late || self.dice.shows(reports_copied) {
                self.on_their_way.push_back(OnItsWay::new(self.now + LATE, &report));
            }
            if !late {
                let feedback = self.history.join(self.now, &report);
                self.sender.on_feedback(self.now, &feedback, &state);
            }
        }
        if let Some(report) = self.reception.poll(self.now)
            && !self.feedback_cut
        {
            let feedback = self.history.join(self.now, &Report::Reception(report));
            self.sender.on_feedback(self.now, &feedback, &state);
        }
    }
}

/// Random numbers.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    /// Whether something happens that does in this share of the cases.
    fn shows(&mut self, share: f64) -> bool {
        share > 0.0 && self.next() < share
    }

    /// The next number in [0, 1) (Knuth's linear congruence).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn value_of(name: &str, signals: &[Signal], read: impl FnOnce(&mut [f64])) -> f64 {
    let mut values = vec![0.0; signals.len()];
    read(&mut values);
    values[signals.iter().position(|signal| signal.name == name).unwrap()]
}

/// The loss of each second, as a receiver report tells it. A late packet counts as received in the second it comes in.
#[derive(Debug, Default)]
struct Reception {
    expected: u64,
    received: u64,
    next_id: u64,
    due: SendTime,
}

impl Reception {
    fn on_arrival(&mut self, id: u64) {
        self.received += 1;
        let newer = (id + 1).saturating_sub(self.next_id);
        self.expected += newer;
        self.next_id += newer;
    }

    fn poll(&mut self, now: SendTime) -> Option<ReceptionReport> {
        if now < self.due || self.received == 0 {
            return None;
        }
        let lost = self.expected.saturating_sub(self.received) * 256 / self.expected.max(1);
        *self = Self { next_id: self.next_id, due: now + RECEPTION_INTERVAL, ..Self::default() };
        Some(ReceptionReport { fraction_lost: lost.min(255) as u8, ..ReceptionReport::default() })
    }
}
