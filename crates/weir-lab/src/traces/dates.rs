//! Dates and times of day as ISO 8601 writes them.

/// Seconds since 1970 of `2026-05-01T12:30:00.25+02:00` and the like: a space may stand for the `T`, and without a zone it
/// is UTC.
pub(super) fn seconds_of_date(text: &str) -> Option<f64> {
    let (date, rest) = text.trim().split_once(['T', ' '])?;
    let numbers = |text: &str, separator: char| -> Option<[u32; 3]> {
        let parts: Vec<u32> = text.split(separator).map(str::parse).collect::<Result<_, _>>().ok()?;
        parts.try_into().ok()
    };
    let [year, month, day] = numbers(date, '-')?;
    let zone = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone);
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(whole, ':')?;
    let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let fraction: f64 = format!("0.{fraction}").parse().ok().filter(|_| digits)?;
    let in_range = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    let of_day = f64::from(hour * 3600 + minute * 60 + second) + fraction;
    in_range
        .then(|| days(year, month, day) * 86_400.0 + of_day - offset(zone).unwrap_or(f64::NAN))
        .filter(|seconds| seconds.is_finite())
}

/// Days since 1970 in the Gregorian calendar.
fn days(year: u32, month: u32, day: u32) -> f64 {
    // Years that begin in March have their leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    f64::from(year * 365 + year / 4 - year / 100 + year / 400 + of_year) - 719_468.0
}

/// Seconds of a zone ahead of UTC.
fn offset(zone: &str) -> Option<f64> {
    if zone.is_empty() || zone == "Z" {
        return Some(0.0);
    }
    let (sign, rest) = zone.split_at_checked(1)?;
    let rest = rest.replace(':', "");
    let (hours, minutes) = rest.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { minutes.parse::<u32>().ok()? };
    let seconds = f64::from(hours.parse::<u32>().ok()?) * 3600.0 + f64::from(minutes) * 60.0;
    Some(if sign == "-" { -seconds } else { seconds })
}

#[cfg(test)]
mod tests {
    use super::seconds_of_date;

    #[test]
    fn dates_are_seconds_since_1970() {
        assert_eq!(seconds_of_date("1970-01-01T00:00:00Z"), Some(0.0));
        // `date -u -d 2026-05-01T12:30:00.25 +%s.%2N`
        assert_eq!(seconds_of_date("2026-05-01T12:30:00.25"), Some(1_777_638_600.25));
        assert_eq!(seconds_of_date("2024-02-29 23:59:60+02:00"), Some(1_709_244_000.0));
        assert_eq!(seconds_of_date("2024-03-01T00:00:00-0530"), Some(1_709_271_000.0));
        for wrong in [
            "2026-05-01",
            "12:30:00",
            "2026-13-01T00:00:00Z",
            "2026-05-01T12:30",
            "2026-05-01T1:2:3+x",
            "é-é-éTé",
            "",
        ] {
            assert_eq!(seconds_of_date(wrong), None, "{wrong}");
        }
    }
}
