//! Units of columns, by their names in options.

use core::fmt;
use core::str::FromStr;

/// A unit of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUnit {
    name: &'static str,
    /// Its length in s.
    pub(super) seconds: f64,
}

/// A unit of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateUnit {
    name: &'static str,
    pub(super) bits_per_second: f64,
}

const fn time(name: &'static str, seconds: f64) -> TimeUnit {
    TimeUnit { name, seconds }
}

const fn rate(name: &'static str, bits_per_second: f64) -> RateUnit {
    RateUnit { name, bits_per_second }
}

const TIME_UNITS: [TimeUnit; 4] = [time("s", 1.0), time("ms", 1e-3), time("us", 1e-6), time("ns", 1e-9)];
const RATE_UNITS: [RateUnit; 7] = [
    rate("bit/s", 1.0),
    rate("kbit/s", 1e3),
    rate("Mbit/s", 1e6),
    rate("Gbit/s", 1e9),
    rate("byte/s", 8.0),
    rate("kB/s", 8e3),
    rate("MB/s", 8e6),
];

impl TimeUnit {
    /// The names of all units.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TIME_UNITS.iter().map(|unit| unit.name)
    }
}

impl RateUnit {
    /// The names of all units.
    pub fn names() -> impl Iterator<Item = &'static str> {
        RATE_UNITS.iter().map(|unit| unit.name)
    }
}

impl Default for TimeUnit {
    /// Seconds.
    fn default() -> Self {
        TIME_UNITS[0]
    }
}

impl Default for RateUnit {
    /// Bits per second.
    fn default() -> Self {
        RATE_UNITS[0]
    }
}

/// A text that names no unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be one of {0}")]
pub struct NoUnit(String);

impl FromStr for TimeUnit {
    type Err = NoUnit;

    fn from_str(text: &str) -> Result<Self, NoUnit> {
        let found = TIME_UNITS.into_iter().find(|unit| unit.name == text);
        found.ok_or_else(|| NoUnit(Self::names().collect::<Vec<_>>().join(", ")))
    }
}

impl FromStr for RateUnit {
    type Err = NoUnit;

    fn from_str(text: &str) -> Result<Self, NoUnit> {
        let found = RATE_UNITS.into_iter().find(|unit| unit.name == text);
        found.ok_or_else(|| NoUnit(Self::names().collect::<Vec<_>>().join(", ")))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for RateUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_names() {
        for name in RateUnit::names() {
            assert_eq!(name.parse::<RateUnit>().unwrap().to_string(), name);
        }
        assert_eq!("MBps".parse::<RateUnit>().unwrap_err().to_string().matches(", ").count(), 6);
        assert_eq!("min".parse::<TimeUnit>().unwrap_err().to_string(), "it must be one of s, ms, us, ns");
    }
}
