//! Packets that cross a path: totals, and the state of the moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use weir_net::DropReason;
use weir_units::{DataRate, TimeDelta};
use weir_world::Loss;

use super::path::Path;
use crate::capture::CapturedPacket;
use crate::copies::PacketCopies;
use crate::drive::EventLog;
use crate::emulator::{Event, EventKind};
use crate::lateness::Lateness;

/// State of one direction: totals since the start, and the latest wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionNow {
    /// Packets that entered.
    pub packets: u64,
    /// Packets that were dropped or lost.
    pub lost: u64,
    /// Bytes that came out.
    pub bytes: u64,
    /// Time in the queues of the packet that came out last.
    pub wait: TimeDelta,
}

/// Packets of one direction.
#[derive(Clone, Debug)]
pub struct DirectionReport {
    /// Packets that entered.
    pub packets: u64,
    /// Packets that came out.
    pub delivered: u64,
    /// Packets that queues dropped.
    pub dropped: u64,
    /// Packets lost at random.
    pub lost: u64,
    /// Delivered packets that a link marked with "congestion experienced".
    pub marked: u64,
    /// Mean rate of the delivered packets, IP headers included.
    pub rate: DataRate,
    /// Time in the queues of the delivered packets.
    pub waits: Lateness,
}

impl DirectionReport {
    /// Share of the packets that were dropped or lost.
    pub fn loss(&self) -> f64 {
        (self.dropped + self.lost) as f64 / self.packets.max(1) as f64
    }
}

/// Counters that another thread reads.
#[derive(Debug, Default)]
pub(super) struct Live([[AtomicU64; 4]; 2]);

impl Live {
    pub(super) fn now(&self) -> [DirectionNow; 2] {
        [0, 1].map(|direction: usize| {
            let [packets, lost, bytes, wait] =
                [0, 1, 2, 3].map(|counter: usize| self.0[direction][counter].load(Ordering::Relaxed));
            DirectionNow { packets, lost, bytes, wait: TimeDelta::from_nanos(wait as i64) }
        })
    }
}

#[derive(Debug, Default)]
struct RouteTotals {
    packets: u64,
    delivered: u64,
    dropped: u64,
    lost: u64,
    marked: u64,
    bytes: u64,
    waits: Lateness,
}

/// The log of a path. Even routes go to the far end, odd ones back.
#[derive(Debug)]
pub(super) struct PathLog {
    totals: [RouteTotals; 2],
    live: Arc<Live>,
    copies: Option<PacketCopies>,
    /// The first link of each direction.
    first: [usize; 2],
}

impl PathLog {
    pub(super) fn new(path: &Path, capture: Option<SyncSender<CapturedPacket>>) -> Self {
        let first = [0, 1].map(|direction: usize| path.routes[direction].first().copied().unwrap_or(0));
        Self {
            totals: [RouteTotals::default(), RouteTotals::default()],
            live: Arc::default(),
            copies: capture.map(|to| PacketCopies::new(path.bottlenecks().to_vec(), to, None)),
            first,
        }
    }

    pub(super) fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live)
    }

    pub(super) fn not_captured(&self) -> u64 {
        self.copies.as_ref().map_or(0, PacketCopies::missing)
    }

    /// The report on each direction after `duration`.
    pub(super) fn reports(self, duration: TimeDelta) -> [DirectionReport; 2] {
        self.totals.map(|totals| DirectionReport {
            packets: totals.packets,
            delivered: totals.delivered,
            dropped: totals.dropped,
            lost: totals.lost,
            marked: totals.marked,
            rate: DataRate::from_bps((totals.bytes as f64 * 8.0 / duration.secs_f64().max(1e-9)) as u64),
            waits: totals.waits,
        })
    }
}

impl EventLog for PathLog {
    fn event(&mut self, event: &Event, bytes: &[u8]) {
        if let Some(copies) = &mut self.copies {
            copies.event(event, bytes);
        }
        let direction = event.packet.route as usize % 2;
        let totals = &mut self.totals[direction];
        match event.kind {
            EventKind::Entered { link, .. } => {
                totals.packets += u64::from(link == self.first[direction]);
            }
            EventKind::Left { .. } => {}
            EventKind::Dropped { link, loss } => {
                // A link that has ended for good reports no arrivals.
                let unreported = loss == Loss::Queue(DropReason::DeadLink) && link == self.first[direction];
                totals.packets += u64::from(unreported);
                match loss {
                    Loss::Queue(_) => totals.dropped += 1,
                    Loss::Random => totals.lost += 1,
                }
            }
            EventKind::Delivered { wait, marked } => {
                totals.delivered += 1;
                totals.marked += u64::from(marked);
                totals.bytes += u64::from(event.packet.wire_size);
                totals.waits.record(wait);
                self.live.0[direction][3].store(wait.nanos() as u64, Ordering::Relaxed);
            }
        }
        let RouteTotals { packets, dropped, lost, bytes, .. } = self.totals[direction];
        for (counter, value) in self.live.0[direction].iter().zip([packets, dropped + lost, bytes]) {
            counter.store(value, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_net::{LinkConfig, LossModel, QueueConfig, Service, Time};
    use weir_world::LinkSpec;

    use super::*;
    use crate::capture::CapturePoint;
    use crate::emulator::Transit;

    /// A path of 1 Mbit/s with room for two packets, and a way back that loses everything.
    fn path() -> Path {
        let service = Service::Constant(DataRate::from_mbps(1));
        let queue = QueueConfig { limit_packets: Some(2), ..QueueConfig::default() };
        let there = LinkConfig { queue, ..LinkConfig::new(service.clone(), TimeDelta::from_millis(20)) };
        let back =
            LinkConfig { loss: LossModel::Bernoulli(1.0), ..LinkConfig::new(service, TimeDelta::ZERO) };
        let links = vec![LinkSpec::new("there", there), LinkSpec::new("back", back)];
        Path { links, routes: [vec![0], vec![1]] }
    }

    #[test]
    fn every_packet_has_a_fate_and_both_sides_of_the_bottleneck_a_copy() {
        let (to, from) = std::sync::mpsc::sync_channel(100);
        let mut log = PathLog::new(&path(), Some(to));
        let live = log.live();
        let mut emulator = path().emulator(1, 2).unwrap();
        for route in [0, 2, 0, 1] {
            emulator.enqueue(Time::ZERO, Transit { route, wire_size: 1250, ..Transit::default() });
        }
        while let Some(event) = emulator.poll(Time::from_millis(1000)) {
            log.event(&event, &[0x45; 20]);
        }
        let now = live.now();
        assert_eq!(now.map(|one| (one.packets, one.lost, one.bytes)), [(3, 1, 2500), (1, 1, 0)]);
        assert_eq!(now[0].wait, TimeDelta::from_millis(10));
        let count =
            |link, point| move |packet: &&CapturedPacket| packet.link == link && packet.point == point;
        let captured: Vec<CapturedPacket> = from.try_iter().collect();
        let copies = [0, 1].map(|link| {
            [CapturePoint::Before, CapturePoint::Behind]
                .map(|point| captured.iter().filter(count(link, point)).count())
        });
        assert_eq!((copies, log.not_captured()), ([[3, 2], [1, 1]], 0));
        let [there, back] = log.reports(TimeDelta::from_secs(2));
        assert_eq!((there.packets, there.delivered, there.dropped, there.lost), (3, 2, 1, 0));
        assert_eq!((back.packets, back.delivered, back.dropped, back.lost), (1, 0, 0, 1));
        assert_eq!(there.rate, DataRate::from_kbps(10));
        assert_eq!(there.waits.max(), TimeDelta::from_millis(10));
    }

    #[test]
    fn a_full_capture_is_counted_and_stops_nothing() {
        let (to, _from) = std::sync::mpsc::sync_channel(1);
        let mut log = PathLog::new(&path(), Some(to));
        let mut emulator = path().emulator(1, 2).unwrap();
        emulator.enqueue(Time::ZERO, Transit { wire_size: 1250, ..Transit::default() });
        while let Some(event) = emulator.poll(Time::from_millis(1000)) {
            log.event(&event, &[0x45; 20]);
        }
        assert_eq!((log.not_captured(), log.live().now()[0].packets), (1, 1));
    }
}
