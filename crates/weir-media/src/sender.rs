//! The sending end of a media flow. Frames go encoder → packetiser → pacer → network; while a probe is being sent, the
//! prober replaces the pacer. Feedback goes guard → history → controller, which steers encoder and pacer.

mod source;

use weir_cc::{AllocatedRate, Controller, Decision, PathEvent, SendTime, Target};
use weir_units::{DataRate, DataSize};

use crate::config::MediaConfig;
use crate::content::{Content, MediaPacket, SentFrame};
use crate::guard::{Alarm, RefusedReports};
use crate::path::{OutgoingPacket, PathSender};
use crate::path_config::PathConfig;
use crate::rtcp_outcome::RtcpOutcome;
use crate::sources::{Kind, Sources};
use crate::timer::SenderTimer;
use source::{CapturedFrame, MediaSource};

/// Seeds of the randomness of a [`MediaSender`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SenderSeeds {
    /// Seed of the encoder.
    pub encoder: u64,
    /// Seed of the times of its reports.
    pub rtcp: u64,
}

/// The sending end of a media flow. A [`Session`](crate::Session) drives it; to drive it alone, at
/// [`Self::next_timeout`] or when RTCP comes, call [`Self::on_timeout`], [`Self::poll_frame`], [`Self::poll_packet`]
/// and [`Self::poll_rtcp`] until they have nothing.
#[derive(Debug)]
pub struct MediaSender {
    path: PathSender<MediaSource>,
    sources: Sources,
}

impl MediaSender {
    /// A sender that has not started yet, whose video has the source identifier `ssrc`.
    pub fn new(controller: Box<dyn Controller>, config: MediaConfig, ssrc: u32, seeds: SenderSeeds) -> Self {
        let sources = Sources::new(ssrc, &config);
        let source = MediaSource::new(&config, seeds.encoder);
        let (identities, mechanism) = (sources.identities(), PathConfig::of(&config));
        Self { path: PathSender::new(controller, mechanism, &identities, source, seeds.rtcp), sources }
    }

    /// Starts the flow: the first frame is captured now. A sender starts once.
    pub fn start(&mut self, now: SendTime) {
        self.path.start(now);
    }

    /// Stops the flow: no packet leaves any more, and packets waiting in the pacer are dropped.
    pub fn stop(&mut self) {
        self.path.stop();
    }

    /// The application stops sending on purpose: no frames, no packets, no reports; packets waiting in the pacer are
    /// dropped. Feedback on packets in flight is still taken, and the controller's timer goes on. Twice is harmless.
    pub fn pause(&mut self, now: SendTime) -> Option<Decision> {
        self.path.pause(now)
    }

    /// The application sends again: a frame is captured now, a key frame if the encoder makes any. Sequence numbers go
    /// on without a gap; RTP timestamps include the pause.
    pub fn resume(&mut self, now: SendTime) -> Option<Decision> {
        self.path.resume(now)
    }

    /// Time of the next timer. Unset while stopped, and while paused if the controller has no timer.
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.next_timer().map(|(due, _)| due)
    }

    /// The next timer and its time; of several at once the one that is served first.
    pub fn next_timer(&self) -> Option<(SendTime, SenderTimer)> {
        self.path.next_timer()
    }

    /// Calls the controller if its timer is due, and stops media if there was no feedback on it for too long.
    pub fn on_timeout(&mut self, now: SendTime) -> Option<Decision> {
        self.path.on_timeout(now)
    }

    /// Captures the next frame if it is due; call until `None`. After a delay of more than two frames the missed frames
    /// are skipped: frames, and the times of audio, go on from now. Numbers count captured frames, RTP timestamps the
    /// time that has passed.
    pub fn poll_frame(&mut self, now: SendTime) -> Option<SentFrame> {
        let started = self.path.started()?;
        if !self.path.source.is_frame_due(now) {
            return None;
        }
        let (target, waits) = (*self.path.target(), self.path.packets_wait());
        let holds = self.path.holds_layer(now);
        let CapturedFrame { frame, was_empty } =
            self.path.source.capture_frame(now, started, &target, waits, holds);
        if let Some(was_empty) = was_empty {
            self.path.on_queued(now, was_empty);
        }
        self.path.report_streams(now);
        if was_empty.is_some() {
            self.path.on_media_queued(now);
        }
        Some(frame)
    }

    /// The next packet that may leave now; call until `None`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a packet is not copied right after its fields were written one by one"
    )]
    pub fn poll_packet(&mut self, now: SendTime) -> Option<MediaPacket> {
        let started = self.path.started()?;
        self.path.expire(now);
        let content = match self.path.source.poll_audio(now) {
            Some((recorded, payload)) => Content::Audio(Kind::Audio.ticks(recorded - started), payload),
            None if self.path.may_send(now) => self.path.source.pop(now),
            None => return None,
        };
        Some(self.emit(now, content))
    }

    /// Sends a packet with `content`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `poll_packet`")]
    fn emit(&mut self, now: SendTime, content: Content) -> MediaPacket {
        let kind = self.kind_of(content);
        let packet = OutgoingPacket {
            stream: self.sources.place(kind),
            payload_type: content.payload_type(),
            timestamp: content.timestamp(),
            payload: content.payload(),
            marker: content.is_last_of_frame(),
            marking: content.marking(),
            original: content.original(),
            padding: matches!(content, Content::Padding),
            paced: !content.is_audio(),
        };
        let departed = self.path.send(now, &packet);
        self.path.source.on_sent(now, content, &departed.header);
        MediaPacket {
            header: departed.header,
            payload: packet.payload,
            frame: content.frame(),
            audio: content.is_audio(),
            probe: departed.probe,
        }
    }

    /// The stream of `content`. Padding travels with retransmissions where there are any.
    fn kind_of(&self, content: Content) -> Kind {
        match content {
            Content::Padding if self.sources.retransmissions.is_some() => Kind::Retransmission,
            content => content.kind(),
        }
    }

    /// Writes the RTCP packet that is due into `out` and returns its length; call until `None`.
    pub fn poll_rtcp(&mut self, now: SendTime, out: &mut [u8]) -> Option<usize> {
        self.path.poll_rtcp(now, out)
    }

    /// Takes an RTCP compound packet. Malformed parts and parts about other flows are skipped.
    pub fn on_rtcp(&mut self, now: SendTime, bytes: &[u8]) -> RtcpOutcome {
        self.path.on_rtcp(now, bytes)
    }

    /// Takes an event outside the controller. A change of route ends the present probe, and the controller gets no more
    /// feedback on packets sent before it.
    pub fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        self.path.on_event(now, event)
    }

    /// Whether a stream of this flow has the same source identifier as a stream of `other`.
    pub(crate) fn shares_a_source_with(&self, other: &Self) -> bool {
        self.path.shares_a_stream_with(&other.path)
    }

    /// Applies an allocation by the coupler. Returns the rate that the controller took.
    pub fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate {
        self.path.apply_allocation(now, share)
    }

    /// Payload bytes waiting in front of the pacer.
    pub fn queued(&self) -> DataSize {
        self.path.state().queued
    }

    /// The controller's present target.
    pub fn target(&self) -> &Target {
        self.path.target()
    }

    /// Whether the flow has started, and not stopped.
    pub fn has_started(&self) -> bool {
        self.path.started().is_some()
    }

    /// Whether the target changed since the last call.
    pub fn take_target_change(&mut self) -> bool {
        self.path.take_target_change()
    }

    /// The controller, to observe its signals.
    pub fn controller(&self) -> &dyn Controller {
        self.path.controller()
    }

    /// Restricts the sources that report on the flow to those that the other end announced. While the list is empty,
    /// any source that knows the flow's identifiers is believed.
    pub fn believe_only(&mut self, reporters: &[u32]) {
        self.path.believe_only(reporters);
    }

    /// Time of the last feedback to the controller.
    pub fn last_feedback(&self) -> Option<SendTime> {
        self.path.last_feedback()
    }

    /// The next alarm to the embedder, each returned once; call until `None`.
    pub fn take_alarm(&mut self) -> Option<Alarm> {
        self.path.take_alarm()
    }

    /// Number of reports of the receiver's statistics with impossible values.
    pub fn refused_statistics(&self) -> u64 {
        self.path.refused_statistics()
    }

    /// Counts of reports about the flow that were not believed.
    pub fn refused_reports(&self) -> RefusedReports {
        self.path.refused_reports()
    }
}
