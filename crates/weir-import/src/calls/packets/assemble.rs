//! Assembly of a call from datagrams: the first part of a file decides which direction it is.

use weir_world::RecordedCall;
use weir_world::recorded::{ArrivalClock, CallBuilder, RecordingSource};

use super::choice::{FlowChoice, FlowSurvey};
use super::datagram::{FileDatagram, FormFacts};
use super::rtp::{RtpRecord, is_rtcp, rtcp_sender};
use crate::calls::{CallImportError, CallOptions};

/// Datagrams by which the direction is chosen.
const SURVEYED: usize = 100_000;
/// Most bytes of RTCP among them.
const SURVEYED_BYTES: usize = 16 << 20;

/// A call under assembly.
pub(super) struct CallAssembler<'o> {
    options: &'o CallOptions,
    facts: FormFacts,
    sender: bool,
    survey: FlowSurvey,
    waiting: Vec<(WaitingMeta, WaitingDatagram)>,
    waiting_bytes: usize,
    entered: Option<EnteredCall>,
}

/// Time, pair, direction and overhead of a datagram.
type WaitingMeta = (i64, u32, bool, u32);

enum WaitingDatagram {
    Rtp(RtpRecord),
    Rtcp(Box<[u8]>),
}

struct EnteredCall {
    choice: FlowChoice,
    builder: CallBuilder,
    facts: FormFacts,
    sources: Vec<u32>,
    first_us: Option<i64>,
    /// Whether packets have a transport-wide number, and an absolute send time.
    has_extensions: [bool; 2],
}

/// A call with the source identifiers of its streams, and the time of its first event in the file.
pub(super) struct AssembledCall {
    pub(super) call: RecordedCall,
    pub(super) sources: Vec<u32>,
    pub(super) first_us: i64,
    /// Remaining hops of the packets; 0 where unknown.
    pub(super) hops: u8,
}

impl<'o> CallAssembler<'o> {
    /// An empty call from a file of these facts; `sender` says that the file is of the sender's end.
    pub(super) fn new(facts: FormFacts, sender: bool, options: &'o CallOptions) -> Self {
        Self {
            options,
            facts,
            sender,
            survey: FlowSurvey::default(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            entered: None,
        }
    }

    /// Takes a datagram.
    ///
    /// # Errors
    /// The first part of the file has no RTP, or several calls.
    pub(super) fn add(&mut self, datagram: &FileDatagram<'_>) -> Result<(), CallImportError> {
        let meta = (datagram.time_us, datagram.pair, datagram.forward, datagram.overhead);
        if is_rtcp(datagram.bytes) {
            if let Some(entered) = &mut self.entered {
                entered.rtcp(meta, datagram.bytes);
                return Ok(());
            }
            self.survey.note_rtcp(datagram);
            self.waiting_bytes += datagram.bytes.len();
            self.waiting.push((meta, WaitingDatagram::Rtcp(datagram.bytes.into())));
        } else {
            let Some(record) = RtpRecord::read(datagram, self.options.extensions) else { return Ok(()) };
            if let Some(entered) = &mut self.entered {
                entered.rtp(meta, &record);
                return Ok(());
            }
            self.survey.note_rtp(datagram, &record);
            self.waiting.push((meta, WaitingDatagram::Rtp(record)));
        }
        if self.waiting.len() >= SURVEYED || self.waiting_bytes >= SURVEYED_BYTES {
            self.decide()?;
        }
        Ok(())
    }

    fn decide(&mut self) -> Result<(), CallImportError> {
        let choice = self.survey.choose(self.facts, self.sender, self.options)?;
        let mut entered = EnteredCall::new(choice, self.facts);
        for (meta, datagram) in core::mem::take(&mut self.waiting) {
            match datagram {
                WaitingDatagram::Rtp(record) => entered.rtp(meta, &record),
                WaitingDatagram::Rtcp(bytes) => entered.rtcp(meta, &bytes),
            }
        }
        self.entered = Some(entered);
        self.survey = FlowSurvey::default();
        Ok(())
    }

    /// The call.
    ///
    /// # Errors
    /// The file has no RTP, several calls, or no packet with a header extension that was asked for.
    pub(super) fn finish(mut self) -> Result<AssembledCall, CallImportError> {
        if self.entered.is_none() {
            self.decide()?;
        }
        let entered = self.entered.expect("it was decided above");
        let ids = self.options.extensions;
        let asked = [("transport-cc", ids.transport_sequence), ("abs-send-time", ids.abs_send_time)];
        for ((name, id), found) in asked.into_iter().zip(entered.has_extensions) {
            if let (Some(id), false) = (id, found) {
                let problem = format!(
                    "no packet of the media has a header extension {id} as --extension-id {name}={id} says"
                );
                return Err(CallImportError::Lacking(problem));
            }
        }
        Ok(AssembledCall {
            hops: entered.choice.hops,
            call: entered.builder.finish(),
            sources: entered.sources,
            first_us: entered.first_us.unwrap_or(0),
        })
    }
}

impl EnteredCall {
    fn new(choice: FlowChoice, facts: FormFacts) -> Self {
        let source =
            if choice.encrypted { RecordingSource::EncryptedCapture } else { RecordingSource::ReadableRtp };
        let mut builder = CallBuilder::new(source);
        if choice.departures {
            builder.set_arrival_clock(ArrivalClock::Receiver);
        }
        let mut sources = Vec::new();
        for &(ssrc, kind, hz) in &choice.streams {
            if builder.declare_stream(ssrc, kind, hz) {
                sources.push(ssrc);
            }
        }
        for remark in &choice.remarks {
            builder.remark(remark.with(&[]));
        }
        Self { choice, builder, facts, sources, first_us: None, has_extensions: [false; 2] }
    }

    fn touch(&mut self, time_us: i64) {
        self.first_us = Some(self.first_us.map_or(time_us, |first| first.min(time_us)));
    }

    fn rtp(&mut self, (time_us, pair, forward, overhead): WaitingMeta, record: &RtpRecord) {
        if (pair, forward) != self.choice.flow {
            return;
        }
        self.touch(time_us);
        let is_new = !self.builder.knows_stream(record.ssrc);
        let packet = record.departure(self.choice.encrypted);
        self.has_extensions[0] |= record.transport_number.is_some();
        self.has_extensions[1] |= record.send_time.is_some();
        if self.choice.departures {
            self.builder.on_sent(time_us, &packet);
        } else if let Some(stamp) = record.send_time {
            self.builder.on_received_stamped(time_us, &packet, stamp);
        } else {
            self.builder.on_received(time_us, &packet);
        }
        if is_new && self.builder.knows_stream(record.ssrc) {
            self.sources.push(record.ssrc);
        }
        let call = self.builder.call_mut();
        if call.packet_overhead_bytes == 0 {
            call.packet_overhead_bytes = overhead;
        }
    }

    fn rtcp(&mut self, (time_us, pair, forward, _): WaitingMeta, bytes: &[u8]) {
        if pair != self.choice.flow.0 || self.choice.encrypted {
            return;
        }
        self.touch(time_us);
        if !self.builder.has_room() {
            return;
        }
        let sent = if self.facts.one_way {
            rtcp_sender(bytes).is_some_and(|ssrc| self.builder.knows_stream(ssrc))
        } else {
            forward == self.choice.flow.1
        };
        match (sent, self.choice.departures) {
            (true, true) => self.builder.on_rtcp_sent(time_us, bytes),
            (false, true) => self.builder.on_rtcp(time_us, bytes),
            (false, false) => self.builder.on_rtcp_of_receiver(time_us, bytes),
            (true, false) => {}
        }
    }
}
