//! Recent bytes in flight: the greatest amount sent within a round trip.

use weir_units::{DataSize, TimeDelta};

use crate::time::SendTime;

/// Bytes sent in the present round trip and in the previous one.
#[derive(Clone, Debug)]
pub(super) struct FlightBytes {
    began: Option<SendTime>,
    present: f64,
    before: f64,
}

impl FlightBytes {
    pub(super) fn new() -> Self {
        Self { began: None, present: 0.0, before: 0.0 }
    }

    /// Takes a packet of `size` that left `at`; a round trip takes `rtt`.
    pub(super) fn on_sent(&mut self, at: SendTime, size: DataSize, rtt: TimeDelta) {
        self.begin_round(at, rtt);
        self.began.get_or_insert(at);
        self.present += size.bytes_f64();
    }

    /// Scales the bytes sent by `factor` for coupling.
    pub(super) fn scale(&mut self, factor: f64) {
        self.present *= factor;
        self.before *= factor;
    }

    /// The greater amount of both round trips in bytes, at `now`.
    pub(super) fn greatest(&mut self, now: SendTime, rtt: TimeDelta) -> f64 {
        self.begin_round(now, rtt);
        self.largest()
    }

    pub(super) fn largest(&self) -> f64 {
        self.present.max(self.before)
    }

    fn begin_round(&mut self, now: SendTime, rtt: TimeDelta) {
        let Some(began) = self.began else { return };
        let passed = now - began;
        if passed < rtt && !passed.is_negative() {
            return;
        }
        self.before = if passed < rtt * 2 { self.present } else { 0.0 };
        self.present = 0.0;
        self.began = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuller_of_two_round_trips_counts() {
        let ms = SendTime::from_millis;
        let rtt = TimeDelta::from_millis(100);
        let mut flight = FlightBytes::new();
        assert_eq!(flight.greatest(ms(0), rtt), 0.0);
        for t in [0, 30, 60, 110, 140] {
            flight.on_sent(ms(t), DataSize::from_bytes(1000), rtt);
        }
        // 0, 30 and 60 ms; then 110 and 140 ms.
        assert_eq!(flight.greatest(ms(150), rtt), 3000.0);
        assert_eq!(flight.greatest(ms(215), rtt), 2000.0);
        assert_eq!(flight.greatest(ms(320), rtt), 0.0);
    }
}
