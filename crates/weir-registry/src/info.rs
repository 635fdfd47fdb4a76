//! Descriptions of controllers.

use std::borrow::Cow;

use weir_cc::{Controller, PacketFormat, Receiver};

/// The description of a controller, for a user who has to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControllerInfo {
    /// Its name in scenarios and on the command line.
    pub name: Cow<'static, str>,
    /// Its principle, in a sentence.
    pub summary: Cow<'static, str>,
    /// The paper or RFC that it implements.
    pub source: Cow<'static, str>,
    /// The half that computes the rate.
    pub placement: Cow<'static, str>,
    /// The content and the times of the receiver's reports.
    pub feedback: Cow<'static, str>,
    /// The name of the same controller with its observer at the sender, over per-packet feedback.
    pub sender_side_twin: Option<Cow<'static, str>>,
    /// The RTCP form of the receiver half's per-packet reports, if it makes any.
    pub packet_format: PacketFormat,
    /// Its answer to ECN marks.
    pub marks: MarkResponse,
    /// Whether it controls a window.
    pub has_window: bool,
    /// Named configurations besides the default, for the option `preset`.
    pub presets: Vec<PresetInfo>,
}

/// The description of a named configuration of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its purpose, in a sentence.
    pub summary: Cow<'static, str>,
}

/// The answer of a controller to ECN marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkResponse {
    /// No answer: its packets may not ask for marks.
    #[default]
    None,
    /// A mark counts as a loss or nearly so, once in a round trip (RFC 3168 §5).
    Classic,
    /// The reduction grows with the share of marks, so that marks per round trip do not become fewer at a higher rate (RFC 9331 §4.3).
    Scalable,
}

/// The feedback that a controller uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackSource {
    /// The fate of each packet: transport-wide feedback or RFC 8888.
    Packets,
    /// Reports of its own receiver half.
    OwnReport,
    /// REMB, and RTCP receiver reports.
    Remb,
}

/// The two halves of a controller.
#[derive(Debug)]
pub struct Halves {
    /// The sender half.
    pub controller: Box<dyn Controller>,
    /// The receiver half.
    pub receiver: Box<dyn Receiver>,
    /// The RTCP form of the receiver half's per-packet reports, if it makes any.
    pub packet_format: PacketFormat,
}
