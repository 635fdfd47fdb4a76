//! The acknowledged rate `R` (libwebrtc's `RobustThroughputEstimator`, the default since August 2023).

use alloc::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::bursts::ReportedPacket;
use crate::parts::queue_memory::reserve_entry;
use crate::time::SendTime;

/// Constants of the acknowledged rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ThroughputConfig {
    /// Number of packets below which the rate is unknown. libwebrtc.
    pub required_packets: u32,
    /// Least number of packets in the window. libwebrtc.
    pub window_packets: u32,
    /// Time span of the packets in the window, if they are more. libwebrtc.
    pub window: TimeDelta,
    /// Greatest number of packets in the window, up to 1000. libwebrtc.
    pub max_packets: u32,
    /// Greatest age of the packets in the window. libwebrtc.
    pub max_window: TimeDelta,
}

impl Default for ThroughputConfig {
    fn default() -> Self {
        Self {
            required_packets: 10,
            window_packets: 20,
            window: TimeDelta::from_secs(1),
            max_packets: 500,
            max_window: TimeDelta::from_secs(5),
        }
    }
}

impl ThroughputConfig {
    /// Rules of all constants: the name, whether its value is valid, and the valid range.
    pub fn rules(&self) -> [(&'static str, bool, &'static str); 5] {
        let required = (2..=self.window_packets).contains(&self.required_packets);
        [
            ("required_packets", required, "from 2 to `window_packets`"),
            ("window_packets", self.window_packets <= self.max_packets, "at most `max_packets`"),
            ("window", self.window > TimeDelta::ZERO, "longer than 0"),
            ("max_packets", self.max_packets <= 1000, "at most 1000"),
            ("max_window", self.max_window >= self.window, "at least `window`"),
        ]
    }
}

/// Time before the newest arrival from which on an arrival means that the receiver's clock was set.
const MAX_REORDERING: TimeDelta = TimeDelta::from_secs(1);
/// Initial capacity in packets: a second of them at 1 Mbit/s.
const INITIAL_PACKETS: usize = 128;
/// Least time span over which a rate is computed.
const MIN_SPAN: TimeDelta = TimeDelta::from_millis(1);

/// Receive rate without the longest gap, at most the sending rate of the same packets.
///
/// Sums and the longest gaps are updated incrementally. The window is scanned only where a packet came out of order
/// or one of the longest gaps left it.
#[derive(Clone, Debug)]
pub(crate) struct Throughput {
    config: ThroughputConfig,
    /// The window, by arrival.
    packets: VecDeque<ReportedPacket>,
    bytes: DataSize,
    /// Number of packets in the window that left before the packet that arrived before them.
    inversions: usize,
    gaps: ArrivalGaps,
    /// The latest departure that has left the window.
    discarded: Option<SendTime>,
}

impl Throughput {
    /// A meter without any packet.
    pub(crate) fn new(config: ThroughputConfig) -> Self {
        Self {
            config,
            packets: VecDeque::with_capacity(INITIAL_PACKETS.min(config.max_packets as usize + 1)),
            bytes: DataSize::ZERO,
            inversions: 0,
            gaps: ArrivalGaps::default(),
            discarded: None,
        }
    }

    /// Removes every packet, and keeps the allocated memory.
    pub(crate) fn restart(&mut self) {
        self.packets.clear();
        self.bytes = DataSize::ZERO;
        self.inversions = 0;
        self.gaps = ArrivalGaps::default();
        self.discarded = None;
    }

    /// Departures of the window's first and last packet, or `None` without packets.
    pub(crate) fn departures(&self) -> Option<(SendTime, SendTime)> {
        Some((self.packets.front()?.departure, self.packets.back()?.departure))
    }

    /// Takes a packet that has arrived, normally in order of arrival.
    pub(crate) fn on_packet(&mut self, packet: &ReportedPacket) {
        match self.packets.back() {
            Some(last) if packet.arrival < last.arrival => {
                if last.arrival - packet.arrival > MAX_REORDERING {
                    self.restart();
                    return;
                }
                self.insert(*packet);
            }
            last => {
                if let Some(last) = last {
                    self.inversions += inverted(Some(last), Some(packet));
                    self.gaps.enter(packet.arrival - last.arrival);
                }
                reserve_entry(&mut self.packets, self.config.max_packets as usize + 1);
                self.packets.push_back(*packet);
            }
        }
        self.bytes += packet.size;
        self.shorten();
    }

    /// `R`, or `None` while there are too few packets.
    pub(crate) fn rate(&mut self) -> Option<DataRate> {
        if self.packets.len() < self.config.required_packets as usize {
            return None;
        }
        let (first, last) = (*self.packets.front()?, *self.packets.back()?);
        let [longest, second] = self.gaps.two_longest().or_else(|| {
            self.gaps = ArrivalGaps::of(&self.packets);
            self.gaps.two_longest()
        })?;
        let span = (last.arrival - first.arrival) - longest + second;
        let received = self.bytes.saturating_sub(first.size) / span.max(MIN_SPAN);
        let sent = if self.inversions == 0 && self.discarded.is_none_or(|late| first.departure >= late) {
            Some(self.sent_in_order(&first, &last))
        } else {
            self.sent_out_of_order()
        };
        Some(sent.map_or(received, |sent| sent.min(received)))
    }

    /// Inserts a packet that arrived before others that are known already.
    fn insert(&mut self, packet: ReportedPacket) {
        let place = self.packets.partition_point(|known| known.arrival <= packet.arrival);
        let before = place.checked_sub(1).and_then(|before| self.packets.get(before));
        let after = self.packets.get(place);
        self.inversions += inverted(before, Some(&packet)) + inverted(Some(&packet), after);
        self.inversions -= inverted(before, after);
        self.packets.insert(place, packet);
        self.gaps.unknown = true;
    }

    /// Drops packets that have left the window.
    fn shorten(&mut self) {
        let Some(newest) = self.packets.back().map(|last| last.arrival) else { return };
        let ThroughputConfig { window_packets, window, max_packets, max_window, .. } = self.config;
        while let Some(&first) = self.packets.front() {
            let (packets, span) = (self.packets.len(), newest - first.arrival);
            let is_too_long = packets > max_packets as usize
                || span > max_window
                || (packets > window_packets as usize && span > window);
            if !is_too_long {
                return;
            }
            self.packets.pop_front();
            self.bytes = self.bytes.saturating_sub(first.size);
            if let Some(next) = self.packets.front() {
                self.inversions -= inverted(Some(&first), Some(next));
                self.gaps.leave(next.arrival - first.arrival);
            }
            self.discarded = Some(self.discarded.map_or(first.departure, |late| late.max(first.departure)));
        }
    }

    /// Sending rate without the bytes of the packet that left last, where packets arrived in the order of
    /// departure.
    fn sent_in_order(&self, first: &ReportedPacket, last: &ReportedPacket) -> DataRate {
        // Among packets that left at once the first to arrive counts as the last.
        let at_once = self.packets.iter().rev().take_while(|packet| packet.departure == last.departure);
        let size = at_once.last().map_or(last.size, |packet| packet.size);
        self.bytes.saturating_sub(size) / (last.departure - first.departure).max(MIN_SPAN)
    }

    /// As [`Self::sent_in_order`], if some packets arrived out of order. Packets that left before those outside of
    /// the window do not count. Returns `None` if too few remain.
    fn sent_out_of_order(&self) -> Option<DataRate> {
        let mut usable = 0;
        let mut bytes = DataSize::ZERO;
        let mut first = SendTime::MAX;
        let mut last: Option<&ReportedPacket> = None;
        for packet in self.packets.iter().filter(|p| self.discarded.is_none_or(|late| p.departure >= late)) {
            usable += 1;
            bytes += packet.size;
            first = first.min(packet.departure);
            if last.is_none_or(|last| packet.departure > last.departure) {
                last = Some(packet);
            }
        }
        let last = last.filter(|_| usable >= self.config.required_packets)?;
        Some(bytes.saturating_sub(last.size) / (last.departure - first).max(MIN_SPAN))
    }
}

/// 1 if the later one of two neighbours in the window left first.
fn inverted(a: Option<&ReportedPacket>, b: Option<&ReportedPacket>) -> usize {
    a.zip(b).map_or(0, |(a, b)| usize::from(b.departure < a.departure))
}

/// The two longest lengths of gaps between arrivals in a window, and how many gaps have them. On a path without
/// jitter nearly all have one length, so that one of them leaving changes little.
#[derive(Clone, Copy, Debug, Default)]
struct ArrivalGaps {
    longest: (TimeDelta, usize),
    /// The second longest gap. It may be wrong if its count is zero; then only a scan of the window gives it.
    next: (TimeDelta, usize),
    /// Whether a packet was inserted between others.
    unknown: bool,
}

impl ArrivalGaps {
    fn of(packets: &VecDeque<ReportedPacket>) -> Self {
        let mut gaps = Self::default();
        for (a, b) in packets.iter().zip(packets.iter().skip(1)) {
            gaps.enter(b.arrival - a.arrival);
        }
        gaps
    }

    fn enter(&mut self, gap: TimeDelta) {
        if gap > self.longest.0 {
            self.next = self.longest;
            self.longest = (gap, 1);
        } else if gap == self.longest.0 {
            self.longest.1 += 1;
        } else if gap > self.next.0 {
            self.next = (gap, 1);
        } else if gap == self.next.0 {
            self.next.1 += 1;
        }
    }

    fn leave(&mut self, gap: TimeDelta) {
        for (length, count) in [&mut self.longest, &mut self.next] {
            if gap == *length {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// The longest and the second longest gap, or `None` if only a scan of the window gives them.
    fn two_longest(&self) -> Option<[TimeDelta; 2]> {
        match (self.longest, self.next) {
            _ if self.unknown => None,
            ((longest, 2..), _) => Some([longest, longest]),
            ((longest, 1), (next, 1..)) => Some([longest, next]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::ArrivalTime;

    /// A reported packet, with times in ms.
    fn packet(departure_ms: i64, arrival_ms: i64, bytes: u64) -> ReportedPacket {
        ReportedPacket {
            departure: SendTime::from_millis(departure_ms),
            arrival: ArrivalTime::from_millis(arrival_ms),
            size: DataSize::from_bytes(bytes),
        }
    }

    /// The throughput after `packets`.
    fn meter(packets: &[ReportedPacket]) -> Throughput {
        let mut meter = Throughput::new(ThroughputConfig::default());
        for packet in packets {
            meter.on_packet(packet);
        }
        meter
    }

    fn steady(packets: i64) -> Vec<ReportedPacket> {
        (0..packets).map(|n| packet(10 * n, 50 + 10 * n, 1250)).collect()
    }

    #[test]
    fn a_steady_flow_has_its_rate_from_the_tenth_packet_on() {
        assert_eq!(meter(&steady(9)).rate(), None);
        for packets in [10, 20, 21, 100, 101, 102, 600, 3000] {
            assert_eq!(meter(&steady(packets)).rate(), Some(DataRate::from_mbps(1)), "{packets} packets");
        }
    }

    #[test]
    fn the_window_is_a_second_or_twenty_packets() {
        assert_eq!(meter(&steady(500)).packets.len(), 101);
        let slow: Vec<_> = (0..60).map(|n| packet(200 * n, 200 * n, 1250)).collect();
        assert_eq!(meter(&slow).packets.len(), 20);
        // Five seconds at most, however few: 1 s apart, six packets.
        let slower: Vec<_> = (0..60).map(|n| packet(1000 * n, 1000 * n, 1250)).collect();
        assert_eq!(meter(&slower).packets.len(), 6);
        let fast: Vec<_> = (0..2000).map(|n| packet(n, n, 1250)).collect();
        assert_eq!(meter(&fast).packets.len(), 500);
    }

    #[test]
    fn inversions_are_counted_between_neighbours() {
        // Left at 10, 20, 0: one inversion, in whatever order the second is reported.
        let reported = [packet(10, 50, 1250), packet(0, 60, 1250), packet(20, 55, 1250)];
        let mut late = meter(&reported);
        assert_eq!((late.inversions, meter(&[reported[0], reported[2], reported[1]]).inversions), (1, 1));
        // Behind a window of twenty packets it is forgotten.
        (0..40).for_each(|n| late.on_packet(&packet(100 + 60 * n, 150 + 60 * n, 1250)));
        assert_eq!(late.inversions, 0);
    }

    #[test]
    fn the_longest_gap_counts_as_the_second_longest() {
        // 1250 bytes each 10 ms, then a stop of 200 ms after the fifth: span 90 + 190 = 280, less 200, plus 10 = 90 ms:
        // 9·10 000 bit / 90 ms = 1 Mbit/s; sent at 1 Mbit/s as well.
        let stopped: Vec<_> =
            (0..10).map(|n| packet(10 * n, 10 * n + if n < 5 { 0 } else { 190 }, 1250)).collect();
        assert_eq!(meter(&stopped).rate(), Some(DataRate::from_mbps(1)));
        // Two such stops do count: span 90 + 380 = 470 = 9 · 10 000 / 0.47.
        let twice: Vec<_> =
            (0..10).map(|n| packet(10 * n, 10 * n + 190 * ((n + 1) / 4).min(2), 1250)).collect();
        assert_eq!(meter(&twice).rate(), Some(DataRate::from_bps(191_489)));
    }

    #[test]
    fn the_rate_is_never_above_the_rate_of_sending() {
        // Sent each 20 ms, arriving each 10 ms: 0.5 Mbit/s.
        let burst: Vec<_> = (0..20).map(|n| packet(20 * n, 10 * n, 1250)).collect();
        assert_eq!(meter(&burst).rate(), Some(DataRate::from_kbps(500)));
    }

    #[test]
    fn the_packets_at_either_end_do_not_count() {
        // Received: without the first (5000 bytes): 9·1250·8/90 ms = 1 Mbit/s. Sent: without the last: more.
        let mut large_first = steady(10);
        large_first[0].size = DataSize::from_bytes(5000);
        assert_eq!(meter(&large_first).rate(), Some(DataRate::from_mbps(1)));
        // Sent: without the first of the two that left last: (8·1250 + 1250)·8/80 ms = 1.125; received 1 Mbit/s.
        let mut at_once = steady(10);
        at_once[9].departure = at_once[8].departure;
        assert_eq!(meter(&at_once).rate(), Some(DataRate::from_mbps(1)));
    }

    #[test]
    fn a_clock_set_back_begins_anew() {
        let mut meter = meter(&steady(100));
        meter.on_packet(&packet(1000, -10, 1250));
        assert_eq!((meter.rate(), meter.packets.len()), (None, 0));
    }

    #[test]
    fn a_second_late_is_out_of_order_still() {
        // The last arrived at 1040 ms, the first at 50 ms; 40 ms make a window of a second, with 101 packets.
        let mut meter = meter(&steady(100));
        meter.on_packet(&packet(-10, 40, 1250));
        assert_eq!((meter.rate(), meter.packets.len()), (Some(DataRate::from_mbps(1)), 101));
        meter.on_packet(&packet(-11, 39, 1250));
        assert_eq!((meter.rate(), meter.packets.len()), (None, 0));
    }

    /// The rate by its definition.
    fn by_definition(window: &[ReportedPacket], discarded: Option<SendTime>) -> Option<DataRate> {
        if window.len() < 10 {
            return None;
        }
        let mut gaps: Vec<_> = window.windows(2).map(|pair| pair[1].arrival - pair[0].arrival).collect();
        gaps.sort_unstable();
        let span = window.last()?.arrival - window[0].arrival - gaps[gaps.len() - 1] + gaps[gaps.len() - 2];
        let total: DataSize = window.iter().map(|p| p.size).sum();
        let received = total.saturating_sub(window[0].size) / span.max(MIN_SPAN);
        let usable: Vec<_> =
            window.iter().filter(|p| discarded.is_none_or(|late| p.departure >= late)).collect();
        if usable.len() < 10 {
            return Some(received);
        }
        let first = usable.iter().map(|p| p.departure).min()?;
        let latest = usable.iter().map(|p| p.departure).max()?;
        let last = usable.iter().find(|p| p.departure == latest)?;
        let sent: DataSize = usable.iter().map(|p| p.size).sum();
        Some(received.min(sent.saturating_sub(last.size) / (latest - first).max(MIN_SPAN)))
    }

    proptest! {
        #[test]
        fn running_sums_equal_their_definition(
            steps in prop::collection::vec((0..60_i64, -30..60_i64, 1..1500_u64), 1..400),
        ) {
            let mut meter = Throughput::new(ThroughputConfig::default());
            let (mut departure, mut arrival) = (0, 0);
            for (later, arrived, size) in steps {
                departure += later;
                arrival += arrived;
                meter.on_packet(&packet(departure - arrived.min(0), arrival, size));
                let window: Vec<_> = meter.packets.iter().copied().collect();
                prop_assert!(window.is_sorted_by_key(|packet| packet.arrival));
                prop_assert_eq!(meter.rate(), by_definition(&window, meter.discarded));
            }
        }
    }
}
