//! Timers of a sender.

/// The timer for which a sender is to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SenderTimer {
    /// A frame is to be captured.
    Capture,
    /// A report is to be written.
    Report,
    /// The controller's timer.
    Controller,
    /// The pacer, or a probe, lets the next packet out.
    Pacer,
    /// The window is full of packets without feedback: the oldest is then given up.
    Window,
    /// An audio packet is to leave.
    Audio,
    /// Circuit breaker: no feedback on the media for so long that media stops ([`Breaker`](crate::Breaker)).
    Breaker,
}
