//! What a sender waits for.

/// Which of a sender's clocks wants it to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    /// A frame is to be captured.
    Capture,
    /// A report is to be written.
    Report,
    /// The controller wants to be called.
    Controller,
    /// The pacer, or a probe, lets the next packet out.
    Pacer,
    /// The window is full of packets of which nothing was heard: the oldest is then given up.
    Window,
    /// An audio packet is to leave.
    Audio,
    /// Nothing was heard of the media for so long that it stops ([`Breaker`](crate::Breaker)).
    Breaker,
}
