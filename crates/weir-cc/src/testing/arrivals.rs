//! Arbitrary arrivals at a receiver half.

use alloc::vec::Vec;

use proptest::prelude::*;
use weir_units::DataRate;

use super::calls::{ecn, size, span, step};
use crate::packet::{Arrival, Stamp};
use crate::time::{ArrivalTime, SendTime};

/// Packets in order of arrival: some twice, some late, some lost, by clocks that are set now and then.
pub fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let number = || prop_oneof![12 => 0..3_i64, 4 => -5..8_i64, 1 => any::<i64>()];
    let times = (step(), step());
    let packet = (times, number(), number(), size(), ecn(), any::<bool>(), span());
    prop::collection::vec(packet, 0..200).prop_map(|packets| {
        let (mut at, mut departure, mut id, mut frame) = (ArrivalTime::ZERO, SendTime::ZERO, 0_u64, 0_u64);
        let arrive = |((later, sent_later), ahead, frames, size, ecn, marker, rtt)| {
            at += later;
            departure += sent_later;
            id = id.wrapping_add_signed(ahead);
            frame = frame.wrapping_add_signed(frames);
            let media_time = frame.wrapping_mul(3000);
            Arrival {
                id,
                departure,
                at,
                size,
                ecn,
                media_time,
                marker,
                stamp: Stamp { rtt, rate: DataRate::ZERO },
            }
        };
        packets.into_iter().map(arrive).collect()
    })
}
