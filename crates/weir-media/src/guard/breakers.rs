//! RTP circuit breakers (RFC 8083): stop media that no controller stopped.
//!
//! * RTCP timeout (§4.1): no report on the media, of any kind, for three reporting intervals of at least 5 s each. Of
//!   sparse media three packets in a row must stay unanswered.
//! * Media timeout (§4.2, `k` = 5): reports come, but cover no newer packet. A report counts only if a packet of its
//!   stream left since the one before.
//! * Congestion (§4.3): the media rate exceeds ten times that of a TCP flow, for as many reports as the RFC averages
//!   over. The TCP rate is the simple form of the TCP throughput equation with `b` = 1. The RFC uses the mean loss of
//!   the reports; here each must show as much loss, so that an honest report outweighs forged ones.
//!
//! The last two use only the reports on one stream of video and the packets sent of it; audio is no part of either.
//!
//! Media usability (§4.4) is left to the application. The frames of one rate decision are one (`G` = 1), and both ends
//! report at the same interval.

mod silence;

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::path_config::PathConfig;
use silence::Silence;

/// Minimum interval of the RTCP timeout (RFC 3550 §6.2).
const LEAST_INTERVAL: TimeDelta = TimeDelta::from_secs(5);
/// `k` of RFC 8083 §4.1: number of frames, round trips or reports without progress.
const NO_PROGRESS: f64 = 5.0;
/// Upper bound of the frame interval. A picture that changes more rarely counts as one that changes this often (`Tf` is
/// the longest of the last ten seconds).
const LONGEST_FRAME: TimeDelta = TimeDelta::from_secs(10);
/// Maximum number of intervals that are judged: with reports once a second 15 s, with faster ones less.
const MOST_INTERVALS: usize = 64;

/// A circuit breaker that has tripped, with the reason: media has stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Breaker {
    /// No feedback on the media was received (RFC 8083 §4.1).
    RtcpTimeout {
        /// Time since the last feedback, or since the first packet that was not answered.
        silence: TimeDelta,
    },
    /// Reports come, but none of them shows arriving media (RFC 8083 §4.2).
    MediaTimeout {
        /// Number of reports in a row that covered no newer packet.
        reports: u32,
    },
    /// The sending rate is far above what the path's losses allow (RFC 8083 §4.3).
    Congestion {
        /// Sending rate of the video.
        rate: DataRate,
        /// Ten times the rate of TCP at this loss ratio and round-trip time.
        limit: DataRate,
        /// The share of packets lost, in (0, 1].
        loss_ratio: f64,
    },
}

impl core::fmt::Display for Breaker {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::RtcpTimeout { silence } => write!(f, "no feedback on the media for {silence}"),
            Self::MediaTimeout { reports } => {
                write!(f, "{reports} reports in a row covered no newer packet")
            }
            Self::Congestion { rate, limit, loss_ratio } => {
                let percent = loss_ratio * 100.0;
                write!(f, "{rate} were sent with {percent:.1} % lost, where ten times TCP's rate is {limit}")
            }
        }
    }
}

/// State of the circuit breakers. Reports come at their interval or, where some are forged, more often. Then each of
/// them counts, and the lowest loss that any reports.
#[derive(Debug)]
pub(crate) struct Breakers {
    stream: usize,
    /// `Tdr`, and `Td` where it is longer than [`LEAST_INTERVAL`].
    interval: TimeDelta,
    /// `Tf`, the time between frames.
    frame: TimeDelta,
    silence: Silence,
    /// `Tr`.
    rtt: Option<TimeDelta>,
    highest: Option<u32>,
    /// Reports without progress although a packet was sent since the report before, and the sum of their intervals.
    stalled: u32,
    stalled_for: TimeDelta,
    /// Time of the last report, and of the first packet sent since.
    reported: Option<SendTime>,
    sent: Option<SendTime>,
    present: ReportingInterval,
    since: Option<SendTime>,
    intervals: VecDeque<ReportingInterval>,
}

/// Sums over one reporting interval.
#[derive(Clone, Copy, Debug, Default)]
struct ReportingInterval {
    packets: u64,
    size: DataSize,
    time: TimeDelta,
    /// The lowest loss ratio and the lowest round-trip time in its reports.
    loss_ratio: Option<f64>,
    rtt: Option<TimeDelta>,
}

impl Breakers {
    /// The circuit breakers of the stream of video at `stream`, if media stops by itself.
    pub(crate) fn of(stream: usize, config: &PathConfig) -> Option<Self> {
        config.stops_media.then(|| Self::new(stream, config.rtcp_interval.mean(), config.frame_interval))
    }

    /// Circuit breakers of the stream at `stream`, with reports at `interval` and a picture each `frame`.
    fn new(stream: usize, interval: TimeDelta, frame: TimeDelta) -> Self {
        let frame = frame.clamp(TimeDelta::ZERO, LONGEST_FRAME);
        Self {
            stream,
            interval,
            frame,
            silence: Silence::new(interval.max(LEAST_INTERVAL)),
            rtt: None,
            highest: None,
            stalled: 0,
            stalled_for: TimeDelta::ZERO,
            reported: None,
            sent: None,
            present: ReportingInterval::default(),
            since: None,
            intervals: VecDeque::new(),
        }
    }

    /// The flow sends no packets for a while, by a pause or by a breaker: resets the state.
    pub(crate) fn rest(&mut self) {
        let mut intervals = core::mem::take(&mut self.intervals);
        intervals.clear();
        *self = Self { intervals, ..Self::new(self.stream, self.interval, self.frame) };
    }

    /// Place of the stream of which they take reports.
    pub(crate) fn stream(&self) -> usize {
        self.stream
    }

    /// A packet of the stream at `stream` leaves.
    pub(crate) fn on_sent(&mut self, now: SendTime, stream: usize, size: DataSize) {
        self.silence.on_sent(now);
        if stream == self.stream {
            self.since.get_or_insert(now);
            self.reported.get_or_insert(now);
            self.sent.get_or_insert(now);
            self.present.packets += 1;
            self.present.size += size;
        }
    }

    /// Feedback on the media was received.
    pub(crate) fn on_feedback(&mut self, now: SendTime, rtt: Option<TimeDelta>) {
        if let Some(new) = rtt {
            self.present.rtt = Some(self.present.rtt.map_or(new, |least| least.min(new)));
            self.rtt = Some(self.rtt.map_or(new, |old| old.scale(0.8) + new.scale(0.2)));
        }
        self.silence.on_feedback(now, self.rtt.unwrap_or_default());
    }

    /// Takes a receiver report block on the video, however old: highest sequence number received, and fraction lost
    /// since the report before in 1/256.
    pub(crate) fn on_block(&mut self, now: SendTime, highest: u32, fraction_lost: u8) -> Option<Breaker> {
        if let Some(stalled) = self.stall(now, highest) {
            return Some(stalled);
        }
        let loss_ratio = f64::from(fraction_lost) / 256.0;
        self.present.loss_ratio =
            Some(self.present.loss_ratio.map_or(loss_ratio, |least| least.min(loss_ratio)));
        let since = self.since.filter(|&since| now - since >= self.interval)?;
        self.since = Some(now);
        if self.intervals.len() == MOST_INTERVALS {
            self.intervals.pop_front();
        }
        self.intervals
            .push_back(ReportingInterval { time: now - since, ..core::mem::take(&mut self.present) });
        self.congestion()
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub(crate) fn next_timeout(&self) -> Option<SendTime> {
        self.silence.next_timeout()
    }

    /// The RTCP timeout, if there was no feedback for too long.
    pub(crate) fn on_timeout(&mut self, now: SendTime) -> Option<Breaker> {
        self.silence.on_timeout(now).map(|silence| Breaker::RtcpTimeout { silence })
    }

    /// Counts reports that cover no newer packet although packets were sent since the report before.
    fn stall(&mut self, now: SendTime, highest: u32) -> Option<Breaker> {
        let ahead = |before: u32| highest.wrapping_sub(before) as i32 > 0;
        let sent = self.sent.take();
        let before = self.reported.replace(now);
        if self.highest.is_none_or(ahead) {
            self.highest = Some(highest);
            (self.stalled, self.stalled_for) = (0, TimeDelta::ZERO);
            return None;
        }
        // After a long time without a report only the last interval before the packet counts.
        self.stalled_for += now - before?.max(sent? - self.interval);
        self.stalled += 1;
        let longest = self.frame.max(self.rtt.unwrap_or_default()).max(self.interval);
        // RFC 8083 §4.2: ceil(k · max(Tf, Tr, Tdr) / Tdr) reports.
        let most = (longest.secs_f64() * NO_PROGRESS / self.interval.secs_f64()).ceil();
        let waited = self.stalled_for >= self.interval.scale(most);
        let stalled = waited && f64::from(self.stalled) >= most;
        stalled.then_some(Breaker::MediaTimeout { reports: self.stalled })
    }

    /// Number of reporting intervals in `CB_INTERVAL`.
    fn judged(&self, rtt: TimeDelta) -> usize {
        let (frame, rtt, interval) = (self.frame.secs_f64(), rtt.secs_f64(), self.interval.secs_f64());
        // RFC 8083 §4.3: ceil(3 · min(max(10 · G · Tf, 10 · Tr, 3 · Tdr), max(15, 3 · Td)) / (3 · Tdr)).
        let most = f64::max(15.0, 3.0 * self.interval.max(LEAST_INTERVAL).secs_f64());
        let span = (10.0 * frame).max(10.0 * rtt).max(3.0 * interval).min(most);
        ((3.0 * span / (3.0 * interval)).ceil() as usize).clamp(1, MOST_INTERVALS)
    }

    fn congestion(&self) -> Option<Breaker> {
        let first = self.intervals.len().checked_sub(self.judged(self.rtt?))?;
        let rtts = self.intervals.range(first..).filter_map(|interval| interval.rtt);
        let rtt = rtts.min().filter(|rtt| *rtt > TimeDelta::ZERO)?;
        let (mut all, mut loss_ratio) = (ReportingInterval::default(), 1.0_f64);
        for interval in self.intervals.range(first..) {
            all.packets += interval.packets;
            all.size += interval.size;
            all.time += interval.time;
            loss_ratio = loss_ratio.min(interval.loss_ratio.unwrap_or(0.0));
        }
        // Below one packet per round trip and reporting interval the flow is not judged.
        let slow = (all.packets as f64) * rtt.max(self.interval).secs_f64() < all.time.secs_f64();
        if loss_ratio <= 0.0 || slow {
            return None;
        }
        let size = all.size.bytes() as f64 / all.packets as f64;
        // The simple TCP throughput equation with b = 1 (RFC 8083 §4.3): X = s / (R · sqrt(2·p/3)).
        let tcp = 8.0 * size / (rtt.secs_f64() * (2.0 * loss_ratio / 3.0).sqrt());
        let limit = DataRate::from_bps_f64(10.0 * tcp);
        let rate = all.size / all.time;
        (rate > limit).then_some(Breaker::Congestion { rate, limit, loss_ratio })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: TimeDelta = TimeDelta::from_secs(1);

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    fn breakers() -> Breakers {
        Breakers::new(0, SECOND, TimeDelta::from_millis(33))
    }

    fn sent(breakers: &mut Breakers, ms: i64) {
        breakers.on_sent(at(ms), 0, DataSize::from_bytes(1000));
    }

    /// A second with `packets` packets of 1000 bytes, and a report at its end.
    fn second(breakers: &mut Breakers, second: i64, packets: i64, highest: u32, lost: u8) -> Option<Breaker> {
        for n in 0..packets {
            sent(breakers, 1000 * second + 1000 * n / packets);
        }
        let now = at(1000 * (second + 1));
        breakers.on_feedback(now, Some(TimeDelta::from_millis(100)));
        breakers.on_block(now, highest, lost)
    }

    #[test]
    fn a_tripped_breaker_has_a_sentence() {
        let silence = Breaker::RtcpTimeout { silence: SECOND * 15 };
        assert_eq!(silence.to_string(), "no feedback on the media for 15s");
        let stalled = Breaker::MediaTimeout { reports: 5 };
        assert_eq!(stalled.to_string(), "5 reports in a row covered no newer packet");
    }

    #[test]
    fn a_resting_sender_has_no_timeout() {
        let mut breakers = breakers();
        sent(&mut breakers, 100);
        assert_eq!(breakers.next_timeout(), Some(at(5100)), "an answer to the packet");
        breakers.rest();
        assert_eq!(breakers.next_timeout(), None);
    }

    #[test]
    fn five_reports_without_progress_are_too_many() {
        let mut breakers = breakers();
        assert_eq!(second(&mut breakers, 0, 10, 10, 0), None);
        assert_eq!(second(&mut breakers, 1, 10, 20, 0), None);
        for stalled in 2..6 {
            assert_eq!(second(&mut breakers, stalled, 10, 20, 0), None);
        }
        // A report that shows progress begins anew; a report before which no packet was sent does not count.
        assert_eq!(second(&mut breakers, 6, 10, 21, 0), None);
        for stalled in 7..11 {
            assert_eq!(second(&mut breakers, stalled, 10, 21, 0), None);
        }
        for idle in 11..60 {
            assert_eq!(second(&mut breakers, idle, 0, 21, 0), None);
        }
        assert_eq!(second(&mut breakers, 60, 10, 21, 0), Some(Breaker::MediaTimeout { reports: 5 }));
    }

    #[test]
    fn audio_packets_do_not_stop_an_idle_video() {
        let mut breakers = breakers();
        assert_eq!(second(&mut breakers, 0, 10, 10, 0), None);
        let beside = |breakers: &mut Breakers, s: i64, video: i64| {
            for n in 0..50 {
                breakers.on_sent(at(1000 * s + 20 * n), 1, DataSize::from_bytes(50));
            }
            second(breakers, s, video, 10, 0)
        };
        assert!((1..60).all(|s| beside(&mut breakers, s, 0).is_none()));
        // Each picture, one per 20 s, that is not received counts once: the fifth of them stops media.
        let stopped = (60..200).find(|s| beside(&mut breakers, *s, i64::from(s % 20 == 0)).is_some());
        assert_eq!(stopped, Some(140));
    }

    #[test]
    fn a_flood_of_old_reports_on_a_picture_after_a_long_rest_is_no_want_of_progress() {
        let mut breakers = breakers();
        assert_eq!(second(&mut breakers, 0, 10, 10, 0), None);
        for n in 0..50 {
            sent(&mut breakers, 30_000 + 20 * n);
            assert_eq!(breakers.on_block(at(30_001 + 20 * n), 10, 0), None, "{n}");
        }
    }

    #[test]
    fn small_packets_of_audio_do_not_make_tcp_slower() {
        // 150 packets a second are below 173; with audio's a mean packet would have 762 bytes, and ten times TCP's rate be 1056.
        let mut breakers = breakers();
        for s in 0..6 {
            for n in 0..50 {
                breakers.on_sent(at(1000 * s + 20 * n), 1, DataSize::from_bytes(50));
            }
            assert_eq!(second(&mut breakers, s, 150, s as u32 + 1, 128), None);
        }
    }

    #[test]
    fn ten_times_what_tcp_would_send_is_too_much() {
        // p = 128/256, Tr = 100 ms, s = 1000: X = 8000 / (0.1 sqrt(1/3)) = 138.56 kbit/s, ten times that 1385.6. Packets of
        // 8000 bits: 173 a second are below, 174 above. CB_INTERVAL is ceil(3 * 3 / 3) = 3 reports.
        let tripped = |packets: i64| {
            let mut breakers = breakers();
            (0..6).find_map(|s| Some((s, second(&mut breakers, s, packets, s as u32 + 1, 128)?)))
        };
        assert_eq!(tripped(173), None);
        let Some((2, Breaker::Congestion { rate, limit, loss_ratio })) = tripped(174) else {
            panic!("{:?}", tripped(174));
        };
        assert_eq!((rate.bps(), limit.bps() / 100, loss_ratio), (1_392_000, 13_856, 0.5));
    }

    #[test]
    fn one_report_with_fewer_arrivals_denies_the_others() {
        let mut breakers = breakers();
        for s in 0..30 {
            let lost = if s % 3 == 2 { 0 } else { 255 };
            assert_eq!(second(&mut breakers, s, 300, s as u32 + 1, lost), None);
        }
        // An honest report outweighs a flood of others too.
        for s in 30..40 {
            for ms in (0..1000).step_by(20) {
                let now = at(1000 * s + ms);
                assert_eq!(breakers.on_block(now, 1, 255), None);
            }
            assert_eq!(second(&mut breakers, s, 300, s as u32 + 1, 0), None);
        }
    }

    #[test]
    fn many_reports_in_a_short_time_are_no_lack_of_progress() {
        let mut breakers = breakers();
        assert_eq!(second(&mut breakers, 0, 10, 10, 0), None);
        // Twenty reports in each second cover no newer packet: the breaker takes five seconds all the same.
        for n in 1..100 {
            sent(&mut breakers, 1000 + 50 * n - 1);
            assert_eq!(breakers.on_block(at(1000 + 50 * n), 10, 0), None, "{n}");
        }
        sent(&mut breakers, 5999);
        assert!(matches!(breakers.on_block(at(6000), 10, 0), Some(Breaker::MediaTimeout { .. })));
    }

    #[test]
    fn congestion_is_judged_over_ten_round_trips_or_three_intervals_but_not_for_ever() {
        let judged = |interval, rtt_ms| {
            let breakers = Breakers::new(0, TimeDelta::from_secs(interval), TimeDelta::from_millis(33));
            breakers.judged(TimeDelta::from_millis(rtt_ms))
        };
        // Three intervals; ten round trips of 600 ms; 15 s at most, and three intervals where these are longer.
        assert_eq!([judged(1, 100), judged(1, 600), judged(1, 5000), judged(10, 100)], [3, 6, 15, 3]);
    }

    #[test]
    fn a_sender_of_one_packet_per_long_interval_is_judged() {
        // 80 packets in each 10 s with a round trip of 2 s, of which nearly all are lost: TCP would send a packet in 1.63 s.
        let mut breakers = Breakers::new(0, TimeDelta::from_secs(10), TimeDelta::from_millis(33));
        let mut tripped = None;
        for s in 0..30 {
            for n in 0..8 {
                sent(&mut breakers, 1000 * s + 125 * n);
            }
            if s % 10 == 9 {
                breakers.on_feedback(at(1000 * s + 999), Some(TimeDelta::from_secs(2)));
                tripped = tripped.or(breakers.on_block(at(1000 * s + 1000), s as u32, 255));
            }
        }
        assert!(matches!(tripped, Some(Breaker::Congestion { .. })), "{tripped:?}");
    }
}
