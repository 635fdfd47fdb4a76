//! The RTP streams of a flow: video, and audio beside it.

use weir_units::TimeDelta;

use crate::config::{AUDIO_CLOCK_HZ, MediaConfig, VIDEO_CLOCK_HZ};

/// The source identifiers of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sources {
    pub(crate) video: u32,
    pub(crate) audio: Option<u32>,
}

/// The bit in which audio's source identifier differs from video's.
pub(crate) const AUDIO_BIT: u32 = 1 << 31;

impl Sources {
    /// The identifiers of a flow whose video has `video`.
    pub(crate) fn new(video: u32, config: &MediaConfig) -> Self {
        Self { video, audio: config.audio.map(|_| video ^ AUDIO_BIT) }
    }

    /// The stream with the identifier `ssrc`.
    pub(crate) fn kind(self, ssrc: u32) -> Option<Kind> {
        if ssrc == self.video {
            return Some(Kind::Video);
        }
        (Some(ssrc) == self.audio).then_some(Kind::Audio)
    }

    /// The streams of the flow.
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
}

impl Kind {
    /// A span of time in ticks of the stream's media clock, as an RTP timestamp.
    pub(crate) fn ticks(self, span: TimeDelta) -> u32 {
        let hz = match self {
            Self::Video => VIDEO_CLOCK_HZ,
            Self::Audio => AUDIO_CLOCK_HZ,
        };
        (i128::from(span.nanos()) * i128::from(hz) / 1_000_000_000) as u32
    }
}
