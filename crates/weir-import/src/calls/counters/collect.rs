//! Statistics of connections as series, and the choice of one connection.

use std::collections::BTreeMap;

use weir_world::RecordedCall;
use weir_world::recorded::{CallBuilder, CounterSeries, LabelSeries, RecordingSource, RemarkSentence};

use super::names::{DURATIONS, StatisticsKind, StatisticsMember, label};
use super::value::StatisticsValue;
use crate::calls::{CallImportError, CallOptions, EndSelection};

/// Most values of a file: each takes at most 48 bytes of memory.
pub(in crate::calls) const MOST_VALUES: usize = 2_000_000;
/// Most objects of a file.
const MOST_OBJECTS: usize = 20_000;
/// Most connections of a file.
const MOST_CONNECTIONS: usize = 1000;
/// Most bytes of an identifier of an object or connection.
pub(super) const LONGEST_IDENTIFIER: usize = 256;
/// Connections that are listed.
const LISTED: usize = 8;

/// A connection by its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::calls) struct ConnectionNumber(usize);

/// A statistics object by connection and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::calls) struct ObjectNumber {
    connection: usize,
    object: usize,
}

/// Statistics of all connections of a file.
#[derive(Debug, Default)]
pub(in crate::calls) struct StatisticsTable {
    identifiers: BTreeMap<String, usize>,
    connections: Vec<ConnectionStatistics>,
    objects: usize,
    values: usize,
    /// Whether values were left out.
    left_out: bool,
}

#[derive(Debug, Default)]
struct ConnectionStatistics {
    identifiers: BTreeMap<String, usize>,
    objects: Vec<StatisticsObject>,
}

#[derive(Debug)]
struct StatisticsObject {
    kind: StatisticsKind,
    source: Option<u32>,
    numbers: BTreeMap<&'static str, StatisticsColumn<f64>>,
    labels: BTreeMap<&'static str, StatisticsColumn<&'static str>>,
}

/// Times in µs and values.
#[derive(Debug)]
struct StatisticsColumn<T> {
    times: Vec<i64>,
    values: Vec<T>,
}

impl<T> Default for StatisticsColumn<T> {
    fn default() -> Self {
        Self { times: Vec::new(), values: Vec::new() }
    }
}

impl<T: Copy> StatisticsColumn<T> {
    fn push(&mut self, time_us: i64, value: T) {
        self.times.push(time_us);
        self.values.push(value);
    }

    /// The rows in order of time; of rows of one time the last.
    fn in_order(mut self) -> Self {
        if self.times.is_sorted_by(|one, next| one < next) {
            return self;
        }
        let rows: BTreeMap<i64, T> = self.times.drain(..).zip(self.values.drain(..)).collect();
        let (times, values) = rows.into_iter().unzip();
        Self { times, values }
    }
}

impl StatisticsTable {
    /// The connection of this identifier.
    pub(in crate::calls) fn connection(&mut self, identifier: &str) -> Option<ConnectionNumber> {
        if let Some(&number) = self.identifiers.get(identifier) {
            return Some(ConnectionNumber(number));
        }
        if identifier.len() > LONGEST_IDENTIFIER || self.connections.len() >= MOST_CONNECTIONS {
            self.left_out = true;
            return None;
        }
        self.identifiers.insert(identifier.to_owned(), self.connections.len());
        self.connections.push(ConnectionStatistics::default());
        Some(ConnectionNumber(self.connections.len() - 1))
    }

    /// The object of this identifier, and of this type when it is new.
    pub(in crate::calls) fn object(
        &mut self,
        connection: ConnectionNumber,
        identifier: &str,
        kind: StatisticsKind,
    ) -> Option<ObjectNumber> {
        let own = &mut self.connections[connection.0];
        if let Some(&object) = own.identifiers.get(identifier) {
            return Some(ObjectNumber { connection: connection.0, object });
        }
        if identifier.len() > LONGEST_IDENTIFIER || self.objects >= MOST_OBJECTS {
            self.left_out = true;
            return None;
        }
        self.objects += 1;
        let object = own.objects.len();
        own.identifiers.insert(identifier.to_owned(), object);
        own.objects.push(StatisticsObject {
            kind,
            source: None,
            numbers: BTreeMap::new(),
            labels: BTreeMap::new(),
        });
        Some(ObjectNumber { connection: connection.0, object })
    }

    /// Adds a value of a member; one of another type than the member's is skipped.
    pub(in crate::calls) fn add(
        &mut self,
        at: ObjectNumber,
        member: StatisticsMember,
        time_us: i64,
        value: &StatisticsValue,
    ) {
        match member {
            StatisticsMember::Number(name) => {
                if let Some(number) = value.number() {
                    self.add_number(at, name, time_us, number);
                }
            }
            StatisticsMember::Label(name, labels) => {
                if let Some(text) = value.text() {
                    self.add_label(at, name, time_us, label(labels, text));
                }
            }
            StatisticsMember::Durations => {
                if let StatisticsValue::Durations(durations) = value {
                    for ((_, name), seconds) in DURATIONS.into_iter().zip(durations) {
                        if let Some(seconds) = seconds {
                            self.add_number(at, name, time_us, *seconds);
                        }
                    }
                }
            }
            StatisticsMember::Source => {
                if let Some(number) = value.number() {
                    self.connections[at.connection].objects[at.object].source = Some(number as u32);
                }
            }
        }
    }

    fn add_number(&mut self, at: ObjectNumber, name: &'static str, time_us: i64, value: f64) {
        if self.admits_value() {
            let object = &mut self.connections[at.connection].objects[at.object];
            object.numbers.entry(name).or_default().push(time_us, value);
        }
    }

    pub(in crate::calls) fn add_label(
        &mut self,
        at: ObjectNumber,
        name: &'static str,
        time_us: i64,
        value: &'static str,
    ) {
        if self.admits_value() {
            let object = &mut self.connections[at.connection].objects[at.object];
            object.labels.entry(name).or_default().push(time_us, value);
        }
    }

    /// Notes that values are not kept.
    pub(in crate::calls) const fn leave_out(&mut self) {
        self.left_out = true;
    }

    /// Whether no further value is kept.
    pub(in crate::calls) const fn is_full(&self) -> bool {
        self.values >= MOST_VALUES
    }

    /// Counts a value; returns whether it is kept.
    pub(in crate::calls) fn admits_value(&mut self) -> bool {
        let kept = !self.is_full();
        self.values += usize::from(kept);
        self.left_out |= !kept;
        kept
    }

    /// The call: the statistics of the chosen connection.
    ///
    /// # Errors
    /// There is no statistic, or several connections could be meant.
    pub(in crate::calls) fn finish(mut self, options: &CallOptions) -> Result<RecordedCall, CallImportError> {
        self.connections.retain(|connection| connection.values() > 0);
        let chosen = self.choose(options)?;
        let mut builder = CallBuilder::new(RecordingSource::Counters);
        if self.left_out {
            builder.remark(RemarkSentence::MORE_VALUES.with(&[&MOST_VALUES]));
        }
        if self.connections.len() > 1 {
            builder.remark(RemarkSentence::CONNECTIONS.with(&[&self.connections.len(), &(chosen + 1)]));
            for (place, connection) in self.connections.iter().take(LISTED).enumerate() {
                let [sent, received] = connection.video_bytes().map(|bytes| format!("{:.1}", bytes / 1e6));
                builder.remark(RemarkSentence::CONNECTION.with(&[&(place + 1), &sent, &received]));
            }
        }
        let connection = self.connections.swap_remove(chosen);
        drop(self.connections);
        let mut numbers: BTreeMap<StatisticsKind, u32> = BTreeMap::new();
        for object in connection.objects.into_iter().filter(|object| object.values() > 0) {
            let number = numbers.entry(object.kind).or_default();
            object.enter(*number, &mut builder);
            *number += 1;
        }
        Ok(builder.finish())
    }

    fn choose(&self, options: &CallOptions) -> Result<usize, CallImportError> {
        if self.connections.is_empty() {
            let problem = "the file has no statistic of an RTP stream, a transport or a candidate pair";
            return Err(CallImportError::Lacking(problem.to_owned()));
        }
        if let Some(ssrc) = options.ssrc {
            let has = |connection: &ConnectionStatistics| {
                connection.objects.iter().any(|own| own.source == Some(ssrc))
            };
            return self.connections.iter().position(has).ok_or_else(|| {
                CallImportError::Lacking(format!(
                    "no stream has the source identifier {ssrc} of --ssrc; the file has {}",
                    self.listed()
                ))
            });
        }
        let weight = |(place, connection): (usize, &ConnectionStatistics)| {
            let [sent, received] = connection.video_bytes();
            let bytes = match options.direction {
                EndSelection::Sent => sent,
                EndSelection::Received => received,
                EndSelection::Larger => sent.max(received),
            };
            (bytes, connection.values(), sent, place)
        };
        let mut order: Vec<(f64, usize, f64, usize)> =
            self.connections.iter().enumerate().map(weight).collect();
        order.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        let near = 0.9 * order[0].0;
        let second = order.get(1).map_or(0.0, |second| second.0);
        if second <= near || second <= 0.0 {
            return Ok(order[0].3);
        }
        // Of two ends of one call in one browser, the sender is taken.
        let mut senders = order.iter().filter(|own| own.2 > near);
        match (options.direction, senders.next(), senders.next()) {
            (EndSelection::Larger, Some(sender), None) => Ok(sender.3),
            _ => Err(CallImportError::Ambiguous { option: "--ssrc", choices: self.listed() }),
        }
    }

    /// The connections, with a source identifier of each. A call has none.
    fn listed(&self) -> String {
        let listed = self.connections.iter().take(LISTED).enumerate().map(|(place, connection)| {
            let [sent, received] = connection.video_bytes().map(|bytes| bytes / 1e6);
            let source = connection.largest_source();
            let ssrc = source.map_or(String::new(), |ssrc| format!(", --ssrc {ssrc}"));
            format!("{}: {sent:.1} MB of video sent, {received:.1} MB received{ssrc}", place + 1)
        });
        let mut listed: Vec<String> = listed.collect();
        if self.connections.len() > LISTED {
            listed.push(format!("{} more", self.connections.len() - LISTED));
        }
        listed.join("; ")
    }
}

impl ConnectionStatistics {
    fn values(&self) -> usize {
        self.objects.iter().map(StatisticsObject::values).sum()
    }

    /// Bytes of video sent and received.
    fn video_bytes(&self) -> [f64; 2] {
        [StatisticsKind::Outbound, StatisticsKind::Inbound].map(|kind| {
            let own = self.objects.iter().filter(|own| own.kind == kind);
            // The sum of no values of floating point is -0.
            own.map(StatisticsObject::video_bytes).fold(0.0, |sum, bytes| sum + bytes)
        })
    }

    fn largest_source(&self) -> Option<u32> {
        let with_source =
            self.objects.iter().filter_map(|object| Some((object.video_bytes(), object.source?)));
        Some(with_source.max_by(|one, other| one.0.total_cmp(&other.0))?.1)
    }
}

impl StatisticsObject {
    fn values(&self) -> usize {
        let numbers: usize = self.numbers.values().map(|column| column.values.len()).sum();
        numbers + self.labels.values().map(|column| column.values.len()).sum::<usize>()
    }

    fn video_bytes(&self) -> f64 {
        let kind = self.labels.get("kind").and_then(|column| column.values.last());
        let frames = ["frameWidth", "framesEncoded", "framesDecoded"];
        let has_frames = frames.iter().any(|name| self.numbers.contains_key(name));
        if !kind.map_or(has_frames, |kind| *kind == "video") {
            return 0.0;
        }
        let name = match self.kind {
            StatisticsKind::Outbound => "bytesSent",
            StatisticsKind::Inbound => "bytesReceived",
            _ => return 0.0,
        };
        let values = self.numbers.get(name).map_or(&[][..], |column| &column.values);
        values.iter().copied().fold(0.0, f64::max)
    }

    /// Enters the series into the call, as object `number` of its type.
    fn enter(self, number: u32, builder: &mut CallBuilder) {
        let kind = self.kind.name();
        for (name, column) in self.numbers {
            let StatisticsColumn { times, values } = column.in_order();
            touch(builder, &times);
            builder.call_mut().counters.push(CounterSeries {
                name: format!("{kind}.{name}"),
                object: number,
                time_us: times,
                values: values.into_iter().map(Some).collect(),
            });
        }
        for (name, column) in self.labels {
            let StatisticsColumn { times, values } = column.in_order();
            touch(builder, &times);
            let mut labels: Vec<String> = Vec::new();
            let places = values.into_iter().map(|value| {
                let known = labels.iter().position(|label| label == value);
                known.unwrap_or_else(|| {
                    labels.push(value.to_owned());
                    labels.len() - 1
                }) as u16
            });
            let values = places.collect();
            let name = format!("{kind}.{name}");
            builder.call_mut().labels.push(LabelSeries {
                name,
                object: number,
                time_us: times,
                values,
                labels,
            });
        }
    }
}

fn touch(builder: &mut CallBuilder, times: &[i64]) {
    for time in [times.first(), times.last()].into_iter().flatten() {
        builder.touch(*time);
    }
}
