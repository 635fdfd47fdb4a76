//! The amount that a source can use, measured by what it sends: the desired rate of a flow that does not state one. RFC
//! 8699 §5.2 leaves the measuring to the application.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::time::SendTime;

const BINS: usize = 10;
const BIN: TimeDelta = TimeDelta::from_millis(100);
/// A source that sends less than this part of its allowance does not use it all.
const UNUSED: f64 = 0.8;
/// Desired rate over the sent rate, for a source that does not use its allowance.
const ROOM: f64 = 1.5;

/// Counts what a flow sends over the last second.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// Bytes of the tenths of a second, in a ring.
    bins: [u64; BINS],
    /// Number of the newest tenth, since the clock's zero.
    newest: i64,
    first: Option<i64>,
}

impl Demand {
    /// A counter before the first packet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts `size` as sent.
    pub fn on_sent(&mut self, now: SendTime, size: DataSize) {
        self.advance(now);
        self.bins[self.newest.rem_euclid(BINS as i64) as usize] += size.bytes();
        self.first.get_or_insert(self.newest);
    }

    /// The most that the source can use while it may send `allowed` and `queued` waits to be sent. Returns `None`
    /// without evidence that it cannot use all.
    pub fn desired(&mut self, now: SendTime, allowed: DataRate, queued: DataSize) -> Option<DataRate> {
        self.advance(now);
        let whole_second = self.first.is_some_and(|first| self.newest - first >= BINS as i64);
        let sent = DataRate::from_bps(self.bins.iter().sum::<u64>().saturating_mul(8));
        let unused = whole_second && queued.is_zero() && sent.bps_f64() < UNUSED * allowed.bps_f64();
        unused.then(|| sent.scale(ROOM))
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
    fn who_sends_less_than_it_may_wants_half_as_much_again() {
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
