//! The prober, which computes the times at which the packets of a probe leave. Packets stay with the embedder.
//!
//! A cluster leaves at the rate of the probe, whatever the pacing rate. The next packet is due when the time of the
//! cluster's earlier bytes at that rate has passed. The rules for the start and the end of a cluster are libwebrtc's
//! (`BitrateProber`, June 2025).

use alloc::collections::VecDeque;

use weir_units::{DataSize, TimeDelta};

use crate::controller::Probe;
use crate::time::SendTime;

/// Greatest number of waiting clusters; libwebrtc's probe controller requests two at a time.
const MAX_CLUSTERS: usize = 8;
/// Lateness of a packet above which its cluster is dropped.
const MAX_LATENESS: TimeDelta = TimeDelta::from_millis(10);
/// Age above which the first waiting cluster is dropped when another one is requested.
const MAX_WAIT: TimeDelta = TimeDelta::from_secs(5);
/// Smallest packet with which probing begins, unless less is sent in [`SPACING`].
const MIN_START_SIZE: DataSize = DataSize::from_bytes(200);
/// Time whose bytes at the rate of the probe are enough to begin it. libwebrtc.
const SPACING: TimeDelta = TimeDelta::from_millis(2);

/// A requested probe, and the part of it that has left.
#[derive(Clone, Copy, Debug)]
struct ProbeCluster {
    probe: Probe,
    requested_at: SendTime,
    begun_at: Option<SendTime>,
    packets: u32,
    sent: DataSize,
}

impl ProbeCluster {
    /// Time at which the next packet is due: the start, and the duration of the sent bytes at the probe's rate.
    fn next_due(&self) -> Option<SendTime> {
        self.begun_at.map(|begun_at| begun_at + self.sent / self.probe.rate)
    }
}

/// Prober that sends the probes requested by a controller, one after the other.
///
/// While it is active ([`Self::next_departure`] is `Some`), it sets the departures instead of the pacer. Media
/// packets leave first, then padding, and each packet is passed to [`Self::on_sent`].
#[derive(Clone, Debug, Default)]
pub struct Prober {
    clusters: VecDeque<ProbeCluster>,
    active: bool,
    /// Time at which the next packet is due, or `None` for at once.
    due: Option<SendTime>,
}

impl Prober {
    /// A prober without probes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes waiting clusters and the present one.
    pub fn clear(&mut self) {
        self.clusters.clear();
        (self.active, self.due) = (false, None);
    }

    /// Queues `probe`, requested by the controller. Its cluster waits for those before it, and for the first packet
    /// that is large enough ([`Self::on_queued`]). No effect if the rate is zero or too many clusters wait.
    pub fn push(&mut self, now: SendTime, probe: Probe) {
        while self.clusters.front().is_some_and(|first| now - first.requested_at > MAX_WAIT) {
            self.drop_first();
        }
        if self.clusters.len() < MAX_CLUSTERS && !probe.rate.is_zero() {
            let cluster =
                ProbeCluster { probe, requested_at: now, begun_at: None, packets: 0, sent: DataSize::ZERO };
            self.clusters.push_back(cluster);
        }
    }

    /// Takes a media packet of `size` that waits to be sent, so that a waiting cluster may begin.
    pub fn on_queued(&mut self, size: DataSize) {
        if let Some(first) = self.clusters.front()
            && !self.active
            && size >= MIN_START_SIZE.min(first.probe.rate * SPACING)
        {
            self.active = true;
            self.due = None;
        }
    }

    /// Drops a cluster whose next packet is too late. Returns whether it did.
    pub fn expire(&mut self, now: SendTime) -> bool {
        let is_late = self.active && self.due.is_some_and(|due| now - due > MAX_LATENESS);
        if is_late {
            self.drop_first();
            // The next cluster, if any, has not begun: it is not late.
            self.due = None;
        }
        is_late
    }

    /// Time at which the next packet of a probe is due, if a probe is in progress. A past time means at once.
    pub fn next_departure(&self) -> Option<SendTime> {
        self.active.then(|| self.due.unwrap_or(SendTime::from_nanos(i64::MIN)))
    }

    /// The probe to which the next packet belongs.
    pub fn current(&self) -> Option<Probe> {
        self.clusters.front().filter(|_| self.active).map(|cluster| cluster.probe)
    }

    /// Takes a packet of [`Self::current`] of `size` bytes that left at `now`.
    pub fn on_sent(&mut self, now: SendTime, size: DataSize) {
        let Some(cluster) = self.clusters.front_mut().filter(|_| self.active) else { return };
        cluster.begun_at.get_or_insert(now);
        cluster.packets += 1;
        cluster.sent += size;
        self.due = cluster.next_due();
        if cluster.packets >= cluster.probe.packets && cluster.sent >= cluster.probe.size {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        self.clusters.pop_front();
        self.active &= !self.clusters.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::ProbeId;
    use weir_units::DataRate;

    const PACKET: DataSize = DataSize::from_bytes(1000);

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    /// A probe of `packets` packets and `bytes` bytes in all.
    fn probe(id: u16, kbps: u64, packets: u32, bytes: u64) -> Probe {
        Probe {
            id: ProbeId::new(id).unwrap(),
            rate: DataRate::from_kbps(kbps),
            packets,
            size: DataSize::from_bytes(bytes),
        }
    }

    /// Sends packets of 1000 bytes as soon as they are due; times in ms and ids.
    fn send_all(prober: &mut Prober, mut now: SendTime) -> Vec<(i64, u16)> {
        let mut left = Vec::new();
        while let Some(due) = prober.next_departure() {
            now = now.max(due);
            left.push((now.nanos() / 1_000_000, prober.current().unwrap().id.get()));
            prober.on_sent(now, PACKET);
        }
        left
    }

    #[test]
    fn packets_leave_at_the_rate_until_both_packets_and_bytes_are_enough() {
        let mut prober = Prober::new();
        prober.push(at(0), probe(1, 800, 2, 2500));
        prober.on_queued(PACKET);
        // 8000 bit at 800 kbit/s = 10 ms; 2500 bytes take three packets.
        assert_eq!(send_all(&mut prober, at(5)), [(5, 1), (15, 1), (25, 1)]);
        prober.push(at(100), probe(2, 800, 4, 2500));
        prober.on_queued(PACKET);
        assert_eq!(send_all(&mut prober, at(100)).len(), 4);
        assert_eq!(prober.current(), None);
    }

    #[test]
    fn the_second_cluster_follows_when_the_first_is_paid_for() {
        let mut prober = Prober::new();
        prober.push(at(0), probe(1, 800, 2, 2000));
        prober.push(at(0), probe(2, 1600, 2, 2000));
        prober.on_queued(PACKET);
        assert_eq!(send_all(&mut prober, at(0)), [(0, 1), (10, 1), (20, 2), (25, 2)]);
    }

    #[test]
    fn a_cluster_waits_for_a_packet_that_is_large_enough() {
        let mut prober = Prober::new();
        prober.push(at(0), probe(1, 8000, 2, 2000));
        // 2 ms at 8 Mbit/s are 2000 bytes, so 200 decide.
        prober.on_queued(DataSize::from_bytes(199));
        assert_eq!(prober.next_departure(), None);
        prober.on_queued(DataSize::from_bytes(200));
        assert!(prober.next_departure().is_some());
        // 2 ms at 80 kbit/s are 20 bytes.
        let mut slow = Prober::new();
        slow.push(at(0), probe(1, 80, 2, 2000));
        slow.on_queued(DataSize::from_bytes(20));
        assert!(slow.next_departure().is_some());
    }

    #[test]
    fn a_late_packet_ends_its_cluster_and_the_next_begins() {
        let mut prober = Prober::new();
        prober.push(at(0), probe(1, 800, 5, 5000));
        prober.push(at(0), probe(2, 800, 1, 1000));
        prober.on_queued(PACKET);
        prober.on_sent(at(0), PACKET);
        prober.expire(at(20));
        assert_eq!(prober.current().map(|probe| probe.id.get()), Some(1), "due at 10 ms, 10 ms late");
        prober.expire(at(21));
        assert_eq!(prober.current().map(|probe| probe.id.get()), Some(2));
        assert_eq!(send_all(&mut prober, at(21)), [(21, 2)]);
    }

    #[test]
    fn an_expired_probe_is_forgotten_at_the_next_request() {
        let mut prober = Prober::new();
        prober.push(at(0), probe(1, 800, 1, 1000));
        prober.push(at(5000), probe(2, 800, 1, 1000));
        prober.push(at(5001), probe(3, 800, 1, 1000));
        prober.on_queued(PACKET);
        let ids: Vec<u16> = send_all(&mut prober, at(5001)).iter().map(|left| left.1).collect();
        assert_eq!(ids, [2, 3]);
    }

    #[test]
    fn more_probes_than_there_is_room_for_are_refused() {
        let mut prober = Prober::new();
        for id in 1..=20 {
            prober.push(at(0), probe(id, 800, 1, 1000));
        }
        prober.push(at(0), probe(21, 0, 1, 1000));
        prober.on_queued(PACKET);
        assert_eq!(send_all(&mut prober, at(0)).len(), MAX_CLUSTERS);
    }
}
