//! The receiver half of controllers that run at the sender: it reports the fates of single packets at an interval.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::Receiver;
use crate::packet::{Arrival, Ecn};
use crate::parts::queue_memory::reserve_entry;
use crate::parts::receive_rate::ReceiveRate;
use crate::report::{Reception, Record, Report};
use crate::time::ArrivalTime;

/// Greatest number of packets remembered below the highest arrived one, and of records in a report.
pub const MOST_RECORDS: u64 = 1024;
/// Least time for which reported packets are remembered, until a higher number arrives. libwebrtc: `kBackWindow` of
/// its transport-wide feedback.
const MEMORY_TIME: TimeDelta = TimeDelta::from_millis(500);
/// Capacity of the memory.
const MAX_SEEN: usize = MOST_RECORDS as usize;
/// Initial capacity for the records of one report.
const INITIAL_RECORDS: usize = 16;

/// Reports which packets arrived and when, at an interval while packets come.
///
/// A report covers the numbers from the first that no report has covered to the highest that has arrived. A late
/// packet, below the numbers already covered, is reported by the next report, which then begins with it. Repeated
/// records repeat the truth: a packet reported as arrived stays so, with the same time. RFC 8888 §3.1 demands it;
/// the [history](crate::history::SendHistory) counts each fate once. Transport-wide feedback reports no arrival
/// twice, which is up to its writer.
///
/// * Of several copies the first one counts, and a mark (CE) on any of them that comes before the report.
/// * A packet more than [`MOST_RECORDS`] behind the highest is left out. If the next number follows it, numbers have
///   begun anew, and so do the reports.
/// * Reported packets are forgotten half a second after they came, and with them the missing ones before: a
///   packet that comes later still is left out. libwebrtc reports it, and the packets forgotten since as missing.
#[derive(Debug)]
pub struct PacketFeedback {
    pace: IntervalRule,
    interval: TimeDelta,
    memory: NumberMemory,
    /// Numbers in the next report.
    open: Option<OpenNumbers>,
    /// The last packet that was too far behind.
    stray: Option<u64>,
    records: Vec<Record>,
    /// Time of the last report.
    reported: Option<ArrivalTime>,
    due: Option<ArrivalTime>,
    number: u8,
}

/// Numbers from `begin` on and below `end`, which is one more than the highest arrived number. There are none if both
/// are equal.
#[derive(Clone, Copy, Debug)]
struct OpenNumbers {
    begin: u64,
    end: u64,
}

/// State of a number.
#[derive(Clone, Copy, Debug)]
struct ReceivedNumber {
    /// Arrival time of its packet or, for a missing one, the time at which it was first missing.
    at: ArrivalTime,
    /// ECN field, or `None` for a packet that has not arrived.
    ecn: Option<Ecn>,
}

impl ReceivedNumber {
    const fn missing(at: ArrivalTime) -> Self {
        Self { at, ecn: None }
    }
}

/// The numbers below the end of the open ones: reported ones for some time, and the open ones.
#[derive(Debug, Default)]
struct NumberMemory {
    seen: VecDeque<ReceivedNumber>,
    /// First number that is remembered.
    from: u64,
}

impl NumberMemory {
    /// The first remembered number.
    fn first(&self, open: OpenNumbers) -> u64 {
        open.end - self.seen.len() as u64
    }

    /// State of number `id`, below the end of the open numbers, or `None` if it is forgotten. Packets may have left
    /// before the first one came.
    fn below(&mut self, open: OpenNumbers, id: u64, now: ArrivalTime) -> Option<&mut ReceivedNumber> {
        let first = self.first(open);
        if id < first {
            if id < self.from {
                return None;
            }
            for _ in id..first {
                reserve_entry(&mut self.seen, MAX_SEEN);
                self.seen.push_front(ReceivedNumber::missing(now));
            }
        }
        self.seen.get_mut((id - id.min(first)) as usize)
    }

    /// Adds number `id`, the first beyond the open numbers, which has arrived; the numbers between are missing.
    /// Numbers that are then too far behind are removed, and so are old reported ones.
    fn push(&mut self, open: OpenNumbers, id: u64, seen: ReceivedNumber) {
        let missing = (id - open.end).min(MOST_RECORDS - 1) as usize;
        let over = (self.seen.len() + missing + 1).saturating_sub(MAX_SEEN);
        self.forget(open, over);
        while self.seen.front().is_some_and(|oldest| (seen.at - oldest.at).abs() > MEMORY_TIME)
            && self.first(open) < open.begin
        {
            self.forget(open, 1);
        }
        for seen in core::iter::repeat_n(ReceivedNumber::missing(seen.at), missing).chain([seen]) {
            reserve_entry(&mut self.seen, MAX_SEEN);
            self.seen.push_back(seen);
        }
    }

    /// Removes the oldest `count` numbers.
    fn forget(&mut self, open: OpenNumbers, count: usize) {
        if count > 0 {
            self.from = self.first(open) + count as u64;
            self.seen.drain(..count);
        }
    }

    fn clear(&mut self) {
        self.seen.clear();
        self.from = 0;
    }
}

/// Rule of the interval.
#[derive(Debug)]
enum IntervalRule {
    Fixed,
    Adaptive(ReceiveRate),
}

/// Size of a report on the wire in libwebrtc's estimate: 20 bytes for IPv4, 8 for UDP, 10 for SRTP and 30 on
/// average for the feedback.
const REPORT_LEN: u64 = 20 + 8 + 10 + 30;
/// Number of bytes received per byte of reports, so that reports take 5 %.
const RECEIVED_PER_REPORTED: u64 = 20;
const MIN_INTERVAL: TimeDelta = TimeDelta::from_millis(50);
const MAX_INTERVAL: TimeDelta = TimeDelta::from_millis(250);
/// Interval while no rate is known.
const DEFAULT: TimeDelta = TimeDelta::from_millis(100);
/// Window of the receive rate.
const RATE_WINDOW: TimeDelta = TimeDelta::from_millis(500);

/// Report interval at a receive rate of `rate`: reports take 5 % of it, within 50 and 250 ms, as in libwebrtc
/// (which takes the rate of the reverse path).
fn adaptive_interval(rate: Option<DataRate>) -> TimeDelta {
    let received_per_report = DataSize::from_bytes(REPORT_LEN * RECEIVED_PER_REPORTED);
    rate.map_or(DEFAULT, |rate| (received_per_report / rate).clamp(MIN_INTERVAL, MAX_INTERVAL))
}

impl PacketFeedback {
    /// Reports at `interval`, which is at least 1 ms.
    pub fn new(interval: TimeDelta) -> Self {
        Self::paced(IntervalRule::Fixed, interval.max(TimeDelta::from_millis(1)))
    }

    /// Reports as often as 5 % of the receive rate allow, in reports of 68 bytes: 217.6 ms at 50 kbit/s, 108.8 ms
    /// at 100 kbit/s. The interval is 50 to 250 ms, and 100 ms while the rate is not known. The rate is that of
    /// payload over the last 500 ms.
    pub fn adaptive() -> Self {
        Self::paced(IntervalRule::Adaptive(ReceiveRate::new(RATE_WINDOW)), DEFAULT)
    }

    fn paced(pace: IntervalRule, interval: TimeDelta) -> Self {
        Self {
            pace,
            interval,
            memory: NumberMemory::default(),
            open: None,
            stray: None,
            records: Vec::with_capacity(INITIAL_RECORDS),
            reported: None,
            due: None,
            number: 0,
        }
    }

    /// Sets the interval of reports from the next packet on; it is at least 1 ms.
    pub fn set_interval(&mut self, interval: TimeDelta) {
        self.pace = IntervalRule::Fixed;
        self.interval = interval.max(TimeDelta::from_millis(1));
    }

    /// Makes a report on the packets so far due at `now`, without waiting for the interval.
    pub fn hurry(&mut self, now: ArrivalTime) {
        if self.open.is_some_and(|open| open.begin < open.end) {
            self.due = Some(now);
        }
    }

    /// Records a packet, and adds the numbers up to it, or from it on, to the next report.
    fn see(&mut self, packet: &Arrival) {
        let Arrival { at, ecn, .. } = *packet;
        // The end of the numbers lies one above: leave space for it.
        let id = packet.id.min(u64::MAX - 1);
        let anew = OpenNumbers { begin: id, end: id };
        let open = self.open.get_or_insert(anew);
        if open.end.saturating_sub(id) > MOST_RECORDS {
            let follows = self.stray.is_some_and(|stray| stray.checked_add(1) == Some(id));
            self.stray = Some(id);
            if !follows {
                return;
            }
            *open = anew;
            self.memory.clear();
        }
        self.stray = None;
        if id >= open.end {
            self.memory.push(*open, id, ReceivedNumber { at, ecn: Some(ecn) });
            open.end = id + 1;
            return;
        }
        let Some(seen) = self.memory.below(*open, id, at) else { return };
        if seen.ecn.is_none() {
            *seen = ReceivedNumber { at, ecn: Some(ecn) };
            open.begin = open.begin.min(id);
        } else if ecn == Ecn::Ce {
            seen.ecn = Some(ecn);
        }
    }

    /// Writes the records of all open numbers, which are then reported.
    fn collect(&mut self) {
        self.records.clear();
        let Some(open) = &mut self.open else { return };
        let first = self.memory.first(*open);
        let begin = open.begin.max(first);
        let seen = self.memory.seen.range((begin - first) as usize..);
        self.records.extend((begin..open.end).zip(seen).map(|(id, seen)| Record {
            sequence: id as u16,
            reception: seen.ecn.map_or(Reception::Missing, |_| Reception::At(seen.at)),
            ecn: seen.ecn.unwrap_or_default(),
        }));
        open.begin = open.end;
    }
}

impl Receiver for PacketFeedback {
    /// Reports cover single packets; there is no estimate of the path.
    fn reports_packets(&self) -> bool {
        true
    }

    fn on_route_changed(&mut self) {}

    fn on_arrival(&mut self, packet: &Arrival) {
        self.see(packet);
        if let IntervalRule::Adaptive(rate) = &mut self.pace {
            rate.on_arrival(packet.at, packet.size);
        }
        // The next report is never further off than an interval, even if the clock was set back.
        let latest = packet.at + self.interval;
        let regular = self.reported.map_or(latest, |reported| reported + self.interval);
        self.due = Some(self.due.unwrap_or(regular).min(latest).max(packet.at));
    }

    fn next_timeout(&self) -> Option<ArrivalTime> {
        self.due
    }

    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>> {
        self.due.filter(|&due| due <= now)?;
        self.due = None;
        self.reported = Some(now);
        if let IntervalRule::Adaptive(rate) = &mut self.pace {
            self.interval = adaptive_interval(rate.rate(now));
        }
        self.collect();
        if self.records.is_empty() {
            return None;
        }
        let number = self.number;
        self.number = number.wrapping_add(1);
        Some(Report::Packets { records: &self.records, number, at: Some(now) })
    }
}

#[cfg(test)]
mod tests;
