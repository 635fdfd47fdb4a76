//! Text form of the quantities: a number and a unit, `"2.5Mbps"`, `"112500B"`, `"25ms"`.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;
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
type Units = &'static [(&'static str, f64)];

const RATE_UNITS: Units = &[("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)];
const SIZE_UNITS: Units = &[("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
const TIME_UNITS: Units = &[("h", 3.6e12), ("min", 6e10), ("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];

fn parse(text: &str, units: Units, expected: &'static str, signed: bool) -> Result<f64, ParseUnitError> {
    let fail = |problem| ParseUnitError { text: text.to_owned(), problem, expected };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let number: f64 = number.trim().parse().map_err(|_| fail(TextProblem::NoNumber))?;
    if unit.is_empty() {
        return Err(fail(TextProblem::NoUnit));
    }
    let (_, scale) =
        units.iter().find(|(name, _)| *name == unit).ok_or_else(|| fail(TextProblem::UnknownUnit))?;
    if number < 0.0 && !signed {
        return Err(fail(TextProblem::Negative));
    }
    let value = nearest(number * scale);
    // Above 2^63 neither an `i64` nor a sensible quantity is left.
    if value.abs() >= 9.2e18 { Err(fail(TextProblem::TooLarge)) } else { Ok(value) }
}

/// Writes `value` in the largest unit that shows it exactly with at most three decimals.
fn show(f: &mut fmt::Formatter<'_>, value: i128, units: Units) -> fmt::Result {
    let exact = units
        .iter()
        .map(|&(name, scale)| (name, scale as i128))
        .find(|&(_, scale)| value != 0 && value.abs() >= scale && value * 1000 % scale == 0);
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
    ($unit:ident, $units:ident, $expected:literal, $pattern:literal, $signed:literal, $from:expr, $raw:expr) => {
        impl FromStr for $unit {
            type Err = ParseUnitError;
            fn from_str(text: &str) -> Result<Self, ParseUnitError> {
                parse(text, $units, $expected, $signed).map($from)
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
    false,
    |v| DataRate::from_bps(v as u64),
    DataRate::bps
);
text_form!(
    DataSize,
    SIZE_UNITS,
    "a size such as \"1500B\", \"112.5kB\" or \"1.25MB\"",
    r"^[0-9.]+ ?(B|kB|MB|GB)$",
    false,
    |v| DataSize::from_bytes(v as u64),
    DataSize::bytes
);
text_form!(
    TimeDelta,
    TIME_UNITS,
    "a time such as \"25ms\", \"1.5s\" or \"20us\"",
    r"^-?[0-9.]+ ?(ns|us|ms|s|min|h)$",
    true,
    |v| TimeDelta::from_nanos(v as i64),
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
