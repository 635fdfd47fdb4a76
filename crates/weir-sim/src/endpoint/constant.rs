//! Unresponsive traffic at a constant rate.

use weir_net::Time;
use weir_units::{DataRate, DataSize};

use super::Life;
use crate::monitor::{Monitor, Side};
use crate::network::{Network, UDP_OVERHEAD, meta};
use crate::packet::Body;

#[derive(Debug)]
pub(crate) struct ConstantSource {
    life: Life,
    /// In bit/s.
    rate: u64,
    wire_size: u32,
    /// Whole nanoseconds between two packets, and what is left over each time, in 1/rate of a nanosecond.
    interval: u64,
    rest: u64,
    next: Time,
    rests: u64,
}

impl ConstantSource {
    pub(crate) fn new(life: Life, rate: DataRate, packet_size: DataSize) -> Self {
        let wire_size = u32::try_from(packet_size.bytes()).unwrap_or(u32::MAX);
        let rate = rate.bps();
        let nanobits = u64::from(wire_size).saturating_mul(8_000_000_000);
        let (interval, rest) =
            (nanobits.checked_div(rate).unwrap_or(0), nanobits.checked_rem(rate).unwrap_or(0));
        Self { life, rate, wire_size, interval, rest, next: life.start, rests: 0 }
    }

    pub(crate) fn first_wake(&self) -> Time {
        if self.rate == 0 { Time::MAX } else { self.life.start }
    }

    #[inline]
    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        if now >= self.life.stop {
            return Time::MAX;
        }
        let payload = self.wire_size.saturating_sub(UDP_OVERHEAD);
        network.send(
            now,
            self.life.flow,
            Side::Sender,
            meta(now, self.wire_size, payload, false),
            Body::Constant,
        );
        self.rests += self.rest;
        let whole = u64::from(self.rests >= self.rate);
        self.rests -= whole * self.rate;
        self.next = Time::from_nanos(self.next.nanos().saturating_add(self.interval + whole));
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_kept_to_the_nanosecond_over_any_time() {
        let life = Life { flow: 0, start: Time::ZERO, stop: Time::MAX };
        // 8000 bits at 3 Mbit/s are 2 666 666 ns and 2/3: three packets take 8 ms.
        let source = ConstantSource::new(life, DataRate::from_mbps(3), DataSize::from_bytes(1000));
        assert_eq!((source.interval, source.rest), (2_666_666, 2_000_000));
        assert_eq!(
            ConstantSource::new(life, DataRate::ZERO, DataSize::from_bytes(1)).first_wake(),
            Time::MAX
        );
    }
}
