//! The clocks of both ends: their steps and their skew.

use weir_world::RecordedCall;

/// Longest call, in µs: a day. A longer one has a wild time in it.
pub(crate) const LONGEST_US: i64 = 24 * 3600 * 1_000_000;
/// Largest skew of two clocks; more is taken for a change of the path.
const MOST_SKEW: f64 = 200e-6;

/// A call whose times span more than a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the times of the recording span more than a day; one call is needed, without a wild time")]
pub struct CallTooLong;

/// Checks that the call lasts at most a day.
///
/// # Errors
/// A longer call.
pub(crate) fn require_one_day(call: &RecordedCall) -> Result<(), CallTooLong> {
    if call.duration_us > LONGEST_US { Err(CallTooLong) } else { Ok(()) }
}

/// The step of a clock in microseconds: the largest of 1000, 250 and 1 that divides all differences of its times.
pub(crate) fn resolution_us(times: &(impl Iterator<Item = i64> + Clone)) -> i64 {
    let first = times.clone().next().unwrap_or(0);
    let divides = |step: i64| times.clone().all(|time| (time - first) % step == 0);
    [1000, 250].into_iter().find(|&step| divides(step)).unwrap_or(1)
}

/// Skew of the receiver's clock, by the departure and the delay of packets in order of departure, in µs: the slope of the line below
/// all delays that is nearest to them, which is the edge of their lower convex hull above the middle of the call (Moon, Skelly and
/// Towsley 1999). Zero where it is more than two clocks have.
pub(crate) fn skew(delays: impl Iterator<Item = (i64, i64)>) -> f64 {
    let mut hull: Vec<(i64, i64)> = Vec::new();
    for point in delays {
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
    let skew = edge.map_or(0.0, |edge| (edge[1].1 - edge[0].1) as f64 / (edge[1].0 - edge[0].0) as f64);
    if skew.abs() > MOST_SKEW { 0.0 } else { skew }
}

/// Whether `b` lies above the line from `a` to `c`, or on it.
fn turns_down(a: (i64, i64), b: (i64, i64), c: (i64, i64)) -> bool {
    let cross =
        |p: (i64, i64), q: (i64, i64)| i128::from(p.0) * i128::from(q.1) - i128::from(p.1) * i128::from(q.0);
    let (ab, ac) = ((b.0 - a.0, b.1 - a.1), (c.0 - a.0, c.1 - a.1));
    cross(ab, ac) <= 0
}
