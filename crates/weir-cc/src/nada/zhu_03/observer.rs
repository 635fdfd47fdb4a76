//! The receiver of nada-dccc: from arrivals it computes `d_n` and from these `x_n`, which is reported. Times are in
//! ms.

use weir_units::TimeDelta;

use super::config::{Config, Reference};
use crate::config_error::ConfigError;
use crate::controller::{Observer, Signal};
use crate::nada::log::{ArrivalResult, LogSpans, PathLog};
use crate::packet::{Arrival, Ecn};
use crate::report::{NadaDelayReport, NativeReport};
use crate::time::ArrivalTime;

/// Observer that measures a path for nada-dccc, from arriving packets.
#[derive(Debug)]
pub struct Zhu03Observer {
    config: Config,
    log: PathLog,
    /// `d_n` of the newest packet.
    delay: Option<f64>,
    /// `x_n`, or `None` before the first packet.
    x_n: Option<f64>,
}

impl Zhu03Observer {
    const SIGNALS: &[Signal] = &[
        Signal { name: "d_n", unit: "ms", meaning: "one-way delay of the newest packet" },
        Signal {
            name: "x_n",
            unit: "ms",
            meaning: "smoothed one-way delay with the penalties for losses and marks",
        },
        Signal { name: "x_ref", unit: "ms", meaning: "reference delay: the least one-way delay" },
    ];

    /// An observer without any measurement of the path.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::initial(config))
    }

    fn initial(config: Config) -> Self {
        let spans = LogSpans {
            window: config.log_window,
            interval: config.feedback_interval,
            clock_step: config.clock_step,
            drain_after: None,
        };
        Self { config, log: PathLog::new(spans), delay: None, x_n: None }
    }

    /// `d_n` of a packet. zhu-03 §5.1.
    fn one_way_delay(&self, arrival: &ArrivalResult) -> f64 {
        match self.config.reference {
            Reference::Synchronised => arrival.delay.assuming_synchronised_clocks().millis_f64(),
            Reference::Assumed(base) => (base + arrival.queuing).millis_f64(),
        }
    }

    /// `x_ref`.
    fn reference(&self) -> Option<TimeDelta> {
        match self.config.reference {
            Reference::Synchronised => Some(self.log.base()?.assuming_synchronised_clocks()),
            Reference::Assumed(base) => Some(base),
        }
    }

    /// Takes `packets` samples of `d̃`: `x_n ← a·d̃ + (1 − a)·x_n` for each. zhu-03 §5.1.
    fn smooth(&mut self, sample: f64, packets: u64) {
        let old = self.x_n.unwrap_or(sample);
        let kept = libm::pow(1.0 - self.config.smoothing, packets as f64);
        self.x_n = Some(sample + (old - sample) * kept);
    }

    /// Takes an arrival; `timed` if its time was reported.
    fn arrive(&mut self, packet: &Arrival, timed: bool) {
        let arrival = self.log.on_arrival(packet, timed);
        if arrival.clocks_moved {
            (self.delay, self.x_n) = (None, None);
        }
        // A late packet has been counted as lost.
        let Some(missing) = arrival.missing else { return };
        if let Some(delay) = self.delay {
            self.smooth(delay + self.config.loss_penalty.millis_f64(), missing);
        }
        let delay = self.one_way_delay(&arrival);
        let penalty = if packet.ecn == Ecn::Ce { self.config.mark_penalty.millis_f64() } else { 0.0 };
        self.smooth(delay + penalty, 1);
        self.delay = Some(delay);
    }
}

impl Observer for Zhu03Observer {
    fn on_arrival(&mut self, packet: &Arrival) {
        self.arrive(packet, true);
    }

    /// The packet gets the delay of the packet before it, as a lost packet does (zhu-03 §5.1).
    fn on_untimed(&mut self, packet: &Arrival) {
        self.arrive(packet, false);
    }

    fn on_unreported(&mut self) {
        self.log.on_unreported();
    }

    fn next_report(&self) -> Option<ArrivalTime> {
        self.log.next_report()
    }

    fn report(&mut self, now: ArrivalTime) -> Option<NativeReport> {
        self.log.begin_report(now)?;
        let congestion = TimeDelta::from_millis_f64(self.x_n?);
        Some(NativeReport::NadaDelay(NadaDelayReport { congestion, reference: self.reference()? }))
    }

    fn on_route_changed(&mut self) {
        *self = Self::initial(self.config);
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let reference = self.reference().map(TimeDelta::millis_f64);
        let values = [self.delay, self.x_n, reference].map(|value| value.unwrap_or(f64::NAN));
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;
    use crate::packet::Stamp;
    use crate::time::SendTime;

    /// Packet `id` at `10·id` ms, with a one-way delay of `delay` ms.
    fn arrive(observer: &mut Zhu03Observer, id: u64, delay: i64, ecn: Ecn) {
        let at = 10 * id as i64;
        observer.on_arrival(&Arrival {
            id,
            departure: SendTime::from_millis(at - delay),
            at: ArrivalTime::from_millis(at),
            size: DataSize::from_bytes(1094),
            ecn,
            media_time: 0,
            marker: false,
            stamp: Stamp::default(),
        });
    }

    fn observer(config: Config) -> Zhu03Observer {
        Zhu03Observer::new(config).unwrap()
    }

    /// `d_n`, `x_n` and `x_ref`.
    fn signals(observer: &Zhu03Observer) -> [f64; 3] {
        let mut out = [0.0; 3];
        assert_eq!(observer.signals().len(), out.len());
        observer.read_signals(&mut out);
        out
    }

    /// Checks that `value` is `expected` within 1e-9.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
    }

    #[test]
    fn a_thousandth_of_each_packets_delay_counts() {
        let mut observer = observer(Config::default());
        assert!(signals(&observer).iter().all(|value| value.is_nan()));
        arrive(&mut observer, 0, 25, Ecn::NotEct);
        assert_eq!(signals(&observer), [25.0, 25.0, 25.0]);
        // 0.001·125 + 0.999·25 = 25.1; marked: 0.001·(125 + 200) + 0.999·25.1 = 25.3999.
        arrive(&mut observer, 1, 125, Ecn::NotEct);
        near(signals(&observer)[1], 25.1);
        arrive(&mut observer, 2, 125, Ecn::Ce);
        near(signals(&observer)[1], 25.3999);
        assert_eq!(signals(&observer)[2], 25.0);
    }

    #[test]
    fn each_lost_packet_is_a_sample_of_the_delay_before_it_and_a_second() {
        let mut observer = observer(Config { smoothing: 0.1, ..Config::default() });
        arrive(&mut observer, 0, 25, Ecn::NotEct);
        // Two lost: 0.1·1025 + 0.9·25 = 125; 0.1·1025 + 0.9·125 = 215; then 0.1·35 + 0.9·215 = 197.
        arrive(&mut observer, 3, 35, Ecn::NotEct);
        near(signals(&observer)[1], 197.0);
        assert_eq!(signals(&observer)[0], 35.0);
        // A late packet changes nothing any more.
        arrive(&mut observer, 2, 80, Ecn::NotEct);
        near(signals(&observer)[1], 197.0);
    }

    #[test]
    fn a_report_carries_delay_and_reference_each_100_ms() {
        let mut observer = observer(Config { smoothing: 1.0, ..Config::default() });
        (0..=10).for_each(|id| arrive(&mut observer, id, 25 + id as i64, Ecn::NotEct));
        assert_eq!(observer.next_report(), Some(ArrivalTime::from_millis(100)));
        assert_eq!(observer.report(ArrivalTime::from_millis(99)), None);
        let ms = TimeDelta::from_millis;
        let expected = NadaDelayReport { congestion: ms(35), reference: ms(25) };
        assert_eq!(observer.report(ArrivalTime::from_millis(100)), Some(NativeReport::NadaDelay(expected)));
        assert_eq!(observer.next_report(), Some(ArrivalTime::from_millis(200)));
    }

    #[test]
    fn with_an_assumed_reference_the_clocks_do_not_matter() {
        let base = TimeDelta::from_millis(40);
        let config = Config { smoothing: 1.0, reference: Reference::Assumed(base), ..Config::default() };
        let mut observer = observer(config);
        assert_eq!(signals(&observer)[2], 40.0);
        arrive(&mut observer, 0, 3_600_000, Ecn::NotEct);
        arrive(&mut observer, 1, 3_600_030, Ecn::NotEct);
        assert_eq!(signals(&observer), [70.0, 70.0, 40.0]);
    }

    #[test]
    fn a_clock_that_was_set_begins_anew() {
        let mut observer = observer(Config::default());
        arrive(&mut observer, 0, 25, Ecn::NotEct);
        arrive(&mut observer, 5, 20_000, Ecn::NotEct);
        assert_eq!(signals(&observer), [20_000.0; 3]);
    }
}
