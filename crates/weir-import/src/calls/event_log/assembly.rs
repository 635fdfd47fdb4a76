//! Assembly of a call from the events of a log.

use weir_world::RecordedCall;
use weir_world::recorded::{
    ApplicationLimit, ArrivalClock, DecodedFrame, DelayEstimate, LossEstimate, ProbeCluster, ProbeOutcome,
    RateRow, RecordingSource, RemarkSentence, RouteChange, RtpDeparture,
};

use super::direction::MediaDirection;
use super::events::{DeclaredStream, LoggedEvent, PacketWay};
use super::probes;
use crate::calls::{CallImportError, CallOptions, EndSelection};

/// Packets after which the larger direction is chosen: the other one takes no memory from then on.
const DECIDING_PACKETS: u64 = 250_000;
/// Most events that wait for their order. libwebrtc writes at most 10 000 at a time.
const MOST_WAITING: usize = 200_000;
/// Most bytes of RTCP that wait.
const MOST_WAITING_BYTES: usize = 16 << 20;
/// Most time from the event of a decoded frame to its render time.
const MOST_RENDER_DELAY_US: i64 = 60_000_000;
/// Most selected candidate pairs that are kept.
const MOST_PAIRS: usize = 10_000;

/// A call under assembly.
#[derive(Debug)]
pub(super) struct CallAssembly {
    sent: MediaDirection,
    received: MediaDirection,
    ssrc: Option<u32>,
    selection: EndSelection,
    /// Events of the last messages: those of a kind are in order of time, and the kinds follow each other.
    waiting: Vec<(i64, LoggedEvent)>,
    /// Bytes of RTCP among them.
    waiting_bytes: usize,
    /// Field of the last message.
    last_field: u32,
    /// Whether a log has begun.
    begun: bool,
    /// Selected candidate pairs: they stand for routes in a log without these.
    pairs: Vec<RouteChange>,
    remarks: Vec<RemarkSentence>,
}

impl CallAssembly {
    pub(super) fn new(options: &CallOptions) -> Self {
        let CallOptions { direction, ssrc, .. } = *options;
        let (sender, receiver) = (RecordingSource::EventLogOfSender, RecordingSource::EventLogOfReceiver);
        let mut sent = MediaDirection::new(sender, direction != EndSelection::Received);
        if let Some(call) = &mut sent.call {
            call.set_arrival_clock(ArrivalClock::Receiver);
        }
        Self {
            sent,
            received: MediaDirection::new(receiver, direction != EndSelection::Sent),
            ssrc,
            selection: direction,
            waiting: Vec::new(),
            waiting_bytes: 0,
            last_field: 0,
            begun: false,
            pairs: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Adds a sentence about a gap of the recording.
    pub(super) fn remark(&mut self, sentence: RemarkSentence) {
        if !self.remarks.contains(&sentence) {
            self.remarks.push(sentence);
        }
    }

    /// Takes the begin of a log.
    pub(super) fn begin(&mut self) {
        if self.begun {
            self.remark(RemarkSentence::SEVERAL_LOGS);
        }
        self.begun = true;
    }

    /// Takes a stream that the browser set up.
    pub(super) fn declare(&mut self, stream: DeclaredStream) {
        self.direction_mut(stream.way).declare(stream);
    }

    fn direction_mut(&mut self, way: PacketWay) -> &mut MediaDirection {
        match way {
            PacketWay::Sent => &mut self.sent,
            PacketWay::Received => &mut self.received,
        }
    }

    /// Notes a message of the field `number`. libwebrtc writes the events of some seconds in order of their fields: a
    /// smaller field begins later events, and those before it are complete.
    pub(super) fn pass(&mut self, number: u32) {
        if number < self.last_field {
            self.flush();
        }
        self.last_field = number;
    }

    /// Takes the events of a message.
    pub(super) fn add(&mut self, events: Vec<(i64, LoggedEvent)>) {
        for event in events {
            if let LoggedEvent::Rtcp { datagram, .. } = &event.1 {
                self.waiting_bytes += datagram.len();
            }
            self.waiting.push(event);
            if self.waiting.len() >= MOST_WAITING || self.waiting_bytes >= MOST_WAITING_BYTES {
                self.flush();
            }
        }
    }

    /// Applies the events that wait, in order of time.
    fn flush(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        waiting.sort_by_key(|(time, _)| *time);
        for (time_us, event) in waiting.drain(..) {
            self.apply(time_us, event);
        }
        self.waiting = waiting;
    }

    fn apply(&mut self, time_us: i64, event: LoggedEvent) {
        match event {
            LoggedEvent::Rtp { way, packet, send_time } => self.on_rtp(time_us, way, &packet, send_time),
            LoggedEvent::Rtcp { way, datagram } => self.on_rtcp(time_us, way, &datagram),
            LoggedEvent::Decoded { render_us, width, height, quantiser } => {
                if let Some(call) = &mut self.received.call
                    && call.has_room()
                {
                    call.touch(time_us);
                    let quantiser = quantiser.map(i64::from).into();
                    // Time 0 is that of a frame that is shown at once.
                    let is_near = (render_us - time_us).abs() <= MOST_RENDER_DELAY_US;
                    let time_us = if is_near { render_us } else { time_us };
                    let frame = DecodedFrame { time_us, width, height, quantiser };
                    call.call_mut().decoded_frames.push(frame);
                }
            }
            LoggedEvent::SelectedPair { headers } => {
                if self.pairs.len() < MOST_PAIRS {
                    self.pairs.push(RouteChange { time_us, connected: 1, overhead_bytes: headers });
                }
            }
            LoggedEvent::Route { connected, overhead } => {
                let row = RouteChange { time_us, connected: connected.into(), overhead_bytes: overhead };
                for call in [&mut self.sent.call, &mut self.received.call].into_iter().flatten() {
                    call.touch(time_us);
                    if call.has_room() {
                        call.call_mut().route_changes.push(row);
                    }
                }
            }
            decision => self.on_decision(time_us, &decision),
        }
    }

    fn on_rtcp(&mut self, time_us: i64, way: PacketWay, datagram: &[u8]) {
        match (&mut self.sent.call, way) {
            (Some(call), PacketWay::Sent) => call.on_rtcp_sent(time_us, datagram),
            (Some(call), PacketWay::Received) => call.on_rtcp(time_us, datagram),
            (None, _) => {}
        }
        if let (Some(call), PacketWay::Sent) = (&mut self.received.call, way) {
            call.on_rtcp_of_receiver(time_us, datagram);
        }
    }

    fn on_rtp(&mut self, time_us: i64, way: PacketWay, packet: &RtpDeparture, send_time: Option<u32>) {
        let direction = self.direction_mut(way);
        direction.count(packet);
        match (&mut direction.call, way, send_time) {
            (Some(call), PacketWay::Sent, _) => call.on_sent(time_us, packet),
            (Some(call), PacketWay::Received, Some(send_time)) => {
                call.on_received_stamped(time_us, packet, send_time);
            }
            (Some(call), PacketWay::Received, None) => call.on_received(time_us, packet),
            (None, ..) => {}
        }
        if self.selection != EndSelection::Larger || self.sent.call.is_none() || self.received.call.is_none()
        {
            return;
        }
        let chosen = if let Some(ssrc) = self.ssrc {
            (ssrc == packet.ssrc).then_some(way)
        } else {
            let packets = self.sent.packets() + self.received.packets();
            (packets >= DECIDING_PACKETS).then(|| self.larger())
        };
        match chosen {
            Some(PacketWay::Sent) => self.received.call = None,
            Some(PacketWay::Received) => self.sent.call = None,
            None => {}
        }
    }

    /// Enters a decision of the sender.
    fn on_decision(&mut self, time_us: i64, decision: &LoggedEvent) {
        let Some(builder) = &mut self.sent.call else { return };
        builder.touch(time_us);
        if !builder.has_room() {
            return;
        }
        let call = builder.call_mut();
        match *decision {
            LoggedEvent::LossEstimate { bps, fraction_lost, packets } => {
                call.loss_estimates.push(LossEstimate { time_us, bps, fraction_lost, packets });
            }
            LoggedEvent::DelayEstimate { bps, state } => {
                call.delay_estimates.push(DelayEstimate { time_us, bps, state });
            }
            LoggedEvent::ProbeCluster { id, bps, min_packets, min_bytes } => {
                call.probe_clusters.push(ProbeCluster { time_us, id, bps, min_packets, min_bytes });
            }
            LoggedEvent::ProbeOutcome { id, bps, failure } => {
                let bps = bps.map(i64::from).into();
                call.probe_outcomes.push(ProbeOutcome { time_us, id, bps, failure });
            }
            LoggedEvent::ApplicationLimit { limited } => {
                call.application_limits.push(ApplicationLimit { time_us, limited: limited.into() });
            }
            LoggedEvent::RemoteCeiling { bps } => call.ceilings.push(RateRow { time_us, bps }),
            _ => {}
        }
    }

    /// The direction with more bytes of media.
    fn larger(&self) -> PacketWay {
        if self.received.bytes > self.sent.bytes { PacketWay::Received } else { PacketWay::Sent }
    }

    /// The call.
    ///
    /// # Errors
    /// The log has no packet of the direction or of the stream that was asked for.
    pub(super) fn finish(mut self) -> Result<RecordedCall, CallImportError> {
        self.flush();
        let way = match (&self.sent.call, &self.received.call) {
            (Some(_), None) => PacketWay::Sent,
            (None, Some(_)) => PacketWay::Received,
            _ => self.larger(),
        };
        self.refuse_without(way)?;
        let (pairs, remarks) = (std::mem::take(&mut self.pairs), std::mem::take(&mut self.remarks));
        let mut builder = self.direction_mut(way).take_call().ok_or_else(|| self.no_packet(way))?;
        for sentence in remarks {
            builder.remark(sentence.with(&[]));
        }
        if builder.call_mut().route_changes.is_empty() {
            for &pair in &pairs {
                builder.touch(pair.time_us);
                builder.call_mut().route_changes.push(pair);
            }
        }
        let call = builder.call_mut();
        call.packet_overhead_bytes = headers(&pairs, call);
        let mut call = builder.finish();
        probes::assign(&mut call);
        Ok(call)
    }

    /// Refuses a log without the packets that were asked for.
    fn refuse_without(&self, way: PacketWay) -> Result<(), CallImportError> {
        let direction = match way {
            PacketWay::Sent => &self.sent,
            PacketWay::Received => &self.received,
        };
        if direction.packets() == 0 {
            return Err(self.no_packet(way));
        }
        match self.ssrc {
            Some(ssrc) if !direction.has(ssrc) => Err(CallImportError::Lacking(format!(
                "the log has no packet of the stream {ssrc}; streams sent: {}; received: {}",
                self.sent.described(),
                self.received.described()
            ))),
            _ => Ok(()),
        }
    }

    fn no_packet(&self, way: PacketWay) -> CallImportError {
        let which = match (self.selection, way) {
            (EndSelection::Larger, _) => "",
            (_, PacketWay::Sent) => " that this end sent",
            (_, PacketWay::Received) => " that this end received",
        };
        CallImportError::Lacking(format!("the log has no RTP packet{which}"))
    }
}

/// Bytes of IP and UDP headers: those of the last candidate pair, else of the last route, whose overhead also has
/// the bytes of a relay and of SRTP.
fn headers(pairs: &[RouteChange], call: &RecordedCall) -> u32 {
    let of_pair = pairs.last().map_or(0, |pair| pair.overhead_bytes);
    match (of_pair, call.route_changes.overhead_bytes.last()) {
        (0, Some(48..)) => 48,
        (0, Some(28..)) => 28,
        (headers, _) => headers,
    }
}
