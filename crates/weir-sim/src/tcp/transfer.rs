//! The data of a TCP transfer, in segments.

use weir_units::DataSize;

/// A stream of segments, all of them full except the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentStream {
    segments: u32,
    full_payload: u16,
    last_payload: u16,
    /// End of the segments to send, exclusive; less than `segments` if the sender was stopped.
    end: u32,
}

impl SegmentStream {
    /// A transfer of `size` bytes, or without end, in segments of `mss` bytes.
    pub(super) fn new(size: Option<DataSize>, mss: u16) -> Self {
        let endless = Self { segments: u32::MAX, full_payload: mss, last_payload: mss, end: u32::MAX };
        let Some(size) = size else { return endless };
        let segments = u32::try_from(size.bytes().div_ceil(u64::from(mss))).unwrap_or(u32::MAX);
        let last_payload = match size.bytes() % u64::from(mss) {
            0 => mss,
            rest => rest as u16,
        };
        Self { segments, last_payload, end: segments, ..endless }
    }

    /// Ends the transfer before segment `number`.
    pub(super) fn stop_at(&mut self, number: u32) {
        self.end = self.end.min(number);
    }

    /// Whether a stop has cut the transfer short.
    pub(super) fn is_cut_short(&self) -> bool {
        self.end < self.segments
    }

    /// End of the segments to send, exclusive.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// The payload of all segments below `number`.
    pub(super) fn size_before(&self, number: u32) -> DataSize {
        let full = u64::from(number) * u64::from(self.full_payload);
        let lacking = if number >= self.segments { self.full_payload - self.last_payload } else { 0 };
        DataSize::from_bytes(full.saturating_sub(u64::from(lacking)))
    }

    /// The payload of segment `number` in bytes.
    pub(super) fn payload(&self, number: u32) -> u16 {
        if number.saturating_add(1) == self.segments { self.last_payload } else { self.full_payload }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_segment_carries_the_rest() {
        // 100 000 = 69 · 1448 + 88.
        let transfer = SegmentStream::new(Some(DataSize::from_bytes(100_000)), 1448);
        assert_eq!(transfer.end(), 70);
        assert_eq!((transfer.payload(68), transfer.payload(69)), (1448, 88));
        assert_eq!([69, 70].map(|number| transfer.size_before(number).bytes()), [99_912, 100_000]);
        let transfer = SegmentStream::new(Some(DataSize::from_bytes(2896)), 1448);
        assert_eq!((transfer.end(), transfer.payload(1)), (2, 1448));
    }

    #[test]
    fn stopping_shortens_the_transfer_but_no_segment() {
        let mut transfer = SegmentStream::new(Some(DataSize::from_bytes(100_000)), 1448);
        transfer.stop_at(10);
        transfer.stop_at(20);
        assert_eq!((transfer.end(), transfer.payload(9)), (10, 1448));
    }
}
