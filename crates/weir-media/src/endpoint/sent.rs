//! Stream and sequence number of each sent packet, by its number in the history.

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_units::TimeDelta;

/// Time for which a packet is remembered, as long as the history waits for feedback on it.
const HORIZON: TimeDelta = TimeDelta::from_secs(5);

/// A sent packet; padding has no stream.
#[derive(Clone, Copy, Debug)]
struct SentPlace {
    at: SendTime,
    stream: Option<u16>,
    sequence: u16,
}

/// Places of the packets that were sent lately.
#[derive(Debug, Default)]
pub(super) struct SentPackets {
    /// In order of the history's numbers, without gaps.
    places: VecDeque<SentPlace>,
    /// Number behind the newest packet.
    next: u64,
}

impl SentPackets {
    /// The packet `id` was sent at `at`: the packet `sequence` of `stream`, or padding.
    pub(super) fn on_sent(&mut self, at: SendTime, id: u64, stream: Option<u16>, sequence: u16) {
        if id != self.next {
            self.places.clear();
        }
        while self.places.front().is_some_and(|oldest| at - oldest.at > HORIZON) {
            self.places.pop_front();
        }
        self.places.push_back(SentPlace { at, stream, sequence });
        self.next = id + 1;
    }

    /// Stream and sequence number of the packet `id`.
    pub(super) fn find(&self, id: u64) -> Option<(u16, u16)> {
        let back = usize::try_from(self.next.checked_sub(id)?).ok()?;
        let place = self.places.get(self.places.len().checked_sub(back)?)?;
        Some((place.stream?, place.sequence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_found_until_the_horizon_and_padding_never() {
        let mut sent = SentPackets::default();
        sent.on_sent(SendTime::ZERO, 0, Some(1), 700);
        sent.on_sent(SendTime::from_millis(10), 1, None, 701);
        sent.on_sent(SendTime::from_millis(20), 2, Some(0), 65_535);
        assert_eq!([0, 1, 2, 3].map(|id| sent.find(id)), [Some((1, 700)), None, Some((0, 65_535)), None]);
        sent.on_sent(SendTime::from_millis(5011), 3, Some(0), 0);
        assert_eq!([0, 1, 2, 3].map(|id| sent.find(id)), [None, None, Some((0, 65_535)), Some((0, 0))]);
    }
}
