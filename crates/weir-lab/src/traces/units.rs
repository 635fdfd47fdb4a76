//! Units of columns: as options name them, and as headers do.

use core::fmt;
use core::str::FromStr;

/// What the times of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, from whenever.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
    /// Dates and times of day: `2026-05-01T12:30:00.25Z`.
    Iso,
}

/// What the rates of a column are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateUnit {
    /// So many bits.
    pub bits: f64,
    /// From one line to the next, in place of per second.
    pub per_interval: bool,
}

const TIME_UNITS: [(&str, TimeUnit); 5] = [
    ("s", TimeUnit::Seconds),
    ("ms", TimeUnit::Millis),
    ("us", TimeUnit::Micros),
    ("ns", TimeUnit::Nanos),
    ("iso", TimeUnit::Iso),
];

const fn per_second(bits: f64) -> RateUnit {
    RateUnit { bits, per_interval: false }
}

const RATE_UNITS: [(&str, RateUnit); 9] = [
    ("bit/s", per_second(1.0)),
    ("kbit/s", per_second(1e3)),
    ("Mbit/s", per_second(1e6)),
    ("Gbit/s", per_second(1e9)),
    ("byte/s", per_second(8.0)),
    ("kB/s", per_second(8e3)),
    ("MB/s", per_second(8e6)),
    ("GB/s", per_second(8e9)),
    ("bytes", RateUnit { bits: 8.0, per_interval: true }),
];

impl RateUnit {
    /// Bits per second.
    pub const BITS: Self = per_second(1.0);

    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        RATE_UNITS.iter().map(|(name, _)| *name)
    }
}

impl TimeUnit {
    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TIME_UNITS.iter().map(|(name, _)| *name)
    }

    /// A unit in seconds; of dates, whose values are made seconds when they are read, too.
    pub(super) fn seconds(self) -> f64 {
        match self {
            Self::Seconds | Self::Iso => 1.0,
            Self::Millis => 1e-3,
            Self::Micros => 1e-6,
            Self::Nanos => 1e-9,
        }
    }
}

/// A word that is no unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be one of {0}")]
pub struct NoUnit(String);

fn named<T: Copy>(units: &[(&'static str, T)], text: &str) -> Result<T, NoUnit> {
    let found = units.iter().find(|(name, _)| *name == text).map(|(_, unit)| *unit);
    found.ok_or_else(|| NoUnit(units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")))
}

fn name_of<T: PartialEq>(units: &[(&'static str, T)], unit: &T) -> &'static str {
    units.iter().find(|(_, known)| known == unit).map_or("of their own", |(name, _)| name)
}

impl FromStr for TimeUnit {
    type Err = NoUnit;

    fn from_str(text: &str) -> Result<Self, NoUnit> {
        named(&TIME_UNITS, text)
    }
}

/// How scenarios write bits per second.
const AS_IN_SCENARIOS: [(&str, &str); 4] =
    [("bps", "bit/s"), ("kbps", "kbit/s"), ("Mbps", "Mbit/s"), ("Gbps", "Gbit/s")];

impl FromStr for RateUnit {
    type Err = NoUnit;

    fn from_str(text: &str) -> Result<Self, NoUnit> {
        let same = AS_IN_SCENARIOS.iter().find(|(other, _)| *other == text);
        named(&RATE_UNITS, same.map_or(text, |(_, name)| name))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Iso { "dates" } else { name_of(&TIME_UNITS, self) })
    }
}

impl fmt::Display for RateUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = if self.per_interval { " per interval" } else { "" };
        write!(f, "{}{interval}", name_of(&RATE_UNITS, self))
    }
}

/// What a column's name tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hint<T> {
    /// What it is, with its unit.
    Unit(T),
    /// What it is, without a unit.
    Word,
    /// Nothing.
    None,
}

const RATE_WORDS: [&str; 9] =
    ["rate", "bitrate", "throughput", "bandwidth", "speed", "goodput", "capacity", "tput", "bw"];
const TIME_WORDS: [&str; 8] = ["time", "timestamp", "ts", "t", "elapsed", "epoch", "date", "datetime"];

/// What `name` tells as the name of a column of rates.
pub(super) fn rate_hint(name: &str) -> Hint<RateUnit> {
    let words = words(name);
    for (index, word) in words.iter().enumerate() {
        if let Some(unit) = in_one_word(word) {
            return Hint::Unit(unit);
        }
        let Some((bits, spelled)) = quantity(word) else { continue };
        let next = |ahead: usize| words.get(index + ahead).is_some_and(|word| is_second(word));
        let per = words.get(index + 1).is_some_and(|word| word.eq_ignore_ascii_case("per")) && next(2);
        if per || next(1) {
            return Hint::Unit(per_second(bits));
        }
        if spelled && bits == 8.0 {
            return Hint::Unit(RateUnit { bits, per_interval: true });
        }
    }
    if words.iter().any(|word| RATE_WORDS.contains(&word.to_lowercase().as_str())) {
        Hint::Word
    } else {
        Hint::None
    }
}

/// What `name` tells as the name of a column of times.
pub(super) fn time_hint(name: &str) -> Hint<TimeUnit> {
    if matches!(rate_hint(name), Hint::Unit(_)) {
        return Hint::None;
    }
    let words: Vec<String> = words(name).iter().map(|word| word.to_lowercase()).collect();
    let is_time = |word: &String| TIME_WORDS.contains(&word.as_str());
    let unit = |word: &String| match word.as_str() {
        "ms" | "msec" | "millis" | "millisecond" | "milliseconds" => Some(TimeUnit::Millis),
        "us" | "usec" | "micros" | "microsecond" | "microseconds" => Some(TimeUnit::Micros),
        "ns" | "nsec" | "nanos" | "nanosecond" | "nanoseconds" => Some(TimeUnit::Nanos),
        other => is_second(other).then_some(TimeUnit::Seconds),
    };
    let named = words.iter().find_map(unit);
    let nothing_else = !words.is_empty() && words.iter().all(|word| unit(word).is_some() || is_time(word));
    match named {
        Some(unit) if nothing_else || words.iter().any(is_time) => Hint::Unit(unit),
        None if words.iter().any(is_time) => Hint::Word,
        _ => Hint::None,
    }
}

/// `kbps` and the like. `MBPS` says nothing of bits and bytes.
fn in_one_word(word: &str) -> Option<RateUnit> {
    let (stem, end) = word.split_at_checked(word.len().checked_sub(2)?)?;
    let shouted = word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase());
    let (bits, _) = quantity(stem).filter(|_| end.eq_ignore_ascii_case("ps") && !shouted)?;
    Some(per_second(bits))
}

/// So many bits, and whether it is spelled out.
fn quantity(word: &str) -> Option<(f64, bool)> {
    let lower = word.to_lowercase();
    let prefixes =
        [("kilo", 1e3), ("mega", 1e6), ("giga", 1e9), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("", 1.0)];
    prefixes.iter().find_map(|(prefix, factor)| match lower.strip_prefix(prefix)? {
        "bit" | "bits" => Some((*factor, true)),
        "byte" | "bytes" => Some((8.0 * factor, true)),
        "b" if word.ends_with('B') => Some((8.0 * factor, false)),
        "b" => Some((*factor, false)),
        _ => None,
    })
}

fn is_second(word: &str) -> bool {
    ["s", "sec", "secs", "second", "seconds"].iter().any(|second| word.eq_ignore_ascii_case(second))
}

/// The words of a name: `DL_bitrate (Mbit/s)`, `elapsedMs`.
fn words(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        if in_one_word(part).is_some() || quantity(part).is_some() {
            words.push(part);
            continue;
        }
        let mut from = 0;
        let mut before = 'A';
        for (at, c) in part.char_indices() {
            if c.is_uppercase() && before.is_lowercase() {
                words.push(&part[from..at]);
                from = at;
            }
            before = c;
        }
        words.push(&part[from..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_units_of_rates() {
        for (name, unit) in [
            ("bits_per_second", "bit/s"),
            ("rate_kbps", "kbit/s"),
            ("Throughput (Mbit/s)", "Mbit/s"),
            ("bitrateMbps", "Mbit/s"),
            ("MB/s", "MB/s"),
            ("speed [MBps]", "MB/s"),
            ("Mb/s", "Mbit/s"),
            ("kBps", "kB/s"),
            ("bytes/sec", "byte/s"),
            ("DL gbit per second", "Gbit/s"),
            ("rx_bytes", "bytes"),
        ] {
            assert_eq!(rate_hint(name), Hint::Unit(unit.parse().unwrap()), "{name}");
        }
        for name in ["throughput", "DL_bitrate", "speed MBPS"] {
            assert_eq!(rate_hint(name), Hint::Word, "{name}");
        }
        for name in ["seconds", "rtt_ms", "", "b"] {
            assert_eq!(rate_hint(name), Hint::None, "{name}");
        }
    }

    #[test]
    fn headers_tell_units_of_times() {
        for (name, unit) in [
            ("seconds", "s"),
            ("time_ms", "ms"),
            ("elapsedMs", "ms"),
            ("Time [s]", "s"),
            ("epoch_ns", "ns"),
            ("us", "us"),
        ] {
            assert_eq!(time_hint(name), Hint::Unit(unit.parse().unwrap()), "{name}");
        }
        assert_eq!(time_hint("timestamp"), Hint::Word);
        for name in ["rtt_ms", "bits_per_second", "rate", "", "delay (ms)"] {
            assert_eq!(time_hint(name), Hint::None, "{name}");
        }
    }

    #[test]
    fn units_have_names() {
        for name in RateUnit::names() {
            let unit: RateUnit = name.parse().unwrap();
            assert!(unit.to_string().starts_with(name));
        }
        assert_eq!("MBps".parse::<RateUnit>().unwrap_err().to_string().matches(", ").count(), 8);
        assert_eq!("kbps".parse::<RateUnit>(), "kbit/s".parse());
        assert_eq!(
            "min".parse::<TimeUnit>().unwrap_err().to_string(),
            "it must be one of s, ms, us, ns, iso"
        );
    }
}
