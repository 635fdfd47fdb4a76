//! Inputs of a replay in order of time.

use std::ops::Range;

use weir_cc::{DataSize, TimeDelta};
use weir_world::RecordedCall;
use weir_world::recorded::{ArrivalClock, PacketRow, RecordingSource};

use super::departures::departures;

/// An input of the controller, or of its receiver half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplayInput {
    /// The packet of this row reached the receiver.
    Arrived(u32),
    /// The packet of this row left.
    Sent(u32),
    /// A per-packet report came, about these places of [`ReplaySchedule::reported`], with so many reports missed before it.
    Report(Range<u32>, u8),
    /// The receiver report of this row came.
    Reception(u32),
    /// A receiver's upper bound came.
    Ceiling(u64),
    /// A probe cluster was created: its row.
    Cluster(u32),
    /// The source begins or ends to limit the rate.
    ApplicationLimited(bool),
    /// The route is another one.
    RouteChanged,
}

impl ReplayInput {
    /// Order among inputs of one time: a report asks for a cluster and releases packets, and a cluster is known before its first
    /// packet leaves.
    const fn rank(&self) -> u8 {
        match self {
            Self::Cluster(_) => 1,
            Self::Sent(_) => 2,
            _ => 0,
        }
    }
}

/// The inputs of a call in order of time.
#[derive(Debug, Default)]
pub(super) struct ReplaySchedule {
    pub(super) inputs: Vec<(i64, ReplayInput)>,
    /// Rows in the order of their reports.
    pub(super) reported: Vec<u32>,
    /// Departures in µs, where they are known: by row.
    pub(super) departures: Vec<Option<i64>>,
    /// Arrivals by the clock of departures in µs, where they are known: by row.
    pub(super) arrivals: Vec<Option<i64>>,
    /// Round trips by their time, in order.
    round_trips: Vec<(i64, i64)>,
    /// Time from a report to its arrival at the sender, as half of the shortest round trip.
    pub(super) way_back: i64,
}

/// Shortest time between two reports that are made for a call without them.
const FEEDBACK_INTERVAL_US: i64 = 50_000;
/// Way back of a call without any round trip.
const DEFAULT_WAY_BACK_US: i64 = 25_000;

impl ReplaySchedule {
    /// The inputs of `call`. With `own_receiver` arrivals are among them, and per-packet reports are not.
    pub(super) fn of(call: &RecordedCall, feedback_interval: Option<TimeDelta>, own_receiver: bool) -> Self {
        let way_back = call.round_trips.rtt_us.iter().min().map_or(DEFAULT_WAY_BACK_US, |rtt| rtt / 2);
        let mut round_trips: Vec<(i64, i64)> =
            call.round_trips.rows().map(|trip| (trip.time_us, trip.rtt_us)).collect();
        round_trips.sort_by_key(|&(at, _)| at);
        let mut schedule = Self { round_trips, way_back, ..Self::default() };
        schedule.arrivals = arrivals(call, way_back);
        schedule.departures = departures(call);
        let counts = |packet: &PacketRow| packet.number.is_known();
        let numbered = call.packets.rows().any(|packet| counts(&packet));
        for (row, packet) in call.packets.rows().enumerate() {
            // Packets without a number are outside of feedback where others have one.
            if let Some(sent) = schedule.departures[row]
                && (counts(&packet) || !numbered)
            {
                schedule.inputs.push((sent, ReplayInput::Sent(row as u32)));
                if own_receiver && let Some(arrived) = schedule.arrivals[row] {
                    schedule.inputs.push((arrived, ReplayInput::Arrived(row as u32)));
                }
            }
        }
        if !own_receiver {
            if call.has_feedback() {
                schedule.recorded_reports(call);
            } else {
                let interval =
                    feedback_interval.map_or(FEEDBACK_INTERVAL_US, |interval| interval.nanos() / 1000);
                schedule.made_reports(call, interval.max(1000));
            }
        }
        let others = [
            call.receiver_reports
                .time_us
                .iter()
                .enumerate()
                .map(|(row, &at)| (at, ReplayInput::Reception(row as u32)))
                .collect(),
            call.ceilings.rows().map(|row| (row.time_us, ReplayInput::Ceiling(row.bps))).collect(),
            call.probe_clusters
                .time_us
                .iter()
                .enumerate()
                .map(|(row, &at)| (at, ReplayInput::Cluster(row as u32)))
                .collect(),
            call.application_limits
                .rows()
                .map(|row| (row.time_us, ReplayInput::ApplicationLimited(row.limited != 0)))
                .collect(),
            // The first route is that of the whole call before.
            call.route_changes
                .rows()
                .skip(1)
                .map(|row| (row.time_us, ReplayInput::RouteChanged))
                .collect::<Vec<_>>(),
        ];
        schedule.inputs.extend(others.into_iter().flatten());
        schedule.inputs.sort_by_key(|(at, input)| (*at, input.rank()));
        schedule
    }

    /// The round trip that was measured at `at`.
    pub(super) fn round_trip_at(&self, at: i64) -> Option<i64> {
        let next = self.round_trips.partition_point(|&(time, _)| time < at);
        self.round_trips.get(next).filter(|&&(time, _)| time == at).map(|&(_, rtt)| rtt)
    }

    /// Reports as they came: packets of one time are one report.
    fn recorded_reports(&mut self, call: &RecordedCall) {
        let packets = &call.packets;
        let at = |row: u32| packets.reported_us[row as usize].get();
        self.reported = (0..packets.len() as u32).filter(|&row| at(row).is_some()).collect();
        self.reported.sort_by_key(|&row| at(row));
        let mut missed = call.feedback.rows().peekable();
        let mut first = 0;
        for group in self.reported.chunk_by(|&one, &next| at(one) == at(next)) {
            let (time, next) = (at(group[0]).unwrap_or(0), first + group.len() as u32);
            let mut lost_reports = 0;
            while let Some(report) = missed.next_if(|report| report.time_us <= time) {
                lost_reports += report.missed;
            }
            self.inputs.push((time, ReplayInput::Report(first..next, lost_reports.min(255) as u8)));
            first = next;
        }
    }

    /// Reports each `interval` µs about the packets that have arrived, and about the holes before them.
    fn made_reports(&mut self, call: &RecordedCall, interval: i64) {
        let mut rows: Vec<u32> = (0..call.packets.len() as u32).collect();
        rows.retain(|&row| call.packets.sent_us[row as usize].is_known());
        let Some(newest_arrival) = self.arrivals.iter().flatten().max().copied() else { return };
        // The places of arrived rows by the time from which a report may have them.
        let known_at = |(place, &row): (usize, &u32)| {
            let (sent, arrived) = (call.packets.sent_us[row as usize].get()?, self.arrivals[row as usize]?);
            Some((arrived.max(sent), place))
        };
        let mut arrived: Vec<(i64, usize)> = rows.iter().enumerate().filter_map(known_at).collect();
        arrived.sort_unstable();
        let mut arrived = arrived.into_iter().peekable();
        // End of the reported rows, and of those up to the newest that has arrived.
        let (mut due, mut first, mut end) = (interval, 0, 0);
        while due < newest_arrival + 2 * interval {
            while let Some((_, place)) = arrived.next_if(|&(at, _)| at <= due) {
                end = end.max(place + 1);
            }
            if end > first {
                let start = self.reported.len() as u32;
                self.reported.extend_from_slice(&rows[first..end]);
                self.inputs
                    .push((due + self.way_back, ReplayInput::Report(start..self.reported.len() as u32, 0)));
                first = end;
            }
            due += interval;
        }
    }
}

/// Arrivals by the sender's clock. The offset of the receiver's clock is not known: the shortest time from an arrival to its report
/// counts as the way back.
fn arrivals(call: &RecordedCall, way_back: i64) -> Vec<Option<i64>> {
    let offset = match call.arrival_clock {
        ArrivalClock::Common => 0,
        ArrivalClock::Receiver => {
            let held = call.packets.rows().filter_map(|packet| {
                Some(packet.reported_us.get().or(packet.sent_us.get())? - packet.arrived_us.get()?)
            });
            let least = held.min().unwrap_or(0);
            let offset = if call.has_feedback() { least - way_back } else { least + way_back };
            // Whole milliseconds: controllers round arrivals to them, and must do so as in the call.
            offset.div_euclid(1000) * 1000
        }
    };
    call.packets.arrived_us.iter().map(|arrived| Some(arrived.get()? + offset)).collect()
}

/// Bytes of a packet: those beside the counted ones, and the counted ones. Browsers count headers, Weir's endpoints payload.
pub(super) fn sizes(call: &RecordedCall, packet: &PacketRow) -> (DataSize, DataSize) {
    let bytes = |bytes: u32| DataSize::from_bytes(u64::from(bytes));
    if call.packet_overhead_bytes > 0 && call.source != RecordingSource::Weir {
        (DataSize::ZERO, bytes(call.wire_bytes(packet)))
    } else {
        (bytes(u32::from(packet.header_bytes)), bytes(packet.payload_bytes + u32::from(packet.padding_bytes)))
    }
}
