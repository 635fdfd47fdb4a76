//! Arrivals at a receiver half, chosen by bytes.

use weir_cc::{Arrival, ArrivalTime, SendTime, Stamp};

use super::calls::ecn;
use crate::input::{ClockReadings, Input};

/// Packets in order of arrival: some twice, some late, some lost, by clocks that now and then are set.
#[derive(Debug, Default)]
pub(super) struct FuzzedArrivals {
    courses: [ClockReadings; 2],
    at: ArrivalTime,
    departure: SendTime,
    id: u64,
    frame: u64,
}

impl FuzzedArrivals {
    /// When the last packet arrived.
    pub(super) const fn at(&self) -> ArrivalTime {
        self.at
    }

    pub(super) fn next(&mut self, input: &mut Input<'_>) -> Arrival {
        self.at += self.courses[0].step(input);
        self.departure += self.courses[1].step(input);
        self.id = self.id.wrapping_add_signed(ahead(input));
        self.frame = self.frame.wrapping_add_signed(ahead(input));
        Arrival {
            id: self.id,
            departure: self.departure,
            at: self.at,
            size: input.size(),
            ecn: ecn(input),
            media_time: self.frame.wrapping_mul(3000),
            marker: input.flag(),
            stamp: Stamp { rtt: input.span(), rate: input.rate() },
        }
    }
}

fn ahead(input: &mut Input<'_>) -> i64 {
    match input.below(17) {
        0..12 => input.below(3) as i64,
        12..16 => input.below(13) as i64 - 5,
        _ => input.u64() as i64,
    }
}
