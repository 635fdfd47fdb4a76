//! Checks of a recorded call that the types do not make.

use super::{ArrivalClock, FORMAT_VERSION, MOST_BEYOND_US, MOST_PACKETS, OptionalInteger, RecordedCall};

/// Greatest length of a call, and greatest time of an arrival by another clock, in µs: 6000 years.
const MOST_TIME_US: i64 = 200_000_000_000_000_000;
/// Most bytes of a packet.
const MOST_PACKET_BYTES: u32 = 65_535;
/// Greatest unwrapped number of a packet: calculations with two of them do not overflow.
const MOST_NUMBER: i64 = 1 << 47;
/// Range of the count of lost packets in a receiver report: 24 bits with a sign (RFC 3550 §6.4.1).
const CUMULATIVE_LOST: core::ops::Range<i32> = -0x80_0000..0x80_0000;
/// Most reports that are missed before another, whose number has eight bits.
const MOST_MISSED: u32 = 255;

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

/// Refuses the first row of `column` that is not right.
fn each<T: Copy + core::fmt::Debug>(
    name: &str,
    column: &[T],
    is_right: impl Fn(T) -> bool,
    right: impl FnOnce() -> String,
) -> Result<(), MalformedCall> {
    match column.iter().position(|&value| !is_right(value)) {
        Some(row) => fault(format!("{name}[{row}] is {:?}; {}", column[row], right())),
        None => Ok(()),
    }
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
        let near = |time: i64| (-MOST_BEYOND_US..=duration + MOST_BEYOND_US).contains(&time);
        let right = || format!("the call lasts {duration} µs, and its times are within an hour of it");
        for (table, column) in self.time_columns() {
            each(&format!("{table}.time_us"), column, near, right)?;
        }
        let counters = self.counters.iter().map(|series| &series.time_us);
        for column in counters.chain(self.labels.iter().map(|series| &series.time_us)) {
            each("time_us of statistics", column, near, right)?;
        }
        let known_near = |time: OptionalInteger| time.get().is_none_or(near);
        each("packets.sent_us", &self.packets.sent_us, known_near, right)?;
        each("packets.reported_us", &self.packets.reported_us, known_near, right)?;
        let arrivals = &self.packets.arrived_us;
        if self.arrival_clock == ArrivalClock::Common {
            return each("packets.arrived_us", arrivals, known_near, right);
        }
        let is_time =
            |time: OptionalInteger| time.get().is_none_or(|time| time.unsigned_abs() <= MOST_TIME_US as u64);
        each("packets.arrived_us", arrivals, is_time, || format!("it is {MOST_TIME_US} at most"))?;
        let known = || arrivals.iter().filter_map(|time| time.get());
        let span = known().max().zip(known().min()).map_or(0, |(last, first)| last - first);
        if span > duration + MOST_BEYOND_US {
            return fault(format!(
                "packets.arrived_us span {span} µs; the call lasts {duration} µs, and they span an hour more at most"
            ));
        }
        Ok(())
    }

    fn check_ranges(&self) -> Result<(), MalformedCall> {
        let packets = &self.packets;
        let bytes = || format!("a packet has {MOST_PACKET_BYTES} at most");
        each("packets.payload_bytes", &packets.payload_bytes, |bytes| bytes <= MOST_PACKET_BYTES, bytes)?;
        each(
            "packet_overhead_bytes",
            &[self.packet_overhead_bytes],
            |bytes| bytes <= MOST_PACKET_BYTES,
            bytes,
        )?;
        let is_number = |number: i64| number.unsigned_abs() <= MOST_NUMBER as u64;
        let number = || format!("it is {MOST_NUMBER} at most");
        each("packets.sequence", &packets.sequence, is_number, number)?;
        each("packets.number", &packets.number, |own| own.get().is_none_or(is_number), number)?;
        let trip = || format!("a round trip takes 0 to {MOST_BEYOND_US} µs");
        each(
            "round_trips.rtt_us",
            &self.round_trips.rtt_us,
            |rtt| (0..=MOST_BEYOND_US).contains(&rtt),
            trip,
        )?;
        let lost = || format!("it is from {} to {}", CUMULATIVE_LOST.start, CUMULATIVE_LOST.end - 1);
        let reports = &self.receiver_reports.cumulative_lost;
        each("receiver_reports.cumulative_lost", reports, |lost| CUMULATIVE_LOST.contains(&lost), lost)?;
        let covered = || format!("a report covers {MOST_PACKETS} packets at most");
        let is_count = |count: u32| count as usize <= MOST_PACKETS;
        each("feedback.packets", &self.feedback.packets, is_count, covered)?;
        each("feedback.lost", &self.feedback.lost, is_count, covered)?;
        let missed = || format!("{MOST_MISSED} reports are missed before another at most");
        each("feedback.missed", &self.feedback.missed, |missed| missed <= MOST_MISSED, missed)?;
        let streams = [
            ("packets.stream", &packets.stream),
            ("receiver_reports.stream", &self.receiver_reports.stream),
            ("key_frame_requests.stream", &self.key_frame_requests.stream),
            ("nacks.stream", &self.nacks.stream),
        ];
        let all = self.streams.len();
        for (name, column) in streams {
            let is_stream = |stream: u16| usize::from(stream) < all;
            each(name, column, is_stream, || format!("there are {all} streams, from 0"))?;
        }
        Ok(())
    }
}
