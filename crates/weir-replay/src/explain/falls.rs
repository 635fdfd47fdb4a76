//! Falls of a rate.

use crate::replay::ReplayPoint;

/// Smallest fall that is listed, as a share of the rate before.
pub(super) const LEAST_FALL: f64 = 0.15;
/// Time after which a rate that falls no further has ended its fall.
const END_OF_FALL_US: i64 = 3_000_000;
/// Rise above the lowest rate that ends a fall.
const RISE: f64 = 1.05;

/// A fall of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateFall {
    /// Time of the first step down.
    pub(super) start_us: i64,
    /// Time of the lowest rate.
    pub(super) lowest_us: i64,
    /// Rate before, in bit/s.
    pub(super) from_bps: f64,
    /// Lowest rate.
    pub(super) to_bps: f64,
}

/// The falls of at least 15 % of a rate that holds from point to point.
pub(super) fn falls(points: &[ReplayPoint]) -> Vec<RateFall> {
    let mut found: Vec<RateFall> = Vec::new();
    let mut points = points.iter().peekable();
    let Some(first) = points.next() else { return found };
    // The highest rate since the last fall, and the fall from it as far as it has come.
    let (mut peak, mut fall) = (first.bps as f64, None::<RateFall>);
    let is_listed = |fall: &RateFall| fall.to_bps <= (1.0 - LEAST_FALL) * fall.from_bps;
    for point in points {
        let (bps, now) = (point.bps as f64, point.time_us);
        match &mut fall {
            None if bps < peak => {
                fall = Some(RateFall { start_us: now, lowest_us: now, from_bps: peak, to_bps: bps });
            }
            None => peak = bps,
            Some(current) => {
                let is_over = bps > RISE * current.to_bps || now - current.lowest_us > END_OF_FALL_US;
                if is_over {
                    let ended = *current;
                    found.extend(Some(ended).filter(is_listed));
                    let next = (bps < ended.to_bps).then_some(RateFall {
                        start_us: now,
                        lowest_us: now,
                        from_bps: ended.to_bps,
                        to_bps: bps,
                    });
                    peak = if is_listed(&ended) || bps >= peak { bps.max(ended.to_bps) } else { peak };
                    fall = next;
                } else if bps < current.to_bps {
                    (current.to_bps, current.lowest_us) = (bps, now);
                }
            }
        }
    }
    found.extend(fall.filter(is_listed));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(rates: &[(i64, u64)]) -> Vec<ReplayPoint> {
        rates.iter().map(|&(ms, kbps)| ReplayPoint { time_us: 1000 * ms, bps: 1000 * kbps }).collect()
    }

    fn found(rates: &[(i64, u64)]) -> Vec<(i64, i64, f64, f64)> {
        let falls = falls(&points(rates));
        falls
            .iter()
            .map(|fall| (fall.start_us / 1000, fall.lowest_us / 1000, fall.from_bps / 1e3, fall.to_bps / 1e3))
            .collect()
    }

    #[test]
    fn steps_down_in_a_row_are_one_fall() {
        let rates =
            [(0, 1000), (5000, 1100), (6000, 935), (6400, 800), (6900, 500), (8000, 530), (9000, 600)];
        assert_eq!(found(&rates), [(6000, 6900, 1100.0, 500.0)]);
    }

    #[test]
    fn small_falls_are_not_listed_and_a_rise_ends_a_fall() {
        assert_eq!(found(&[(0, 1000), (1000, 900), (2000, 990), (3000, 900)]), []);
        let twice = [(0, 1000), (1000, 800), (2000, 900), (9000, 700)];
        assert_eq!(found(&twice), [(1000, 1000, 1000.0, 800.0), (9000, 9000, 900.0, 700.0)]);
    }

    #[test]
    fn a_fall_at_the_end_is_listed() {
        assert_eq!(found(&[(0, 1000), (1000, 400)]), [(1000, 1000, 1000.0, 400.0)]);
        assert_eq!(found(&[]), []);
    }
}
