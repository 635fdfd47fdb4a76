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
    rate: DataRate,
    wire_size: u32,
    sent: u64,
}

impl ConstantSource {
    pub(crate) fn new(life: Life, rate: DataRate, packet_size: DataSize) -> Self {
        let wire_size = u32::try_from(packet_size.bytes()).unwrap_or(u32::MAX);
        Self { life, rate, wire_size, sent: 0 }
    }

    pub(crate) fn first_wake(&self) -> Time {
        if self.rate.is_zero() { Time::MAX } else { self.life.start }
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        if now >= self.life.stop {
            return Time::MAX;
        }
        let payload = self.wire_size.saturating_sub(UDP_OVERHEAD);
        network.send(now, self.life.flow, Side::Sender, meta(now, self.wire_size, payload, false), Body::Constant);
        self.sent += 1;
        // From the count, not from the last packet: rounding does not add up.
        self.life.start + DataSize::from_bytes(u64::from(self.wire_size) * self.sent) / self.rate
    }
}
