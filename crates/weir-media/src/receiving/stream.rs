//! A stream at the receiver: its reception statistics, and requests for what it lost.

use weir_cc::{ArrivalTime, ReceptionReport};

use super::packet::ArrivedPacket;
use crate::config::VIDEO_CLOCK_HZ;
use crate::key_frames::KeyFrameRequests;
use crate::nack_list::NackList;
use crate::numbers_ahead::NumbersAhead;
use crate::reception::ReceptionStatistics;
use crate::sources::ticks;

/// A stream at the receiver.
#[derive(Debug)]
pub(crate) struct ReceivedStream {
    /// Its source identifier.
    pub(crate) ssrc: u32,
    /// Ticks per second of its media clock.
    pub(crate) clock_hz: u32,
    /// The stream whose packets it repeats, of a stream of retransmissions.
    pub(crate) repairs: Option<u32>,
    /// Lost packets that are requested again.
    pub(crate) nacks: Option<NackList>,
    /// Key frame requests by frame markings.
    pub(crate) key_frames: Option<KeyFrameRequests>,
    statistics: ReceptionStatistics,
    /// Validates its sequence numbers where packets have no number of the transport.
    numbers: NumbersAhead,
    /// Whether the application wants a key frame.
    key_frame_wanted: bool,
    /// Number of requests for lost packets that were written.
    pub(crate) nack_count: u64,
    /// Number of key frame requests that were written.
    pub(crate) pli_count: u64,
}

impl ReceivedStream {
    /// A stream without packets yet, and without requests.
    pub(crate) fn new(ssrc: u32, clock_hz: u32) -> Self {
        Self {
            ssrc,
            clock_hz,
            repairs: None,
            nacks: None,
            key_frames: None,
            statistics: ReceptionStatistics::default(),
            numbers: NumbersAhead::default(),
            key_frame_wanted: false,
            nack_count: 0,
            pli_count: 0,
        }
    }

    /// Whether `sequence` continues the stream.
    pub(super) fn admit(&mut self, sequence: u16) -> bool {
        self.numbers.admit(sequence)
    }

    /// A packet of the stream has arrived.
    #[inline]
    pub(super) fn on_packet(&mut self, now: ArrivalTime, packet: &ArrivedPacket) {
        let ticks = ticks(now - ArrivalTime::ZERO, self.clock_hz);
        self.statistics.on_packet(packet.sequence, packet.timestamp, ticks);
        if let Some(nacks) = &mut self.nacks {
            nacks.on_packet(now, packet.sequence);
        }
        if let Some(requests) = &mut self.key_frames {
            requests.on_packet(now, packet.sequence, packet.frame_marking);
        }
    }

    /// The packet `original` of the stream has arrived as a retransmission.
    pub(super) fn on_retransmission(&mut self, original: u16) {
        if let Some(nacks) = &mut self.nacks {
            nacks.on_retransmission(original);
        }
    }

    /// A sender report with these middle 32 bits of its NTP time has arrived.
    pub(super) fn on_sender_report(&mut self, compact_ntp: u32, at: ArrivalTime) {
        self.statistics.on_sender_report(compact_ntp, at);
    }

    /// The receiver report on the stream for the time since the one before, or `None` if there is none.
    pub(super) fn report(&mut self, now: ArrivalTime) -> Option<ReceptionReport> {
        if self.repairs.is_some() {
            return None;
        }
        self.statistics.report(now)
    }

    /// Its reception statistics.
    pub(super) fn statistics(&self) -> &ReceptionStatistics {
        &self.statistics
    }

    /// The application wants a key frame.
    pub(super) fn request_key_frame(&mut self) {
        self.key_frame_wanted = true;
    }

    /// Whether a key frame request is due at once.
    pub(super) fn is_urgent(&self) -> bool {
        self.key_frame_wanted
            || self.key_frames.as_ref().is_some_and(KeyFrameRequests::is_due)
            || self.nacks.as_ref().is_some_and(NackList::wants_key_frame)
    }

    /// Whether the application or a frame marking wants a key frame; if so, it counts as requested at `now`.
    pub(super) fn poll_key_frame(&mut self, now: ArrivalTime) -> bool {
        let wanted = std::mem::take(&mut self.key_frame_wanted);
        self.key_frames.as_mut().is_some_and(|requests| requests.poll(now)) || wanted
    }

    /// Whether it may ever request a packet or a key frame.
    pub(super) fn may_request(&self) -> bool {
        self.nacks.is_some() || self.key_frames.is_some() || self.key_frame_wanted
    }

    /// Whether packets have its media times: it is one of video.
    pub(super) fn is_video(&self) -> bool {
        self.repairs.is_none() && u64::from(self.clock_hz) == VIDEO_CLOCK_HZ
    }

    /// Time of the next request for lost packets.
    pub(super) fn next_request(&self) -> Option<ArrivalTime> {
        self.nacks.as_ref().and_then(NackList::next_timeout)
    }
}
