//! Service at a constant rate.

use weir_units::DataRate;

use super::{NEVER, Slot, work};

/// A server with one rate. Each packet takes a whole number of nanoseconds, rounded up.
#[derive(Clone, Debug)]
pub(crate) struct ConstantServer {
    /// Rate in bit/s; at zero no packet ever leaves.
    rate: u64,
    /// (2⁶⁴ − 1) / rate, rounded down: turns a division per packet into a multiplication. Zero without a rate.
    reciprocal: u64,
    /// The size served last in bytes, and how long that took in ns: most packets are of the size of those before them.
    last: (u32, u64),
}

impl ConstantServer {
    pub(crate) fn new(rate: DataRate) -> Self {
        let rate = rate.bps();
        let mut constant = Self { rate, reciprocal: u64::MAX.checked_div(rate).unwrap_or(0), last: (0, 0) };
        constant.last.1 = constant.duration(0);
        constant
    }

    pub(super) fn rate(&self) -> DataRate {
        DataRate::from_bps(self.rate)
    }

    #[inline]
    pub(super) fn serve(&mut self, arrival: u64, start: u64, size: u32) -> Slot {
        if size != self.last.0 {
            self.last = (size, self.duration(work(size)));
        }
        let departure = start.saturating_add(self.last.1);
        Slot { departure, wait: start.saturating_sub(arrival), position: 0 }
    }

    /// Ends the service of a packet of `own` nanobits, of which `left` are still to be served from `start` on.
    pub(crate) fn finish(&self, arrival: u64, start: u64, left: u64, own: u64) -> Slot {
        let departure = start.saturating_add(self.duration(left));
        let wait = departure.saturating_sub(arrival).saturating_sub(self.duration(own));
        Slot { departure, wait, position: 0 }
    }

    /// `work` nanobits over the rate in ns, rounded up: exactly `work.div_ceil(rate)`.
    fn duration(&self, work: u64) -> u64 {
        if self.rate == 0 {
            return NEVER;
        }
        // The reciprocal falls short of 2⁶⁴ / rate by at most 1. Before it is rounded down, the quotient thus falls
        // short of work / rate by less than 1. The remainder is then below twice the rate.
        let quotient = ((u128::from(work) * u128::from(self.reciprocal)) >> 64) as u64;
        let remainder = work - quotient * self.rate;
        quotient + u64::from(remainder > 0) + u64::from(remainder > self.rate)
    }

    /// Work done between two times, in nanobits.
    pub(super) fn done(&self, from: u64, to: u64) -> u64 {
        self.rate.saturating_mul(to.saturating_sub(from))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn service_takes_size_over_rate_rounded_up() {
        // 1000 bytes at 3 Mbit/s: 8000 / 3·10⁶ s = 2 666 666.67 ns; 1250 bytes at 1 Mbit/s: 10 ms.
        assert_eq!(ConstantServer::new(DataRate::from_mbps(3)).duration(work(1000)), 2_666_667);
        assert_eq!(ConstantServer::new(DataRate::from_mbps(1)).duration(work(1250)), 10_000_000);
        assert_eq!(ConstantServer::new(DataRate::from_bps(1)).duration(work(1)), 8_000_000_000);
        assert_eq!(ConstantServer::new(DataRate::ZERO).duration(work(1)), NEVER);
    }

    proptest! {
        #[test]
        fn the_reciprocal_gives_the_exact_quotient(work: u64, rate in 1_u64.., shift in 0_u32..64) {
            let rate = (rate >> shift).max(1);
            prop_assert_eq!(ConstantServer::new(DataRate::from_bps(rate)).duration(work), work.div_ceil(rate));
        }

        #[test]
        fn multiples_of_the_rate_and_their_neighbours_divide_exactly(
            rate in 1_u64..u64::from(u32::MAX),
            factor in 1_u64..u64::from(u32::MAX),
            near in -1_i64..=1,
        ) {
            let work = (rate * factor).saturating_add_signed(near);
            prop_assert_eq!(ConstantServer::new(DataRate::from_bps(rate)).duration(work), work.div_ceil(rate));
        }
    }
}
