//! Times of statistics.

/// The latest and earliest time: a call checks that its own times are within twice as much.
const RANGE_US: f64 = 9e16;
/// Times above this, of the year 5138 in ms, are in µs.
const LARGEST_MS: f64 = 1e14;

/// A `DOMHighResTimeStamp` in µs. libwebrtc's own output has µs already.
pub(super) fn microseconds(stamp: f64) -> i64 {
    let micros = if stamp.abs() > LARGEST_MS { stamp } else { stamp * 1e3 };
    micros.clamp(-RANGE_US, RANGE_US).round() as i64
}

/// The ms since 1970 of a time such as `2026-11-26T12:34:56.789Z`.
pub(super) fn milliseconds(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let mut time = time.split(':');
    let (hour, minute) = (time.next()?.parse::<u32>().ok()?, time.next()?.parse::<u32>().ok()?);
    let second: f64 = time.next()?.parse().ok().filter(|second| (0.0..61.0).contains(second))?;
    let valid = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !valid || hour > 24 || minute > 60 {
        return None;
    }
    // Days of the proleptic Gregorian calendar, with years that begin in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let minutes = days as f64 * 1440.0 + f64::from(hour * 60 + minute);
    Some(minutes * 60_000.0 + second * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_anything_else_is_not() {
        assert_eq!(milliseconds("1970-01-01T00:00:00.000Z"), Some(0.0));
        assert_eq!(milliseconds("2024-02-29T12:34:56.789Z"), Some(1_709_210_096_789.0));
        assert_eq!(milliseconds("2026-11-26T00:00:00Z"), Some(1_795_651_200_000.0));
        for text in ["", "2024-02-29", "2024-13-01T00:00:00Z", "2024-01-01T00:00:xxZ", "Z", "1-1-1T1:1:1Z"] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
        assert_eq!(microseconds(1.5), 1500);
        assert_eq!(microseconds(1_700_000_000_123_456.0), 1_700_000_000_123_456);
        assert_eq!(microseconds(f64::MAX), 90_000_000_000_000_000);
    }
}
