//! Paths of SVG in their shortest form. Coordinates are whole half pixels.

use core::fmt::Write;

/// The path through `points`; a missing point leaves a gap.
pub fn through(points: impl Iterator<Item = Option<(i32, i32)>>) -> String {
    let mut path = String::new();
    let mut last: Option<(i32, i32)> = None;
    for point in points {
        let Some((x, y)) = point else {
            last = None;
            continue;
        };
        match last {
            None => write_pair(&mut path, "M", (x, y)),
            Some(at) if at == (x, y) => continue,
            Some((from_x, from_y)) => write_pair(&mut path, "l", (x - from_x, y - from_y)),
        }
        last = Some((x, y));
    }
    path
}

/// A step line through `points`: horizontal first, then vertical; missing points are skipped without a gap.
pub fn steps(points: impl Iterator<Item = Option<(i32, i32)>>) -> String {
    let mut path = String::new();
    let mut last: Option<(i32, i32)> = None;
    for (x, y) in points.flatten() {
        match last {
            None => write_pair(&mut path, "M", (x, y)),
            Some((from_x, from_y)) => {
                if x != from_x {
                    let _ = write!(path, "h{}", x - from_x);
                }
                if y != from_y {
                    let _ = write!(path, "v{}", y - from_y);
                }
            }
        }
        last = Some((x, y));
    }
    path
}

fn write_pair(path: &mut String, command: &str, (x, y): (i32, i32)) {
    // A minus separates as well as a space; writing to a string does not fail.
    let between = if y < 0 { "" } else { " " };
    let _ = write!(path, "{command}{x}{between}{y}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_on_behind_a_gap_and_says_nothing_twice() {
        let points = [Some((0, 10)), Some((2, 5)), Some((2, 5)), None, Some((7, 9)), Some((8, 9))];
        assert_eq!(through(points.into_iter()), "M0 10l2-5M7 9l1 0");
    }

    #[test]
    fn steps_go_right_before_they_rise() {
        let points = [Some((0, 9)), Some((0, 6)), Some((4, 6)), Some((7, 2))];
        assert_eq!(steps(points.into_iter()), "M0 9v-3h4h3v-4");
    }
}
