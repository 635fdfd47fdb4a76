//! The receiver half of every law that works at the sender: the fate of single packets, told at an interval.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::Receiver;
use crate::packet::{Arrival, Ecn};
use crate::parts::receive_rate::ReceiveRate;
use crate::parts::room::make_room;
use crate::report::{Record, Report};
use crate::time::ArrivalTime;

/// So many packets at most are remembered behind the highest that has arrived, and one report covers at most so many.
pub const MOST_RECORDS: u64 = 1024;
/// What was told is remembered for at least so long after it came, until a higher number comes. libwebrtc: `kBackWindow` of its
/// transport-wide feedback.
const REMEMBERED: TimeDelta = TimeDelta::from_millis(500);
/// The same, as what is held.
const ROOM: usize = MOST_RECORDS as usize;
/// Of one report; grows where reports tell more.
const FIRST_RECORDS: usize = 16;

/// Tells which packets arrived and when, at an interval while packets come.
///
/// A report covers the numbers from the first that no report has covered to the highest that has arrived. A packet that
/// comes late, below the numbers already covered, is told by the next report, which then begins with it. What such a
/// report repeats it repeats truthfully: a packet told to have arrived stays so, with the same time (RFC 8888 §3.1
/// demands it; the [history](crate::history::SendHistory) tells each fate once, and transport-wide feedback tells no
/// arrival twice, which is up to its writer).
///
/// * Of several copies the first one counts, and a mark (CE) on any of them that comes before the report.
/// * A packet more than [`MOST_RECORDS`] behind the highest is left out. If the next number follows it, numbers have
///   begun anew, and so do the reports.
/// * What was told is forgotten half a second after it came, and with it what was missed before: a packet that comes later still is
///   left out. libwebrtc tells of it, and that what it has forgotten since is missing.
#[derive(Debug)]
pub struct PacketFeedback {
    pace: Pace,
    interval: TimeDelta,
    memory: Memory,
    /// What the next report covers.
    open: Option<Open>,
    /// The last packet that was too far behind.
    stray: Option<u64>,
    records: Vec<Record>,
    /// When the last report was made.
    reported: Option<ArrivalTime>,
    due: Option<ArrivalTime>,
    number: u8,
}

/// Numbers from `begin` on, and before `end`, the one after the highest that has arrived; none if they are the same.
#[derive(Clone, Copy, Debug)]
struct Open {
    begin: u64,
    end: u64,
}

/// What is known of a number.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// When its packet arrived; of one that has not, when it was first missed.
    at: ArrivalTime,
    /// `None` for a packet that has not arrived.
    ecn: Option<Ecn>,
}

impl Seen {
    const fn missing(at: ArrivalTime) -> Self {
        Self { at, ecn: None }
    }
}

/// The numbers below the end of what is open: what has been told, as long as it is remembered, and what has not.
#[derive(Debug, Default)]
struct Memory {
    seen: VecDeque<Seen>,
    /// Numbers below this one have been forgotten.
    from: u64,
}

impl Memory {
    /// The first number that is known.
    fn first(&self, open: Open) -> u64 {
        open.end - self.seen.len() as u64
    }

    /// What is known of number `id`, below the end of what is open; `None` if it is forgotten. Before the first packet came others
    /// may have left.
    fn below(&mut self, open: Open, id: u64, now: ArrivalTime) -> Option<&mut Seen> {
        let first = self.first(open);
        if id < first {
            if id < self.from {
                return None;
            }
            for _ in id..first {
                make_room(&mut self.seen, ROOM);
                self.seen.push_front(Seen::missing(now));
            }
        }
        self.seen.get_mut((id - id.min(first)) as usize)
    }

    /// Number `id` has arrived, the first beyond what is open; those in between have not. What is then too far behind is forgotten, and
    /// what was told and is old.
    fn push(&mut self, open: Open, id: u64, seen: Seen) {
        let missing = (id - open.end).min(MOST_RECORDS - 1) as usize;
        let over = (self.seen.len() + missing + 1).saturating_sub(ROOM);
        self.forget(open, over);
        while self.seen.front().is_some_and(|oldest| (seen.at - oldest.at).abs() > REMEMBERED)
            && self.first(open) < open.begin
        {
            self.forget(open, 1);
        }
        for seen in core::iter::repeat_n(Seen::missing(seen.at), missing).chain([seen]) {
            make_room(&mut self.seen, ROOM);
            self.seen.push_back(seen);
        }
    }

    /// Forgets the oldest `count` numbers.
    fn forget(&mut self, open: Open, count: usize) {
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

/// How the interval comes about.
#[derive(Debug)]
enum Pace {
    Fixed,
    Adaptive(ReceiveRate),
}

/// What a report takes on the wire in libwebrtc's estimate: 20 bytes for IPv4, 8 for UDP, 10 for SRTP and 30 on average
/// for the feedback.
const REPORT_LEN: u64 = 20 + 8 + 10 + 30;
/// Of so many bytes received one may go back as a report: 5 %.
const RECEIVED_PER_REPORTED: u64 = 20;
const SHORTEST: TimeDelta = TimeDelta::from_millis(50);
const LONGEST: TimeDelta = TimeDelta::from_millis(250);
/// While no rate is known.
const DEFAULT: TimeDelta = TimeDelta::from_millis(100);
/// The receive rate is measured over so long.
const RATE_WINDOW: TimeDelta = TimeDelta::from_millis(500);

/// How often to report what comes at `rate`: reports take 5 % of it, within 50 and 250 ms, as in libwebrtc (which
/// takes the rate of the way back).
fn adaptive_interval(rate: Option<DataRate>) -> TimeDelta {
    let received_per_report = DataSize::from_bytes(REPORT_LEN * RECEIVED_PER_REPORTED);
    rate.map_or(DEFAULT, |rate| (received_per_report / rate).clamp(SHORTEST, LONGEST))
}

impl PacketFeedback {
    /// Reports each `interval`, but at least 1 ms apart.
    pub fn new(interval: TimeDelta) -> Self {
        Self::paced(Pace::Fixed, interval.max(TimeDelta::from_millis(1)))
    }

    /// Reports as often as 5 % of the receive rate allow, in reports of 68 bytes: 217.6 ms at 50 kbit/s, 108.8 ms at
    /// 100 kbit/s; at least each 250 ms, at most each 50 ms, each 100 ms while the rate is not known. The rate is that
    /// of payload over the last 500 ms.
    pub fn adaptive() -> Self {
        Self::paced(Pace::Adaptive(ReceiveRate::new(RATE_WINDOW)), DEFAULT)
    }

    fn paced(pace: Pace, interval: TimeDelta) -> Self {
        Self {
            pace,
            interval,
            memory: Memory::default(),
            open: None,
            stray: None,
            records: Vec::with_capacity(FIRST_RECORDS),
            reported: None,
            due: None,
            number: 0,
        }
    }

    /// From the next packet on reports each `interval`, but at least 1 ms apart.
    pub fn set_interval(&mut self, interval: TimeDelta) {
        self.pace = Pace::Fixed;
        self.interval = interval.max(TimeDelta::from_millis(1));
    }

    /// What has arrived is reported at `now`, the interval notwithstanding.
    pub fn hurry(&mut self, now: ArrivalTime) {
        if self.open.is_some_and(|open| open.begin < open.end) {
            self.due = Some(now);
        }
    }

    /// Remembers a packet and opens the numbers up to it, or from it on, for the next report.
    fn see(&mut self, packet: &Arrival) {
        let Arrival { at, ecn, .. } = *packet;
        // There is a number after it.
        let id = packet.id.min(u64::MAX - 1);
        let anew = Open { begin: id, end: id };
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
            self.memory.push(*open, id, Seen { at, ecn: Some(ecn) });
            open.end = id + 1;
            return;
        }
        let Some(seen) = self.memory.below(*open, id, at) else { return };
        if seen.ecn.is_none() {
            *seen = Seen { at, ecn: Some(ecn) };
            open.begin = open.begin.min(id);
        } else if ecn == Ecn::Ce {
            seen.ecn = Some(ecn);
        }
    }

    /// Fills `records` with the numbers that are open, and closes them.
    fn collect(&mut self) {
        self.records.clear();
        let Some(open) = &mut self.open else { return };
        let first = self.memory.first(*open);
        let begin = open.begin.max(first);
        let seen = self.memory.seen.range((begin - first) as usize..);
        self.records.extend((begin..open.end).zip(seen).map(|(id, seen)| Record {
            sequence: id as u16,
            arrival: seen.ecn.map(|_| seen.at),
            ecn: seen.ecn.unwrap_or_default(),
        }));
        open.begin = open.end;
    }
}

impl Receiver for PacketFeedback {
    /// It tells of packets and learns nothing of the path.
    fn tells_packets(&self) -> bool {
        true
    }

    fn on_route_changed(&mut self) {}

    fn on_arrival(&mut self, packet: &Arrival) {
        self.see(packet);
        if let Pace::Adaptive(rate) = &mut self.pace {
            rate.on_arrival(packet.at, packet.size);
        }
        // Never further off than an interval, even if the clock was set back.
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
        if let Pace::Adaptive(rate) = &mut self.pace {
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
mod tests {
    use alloc::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::packet::Stamp;
    use crate::time::SendTime;

    const INTERVAL: TimeDelta = TimeDelta::from_millis(50);

    fn arrive(receiver: &mut PacketFeedback, id: u64, ms: i64, ecn: Ecn) {
        receiver.on_arrival(&Arrival {
            id,
            departure: SendTime::ZERO,
            at: at(ms),
            size: DataSize::from_bytes(1200),
            ecn,
            media_time: 0,
            marker: false,
            stamp: Stamp::default(),
        });
    }

    fn at(ms: i64) -> ArrivalTime {
        ArrivalTime::from_millis(ms)
    }

    /// Number and time of arrival in ms of each record.
    fn told(receiver: &mut PacketFeedback, ms: i64) -> Vec<(u16, Option<i64>)> {
        match receiver.poll_report(at(ms)) {
            Some(Report::Packets { records, .. }) => {
                records.iter().map(|r| (r.sequence, r.arrival.map(|at| at.nanos() / 1_000_000))).collect()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_report_covers_what_came_and_what_is_missing_in_between() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 65_534, 10, Ecn::NotEct);
        arrive(&mut receiver, 65_537, 20, Ecn::NotEct);
        assert_eq!(receiver.next_timeout(), Some(at(60)));
        assert_eq!(told(&mut receiver, 59), []);
        assert_eq!(told(&mut receiver, 60), [(65_534, Some(10)), (65_535, None), (0, None), (1, Some(20))]);
        assert_eq!(receiver.next_timeout(), None, "nothing has come since");
        arrive(&mut receiver, 65_540, 70, Ecn::NotEct);
        assert_eq!(receiver.next_timeout(), Some(at(110)));
        assert_eq!(told(&mut receiver, 110), [(2, None), (3, None), (4, Some(70))]);
    }

    #[test]
    fn a_late_packet_is_told_by_the_next_report() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 1, 0, Ecn::NotEct);
        arrive(&mut receiver, 3, 10, Ecn::NotEct);
        told(&mut receiver, 50);
        arrive(&mut receiver, 2, 60, Ecn::NotEct);
        arrive(&mut receiver, 4, 70, Ecn::NotEct);
        // What was told of 3 stays so.
        assert_eq!(told(&mut receiver, 100), [(2, Some(60)), (3, Some(10)), (4, Some(70))]);
    }

    #[test]
    fn of_two_copies_the_first_counts_and_a_mark_on_either() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 7, 0, Ecn::Ect1);
        arrive(&mut receiver, 7, 5, Ecn::Ce);
        let Some(Report::Packets { records, .. }) = receiver.poll_report(at(50)) else { panic!("it is due") };
        assert_eq!(records, [Record { sequence: 7, arrival: Some(at(0)), ecn: Ecn::Ce }]);
    }

    #[test]
    fn a_copy_of_what_was_told_is_no_news() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 7, 0, Ecn::Ect1);
        assert_eq!(told(&mut receiver, 50), [(7, Some(0))]);
        arrive(&mut receiver, 7, 60, Ecn::Ect1);
        assert_eq!(receiver.next_timeout(), Some(at(100)));
        assert_eq!(told(&mut receiver, 100), [], "there is nothing to tell");
        arrive(&mut receiver, 8, 110, Ecn::Ect1);
        let Some(Report::Packets { records, number, .. }) = receiver.poll_report(at(160)) else {
            panic!("due")
        };
        assert_eq!((records.len(), number), (1, 1), "a report that was not made has no number");
    }

    #[test]
    fn a_leap_of_numbers_does_not_make_an_endless_report() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 7, 0, Ecn::NotEct);
        arrive(&mut receiver, u64::MAX, 5, Ecn::NotEct);
        assert_eq!(told(&mut receiver, 50).len() as u64, MOST_RECORDS);
    }

    #[test]
    fn a_packet_is_told_however_late_within_the_memory_and_not_beyond() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        for id in (0..=3000).filter(|id| ![1976, 1977].contains(id)) {
            arrive(&mut receiver, id, 0, Ecn::NotEct);
        }
        assert_eq!(told(&mut receiver, 50).len() as u64, MOST_RECORDS);
        // 3001 - 1024 = 1977 is the last one remembered.
        arrive(&mut receiver, 1976, 60, Ecn::NotEct);
        assert_eq!(told(&mut receiver, 100), []);
        arrive(&mut receiver, 1977, 110, Ecn::NotEct);
        let told = told(&mut receiver, 160);
        assert_eq!((told[0], told.len() as u64), ((1977, Some(110)), MOST_RECORDS));
        assert!(told[1..].iter().all(|(_, arrival)| *arrival == Some(0)), "told as before");
    }

    #[test]
    fn what_was_told_is_remembered_for_half_a_second() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        for id in (100..110).filter(|id| ![102, 106].contains(id)) {
            arrive(&mut receiver, id, 100 * id as i64, Ecn::NotEct);
            assert!(!told(&mut receiver, 100 * id as i64 + 50).is_empty());
        }
        // 102 has been missed since 103 came at 10 300 ms.
        assert_eq!(receiver.memory.seen.len(), 6, "from 104 on");
        for forgotten in [102, 103] {
            arrive(&mut receiver, forgotten, 10_960, Ecn::NotEct);
            assert_eq!(told(&mut receiver, 11_010), [], "{forgotten}");
        }
        arrive(&mut receiver, 106, 11_020, Ecn::NotEct);
        let with_it = [(106, 11_020), (107, 10_700), (108, 10_800), (109, 10_900)];
        assert_eq!(told(&mut receiver, 11_070), with_it.map(|(id, ms)| (id, Some(ms))));
        for id in 110..1000 {
            arrive(&mut receiver, id, 11_100 + 10 * id as i64, Ecn::NotEct);
            told(&mut receiver, 11_100 + 10 * id as i64);
        }
        assert!(receiver.memory.seen.capacity() <= 64, "{}", receiver.memory.seen.capacity());
    }

    #[test]
    fn what_has_not_been_told_is_not_forgotten() {
        let mut receiver = PacketFeedback::new(TimeDelta::from_secs(2));
        for id in (0..20).filter(|id| *id != 2) {
            arrive(&mut receiver, id, 100 * id as i64, Ecn::NotEct);
        }
        let all = told(&mut receiver, 2000);
        assert_eq!((all.len(), all[2], all[0]), (20, (2, None), (0, Some(0))));
        // 20 comes late, and 22 before that is told: what the report repeats is kept for it.
        arrive(&mut receiver, 21, 2010, Ecn::NotEct);
        told(&mut receiver, 4000);
        arrive(&mut receiver, 20, 4300, Ecn::NotEct);
        arrive(&mut receiver, 22, 4900, Ecn::NotEct);
        assert_eq!(told(&mut receiver, 6000), [(20, Some(4300)), (21, Some(2010)), (22, Some(4900))]);
    }

    #[test]
    fn neither_leaps_nor_clocks_make_it_hold_more() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        for leap in 0..3 {
            for id in 0..100 {
                arrive(&mut receiver, 40_000 * leap + id, 10 * id as i64, Ecn::NotEct);
                told(&mut receiver, 10 * id as i64);
            }
        }
        assert!(receiver.memory.seen.capacity() as u64 <= MOST_RECORDS);
        // The clock is set back by an hour.
        told(&mut receiver, 5000);
        arrive(&mut receiver, 80_100, -3_600_000, Ecn::NotEct);
        assert_eq!(receiver.memory.seen.len(), 1);
    }

    #[test]
    fn numbers_begin_anew_only_where_nothing_comes_between() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        for (ms, id) in [50_000, 10, 50_001, 11, 50_002].into_iter().enumerate() {
            arrive(&mut receiver, id, ms as i64, Ecn::NotEct);
        }
        let numbers: Vec<u16> = told(&mut receiver, 50).into_iter().map(|(sequence, _)| sequence).collect();
        assert_eq!(numbers, [50_000, 50_001, 50_002]);
    }

    #[test]
    fn where_numbers_have_begun_anew_nothing_is_forgotten_yet() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        for id in 50_000..50_021 {
            arrive(&mut receiver, id, 100 * (id as i64 - 50_000), Ecn::NotEct);
            told(&mut receiver, 100 * (id as i64 - 50_000) + 50);
        }
        for (id, ms) in [(10, 2100), (11, 2101), (9, 2102)] {
            arrive(&mut receiver, id, ms, Ecn::NotEct);
        }
        assert_eq!(told(&mut receiver, 2160), [(9, Some(2102)), (10, None), (11, Some(2101))]);
    }

    #[test]
    fn what_left_before_the_first_to_arrive_is_told_when_it_comes() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 100, 0, Ecn::NotEct);
        told(&mut receiver, 50);
        arrive(&mut receiver, 98, 60, Ecn::NotEct);
        assert_eq!(told(&mut receiver, 110), [(98, Some(60)), (99, None), (100, Some(0))]);
    }

    #[test]
    fn numbers_that_begin_anew_are_told_from_the_second_packet_on() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 50_000, 0, Ecn::NotEct);
        assert_eq!(told(&mut receiver, 50).len(), 1);
        arrive(&mut receiver, 10, 60, Ecn::NotEct);
        arrive(&mut receiver, 11, 61, Ecn::NotEct);
        arrive(&mut receiver, 13, 62, Ecn::NotEct);
        assert_eq!(told(&mut receiver, 110), [(11, Some(61)), (12, None), (13, Some(62))]);
    }

    #[test]
    fn a_stray_packet_changes_nothing() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        for (id, ms) in [(50_000, 0), (10, 1), (50_001, 2), (12, 3)] {
            arrive(&mut receiver, id, ms, Ecn::NotEct);
        }
        assert_eq!(told(&mut receiver, 50), [(50_000, Some(0)), (50_001, Some(2))]);
    }

    #[test]
    fn reports_take_a_twentieth_of_the_receive_rate() {
        let ms = |kbps| adaptive_interval(Some(DataRate::from_kbps(kbps))).nanos() as f64 / 1e6;
        // 68 · 8 / 0.05 = 10 880 bits: at 50 kbit/s 217.6 ms.
        assert_eq!([ms(40), ms(50), ms(100), ms(217), ms(218)], [250.0, 217.6, 108.8, 50.138_249, 50.0]);
        assert_eq!(adaptive_interval(Some(DataRate::ZERO)), LONGEST);
        assert_eq!(adaptive_interval(None), DEFAULT);
    }

    /// The gaps between reports on packets of 1200 bytes that come each `gap` ms for 3 s.
    fn gaps(receiver: &mut PacketFeedback, gap: i64) -> Vec<i64> {
        let mut reports = Vec::new();
        for ms in 0..3000 {
            if ms % gap == 0 {
                arrive(receiver, (ms / gap) as u64, ms, Ecn::NotEct);
            }
            if !told(receiver, ms).is_empty() {
                reports.push(ms);
            }
        }
        reports.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn an_adaptive_receiver_reports_more_often_what_comes_faster() {
        // 9600 bits each 96 ms: 5 or 6 packets within 500 ms, 96 or 115.2 kbit/s, 113.3 or 94.4 ms, which a clock of
        // whole ms rounds up.
        let slow = gaps(&mut PacketFeedback::adaptive(), 96);
        assert!(slow[5..].iter().all(|gap| (95..=114).contains(gap)), "{slow:?}");
        // 960 kbit/s.
        let fast = gaps(&mut PacketFeedback::adaptive(), 10);
        assert!(fast[5..].iter().all(|gap| *gap == 50), "{fast:?}");
    }

    proptest! {
        /// Against a receiver that remembers everything: each report tells what arrived so far, exactly, and each
        /// packet is told that came within half a second of the first above it.
        #[test]
        fn what_is_told_is_true_and_nothing_is_left_out(
            steps in prop::collection::vec((prop_oneof![20 => 0..20_i64, 1 => 400..700_i64], -30..40_i64), 1..300)
        ) {
            let mut receiver = PacketFeedback::new(INTERVAL);
            // When it came, and whether it needs no telling any more.
            let mut model: BTreeMap<u64, (i64, bool)> = BTreeMap::new();
            let (mut ms, mut newest) = (0, 1000_i64);
            for (later, ahead) in steps {
                ms += later;
                let id = newest + ahead;
                newest = newest.max(id);
                let above = model.range(id as u64 + 1..).map(|(_, known)| known.0).min();
                let late = above.is_some_and(|above| ms - above > 500);
                arrive(&mut receiver, id as u64, ms, Ecn::NotEct);
                model.entry(id as u64).or_insert((ms, late));
                for (sequence, arrival) in told(&mut receiver, ms) {
                    let known = model.get_mut(&u64::from(sequence));
                    prop_assert_eq!(arrival, known.as_ref().map(|known| known.0));
                    if let Some(known) = known {
                        known.1 = true;
                    }
                }
                if receiver.next_timeout().is_none() {
                    prop_assert!(model.values().all(|known| known.1), "something was left out");
                }
            }
        }
    }
}
