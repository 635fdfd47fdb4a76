//! The sending end: clips, packets, pacer, prober, history and controller.

use weir_cc::history::SendHistory;
use weir_cc::pacer::Pacer;
use weir_cc::prober::Prober;
use weir_cc::{
    Controller, DataRate, DataSize, Decision, PathEvent, Report, SendState, SendTime, StreamsConfig, Target,
    TimeDelta,
};

use crate::clips::{ClipPlayer, ClipSet};
use crate::decisions::{DecisionLog, DecisionRow};
use crate::vp8::{VideoPacket, VideoQueue};

/// Time for which the history waits for feedback on a packet.
const HISTORY_HORIZON: TimeDelta = TimeDelta::from_secs(5);
/// Lateness of timers that the pacer makes up for.
const PACER_LATENESS: TimeDelta = TimeDelta::from_millis(1);
/// Video in front of the pacer, as time at the target, above which frames are left out.
const MOST_WAITING: TimeDelta = TimeDelta::from_millis(500);
/// Longest debt of frames larger than the target, as time at the target.
const MOST_DEBT: TimeDelta = TimeDelta::from_millis(500);
/// Payload of a full packet, by which a probe's packets become bytes.
const FULL_PACKET: u64 = 1150;
/// Clock of video in RTP.
const CLOCK_HZ: i64 = 90_000;

/// The sending end of a call. Its packets get their numbers in the order of [`VideoSender::on_sent`].
#[derive(Debug)]
pub(crate) struct VideoSender {
    controller: Box<dyn Controller>,
    history: SendHistory,
    pacer: Pacer,
    prober: Prober,
    /// Bytes of probes that no frame has been enlarged for.
    probe_bytes: u64,
    player: ClipPlayer,
    queue: VideoQueue,
    /// Bytes that frames may have beyond the present one, negative after larger ones.
    credit: f64,
    begun: SendTime,
    frames: u64,
    frame_due: SendTime,
    target: Target,
    log: DecisionLog,
}

impl VideoSender {
    /// A sender that captures its first frame at `now`. `usable` is the highest rate of the video.
    pub(crate) fn new(
        now: SendTime,
        controller: Box<dyn Controller>,
        clips: ClipSet,
        usable: DataRate,
    ) -> Self {
        let mut sender = Self {
            target: controller.target(),
            controller,
            history: SendHistory::new(HISTORY_HORIZON),
            pacer: Pacer::new(PACER_LATENESS),
            prober: Prober::new(),
            probe_bytes: 0,
            player: ClipPlayer::new(clips),
            queue: VideoQueue::default(),
            credit: 0.0,
            begun: now,
            frames: 0,
            frame_due: now,
            log: DecisionLog::default(),
        };
        sender.controller.on_streams(now, StreamsConfig::camera(usable));
        sender.refresh(now);
        sender
    }

    /// Puts another controller in place, which gets feedback on later packets alone.
    pub(crate) fn replace_controller(
        &mut self,
        now: SendTime,
        controller: Box<dyn Controller>,
        usable: DataRate,
    ) {
        self.controller = controller;
        self.history.change_route(now);
        self.prober.clear();
        self.probe_bytes = 0;
        self.controller.on_streams(now, StreamsConfig::camera(usable));
        self.refresh(now);
    }

    /// When [`Self::on_timeout`] should next be called.
    pub(crate) fn next_timeout(&self) -> SendTime {
        let controller = self.controller.next_timeout().unwrap_or(SendTime::MAX);
        controller.min(self.frame_due).min(self.departure_due().unwrap_or(SendTime::MAX))
    }

    /// Serves the controller's timer, and captures the frames that are due.
    pub(crate) fn on_timeout(&mut self, now: SendTime) {
        self.history.expire(now);
        self.prober.expire(now);
        if self.controller.next_timeout().is_some_and(|due| due <= now) {
            let state = self.state();
            let decision = self.controller.on_timeout(now, &state);
            self.decided(now, decision);
            self.refresh(now);
        }
        if self.frame_due <= now {
            self.capture(now);
        }
    }

    /// The packet that may leave now. [`Self::on_sent`] follows.
    pub(crate) fn pop(&mut self, now: SendTime) -> Option<VideoPacket> {
        self.departure_due().filter(|&due| due <= now)?;
        self.queue.pop()
    }

    /// Takes a packet that has left with the next number: of the video, or a retransmission.
    pub(crate) fn on_sent(&mut self, now: SendTime, header: DataSize, payload: DataSize) {
        let probe = self.prober.current().map(|probe| probe.id);
        let sent = self.history.on_sent(now, header, payload, false, probe);
        self.pacer.on_sent(now, payload);
        self.prober.on_sent(now, payload);
        let state = self.state();
        self.controller.on_sent(&sent, &state);
    }

    /// Takes a report.
    pub(crate) fn on_report(&mut self, now: SendTime, report: &Report<'_>) {
        if !self.controller.accepts(report.kind()) {
            return;
        }
        let state = self.state();
        let decision = match self.history.join(now, report) {
            Some(feedback) => self.controller.on_feedback(now, &feedback, &state),
            None => None,
        };
        self.decided(now, decision);
        if self.history.take_refuted_delay() {
            let decision = self.controller.on_event(now, PathEvent::DelayRefuted);
            self.decided(now, decision);
        }
        self.refresh(now);
    }

    /// The receiver asks for a key frame.
    pub(crate) fn request_key_frame(&mut self) {
        self.player.request_key_frame();
    }

    /// The history, by which feedback is read.
    pub(crate) fn history(&self) -> &SendHistory {
        &self.history
    }

    /// The present target.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// A decision that the log has not given before.
    pub(crate) fn take_decision(&mut self) -> Option<DecisionRow> {
        self.log.take()
    }

    /// Payload bytes in front of the pacer.
    pub(crate) fn waiting(&self) -> DataSize {
        DataSize::from_bytes(self.queue.bytes() as u64)
    }

    fn state(&self) -> SendState {
        // Frames are filled up to the target.
        let application_limited = false;
        SendState { in_flight: self.history.in_flight(), queued: self.waiting(), application_limited }
    }

    /// When the next packet may leave, or a full window may have room again; `None` if no packet waits.
    fn departure_due(&self) -> Option<SendTime> {
        let front = self.queue.front()?;
        if let Some(window) = self.target.window {
            let in_flight = self.history.in_flight();
            let size = DataSize::from_bytes(front.payload.len() as u64);
            if !in_flight.is_zero() && in_flight + size > window {
                return self.history.next_expiry();
            }
        }
        Some(self.prober.next_departure().unwrap_or_else(|| self.pacer.next_departure()))
    }

    fn capture(&mut self, now: SendTime) {
        let interval = 1.0 / self.player.frame_rate();
        self.frames += 1;
        self.frame_due = self.begun + TimeDelta::from_secs_f64(self.frames as f64 * interval);
        if self.frame_due <= now {
            // After a long sleep frames go on from now.
            (self.begun, self.frames) = (now, 1);
            self.frame_due = now + TimeDelta::from_secs_f64(interval);
        }
        let rate = self.target.media_rate;
        if self.waiting() / rate > MOST_WAITING {
            self.player.request_key_frame();
            return;
        }
        let share = rate.bps_f64() / 8.0 * interval;
        self.credit += share;
        let frame = self.player.next(rate);
        let probes = std::mem::take(&mut self.probe_bytes);
        let wanted = self.credit.max(probes as f64) as usize;
        if self.queue.front().is_none() {
            self.pacer.on_queued(now);
        }
        let timestamp = ((now - SendTime::ZERO).nanos() / 1000 * CLOCK_HZ / 1_000_000) as u32;
        let pushed = self.queue.push(&frame, wanted, now, timestamp);
        // A probe's bytes are beyond the target.
        let counted =
            if probes > 0 { pushed.min(frame.bytes.len().max(self.credit as usize)) } else { pushed };
        let least = -rate.bps_f64() / 8.0 * MOST_DEBT.secs_f64();
        self.credit = (self.credit - counted as f64).max(least);
        self.start_probe();
    }

    /// Lets a probe begin if a packet waits.
    fn start_probe(&mut self) {
        if let Some(front) = self.queue.front() {
            self.prober.on_queued(DataSize::from_bytes(front.payload.len() as u64));
        }
    }

    fn decided(&mut self, now: SendTime, decision: Option<Decision>) {
        if let Some(decision) = decision {
            self.log.on_decision(now, &decision, &*self.controller);
        }
    }

    /// Applies what an input has changed.
    fn refresh(&mut self, now: SendTime) {
        self.target = self.controller.target();
        self.pacer.apply(now, &self.target);
        while let Some(probe) = self.controller.poll_probe() {
            let bytes = probe.size.bytes().max(u64::from(probe.packets) * FULL_PACKET);
            self.probe_bytes += bytes + FULL_PACKET;
            self.prober.push(now, probe);
        }
    }
}
