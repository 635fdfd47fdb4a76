//! Header bytes within a rate.

use weir_cc::SendTime;
use weir_units::{DataRate, DataSize};

use super::window::RateWindow;

/// Rate of the headers of packets that fill `rate`: full packets of `packet`, rounded up to whole packets per second, each with
/// `headers`. Both sizes are of whole IP packets.
pub fn header_rate(rate: DataRate, packet: DataSize, headers: DataSize) -> DataRate {
    let packets = (rate.bps_f64() / packet.bits_f64().max(1.0)).ceil();
    DataRate::from_bps_f64(packets * headers.bits_f64())
}

/// The headers of a video stream: RTP, UDP and IP around a payload, and the codec's payload descriptor in it.
#[derive(Clone, Debug)]
pub struct HeaderRates {
    /// Largest IP packet.
    packet: DataSize,
    /// Headers of a packet outside of its payload.
    headers: DataSize,
    /// Descriptor bytes of the last second.
    descriptors: RateWindow,
}

impl HeaderRates {
    /// Packets of at most `packet` bytes with `headers` outside of the payload.
    pub fn new(packet: DataSize, headers: DataSize) -> Self {
        Self { packet, headers, descriptors: RateWindow::default() }
    }

    /// Counts the descriptor of a media packet that was queued or sent.
    pub fn on_packet(&mut self, now: SendTime, descriptor: u64) {
        self.descriptors.add(now, descriptor);
    }

    /// Rate of the headers outside of payloads, of packets that fill `rate`.
    pub fn of(&self, rate: DataRate) -> DataRate {
        header_rate(rate, self.packet, self.headers)
    }

    /// Rate of the payload descriptors, at most half of `media`.
    pub fn descriptors(&mut self, now: SendTime, media: DataRate) -> DataRate {
        let bytes = self.descriptors.per_second(now).unwrap_or(0.0);
        DataRate::from_bps_f64(bytes * 8.0).min(media.scale(0.5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_whole_packets_per_second() {
        let rate =
            |bps| header_rate(DataRate::from_bps(bps), DataSize::from_bytes(1228), DataSize::from_bytes(52));
        // 1 000 000 / 9824 = 101.8: 102 packets of 416 bits.
        assert_eq!(rate(1_000_000).bps(), 42_432);
        assert_eq!(rate(9824).bps(), 416);
        assert_eq!(rate(9825).bps(), 832);
        assert_eq!(rate(0).bps(), 0);
    }

    #[test]
    fn descriptors_take_at_most_half() {
        let mut headers = HeaderRates::new(DataSize::from_bytes(1228), DataSize::from_bytes(52));
        (0..100).for_each(|n| headers.on_packet(SendTime::from_millis(10 * n), 6));
        // 600 bytes in 991 ms.
        let rate = |headers: &mut HeaderRates, kbps| {
            headers.descriptors(SendTime::from_millis(990), DataRate::from_kbps(kbps)).bps()
        };
        assert_eq!(rate(&mut headers, 1000), 4844);
        assert_eq!(rate(&mut headers, 8), 4000);
    }
}
