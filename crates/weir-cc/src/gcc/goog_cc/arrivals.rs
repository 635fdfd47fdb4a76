//! Arrivals in a feedback, as inputs of libwebrtc's controller.

use alloc::vec::Vec;

use weir_units::{DataSize, TimeDelta};

use crate::gcc::blocks::bursts::ReportedPacket;
use crate::packet::{PacketFate, PacketResult, ProbeId, SentPacket};
use crate::time::{ArrivalTime, SendTime};

/// Greatest size of a packet.
pub(super) const MAX_PACKET_SIZE: DataSize = DataSize::from_bytes(65_535);
/// Initial capacity for the arrivals of one feedback.
const INITIAL_ARRIVALS: usize = 16;

/// Resolution of departures and arrivals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolution {
    pub(super) whole_departures: bool,
    pub(super) whole_arrivals: bool,
}

impl Resolution {
    /// The departure `at`, rounded to the resolution.
    pub(super) fn departure(self, at: SendTime) -> SendTime {
        if self.whole_departures { at.whole_millis() } else { at }
    }

    fn arrival(self, at: ArrivalTime) -> ArrivalTime {
        if self.whole_arrivals { at.whole_millis() } else { at }
    }
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckedPacket {
    pub(super) packet: ReportedPacket,
    pub(super) id: u64,
    pub(super) probe: Option<ProbeId>,
}

/// The arrivals of the present feedback, in order of arrival.
#[derive(Debug)]
pub(super) struct Arrivals(Vec<AckedPacket>);

impl Arrivals {
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(INITIAL_ARRIVALS))
    }

    pub(super) fn iter(&self) -> core::slice::Iter<'_, AckedPacket> {
        self.0.iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn collect(&mut self, results: &[PacketResult], resolution: Resolution) {
        self.0.clear();
        let mut newest = ArrivalTime::from_nanos(i64::MIN);
        let mut in_order = true;
        for result in results {
            let (PacketFate::Arrived { at: Some(at), .. } | PacketFate::Recovered { at: Some(at), .. }) =
                result.fate
            else {
                continue;
            };
            let SentPacket { id, at: departure, payload, probe, .. } = result.sent;
            let (departure, arrival) = (resolution.departure(departure), resolution.arrival(at));
            let packet = ReportedPacket { departure, arrival, size: payload.min(MAX_PACKET_SIZE) };
            in_order &= arrival >= newest;
            newest = arrival;
            self.0.push(AckedPacket { packet, id, probe });
        }
        if !in_order {
            self.0.sort_unstable_by_key(|a| (a.packet.arrival, a.packet.departure, a.id));
        }
    }

    /// Round-trip times at `now`: the longest one as measured, and the shortest one without the time that packets
    /// waited for the last arrival.
    pub(super) fn rounds(&self, now: SendTime) -> Option<(TimeDelta, TimeDelta)> {
        let last = self.0.last()?.packet.arrival;
        let (mut longest, mut shortest) = (TimeDelta::ZERO, TimeDelta::MAX);
        for AckedPacket { packet, .. } in &self.0 {
            let round = now - packet.departure;
            longest = longest.max(round);
            shortest = shortest.min(round - (last - packet.arrival));
        }
        Some((longest, shortest.max(TimeDelta::ZERO)))
    }
}
