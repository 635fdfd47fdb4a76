//! The rate of the path as measured by probe clusters, groups of packets sent at a rate above the estimate.
//!
//! Source: libwebrtc's `ProbeBitrateEstimator`, June 2025.

use alloc::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::Probe;
use crate::packet::ProbeId;
use crate::time::{ArrivalTime, SendTime};

/// Most clusters that are measured at a time; the oldest is dropped for a new one.
const MAX_CLUSTERS: usize = 8;

/// Conditions under which a probe cluster gives a result, and the factors of that result.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ProbeEstimatorConfig {
    /// Share of the cluster's packets, and of its bytes, that must have arrived.
    pub min_received: f64,
    /// Longest time from the first to the last packet of a cluster, at the sender and at the receiver. A cluster is
    /// also forgotten this long after its last arrival.
    pub longest: TimeDelta,
    /// A cluster received faster than this multiple of its sending rate does not count.
    pub max_ratio: f64,
    /// A cluster received at less than this share of its sending rate has filled the path.
    pub unsaturated: f64,
    /// Share of the receive rate that is the result of a cluster that has filled the path.
    pub utilisation: f64,
    /// A result below the estimate does not fall below this share of the acknowledged rate.
    pub drop_share: f64,
}

impl Default for ProbeEstimatorConfig {
    fn default() -> Self {
        Self::LIBWEBRTC_2025
    }
}

impl ProbeEstimatorConfig {
    /// 80 % received within 1 s; 0.95 of the receive rate on a full path. libwebrtc of June 2025.
    pub const LIBWEBRTC_2025: Self = Self {
        min_received: 0.8,
        longest: TimeDelta::from_secs(1),
        max_ratio: 2.0,
        unsaturated: 0.9,
        utilisation: 0.95,
        drop_share: 0.85,
    };
}

/// A probe cluster that was requested.
#[derive(Clone, Copy, Debug)]
struct ProbeCluster {
    probe: Probe,
    /// Its packets that have arrived, or `None` before the first.
    received: Option<ReceivedPackets>,
}

/// Packets of a cluster that have arrived, by their number, size and times.
#[derive(Clone, Copy, Debug)]
struct ReceivedPackets {
    packets: u32,
    size: DataSize,
    first_sent: SendTime,
    /// Sending time and size of the packet that was sent last.
    last_sent: (SendTime, DataSize),
    /// Arrival time and size of the packet that arrived first.
    first_arrived: (ArrivalTime, DataSize),
    last_arrived: ArrivalTime,
}

/// Estimator of the rate of each probe cluster, from its packets that arrived.
#[derive(Clone, Debug)]
pub(crate) struct ProbeEstimator {
    config: ProbeEstimatorConfig,
    clusters: VecDeque<ProbeCluster>,
}

impl ProbeEstimator {
    /// An estimator that expects no probe.
    pub(crate) fn new(config: ProbeEstimatorConfig) -> Self {
        Self { config, clusters: VecDeque::new() }
    }

    /// Forgets everything.
    pub(crate) fn restart(&mut self) {
        self.clusters.clear();
    }

    /// Expects packets of `probe`, which was requested.
    pub(crate) fn expect(&mut self, probe: Probe) {
        if self.clusters.len() == MAX_CLUSTERS {
            self.clusters.pop_front();
        }
        self.clusters.push_back(ProbeCluster { probe, received: None });
    }

    /// Takes an arrived packet of the probe `id`, sent at `sent`. Returns the measured rate if enough of the cluster
    /// has arrived. Each further packet gives a new result; the last result of a feedback message counts.
    pub(crate) fn on_arrived(
        &mut self,
        id: ProbeId,
        sent: SendTime,
        at: ArrivalTime,
        size: DataSize,
    ) -> Option<DataRate> {
        self.forget(at);
        let cluster = self.clusters.iter_mut().find(|cluster| cluster.probe.id == id)?;
        let received = match &mut cluster.received {
            Some(received) => {
                received.add(sent, at, size);
                received
            }
            none => none.insert(ReceivedPackets::first(sent, at, size)),
        };
        received.result(&cluster.probe, &self.config)
    }

    /// The result after its lower bound: a probe does not lower the estimate below [`ProbeEstimatorConfig::drop_share`]
    /// of the acknowledged rate.
    pub(crate) fn applied(
        &self,
        result: DataRate,
        estimate: DataRate,
        acknowledged: Option<DataRate>,
    ) -> DataRate {
        acknowledged.map_or(result, |r| result.max(estimate.min(r.scale(self.config.drop_share))))
    }

    fn forget(&mut self, now: ArrivalTime) {
        let longest = self.config.longest;
        self.clusters
            .retain(|cluster| cluster.received.is_none_or(|packets| now - packets.last_arrived <= longest));
    }
}

impl ReceivedPackets {
    fn first(sent: SendTime, at: ArrivalTime, size: DataSize) -> Self {
        Self {
            packets: 1,
            size,
            first_sent: sent,
            last_sent: (sent, size),
            first_arrived: (at, size),
            last_arrived: at,
        }
    }

    fn add(&mut self, sent: SendTime, at: ArrivalTime, size: DataSize) {
        self.packets = self.packets.saturating_add(1);
        self.size += size;
        self.first_sent = self.first_sent.min(sent);
        if sent > self.last_sent.0 {
            self.last_sent = (sent, size);
        }
        if at < self.first_arrived.0 {
            self.first_arrived = (at, size);
        }
        self.last_arrived = self.last_arrived.max(at);
    }

    fn result(&self, probe: &Probe, config: &ProbeEstimatorConfig) -> Option<DataRate> {
        let enough_packets = (f64::from(probe.packets) * config.min_received) as u32;
        let enough_bytes = probe.size.bytes_f64() * config.min_received;
        if self.packets < enough_packets || self.size.bytes_f64() < enough_bytes {
            return None;
        }
        let valid = |span: TimeDelta| (span > TimeDelta::ZERO && span <= config.longest).then_some(span);
        let sending = valid(self.last_sent.0 - self.first_sent)?;
        let receiving = valid(self.last_arrived - self.first_arrived.0)?;
        // The last packet's sending time comes after its departure, the first one's before its arrival: neither
        // counts.
        let sent = self.size.saturating_sub(self.last_sent.1).bits_f64() / sending.secs_f64();
        let received = self.size.saturating_sub(self.first_arrived.1).bits_f64() / receiving.secs_f64();
        if received > config.max_ratio * sent {
            return None;
        }
        let measured = if received < config.unsaturated * sent {
            config.utilisation * received
        } else {
            sent.min(received)
        };
        Some(DataRate::from_bps_f64(measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: DataSize = DataSize::from_bytes(1000);

    fn id(id: u16) -> ProbeId {
        ProbeId::new(id).unwrap()
    }

    fn probe(number: u16) -> Probe {
        Probe { id: id(number), rate: DataRate::from_kbps(800), packets: 5, size: DataSize::from_bytes(5000) }
    }

    /// An estimator that expects probe 1.
    fn estimator() -> ProbeEstimator {
        let mut estimator = ProbeEstimator::new(ProbeEstimatorConfig::LIBWEBRTC_2025);
        estimator.expect(probe(1));
        estimator
    }

    /// The last result, in kbit/s, of packets of 1000 bytes of probe 1 with these times of departure and arrival in ms.
    fn result(estimator: &mut ProbeEstimator, packets: &[(i64, i64)]) -> Option<u64> {
        let results = packets.iter().map(|&(sent, arrived)| {
            let at = ArrivalTime::from_millis(arrived);
            estimator.on_arrived(id(1), SendTime::from_millis(sent), at, PACKET)
        });
        results.last().flatten().map(|rate| rate.bps() / 1000)
    }

    #[test]
    fn the_result_on_a_path_that_is_not_full_is_the_sending_rate() {
        // 3 · 8000 bit in 30 ms, sent and received.
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 20), (20, 30), (30, 40)]), Some(800));
        // Received in 32 ms: 750 kbit/s, more than 0.9 · 800.
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 20), (20, 30), (30, 42)]), Some(750));
        // Received in 28 ms: 857 kbit/s, but sent at 800.
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 20), (20, 30), (30, 38)]), Some(800));
    }

    #[test]
    fn the_result_on_a_full_path_is_95_percent_of_the_receive_rate() {
        // 24 000 bit in 60 ms: 400 kbit/s, less than 0.9 · 800; 0.95 · 400 = 380.
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 30), (20, 50), (30, 70)]), Some(380));
    }

    #[test]
    fn four_of_five_packets_and_bytes_are_enough_and_three_are_not() {
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 20), (20, 30)]), None);
        let mut large = ProbeEstimator::new(ProbeEstimatorConfig::LIBWEBRTC_2025);
        large.expect(Probe { size: DataSize::from_bytes(5001), ..probe(1) });
        // 4000 bytes are less than 0.8 · 5001.
        assert_eq!(result(&mut large, &[(0, 10), (10, 20), (20, 30), (30, 40)]), None);
    }

    #[test]
    fn the_ninth_cluster_replaces_the_oldest_and_nothing_is_known_after_a_restart() {
        let mut estimator = estimator();
        (2..=8).for_each(|number| estimator.expect(probe(number)));
        let on_arrived = |estimator: &mut ProbeEstimator, number, ms| {
            estimator.on_arrived(id(number), SendTime::from_millis(0), ArrivalTime::from_millis(ms), PACKET);
            estimator.clusters.iter().map(|cluster| cluster.probe.id.get()).collect::<Vec<_>>()
        };
        on_arrived(&mut estimator, 3, 0);
        assert_eq!(on_arrived(&mut estimator, 2, 1500), [1, 2, 4, 5, 6, 7, 8], "3 is a second old");
        estimator.expect(probe(9));
        estimator.expect(probe(10));
        assert_eq!(on_arrived(&mut estimator, 9, 1500), [2, 4, 5, 6, 7, 8, 9, 10]);
        estimator.restart();
        assert!(on_arrived(&mut estimator, 9, 1500).is_empty());
    }

    #[test]
    fn order_does_not_matter() {
        assert_eq!(result(&mut estimator(), &[(30, 40), (10, 20), (0, 10), (20, 30)]), Some(800));
    }

    #[test]
    fn impossible_rates_give_no_result() {
        // Received in 14 ms: 1714 kbit/s, more than twice 800.
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 20), (20, 22), (30, 24)]), None);
        // Sent or received at once, or over more than 1 s.
        assert_eq!(result(&mut estimator(), &[(0, 10), (0, 20), (0, 30), (0, 40)]), None);
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 10), (20, 10), (30, 10)]), None);
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 20), (20, 30), (1001, 40)]), None);
        assert_eq!(result(&mut estimator(), &[(0, 0), (10, 400), (20, 800), (30, 1001)]), None);
    }

    #[test]
    fn a_cluster_is_forgotten_a_second_after_its_last_packet() {
        let mut estimator = estimator();
        assert_eq!(result(&mut estimator, &[(0, 10), (10, 20), (20, 30)]), None);
        assert_eq!(result(&mut estimator, &[(30, 1031)]), None);
        // The cluster is forgotten.
        assert_eq!(result(&mut estimator, &[(31, 1032), (32, 1033), (33, 1034), (34, 1035)]), None);
    }

    #[test]
    fn clusters_are_separate_and_the_ninth_replaces_the_oldest() {
        let mut estimator = estimator();
        for number in 2..=9 {
            estimator.expect(probe(number));
        }
        assert_eq!(
            result(&mut estimator, &[(0, 10), (10, 20), (20, 30), (30, 40)]),
            None,
            "the first is gone"
        );
        let arrive = |estimator: &mut ProbeEstimator, number, ms| {
            estimator.on_arrived(id(number), SendTime::from_millis(ms), ArrivalTime::from_millis(ms), PACKET)
        };
        for ms in 0..3 {
            assert_eq!(arrive(&mut estimator, 2, ms), None);
            assert_eq!(arrive(&mut estimator, 9, ms), None);
        }
        assert_eq!(arrive(&mut estimator, 9, 3), Some(DataRate::from_mbps(8)));
    }

    #[test]
    fn a_result_stays_above_a_share_of_the_acknowledged_rate() {
        let kbps = DataRate::from_kbps;
        let applied = |result, estimate, acknowledged: Option<u64>| {
            estimator().applied(kbps(result), kbps(estimate), acknowledged.map(kbps)).bps() / 1000
        };
        assert_eq!(applied(300, 1000, None), 300);
        // 0.85 · 1000 = 850.
        assert_eq!(applied(300, 1000, Some(1000)), 850);
        assert_eq!(applied(300, 500, Some(1000)), 500);
        assert_eq!(applied(900, 1000, Some(1000)), 900);
    }

    #[test]
    fn the_last_to_leave_and_the_first_to_arrive_do_not_count_whatever_their_sizes() {
        let shown = |sent: [i64; 4]| {
            let mut estimator = estimator();
            let packets = sent.iter().zip([(10, 1000), (20, 2000), (30, 3000), (40, 500)]);
            let results = packets.map(|(&sent, (arrived, bytes))| {
                let (sent, at) = (SendTime::from_millis(sent), ArrivalTime::from_millis(arrived));
                estimator.on_arrived(id(1), sent, at, DataSize::from_bytes(bytes))
            });
            results.last().flatten().map(DataRate::bps)
        };
        // Sent 6000 bytes in 30 ms, 1600 kbit/s; received 5500 in 30 ms, 1466.667, not less than 0.9 of it.
        assert_eq!(shown([0, 10, 20, 30]), Some(1_466_667));
        // Of the two that left last the first to arrive, of 3000 bytes: 3500 bytes in 30 ms.
        assert_eq!(shown([0, 10, 30, 30]), Some(933_333));
    }

    #[test]
    fn a_cluster_may_take_a_second_and_arrive_twice_as_fast_as_it_was_sent() {
        // 24 000 bit in 1 s, sent and received.
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 20), (20, 30), (1000, 1010)]), Some(24));
        // Received in 15 ms: 1600 kbit/s, twice 800.
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 15), (20, 20), (30, 25)]), Some(800));
        // A second without a packet: 0.95 · 24 kbit/s.
        assert_eq!(result(&mut estimator(), &[(0, 10), (10, 10), (20, 10), (30, 1010)]), Some(22));
    }
}
