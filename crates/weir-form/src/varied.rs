//! Keys of a file with several values each: `links.forward.delay=10ms,50ms,200ms`.

use std::str::FromStr;

/// A key with several values: `links.forward.delay=10ms,50ms,200ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    /// The key, as after `--set`.
    pub path: String,
    /// The values of the key, in `unit`.
    pub values: Vec<f64>,
    /// The unit of the values; empty if they are plain numbers.
    pub unit: String,
}

impl FromStr for Varied {
    type Err = String;

    /// Reads `PATH=VALUE,VALUE,…`, numbers with one unit.
    fn from_str(text: &str) -> Result<Self, String> {
        const USAGE: &str = "write `PATH=VALUE,VALUE`, such as `links.forward.delay=10ms,50ms`";
        let (path, values) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` has no `=`; {USAGE}"))?;
        if path.trim().is_empty() {
            return Err(format!("`{text}` names no key; {USAGE}"));
        }
        let mut varied = Self { path: path.trim().to_owned(), values: Vec::new(), unit: String::new() };
        for (index, word) in values.split(',').map(str::trim).enumerate() {
            let end = word.find(|c: char| c.is_ascii_alphabetic() && c != 'e').unwrap_or(word.len());
            let (number, unit) = word.split_at(end);
            let value: f64 = number.trim().parse().map_err(|_| {
                format!(
                    "`{word}` is no number with a unit; {USAGE}; words are compared with --set, one run each"
                )
            })?;
            if !value.is_finite() {
                return Err(format!("`{word}` is no number that a scenario can have; {USAGE}"));
            }
            if index == 0 {
                unit.clone_into(&mut varied.unit);
            } else if unit != varied.unit {
                return Err(format!("`{word}` has another unit than the first value; write all in one"));
            }
            if varied.values.contains(&value) {
                return Err(format!("`{word}` is there twice; write each value once"));
            }
            varied.values.push(value);
        }
        Ok(varied)
    }
}

impl Varied {
    /// A value of the key with the unit: `10ms`.
    pub fn with_unit(&self, value: f64) -> String {
        format!("{value}{}", self.unit)
    }
}

/// Every combination of the values of several keys, the last key varying fastest: the value of each key, in their order.
pub fn places(varied: &[Varied]) -> Vec<Vec<(String, String)>> {
    let mut places: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for own in varied {
        let with = |place: &Vec<(String, String)>| {
            let values = own.values.iter().map(|&value| (own.path.clone(), own.with_unit(value)));
            values.map(|value| [place.as_slice(), &[value]].concat()).collect::<Vec<_>>()
        };
        places = places.iter().flat_map(with).collect();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_its_values_and_one_unit() {
        let varied: Varied = "links.forward.delay=10ms, 50ms,200ms".parse().unwrap();
        assert_eq!((varied.path.as_str(), varied.unit.as_str()), ("links.forward.delay", "ms"));
        assert_eq!(varied.values, [10.0, 50.0, 200.0]);
        let plain: Varied = "flows.video.options.trendline.window=1e1,40".parse().unwrap();
        assert_eq!((plain.values, plain.unit), (vec![10.0, 40.0], String::new()));
        for (text, message) in [
            ("links.forward.delay", "has no `=`"),
            ("=1,2", "names no key"),
            ("a=1ms,2s", "another unit"),
            ("a=1,1.0", "twice"),
            ("a=red,codel", "no number"),
            ("a=nan,1", "no number"),
            ("a=1,,2", "no number"),
        ] {
            let error = text.parse::<Varied>().unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn places_are_all_with_all_and_the_last_key_goes_fastest() {
        let varied: Vec<Varied> = ["a=1ms,2ms", "b=3,4"].map(|text| text.parse().unwrap()).to_vec();
        let places: Vec<String> = places(&varied)
            .iter()
            .map(|place| {
                place.iter().map(|(path, value)| format!("{path}={value}")).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(places, ["a=1ms b=3", "a=1ms b=4", "a=2ms b=3", "a=2ms b=4"]);
    }
}
