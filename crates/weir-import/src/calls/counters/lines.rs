//! Lines of an `RTCStatsDump`: a JSON array for each event, statistics as differences to those before.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use serde_json::{Map, Value};

use super::collect::{ConnectionNumber, LONGEST_IDENTIFIER, MOST_VALUES, StatisticsTable};
use super::names::{StatisticsKind, StatisticsMember};
use super::time::microseconds;
use super::value::StatisticsValue;
use crate::calls::CallImportError;

/// The first line.
pub(super) const FIRST_LINE: &[u8] = b"RTCStatsDump";
/// Most bytes of a line: its values take up to 40 times as much memory.
const LONGEST_LINE: usize = 2 << 20;
/// Most values that are kept to be repeated.
const MOST_REPEATED: usize = MOST_VALUES / 20;
/// Most objects that all lines enter: each enters all of its connection, also those without a value.
const MOST_ENTERED: usize = MOST_VALUES;

/// Statistics of an object as of the last line about it.
#[derive(Debug, Default)]
struct LastObject {
    kind: Option<StatisticsKind>,
    members: Vec<(StatisticsMember, StatisticsValue)>,
}

/// Reads the lines into the table. The result is the number of a last line that is cut, if it is.
///
/// # Errors
/// The file cannot be read, or a line is no JSON array.
pub(super) fn read(
    mut input: impl BufRead,
    table: &mut StatisticsTable,
) -> Result<Option<usize>, CallImportError> {
    let mut state = LineReader::default();
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        number += 1;
        let read = input.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        let whole = line.ends_with(b"\n");
        if !whole && read == LONGEST_LINE {
            let problem = "it is longer than 2 MB, which no line of a dump is";
            return Err(CallImportError::at(format!("line {number}"), problem));
        }
        let text = line.trim_ascii();
        if text.is_empty() || number == 1 && text == FIRST_LINE {
            continue;
        }
        match serde_json::from_slice::<Value>(text) {
            Ok(Value::Array(event)) => state.event(&event, table),
            // The second line has facts about the file.
            Ok(_) => {}
            Err(_) if !whole => return Ok(Some(number)),
            Err(_) => {
                let problem = "this is no JSON; each line after the first is a JSON array";
                return Err(CallImportError::at(format!("line {number}"), problem));
            }
        }
    }
}

#[derive(Debug, Default)]
struct LineReader {
    time_ms: f64,
    /// Statistics by connection and object.
    last: BTreeMap<(String, String), LastObject>,
    repeated: usize,
    /// Objects that the lines so far entered.
    entered: usize,
}

impl LineReader {
    /// Method, connection, value, further ones, and the time since the event before in ms; old files have the time
    /// itself.
    fn event(&mut self, event: &[Value], table: &mut StatisticsTable) {
        let [method, connection, value, .., time] = event else { return };
        if let Some(stamp) = time.as_f64() {
            self.time_ms = if stamp > 1e11 { stamp } else { self.time_ms + stamp };
        }
        let is_statistics = match method {
            Value::String(name) => matches!(name.as_str(), "g" | "getStats" | "getstats"),
            number => number.as_u64() == Some(1),
        };
        let (true, Value::Object(changes)) = (is_statistics, value) else { return };
        let identifier = connection.as_str().map_or_else(|| connection.to_string(), str::to_owned);
        if let Some(number) = table.connection(&identifier) {
            self.change(&identifier, changes);
            self.enter(&identifier, number, changes, table);
        }
    }

    fn change(&mut self, connection: &str, changes: &Map<String, Value>) {
        for (identifier, change) in changes.iter().filter(|(name, _)| name.len() <= LONGEST_IDENTIFIER) {
            let key = (connection.to_owned(), identifier.clone());
            let Value::Object(members) = change else {
                if change.is_null()
                    && let Some(gone) = self.last.remove(&key)
                {
                    self.repeated -= 1 + gone.members.len();
                }
                continue;
            };
            if self.repeated >= MOST_REPEATED {
                return;
            }
            let object = self.last.entry(key).or_insert_with(|| {
                self.repeated += 1;
                LastObject::default()
            });
            for (name, value) in members {
                if name == "type" {
                    object.kind = value
                        .as_str()
                        .map_or_else(|| StatisticsKind::of_number(value.as_u64()?), StatisticsKind::of_name);
                    continue;
                }
                let number = name.parse().ok().and_then(StatisticsMember::of_number);
                let Some(member) = number.or_else(|| StatisticsMember::of_name(name)) else { continue };
                let value = serde_json::from_value(value.clone()).unwrap_or_default();
                if let Some((_, own)) = object.members.iter_mut().find(|(own, _)| *own == member) {
                    merge(own, value);
                } else {
                    self.repeated += 1;
                    object.members.push((member, value));
                }
            }
        }
    }

    /// Enters the state of all objects, which holds also for those without a change.
    fn enter(
        &mut self,
        connection: &str,
        number: ConnectionNumber,
        changes: &Map<String, Value>,
        table: &mut StatisticsTable,
    ) {
        let stamp = ["t", "timestamp"].into_iter().find_map(|name| changes.get(name)?.as_f64());
        let from = (connection.to_owned(), String::new());
        let own = self.last.range(from..).take_while(|((own, _), _)| own == connection);
        for ((_, identifier), object) in own {
            if self.entered >= MOST_ENTERED || table.is_full() {
                table.leave_out();
                return;
            }
            self.entered += 1;
            let Some(kind) = object.kind else { continue };
            let change = changes.get(identifier);
            let own = change.and_then(|change| change.get("t").or_else(|| change.get("timestamp"))?.as_f64());
            let time = microseconds(own.or(stamp).unwrap_or(self.time_ms));
            let Some(at) = table.object(number, identifier, kind) else { continue };
            for (member, value) in &object.members {
                table.add(at, *member, time, value);
            }
        }
    }
}

/// Durations that did not change are not repeated; any other value is replaced.
fn merge(own: &mut StatisticsValue, new: StatisticsValue) {
    match (own, new) {
        (StatisticsValue::Durations(own), StatisticsValue::Durations(new)) => {
            for (own, new) in own.iter_mut().zip(new) {
                *own = new.or(*own);
            }
        }
        (own, new) => *own = new,
    }
}
