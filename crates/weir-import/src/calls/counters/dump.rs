//! JSON: a webrtc-internals dump, or reports of `getStats`.

use core::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::collect::{ConnectionNumber, StatisticsTable};
use super::names::{StatisticsKind, StatisticsMember};
use super::series::{PendingConnection, PendingSeries, SeriesMember, SeriesValues};
use super::time::{microseconds, milliseconds};
use super::value::StatisticsValue;
use crate::calls::CallImportError;

/// Reads all values of JSON into the table.
///
/// # Errors
/// The file cannot be read, or is no JSON.
pub(super) fn read(input: impl BufRead, table: &mut StatisticsTable) -> Result<(), CallImportError> {
    let mut json = serde_json::Deserializer::from_reader(input);
    loop {
        // Reports may follow each other, such as one a line.
        match json.end() {
            Ok(()) => return Ok(()),
            Err(error) if error.is_io() => return Err(fault(error)),
            Err(_) => DumpNode { table, identifier: None }.deserialize(&mut json).map_err(fault)?,
        }
    }
}

/// The error of a JSON reader with its place. Its text is not that of the reader, which quotes the file.
pub(super) fn fault(error: serde_json::Error) -> CallImportError {
    let place = format!("line {}, column {}", error.line(), error.column());
    let problem = match error.classify() {
        Category::Io => return CallImportError::Io(error.into()),
        Category::Eof => "the file ends here, within a value; it is cut: save the dump again",
        Category::Syntax => "this is no JSON",
        Category::Data => "a value has another type here than in a dump of webrtc-internals or getStats",
    };
    CallImportError::at(place, problem)
}

/// A value of the file: a list or map of further ones, a dump, or a statistics object.
struct DumpNode<'t> {
    table: &'t mut StatisticsTable,
    /// The key before the value.
    identifier: Option<String>,
}

impl<'de> DeserializeSeed<'de> for DumpNode<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Visitor methods for values that are skipped.
macro_rules! skip_scalars {
    ($value:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

impl<'de> Visitor<'de> for DumpNode<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("statistics")
    }

    skip_scalars!(());

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(DumpNode { table: self.table, identifier: None })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut object = ReportedObject { identifier: self.identifier, ..ReportedObject::default() };
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "PeerConnections" => members.next_value_seed(ConnectionsSeed(self.table))?,
                "getUserMedia" | "UserAgent" | "UserAgentData" => {
                    members.next_value::<IgnoredAny>()?;
                }
                "id" | "type" | "timestamp" => object.describe(&name, members.next_value()?),
                _ => {
                    if let Some(member) = StatisticsMember::of_name(&name) {
                        object.add(member, members.next_value()?);
                    } else {
                        let node = DumpNode { table: &mut *self.table, identifier: Some(name) };
                        members.next_value_seed(node)?;
                    }
                }
            }
        }
        object.enter(self.table);
        Ok(())
    }
}

/// A statistics object of a report.
#[derive(Default)]
struct ReportedObject {
    identifier: Option<String>,
    kind: Option<StatisticsKind>,
    stamp: Option<f64>,
    members: Vec<(StatisticsMember, StatisticsValue)>,
}

impl ReportedObject {
    /// Most members of an object.
    const MOST_MEMBERS: usize = 200;

    fn describe(&mut self, name: &str, value: StatisticsValue) {
        match (name, value) {
            ("timestamp", value) => self.stamp = value.number(),
            ("id", StatisticsValue::Text(text)) => self.identifier = Some(text),
            ("type", StatisticsValue::Text(text)) => self.kind = StatisticsKind::of_name(&text),
            _ => {}
        }
    }

    fn add(&mut self, member: StatisticsMember, value: StatisticsValue) {
        if self.members.len() < Self::MOST_MEMBERS {
            self.members.push((member, value));
        }
    }

    fn enter(self, table: &mut StatisticsTable) {
        let (Some(kind), Some(stamp)) = (self.kind, self.stamp) else { return };
        let identifier = self.identifier.unwrap_or_else(|| kind.name().to_owned());
        let Some(connection) = table.connection("") else { return };
        if let Some(object) = table.object(connection, &identifier, kind) {
            for (member, value) in self.members {
                table.add(object, member, microseconds(stamp), &value);
            }
        }
    }
}

/// Connections of a webrtc-internals dump by identifier.
struct ConnectionsSeed<'t>(&'t mut StatisticsTable);

/// A connection of a webrtc-internals dump.
struct ConnectionSeed<'t>(&'t mut StatisticsTable, Option<ConnectionNumber>);

/// The series of a connection by name.
struct SeriesMapSeed<'p>(&'p mut PendingConnection);

/// A series.
struct SeriesSeed<'p> {
    pending: &'p mut PendingConnection,
    identifier: &'p str,
    name: &'p str,
}

/// Values of a series: a list, mostly as text.
struct ValuesSeed<'p> {
    pending: &'p mut PendingConnection,
    member: SeriesMember,
}

macro_rules! map_seed {
    ($seed:ident, $value:ty, $skipped:expr, |$self:ident, $members:ident| $body:block) => {
        impl<'de> DeserializeSeed<'de> for $seed<'_> {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                deserializer.deserialize_any(self)
            }
        }

        impl<'de> Visitor<'de> for $seed<'_> {
            type Value = $value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of a dump")
            }

            skip_scalars!($skipped);

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<$value, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok($skipped)
            }

            fn visit_map<A: MapAccess<'de>>($self, mut $members: A) -> Result<$value, A::Error> $body
        }
    };
}

map_seed!(ConnectionsSeed, (), (), |self, members| {
    while let Some(identifier) = members.next_key::<String>()? {
        let connection = self.0.connection(&identifier);
        members.next_value_seed(ConnectionSeed(self.0, connection))?;
    }
    Ok(())
});

map_seed!(ConnectionSeed, (), (), |self, members| {
    let mut pending = PendingConnection::default();
    while let Some(name) = members.next_key::<String>()? {
        if name == "stats" {
            members.next_value_seed(SeriesMapSeed(&mut pending))?;
        } else {
            members.next_value::<IgnoredAny>()?;
        }
    }
    if let Some(connection) = self.1 {
        pending.enter(connection, self.0);
    }
    Ok(())
});

map_seed!(SeriesMapSeed, (), (), |self, members| {
    while let Some(full) = members.next_key::<String>()? {
        // A name in brackets is of a series that the page computes from others.
        match full.rsplit_once('-').filter(|_| !full.contains('[')) {
            Some((identifier, name)) => {
                members.next_value_seed(SeriesSeed { pending: &mut *self.0, identifier, name })?;
            }
            None => {
                members.next_value::<IgnoredAny>()?;
            }
        }
    }
    Ok(())
});

map_seed!(SeriesSeed, (), (), |self, members| {
    let (mut start, mut end, mut kind, mut found) = (None, None, None, None);
    let milliseconds = |value: &StatisticsValue| match value {
        StatisticsValue::Text(text) => milliseconds(text),
        value => value.number(),
    };
    while let Some(name) = members.next_key::<String>()? {
        match name.as_str() {
            "startTime" => start = milliseconds(&members.next_value()?),
            "endTime" => end = milliseconds(&members.next_value()?),
            "statsType" => {
                kind = match members.next_value()? {
                    StatisticsValue::Text(text) => Some(text),
                    _ => None,
                }
            }
            "values" => match SeriesMember::of(self.identifier, kind.as_deref(), self.name) {
                Some(member) => {
                    let seed = ValuesSeed { pending: &mut *self.pending, member };
                    found = Some((member, members.next_value_seed(seed)?));
                }
                None => {
                    members.next_value::<IgnoredAny>()?;
                }
            },
            _ => {
                members.next_value::<IgnoredAny>()?;
            }
        }
    }
    if let Some((member, values)) = found {
        self.pending.add(self.identifier, PendingSeries { member, start, end, values });
    }
    Ok(())
});

impl<'de> DeserializeSeed<'de> for ValuesSeed<'_> {
    type Value = SeriesValues;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<SeriesValues, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValuesSeed<'_> {
    type Value = SeriesValues;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the values of a series")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SeriesValues, E> {
        let mut json = serde_json::Deserializer::from_str(text);
        self.deserialize(&mut json).map_err(|_| E::custom("no list"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<SeriesValues, A::Error> {
        let mut values = SeriesValues::empty(self.member);
        while let Some(value) = items.next_element::<StatisticsValue>()? {
            if self.pending.admits_value() {
                values.push(self.member, &value);
            }
        }
        Ok(values)
    }
}
