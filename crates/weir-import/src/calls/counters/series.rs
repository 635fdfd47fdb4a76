//! Series of a webrtc-internals dump, until their times are known.

use std::collections::BTreeMap;

use super::collect::{ConnectionNumber, LONGEST_IDENTIFIER, MOST_VALUES, ObjectNumber, StatisticsTable};
use super::legacy::{LegacyMeaning, LegacyMember, legacy};
use super::names::{StatisticsKind, StatisticsMember, label};
use super::time::microseconds;
use super::value::StatisticsValue;

/// A member of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SeriesMember {
    /// Times of the values of the object.
    Times,
    Standard(StatisticsKind, StatisticsMember),
    Legacy(LegacyMember),
}

impl SeriesMember {
    /// The member that a series of this name stands for, if it may enter a call.
    pub(super) fn of(identifier: &str, kind: Option<&str>, member: &str) -> Option<Self> {
        if member == "timestamp" {
            return Some(Self::Times);
        }
        let standard = match kind {
            Some(kind) => StatisticsKind::of_name(kind),
            None => StatisticsKind::of_identifier(identifier),
        };
        match standard {
            Some(kind) => Some(Self::Standard(kind, StatisticsMember::of_name(member)?)),
            None => legacy(identifier, kind, member).map(Self::Legacy),
        }
    }

    const fn statistic(self) -> Option<StatisticsMember> {
        match self {
            Self::Standard(_, member)
            | Self::Legacy(LegacyMember { meaning: LegacyMeaning::Scaled(member, _), .. }) => Some(member),
            Self::Times | Self::Legacy(_) => None,
        }
    }

    /// Place among the series of an object: limitation by the CPU overrides that by bandwidth.
    fn rank(self) -> u8 {
        let cpu = |meaning| meaning == LegacyMeaning::Limitation("cpu");
        u8::from(matches!(self, Self::Legacy(LegacyMember { meaning, .. }) if cpu(meaning)))
    }
}

/// Values of a series; NaN and the empty label stand for none.
#[derive(Debug)]
pub(super) enum SeriesValues {
    Numbers(Vec<f64>),
    Labels(Vec<&'static str>),
    Durations(Vec<[f64; 4]>),
}

impl SeriesValues {
    /// No values yet of `member`.
    pub(super) fn empty(member: SeriesMember) -> Self {
        match (member, member.statistic()) {
            (_, Some(StatisticsMember::Label(..))) | (SeriesMember::Legacy(_), None) => {
                Self::Labels(Vec::new())
            }
            (_, Some(StatisticsMember::Durations)) => Self::Durations(Vec::new()),
            _ => Self::Numbers(Vec::new()),
        }
    }

    pub(super) fn push(&mut self, member: SeriesMember, value: &StatisticsValue) {
        match self {
            Self::Numbers(numbers) => numbers.push(value.number().unwrap_or(f64::NAN)),
            Self::Labels(all) => all.push(match (member.statistic(), member) {
                (Some(StatisticsMember::Label(_, labels)), _) => {
                    value.text().map_or("", |text| label(labels, text))
                }
                (
                    _,
                    SeriesMember::Legacy(LegacyMember { meaning: LegacyMeaning::Limitation(reason), .. }),
                ) => match (value.number() == Some(1.0), reason) {
                    (true, _) => reason,
                    (false, "cpu") => "",
                    (false, _) => "none",
                },
                _ => "",
            }),
            Self::Durations(all) => all.push(match value {
                StatisticsValue::Durations(durations) => durations.map(|own| own.unwrap_or(f64::NAN)),
                _ => [f64::NAN; 4],
            }),
        }
    }

    const fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Labels(values) => values.len(),
            Self::Durations(values) => values.len(),
        }
    }
}

/// A series of an object: first and last time in ms, and values.
#[derive(Debug)]
pub(super) struct PendingSeries {
    pub(super) member: SeriesMember,
    pub(super) start: Option<f64>,
    pub(super) end: Option<f64>,
    pub(super) values: SeriesValues,
}

/// The series of a connection.
#[derive(Debug, Default)]
pub(super) struct PendingConnection {
    /// Series by the identifier of their object, in the order of the file.
    objects: BTreeMap<String, Vec<PendingSeries>>,
    order: Vec<String>,
    values: usize,
    pub(super) standard: bool,
}

impl PendingConnection {
    /// Whether one more value is kept.
    pub(super) const fn admits_value(&mut self) -> bool {
        self.values += 1;
        self.values <= MOST_VALUES
    }

    pub(super) fn add(&mut self, identifier: &str, series: PendingSeries) {
        // A series without values takes memory, too.
        if identifier.len() > LONGEST_IDENTIFIER || !self.admits_value() {
            return;
        }
        self.standard |= matches!(series.member, SeriesMember::Standard(kind, _) if kind.is_rtp());
        if !self.objects.contains_key(identifier) {
            self.order.push(identifier.to_owned());
        }
        self.objects.entry(identifier.to_owned()).or_default().push(series);
    }

    /// Enters all series into the table.
    pub(super) fn enter(self, connection: ConnectionNumber, table: &mut StatisticsTable) {
        let Self { mut objects, order, standard, values } = self;
        if values > MOST_VALUES {
            table.leave_out();
        }
        for identifier in order {
            let Some(mut all) = objects.remove(&identifier) else { continue };
            all.sort_by_key(|series| series.member.rank());
            let times = all.iter().find(|series| series.member == SeriesMember::Times);
            let clock = ObjectClock::of(times);
            for series in &all {
                let (kind, suffix) = match series.member {
                    SeriesMember::Times => continue,
                    SeriesMember::Standard(kind, _) => (kind, ""),
                    // Dumps of some years have both; each value counts once.
                    SeriesMember::Legacy(_) if standard => continue,
                    SeriesMember::Legacy(LegacyMember { kind, suffix, .. }) => (kind, suffix),
                };
                let own = format!("{identifier}{suffix}");
                if let Some(object) = table.object(connection, &own, kind) {
                    enter(series, &clock, object, table);
                }
            }
        }
    }
}

/// The times of an object's values in ms, and that of the last.
struct ObjectClock<'a> {
    times: &'a [f64],
    /// The least of the last times, of so many and one; a time that is no number is less than any.
    least: Vec<f64>,
    end: Option<f64>,
}

impl<'a> ObjectClock<'a> {
    fn of(series: Option<&'a PendingSeries>) -> Self {
        match series {
            Some(PendingSeries { values: SeriesValues::Numbers(times), end, .. }) => {
                let least = times.iter().rev().scan(f64::INFINITY, |least, &time| {
                    *least = least.min(if time.is_nan() { f64::NEG_INFINITY } else { time });
                    Some(*least)
                });
                Self { times, least: least.collect(), end: *end }
            }
            _ => Self { times: &[], least: Vec::new(), end: None },
        }
    }

    /// Times after the last value of `series`, which ends with the clock or, where it says so, before.
    fn later(&self, series: &PendingSeries) -> usize {
        // Within a millisecond, to which dumps round the ends.
        let own_end = if series.end < self.end { series.end } else { None };
        let later = own_end.map_or(0, |end| self.least.partition_point(|&least| least >= end + 1.0));
        if later + series.values.len() > self.times.len() { 0 } else { later }
    }

    /// Time in µs of the value `index` of `series`, after which the clock has `later` times.
    fn time(&self, series: &PendingSeries, index: usize, later: usize) -> Option<i64> {
        let length = series.values.len();
        let behind = length - index;
        if self.times.is_empty() {
            let end = series.end.unwrap_or(0.0);
            let steps = length.saturating_sub(1).max(1) as f64;
            let step = series.start.map_or(1000.0, |start| (end - start) / steps);
            return Some(microseconds(end - step * (behind - 1) as f64));
        }
        let place = self.times.len().checked_sub(behind + later)?;
        Some(self.times[place]).filter(|time| time.is_finite()).map(microseconds)
    }
}

fn enter(series: &PendingSeries, clock: &ObjectClock<'_>, object: ObjectNumber, table: &mut StatisticsTable) {
    let later = clock.later(series);
    let mut put = |index: usize, value: StatisticsValue, member: StatisticsMember| {
        if let Some(time) = clock.time(series, index, later) {
            table.add(object, member, time, &value);
        }
    };
    let (member, factor) = match series.member {
        SeriesMember::Legacy(LegacyMember { meaning: LegacyMeaning::Scaled(member, factor), .. }) => {
            (Some(member), factor)
        }
        member => (member.statistic(), 1.0),
    };
    match (&series.values, member) {
        (SeriesValues::Numbers(numbers), Some(member)) => {
            for (index, number) in numbers.iter().enumerate().filter(|(_, number)| !number.is_nan()) {
                put(index, StatisticsValue::Number(number * factor), member);
            }
        }
        (SeriesValues::Durations(all), Some(member)) => {
            for (index, durations) in all.iter().enumerate() {
                let known = durations.map(|seconds| (!seconds.is_nan()).then_some(seconds));
                put(index, StatisticsValue::Durations(known), member);
            }
        }
        (SeriesValues::Labels(labels), member) => {
            let name = match member {
                Some(StatisticsMember::Label(name, _)) => name,
                _ => "qualityLimitationReason",
            };
            for (index, label) in labels.iter().enumerate().filter(|(_, label)| !label.is_empty()) {
                if let Some(time) = clock.time(series, index, later) {
                    table.add_label(object, name, time, label);
                }
            }
        }
        (SeriesValues::Numbers(_) | SeriesValues::Durations(_), None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_after_a_series_are_those_at_the_end_that_are_all_later() {
        let series = |end: f64, values: Vec<f64>| PendingSeries {
            member: SeriesMember::Times,
            start: None,
            end: Some(end),
            values: SeriesValues::Numbers(values),
        };
        let times = series(9000.0, vec![5000.0, 1000.0, f64::NAN, 3000.0, 2000.0, 8000.0, 9000.0]);
        let clock = ObjectClock::of(Some(&times));
        let later = |end| clock.later(&series(end, vec![0.0]));
        assert_eq!([8500.0, 2500.0, 1999.0, 1500.0, -7.0, 9000.0].map(later), [1, 2, 4, 4, 4, 0]);
        // More values than times before the later ones.
        assert_eq!(clock.later(&series(2500.0, vec![0.0; 6])), 0);
    }
}
