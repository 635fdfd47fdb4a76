//! A value of a statistic.

use core::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::names::DURATIONS;

/// Most bytes of a label.
const LONGEST_LABEL: usize = 64;

/// A value of a statistic.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::calls) enum StatisticsValue {
    /// A value of no use: null, a list, a long text.
    #[default]
    Absent,
    /// A number; 1 for true, 0 for false.
    Number(f64),
    /// A short text.
    Text(String),
    /// Seconds for each of [`DURATIONS`].
    Durations([Option<f64>; 4]),
}

impl StatisticsValue {
    pub(in crate::calls) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            // Old dumps have numbers and truth values as texts.
            Self::Text(text) if text == "true" => Some(1.0),
            Self::Text(text) if text == "false" => Some(0.0),
            Self::Text(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    pub(in crate::calls) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl<'de> Deserialize<'de> for StatisticsValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = StatisticsValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a statistic")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(StatisticsValue::Number(f64::from(u8::from(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(StatisticsValue::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(StatisticsValue::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(if value.is_finite() { StatisticsValue::Number(value) } else { StatisticsValue::Absent })
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(StatisticsValue::Absent)
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        if value.starts_with('{') {
            // Some versions write the durations as JSON inside a text.
            return Ok(serde_json::from_str(value).unwrap_or_default());
        }
        let short = value.len() <= LONGEST_LABEL;
        Ok(if short { StatisticsValue::Text(value.to_owned()) } else { StatisticsValue::Absent })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(StatisticsValue::Absent)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut durations = [None; 4];
        while let Some(name) = members.next_key::<String>()? {
            match DURATIONS.iter().position(|(own, _)| *own == name) {
                Some(place) => durations[place] = members.next_value::<Self::Value>()?.number(),
                None => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(StatisticsValue::Durations(durations))
    }
}
