//! `pkt_loss`: the ratio of lost packets over the last `N` intervals (RFC 8382 §3.2.5).

use super::ring::Ring;

/// Packets of an interval whose fate is known.
#[derive(Clone, Copy, Debug, Default)]
struct PacketCount {
    lost: u32,
    total: u32,
}

/// Losses of each interval; the open interval is the newest.
#[derive(Clone, Debug)]
pub(super) struct IntervalLosses {
    /// The open interval and the `N` before it.
    counts: Ring<PacketCount>,
    lost: u64,
    total: u64,
}

impl IntervalLosses {
    /// Counts over `intervals`.
    pub(super) fn new(intervals: u32) -> Self {
        Self { counts: Ring::new(intervals as usize), lost: 0, total: 0 }
    }

    /// Counts `total` packets that were sent `age` intervals before the open one, `lost` of them lost.
    pub(super) fn on_fate(&mut self, age: usize, lost: u32, total: u32) {
        let Some(count) = self.counts.get_mut(age) else { return };
        let before = *count;
        count.lost = count.lost.saturating_add(lost);
        count.total = count.total.saturating_add(total);
        self.lost += u64::from(count.lost - before.lost);
        self.total += u64::from(count.total - before.total);
    }

    /// Records that a packet of that interval, counted as lost, has arrived.
    pub(super) fn on_recovery(&mut self, age: usize) {
        let Some(count) = self.counts.get_mut(age).filter(|count| count.lost > 0) else { return };
        count.lost -= 1;
        self.lost -= 1;
    }

    /// `pkt_loss` with the open interval, in [0, 1]; 0 without any reported packet.
    pub(super) fn ratio(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.lost as f64 / self.total as f64 }
    }

    /// Number of packets in that measurement.
    pub(super) fn packets(&self) -> u32 {
        u32::try_from(self.total).unwrap_or(u32::MAX)
    }

    /// Ends the open interval and begins another one.
    pub(super) fn turn(&mut self) {
        let left = self.counts.push(PacketCount::default());
        self.lost -= u64::from(left.lost);
        self.total -= u64::from(left.total);
    }

    pub(super) fn clear(&mut self) {
        self.counts.clear();
        (self.lost, self.total) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_of_the_last_intervals_and_can_be_corrected_while_it_counts() {
        let mut losses = IntervalLosses::new(3);
        assert_eq!(losses.ratio(), 0.0);
        losses.on_fate(0, 2, 10);
        losses.turn();
        losses.on_fate(0, 0, 10);
        assert_eq!(losses.ratio(), 0.1);
        losses.on_recovery(1);
        assert_eq!(losses.ratio(), 0.05);
        losses.on_recovery(1);
        losses.on_recovery(1);
        assert_eq!(losses.ratio(), 0.0);
        losses.on_fate(7, 5, 5);
        losses.on_recovery(7);
        assert_eq!(losses.ratio(), 0.0, "what is too old does not count");
        losses.on_fate(0, 10, 10);
        assert_eq!(losses.ratio(), 10.0 / 30.0);
        (0..3).for_each(|_| losses.turn());
        assert_eq!(losses.ratio(), 0.0);
    }
}
