//! Keys of a file with several values each: `links.forward.delay=10ms,50ms,200ms`.

use std::collections::HashSet;
use std::str::FromStr;

use weir_units::{DataRate, DataSize, TimeDelta};

/// Most values of a range.
const MOST_STEPS: u32 = 1000;
/// Most combinations of the values of all keys, and most values of one key.
const MOST_PLACES: usize = 100_000;

const USAGE: &str = "write `PATH=VALUE,VALUE`, such as `links.forward.delay=10ms,50ms`";
const RANGE: &str = "write `FROM..TO/N` or `FROM..TO/Nlog`, such as `1ms..100ms/5log`, with N from 2 to 1000";

/// A key with several values: numbers, or words.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    /// The key, as after `--set`.
    pub path: String,
    /// Its values, in the order given.
    pub values: Vec<VariedValue>,
    /// Unit of [`VariedValue::at`], that of the first value; empty for plain numbers and words.
    pub unit: String,
    /// Unit of [`VariedValue::base`], a UCUM code; `None` for words.
    pub base_unit: Option<&'static str>,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct VariedValue {
    /// The value as after `--set`.
    pub text: String,
    /// Its place on an axis: the number in [`Varied::unit`], or the index of the word.
    pub at: f64,
    /// The number in [`Varied::base_unit`]; NaN for a word.
    pub base: f64,
}

/// A written value.
#[derive(Clone, Debug, PartialEq)]
enum Written {
    Number(f64, NumberUnit),
    Word(String),
}

/// A unit of numbers.
#[derive(Clone, Debug, PartialEq)]
struct NumberUnit {
    name: String,
    /// UCUM code of the base unit.
    base: &'static str,
    /// Size in the base unit, as a fraction.
    size: (f64, f64),
}

impl NumberUnit {
    fn of(name: &str) -> Option<Self> {
        let one = format!("1{name}");
        let known = |base, size| Some(Self { name: name.to_owned(), base, size });
        if name.is_empty() {
            return known("1", (1.0, 1.0));
        }
        if let Ok(rate) = one.parse::<DataRate>() {
            return known("bit/s", (rate.bps_f64(), 1.0));
        }
        if let Ok(time) = one.parse::<TimeDelta>() {
            return known("s", (time.nanos() as f64, 1e9));
        }
        let size: DataSize = one.parse().ok()?;
        known("By", (size.bytes() as f64, 1.0))
    }

    /// `number` of this unit in the base unit.
    fn in_base(&self, number: f64) -> f64 {
        number * self.size.0 / self.size.1
    }

    /// `number` of this unit in `other`.
    fn within(&self, other: &Self, number: f64) -> f64 {
        if self == other { number } else { number * self.size.0 / other.size.0 }
    }
}

impl Written {
    fn read(word: &str) -> Result<Self, String> {
        if word.is_empty() {
            return Err(format!("a value is empty; {USAGE}"));
        }
        let end = word.find(|c: char| c.is_ascii_alphabetic() && c != 'e').unwrap_or(word.len());
        let (number, unit) = word.split_at(end);
        let number: Option<f64> = number.trim().parse().ok();
        match (number, NumberUnit::of(unit)) {
            (Some(number), Some(unit)) if number.is_finite() => Ok(Self::Number(number, unit)),
            (Some(number), _) if !number.is_finite() => Err(not_finite(word)),
            _ if word.parse::<f64>().is_ok_and(|number| !number.is_finite()) => Err(not_finite(word)),
            _ => Ok(Self::Word(word.to_owned())),
        }
    }

    /// The values of `FROM..TO/N`, or `None` of a text in another form.
    fn range(word: &str) -> Option<Result<Vec<Self>, String>> {
        let (from, rest) = word.split_once("..")?;
        let Ok(Self::Number(from, unit)) = Self::read(from.trim()) else { return None };
        Some(Self::steps(word, (from, &unit), rest))
    }

    fn steps(word: &str, (from, unit): (f64, &NumberUnit), rest: &str) -> Result<Vec<Self>, String> {
        let wrong = || format!("`{word}` is no range; {RANGE}");
        let (to, count) = rest.rsplit_once('/').ok_or_else(wrong)?;
        let (count, is_log) = count.strip_suffix("log").map_or((count, false), |count| (count, true));
        let count: u32 = count.trim().parse().map_err(|_| wrong())?;
        let Self::Number(to, unit_of_end) = Self::read(to.trim())? else { return Err(wrong()) };
        if !(2..=MOST_STEPS).contains(&count) || unit_of_end.base != unit.base {
            return Err(wrong());
        }
        let to = unit_of_end.within(unit, to);
        if is_log && (from <= 0.0 || to <= 0.0) {
            return Err(format!("`{word}` is logarithmic and has an end that is not above 0; {RANGE}"));
        }
        let step = |index: u32| {
            let part = f64::from(index) / f64::from(count - 1);
            match (index, is_log) {
                (0, _) => from,
                (last, _) if last == count - 1 => to,
                (_, true) => digits(from * libm::pow(to / from, part), 6),
                (_, false) => digits(from + (to - from) * part, 12),
            }
        };
        Ok((0..count).map(|index| Self::Number(step(index), unit.clone())).collect())
    }

    /// The text as after `--set`.
    fn text(&self) -> String {
        match self {
            Self::Number(number, unit) => format!("{number}{}", unit.name),
            Self::Word(word) => word.clone(),
        }
    }
}

fn not_finite(word: &str) -> String {
    format!("`{word}` is no number that a scenario can have; {USAGE}")
}

/// `value` rounded to so many digits.
fn digits(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

impl FromStr for Varied {
    type Err = String;

    /// Reads `PATH=VALUE,VALUE,…`. Values are numbers of one quantity, each with its own unit, or words; `FROM..TO/N` and
    /// `FROM..TO/Nlog` stand for N numbers, both ends included.
    fn from_str(text: &str) -> Result<Self, String> {
        let (path, values) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` has no `=`; {USAGE}"))?;
        if path.trim().is_empty() {
            return Err(format!("`{text}` names no key; {USAGE}"));
        }
        let mut written = Vec::new();
        for word in values.split(',').map(str::trim) {
            match Written::range(word) {
                Some(range) => written.extend(range?),
                None => written.push(Written::read(word)?),
            }
            if written.len() > MOST_PLACES {
                let key = path.trim();
                return Err(format!("{key} has more than {MOST_PLACES} values; give {MOST_PLACES} at most"));
            }
        }
        let path = path.trim().to_owned();
        let varied = if let Some((values, unit)) = Self::numbers(&written)? {
            Self { path, values, unit: unit.name.clone(), base_unit: Some(unit.base) }
        } else {
            let word = |(index, word): (usize, &Written)| VariedValue {
                text: word.text(),
                at: index as f64,
                base: f64::NAN,
            };
            let values = written.iter().enumerate().map(word).collect();
            Self { path, values, unit: String::new(), base_unit: None }
        };
        let mut known = HashSet::new();
        let twice = varied.values.iter().find(|own| match varied.base_unit {
            Some(_) => !known.insert((own.base.to_bits(), "")),
            None => !known.insert((0, own.text.as_str())),
        });
        match twice {
            Some(own) => Err(format!("`{}` is there twice; write each value once", own.text)),
            None => Ok(varied),
        }
    }
}

impl Varied {
    /// The values if all are numbers, in the unit of the first one.
    fn numbers(written: &[Written]) -> Result<Option<(Vec<VariedValue>, &NumberUnit)>, String> {
        let Some(Written::Number(_, first)) = written.first() else { return Ok(None) };
        let mut values = Vec::with_capacity(written.len());
        for own in written {
            let Written::Number(number, unit) = own else { return Ok(None) };
            let text = own.text();
            if unit.base != first.base {
                return Err(format!(
                    "`{text}` is of another quantity than the first value; give rates alone, times alone, sizes alone, or plain numbers"
                ));
            }
            values.push(VariedValue { text, at: unit.within(first, *number), base: unit.in_base(*number) });
        }
        Ok(Some((values, first)))
    }

    /// The value at a place on the axis; empty where there is none.
    pub fn text_at(&self, at: f64) -> &str {
        self.value_at(at).map_or("", |own| own.text.as_str())
    }

    /// The value at a place on the axis.
    pub fn value_at(&self, at: f64) -> Option<&VariedValue> {
        self.values.iter().find(|own| own.at.total_cmp(&at).is_eq())
    }

    /// Label of its axis: the key with its unit, or with the number of each word.
    pub fn label(&self) -> String {
        let Self { path, values, unit, base_unit } = self;
        match (base_unit, unit.as_str()) {
            (Some(_), "") => path.clone(),
            (Some(_), unit) => format!("{path}, {unit}"),
            (None, _) => {
                let words = values.iter().map(|own| format!("{} = {}", own.at, own.text));
                format!("{path}: {}", words.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// Number of combinations of the values of several keys, each with its number of values.
///
/// # Errors
/// A sentence with the keys and their numbers of values, if there are more than 100 000 combinations.
pub fn number_of_combinations(counts: &[(&str, usize)]) -> Result<usize, String> {
    let number = counts.iter().try_fold(1_usize, |number, (_, count)| number.checked_mul(*count));
    number.filter(|number| *number <= MOST_PLACES).ok_or_else(|| {
        let counts: Vec<String> =
            counts.iter().map(|(key, count)| format!("{key} has {count} values")).collect();
        let counts = counts.join(", ");
        format!("{counts}; a sweep has at most {MOST_PLACES} combinations of values, so give fewer values")
    })
}

/// Number of combinations of the values of the keys `varied`.
///
/// # Errors
/// As [`number_of_combinations`].
pub fn number_of_places(varied: &[Varied]) -> Result<usize, String> {
    let counts: Vec<(&str, usize)> = varied.iter().map(|own| (own.path.as_str(), own.values.len())).collect();
    number_of_combinations(&counts)
}

/// Every combination of the values of several keys, the last key varying fastest: the value of each key, in their order.
///
/// # Errors
/// As [`number_of_places`].
pub fn places(varied: &[Varied]) -> Result<Vec<Vec<(String, String)>>, String> {
    number_of_places(varied)?;
    let mut places: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for own in varied {
        let with = |place: &Vec<(String, String)>| {
            let values = own.values.iter().map(|value| (own.path.clone(), value.text.clone()));
            values.map(|value| [place.as_slice(), &[value]].concat()).collect::<Vec<_>>()
        };
        places = places.iter().flat_map(with).collect();
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varied(text: &str) -> Varied {
        text.parse().unwrap()
    }

    fn texts(varied: &Varied) -> Vec<&str> {
        varied.values.iter().map(|own| own.text.as_str()).collect()
    }

    #[test]
    fn a_key_with_its_values_and_one_unit() {
        let delays = varied("links.forward.delay=10ms, 50ms,200ms");
        assert_eq!((delays.path.as_str(), delays.unit.as_str()), ("links.forward.delay", "ms"));
        assert_eq!(delays.values.iter().map(|own| own.at).collect::<Vec<_>>(), [10.0, 50.0, 200.0]);
        assert_eq!((delays.values[2].base, delays.base_unit), (0.2, Some("s")));
        assert_eq!((delays.text_at(50.0), delays.label().as_str()), ("50ms", "links.forward.delay, ms"));
        let plain = varied("flows.video.options.trendline.window=1e1,40");
        assert_eq!((texts(&plain), plain.unit.as_str(), plain.base_unit), (vec!["10", "40"], "", Some("1")));
        for (text, message) in [
            ("links.forward.delay", "has no `=`"),
            ("=1,2", "names no key"),
            ("a=1ms,2kbps", "another quantity"),
            ("a=1ms,2", "another quantity"),
            ("a=1,1.0", "twice"),
            ("a=1000ms,1s", "twice"),
            ("a=red,red", "twice"),
            ("a=nan,1", "no number"),
            ("a=1,,2", "empty"),
            ("a=1ms..2kbps/3", "no range"),
            ("a=1..9/1", "no range"),
            ("a=1..9", "no range"),
            ("a=0..9/4log", "not above 0"),
        ] {
            let error = text.parse::<Varied>().unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_of_several_units_are_on_one_axis() {
        let rates = varied("links.forward.rate=500kbps,1Mbps");
        assert_eq!((texts(&rates), rates.unit.as_str()), (vec!["500kbps", "1Mbps"], "kbps"));
        assert_eq!(rates.values.iter().map(|own| own.at).collect::<Vec<_>>(), [500.0, 1000.0]);
        assert_eq!(rates.values.iter().map(|own| own.base).collect::<Vec<_>>(), [5e5, 1e6]);
        assert_eq!((rates.base_unit, rates.text_at(1000.0)), (Some("bit/s"), "1Mbps"));
    }

    #[test]
    fn words_are_numbered() {
        let kinds = varied("links.forward.queue.kind=droptail, codel");
        assert_eq!((texts(&kinds), kinds.base_unit), (vec!["droptail", "codel"], None));
        assert_eq!(kinds.label(), "links.forward.queue.kind: 0 = droptail, 1 = codel");
        assert_eq!((kinds.text_at(1.0), kinds.text_at(2.0)), ("codel", ""));
        assert_eq!(texts(&varied("a=true,false")), ["true", "false"]);
        assert_eq!(texts(&varied("a=../x.mahi,../y.mahi")), ["../x.mahi", "../y.mahi"]);
        assert_eq!(texts(&varied("a=10,none")), ["10", "none"]);
    }

    #[test]
    fn a_range_has_both_ends() {
        assert_eq!(texts(&varied("a=1ms..100ms/5log")), ["1ms", "3.16228ms", "10ms", "31.6228ms", "100ms"]);
        assert_eq!(texts(&varied("a=1ms..1s/4log")), ["1ms", "10ms", "100ms", "1000ms"]);
        assert_eq!(texts(&varied("a=1..9/5")), ["1", "3", "5", "7", "9"]);
        assert_eq!(texts(&varied("a=0..0.3/4,7")), ["0", "0.1", "0.2", "0.3", "7"]);
        assert_eq!(texts(&varied("a=9..1/3")), ["9", "5", "1"]);
    }

    #[test]
    fn places_are_all_with_all_and_the_last_key_goes_fastest() {
        let varied: Vec<Varied> = ["a=1ms,2ms", "b=3,4"].map(|text| text.parse().unwrap()).to_vec();
        let places: Vec<String> = places(&varied)
            .unwrap()
            .iter()
            .map(|place| {
                place.iter().map(|(path, value)| format!("{path}={value}")).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(places, ["a=1ms b=3", "a=1ms b=4", "a=2ms b=3", "a=2ms b=4"]);
    }

    #[test]
    fn places_and_values_are_bounded() {
        let most = ["a=1..1000/1000", "b=1..100/100"].map(varied);
        assert_eq!(number_of_places(&most), Ok(MOST_PLACES));
        let several = ["a=1..1000/1000", "b=1..100/100", "c=1,2"].map(varied);
        let error = places(&several).unwrap_err();
        assert!(error.starts_with("a has 1000 values, b has 100 values, c has 2 values; "), "{error}");
        assert!(error.contains("at most 100000 combinations"), "{error}");
        // The product of these exceeds 64 bits.
        let keys: Vec<Varied> = (0..22).map(|key| varied(&format!("k{key}=1..1000/1000"))).collect();
        assert!(places(&keys).is_err());
        let ranges = |count: u32| {
            let range = |index: u32| format!("{}..{}/1000", index * 1000, index * 1000 + 999);
            format!("a={}", (0..count).map(range).collect::<Vec<_>>().join(","))
        };
        assert_eq!(varied(&ranges(100)).values.len(), MOST_PLACES);
        let error = ranges(101).parse::<Varied>().unwrap_err();
        assert!(error.starts_with("a has more than 100000 values"), "{error}");
    }
}
