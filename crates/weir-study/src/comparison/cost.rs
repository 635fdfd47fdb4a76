//! Processing cost of a controller's sender half, measured over a fixed minute of packets and feedback.
//!
//! The minute is the same for every controller, whatever rate it computes. There are 15 000 packets of 1000 bytes, one every 4
//! ms. The queuing delay of the path rises to 200 ms and drains every 10 s, and every 500th packet is lost. The receiver half's
//! feedback for the arrivals is prepared beforehand. The cost includes all work of the sender per packet and per report. That is
//! numbering, recording in the send history, passing on to the controller, joining the report with the history, and computing.
//! RTCP parsing and pacing are not included.

use std::hint::black_box;
use std::ops::Range;

use weir_cc::history::SendHistory;
use weir_cc::{
    Arrival, ArrivalTime, Controller, DataRate, DataSize, Ecn, RateLimits, Receiver, ReceptionReport, Record,
    Report, SendState, SendTime, Stamp, TimeDelta,
};

use weir_scenario::registry::{Halves, Registry, RegistryError};

/// Number of packets of the minute.
pub const PACKETS: u32 = 15_000;
const PACKET_INTERVAL: TimeDelta = TimeDelta::from_millis(4);
const HEADER: DataSize = DataSize::from_bytes(24);
const PAYLOAD: DataSize = DataSize::from_bytes(976);
const LOST_EACH: u32 = 500;
/// The queuing delay rises in the first four fifths of this period and drains in the last.
const QUEUE_PERIOD: TimeDelta = TimeDelta::from_secs(10);
const QUEUE_PEAK: TimeDelta = TimeDelta::from_millis(200);
const PROPAGATION: TimeDelta = TimeDelta::from_millis(25);
const RECEPTION_INTERVAL: TimeDelta = TimeDelta::from_secs(1);
/// Offset between the clocks of the hosts.
const OFFSET: TimeDelta = TimeDelta::from_secs(7200);

/// A sender half, and all events that it will receive.
#[derive(Debug)]
pub struct ReplayedCall {
    controller: Box<dyn Controller>,
    history: SendHistory,
    events: EventSequence,
    /// Number of packets sent so far.
    sent: u32,
}

/// The sequence of events that any sender half receives.
#[derive(Debug)]
pub struct EventSequence {
    interval: TimeDelta,
    /// Reports in order of time, and the packet records that they refer to.
    reports: Vec<(SendTime, StoredReport)>,
    records: Vec<Record>,
}

/// The next event for a sender half.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The next packet leaves.
    Packet(SendTime),
    /// A report arrives.
    Report(SendTime, Report<'a>),
}

/// A report whose packet records are stored elsewhere.
#[derive(Clone, Debug)]
enum StoredReport {
    Packets { records: std::ops::Range<usize>, number: u8, at: Option<ArrivalTime> },
    Other(Report<'static>),
}

impl ReplayedCall {
    /// The controller `name` of `registry` before its minute.
    ///
    /// # Errors
    /// An unknown name.
    pub fn of(registry: &Registry, name: &str) -> Result<Self, RegistryError> {
        Self::with_interval(registry, name, PACKET_INTERVAL)
    }

    /// The controller `name` of `registry` before [`PACKETS`] packets `interval` apart.
    ///
    /// # Errors
    /// An unknown name.
    pub fn with_interval(
        registry: &Registry,
        name: &str,
        interval: TimeDelta,
    ) -> Result<Self, RegistryError> {
        let limits =
            RateLimits::new(DataRate::from_kbps(50), DataRate::from_mbps(1), DataRate::from_mbps(8))?;
        let Halves { controller, mut receiver, .. } = registry.build(name, None, limits, 1.0)?;
        let history = SendHistory::new(TimeDelta::from_secs(2));
        Ok(Self { controller, history, events: EventSequence::of(&mut *receiver, interval), sent: 0 })
    }

    /// Replays the whole minute; its duration over [`PACKETS`] is the cost per packet.
    pub fn run(mut self) -> DataRate {
        self.advance(PACKETS)
    }

    /// Replays events until this many more packets have been sent.
    pub fn advance(&mut self, packets: u32) -> DataRate {
        let Self { controller, history, events, sent } = self;
        for event in events.events(*sent..*sent + packets) {
            match event {
                Event::Report(at, report) => {
                    let state = SendState { in_flight: history.in_flight(), ..SendState::default() };
                    if let Some(feedback) = history.join(at, &report) {
                        controller.on_feedback(at, &feedback, &state);
                    }
                }
                Event::Packet(now) => {
                    let packet = history.on_media_sent(now, HEADER, PAYLOAD);
                    let state = SendState { in_flight: history.in_flight(), ..SendState::default() };
                    controller.on_sent(&packet, &state);
                    if controller.next_timeout().is_some_and(|due| due <= now) {
                        controller.on_timeout(now, &state);
                    }
                    // Passed by reference: a copy would be no part of the controller's cost.
                    black_box(&controller.target());
                }
            }
            while controller.poll_probe().is_some() {}
        }
        *sent += packets;
        controller.target().sending_rate
    }

    /// The sender half and its send history in their present state.
    pub fn into_sender(self) -> (Box<dyn Controller>, SendHistory) {
        (self.controller, self.history)
    }
}

impl EventSequence {
    /// The script of the feedback that `receiver` gives on [`PACKETS`] packets, `interval` apart.
    pub fn of(receiver: &mut dyn Receiver, interval: TimeDelta) -> Self {
        let mut minute = Self { interval, reports: Vec::new(), records: Vec::new() };
        let mut highest = 0;
        let mut reception_due = RECEPTION_INTERVAL;
        for number in (0..PACKETS).filter(|number| number % LOST_EACH != LOST_EACH - 1) {
            let sent = interval * i64::from(number);
            let arrival = sent + PROPAGATION + queue(sent);
            let at = ArrivalTime::ZERO + OFFSET + arrival;
            while let Some(due) = receiver.next_timeout().filter(|&due| due <= at) {
                minute.poll(receiver, due);
            }
            receiver.on_arrival(&Arrival {
                id: u64::from(number),
                departure: SendTime::ZERO + sent,
                at,
                size: PAYLOAD,
                ecn: Ecn::NotEct,
                media_time: u64::from(number / 8) * 3000,
                marker: number % 8 == 7,
                stamp: Stamp { rtt: TimeDelta::from_millis(60), rate: DataRate::from_mbps(2) },
            });
            minute.poll(receiver, at);
            if arrival >= reception_due {
                reception_due += RECEPTION_INTERVAL;
                let report = ReceptionReport {
                    fraction_lost: u8::from(number / LOST_EACH != highest / LOST_EACH),
                    highest_sequence: number,
                    ..ReceptionReport::default()
                };
                highest = number;
                let received_at = SendTime::ZERO + arrival + PROPAGATION;
                minute.reports.push((received_at, StoredReport::Other(Report::Reception(report))));
            }
        }
        minute
    }

    fn poll(&mut self, receiver: &mut dyn Receiver, now: ArrivalTime) {
        let received_at = SendTime::ZERO + (now - ArrivalTime::ZERO) - OFFSET + PROPAGATION;
        while let Some(report) = receiver.poll_report(now) {
            let stored = match report {
                Report::Packets { records, number, at } => {
                    let begin = self.records.len();
                    self.records.extend_from_slice(records);
                    StoredReport::Packets { records: begin..self.records.len(), number, at }
                }
                Report::Ceiling(rate) => StoredReport::Other(Report::Ceiling(rate)),
                Report::Reception(report) => StoredReport::Other(Report::Reception(report)),
                Report::Native { report, echo } => StoredReport::Other(Report::Native { report, echo }),
            };
            self.reports.push((received_at, stored));
        }
    }

    /// The events while `packets` are sent, in order of time.
    pub fn events(&self, packets: Range<u32>) -> impl Iterator<Item = Event<'_>> {
        let departure = |number: u32| SendTime::ZERO + self.interval * i64::from(number);
        let Range { start: mut number, end } = packets;
        let mut next = match number.checked_sub(1) {
            Some(before) => self.reports.partition_point(|(at, _)| *at <= departure(before)),
            None => 0,
        };
        std::iter::from_fn(move || {
            let now = departure(number);
            if number == end {
                return None;
            }
            if let Some((at, stored)) = self.reports.get(next).filter(|(at, _)| *at <= now) {
                next += 1;
                return Some(Event::Report(*at, self.report(stored)));
            }
            number += 1;
            Some(Event::Packet(now))
        })
    }

    fn report(&self, stored: &StoredReport) -> Report<'_> {
        match stored {
            StoredReport::Packets { records, number, at } => {
                Report::Packets { records: &self.records[records.clone()], number: *number, at: *at }
            }
            StoredReport::Other(report) => *report,
        }
    }
}

/// Queuing delay of a packet that is sent this long after the start.
fn queue(sent: TimeDelta) -> TimeDelta {
    let phase = (sent.nanos() % QUEUE_PERIOD.nanos()) as f64 / QUEUE_PERIOD.nanos() as f64;
    QUEUE_PEAK.scale(if phase < 0.8 { phase / 0.8 } else { (1.0 - phase) / 0.2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_rises_to_its_peak_and_drains() {
        let at = |ms| queue(TimeDelta::from_millis(ms)).millis_f64().round();
        assert_eq!([0, 4000, 8000, 9000, 10_000].map(at), [0.0, 100.0, 200.0, 100.0, 0.0]);
    }

    #[test]
    fn a_minute_in_two_halves_is_the_same_minute() {
        let whole = ReplayedCall::of(&Registry::standard(), "gcc").unwrap().run();
        let mut halves = ReplayedCall::of(&Registry::standard(), "gcc").unwrap();
        halves.advance(PACKETS / 2);
        assert_eq!(halves.advance(PACKETS - PACKETS / 2), whole);
    }

    #[test]
    fn every_controller_gets_reports_for_the_whole_minute() {
        let registry = Registry::standard();
        for name in registry.controller_names() {
            let minute = ReplayedCall::of(&registry, name).unwrap();
            let last = minute.events.reports.last().map(|(at, _)| *at - SendTime::ZERO);
            assert!(last.is_some_and(|last| last > TimeDelta::from_secs(58)), "{name}: {last:?}");
            assert!(minute.events.reports.is_sorted_by_key(|(at, _)| *at), "{name}");
            assert!(!minute.run().is_zero(), "{name}");
        }
    }
}
