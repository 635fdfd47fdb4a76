//! Departure times of packets at the receiver.

use weir_cc::{ArrivalTime, SendTime};
use weir_units::TimeDelta;
use weir_wire::{AbsSendTime, AbsSendTimeUnwrapper};

use super::packet::PacketDeparture;

/// Unwraps abs-send-times. The first becomes the time nearest to the receiver's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DepartureTimes {
    unwrapper: AbsSendTimeUnwrapper,
    /// Departure of the first packet, as [`first_departure`] reads it.
    first: Option<SendTime>,
    /// Arrival of the last packet.
    newest: Option<ArrivalTime>,
}

impl DepartureTimes {
    /// The departure of a packet that arrives at `now`.
    #[inline]
    pub(super) fn of(&mut self, now: ArrivalTime, departure: PacketDeparture) -> SendTime {
        let time = match departure {
            PacketDeparture::Wire(time) => time,
            PacketDeparture::Clock(time) => return time,
        };
        let elapsed = self.newest.replace(now).map_or(TimeDelta::ZERO, |newest| now - newest);
        let first = *self.first.get_or_insert_with(|| first_departure(now, time));
        first + TimeDelta::from_nanos(self.unwrapper.unwrap_after(time, elapsed.nanos()))
    }
}

/// The time nearest to the receiver's clock among those that the 24 bits may stand for, which are 64 s apart. With
/// synchronised clocks this is the sender's own time.
fn first_departure(now: ArrivalTime, time: AbsSendTime) -> SendTime {
    let before = time.nanos_since(AbsSendTime::from_nanos(now.nanos()));
    SendTime::from_nanos(now.nanos().saturating_add(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_departure_is_the_nearest_that_the_bits_may_mean() {
        let departure = |arrived: i64, left: i64| {
            let left = AbsSendTime::from_nanos(left * 1_000_000);
            first_departure(ArrivalTime::from_millis(arrived), left).nanos() / 1_000_000
        };
        assert_eq!(departure(2_125, 2_000), 2_000);
        // The sender's 24 bits have wrapped at 64 and 128 s.
        assert_eq!(departure(128_100, 128_000), 128_000);
        assert_eq!(departure(128_100, 127_900), 127_900);
        // A clock that is 7168 s ahead, 112 times 64 s.
        assert_eq!(departure(7_178_100, 10_000), 7_178_000);
    }
}
