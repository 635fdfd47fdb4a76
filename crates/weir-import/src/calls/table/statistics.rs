//! A table of statistics.

use std::io::Read;

use weir_world::RecordedCall;

use super::rows::TableRows;
use super::{TableCell, time_column};
use crate::calls::counters::collect::StatisticsTable;
use crate::calls::counters::names::{StatisticsKind, StatisticsMember};
use crate::calls::counters::value::StatisticsValue;
use crate::calls::{CallImportError, CallOptions};

/// Most columns.
const MOST_COLUMNS: usize = 2000;

pub(super) fn read<R: Read>(
    names: &[String],
    records: &mut TableRows<R>,
    options: &CallOptions,
) -> Result<RecordedCall, CallImportError> {
    if names.len() > MOST_COLUMNS {
        let problem = format!("there are {} columns; {MOST_COLUMNS} are the most", names.len());
        return Err(CallImportError::at("line 1", problem));
    }
    let mut table = StatisticsTable::default();
    let connection = table.connection("");
    let mut time = None;
    let mut columns = Vec::new();
    for (column, name) in names.iter().enumerate() {
        if let (None, Some(micros)) = (time, time_column(name, "t")) {
            time = Some((column, micros));
            continue;
        }
        let (identifier, kind, member) = statistic(name)?;
        let object = connection.and_then(|connection| table.object(connection, identifier, kind));
        if let Some(object) = object {
            columns.push((column, object, member));
        }
    }
    let Some((time, micros)) = time else {
        return Err(CallImportError::at("line 1", "no column has times: t_us, t_ms or t_s"));
    };
    for record in records {
        let record = record?;
        let cell = |column: usize| TableCell { record: &record, column, name: &names[column] };
        let time_us = cell(time).time_us(micros)?.ok_or_else(|| cell(time).fault("each row needs a time"))?;
        for &(column, object, member) in &columns {
            let cell = cell(column);
            let value = match member {
                StatisticsMember::Number(_) | StatisticsMember::Source => {
                    cell.number()?.map(StatisticsValue::Number)
                }
                StatisticsMember::Label(..) => Some(cell.text())
                    .filter(|text| !text.is_empty())
                    .map(|text| StatisticsValue::Text(text.to_owned())),
                StatisticsMember::Durations => None,
            };
            if let Some(value) = value {
                table.add(object, member, time_us, &value);
            }
        }
    }
    table.finish(options)
}

/// The object, its type and the member that a column is about.
fn statistic(name: &str) -> Result<(&str, StatisticsKind, StatisticsMember), CallImportError> {
    let parsed = || {
        let (identifier, member) = name.rsplit_once('.')?;
        let kind = identifier.rsplit_once('.').map_or(identifier, |(_, kind)| kind);
        let kind = match kind {
            "out" => StatisticsKind::Outbound,
            "in" => StatisticsKind::Inbound,
            "remoteIn" => StatisticsKind::RemoteInbound,
            "remoteOut" => StatisticsKind::RemoteOutbound,
            "pair" => StatisticsKind::CandidatePair,
            "source" => StatisticsKind::MediaSource,
            other => StatisticsKind::of_name(other)?,
        };
        Some((identifier, kind, StatisticsMember::of_name(member)?))
    };
    parsed().ok_or_else(|| {
        let problem = format!(
            "the column `{name}` is unknown; allowed are one of t_us, t_ms and t_s, and numbers of W3C webrtc-stats \
             such as outbound-rtp.bytesSent or A.pair.currentRoundTripTime"
        );
        CallImportError::at("line 1", problem)
    })
}
