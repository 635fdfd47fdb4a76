//! State of a flow that is coupled by windows (ctrlTCP).

use weir_units::TimeDelta;

use super::clock::AckClock;
use crate::coupled::conversion::possible_rtt;
use crate::coupled::message::{CwndUpdate, FlowParameters, Windowed};
use crate::time::SendTime;
use crate::window::Window;

/// A coupled flow.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(super) parameters: FlowParameters,
    /// Congestion signal of its controller.
    pub(super) congestion_signal: CongestionSignal,
    /// Bytes of a segment.
    pub(super) segment: f64,
    /// Its weight among the members.
    pub(super) weight: f64,
    /// The weight in whole numbers, for the ACK clock.
    pub(super) ticks: u64,
    /// `DW`, the desired window in bytes; infinite while the flow uses its share.
    pub(super) cap: f64,
    /// The window with which it continues, in segments.
    pub(super) window: Window,
    pub(super) phase: Phase,
    /// Whether it may have data in the network.
    pub(super) outstanding: bool,
    pub(super) base_rtt: Option<TimeDelta>,
    /// Time of its last acknowledgement or, before the first, of its join.
    pub(super) acknowledged_at: SendTime,
    /// Number of successive timeouts.
    pub(super) timeouts: u32,
    pub(super) clock: Option<AckClock>,
    pub(super) usage: ShareUsage,
}

/// Congestion signal of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CongestionSignal {
    /// Losses and marks, as in TCP.
    Loss,
    /// Delay, for a controller that reports its decisions.
    Delay,
}

/// State of a flow's loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No loss is being repaired.
    Open,
    /// Fast recovery, in which the flow's window is its own.
    Recovery,
    /// `ssbits`: its retransmission timer has expired, and the kind of timeout is not decided.
    Undecided,
    /// `ssbits`: its retransmission timer has expired while other flows are acknowledged.
    Isolated,
}

/// Use of its share by a flow, in rounds of the group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShareUsage {
    /// Bytes acknowledged in the present round and in the last one.
    pub(super) acked: [f64; 2],
    /// Greatest number of bytes in the network in the present round.
    pub(super) peak: f64,
    /// Whether the window limited the flow in this round, or the use is not known yet.
    pub(super) limited: bool,
}

impl Flow {
    pub(super) fn new(now: SendTime, parameters: FlowParameters, windowed: &Windowed) -> Self {
        Self {
            parameters,
            congestion_signal: CongestionSignal::Loss,
            segment: windowed.segment.bytes_f64().max(1.0),
            weight: parameters.priority,
            ticks: 1,
            cap: f64::INFINITY,
            window: windowed.window,
            phase: Phase::Open,
            outstanding: true,
            base_rtt: windowed.base_rtt,
            acknowledged_at: now,
            timeouts: 0,
            clock: None,
            usage: ShareUsage { limited: true, ..ShareUsage::default() },
        }
    }

    /// Whether its retransmission timer has expired and it has not recovered (`ssbits`).
    pub(super) fn is_timed_out(&self) -> bool {
        matches!(self.phase, Phase::Undecided | Phase::Isolated)
    }

    /// Counts an acknowledgement, in recovery or not.
    pub(super) fn on_acknowledged(&mut self, now: SendTime, cwnd_update: &CwndUpdate) {
        let acked = cwnd_update.acked * self.segment;
        self.acknowledged_at = now;
        self.timeouts = 0;
        self.outstanding = true;
        self.usage.acked[0] += acked;
        self.usage.peak = self.usage.peak.max(cwnd_update.flight * self.segment + acked);
        self.usage.limited |= cwnd_update.window_limited;
    }

    /// `srtt_min` in seconds.
    pub(super) fn base_seconds(&self) -> Option<f64> {
        self.base_rtt.filter(|&rtt| rtt > TimeDelta::ZERO).map(|rtt| possible_rtt(rtt).secs_f64())
    }

    /// Begins another round.
    pub(super) fn begin_round(&mut self) {
        let ShareUsage { acked: [acked, _], .. } = self.usage;
        self.usage = ShareUsage { acked: [0.0, acked], peak: 0.0, limited: false };
    }

    /// Bytes acknowledged in the present round and in the last one.
    pub(super) fn recently_acked(&self) -> f64 {
        self.usage.acked[0] + self.usage.acked[1]
    }
}

#[cfg(test)]
mod tests {
    use weir_units::{DataRate, DataSize};

    use super::*;
    use crate::coupled::message::WindowEvent;

    /// A flow with a window of 10 segments and a threshold of 5.
    fn flow() -> Flow {
        let parameters = FlowParameters { priority: 1.0, desired: None, least: DataRate::ZERO };
        let window = Window { cwnd: 10.0, ssthresh: 5.0 };
        let windowed = Windowed { window, segment: DataSize::from_bytes(1000), base_rtt: None };
        Flow::new(SendTime::ZERO, parameters, &windowed)
    }

    /// The acknowledgement of `acked` segments with `flight` segments in flight.
    fn acked(acked: f64, flight: f64, window_limited: bool) -> CwndUpdate {
        let window = Window { cwnd: 10.0, ssthresh: 5.0 };
        let (before, after, srtt, base_rtt) = (window, window, None, None);
        CwndUpdate {
            event: WindowEvent::Acknowledged,
            before,
            after,
            acked,
            flight,
            window_limited,
            srtt,
            base_rtt,
        }
    }

    #[test]
    fn recent_acknowledgements_are_those_of_this_round_and_the_last() {
        let mut flow = flow();
        let mut lately = |segments: f64, turns: bool| {
            flow.on_acknowledged(SendTime::from_millis(7), &acked(segments, 5.0, false));
            let bytes = flow.recently_acked();
            if turns {
                flow.begin_round();
            }
            bytes
        };
        assert_eq!((lately(1.0, false), lately(2.0, true)), (1000.0, 3000.0));
        assert_eq!((lately(4.0, true), lately(8.0, false)), (7000.0, 12_000.0));
        assert_eq!(flow.acknowledged_at, SendTime::from_millis(7));
    }

    #[test]
    fn use_is_judged_by_round() {
        let mut flow = flow();
        assert!(flow.usage.limited, "it cannot be judged yet");
        flow.begin_round();
        for flight in [3.0, 6.0, 4.0] {
            flow.on_acknowledged(SendTime::ZERO, &acked(2.0, flight, false));
        }
        // Flight before the acknowledgement: 6 + 2 segments.
        assert_eq!((flow.usage.peak, flow.usage.limited), (8000.0, false));
        flow.on_acknowledged(SendTime::ZERO, &acked(1.0, 1.0, true));
        flow.on_acknowledged(SendTime::ZERO, &acked(1.0, 1.0, false));
        assert!(flow.usage.limited);
        flow.begin_round();
        assert_eq!((flow.usage.peak, flow.usage.limited), (0.0, false));
    }
}
