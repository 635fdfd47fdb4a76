//! Grouping of packets into video frames and the one-way delay gradient between frames (gcc-2016 §3.3, eq. (4)).

use weir_units::{DataSize, TimeDelta};

use crate::packet::Arrival;
use crate::time::{ArrivalTime, SendTime};

/// Sample of the queuing delay gradient from two consecutive frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FrameSample {
    /// `d(t_i) = (t_i − t_{i−1}) − (T_i − T_{i−1})`: positive while the queue grows. gcc-2016 eq. (4).
    pub gradient: TimeDelta,
    /// `T_i − T_{i−1}`: between the departures of the frames' first packets.
    pub inter_departure: TimeDelta,
    /// `t_i`: arrival of the frame's last packet.
    pub arrival: ArrivalTime,
    /// Bytes of the frame.
    pub size: DataSize,
}

/// Grouping of packets with the same media time. `T_i` is the departure of a frame's first packet, `t_i` the arrival
/// of its last. A frame is complete when a packet of a newer frame arrives, so that the loss of its last packet does
/// not matter.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    silence: TimeDelta,
    current: Option<PacketGroup>,
    previous: Option<PacketGroup>,
}

#[derive(Clone, Copy, Debug)]
struct PacketGroup {
    media_time: u64,
    first_departure: SendTime,
    last_arrival: ArrivalTime,
    size: DataSize,
}

impl PacketGroup {
    fn begin(packet: &Arrival) -> Self {
        Self {
            media_time: packet.media_time,
            first_departure: packet.departure,
            last_arrival: packet.at,
            size: packet.size,
        }
    }
}

/// Result of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GroupingResult {
    /// No complete frame yet.
    Pending,
    /// A frame is complete and there was one before it.
    Sample(FrameSample),
    /// Grouping has restarted after a long gap: estimates of the gradient are out of date.
    Restarted,
}

impl Frames {
    /// A grouping that restarts after `silence` without a packet.
    pub(crate) fn new(silence: TimeDelta) -> Self {
        Self { silence, current: None, previous: None }
    }

    /// Takes a packet that has arrived. Packets of frames older than the current one are ignored.
    pub(crate) fn on_arrival(&mut self, packet: &Arrival) -> GroupingResult {
        let Some(current) = &mut self.current else {
            self.current = Some(PacketGroup::begin(packet));
            return GroupingResult::Pending;
        };
        if packet.at - current.last_arrival > self.silence {
            *self = Self::new(self.silence);
            self.current = Some(PacketGroup::begin(packet));
            return GroupingResult::Restarted;
        }
        if packet.media_time < current.media_time {
            return GroupingResult::Pending;
        }
        if packet.media_time == current.media_time {
            current.first_departure = current.first_departure.min(packet.departure);
            current.last_arrival = current.last_arrival.max(packet.at);
            current.size += packet.size;
            return GroupingResult::Pending;
        }
        let complete = *current;
        *current = PacketGroup::begin(packet);
        match self.previous.replace(complete) {
            Some(previous) => GroupingResult::Sample(sample(&previous, &complete)),
            None => GroupingResult::Pending,
        }
    }
}

fn sample(previous: &PacketGroup, complete: &PacketGroup) -> FrameSample {
    let inter_departure = complete.first_departure - previous.first_departure;
    FrameSample {
        gradient: (complete.last_arrival - previous.last_arrival) - inter_departure,
        inter_departure,
        arrival: complete.last_arrival,
        size: complete.size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn packet(media_time: u64, departure_ms: i64, at_ms: i64) -> Arrival {
        let (departure, at) = (SendTime::from_millis(departure_ms), ArrivalTime::from_millis(at_ms));
        Arrival { media_time, ..Arrival::new(0, departure, at, DataSize::from_bytes(1000)) }
    }

    #[test]
    fn gradient_spans_first_departures_and_last_arrivals() {
        let mut frames = Frames::new(TimeDelta::from_secs(2));
        // Frame 0: packets leave at 0 and 5 ms, arrive at 1025 and 1030 ms. Frame 1: leave at 33 and 38, arrive at
        // 1058 and 1070. d = (1070 - 1030) - (33 - 0) = 7 ms.
        for (media_time, departure, at) in [(0, 0, 1025), (0, 5, 1030), (3000, 33, 1058), (3000, 38, 1070)] {
            assert_eq!(frames.on_arrival(&packet(media_time, departure, at)), GroupingResult::Pending);
        }
        let GroupingResult::Sample(sample) = frames.on_arrival(&packet(6000, 66, 1091)) else {
            panic!("no sample")
        };
        assert_eq!(sample.gradient, TimeDelta::from_millis(7));
        assert_eq!(sample.inter_departure, TimeDelta::from_millis(33));
        assert_eq!(sample.arrival, ArrivalTime::from_millis(1070));
        assert_eq!(sample.size, DataSize::from_bytes(2000));
    }

    #[test]
    fn packets_of_older_frames_are_ignored() {
        let mut frames = Frames::new(TimeDelta::from_secs(2));
        frames.on_arrival(&packet(0, 0, 25));
        frames.on_arrival(&packet(3000, 33, 58));
        assert_eq!(frames.on_arrival(&packet(0, 1, 60)), GroupingResult::Pending);
        let GroupingResult::Sample(sample) = frames.on_arrival(&packet(6000, 66, 91)) else {
            panic!("no sample")
        };
        assert_eq!(sample.gradient, TimeDelta::ZERO);
    }

    #[test]
    fn a_lost_frame_makes_a_sample_over_two_intervals() {
        let mut frames = Frames::new(TimeDelta::from_secs(2));
        frames.on_arrival(&packet(0, 0, 25));
        frames.on_arrival(&packet(6000, 66, 95));
        let GroupingResult::Sample(sample) = frames.on_arrival(&packet(9000, 100, 125)) else {
            panic!("no sample")
        };
        assert_eq!(sample.gradient, TimeDelta::from_millis(4));
        assert_eq!(sample.inter_departure, TimeDelta::from_millis(66));
    }

    #[test]
    fn silence_starts_anew() {
        let mut frames = Frames::new(TimeDelta::from_secs(2));
        frames.on_arrival(&packet(0, 0, 25));
        frames.on_arrival(&packet(3000, 33, 58));
        assert_eq!(frames.on_arrival(&packet(300_000, 3333, 3360)), GroupingResult::Restarted);
        assert_eq!(frames.on_arrival(&packet(303_000, 3366, 3391)), GroupingResult::Pending);
    }

    #[test]
    fn within_a_frame_the_order_of_packets_does_not_matter() {
        let mut frames = Frames::new(TimeDelta::from_secs(2));
        frames.on_arrival(&packet(0, 0, 25));
        // The frame's second packet comes first, and its first one is reported with an earlier arrival.
        frames.on_arrival(&packet(3000, 38, 70));
        frames.on_arrival(&packet(3000, 33, 58));
        // T = 33 − 0, t = 70 − 25: d = 12 ms.
        let GroupingResult::Sample(sample) = frames.on_arrival(&packet(6000, 66, 91)) else {
            panic!("no sample")
        };
        assert_eq!(sample.inter_departure, TimeDelta::from_millis(33));
        assert_eq!(
            (sample.gradient, sample.arrival),
            (TimeDelta::from_millis(12), ArrivalTime::from_millis(70))
        );
    }

    #[test]
    fn two_seconds_are_no_silence_yet() {
        let mut frames = Frames::new(TimeDelta::from_secs(2));
        frames.on_arrival(&packet(0, 0, 25));
        frames.on_arrival(&packet(3000, 33, 58));
        let GroupingResult::Sample(sample) = frames.on_arrival(&packet(6000, 66, 2058)) else {
            panic!("no sample")
        };
        assert_eq!(sample.gradient, TimeDelta::ZERO);
    }
}
