//! Checks of a recorded call that the types do not make.

use core::ops::RangeInclusive;

use super::{ArrivalClock, FORMAT_VERSION, MOST_BEYOND_US, MOST_PACKETS, OptionalInteger, RecordedCall};

/// Greatest length of a call, and greatest time of an arrival by another clock, in µs: 6000 years.
const MOST_TIME_US: i64 = 200_000_000_000_000_000;
/// Most bytes of a packet.
const MOST_PACKET_BYTES: i64 = 65_535;
/// Greatest unwrapped number of a packet: calculations with two of them do not overflow.
const MOST_NUMBER: i64 = 1 << 47;
/// Range of the count of lost packets in a receiver report: 24 bits with a sign (RFC 3550 §6.4.1).
const CUMULATIVE_LOST: RangeInclusive<i64> = -0x80_0000..=0x7F_FFFF;
/// Most reports that are missed before another, whose number has eight bits.
const MOST_MISSED: i64 = 255;

/// A fault of a recorded call: place and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedCall(String);

impl core::fmt::Display for MalformedCall {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for MalformedCall {}

fn fault<T>(text: String) -> Result<T, MalformedCall> {
    Err(MalformedCall(text))
}

/// Refuses the first value of a column that is known and out of its range.
fn each(
    name: &str,
    column: impl Iterator<Item = Option<i64>>,
    range: &RangeInclusive<i64>,
    right: &str,
) -> Result<(), MalformedCall> {
    let wrong =
        |(row, value): (usize, Option<i64>)| Some((row, value.filter(|value| !range.contains(value))?));
    match column.enumerate().find_map(wrong) {
        Some((row, value)) => fault(format!("{name}[{row}] is {value}; {right}")),
        None => Ok(()),
    }
}

/// The values of a column without unknown ones.
fn wide<T: Copy + Into<i64>>(column: &[T]) -> impl Iterator<Item = Option<i64>> {
    column.iter().map(|&value| Some(value.into()))
}

/// The values of a column that may be unknown.
fn known(column: &[OptionalInteger]) -> impl Iterator<Item = Option<i64>> {
    column.iter().map(|value| value.get())
}

impl RecordedCall {
    /// Checks what the types do not: version, lengths of columns, stream numbers, ranges and order of times.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), MalformedCall> {
        if self.version != FORMAT_VERSION {
            return fault(format!("version is {}; this build reads version {FORMAT_VERSION}", self.version));
        }
        self.check_lengths()?;
        self.check_times()?;
        self.check_ranges()?;
        let order = || self.packets.rows().map(|packet| packet.order_us());
        if let Some(row) = order().zip(order().skip(1)).position(|(one, next)| next < one) {
            return fault(format!("packets row {} is earlier than the row before it", row + 1));
        }
        Ok(())
    }

    fn check_lengths(&self) -> Result<(), MalformedCall> {
        let uneven = [
            ("packets", self.packets.uneven()),
            ("feedback", self.feedback.uneven()),
            ("receiver_reports", self.receiver_reports.uneven()),
            ("round_trips", self.round_trips.uneven()),
            ("targets", self.targets.uneven()),
            ("encoder_targets", self.encoder_targets.uneven()),
            ("ceilings", self.ceilings.uneven()),
            ("delay_estimates", self.delay_estimates.uneven()),
            ("loss_estimates", self.loss_estimates.uneven()),
            ("probe_clusters", self.probe_clusters.uneven()),
            ("probe_outcomes", self.probe_outcomes.uneven()),
            ("application_limits", self.application_limits.uneven()),
            ("route_changes", self.route_changes.uneven()),
            ("frames", self.frames.uneven()),
            ("decoded_frames", self.decoded_frames.uneven()),
            ("key_frame_requests", self.key_frame_requests.uneven()),
            ("nacks", self.nacks.uneven()),
        ];
        if let Some((name, uneven)) = uneven.into_iter().find_map(|(name, uneven)| Some((name, uneven?))) {
            return fault(uneven.describe(name));
        }
        for series in &self.counters {
            if series.time_us.len() != series.values.len() {
                return fault(format!(
                    "the counter {} has {} times and {} values; there are as many",
                    series.name,
                    series.time_us.len(),
                    series.values.len()
                ));
            }
        }
        for series in &self.labels {
            let unknown = series.values.iter().any(|&value| usize::from(value) >= series.labels.len());
            if unknown || series.time_us.len() != series.values.len() {
                return fault(format!("the labels of {} do not fit its values", series.name));
            }
        }
        Ok(())
    }

    /// Checks that no time is far from the call, so that no use of it takes the time of a wild one.
    fn check_times(&self) -> Result<(), MalformedCall> {
        let duration = self.duration_us;
        if !(0..=MOST_TIME_US).contains(&duration) {
            return fault(format!("duration_us is {duration}; it is from 0 to {MOST_TIME_US}"));
        }
        let near = -MOST_BEYOND_US..=duration + MOST_BEYOND_US;
        let right = format!("the call lasts {duration} µs, and its times are within an hour of it");
        for (table, column) in self.time_columns() {
            each(&format!("{table}.time_us"), wide(column), &near, &right)?;
        }
        let counters = self.counters.iter().map(|series| &series.time_us);
        for column in counters.chain(self.labels.iter().map(|series| &series.time_us)) {
            each("time_us of statistics", wide(column), &near, &right)?;
        }
        each("packets.sent_us", known(&self.packets.sent_us), &near, &right)?;
        each("packets.reported_us", known(&self.packets.reported_us), &near, &right)?;
        let arrivals = || known(&self.packets.arrived_us);
        if self.arrival_clock == ArrivalClock::Common {
            return each("packets.arrived_us", arrivals(), &near, &right);
        }
        let any = -MOST_TIME_US..=MOST_TIME_US;
        each("packets.arrived_us", arrivals(), &any, &format!("it is {MOST_TIME_US} at most"))?;
        let arrivals = || arrivals().flatten();
        let span = arrivals().max().zip(arrivals().min()).map_or(0, |(last, first)| last - first);
        if span > duration + MOST_BEYOND_US {
            return fault(format!(
                "packets.arrived_us span {span} µs; the call lasts {duration} µs, and they span an hour more at most"
            ));
        }
        Ok(())
    }

    fn check_ranges(&self) -> Result<(), MalformedCall> {
        let packets = &self.packets;
        let bytes = format!("a packet has {MOST_PACKET_BYTES} at most");
        each("packets.payload_bytes", wide(&packets.payload_bytes), &(0..=MOST_PACKET_BYTES), &bytes)?;
        each("packet_overhead_bytes", wide(&[self.packet_overhead_bytes]), &(0..=MOST_PACKET_BYTES), &bytes)?;
        let number = format!("it is {MOST_NUMBER} at most");
        each("packets.sequence", wide(&packets.sequence), &(-MOST_NUMBER..=MOST_NUMBER), &number)?;
        each("packets.number", known(&packets.number), &(-MOST_NUMBER..=MOST_NUMBER), &number)?;
        let trip = format!("a round trip takes 0 to {MOST_BEYOND_US} µs");
        each("round_trips.rtt_us", wide(&self.round_trips.rtt_us), &(0..=MOST_BEYOND_US), &trip)?;
        let lost = format!("it is from {} to {}", CUMULATIVE_LOST.start(), CUMULATIVE_LOST.end());
        let reports = wide(&self.receiver_reports.cumulative_lost);
        each("receiver_reports.cumulative_lost", reports, &CUMULATIVE_LOST, &lost)?;
        let covered = format!("a report covers {MOST_PACKETS} packets at most");
        let counts = 0..=MOST_PACKETS as i64;
        each("feedback.packets", wide(&self.feedback.packets), &counts, &covered)?;
        each("feedback.lost", wide(&self.feedback.lost), &counts, &covered)?;
        let missed = format!("{MOST_MISSED} reports are missed before another at most");
        each("feedback.missed", wide(&self.feedback.missed), &(0..=MOST_MISSED), &missed)?;
        let streams = [
            ("packets.stream", &packets.stream),
            ("receiver_reports.stream", &self.receiver_reports.stream),
            ("key_frame_requests.stream", &self.key_frame_requests.stream),
            ("nacks.stream", &self.nacks.stream),
        ];
        let all = self.streams.len();
        let right = format!("there are {all} streams, from 0");
        for (name, column) in streams {
            each(name, wide(column), &(0..=all as i64 - 1), &right)?;
        }
        Ok(())
    }
}
