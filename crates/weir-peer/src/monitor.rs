//! Figures of the flows that an end sends.

use weir_cc::{Controller, Decision, Target};
use weir_media::{Breaker, MediaPacket};
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};
use weir_world::{CallMonitor, FrameMeta, Monitor, RecordedCall, Side};

/// Figures of a sent flow.
#[derive(Clone, Debug, Default)]
pub struct SentFigures {
    /// Packets.
    pub packets: u64,
    /// Their bytes, headers of IP and UDP and trailers included.
    pub bytes: u64,
    /// Payload bytes of media.
    pub payload: u64,
    /// Frames that were encoded.
    pub frames: u64,
    /// Frames that were skipped.
    pub skipped_frames: u64,
    /// The present target; zero without a controller.
    pub target: DataRate,
    /// The circuit breaker that has stopped the flow.
    pub stopped: Option<String>,
    /// Sum of target times time, in bit/s · ns, up to the last change.
    target_sum: u128,
    /// Time of the last change of the target, and of the first one.
    target_since: Option<[Time; 2]>,
}

impl SentFigures {
    /// The mean target until `now`.
    pub fn mean_target(&self, now: Time) -> DataRate {
        let Some([first, since]) = self.target_since else { return DataRate::ZERO };
        let open = u128::from(self.target.bps()) * (now - since).nanos().max(0) as u128;
        let span = (now - first).nanos().max(1) as u128;
        DataRate::from_bps(((self.target_sum + open) / span) as u64)
    }

    fn set_target(&mut self, now: Time, target: DataRate) {
        let [first, since] = self.target_since.unwrap_or([now, now]);
        self.target_sum += u128::from(self.target.bps()) * (now - since).nanos().max(0) as u128;
        self.target_since = Some([first, now]);
        self.target = target;
    }
}

/// Observer of the hosts of an end: figures, and the recorded calls.
#[derive(Debug, Default)]
pub(crate) struct PeerMonitor {
    /// Figures of the sent flows, by their index without those before `base`.
    pub(crate) sent: Vec<SentFigures>,
    base: usize,
    calls: Option<CallMonitor>,
}

impl PeerMonitor {
    /// A monitor of `count` sent flows, the first of which has the index `base`. Flows for which `is_media` is set are recorded.
    pub(crate) fn new(base: usize, is_media: &[bool], record: bool) -> Self {
        let calls = record.then(|| {
            let before = std::iter::repeat_n(false, base);
            CallMonitor::at_senders(before.chain(is_media.iter().copied()))
        });
        Self { sent: vec![SentFigures::default(); is_media.len()], base, calls }
    }

    /// The figures of the flow of this index, if this end sends it.
    pub(crate) fn flow(&mut self, flow: usize) -> Option<&mut SentFigures> {
        self.sent.get_mut(flow.checked_sub(self.base)?)
    }

    /// The recorded calls, with the index of their flow.
    pub(crate) fn take_calls(&mut self) -> Vec<(usize, RecordedCall)> {
        self.calls.take().map(|calls| calls.finish().collect()).unwrap_or_default()
    }
}

impl Monitor for PeerMonitor {
    fn wants_rtp(&self) -> bool {
        self.calls.is_some()
    }

    fn rtp_sent(&mut self, now: Time, flow: usize, packet: &MediaPacket) {
        self.calls.iter_mut().for_each(|calls| calls.rtp_sent(now, flow, packet));
    }

    fn rtcp_arrived(&mut self, now: Time, flow: usize, at: Side, bytes: &[u8]) {
        self.calls.iter_mut().for_each(|calls| calls.rtcp_arrived(now, flow, at, bytes));
    }

    fn frame(&mut self, now: Time, flow: usize, frame: &FrameMeta) {
        self.calls.iter_mut().for_each(|calls| calls.frame(now, flow, frame));
        if let Some(figures) = self.flow(flow) {
            let skipped = u64::from(frame.packets == 0);
            figures.skipped_frames += skipped;
            figures.frames += 1 - skipped;
        }
    }

    fn rtt(&mut self, now: Time, flow: usize, rtt: TimeDelta) {
        self.calls.iter_mut().for_each(|calls| calls.rtt(now, flow, rtt));
    }

    fn target(&mut self, now: Time, flow: usize, target: &Target) {
        self.calls.iter_mut().for_each(|calls| calls.target(now, flow, target));
        if let Some(figures) = self.flow(flow) {
            figures.set_target(now, target.media_rate);
        }
    }

    fn decided(&mut self, now: Time, flow: usize, decision: &Decision, controller: &dyn Controller) {
        self.calls.iter_mut().for_each(|calls| calls.decided(now, flow, decision, controller));
    }

    fn stopped(&mut self, now: Time, flow: usize, by: &Breaker) {
        self.calls.iter_mut().for_each(|calls| calls.stopped(now, flow, by));
        if let Some(figures) = self.flow(flow) {
            figures.stopped = Some(format!("{by:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_target_weighs_each_by_its_time() {
        let mut figures = SentFigures::default();
        assert_eq!(figures.mean_target(Time::from_millis(9)), DataRate::ZERO);
        figures.set_target(Time::from_millis(1000), DataRate::from_kbps(100));
        figures.set_target(Time::from_millis(4000), DataRate::from_kbps(500));
        // 3 s of 100 and 1 s of 500 kbit/s.
        assert_eq!(figures.mean_target(Time::from_millis(5000)), DataRate::from_kbps(200));
    }
}
