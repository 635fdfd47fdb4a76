//! Receiver half of SCReAM: reports on single packets, sent more often at higher receive rates.

use weir_units::{DataRate, TimeDelta};

use crate::controller::Receiver;
use crate::packet::Arrival;
use crate::packet_feedback::PacketFeedback;
use crate::parts::receive_rate::ReceiveRate;
use crate::report::Report;
use crate::time::ArrivalTime;

/// Window of the receive rate that sets the cadence.
const RATE_WINDOW: TimeDelta = TimeDelta::from_millis(500);

/// Rule of the report interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cadence {
    /// Reports per bit received.
    pub(super) per_bit: f64,
    /// Lowest rate of reports, per second.
    pub(super) min: f64,
    /// Highest rate of reports, per second, the ends of frames aside.
    pub(super) max: f64,
    /// Whether the last packet of a frame is reported at once.
    pub(super) frame_end: bool,
}

/// The receiver half of both versions: [`PacketFeedback`] at the controller's cadence.
#[derive(Debug)]
pub struct ScreamReceiver {
    cadence: Cadence,
    feedback: PacketFeedback,
    rate: ReceiveRate,
}

impl ScreamReceiver {
    pub(super) fn new(cadence: Cadence) -> Self {
        let feedback = PacketFeedback::new(cadence.interval(0.0));
        Self { cadence, feedback, rate: ReceiveRate::new(RATE_WINDOW) }
    }
}

impl Cadence {
    /// Interval of reports at a receive rate of `bps` bit/s.
    pub(super) fn interval(&self, bps: f64) -> TimeDelta {
        TimeDelta::from_secs_f64(1.0 / (self.per_bit * bps).clamp(self.min, self.max))
    }
}

impl Receiver for ScreamReceiver {
    /// Reports cover single packets and estimate nothing about the path.
    fn reports_packets(&self) -> bool {
        true
    }

    fn on_route_changed(&mut self) {}

    fn on_arrival(&mut self, packet: &Arrival) {
        self.rate.on_arrival(packet.at, packet.size);
        let rate = self.rate.rate(packet.at).map_or(0.0, DataRate::bps_f64);
        self.feedback.set_interval(self.cadence.interval(rate));
        self.feedback.on_arrival(packet);
        if self.cadence.frame_end && packet.marker {
            self.feedback.hurry(packet.at);
        }
    }

    fn next_timeout(&self) -> Option<ArrivalTime> {
        self.feedback.next_timeout()
    }

    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>> {
        self.feedback.poll_report(now)
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;
    use crate::packet::{Ecn, Stamp};
    use crate::time::SendTime;

    const V1: Cadence = Cadence { per_bit: 1e-4, min: 2.5, max: 50.0, frame_end: false };

    /// Packet `id` arrives at `ms`; `marker` is the marker bit of RTP.
    fn arrive(receiver: &mut ScreamReceiver, id: u64, ms: i64, marker: bool) {
        receiver.on_arrival(&Arrival {
            id,
            departure: SendTime::ZERO,
            at: ArrivalTime::from_millis(ms),
            size: DataSize::from_bytes(1000),
            ecn: Ecn::NotEct,
            media_time: 0,
            marker,
            stamp: Stamp::default(),
        });
    }

    /// Times in ms of the reports on a packet of 1000 bytes each `gap` ms.
    fn reports(cadence: Cadence, gap: i64, packets: i64) -> Vec<i64> {
        let mut receiver = ScreamReceiver::new(cadence);
        let mut times = Vec::new();
        for ms in 0..gap * packets {
            if ms % gap == 0 {
                arrive(&mut receiver, (ms / gap) as u64, ms, ms % (3 * gap) == 0);
            }
            while receiver.poll_report(ArrivalTime::from_millis(ms)).is_some() {
                times.push(ms);
            }
        }
        times
    }

    #[test]
    fn the_cadence_follows_the_rate_within_its_bounds() {
        let ms = |bps| V1.interval(bps).millis_f64();
        // 0 → 2.5 per second; 100 kbit/s → 10; 2 Mbit/s → 200, bounded by 50.
        assert_eq!((ms(0.0), ms(1e5), ms(2e6)), (400.0, 100.0, 20.0));
    }

    #[test]
    fn a_hundred_kbit_per_second_are_reported_ten_times_a_second() {
        // 1000 bytes each 80 ms are 100 kbit/s: a report each 100 ms, at the arrival of packets.
        let times = reports(V1, 80, 100);
        let rate = times.iter().filter(|&&ms| ms >= 2000).count() as f64 / 6.0;
        assert!((9.0..=11.5).contains(&rate), "{rate} per second");
    }

    #[test]
    fn the_end_of_a_frame_is_reported_at_once() {
        let cadence = Cadence { per_bit: 2.5e-5, min: 10.0, max: 1000.0, frame_end: true };
        let times = reports(cadence, 10, 31);
        for frame in [0, 30, 60, 90] {
            assert!(times.contains(&frame), "{frame} ms not in {times:?}");
        }
    }
}
