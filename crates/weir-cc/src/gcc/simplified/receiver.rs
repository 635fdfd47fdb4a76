//! The receiver half of the simplified GCC: packets, gradient, detector, rate, and REMB messages.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::config::{Config, UpdateTimes};
use crate::config_error::ConfigError;
use crate::controller::{RateLimits, Receiver, Signal};
use crate::gcc::blocks::detector::{BandwidthUsage, OveruseDetector};
use crate::gcc::blocks::rate_control::{RateControl, RateState};
use crate::packet::Arrival;
use crate::parts::receive_rate::ReceiveRate;
use crate::report::Report;
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

/// Time without a packet after which the next packet counts as the first, also if the clock was set back by as much.
const RESTART_TIMEOUT: TimeDelta = TimeDelta::from_secs(2);

/// The delay-based controller of dccc-2017's simplified GCC, at the receiver.
#[derive(Debug)]
pub struct SimplifiedGccReceiver {
    config: Config,
    limits: RateLimits,
    detector: OveruseDetector,
    usage: BandwidthUsage,
    rate: RateControl,
    received: ReceiveRate,
    previous: Option<PreviousPacket>,
    /// `d_i` in ms; NaN before the second packet.
    gradient: f64,
    measured: Option<DataRate>,
    updated: Option<ArrivalTime>,
    remb_due: Option<ArrivalTime>,
    remb_sent: Option<DataRate>,
}

/// The previous packet.
#[derive(Clone, Copy, Debug)]
struct PreviousPacket {
    departure: SendTime,
    at: ArrivalTime,
    size: DataSize,
}

impl PreviousPacket {
    /// Whether `size` differs by at most the share `tolerance` of the larger one.
    fn has_size_of(&self, size: DataSize, tolerance: f64) -> bool {
        let (small, large) = (self.size.min(size).bytes_f64(), self.size.max(size).bytes_f64());
        large - small <= tolerance * large
    }
}

impl SimplifiedGccReceiver {
    /// A receiver half for rates within `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::begin(config, limits))
    }

    fn begin(config: Config, limits: RateLimits) -> Self {
        Self {
            config,
            limits,
            detector: OveruseDetector::new(Config::detector()),
            usage: BandwidthUsage::Normal,
            rate: RateControl::new(config.rate_control(), limits),
            received: ReceiveRate::new(config.rate_window),
            previous: None,
            gradient: f64::NAN,
            measured: None,
            updated: None,
            remb_due: None,
            remb_sent: None,
        }
    }

    /// Passes the gradient between `previous` and `packet` to the detector.
    fn detect(&mut self, previous: &PreviousPacket, packet: &Arrival) {
        let delay = ApparentDelay::between(packet.departure, packet.at);
        self.gradient = (delay - ApparentDelay::between(previous.departure, previous.at)).millis_f64();
        // Even of packets that left at once the second one was above the threshold for a time.
        let elapsed = (packet.departure - previous.departure).max(TimeDelta::from_nanos(1));
        self.usage = self.detector.update(self.gradient, self.gradient, self.config.threshold, elapsed);
    }

    fn update_rate(&mut self, now: ArrivalTime) {
        let elapsed = self.updated.replace(now).map_or(TimeDelta::ZERO, |last| now - last);
        self.measured = self.received.rate(now);
        self.rate.update(self.usage, self.measured, elapsed);
    }

    /// Whether the rate is so far below the value sent last that a REMB is due at once.
    fn is_drop(&self) -> bool {
        let sent = self.remb_sent.zip(self.config.remb_drop);
        sent.is_some_and(|(sent, drop)| self.rate.rate().bps_f64() < drop * sent.bps_f64())
    }

    fn restart(&mut self) {
        self.detector = OveruseDetector::new(Config::detector());
        self.usage = BandwidthUsage::Normal;
        self.gradient = f64::NAN;
        self.updated = None;
        self.previous = None;
    }
}

impl Receiver for SimplifiedGccReceiver {
    fn on_arrival(&mut self, packet: &Arrival) {
        self.received.on_arrival(packet.at, packet.size);
        // Where the clock was set back, reports due by its old reading are due an interval from now.
        let next = packet.at + self.config.remb_interval;
        self.remb_due = Some(self.remb_due.map_or(next, |due| due.min(next)));
        if self.previous.is_some_and(|previous| (packet.at - previous.at).abs() > RESTART_TIMEOUT) {
            self.restart();
        }
        if self.previous.is_some_and(|previous| packet.departure < previous.departure) {
            return;
        }
        if let Some(previous) = self.previous
            && previous.has_size_of(packet.size, self.config.size_tolerance)
        {
            self.detect(&previous, packet);
            if self.config.update == UpdateTimes::Continuous {
                self.update_rate(packet.at);
                if self.is_drop() {
                    self.remb_due = Some(packet.at);
                }
            }
        }
        self.updated.get_or_insert(packet.at);
        self.previous =
            Some(PreviousPacket { departure: packet.departure, at: packet.at, size: packet.size });
    }

    fn next_timeout(&self) -> Option<ArrivalTime> {
        self.remb_due
    }

    fn on_route_changed(&mut self) {
        *self = Self::begin(self.config, self.limits);
    }

    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>> {
        self.remb_due.filter(|&due| due <= now)?;
        if self.previous.is_none_or(|previous| now - previous.at > RESTART_TIMEOUT) {
            // No packet arrives: without reports the sender lowers its rate.
            self.remb_due = None;
            return None;
        }
        self.remb_due = Some(now + self.config.remb_interval);
        if self.config.update == UpdateTimes::Tick {
            self.update_rate(now);
        }
        self.remb_sent = Some(self.rate.rate());
        Some(Report::Ceiling(self.rate.rate()))
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "d", unit: "ms", meaning: "gradient of the one-way delay from packet to packet" },
            Signal { name: "usage", unit: "", meaning: "-1 under-use, 0 normal, 1 over-use" },
            Signal { name: "state", unit: "", meaning: "-1 decrease, 0 hold, 1 increase" },
            Signal { name: "R", unit: "bit/s", meaning: "receive rate" },
            Signal { name: "A", unit: "bit/s", meaning: "rate of the delay-based controller" },
        ];
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let usage = match self.usage {
            BandwidthUsage::Under => -1.0,
            BandwidthUsage::Normal => 0.0,
            BandwidthUsage::Over => 1.0,
        };
        let state = match self.rate.state() {
            RateState::Decrease => -1.0,
            RateState::Hold => 0.0,
            RateState::Increase => 1.0,
        };
        let measured = self.measured.map_or(f64::NAN, DataRate::bps_f64);
        let values = [self.gradient, usage, state, measured, self.rate.rate().bps_f64()];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: TimeDelta = TimeDelta::from_secs(7200);

    /// A receiver half that starts at 1 Mbit/s.
    fn receiver(config: Config) -> SimplifiedGccReceiver {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(100), kbps(1000), kbps(6000)).unwrap();
        SimplifiedGccReceiver::new(config, limits).unwrap()
    }

    /// A packet of 1000 bytes; times in µs.
    fn packet(departure: i64, arrival: i64) -> Arrival {
        let departure = SendTime::ZERO + TimeDelta::from_micros(departure);
        Arrival { marker: true, ..Arrival::new(0, departure, at(arrival), DataSize::from_bytes(1000)) }
    }

    fn at(us: i64) -> ArrivalTime {
        ArrivalTime::ZERO + CLOCK + TimeDelta::from_micros(us)
    }

    /// Packets each 8 ms, 1 Mbit/s, all of which take 25 ms.
    fn steady(receiver: &mut SimplifiedGccReceiver, packets: i64) {
        (0..packets).for_each(|n| receiver.on_arrival(&packet(8000 * n, 8000 * n + 25_000)));
    }

    fn remb(receiver: &mut SimplifiedGccReceiver, us: i64) -> Option<DataRate> {
        match receiver.poll_report(at(us))? {
            Report::Ceiling(rate) => Some(rate),
            other => panic!("{other:?}"),
        }
    }

    fn signals(receiver: &SimplifiedGccReceiver) -> [f64; 5] {
        let mut out = [0.0; 5];
        assert_eq!(receiver.signals().len(), out.len());
        receiver.read_signals(&mut out);
        out
    }

    #[test]
    fn one_packet_shows_a_gradient_beyond_the_threshold_of_either_sign() {
        let mut receiver = receiver(Config::default());
        steady(&mut receiver, 2);
        assert_eq!(signals(&receiver)[..3], [0.0, 0.0, 1.0]);
        // Departures 8 ms apart, arrivals 8.401 ms: d = 0.401 ms.
        receiver.on_arrival(&packet(16_000, 41_401));
        assert_eq!(signals(&receiver)[1..3], [1.0, -1.0]);
        // 8.4 ms apart: not above.
        receiver.on_arrival(&packet(24_000, 49_801));
        assert_eq!(signals(&receiver)[1..3], [0.0, 0.0]);
        // 7.5 ms apart.
        receiver.on_arrival(&packet(32_000, 57_301));
        assert_eq!(signals(&receiver)[1..3], [-1.0, 0.0]);
    }

    #[test]
    fn the_rate_grows_by_a_fifth_in_a_second_and_is_sent_each_second() {
        let mut receiver = receiver(Config::default());
        steady(&mut receiver, 126);
        // 125 gaps of 8 ms: 1000 · 1.2; the first REMB is due a second after the first packet.
        assert_eq!(remb(&mut receiver, 1_024_999), None);
        let rate = remb(&mut receiver, 1_025_000).unwrap();
        assert!(rate.bps().abs_diff(1_200_000) < 10, "{rate:?}");
        assert_eq!(receiver.next_timeout(), Some(at(2_025_000)));
    }

    #[test]
    fn over_use_lowers_the_rate_to_a_share_of_the_receive_rate_at_once() {
        let mut receiver = receiver(Config::default());
        steady(&mut receiver, 126);
        remb(&mut receiver, 1_025_000);
        let late = packet(8000 * 126, 8000 * 126 + 25_500);
        receiver.on_arrival(&late);
        // R: 63 packets of 8000 bits within 500 ms, 1008 kbit/s; 0.9 of it.
        assert_eq!(remb(&mut receiver, 8000 * 126 + 25_500), Some(DataRate::from_bps(907_200)));
        let mut quiet = self::receiver(Config { remb_drop: None, ..Config::default() });
        steady(&mut quiet, 126);
        remb(&mut quiet, 1_025_000);
        quiet.on_arrival(&late);
        assert_eq!(quiet.next_timeout(), Some(at(2_025_000)));
    }

    #[test]
    fn at_ticks_the_newest_packet_decides() {
        let mut receiver = receiver(Config { update: UpdateTimes::Tick, ..Config::default() });
        steady(&mut receiver, 126);
        assert_eq!(signals(&receiver)[4], 1e6, "not before the tick");
        let rate = remb(&mut receiver, 1_025_000).unwrap();
        assert!(rate.bps().abs_diff(1_200_000) < 10, "{rate:?}");
        receiver.on_arrival(&packet(8000 * 126, 8000 * 126 + 25_500));
        assert_eq!(signals(&receiver)[4], rate.bps_f64());
        receiver.on_arrival(&packet(8000 * 127, 8000 * 127 + 25_500));
        // Normal again: another second of growth. No packet came for 500 ms, so there is no R to bound it.
        let rate = remb(&mut receiver, 2_025_000).unwrap();
        assert!(rate.bps().abs_diff(1_440_000) < 10, "{rate:?}");
    }

    #[test]
    fn without_arrivals_no_report_is_sent_and_the_rate_stays() {
        for update in [UpdateTimes::Tick, UpdateTimes::Continuous] {
            let mut receiver = receiver(Config { update, ..Config::default() });
            steady(&mut receiver, 126);
            let rembs: Vec<_> = (1..60).filter_map(|s| remb(&mut receiver, s * 1_000_000 + 25_000)).collect();
            // The last packet came at 1.025 s: at 1.025, 2.025 and 3.025 s it is at most 2 s ago.
            assert_eq!(rembs.len(), 3, "{rembs:?}");
            assert_eq!(receiver.next_timeout(), None);
            assert!(signals(&receiver)[4] <= 1e6 * 1.2 * 1.2 * 1.2 + 10.0);
            receiver.on_arrival(&packet(60_000_000, 60_025_000));
            assert_eq!(receiver.next_timeout(), Some(at(61_025_000)));
        }
    }

    #[test]
    fn packets_of_different_sizes_have_no_gradient() {
        let mut receiver = receiver(Config::default());
        steady(&mut receiver, 10);
        let sized = |n: i64, bytes| Arrival {
            size: DataSize::from_bytes(bytes),
            ..packet(8000 * n, 8000 * n + 25_000 + 2000)
        };
        // 1100 bytes come 2 ms later than 1000 would; after them 1110 bytes are of the same size.
        receiver.on_arrival(&sized(10, 1100));
        assert_eq!(signals(&receiver)[..3], [0.0, 0.0, 1.0]);
        receiver.on_arrival(&sized(11, 1110));
        assert_eq!(signals(&receiver)[..3], [0.0, 0.0, 1.0]);
        receiver.on_arrival(&packet(8000 * 12, 8000 * 12 + 30_000));
        assert_eq!(signals(&receiver)[1], 0.0);
        receiver.on_arrival(&packet(8000 * 13, 8000 * 13 + 31_000));
        assert_eq!(signals(&receiver)[..2], [1.0, 1.0]);
    }

    #[test]
    fn packets_out_of_order_and_silences_have_no_gradient() {
        let mut receiver = receiver(Config::default());
        steady(&mut receiver, 10);
        receiver.on_arrival(&packet(0, 8000 * 9 + 30_000));
        assert_eq!(signals(&receiver)[0], 0.0);
        receiver.on_arrival(&packet(5_000_000, 5_100_000));
        assert!(signals(&receiver)[0].is_nan());
        receiver.on_arrival(&packet(5_008_000, 5_108_000));
        assert_eq!(signals(&receiver)[0], 0.0);
    }

    #[test]
    fn packets_that_left_at_once_have_a_gradient_too() {
        let mut receiver = receiver(Config::default());
        steady(&mut receiver, 2);
        // 0.5 ms behind the one that left with it.
        receiver.on_arrival(&packet(8000, 33_500));
        assert_eq!(signals(&receiver)[..2], [0.5, 1.0]);
    }

    #[test]
    fn sizes_may_differ_by_the_tolerance_and_two_seconds_are_no_silence() {
        let config = Config { size_tolerance: 0.1, ..Config::default() };
        // By a tenth of the larger: 0.1·1111 = 111.1, 0.1·1112 = 111.2, 0.1·1000 = 100.
        for (bytes, gradient) in [(1111, 1.0), (900, 1.0), (1112, 0.0), (899, 0.0)] {
            let mut receiver = receiver(config);
            steady(&mut receiver, 2);
            let sized = Arrival { size: DataSize::from_bytes(bytes), ..packet(16_000, 42_000) };
            receiver.on_arrival(&sized);
            assert_eq!(signals(&receiver)[0], gradient, "{bytes} bytes");
        }
        let mut receiver = receiver(config);
        steady(&mut receiver, 2);
        receiver.on_arrival(&packet(2_008_000, 2_033_000));
        assert_eq!(signals(&receiver)[0], 0.0);
        receiver.on_arrival(&packet(4_008_001, 4_033_001));
        assert!(signals(&receiver)[0].is_nan());
    }

    #[test]
    fn a_clock_set_back_begins_anew_and_does_not_put_off_the_next_remb() {
        let mut receiver = receiver(Config::default());
        steady(&mut receiver, 10);
        // By an hour, from the next packet on.
        let hour = 3_600_000_000;
        receiver.on_arrival(&packet(80_000, 105_000 - hour));
        assert!(signals(&receiver)[0].is_nan());
        assert_eq!(receiver.next_timeout(), Some(at(1_105_000 - hour)));
        receiver.on_arrival(&packet(88_000, 113_000 - hour));
        assert_eq!(signals(&receiver)[0], 0.0);
    }
}
