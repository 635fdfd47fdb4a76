//! The TCP of the WebRTC project's simulator of 2015, which nada-vs-gcc-2016 calls NewReno: packets of one size, each
//! acknowledged by itself. The window has additive increase and is halved at losses. There are neither retransmissions
//! nor recovery: a gap in the numbers is a loss, and the window is halved at most once per round trip.
//!
//! Source: `webrtc/modules/remote_bitrate_estimator/test/packet_sender.cc` and `estimators/tcp.cc` of 2015.
//!
//! Divergences, all deliberate:
//! 1. Time is not rounded to milliseconds, and events come one by one instead of in slices of 10 ms.
//! 2. An acknowledgement lists one packet; the receiver there could list several, but is asked after each.

use std::collections::VecDeque;

use weir_cc::window::Window;
use weir_cc::{ArrivalTime, Ecn, SendTime};
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::{Acknowledgement, SackBlock, Segment, TcpConfig, Timestamps};

use crate::tcp::transfer::SegmentStream;

/// Time after which a packet without an acknowledgement counts as lost.
const LOSS_TIMEOUT: TimeDelta = TimeDelta::from_secs(1);

/// Time slice of that simulator. Packets without acknowledgement are removed at the end of a slice, without a
/// reduction of the window.
const SLICE: TimeDelta = TimeDelta::from_millis(10);

/// Initial congestion window, in packets.
const INITIAL_WINDOW: f64 = 10.0;

/// Sender of packets under the window of that simulator's TCP.
#[derive(Debug)]
pub struct ChromiumSender {
    window: Window,
    transfer: SegmentStream,
    /// Packets that are neither acknowledged nor lost, in order: number and time of sending.
    in_flight: VecDeque<(u32, SendTime)>,
    next: u32,
    /// Number of packets that may leave now.
    allowed: u32,
    /// The highest acknowledged number, in 16 bits.
    newest: u16,
    reduced_at: Option<SendTime>,
    rtt: Option<TimeDelta>,
    acknowledged: u32,
    started: bool,
}

impl ChromiumSender {
    /// A sender of `size` bytes, or without end, in packets of the configuration's segment size.
    pub fn new(config: TcpConfig, size: Option<DataSize>) -> Self {
        Self {
            window: Window { cwnd: INITIAL_WINDOW, ssthresh: f64::INFINITY },
            transfer: SegmentStream::new(size, config.in_range().mss),
            in_flight: VecDeque::new(),
            next: 0,
            allowed: 0,
            newest: 0,
            reduced_at: None,
            rtt: None,
            acknowledged: 0,
            started: false,
        }
    }

    /// Starts the sender; poll for packets.
    pub fn start(&mut self) {
        if !self.started {
            self.started = true;
            self.update_allowance();
        }
    }

    /// Stops the sender: no new packets are sent.
    pub fn stop(&mut self) {
        self.transfer.stop_at(self.next);
    }

    /// Takes the acknowledgement of packet `number`, sent at `sent_at`; poll for packets afterwards. Returns the
    /// round-trip time.
    pub fn on_ack(&mut self, now: SendTime, number: u32, sent_at: SendTime) -> TimeDelta {
        let rtt = now - sent_at;
        self.rtt = Some(rtt);
        // In 16 bits, and from 0 on: the very first acknowledgement, of number 0, looks like a loss.
        let expected = (number as u16).wrapping_sub(self.newest);
        let missing = expected.wrapping_sub(1);
        if let Ok(index) = self.in_flight.binary_search_by_key(&number, |&(sent, _)| sent) {
            self.in_flight.remove(index);
            self.acknowledged += 1;
        }
        if missing > 0 {
            self.on_loss(now, rtt);
        } else if self.window.cwnd <= self.window.ssthresh {
            self.window.cwnd += 1.0;
        } else {
            self.window.cwnd += 1.0 / self.window.cwnd;
        }
        if expected <= u16::MAX / 2 {
            self.newest = number as u16;
        }
        self.update_allowance();
        // Packets given up here were still in flight when they were counted.
        if self.remove_older(now, LOSS_TIMEOUT) {
            self.on_loss(now, rtt);
        }
        rtt
    }

    fn on_loss(&mut self, now: SendTime, rtt: TimeDelta) {
        if self.reduced_at.is_some_and(|at| now - at < rtt) {
            return;
        }
        self.reduced_at = Some(now);
        self.window.ssthresh = ((self.in_flight.len() / 2) as f64).max(2.0);
        self.window.cwnd = self.window.ssthresh;
    }

    fn update_allowance(&mut self) {
        self.allowed = (self.window.cwnd.ceil() as u32).saturating_sub(self.in_flight.len() as u32);
    }

    /// Removes packets sent longer than `age` ago as lost. Returns whether there were any.
    fn remove_older(&mut self, now: SendTime, age: TimeDelta) -> bool {
        let before = self.in_flight.len();
        while self.in_flight.front().is_some_and(|&(_, sent)| now - sent > age) {
            self.in_flight.pop_front();
        }
        self.in_flight.len() < before
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.in_flight.front().map(|&(_, sent)| sent + LOSS_TIMEOUT + SLICE)
    }

    /// Serves the timer of [`Self::next_timeout`]; poll for packets afterwards. An early or repeated call is harmless.
    pub fn on_timeout(&mut self, now: SendTime) {
        if self.next_timeout().is_some_and(|due| due <= now) {
            self.remove_older(now, LOSS_TIMEOUT);
            self.update_allowance();
        }
    }

    /// The next packet that may leave now; call until `None`.
    pub fn poll_segment(&mut self, now: SendTime) -> Option<Segment> {
        if self.allowed == 0 || self.next >= self.transfer.end() {
            return None;
        }
        self.allowed -= 1;
        let number = self.next;
        self.next += 1;
        self.in_flight.push_back((number, now));
        let payload = self.transfer.payload(number);
        let ecn = Ecn::NotEct;
        Some(Segment {
            number,
            payload,
            syn: false,
            retransmission: false,
            sent_at: now,
            ecn,
            cwr: false,
            push: false,
        })
    }

    /// Whether all of the transfer was sent, and each packet was acknowledged or is lost.
    pub fn is_complete(&self) -> bool {
        self.next >= self.transfer.end() && self.in_flight.is_empty() && !self.transfer.is_cut_short()
    }

    /// The congestion window.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Writes the values of [`TcpSender::signals`](crate::tcp::TcpSender::signals); data that has arrived counts as
    /// acknowledged, whether in order or not.
    pub fn read_signals(&self, out: &mut [f64]) {
        let rtt = self.rtt.map_or(f64::NAN, |rtt| rtt.secs_f64() * 1e3);
        let acked = self.transfer.size_before(self.acknowledged).bytes_f64();
        for (slot, value) in out.iter_mut().zip([self.window.cwnd, self.window.ssthresh, rtt, acked]) {
            *slot = value;
        }
    }
}

/// The acknowledgement of `segment`.
pub(crate) fn acknowledge(segment: &Segment) -> Acknowledgement {
    Acknowledgement {
        cumulative: segment.number,
        syn: false,
        sacks: [SackBlock::EMPTY; 3],
        stamps: Timestamps::new(segment.sent_at, ArrivalTime::ZERO),
        ece: false,
        marked: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> SendTime = SendTime::from_millis;

    /// A sender with its connection established.
    fn started() -> ChromiumSender {
        let mut sender = ChromiumSender::new(TcpConfig::default(), None);
        sender.start();
        sender
    }

    fn drain(sender: &mut ChromiumSender, ms: i64) -> u32 {
        std::iter::from_fn(|| sender.poll_segment(MS(ms))).count() as u32
    }

    /// Acknowledges packets sent at 0 ms one by one at 100 ms.
    fn acknowledge(sender: &mut ChromiumSender, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            assert_eq!(sender.on_ack(MS(100), number, MS(0)), TimeDelta::from_millis(100));
        }
    }

    #[test]
    fn first_acknowledgement_counts_as_a_loss() {
        // 9 of 10 are in flight: 9 / 2 in whole numbers are 4.
        let mut sender = started();
        assert_eq!(drain(&mut sender, 0), 10);
        acknowledge(&mut sender, [0]);
        assert_eq!(sender.window(), Window { cwnd: 4.0, ssthresh: 4.0 });
        assert_eq!(drain(&mut sender, 100), 0);
    }

    #[test]
    fn window_opens_by_one_up_to_the_threshold_and_by_its_inverse_beyond() {
        let mut sender = started();
        drain(&mut sender, 0);
        acknowledge(&mut sender, [0, 1]);
        assert_eq!(sender.window().cwnd, 5.0);
        acknowledge(&mut sender, [2]);
        assert_eq!(sender.window().cwnd, 5.2);
        // 1 / 5.2 more makes 5.39: 6 may be in flight, and 6 of 10 are.
        acknowledge(&mut sender, [3]);
        assert_eq!(drain(&mut sender, 100), 0);
        acknowledge(&mut sender, [4]);
        assert_eq!(drain(&mut sender, 100), 1);
    }

    #[test]
    fn gap_halves_what_is_in_flight_once_per_round_trip_and_nothing_is_sent_again() {
        let mut sender = started();
        sender.window = Window { cwnd: 20.0, ssthresh: 4.0 };
        sender.update_allowance();
        assert_eq!(drain(&mut sender, 0), 20);
        acknowledge(&mut sender, [0, 1]);
        sender.reduced_at = None;
        // 2 is missing: 17 are still in flight, of which 8 remain; a second gap in the same round trip changes nothing.
        acknowledge(&mut sender, [3]);
        assert_eq!(sender.window(), Window { cwnd: 8.0, ssthresh: 8.0 });
        acknowledge(&mut sender, [5]);
        assert_eq!(sender.window().ssthresh, 8.0);
        acknowledge(&mut sender, 6..20);
        let sent: Vec<_> = std::iter::from_fn(|| sender.poll_segment(MS(100))).collect();
        assert!(sent.iter().all(|segment| segment.number >= 20 && !segment.retransmission));
        // The two lost packets still count as in flight.
        assert_eq!(sent.len(), sender.window().cwnd.ceil() as usize - 2);
    }

    #[test]
    fn packets_without_a_report_are_given_up_after_a_second() {
        let mut sender = started();
        drain(&mut sender, 0);
        assert_eq!(sender.next_timeout(), Some(MS(1010)));
        sender.on_timeout(MS(1009));
        assert_eq!(drain(&mut sender, 1009), 0);
        sender.on_timeout(MS(1010));
        assert_eq!(sender.window().cwnd, 10.0);
        assert_eq!(drain(&mut sender, 1010), 10);
        // Packets of 1010 ms are given up at an acknowledgement, which counts as a loss; 4 are allowed.
        sender.reduced_at = Some(MS(1000));
        sender.newest = 9;
        sender.on_ack(MS(2015), 10, MS(1010));
        assert_eq!(sender.window().ssthresh, 2.0);
    }

    #[test]
    fn transfer_ends_when_nothing_is_in_flight() {
        let size = Some(DataSize::from_bytes(1448 * 2));
        let mut sender = ChromiumSender::new(TcpConfig::default(), size);
        sender.start();
        assert_eq!(drain(&mut sender, 0), 2);
        acknowledge(&mut sender, [0]);
        assert!(!sender.is_complete());
        acknowledge(&mut sender, [1]);
        assert!(sender.is_complete());
    }
}
