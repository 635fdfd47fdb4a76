//! Perfect sources: packets of one size at exactly the target rate, or as many as may leave.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::Picture;

/// Packets of one size, each a frame of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Packets {
    /// Payload of a packet, at least 1 byte and at most the flow's payload limit.
    pub size: DataSize,
    /// Whether a packet is always waiting, so that only the pacer or a window decides when it leaves. Otherwise a
    /// packet comes every `8·size/R_v` seconds.
    pub greedy: bool,
}

#[derive(Debug)]
pub(super) struct PacketsState {
    model: Packets,
    next: TimeDelta,
}

impl PacketsState {
    pub(super) fn new(model: Packets) -> Self {
        Self { model, next: TimeDelta::ZERO }
    }

    pub(super) fn next(&self) -> TimeDelta {
        self.next
    }

    pub(super) fn capture(&mut self, rate: DataRate) -> Picture {
        let bytes = self.model.size.bytes_f64().max(1.0);
        self.next += TimeDelta::from_secs_f64(bytes * 8.0 / rate.bps_f64().max(1.0));
        Picture { bytes, key: false }
    }

    pub(super) fn resume(&mut self, at: TimeDelta) {
        self.next = at;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoder, EncoderConfig};
    use super::*;

    #[test]
    fn packets_come_exactly_at_the_rate() {
        let mut e = Encoder::new(EncoderConfig::perfect(), DataRate::from_kbps(300), 1);
        // 8000 bits at 1 Mbit/s each 8 ms; then at 400 kbit/s each 20 ms.
        for n in 0..100 {
            assert_eq!(e.next_capture(), TimeDelta::from_millis(8 * n));
            assert_eq!(e.capture(DataRate::from_mbps(1)).size.bytes(), 1000);
        }
        e.capture(DataRate::from_kbps(400));
        assert_eq!(e.next_capture(), TimeDelta::from_millis(820));
    }
}
