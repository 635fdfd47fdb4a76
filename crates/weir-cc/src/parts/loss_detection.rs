//! Detection of losses from the fates of packets: a packet is lost when three later ones have arrived.
//!
//! A per-packet report covers all packets below its newest one as missing or arrived, and some missing ones are only
//! late. TCP waits for three later packets (RFC 5681 §3.2), RAP for a distance of three.

use crate::packet::{PacketFate, PacketResult, SentPacket};

/// Number of later packets after which a missing one is lost.
const THRESHOLD: u64 = 3;
/// Greatest number of missing packets that may wait for later ones. On one path it is at most the distance. There are
/// more only if a report covers numbers beyond the newest arrival; these are lost.
const MAX_PENDING: usize = 8;

/// Missing packets that may still arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossDetection {
    pending: [Option<SentPacket>; MAX_PENDING],
    /// The highest number that has arrived.
    newest: Option<u64>,
}

impl LossDetection {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Takes the fates in a report, and calls `lost` with each packet that is now lost.
    pub(crate) fn on_results(&mut self, results: &[PacketResult], mut lost: impl FnMut(&SentPacket)) {
        for result in results {
            match result.fate {
                PacketFate::Arrived { .. } => {
                    self.newest = Some(self.newest.map_or(result.sent.id, |n| n.max(result.sent.id)));
                }
                PacketFate::Recovered { .. } => self.forget(result.sent.id),
                PacketFate::Missing => {}
            }
        }
        for slot in &mut self.pending {
            if let Some(packet) = slot.take_if(|packet| is_lost(self.newest, packet.id)) {
                lost(&packet);
            }
        }
        for result in results.iter().filter(|result| result.fate == PacketFate::Missing) {
            let sent = result.sent;
            match self.pending.iter_mut().find(|slot| slot.is_none()) {
                Some(slot) if !is_lost(self.newest, sent.id) => *slot = Some(sent),
                _ => lost(&sent),
            }
        }
    }

    /// The missing packet that left first of those that may still arrive.
    pub(crate) fn oldest(&self) -> Option<SentPacket> {
        self.pending.iter().flatten().min_by_key(|packet| packet.id).copied()
    }

    /// Removes packet `id` from the missing ones.
    pub(crate) fn forget(&mut self, id: u64) {
        for slot in &mut self.pending {
            slot.take_if(|packet| packet.id == id);
        }
    }
}

fn is_lost(newest: Option<u64>, id: u64) -> bool {
    newest.is_some_and(|newest| newest.saturating_sub(id) >= THRESHOLD)
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;
    use crate::packet::Ecn;
    use crate::time::{ArrivalTime, SendTime};

    const AT: ArrivalTime = ArrivalTime::ZERO;
    const ARRIVED: PacketFate = PacketFate::Arrived { at: Some(AT), ecn: Ecn::NotEct };
    const RECOVERED: PacketFate = PacketFate::Recovered { at: Some(AT), ecn: Ecn::NotEct };

    /// The packets that these fates prove lost.
    fn lost(detection: &mut LossDetection, fates: &[(u64, PacketFate)]) -> Vec<u64> {
        let result = |&(id, fate): &(u64, PacketFate)| {
            let size = DataSize::from_bytes(1000);
            let sent = SentPacket::new(id, SendTime::ZERO, size);
            PacketResult { sent, fate }
        };
        let results: Vec<_> = fates.iter().map(result).collect();
        let mut lost = Vec::new();
        detection.on_results(&results, |packet| lost.push(packet.id));
        lost
    }

    #[test]
    fn a_missing_packet_is_lost_once_a_packet_three_later_has_come() {
        let mut detection = LossDetection::new();
        assert!(lost(&mut detection, &[(0, ARRIVED), (1, PacketFate::Missing), (2, ARRIVED)]).is_empty());
        assert!(lost(&mut detection, &[(3, ARRIVED)]).is_empty());
        assert_eq!(lost(&mut detection, &[(4, ARRIVED)]), [1]);
        assert!(lost(&mut detection, &[(5, ARRIVED)]).is_empty(), "reported once");
    }

    #[test]
    fn in_one_report_the_newest_decides() {
        let mut detection = LossDetection::new();
        let report =
            [(1, PacketFate::Missing), (2, PacketFate::Missing), (3, PacketFate::Missing), (5, ARRIVED)];
        assert_eq!(lost(&mut detection, &report), [1, 2]);
        assert_eq!(lost(&mut detection, &[(6, ARRIVED)]), [3]);
    }

    #[test]
    fn a_packet_that_comes_late_is_not_lost() {
        let mut detection = LossDetection::new();
        lost(&mut detection, &[(1, PacketFate::Missing), (2, ARRIVED)]);
        assert!(lost(&mut detection, &[(1, RECOVERED), (3, ARRIVED), (4, ARRIVED), (5, ARRIVED)]).is_empty());
    }

    #[test]
    fn more_missing_ones_than_can_wait_are_lost() {
        let mut detection = LossDetection::new();
        let report: Vec<_> = (0..10).map(|id| (100 + id, PacketFate::Missing)).collect();
        assert_eq!(lost(&mut detection, &report), [108, 109]);
    }

    #[test]
    fn a_packet_that_came_at_an_unknown_time_has_come() {
        const UNTIMED: PacketFate = PacketFate::Arrived { at: None, ecn: Ecn::Ce };
        let mut detection = LossDetection::new();
        assert!(lost(&mut detection, &[(1, UNTIMED), (2, PacketFate::Missing), (4, ARRIVED)]).is_empty());
        assert_eq!(lost(&mut detection, &[(5, UNTIMED)]), [2]);
    }
}
