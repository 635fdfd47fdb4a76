//! The desired rate of a coupled flow that does not state one: the rate that its source can use, estimated from the
//! data that it sends. RFC 8699 §5.2 leaves the estimation to the application.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::time::SendTime;

const BINS: usize = 10;
const BIN: TimeDelta = TimeDelta::from_millis(100);
/// Part of its allowance below which a source does not use all of it.
const FULL_USE_SHARE: f64 = 0.8;
/// Ratio of the desired rate to the sent rate, for a source that does not use its allowance.
const HEADROOM: f64 = 1.5;

/// Estimator of the desired rate from the data sent in the last second.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// Bytes in each tenth of a second, in a ring.
    bins: [u64; BINS],
    /// Number of the newest tenth, since the clock's zero.
    newest: i64,
    first: Option<i64>,
}

impl Demand {
    /// The estimator before the first packet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts `size` as sent.
    pub fn on_sent(&mut self, now: SendTime, size: DataSize) {
        self.advance(now);
        self.bins[self.newest.rem_euclid(BINS as i64) as usize] += size.bytes();
        self.first.get_or_insert(self.newest);
    }

    /// The desired rate while the source may send `allowed` and `queued` waits to be sent. Returns `None` if the
    /// source may be able to use all.
    pub fn desired(&mut self, now: SendTime, allowed: DataRate, queued: DataSize) -> Option<DataRate> {
        self.advance(now);
        let whole_second = self.first.is_some_and(|first| self.newest - first >= BINS as i64);
        let sent = DataRate::from_bps(self.bins.iter().sum::<u64>().saturating_mul(8));
        let unused = whole_second && queued.is_zero() && sent.bps_f64() < FULL_USE_SHARE * allowed.bps_f64();
        unused.then(|| sent.scale(HEADROOM))
    }

    fn advance(&mut self, now: SendTime) {
        let bin = now.nanos().div_euclid(BIN.nanos());
        let steps = (bin - self.newest).clamp(0, BINS as i64);
        for step in 1..=steps {
            self.bins[(bin - steps + step).rem_euclid(BINS as i64) as usize] = 0;
        }
        self.newest = self.newest.max(bin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_below_its_rate_desires_half_as_much_again() {
        let mut demand = Demand::new();
        let (ms, kbps) = (SendTime::from_millis, DataRate::from_kbps);
        for i in 0..30 {
            // 1250 bytes each 100 ms: 100 kbit/s.
            demand.on_sent(ms(5000 + 100 * i), DataSize::from_bytes(1250));
            let desired = demand.desired(ms(5000 + 100 * i), kbps(200), DataSize::ZERO);
            assert_eq!(desired, (i >= 10).then_some(kbps(150)), "{i}");
        }
        assert_eq!(demand.desired(ms(7950), kbps(125), DataSize::ZERO), None, "100 of 125 is used");
        assert_eq!(demand.desired(ms(7950), kbps(200), DataSize::from_bytes(1)), None, "more waits");
        assert_eq!(demand.desired(ms(9500), kbps(200), DataSize::ZERO), Some(DataRate::ZERO));
    }
}
