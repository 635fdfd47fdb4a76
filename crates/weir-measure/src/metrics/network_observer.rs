//! Observer of the network during a run: bytes of a flow that wait at its bottlenecks, and bytes that have passed
//! them. The endpoints of a flow cannot know these.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::PacketMeta;

use super::plan::{FlowPlan, MeasurePlan};

/// Length of a bin in nanoseconds.
const BIN_NANOS: u64 = 10_000_000;
/// Number of bins after which all departures of arrived bytes are counted.
const OPEN_BINS: usize = 400;

/// Counter of the bytes of each flow that have arrived at its bottlenecks and left them, over time. The recorder of
/// the run writes the counts; other holders of the observer may read them at the same time.
///
/// Times follow from [`PacketMeta`]. A packet reaches the first bottleneck after it has left its sender and crossed
/// the links before. It leaves the last one after the waiting time that it reports on arrival.
pub struct NetworkObserver {
    flows: Vec<FlowByteCounts>,
}

/// The counts of a flow.
struct FlowByteCounts {
    /// Propagation delay before the first bottleneck, and from there to the receiver.
    before: TimeDelta,
    behind: TimeDelta,
    /// Bytes on the wire, by bin.
    arrived: Box<[AtomicU32]>,
    left: Box<[AtomicU32]>,
    /// Bytes that have arrived, by the time at which they left the bottleneck.
    passed: Box<[AtomicU32]>,
}

/// A reader's position in the counts of a [`NetworkObserver`] for a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct BacklogReader {
    bin: usize,
    bytes: i64,
}

impl NetworkObserver {
    /// An observer of a run with this plan.
    pub fn new(plan: &MeasurePlan) -> Self {
        let bins = bin(plan.end) + 1;
        let empty = || (0..bins).map(|_| AtomicU32::new(0)).collect();
        let account = |flow: &FlowPlan| {
            let links = flow.route.iter().map(|&link| &plan.links[link]);
            let before = links.take_while(|link| !link.bottleneck).map(|link| link.delay).sum();
            let behind = flow.propagation - before;
            FlowByteCounts { before, behind, arrived: empty(), left: empty(), passed: empty() }
        };
        Self { flows: plan.flows.iter().map(account).collect() }
    }

    /// Number of bytes of `flow` that waited at its bottlenecks at `at`. `backlog` continues from its last time.
    pub fn waiting(&self, flow: usize, at: Time, backlog: &mut BacklogReader) -> u64 {
        let Some(account) = self.flows.get(flow) else { return 0 };
        let balance = |bin: usize| account.balance(bin);
        let now = bin(at).min(account.arrived.len());
        let settled = now.saturating_sub(OPEN_BINS);
        backlog.bytes += (backlog.bin..settled).map(balance).sum::<i64>();
        backlog.bin = backlog.bin.max(settled);
        let rest: i64 = (backlog.bin..now).map(balance).sum();
        (backlog.bytes + rest).max(0) as u64
    }

    /// Number of bytes of `flow` that passed its bottleneck between two times.
    pub fn passed(&self, flow: usize, (from, to): (Time, Time)) -> u64 {
        let Some(account) = self.flows.get(flow) else { return 0 };
        let bins = account.passed.get(bin(from)..bin(to)).unwrap_or_default();
        bins.iter().map(|bytes| u64::from(bytes.load(Ordering::Relaxed))).sum()
    }

    #[inline]
    pub(super) fn sent(&self, flow: usize, packet: &PacketMeta) {
        if let Some(account) = self.flows.get(flow).filter(|_| !packet.control) {
            add(&account.arrived, packet.sent_at + account.before, packet.wire_size);
        }
    }

    #[inline]
    pub(super) fn delivered(&self, now: Time, flow: usize, packet: &PacketMeta) {
        if let Some(account) = self.flows.get(flow).filter(|_| !packet.control) {
            add(&account.left, packet.sent_at + account.before + packet.wait, packet.wire_size);
            let passed = now.nanos().saturating_sub(account.behind.nanos().max(0) as u64);
            add(&account.passed, Time::from_nanos(passed), packet.wire_size);
        }
    }

    pub(super) fn dropped(&self, now: Time, flow: usize, packet: &PacketMeta) {
        if let Some(account) = self.flows.get(flow).filter(|_| !packet.control) {
            add(&account.left, now, packet.wire_size);
        }
    }
}

impl FlowByteCounts {
    fn balance(&self, bin: usize) -> i64 {
        let of =
            |bins: &[AtomicU32]| bins.get(bin).map_or(0, |bytes| i64::from(bytes.load(Ordering::Relaxed)));
        of(&self.arrived) - of(&self.left)
    }
}

impl fmt::Debug for NetworkObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkObserver").field("flows", &self.flows.len()).finish_non_exhaustive()
    }
}

fn bin(at: Time) -> usize {
    (at.nanos() / BIN_NANOS) as usize
}

#[inline]
fn add(bins: &[AtomicU32], at: Time, bytes: u32) {
    if let Some(bin) = bins.get(bin(at)) {
        bin.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::LinkPlan;
    use crate::results::FlowKind;
    use weir_net::Service;
    use weir_units::DataRate;

    const MS: fn(u64) -> Time = Time::from_millis;

    /// A link of 10 ms before the bottleneck, of 20 ms.
    fn network_observer() -> NetworkObserver {
        let link = |ms, bottleneck| LinkPlan {
            name: String::new(),
            service: Service::Constant(DataRate::from_mbps(1)),
            delay: TimeDelta::from_millis(ms),
            bottleneck,
        };
        let flow = FlowPlan {
            route: vec![0, 1],
            propagation: TimeDelta::from_millis(30),
            ..FlowPlan::new("flow", FlowKind::Media)
        };
        let links = vec![link(10, false), link(20, true)];
        NetworkObserver::new(&MeasurePlan::new(MS(10_000), vec![flow], links))
    }

    fn packet(sent_at: Time, wait: TimeDelta) -> PacketMeta {
        PacketMeta { sent_at, wait, wire_size: 1000, payload: 900, frame: 0, control: false }
    }

    #[test]
    fn a_packet_waits_from_when_it_has_come_to_the_bottleneck_for_as_long_as_it_says() {
        let network_observer = network_observer();
        let own = packet(MS(100), TimeDelta::from_millis(200));
        let lost = packet(MS(150), TimeDelta::ZERO);
        network_observer.sent(0, &own);
        network_observer.sent(0, &lost);
        network_observer.dropped(MS(260), 0, &lost);
        network_observer.delivered(MS(340), 0, &own);
        let mut backlog = BacklogReader::default();
        let mut waiting = |ms| network_observer.waiting(0, MS(ms), &mut backlog);
        assert_eq!([110, 120, 170, 270, 310, 320].map(&mut waiting), [0, 1000, 2000, 1000, 1000, 0]);
        assert_eq!(waiting(9000), 0, "long ago");
        // At the far end at 340 ms, 20 ms behind the bottleneck.
        assert_eq!(network_observer.passed(0, (MS(300), MS(320))), 0);
        assert_eq!(network_observer.passed(0, (MS(320), MS(330))), 1000);
        assert_eq!(network_observer.waiting(7, MS(300), &mut BacklogReader::default()), 0, "nobody's");
    }
}
