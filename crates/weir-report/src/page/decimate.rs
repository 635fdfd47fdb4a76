//! Decimation of curves: extremes stay, the points between them are dropped.

use core::ops::Range;

/// Indices of at most `max_points` of `values` (all of them if there are no more), in order. Where values are left out, the least
/// and the greatest of each stretch stay. A stretch without finite values keeps its first one, as a gap.
pub fn extremes(values: &[f64], max_points: usize) -> Vec<usize> {
    if values.len() <= max_points {
        return (0..values.len()).collect();
    }
    let mut kept = Vec::with_capacity(max_points);
    for bin in stretches(values.len(), max_points / 2) {
        let finite = || bin.clone().filter(|&i| values[i].is_finite());
        let least = finite().min_by(|&a, &b| values[a].total_cmp(&values[b]));
        let greatest = finite().max_by(|&a, &b| values[a].total_cmp(&values[b]));
        match (least, greatest) {
            (Some(least), Some(greatest)) if least != greatest => {
                kept.extend([least.min(greatest), least.max(greatest)]);
            }
            (Some(only), _) => kept.push(only),
            _ => kept.push(bin.start),
        }
    }
    kept
}

/// `len` indices in at most `count` stretches of nearly equal length, none of them empty.
pub(super) fn stretches(len: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
    let count = count.clamp(1, len.max(1));
    (0..count).map(move |i| len * i / count..len * (i + 1) / count).filter(|range| !range.is_empty())
}

/// The value that occurs most often, the first of those that do equally often.
pub(super) fn dominant<T: Copy + PartialEq>(values: &[T]) -> Option<T> {
    let count = |value: T| values.iter().filter(|&&other| other == value).count();
    let mut best: Option<(T, usize)> = None;
    for &value in values {
        if best.is_some_and(|(known, _)| known == value) {
            continue;
        }
        let occurrences = count(value);
        if best.is_none_or(|(_, most)| occurrences > most) {
            best = Some((value, occurrences));
        }
    }
    best.map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_all_stay() {
        assert_eq!(extremes(&[3.0, f64::NAN, 1.0], 3), [0, 1, 2]);
    }

    #[test]
    fn the_extremes_of_each_stretch_stay_in_order_of_time() {
        // 4 points out of 8: two stretches of four; extremes 9 (1) and 0 (3), then 2 (4) and 7 (6).
        let values = [5.0, 9.0, 4.0, 0.0, 2.0, 3.0, 7.0, 6.0];
        assert_eq!(extremes(&values, 4), [1, 3, 4, 6]);
    }

    #[test]
    fn a_single_peak_among_many_points_survives() {
        let mut values = vec![1.0; 123_457];
        values[77_777] = 50.0;
        values[100_001] = -3.0;
        let kept = extremes(&values, 2000);
        assert!(kept.len() <= 2000);
        assert!(kept.contains(&77_777) && kept.contains(&100_001));
        assert!(kept.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_gap_stays_a_gap() {
        let mut values = vec![1.0; 40];
        values[10..20].fill(f64::NAN);
        assert!(extremes(&values, 8).iter().any(|&i| values[i].is_nan()));
    }

    #[test]
    fn stretches_cover_everything_once() {
        let covered: Vec<usize> = stretches(11, 4).flatten().collect();
        assert_eq!(covered, (0..11).collect::<Vec<_>>());
        assert_eq!(stretches(0, 4).count(), 0);
        assert_eq!(stretches(2, 4).count(), 2);
    }

    #[test]
    fn the_most_frequent_value_dominates() {
        assert_eq!(dominant(&['a', 'b', 'b', 'c', 'a', 'b']), Some('b'));
        assert_eq!(dominant(&['a', 'b']), Some('a'));
        assert_eq!(dominant::<u8>(&[]), None);
    }
}
