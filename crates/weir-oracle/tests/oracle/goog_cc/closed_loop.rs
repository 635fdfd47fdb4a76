//! A call over one bottleneck, event by event. The source always fills the target; pacer, prober and a drop-tail
//! queue follow, with random loss behind it. The controller's feedback and receiver reports return without loss.
//! Bytes are those of packets on the link, and the target means the same bytes.

use std::collections::VecDeque;

use weir_cc::history::{SendHistory, compact_ntp};
use weir_cc::pacer::Pacer;
use weir_cc::prober::Prober;
use weir_cc::{
    Arrival, ArrivalTime, DataRate, DataSize, Echo, Ecn, NativeReport, Receiver, ReceptionReport, Record,
    Report, SendState, SendTime, Stamp, TimeDelta,
};

use super::link::{Cell, Link};
use super::oracle::Sender;

const RECEPTION_INTERVAL: TimeDelta = TimeDelta::from_secs(1);
/// Resolution of the receivers' arrival times (transport-wide feedback), in ns.
const ARRIVAL_STEP: i64 = 250_000;
const PACKET_LIMIT: u64 = 1200;
/// Size of a packet of RTP padding alone.
const PADDING: DataSize = DataSize::from_bytes(255);
const OBSERVED_EACH: TimeDelta = TimeDelta::from_millis(10);
/// Offset between the clocks of the hosts.
const OFFSET: TimeDelta = TimeDelta::from_secs(7200);

/// The path and its time.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Capacity from each of these times on, the first of which is zero.
    pub(crate) capacity: Vec<(SendTime, DataRate)>,
    /// Length of the queue, at the present capacity.
    pub(crate) queue: TimeDelta,
    /// A cellular link in place of both.
    pub(crate) cell: Option<Cell>,
    /// Propagation delay in each direction.
    pub(crate) propagation: TimeDelta,
    /// Probability that a packet is lost behind the queue.
    pub(crate) loss: f64,
    /// Packets are delayed by up to this behind the queue, evenly distributed, without overtaking.
    pub(crate) jitter: TimeDelta,
    /// Whether the source skips frames on request. The crate requests it too often: at each tick it uses its
    /// window as the bytes in flight.
    pub(crate) leaves_out: bool,
    /// Frames per second.
    pub(crate) frame_rate: i64,
    pub(crate) duration: TimeDelta,
}

impl Path {
    pub(crate) fn capacity_at(&self, at: SendTime) -> DataRate {
        self.capacity.iter().take_while(|&&(from, _)| from <= at).last().unwrap().1
    }

    /// Capacity of the bottleneck from `from` to the end, in bits.
    pub(crate) fn bits_from(&self, from: SendTime) -> f64 {
        let ends =
            self.capacity.iter().skip(1).map(|change| change.0).chain([SendTime::ZERO + self.duration]);
        let span = |since: SendTime, until: SendTime| (until - since.max(from)).secs_f64().max(0.0);
        self.capacity
            .iter()
            .zip(ends)
            .map(|(&(since, rate), until)| rate.bps_f64() * span(since, until))
            .sum()
    }
}

/// Observations of the call.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// When packets arrived (by the sender's clock), and their bytes.
    pub(crate) arrivals: Vec<(SendTime, u64)>,
    /// The wait in the queue, each 10 ms.
    pub(crate) waits: Vec<TimeDelta>,
    /// The target, each 10 ms.
    pub(crate) targets: Vec<DataRate>,
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    /// Frames by their numbers; those that were skipped have no packets.
    pub(crate) frames: Vec<Frame>,
}

/// A captured frame, and its packets that have arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) captured: SendTime,
    pub(crate) bytes: u64,
    packets: u64,
    arrived: u64,
    /// Time from its capture to the arrival of its last packet, if all arrived.
    pub(crate) delay: Option<TimeDelta>,
}

pub(crate) struct Loop<'a> {
    sender: &'a mut dyn Sender,
    path: &'a Path,
    random: Lcg,
    now: SendTime,
    first_frame: SendTime,
    frames: i64,
    media: VecDeque<Media>,
    media_time: u64,
    pacer: Pacer,
    prober: Prober,
    history: SendHistory,
    link: Link,
    /// Frames that were due while some were to be skipped.
    due: u32,
    /// Packets, and the frame of those that are media.
    flying: VecDeque<(Arrival, Option<usize>)>,
    receiver: Box<dyn Receiver>,
    reception: Reception,
    returning: VecDeque<(SendTime, Returning)>,
    observed: Observed,
}

#[derive(Debug)]
enum Returning {
    Packets(Vec<Record>, u8, Option<ArrivalTime>),
    Ceiling(DataRate),
    Native(NativeReport, Echo),
    Reception(ReceptionReport),
}

/// A media packet in the pacer.
#[derive(Clone, Copy, Debug)]
struct Media {
    frame: usize,
    time: u64,
    size: DataSize,
    last: bool,
}

impl<'a> Loop<'a> {
    /// A call in which `seed` decides which packets random loss takes and when, within a frame's time, the first
    /// frame is captured.
    pub(crate) fn new(
        sender: &'a mut dyn Sender,
        receiver: Box<dyn Receiver>,
        path: &'a Path,
        seed: u64,
    ) -> Self {
        let mut random = Lcg::new(seed);
        let phase = (TimeDelta::from_secs(1) / path.frame_rate).scale(random.next());
        Self {
            sender,
            path,
            random,
            now: SendTime::ZERO,
            first_frame: SendTime::ZERO + phase,
            frames: 0,
            media: VecDeque::new(),
            media_time: 0,
            pacer: Pacer::new(TimeDelta::ZERO),
            prober: Prober::new(),
            history: SendHistory::new(TimeDelta::from_secs(10)),
            link: match &path.cell {
                Some(cell) => Link::of_cell(cell.clone()),
                None => Link::of_rate(path.capacity[0].1, path.queue),
            },
            due: 0,
            flying: VecDeque::new(),
            receiver,
            reception: Reception::default(),
            returning: VecDeque::new(),
            observed: Observed::default(),
        }
    }

    /// Runs the call to its end.
    pub(crate) fn run(mut self) -> Observed {
        self.refresh();
        let end = SendTime::ZERO + self.path.duration;
        let mut observe = SendTime::ZERO;
        loop {
            self.now = self.next_event().min(observe).max(self.now);
            if self.now >= end {
                return self.observed;
            }
            self.follow_capacity();
            self.arrive();
            self.report();
            self.take_reports();
            if self.sender.next_timeout().is_some_and(|due| due <= self.now) {
                let state = self.state();
                self.sender.on_timeout(self.now, &state);
                self.refresh();
            }
            self.capture();
            self.send();
            if observe <= self.now {
                self.observed.waits.push(self.link.wait(self.now));
                self.observed.targets.push(self.sender.target().sending_rate);
                observe += OBSERVED_EACH;
            }
        }
    }

    fn next_event(&self) -> SendTime {
        let reports = self.receiver.next_timeout().map(sender_clock);
        let capacity = self.path.capacity.iter().map(|change| change.0).find(|&at| at > self.now);
        [
            Some(self.frame_due()),
            self.departure_due(),
            self.sender.next_timeout(),
            self.flying.front().map(|(packet, _)| sender_clock(packet.at)),
            reports,
            self.reception.due,
            self.returning.front().map(|report| report.0),
            capacity,
        ]
        .into_iter()
        .flatten()
        .min()
        .unwrap()
    }

    /// Reschedules the packets in the queue at the present capacity.
    fn follow_capacity(&mut self) {
        let (now, present) = (self.now, self.path.capacity_at(self.now));
        let wait = self.link.wait(now);
        let Link::Rate { capacity, free, .. } = &mut self.link else { return };
        if present == *capacity {
            return;
        }
        let ratio = capacity.bps_f64() / present.bps_f64();
        (*capacity, *free) = (present, now + wait.scale(ratio));
        let sent = receiver_clock(now + self.path.propagation);
        for (packet, _) in self.flying.iter_mut().filter(|(packet, _)| packet.at > sent) {
            packet.at = sent + (packet.at - sent).scale(ratio);
        }
    }

    fn state(&self) -> SendState {
        SendState { in_flight: self.history.in_flight(), queued: self.queued(), application_limited: false }
    }

    fn queued(&self) -> DataSize {
        self.media.iter().map(|media| media.size).sum()
    }

    /// Applies the controller's target and probes to pacer and prober.
    fn refresh(&mut self) {
        self.pacer.apply(self.now, &self.sender.target());
        while let Some(probe) = self.sender.poll_probe() {
            self.prober.push(self.now, probe);
        }
        // A waiting packet lets a probe begin.
        if let Some(media) = self.media.front() {
            self.prober.on_queued(media.size);
        }
    }

    fn frame_due(&self) -> SendTime {
        self.first_frame + TimeDelta::from_secs(self.frames) / self.path.frame_rate
    }

    /// Captures a frame of the target rate, if one is due.
    fn capture(&mut self) {
        if self.frame_due() > self.now {
            return;
        }
        let (number, time) = (self.frames as usize, (self.frames * 90_000 / self.path.frame_rate) as u64);
        self.frames += 1;
        let left_out = self.leaves_out();
        let media_rate = self.sender.target().media_rate.bps();
        let bytes = if left_out { 0 } else { media_rate / 8 / self.path.frame_rate as u64 };
        let packets = bytes.div_ceil(PACKET_LIMIT);
        self.observed.frames.push(Frame { captured: self.now, bytes, packets, arrived: 0, delay: None });
        if self.media.is_empty() && packets > 0 {
            self.pacer.on_queued(self.now);
        }
        for n in 0..packets {
            let size = DataSize::from_bytes((bytes + n) / packets);
            self.prober.on_queued(size);
            self.media.push_back(Media { frame: number, time, size, last: n + 1 == packets });
        }
    }

    /// Skips a frame of several, at most each second (libwebrtc's `VideoStreamEncoder`).
    fn leaves_out(&mut self) -> bool {
        let share = self.sender.target().frame_drop;
        if !self.path.leaves_out || share <= 0.01 {
            return false;
        }
        let leaves_out = self.due.is_multiple_of(((1.0 / share) as u32).max(2));
        self.due += 1;
        leaves_out
    }

    /// Time of the next departure of media, a probe or padding.
    fn departure_due(&self) -> Option<SendTime> {
        self.prober.next_departure().or_else(|| {
            if self.media.is_empty() {
                self.pacer.next_padding(PADDING)
            } else {
                Some(self.pacer.next_departure())
            }
        })
    }

    /// Sends the packets that are due.
    fn send(&mut self) {
        self.prober.expire(self.now);
        while self.departure_due().is_some_and(|due| due <= self.now) {
            let media = self.media.pop_front();
            let size = media.map_or(PADDING, |media| media.size);
            self.media_time = media.map_or(self.media_time, |media| media.time);
            let probe = self.prober.current().map(|probe| probe.id);
            let sent = self.history.on_sent(self.now, DataSize::ZERO, size, media.is_none(), probe);
            self.prober.on_sent(self.now, size);
            self.pacer.on_sent(self.now, size);
            let state = self.state();
            self.sender.on_sent(&sent, &state);
            self.refresh();
            self.observed.sent += 1;
            self.transmit(sent.id, size, media);
        }
    }

    /// Puts a packet on the link; the queue or random loss may drop it.
    fn transmit(&mut self, id: u64, size: DataSize, media: Option<Media>) {
        let out = self.link.take(self.now, size);
        let Some(out) = out.filter(|_| self.random.next() >= self.path.loss) else {
            self.observed.lost += 1;
            return;
        };
        let late = if self.path.jitter > TimeDelta::ZERO { self.random.next() } else { 0.0 };
        let at = receiver_clock(out + self.path.propagation + self.path.jitter.scale(late));
        let at = self.flying.back().map_or(at, |(before, _)| at.max(before.at));
        let arrival = Arrival {
            id,
            departure: self.now,
            at,
            size,
            ecn: Ecn::NotEct,
            media_time: self.media_time,
            marker: media.is_some_and(|media| media.last),
            stamp: Stamp::default(),
        };
        self.flying.push_back((arrival, media.map(|media| media.frame)));
    }

    /// Delivers the packets that arrive by now.
    fn arrive(&mut self) {
        while let Some((packet, frame)) = self.flying.front().copied()
            && sender_clock(packet.at) <= self.now
        {
            self.flying.pop_front();
            if let Some(frame) = frame.map(|number| &mut self.observed.frames[number]) {
                frame.arrived += 1;
                let whole = frame.arrived == frame.packets;
                frame.delay = whole.then(|| sender_clock(packet.at) - frame.captured);
            }
            self.observed.arrivals.push((sender_clock(packet.at), packet.size.bytes()));
            self.reception.on_arrival(self.now, &packet);
            let steps = packet.at.nanos() / ARRIVAL_STEP;
            self.receiver
                .on_arrival(&Arrival { at: ArrivalTime::from_nanos(steps * ARRIVAL_STEP), ..packet });
        }
    }

    /// Puts the receiver's reports on the reverse path.
    fn report(&mut self) {
        let back = self.now + self.path.propagation;
        while let Some(report) = self.receiver.poll_report(receiver_clock(self.now)) {
            let report = match report {
                Report::Packets { records, number, at } => Returning::Packets(records.to_vec(), number, at),
                Report::Ceiling(rate) => Returning::Ceiling(rate),
                Report::Native { report, echo } => Returning::Native(report, echo),
                Report::Reception(report) => Returning::Reception(report),
            };
            self.returning.push_back((back, report));
        }
        if let Some(report) = self.reception.poll(self.now) {
            self.returning.push_back((back, Returning::Reception(report)));
        }
    }

    /// Delivers the reports that reach the sender by now.
    fn take_reports(&mut self) {
        while self.returning.front().is_some_and(|report| report.0 <= self.now) {
            let Some((_, report)) = self.returning.pop_front() else { return };
            let report = match &report {
                Returning::Packets(records, number, at) => {
                    Report::Packets { records, number: *number, at: *at }
                }
                Returning::Ceiling(rate) => Report::Ceiling(*rate),
                Returning::Native(report, echo) => Report::Native { report: *report, echo: *echo },
                Returning::Reception(report) => Report::Reception(*report),
            };
            // The bytes in flight before the report include the packets that it acknowledges.
            let state = self.state();
            if let Some(feedback) = self.history.join(self.now, &report) {
                self.sender.on_feedback(self.now, &feedback, &state);
                self.refresh();
            }
        }
    }
}

/// Receiver reports, with round-trip times as if the newest packet had been a sender report.
#[derive(Debug, Default)]
struct Reception {
    received: u64,
    received_before: u64,
    next_id: u64,
    next_id_before: u64,
    newest: Option<(SendTime, SendTime)>,
    due: Option<SendTime>,
}

impl Reception {
    fn on_arrival(&mut self, now: SendTime, packet: &Arrival) {
        self.received += 1;
        self.next_id = packet.id + 1;
        self.newest = Some((packet.departure, now));
        self.due.get_or_insert(now + RECEPTION_INTERVAL);
    }

    fn poll(&mut self, now: SendTime) -> Option<ReceptionReport> {
        self.due.filter(|&due| due <= now)?;
        self.due = Some(now + RECEPTION_INTERVAL);
        let (departure, arrival) = self.newest?;
        let expected = self.next_id - self.next_id_before;
        let lost = expected.saturating_sub(self.received - self.received_before);
        (self.received_before, self.next_id_before) = (self.received, self.next_id);
        Some(ReceptionReport {
            fraction_lost: (lost * 256 / expected.max(1)).min(255) as u8,
            cumulative_lost: (self.next_id - self.received) as i32,
            highest_sequence: (self.next_id - 1) as u32,
            jitter: 0,
            last_sender_report: compact_ntp(departure),
            delay_since_last_sender_report: compact_ntp(SendTime::ZERO + (now - arrival)),
        })
    }
}

/// Knuth's linear congruential generator: uniform in [0, 1).
#[derive(Debug)]
struct Lcg(u64);

impl Lcg {
    fn new(seed: u64) -> Self {
        let mut lcg = Self(seed);
        // The first numbers of neighbouring seeds are alike.
        (0..8).for_each(|_| _ = lcg.next());
        lcg
    }

    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn receiver_clock(at: SendTime) -> ArrivalTime {
    ArrivalTime::ZERO + OFFSET + (at - SendTime::ZERO)
}

fn sender_clock(at: ArrivalTime) -> SendTime {
    SendTime::ZERO + (at - ArrivalTime::ZERO - OFFSET)
}
