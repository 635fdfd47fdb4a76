//! State of every observer of NADA: the base delay, the log of the last `LOGWIN`, the receive rate, and the time of
//! the next report.

use weir_units::{DataRate, TimeDelta};

use super::window::{LogWindow, LoggedPacket, Ratios};
use crate::packet::{Arrival, Ecn};
use crate::parts::base_delay::BaseDelay;
use crate::parts::receive_rate::ReceiveRate;
use crate::time::{ApparentDelay, ArrivalTime};

/// Time spans of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogSpans {
    /// `LOGWIN`.
    pub(super) window: TimeDelta,
    /// `DELTA`, interval between reports.
    pub(super) interval: TimeDelta,
    /// Raw queuing delay from which on a clock was set.
    pub(super) clock_step: TimeDelta,
    /// Time without an empty path after which the sender drains the queue; the base delay is then that of two
    /// minutes more. With `None` there are no drains, and the base delay is that of ten minutes.
    pub(super) drain_after: Option<TimeDelta>,
}

/// The log of a path.
#[derive(Debug)]
pub(super) struct PathLog {
    spans: LogSpans,
    base: BaseDelay,
    window: LogWindow,
    received: ReceiveRate,
    /// The greatest number seen.
    newest: Option<u64>,
    /// The latest arrival.
    clock: ArrivalTime,
    due: Option<ArrivalTime>,
    /// Whether the packets between the newest one and the next one are unreported.
    unreported: bool,
    /// Number of unreported packets, and their time.
    unreported_packets: UnreportedPackets,
}

/// Sums over unreported packets. Numbers and rates continue as if these had not been sent.
#[derive(Clone, Copy, Debug, Default)]
struct UnreportedPackets {
    packets: u64,
    time: TimeDelta,
}

/// Evaluation of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrivalResult {
    /// Its time, which is not earlier than the previous one unless the clock was set.
    pub(super) at: ArrivalTime,
    pub(super) delay: ApparentDelay,
    /// `delay` above the base delay: the raw queuing delay.
    pub(super) queuing: TimeDelta,
    /// Packets missing between this one and the newest before it, or `None` for a late packet or a duplicate.
    pub(super) missing: Option<u64>,
    /// Whether no packet had arrived for `LOGWIN`.
    pub(super) after_silence: bool,
    /// Whether one clock has moved against the other, so that earlier delays cannot be compared.
    pub(super) clocks_moved: bool,
    /// Whether the receiver's clock was set back, so that earlier times cannot be compared.
    pub(super) set_back: bool,
}

impl PathLog {
    pub(super) fn new(spans: LogSpans) -> Self {
        Self {
            spans,
            base: spans.drain_after.map_or(BaseDelay::new(), BaseDelay::between_drains),
            window: LogWindow::new(spans.window),
            received: ReceiveRate::new(spans.window),
            newest: None,
            clock: ArrivalTime::ZERO,
            due: None,
            unreported: false,
            unreported_packets: UnreportedPackets::default(),
        }
    }

    /// Marks the packets between the newest one and the next one as unreported.
    pub(super) fn on_unreported(&mut self) {
        self.unreported = true;
    }

    /// The number of `packet`, without the unreported ones.
    fn number(&mut self, packet: &Arrival, at: ArrivalTime) -> u64 {
        let number = packet.id.saturating_sub(self.unreported_packets.packets);
        let Some(newest) = self.newest.filter(|&newest| number > newest) else { return number };
        if core::mem::take(&mut self.unreported) {
            let unreported = number - newest - 1;
            let share = unreported as f64 / (unreported as f64 + 1.0);
            self.unreported_packets.packets += unreported;
            self.unreported_packets.time +=
                (at - self.clock).clamp(TimeDelta::ZERO, self.spans.window).scale(share);
            return newest + 1;
        }
        number
    }

    /// Takes a packet that has arrived. A late packet stays lost (RFC 8698 §5.1.2) and only counts for the receive
    /// rate. A packet that is not `timed` does not change the base delay.
    pub(super) fn on_arrival(&mut self, packet: &Arrival, timed: bool) -> ArrivalResult {
        let set_back = self.newest.is_some() && self.clock - packet.at > self.spans.window;
        if set_back {
            self.forget_delays();
        }
        let at = if set_back || self.newest.is_none() { packet.at } else { packet.at.max(self.clock) };
        let id = self.number(packet, at);
        self.clock = at;
        let next = at + self.spans.interval;
        self.due = Some(self.due.map_or(next, |due| due.min(next)));
        self.window.expire(at);
        let after_silence = self.window.is_empty();
        self.received.on_arrival(at - self.unreported_packets.time, packet.size);

        let delay = ApparentDelay::between(packet.departure, packet.at);
        let missing = match self.newest {
            Some(newest) if id <= newest => None,
            Some(newest) => Some(id - newest - 1),
            None => Some(0),
        };
        let leapt = missing.is_some() && timed && self.compare(at, delay);
        if missing.is_some() {
            self.newest = Some(id);
            self.window.push(LoggedPacket { id, at, delay, marked: packet.ecn == Ecn::Ce });
        }
        ArrivalResult {
            at,
            delay,
            queuing: self.above_base(Some(delay)),
            missing,
            after_silence,
            clocks_moved: set_back || leapt,
            set_back,
        }
    }

    /// Compares a delay with the base delay, which it may lower. Returns whether a clock jumped forward.
    fn compare(&mut self, at: ArrivalTime, delay: ApparentDelay) -> bool {
        let leapt = delay - self.base.on_arrival(at, delay) >= self.spans.clock_step;
        if leapt {
            self.forget_delays();
            self.base.on_arrival(at, delay);
        }
        leapt
    }

    /// Sets the base delay to `least` from `at` on.
    pub(super) fn forget_base(&mut self, at: ArrivalTime, least: ApparentDelay) {
        self.base.restart();
        self.base.on_arrival(at, least);
    }

    fn forget_delays(&mut self) {
        self.base.restart();
        self.window.clear();
    }

    /// The base delay, or `None` before the first packet.
    pub(super) fn base(&self) -> Option<ApparentDelay> {
        self.base.get()
    }

    /// Excess of `delay` over the base delay; zero while either is unknown.
    pub(super) fn above_base(&self, delay: Option<ApparentDelay>) -> TimeDelta {
        let above = delay.zip(self.base.get()).map(|(delay, base)| delay - base);
        above.unwrap_or_default().max(TimeDelta::ZERO)
    }

    /// The largest raw queuing delay in the window.
    pub(super) fn largest_queuing(&self) -> TimeDelta {
        self.above_base(self.window.largest_delay())
    }

    /// The receive rate over the window, or `None` while unknown.
    pub(super) fn receive_rate(&mut self, now: ArrivalTime) -> Option<DataRate> {
        self.received.rate(now - self.unreported_packets.time)
    }

    /// The window's ratios of losses and marks, or `None` while it is empty.
    pub(super) fn ratios(&self) -> Option<Ratios> {
        self.window.ratios()
    }

    pub(super) fn next_report(&self) -> Option<ArrivalTime> {
        self.due
    }

    /// The window's ratios, if a report is due. The next report is due an interval later. With an empty window there
    /// is no report until packets arrive again.
    pub(super) fn begin_report(&mut self, now: ArrivalTime) -> Option<Ratios> {
        let due = self.due.filter(|&due| due <= now)?;
        self.due = None;
        self.window.expire(now);
        let ratios = self.window.ratios()?;
        let interval = self.spans.interval;
        self.due = Some(if due + interval > now { due + interval } else { now + interval });
        Some(ratios)
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;
    use crate::time::SendTime;

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    /// Receiver time of `ms` milliseconds.
    fn at(ms: i64) -> ArrivalTime {
        ArrivalTime::from_millis(ms)
    }

    fn log() -> PathLog {
        PathLog::new(LogSpans {
            window: ms(500),
            interval: ms(100),
            clock_step: ms(10_000),
            drain_after: None,
        })
    }

    /// Packet `id` of 1250 bytes arrives at `at` ms after `delay` ms.
    fn arrive(log: &mut PathLog, id: u64, at: i64, delay: i64) -> ArrivalResult {
        let departure = SendTime::from_millis(at - delay);
        let arrival = Arrival::new(id, departure, ArrivalTime::from_millis(at), DataSize::from_bytes(1250));
        log.on_arrival(&arrival, true)
    }

    #[test]
    fn gaps_and_late_packets_are_distinguished() {
        let mut log = log();
        let first = arrive(&mut log, 7, 100, 25);
        assert_eq!((first.missing, first.queuing, first.after_silence), (Some(0), ms(0), true));
        let next = arrive(&mut log, 11, 110, 35);
        assert_eq!((next.missing, next.queuing, next.after_silence), (Some(3), ms(10), false));
        assert_eq!((next.clocks_moved, next.set_back), (false, false));
        for late in [9, 11] {
            assert_eq!(arrive(&mut log, late, 120, 45).missing, None);
        }
        // A late packet raises no queuing delay and lowers no base.
        assert_eq!((log.largest_queuing(), arrive(&mut log, 8, 130, 5).queuing), (ms(10), ms(0)));
        assert_eq!(log.above_base(Some(next.delay)), ms(10));
        assert_eq!(log.above_base(None), ms(0));
    }

    #[test]
    fn times_do_not_run_backwards_within_the_window() {
        let mut log = log();
        arrive(&mut log, 1, 1000, 25);
        let early = arrive(&mut log, 2, 500, 25);
        assert_eq!((early.at, early.set_back), (at(1000), false));
        let back = arrive(&mut log, 3, 499, 40);
        assert_eq!((back.at, back.set_back, back.clocks_moved, back.queuing), (at(499), true, true, ms(0)));
        assert!(back.after_silence, "the window has been emptied");
    }

    #[test]
    fn a_delay_of_ten_seconds_is_a_clock_that_leapt() {
        let mut log = log();
        arrive(&mut log, 1, 1000, 25);
        let below = arrive(&mut log, 2, 1010, 10_024);
        assert_eq!((below.clocks_moved, below.queuing), (false, ms(9_999)));
        let leapt = arrive(&mut log, 3, 1020, 10_025);
        assert_eq!((leapt.clocks_moved, leapt.set_back, leapt.queuing), (true, false, ms(0)));
        assert_eq!(log.base(), Some(leapt.delay));
        assert_eq!(log.largest_queuing(), ms(0), "delays from before are forgotten");
    }

    #[test]
    fn reports_are_due_an_interval_after_the_first_packet_and_after_each_other() {
        let mut log = log();
        assert_eq!((log.next_report(), log.begin_report(at(1000))), (None, None));
        arrive(&mut log, 1, 1000, 25);
        arrive(&mut log, 3, 1050, 25);
        assert_eq!((log.next_report(), log.begin_report(at(1099))), (Some(at(1100)), None));
        let ratios = log.begin_report(at(1100)).unwrap();
        assert_eq!((ratios.packets, ratios.loss), (2, 1.0 / 3.0));
        assert_eq!(log.next_report(), Some(at(1200)));
        // A late call keeps the beat if it can; a whole interval late it begins a new one.
        assert!(log.begin_report(at(1250)).is_some());
        assert_eq!(log.next_report(), Some(at(1300)));
        assert!(log.begin_report(at(1400)).is_some());
        assert_eq!(log.next_report(), Some(at(1500)));
        // An empty window: no report until packets come again.
        assert_eq!((log.begin_report(at(1550)), log.next_report()), (None, None));
        arrive(&mut log, 4, 2000, 25);
        assert_eq!(log.next_report(), Some(at(2100)));
    }

    #[test]
    fn unreported_packets_are_neither_lost_nor_a_gap() {
        // A packet each 10 ms, of which 10 to 18 are never reported: 9 of the 10 in the gap of 100 ms.
        let mut log = log();
        (0..10).for_each(|id| _ = arrive(&mut log, id, 1000 + 10 * id as i64, 25));
        log.on_unreported();
        assert_eq!(arrive(&mut log, 19, 1190, 25).missing, Some(0));
        assert_eq!((log.unreported_packets.packets, log.unreported_packets.time), (9, ms(90)));
        assert_eq!(arrive(&mut log, 20, 1200, 25).missing, Some(0));
        assert_eq!(arrive(&mut log, 22, 1220, 25).missing, Some(1));
        // 12 packets since the first, in 220 ms less 90: 120 kbit in 130 ms.
        assert_eq!(log.receive_rate(at(1220)), Some(DataRate::from_bps(923_076)));
    }

    #[test]
    fn late_packets_count_in_the_receive_rate() {
        let mut log = log();
        for (id, time) in [(1, 1000), (3, 1100), (2, 1200)] {
            arrive(&mut log, id, time, 25);
        }
        // Two packets since the first one: 20 000 bits in 200 ms.
        assert_eq!(log.receive_rate(at(1200)), Some(DataRate::from_kbps(100)));
    }
}
