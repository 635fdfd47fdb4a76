//! The RTP streams of a flow: video, and audio beside it.

use weir_units::TimeDelta;

use crate::config::{AUDIO_CLOCK_HZ, MediaConfig, VIDEO_CLOCK_HZ};

/// Identity of an RTP stream that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamIdentity {
    /// Source identifier.
    pub(crate) ssrc: u32,
    /// Ticks per second of the media clock.
    pub(crate) clock_hz: u32,
    /// Whether sender and receiver reports cover it. They do not cover retransmissions.
    pub(crate) reported: bool,
}

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

    /// The streams as a sender keeps them: video, then the others.
    pub(crate) fn identities(self) -> Vec<StreamIdentity> {
        let retransmissions = self.retransmissions.map(|ssrc| (Kind::Retransmission, ssrc));
        let identity = |(kind, ssrc): (Kind, u32)| StreamIdentity {
            ssrc,
            clock_hz: kind.clock_rate(),
            reported: kind != Kind::Retransmission,
        };
        self.iter().chain(retransmissions).map(identity).collect()
    }

    /// Place of a stream among [`Self::identities`].
    pub(crate) fn place(self, kind: Kind) -> usize {
        match kind {
            Kind::Video => 0,
            Kind::Audio => 1,
            Kind::Retransmission => 1 + usize::from(self.audio.is_some()),
        }
    }

    /// The streams of the flow on which there are reports.
    pub(crate) fn iter(self) -> impl Iterator<Item = (Kind, u32)> {
        let audio = self.audio.map(|ssrc| (Kind::Audio, ssrc));
        core::iter::once((Kind::Video, self.video)).chain(audio)
    }

    /// The streams of the flow, the one of retransmissions last.
    pub(crate) fn all(self) -> impl Iterator<Item = (Kind, u32)> {
        self.iter().chain(self.retransmissions.map(|ssrc| (Kind::Retransmission, ssrc)))
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
        ticks(span, self.clock_rate())
    }

    /// Ticks per second of the stream's media clock.
    pub(crate) const fn clock_rate(self) -> u32 {
        match self {
            Self::Video | Self::Retransmission => VIDEO_CLOCK_HZ as u32,
            Self::Audio => AUDIO_CLOCK_HZ as u32,
        }
    }
}

/// A span of time in ticks of a media clock with `clock_rate` ticks per second, as an RTP timestamp.
pub(crate) fn ticks(span: TimeDelta, clock_rate: u32) -> u32 {
    // Whole seconds and the rest apart, which 64 bits can hold; only the lower 32 bits of the ticks count.
    let (seconds, rest) = (span.nanos() / NANOS_PER_SECOND, span.nanos() % NANOS_PER_SECOND);
    let clock_rate = i64::from(clock_rate);
    seconds.wrapping_mul(clock_rate).wrapping_add(rest * clock_rate / NANOS_PER_SECOND) as u32
}

/// Nanoseconds in a second.
pub(crate) const NANOS_PER_SECOND: i64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_those_of_exact_arithmetic() {
        let nanos = [0, 1, 11_112, 999_999_999, 1_000_000_000, 47_721_858_844_444, i64::MAX];
        for nanos in nanos.into_iter().flat_map(|nanos| [nanos, -nanos]).chain([i64::MIN]) {
            for rate in [1, 8000, 48_000, 90_000, u32::MAX] {
                let exact = (i128::from(nanos) * i128::from(rate) / 1_000_000_000) as u32;
                assert_eq!(ticks(TimeDelta::from_nanos(nanos), rate), exact, "{nanos} ns at {rate} Hz");
            }
        }
    }
}
