//! The RTP streams of a flow: video, and audio beside it.

use weir_units::TimeDelta;

use crate::config::{AUDIO_CLOCK_HZ, MediaConfig, VIDEO_CLOCK_HZ};

/// The source identifiers of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sources {
    pub(crate) video: u32,
    pub(crate) audio: Option<u32>,
    /// Retransmissions of the video, which no report covers.
    pub(crate) retransmissions: Option<u32>,
}

/// The bit in which audio's source identifier differs from video's.
pub(crate) const AUDIO_BIT: u32 = 1 << 31;
/// The bit in which the source identifier of retransmissions differs from video's.
pub(crate) const RETRANSMISSION_BIT: u32 = 1 << 30;

impl Sources {
    /// The identifiers of a flow whose video has `video`.
    pub(crate) fn new(video: u32, config: &MediaConfig) -> Self {
        Self {
            video,
            audio: config.audio.map(|_| video ^ AUDIO_BIT),
            retransmissions: config.retransmits().then_some(video ^ RETRANSMISSION_BIT),
        }
    }

    /// The stream with the identifier `ssrc`.
    pub(crate) fn kind(self, ssrc: u32) -> Option<Kind> {
        if ssrc == self.video {
            return Some(Kind::Video);
        }
        if Some(ssrc) == self.retransmissions {
            return Some(Kind::Retransmission);
        }
        (Some(ssrc) == self.audio).then_some(Kind::Audio)
    }

    /// The streams of the flow on which there are reports.
    pub(crate) fn iter(self) -> impl Iterator<Item = (Kind, u32)> {
        let audio = self.audio.map(|ssrc| (Kind::Audio, ssrc));
        core::iter::once((Kind::Video, self.video)).chain(audio)
    }
}

/// A stream of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Video,
    Audio,
    Retransmission,
}

impl Kind {
    /// A span of time in ticks of the stream's media clock, as an RTP timestamp.
    pub(crate) fn ticks(self, span: TimeDelta) -> u32 {
        let hz = match self {
            Self::Video | Self::Retransmission => VIDEO_CLOCK_HZ,
            Self::Audio => AUDIO_CLOCK_HZ,
        };
        (i128::from(span.nanos()) * i128::from(hz) / 1_000_000_000) as u32
    }
}
