//! Propagation delays of both ways, as far as the clocks of both ends show them.

use weir_world::RecordedCall;
use weir_world::recorded::ArrivalClock;

use super::line::PacketLine;
use super::path::DelayEstimate;
use crate::receiver::is_of_receiver;

/// A usual one-way delay, in microseconds.
const USUAL_DELAY_US: i64 = 25_000;

/// Delays of both ways, with `propagation_us` as of [`PacketLine::propagation_us`].
pub(super) fn delays(call: &RecordedCall, line: &PacketLine, propagation_us: i64) -> DelayEstimate {
    let mut round_trips: Vec<i64> = call.round_trips.rtt_us.iter().copied().filter(|&rtt| rtt > 0).collect();
    round_trips.sort_unstable();
    // Clocks that are set during the call make single ones too short.
    let least_round_trip = round_trips.get(round_trips.len() / 20).copied();
    let common = call.arrival_clock == ArrivalClock::Common && !is_of_receiver(call);
    if common {
        let forward_us = (line.least_delay_us + propagation_us).max(0);
        let reported = call.packets.reported_us.iter().zip(&call.packets.arrived_us);
        let least_report =
            reported.filter_map(|(reported, arrived)| Some(reported.get()? - arrived.get()?)).min();
        let by_round_trip = least_round_trip.map(|rtt| rtt - line.least_delay_us);
        let back = by_round_trip.into_iter().chain(least_report).filter(|&back| back >= 0).min();
        return DelayEstimate {
            forward_us,
            back_us: back.unwrap_or(forward_us),
            is_one_way: true,
            is_assumed: false,
        };
    }
    // Reports are small: their service hardly counts.
    let half = least_round_trip.map(|rtt| rtt / 2);
    DelayEstimate {
        forward_us: half.unwrap_or(USUAL_DELAY_US),
        back_us: half.unwrap_or(USUAL_DELAY_US),
        is_one_way: false,
        is_assumed: half.is_none(),
    }
}
