//! A direction of media in a log.

use std::collections::BTreeMap;

use weir_world::recorded::{CallBuilder, RecordingSource, RtpDeparture, StreamKind};

use super::events::DeclaredStream;

/// Most sources whose packets are counted.
const MOST_SOURCES: usize = 256;
/// Ticks of the RTP clock of video per second (RFC 3551 §5).
const VIDEO_CLOCK_HZ: u32 = 90_000;

/// A direction of media: its call so far, and its streams.
#[derive(Debug)]
pub(super) struct MediaDirection {
    /// The call; `None` if the other direction was chosen.
    pub(super) call: Option<CallBuilder>,
    /// Kind and clock of the streams that the browser set up.
    kinds: BTreeMap<u32, (StreamKind, u32)>,
    /// Kind and clock of the streams that the browser set up and that have no source in the log.
    unnamed: Option<(StreamKind, u32)>,
    /// Bytes of media and padding.
    pub(super) bytes: u64,
    /// Packets by their source.
    sources: BTreeMap<u32, u64>,
}

impl MediaDirection {
    pub(super) fn new(source: RecordingSource, wanted: bool) -> Self {
        let call = wanted.then(|| CallBuilder::new(source));
        Self { call, kinds: BTreeMap::new(), unnamed: None, bytes: 0, sources: BTreeMap::new() }
    }

    /// Packets of the sources that are counted.
    pub(super) fn packets(&self) -> u64 {
        self.sources.values().sum()
    }

    /// Whether the stream `ssrc` has packets.
    pub(super) fn has(&self, ssrc: u32) -> bool {
        self.sources.contains_key(&ssrc)
    }

    /// Counts a packet.
    pub(super) fn count(&mut self, packet: &RtpDeparture) {
        self.bytes += u64::from(packet.payload_bytes) + u64::from(packet.padding_bytes);
        if self.sources.len() < MOST_SOURCES || self.has(packet.ssrc) {
            *self.sources.entry(packet.ssrc).or_default() += 1;
        }
    }

    /// Takes a stream that the browser set up.
    pub(super) fn declare(&mut self, stream: DeclaredStream) {
        if self.kinds.len() >= MOST_SOURCES {
            return;
        }
        // Codecs of audio have different clocks, and the log does not name the codec.
        let kind = if stream.video { (StreamKind::Video, VIDEO_CLOCK_HZ) } else { (StreamKind::Audio, 0) };
        // Chromium declares its streams of video without their source, and with that of their retransmissions.
        if stream.ssrc == 0 {
            let other = self.unnamed.is_some_and(|unnamed| unnamed != kind);
            self.unnamed = Some(if other { (StreamKind::Unknown, 0) } else { kind });
        } else {
            self.kinds.insert(stream.ssrc, kind);
        }
        if let Some(ssrc) = stream.retransmission {
            self.kinds.insert(ssrc, (StreamKind::Retransmission, VIDEO_CLOCK_HZ));
        }
    }

    /// The call, with the kinds of its streams.
    pub(super) fn take_call(&mut self) -> Option<CallBuilder> {
        let mut call = self.call.take()?;
        for ssrc in self.sources.keys() {
            if let Some(&(kind, clock)) = self.kinds.get(ssrc).or(self.unnamed.as_ref()) {
                call.declare_stream(*ssrc, kind, clock);
            }
        }
        Some(call)
    }

    /// Sources and their packets, for a message.
    pub(super) fn described(&self) -> String {
        let sources = self.sources.iter().map(|(ssrc, packets)| format!("{ssrc} ({packets} packets)"));
        let sources: Vec<String> = sources.take(20).collect();
        if sources.is_empty() { "none".to_owned() } else { sources.join(", ") }
    }
}
