//! The skew of two clocks.

/// Largest skew of two clocks; more is taken for a change of the path.
const MOST_SKEW: f64 = 200e-6;

/// Skew of the receiver's clock, by the departure and the delay of packets in order of departure, in µs: the slope of the line below
/// all delays that is nearest to them, which is the edge of their lower convex hull above the middle of the call (Moon, Skelly and
/// Towsley 1999). `None` of fewer than two packets, and where it is more than 200 ppm, which two clocks do not have.
pub fn skew(delays: impl Iterator<Item = (i64, i64)>) -> Option<f64> {
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
    let (first, last) = hull.first().zip(hull.last())?;
    let middle = first.0 + (last.0 - first.0) / 2;
    let edge = hull.windows(2).find(|edge| edge[0].0 <= middle && middle <= edge[1].0)?;
    let skew = (edge[1].1 - edge[0].1) as f64 / (edge[1].0 - edge[0].0) as f64;
    (skew.abs() <= MOST_SKEW).then_some(skew)
}

/// Whether `b` lies above the line from `a` to `c`, or on it.
fn turns_down(a: (i64, i64), b: (i64, i64), c: (i64, i64)) -> bool {
    let cross =
        |p: (i64, i64), q: (i64, i64)| i128::from(p.0) * i128::from(q.1) - i128::from(p.1) * i128::from(q.0);
    let (ab, ac) = ((b.0 - a.0, b.1 - a.1), (c.0 - a.0, c.1 - a.1));
    cross(ab, ac) <= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet each 10 ms for 100 s, with jitter and a standing queue for a third of it.
    fn delays(skew: f64) -> impl Iterator<Item = (i64, i64)> {
        (0..10_000).map(move |number: i64| {
            let sent = 10_000 * number;
            let queue = if (3000..6500).contains(&number) { 200_000 } else { 0 };
            (sent, queue + number * 7919 % 5000 + (skew * sent as f64) as i64)
        })
    }

    #[test]
    fn the_skew_is_found_beside_a_queue_and_jitter() {
        for true_skew in [40e-6, -25e-6, 0.0] {
            let found = skew(delays(true_skew)).unwrap();
            assert!((found - true_skew).abs() < 0.5e-6, "{found}, not {true_skew}");
        }
    }

    #[test]
    fn more_than_two_clocks_have_is_a_change_of_the_path() {
        assert_eq!(skew(delays(300e-6)), None);
        assert_eq!(skew(std::iter::empty()), None);
        assert_eq!(skew([(7, 3)].into_iter()), None);
    }
}
