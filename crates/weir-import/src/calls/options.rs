//! Options of an import.

use weir_units::TimeDelta;

/// The direction of media to import from a file with both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EndSelection {
    /// The direction with more bytes of media.
    #[default]
    Larger,
    /// Media that the recording end sends.
    Sent,
    /// Media that the recording end receives.
    Received,
}

/// Identifiers of RTP header extensions that the file does not name, or names wrongly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtensionOverrides {
    /// Transport-wide sequence number.
    pub transport_sequence: Option<u8>,
    /// Absolute send time.
    pub abs_send_time: Option<u8>,
}

/// Options of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallOptions {
    /// Direction of the media.
    pub direction: EndSelection,
    /// The video stream to import, by its source identifier in the file, where several calls are in the file.
    pub ssrc: Option<u32>,
    /// Identifiers of header extensions.
    pub extensions: ExtensionOverrides,
    /// Interval of the feedback that is made for two captures without readable RTCP.
    pub feedback_interval: Option<TimeDelta>,
}

impl CallOptions {
    /// An option that is set, and that applies to captures only.
    pub(crate) fn of_captures(&self) -> Option<&'static str> {
        let has_extensions = self.extensions != ExtensionOverrides::default();
        let interval = self.feedback_interval.map(|_| "--feedback-interval");
        has_extensions.then_some("--extension-id").or(interval)
    }

    /// An option that is set, and that chooses one of several calls.
    pub(crate) fn of_choice(&self) -> Option<&'static str> {
        if self.direction == EndSelection::Larger { self.ssrc.map(|_| "--ssrc") } else { Some("--direction") }
    }
}
