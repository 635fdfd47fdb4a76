//! The clocks of both ends: their steps, their skew, and the delays that they leave to be known.

use weir_world::RecordedCall;
use weir_world::recorded::ArrivalClock;

use super::line::{PacketLine, ServedPacket};
use super::path::DelayEstimate;

/// Largest skew of two clocks; more is taken for a change of the path.
const MOST_SKEW: f64 = 200e-6;
/// A usual one-way delay, in microseconds.
const USUAL_DELAY_US: i64 = 25_000;

/// The step of a clock in microseconds: the largest of 1000, 250 and 1 that divides all differences of its times.
pub(super) fn resolution_us(times: &(impl Iterator<Item = i64> + Clone)) -> i64 {
    let first = times.clone().next().unwrap_or(0);
    let divides = |step: i64| times.clone().all(|time| (time - first) % step == 0);
    [1000, 250].into_iter().find(|&step| divides(step)).unwrap_or(1)
}

/// Takes the skew of the receiver's clock out of the arrivals.
pub(super) fn align(served: &mut [ServedPacket], clock: ArrivalClock) {
    if clock == ArrivalClock::Common {
        return;
    }
    let skew = skew(served);
    if skew.abs() > MOST_SKEW {
        return;
    }
    let Some(first) = served.first().map(|packet| packet.sent_us) else { return };
    for packet in served {
        packet.served_us -= (skew * (packet.sent_us - first) as f64) as i64;
    }
}

/// Slope of the line below all delays that is nearest to them: the edge of their lower convex hull above the middle
/// of the call (Moon, Skelly and Towsley 1999).
fn skew(served: &[ServedPacket]) -> f64 {
    let mut hull: Vec<(i64, i64)> = Vec::new();
    for packet in served {
        let point = (packet.sent_us, packet.wait_us());
        if hull.last().is_some_and(|last| last.0 >= point.0) {
            continue;
        }
        while let [.., a, b] = hull[..]
            && turns_down(a, b, point)
        {
            hull.pop();
        }
        hull.push(point);
    }
    let (Some(first), Some(last)) = (hull.first(), hull.last()) else { return 0.0 };
    let middle = first.0 + (last.0 - first.0) / 2;
    let edge = hull.windows(2).find(|edge| edge[0].0 <= middle && middle <= edge[1].0);
    edge.map_or(0.0, |edge| (edge[1].1 - edge[0].1) as f64 / (edge[1].0 - edge[0].0) as f64)
}

/// Whether `b` lies above the line from `a` to `c`, or on it.
fn turns_down(a: (i64, i64), b: (i64, i64), c: (i64, i64)) -> bool {
    let cross =
        |p: (i64, i64), q: (i64, i64)| i128::from(p.0) * i128::from(q.1) - i128::from(p.1) * i128::from(q.0);
    let (ab, ac) = ((b.0 - a.0, b.1 - a.1), (c.0 - a.0, c.1 - a.1));
    cross(ab, ac) <= 0
}

/// Delays of both ways, with `propagation_us` as of [`PacketLine::propagation_us`].
pub(super) fn delays(call: &RecordedCall, line: &PacketLine, propagation_us: i64) -> DelayEstimate {
    let mut round_trips: Vec<i64> = call.round_trips.rtt_us.iter().copied().filter(|&rtt| rtt > 0).collect();
    round_trips.sort_unstable();
    // Clocks that are set during the call make single ones too short.
    let least_round_trip = round_trips.get(round_trips.len() / 20).copied();
    let common = call.arrival_clock == ArrivalClock::Common && !line.is_weak();
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
