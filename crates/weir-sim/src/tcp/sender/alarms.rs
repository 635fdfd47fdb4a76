//! Timers of a TCP sender that finds losses by time: the retransmission timer, the timer of a tail loss probe (RFC
//! 8985 §7), and the end of the reordering window.

use weir_cc::SendTime;
use weir_cc::window::Congestion;
use weir_units::TimeDelta;
use weir_world::tcp::{SackBlock, Segment};

use super::undo::Undo;
use super::{State, TcpSender};

/// Allowance for a delayed acknowledgement of a lone segment (`TLP.max_ack_delay`, RFC 8985 §7.2).
const DELAYED_ACK_ALLOWANCE: TimeDelta = TimeDelta::from_millis(200);

/// Least delay of Linux's timers, added to the computed delay (`TCP_TIMEOUT_MIN`).
const MIN_TIMER: TimeDelta = TimeDelta::from_millis(2);

/// Delay of a timer whose time has passed already, so that it expires at once.
const IMMEDIATE: TimeDelta = TimeDelta::from_nanos(1);

/// Purpose of a sender's deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SenderDeadline {
    /// Retransmission timeout: all outstanding segments are lost.
    #[default]
    Retransmission,
    /// A tail loss probe leaves.
    Probe,
    /// The reordering window ends: segments that could have been late only are lost.
    Reordering,
}

/// State of tail loss probes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeState {
    /// Whether a probe must be sent.
    pub(super) due: bool,
    /// The probe that is outstanding.
    pub(super) probe: Option<TailLossProbe>,
    /// Whether the acknowledgement has proved a loss that must be reported to the coupler.
    pub(super) repaired: bool,
}

/// A tail loss probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailLossProbe {
    /// Cumulative acknowledgement that covers the probe (`TLP.end_seq`).
    end: u32,
    /// Number after the segment that the probe retransmits, if it retransmits one. An acknowledgement of the probe
    /// then indicates a loss, unless both copies arrive.
    retransmitted: Option<u32>,
}

impl TcpSender {
    /// Sets the timer after an acknowledgement.
    pub(super) fn set_timer(&mut self, now: SendTime, progress: bool, recheck: Option<SendTime>) {
        if self.board.flight() == 0 {
            self.deadline = None;
            self.alarm = SenderDeadline::Retransmission;
        } else if let Some(recheck) = recheck {
            self.deadline = Some(self.expiry(now, recheck.max(now) - now + MIN_TIMER));
            self.alarm = SenderDeadline::Reordering;
        } else if progress {
            self.set_retransmission_timer(now, self.rtt.rto());
        }
    }

    /// Sets the retransmission timer, which expires in `rest`. Where a probe is allowed it is sent before, at the
    /// latest when the timer would expire, unless that time has passed.
    fn set_retransmission_timer(&mut self, now: SendTime, rest: TimeDelta) {
        let probe = self.probe_timeout();
        self.alarm = if probe.is_some() { SenderDeadline::Probe } else { SenderDeadline::Retransmission };
        let after = match probe {
            Some(timeout) if rest <= TimeDelta::ZERO => timeout,
            Some(timeout) => timeout.min(rest),
            None => rest.max(IMMEDIATE),
        };
        self.deadline = Some(self.expiry(now, after));
    }

    /// `PTO`, the time until a probe (RFC 8985 §7.2); `None` while a loss is suspected.
    fn probe_timeout(&self) -> Option<TimeDelta> {
        let calm = match self.state {
            State::Open => !self.board.has_sacked(),
            State::Reducing => true,
            _ => false,
        };
        let srtt = self.rtt.smoothed().filter(|_| calm && self.config.tlp)?;
        let more = if self.board.flight() == 1 { DELAYED_ACK_ALLOWANCE } else { MIN_TIMER };
        Some((srtt * 2 + more).min(self.rtt.rto()))
    }

    /// Remaining time of the first outstanding segment's retransmission timer; negative if it should have expired.
    fn remaining_timeout(&self, now: SendTime) -> TimeDelta {
        let Some(rack) = &self.rack else { return self.rtt.rto() };
        rack.left_at(self.board.first()) + self.rtt.rto() - now
    }

    /// Sets the retransmission timer of the first outstanding segment.
    pub(super) fn set_remaining_timeout(&mut self, now: SendTime) {
        self.alarm = SenderDeadline::Retransmission;
        self.deadline = Some(self.expiry(now, self.remaining_timeout(now).max(IMMEDIATE)));
    }

    /// Sets the timer after a segment has left.
    pub(super) fn set_timer_after(&mut self, now: SendTime, segment: &Segment) {
        if segment.retransmission {
            if segment.number == self.board.first() && self.alarm != SenderDeadline::Reordering {
                self.deadline = None;
            }
        } else if self.alarm != SenderDeadline::Reordering && self.probe_timeout().is_some() {
            self.set_retransmission_timer(now, self.remaining_timeout(now));
        }
        if self.deadline.is_none() {
            self.alarm = SenderDeadline::Retransmission;
            self.restart_timer(now);
        }
    }

    /// Handles the expiry of the probe timer: a probe must be sent, unless one is outstanding.
    pub(super) fn on_probe_timer(&mut self, now: SendTime) {
        self.tail.due = self.tail.probe.is_none() && self.board.flight() > 0;
        self.set_remaining_timeout(now);
    }

    /// Sends the probe: a new segment if there is one, else the last outstanding one, if any.
    pub(super) fn send_probe(&mut self, now: SendTime) -> Option<Segment> {
        self.tail.due = false;
        let last = self.board.last_hole()?;
        self.burst.end();
        self.counts.probes += 1;
        let segment = self.send_new(now).unwrap_or_else(|| {
            self.board.resend_early(last);
            self.retransmit(now, last)
        });
        let retransmitted = segment.retransmission.then_some(last + 1);
        self.tail.probe = Some(TailLossProbe { end: self.board.next(), retransmitted });
        self.alarm = SenderDeadline::Retransmission;
        self.restart_timer(now);
        Some(segment)
    }

    /// Evaluates the probe (RFC 8985 §7.4) at an acknowledgement of all segments below `cumulative`, with a `duplicate`
    /// or `delivered` segments.
    pub(super) fn evaluate_probe(
        &mut self,
        now: SendTime,
        cumulative: u32,
        duplicate: Option<SackBlock>,
        delivered: bool,
    ) {
        let Some(TailLossProbe { end, retransmitted }) = self.tail.probe else { return };
        let both = retransmitted.is_some() && duplicate.map(|block| block.end) == retransmitted;
        let may_be_lost = retransmitted.is_some() && !both;
        if cumulative < end || (may_be_lost && cumulative == end && delivered) {
            return;
        }
        self.tail.probe = None;
        if may_be_lost && cumulative > end && self.state == State::Open {
            // The probe has repaired the loss of the segment it retransmits, for good.
            self.undo = Undo::default();
            self.algorithm.on_congestion(
                &mut self.window,
                now,
                Congestion::Loss,
                f64::from(self.board.flight()),
            );
            self.ecn.on_reduced(self.board.next());
            self.tail.repaired = self.coupled.is_coupled();
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_cc::ArrivalTime;
    use weir_cc::window::NewReno;
    use weir_world::tcp::{Acknowledgement, TcpConfig, Timestamps};

    use super::*;

    #[test]
    fn a_timer_that_would_have_run_out_does_not_hasten_the_probe() {
        // With a round trip of 100 ms the probe leaves after two of them and 2 ms more, or when the timer would expire.
        let config = TcpConfig { rack: true, tlp: true, ..TcpConfig::default() };
        let mut sender = TcpSender::new(config, Box::new(NewReno::new()), None);
        let (at, ms) = (SendTime::from_millis(100), TimeDelta::from_millis);
        sender.start(SendTime::ZERO);
        while sender.poll_segment(SendTime::ZERO).is_some() {}
        let stamps = Timestamps::new(SendTime::ZERO, ArrivalTime::ZERO);
        let sacks = [SackBlock::EMPTY; 3];
        let answer = Acknowledgement { cumulative: 0, syn: true, sacks, stamps, ece: false, marked: 0 };
        sender.on_ack(at, &answer);
        while sender.poll_segment(at).is_some() {}
        for (rest, due) in [(50, 50), (300, 202), (0, 202), (-80, 202)] {
            sender.set_retransmission_timer(at, ms(rest));
            assert_eq!(
                (sender.deadline, sender.alarm),
                (Some(at + ms(due)), SenderDeadline::Probe),
                "{rest}"
            );
        }
    }
}
