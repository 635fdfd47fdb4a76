//! The packets of a call on the time line of the bottleneck.

use weir_world::RecordedCall;
use weir_world::recorded::{ArrivalClock, MOST_PACKETS, RecordingSource};

use super::packet::{LostPacket, ServedPacket};
use super::path::{CapacitySecond, InferError, InferOptions};
use crate::clock::{self, LONGEST_US};
use crate::receiver;
use crate::replay::recorded_rate;

/// Bytes of the authentication tag of SRTP with HMAC-SHA1-80 (RFC 3711 §5.2).
const SRTP_TAG_BYTES: u32 = 10;
/// Fewer packets give no path.
const LEAST_PACKETS: usize = 50;

/// The packets of a call on the time line of the bottleneck.
#[derive(Clone, Debug)]
pub(super) struct PacketLine {
    /// Packets that arrived, in order of arrival.
    pub(super) served: Vec<ServedPacket>,
    /// Packets that were lost, in order of departure.
    pub(super) lost: Vec<LostPacket>,
    /// Least difference of arrival and departure, of their two clocks.
    pub(super) least_delay_us: i64,
    /// Bytes of the packet with the least delay.
    pub(super) least_bytes: u32,
    resolution_us: i64,
    is_weak: bool,
}

/// Takes the skew of the receiver's clock out of the arrivals.
fn align(served: &mut [ServedPacket], arrivals: ArrivalClock) {
    let Some(first) = served.first().map(|packet| packet.sent_us) else { return };
    if arrivals == ArrivalClock::Common {
        return;
    }
    let skew = weir_world::recorded::skew(served.iter().map(|packet| (packet.sent_us, packet.wait_us())));
    let skew = skew.unwrap_or(0.0);
    for packet in served {
        packet.served_us -= (skew * (packet.sent_us - first) as f64) as i64;
    }
}

impl PacketLine {
    /// # Errors
    /// No arrivals, too few packets, or times that span more than a day.
    pub(super) fn of(call: &RecordedCall, options: &InferOptions) -> Result<Self, InferError> {
        let from_log =
            matches!(call.source, RecordingSource::EventLogOfSender | RecordingSource::EventLogOfReceiver);
        let extra = options.extra_bytes.unwrap_or(if from_log { SRTP_TAG_BYTES } else { 0 });
        let is_weak = !call.has_departures();
        // Where arrivals were recorded and not reported, what did not arrive is lost, unless it may still have been
        // on its way.
        let are_recorded =
            call.arrival_clock == ArrivalClock::Common || call.source == RecordingSource::TwoCaptures;
        let arrived = call.packets.rows().filter(|packet| packet.arrived_us.is_known());
        let last_us = arrived.filter_map(|packet| packet.sent_us.get()).max().filter(|_| are_recorded);
        let mut served = Vec::new();
        let mut lost = Vec::new();
        let mut missing_before = 0;
        let mut frame = None;
        let mut frame_from_us = 0;
        let gaps = receiver::gaps(call);
        for (row, packet) in call.packets.rows().enumerate() {
            let gap = gaps.get(row).map_or(0, |&gap| gap.min((MOST_PACKETS - lost.len()) as u64) as usize);
            missing_before += gap as u32;
            lost.extend(core::iter::repeat_n(LostPacket { after: served.len() }, gap));
            let arrived = packet.arrived_us.get();
            if arrived.is_none() {
                missing_before += 1;
                let must_have_come = |sent| last_us.is_some_and(|last| sent < last);
                let is_lost = packet.is_lost() || packet.sent_us.get().is_some_and(must_have_come);
                if is_lost && lost.len() < MOST_PACKETS {
                    lost.push(LostPacket { after: served.len() });
                }
            }
            let Some(arrived_us) = arrived else { continue };
            let own = Some((packet.stream, packet.timestamp));
            let continues_frame = own == frame;
            frame = own;
            if !continues_frame {
                frame_from_us = arrived_us;
            }
            let sent_us = match packet.sent_us.get() {
                Some(sent_us) => sent_us,
                None if is_weak => frame_from_us,
                None => continue,
            };
            let bytes = call.wire_bytes(&packet) + extra;
            served.push(ServedPacket {
                sent_us,
                served_us: arrived_us,
                bytes,
                missing_before,
                continues_frame,
            });
        }
        if served.is_empty() {
            return Err(InferError::NoArrivals);
        }
        if served.len() < LEAST_PACKETS {
            return Err(InferError::TooFew(served.len()));
        }
        let extremes = |time: fn(&ServedPacket) -> i64| {
            served
                .iter()
                .map(time)
                .fold((i64::MAX, i64::MIN), |(least, most), time| (least.min(time), most.max(time)))
        };
        let (first_sent, last_sent) = extremes(|packet| packet.sent_us);
        let (first_arrived, last_arrived) = extremes(|packet| packet.served_us);
        let span_us = last_arrived.checked_sub(first_arrived);
        // The other clock may begin anywhere, but sums with its times must not overflow.
        let is_far = first_arrived < i64::MIN / 4 || last_arrived > i64::MAX / 4;
        let is_late = first_sent < -LONGEST_US || last_sent > LONGEST_US;
        if is_late || is_far || span_us.is_none_or(|span_us| span_us > LONGEST_US) {
            return Err(InferError::TooLong);
        }
        let resolution_us = clock::resolution_us(&served.iter().map(|packet| packet.sent_us))
            + clock::resolution_us(&served.iter().map(|packet| packet.served_us));
        align(&mut served, call.arrival_clock);
        let least =
            served.iter().min_by_key(|packet| packet.wait_us()).copied().ok_or(InferError::NoArrivals)?;
        let least_delay_us = least.wait_us();
        for packet in &mut served {
            packet.served_us -= least_delay_us;
        }
        served.sort_by_key(|packet| packet.served_us);
        Ok(Self { served, lost, least_delay_us, least_bytes: least.bytes, resolution_us, is_weak })
    }

    /// Whether departures are unknown.
    pub(super) const fn is_weak(&self) -> bool {
        self.is_weak
    }

    /// Steps of the clocks of departures and arrivals, together.
    pub(super) const fn resolution_us(&self) -> i64 {
        self.resolution_us
    }

    /// End of the last service.
    pub(super) fn end_us(&self) -> i64 {
        self.served.last().map_or(0, |packet| packet.served_us)
    }

    /// Pairs of successive packets without a missing one between them.
    pub(super) fn neighbours(&self) -> impl Iterator<Item = (&ServedPacket, &ServedPacket)> {
        let pairs = self.served.iter().zip(self.served.iter().skip(1));
        pairs.filter(|(first, second)| first.missing_before == second.missing_before)
    }

    /// Propagation delay less [`Self::least_delay_us`], which contains the service of a packet; 0 or less.
    ///
    /// In each second with a figure and without a change, the packet that waited least gives one: its delay less its
    /// service. The tenth part of the seconds with the least of them does not count, as single figures err.
    pub(super) fn propagation_us(&self, seconds: &[CapacitySecond]) -> i64 {
        let mut least: Vec<Option<i64>> = vec![None; seconds.len()];
        for packet in &self.served {
            let Some(index) = second_of(packet.served_us) else { continue };
            let Some((second, least)) = seconds.get(index).zip(least.get_mut(index)) else { continue };
            let Some(bps) = second.bps.filter(|_| !second.is_shared && second.pieces.len() < 2) else {
                continue;
            };
            let beyond = packet.wait_us() - service_us(packet.bytes, bps).round() as i64;
            *least = Some(least.map_or(beyond, |least| least.min(beyond)));
        }
        let mut least: Vec<i64> = least.into_iter().flatten().collect();
        least.sort_unstable();
        least
            .get(least.len().div_ceil(10).min(least.len().saturating_sub(1)))
            .map_or(0, |&beyond| beyond.min(0))
    }

    /// Highest rate for which the source may have been good: the highest recorded rate where the controller stood at it,
    /// and otherwise at least 2.5 Mbit/s, the highest rate of the usual encoder.
    pub(super) fn most_bps(&self, call: &RecordedCall) -> u64 {
        const USUAL_BPS: u64 = 2_500_000;
        let rate = recorded_rate(call);
        let most = rate.iter().map(|point| point.bps).max().unwrap_or(0);
        let mut at_most_us = 0;
        let ends = rate.iter().skip(1).map(|point| point.time_us).chain([self.end_us()]);
        for (point, end) in rate.iter().zip(ends) {
            if point.bps as f64 >= 0.99 * most as f64 {
                at_most_us += (end - point.time_us).max(0);
            }
        }
        let stood = at_most_us as f64 >= 0.05 * self.end_us() as f64;
        if most > 0 && stood { most } else { most.max(USUAL_BPS) }
    }
}

/// The second of the call to which a time belongs.
pub(super) fn second_of(time_us: i64) -> Option<usize> {
    usize::try_from(time_us.div_euclid(1_000_000)).ok()
}

/// Time in which a link of `bps` serves `bytes`, in microseconds.
pub(super) fn service_us(bytes: u32, bps: f64) -> f64 {
    f64::from(bytes) * 8e6 / bps.max(1.0)
}
