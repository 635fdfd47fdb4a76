//! Text form of the quantities: a number and a unit, `"2.5Mbps"`, `"112500B"`, `"25ms"`.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::ops::RangeInclusive;
use core::str::FromStr;

use crate::quantity::nearest;
use crate::{DataRate, DataSize, TimeDelta};

/// Error of a text that is no quantity; its message names the right form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseUnitError {
    text: String,
    problem: TextProblem,
    expected: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextProblem {
    NoNumber,
    NoUnit,
    UnknownUnit,
    Negative,
    TooLarge,
}

impl fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self.problem {
            TextProblem::NoNumber => "has no number",
            TextProblem::NoUnit => "has no unit",
            TextProblem::UnknownUnit => "has a unit that is not known here",
            TextProblem::Negative => "must not be negative",
            TextProblem::TooLarge => "is too large",
        };
        write!(f, "`{}` {problem}; write {}", self.text, self.expected)
    }
}

impl core::error::Error for ParseUnitError {}

/// A unit's name and its size in the base unit.
type Units = &'static [(&'static str, i128)];

const RATE_UNITS: Units = &[("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1000), ("bps", 1)];
const SIZE_UNITS: Units = &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1)];
const TIME_UNITS: Units = &[
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

fn parse(
    text: &str,
    units: Units,
    expected: &'static str,
    range: RangeInclusive<i128>,
) -> Result<i128, ParseUnitError> {
    let fail = |problem| ParseUnitError { text: text.to_owned(), problem, expected };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(split);
    let digits = digits.trim();
    let number: f64 = digits.parse().map_err(|_| fail(TextProblem::NoNumber))?;
    if unit.is_empty() {
        return Err(fail(TextProblem::NoUnit));
    }
    let &(_, scale) =
        units.iter().find(|(name, _)| *name == unit).ok_or_else(|| fail(TextProblem::UnknownUnit))?;
    if number < 0.0 && *range.start() >= 0 {
        return Err(fail(TextProblem::Negative));
    }
    let value = exact(digits, scale).unwrap_or_else(|| nearest(number * scale as f64) as i128);
    if range.contains(&value) { Ok(value) } else { Err(fail(TextProblem::TooLarge)) }
}

/// The decimal number `digits` times `scale`, or `None` if that is not a whole number of at most 20 digits. An `f64`
/// has 53 bits, fewer than the quantities.
fn exact(digits: &str, scale: i128) -> Option<i128> {
    let (sign, digits) = digits.strip_prefix('-').map_or((1, digits), |digits| (-1, digits));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let is_short = |part: &str| part.len() <= 20 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_short(whole) || !is_short(decimals) {
        return None;
    }
    let number = |part: &str| part.bytes().fold(0, |number, digit| 10 * number + i128::from(digit - b'0'));
    let (ten, part) = (10_i128.pow(decimals.len() as u32), number(decimals));
    let part = part.checked_mul(scale).filter(|part| part % ten == 0)?;
    Some(sign * (number(whole).checked_mul(scale)? + part / ten))
}

/// Writes `value` in the largest unit that shows it exactly with at most three decimals.
fn show(f: &mut fmt::Formatter<'_>, value: i128, units: Units) -> fmt::Result {
    let exact =
        units.iter().find(|&&(_, scale)| value != 0 && value.abs() >= scale && value * 1000 % scale == 0);
    match exact {
        Some((name, scale)) => {
            let milli = value * 1000 / scale;
            let sign = if milli < 0 { "-" } else { "" };
            let (whole, rest) = (milli.abs() / 1000, milli.abs() % 1000);
            if rest == 0 {
                write!(f, "{sign}{whole}{name}")
            } else {
                let decimals = format!("{rest:03}");
                write!(f, "{sign}{whole}.{}{name}", decimals.trim_end_matches('0'))
            }
        }
        None => write!(f, "{value}{}", units[units.len() - 1].0),
    }
}

macro_rules! text_form {
    ($unit:ident, $units:ident, $expected:literal, $pattern:literal, $number:ident, $from:path, $raw:path) => {
        impl FromStr for $unit {
            type Err = ParseUnitError;
            fn from_str(text: &str) -> Result<Self, ParseUnitError> {
                let range = i128::from($number::MIN)..=i128::from($number::MAX);
                parse(text, $units, $expected, range).map(|value| $from(value as $number))
            }
        }

        impl fmt::Display for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                show(f, i128::from($raw(*self)), $units)
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $unit {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $unit {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct UnitVisitor;
                impl serde::de::Visitor<'_> for UnitVisitor {
                    type Value = $unit;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$unit, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(UnitVisitor)
            }
        }

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $unit {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                stringify!($unit).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern, "description": $expected })
            }
        }
    };
}

text_form!(
    DataRate,
    RATE_UNITS,
    "a rate such as \"2.5Mbps\", \"300kbps\" or \"1000bps\"",
    r"^[0-9.]+ ?(bps|kbps|Mbps|Gbps)$",
    u64,
    DataRate::from_bps,
    DataRate::bps
);
text_form!(
    DataSize,
    SIZE_UNITS,
    "a size such as \"1500B\", \"112.5kB\" or \"1.25MB\"",
    r"^[0-9.]+ ?(B|kB|MB|GB)$",
    u64,
    DataSize::from_bytes,
    DataSize::bytes
);
text_form!(
    TimeDelta,
    TIME_UNITS,
    "a time such as \"25ms\", \"1.5s\" or \"20us\"",
    r"^-?[0-9.]+ ?(ns|us|ms|s|min|h)$",
    i64,
    TimeDelta::from_nanos,
    TimeDelta::nanos
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in ["2.5Mbps", "300kbps", "1bps", "0bps", "100Mbps", "1.234567Mbps"] {
            let rate: DataRate = text.parse().unwrap();
            assert_eq!(rate.to_string().parse::<DataRate>().unwrap(), rate, "{text}");
        }
        assert_eq!("2.5Mbps".parse::<DataRate>().unwrap().to_string(), "2.5Mbps");
        assert_eq!("1234567bps".parse::<DataRate>().unwrap().to_string(), "1234.567kbps");
        assert_eq!("112500 B".parse::<DataSize>().unwrap().to_string(), "112.5kB");
        assert_eq!("-20us".parse::<TimeDelta>().unwrap().to_string(), "-20us");
        assert_eq!("0.3s".parse::<TimeDelta>().unwrap().to_string(), "300ms");
        assert_eq!(TimeDelta::ZERO.to_string(), "0ns");
    }

    #[test]
    fn each_quantity_round_trips_exactly() {
        // The last ones have more digits than an `f64`.
        let numbers = [1, 999, 1001, 123_456_789, (1 << 53) + 1, 9_007_199_254_740_993_000, u64::MAX >> 1];
        for number in numbers.into_iter().chain([u64::MAX - 615, u64::MAX]) {
            let (rate, size) = (DataRate::from_bps(number), DataSize::from_bytes(number));
            assert_eq!((rate.to_string().parse(), size.to_string().parse()), (Ok(rate), Ok(size)));
            for span in [number as i64, -(number as i64), i64::MIN].map(TimeDelta::from_nanos) {
                assert_eq!(span.to_string().parse(), Ok(span));
            }
        }
        assert_eq!("18446744073709551.615kbps".parse(), Ok(DataRate::MAX));
        let error = "18446744073709551616bps".parse::<DataRate>().unwrap_err().to_string();
        assert!(error.contains("is too large"), "{error}");
        for text in ["9223372036854775808ns", "-9223372036854775809ns", "99999999999999999999h"] {
            assert!(text.parse::<TimeDelta>().unwrap_err().to_string().contains("is too large"), "{text}");
        }
    }

    #[test]
    fn a_part_of_the_base_unit_is_rounded() {
        let nanos = |text: &str| text.parse::<TimeDelta>().map(TimeDelta::nanos);
        assert_eq!(["0.4ns", "0.5ns", "-1.5ns", "1.0004us"].map(nanos), [Ok(0), Ok(1), Ok(-2), Ok(1000)]);
        assert_eq!([".5us", "5.us", "+2us"].map(nanos), [Ok(500), Ok(5000), Ok(2000)]);
        // 30 digits are rounded, too.
        assert_eq!(nanos("0.100000000000000000000000000000s"), Ok(100_000_000));
    }

    #[test]
    fn wrong_text_says_what_would_be_right() {
        let error = "25".parse::<TimeDelta>().unwrap_err().to_string();
        assert_eq!(error, "`25` has no unit; write a time such as \"25ms\", \"1.5s\" or \"20us\"");
        assert!("25mbps".parse::<DataRate>().unwrap_err().to_string().contains("not known here"));
        assert!("-1Mbps".parse::<DataRate>().unwrap_err().to_string().contains("must not be negative"));
        assert!("fast".parse::<DataRate>().unwrap_err().to_string().contains("has no number"));
        assert!("1e300s".parse::<TimeDelta>().is_err());
        assert!("infs".parse::<TimeDelta>().is_err());
    }
}
