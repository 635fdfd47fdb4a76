//! Counts of one step, all from the feedback that has reached the sender.

use weir_cc::{
    ApparentDelay, ArrivalTime, DataRate, Ecn, Feedback, PacketFate, PacketResult, SendState, SendTime,
    SentPacket, TimeDelta,
};

/// Counts of the packets that left in a step, and of those that were reported in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepAccount {
    /// Payload bytes that left.
    pub(super) sent: u64,
    /// Payload bytes reported as arrived.
    pub(super) arrived: u64,
    /// From the last arrival reported before this step to the last one reported in it.
    pub(super) span: TimeDelta,
    /// Packets reported as arrived, those included that were reported as missing before.
    pub(super) packets: u32,
    /// Packets reported as missing.
    pub(super) missing: u32,
    /// Packets reported as arrived that were reported as missing before.
    pub(super) recovered: u32,
    /// Packets that arrived with a mark (CE).
    pub(super) marked: u32,
    /// Packets with a delay.
    pub(super) timed: u32,
    /// Sum of their delays in ns, relative to the first delay of the call.
    delays: i64,
    /// The least of these delays, in ns.
    least: i64,
}

/// The view of a sender at the end of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepView {
    pub(super) account: StepAccount,
    /// The least delay of the call so far in ns, relative to its first.
    base: i64,
    /// The last round-trip time; zero while unknown.
    pub(super) rtt: TimeDelta,
    /// Time since the last feedback, or since the start of the call.
    pub(super) silence: TimeDelta,
    /// State of the sending endpoint.
    pub(super) state: SendState,
}

impl StepView {
    /// Mean delay of the reported packets above the least of the call, if there were any.
    pub(super) fn mean_delay(&self) -> Option<f64> {
        let StepAccount { timed, delays, .. } = self.account;
        (timed > 0).then(|| (delays as f64 / f64::from(timed) - self.base as f64) / 1e9)
    }

    /// The least delay of the reported packets above the least of the call, if there were any.
    pub(super) fn least_delay(&self) -> Option<f64> {
        (self.account.timed > 0).then(|| (self.account.least - self.base) as f64 / 1e9)
    }
}

/// Counts of the present step, and what lasts from one step to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathAccount {
    step: StepAccount,
    /// The first delay, to which others are relative: the clocks of the two ends differ.
    first: Option<ApparentDelay>,
    /// The least delay so far in ns, relative to the first.
    base: i64,
    last_arrival: Option<ArrivalTime>,
    rtt: TimeDelta,
    /// Time of the last feedback, or of the first departure.
    silent_since: Option<SendTime>,
}

impl PathAccount {
    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.silent_since.get_or_insert(packet.at);
        self.step.sent += packet.payload.bytes();
    }

    pub(super) fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>) {
        let Feedback::Packets { results, rtt, .. } = feedback else { return };
        self.silent_since = Some(now);
        self.rtt = rtt.unwrap_or(self.rtt);
        let mut newest = self.last_arrival;
        for result in *results {
            newest = newest.max(self.on_result(result));
        }
        if let (Some(last), Some(newest)) = (self.last_arrival, newest) {
            self.step.span += newest - last;
        }
        self.last_arrival = newest;
    }

    /// Counts a packet, and returns its arrival time.
    fn on_result(&mut self, result: &PacketResult) -> Option<ArrivalTime> {
        let step = &mut self.step;
        let (at, ecn) = match result.fate {
            PacketFate::Missing => {
                step.missing += 1;
                return None;
            }
            PacketFate::Recovered { at, ecn } => {
                // No delay: it arrived out of order, so its delay is not that of the queue.
                step.recovered += 1;
                (at, ecn)
            }
            PacketFate::Arrived { at, ecn } => {
                if let Some(at) = at {
                    let delay = ApparentDelay::between(result.sent.at, at);
                    let delay = (delay - *self.first.get_or_insert(delay)).nanos();
                    self.base = self.base.min(delay);
                    step.least = if step.timed == 0 { delay } else { step.least.min(delay) };
                    step.delays = step.delays.saturating_add(delay);
                    step.timed += 1;
                }
                (at, ecn)
            }
        };
        step.packets += 1;
        step.marked += u32::from(ecn == Ecn::Ce);
        step.arrived += result.sent.payload.bytes();
        at
    }

    /// Forgets the delays: the path is another one.
    pub(super) fn on_route_changed(&mut self) {
        (self.first, self.base) = (None, 0);
        (self.step.timed, self.step.delays, self.step.least) = (0, 0, 0);
    }

    /// The view at the end of a step; the next step begins.
    pub(super) fn end_step(&mut self, now: SendTime, state: &SendState) -> StepView {
        let silence = self.silent_since.map_or(TimeDelta::ZERO, |last| now - last);
        let account = std::mem::take(&mut self.step);
        StepView { account, base: self.base, rtt: self.rtt, silence, state: *state }
    }
}

/// `bytes` in `time` as bit/s.
pub(super) fn bps(bytes: u64, time: TimeDelta) -> f64 {
    8.0 * bytes as f64 / time.secs_f64()
}

/// The time that `bytes` take at `rate`, in seconds.
pub(super) fn seconds_at(bytes: u64, rate: DataRate) -> f64 {
    8.0 * bytes as f64 / rate.bps_f64()
}
