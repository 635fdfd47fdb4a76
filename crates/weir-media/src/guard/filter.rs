//! Selects the RTCP that a sender uses. A message must be about the flow, from a source that reports on it, and of a
//! kind that the controller or the statistics use.

use weir_cc::history::SendHistory;
use weir_cc::{PacketFormat, Report, ReportKind, SendTime};
use weir_wire::rtcp::{Message, ReportBlock};

use super::refusals::RefusedReports;
use crate::feedback::FeedbackReader;
use crate::path_config::PathConfig;
use crate::report_codec::report_of;
use crate::streams::SenderStreams;

/// Filter and readers of the RTCP about a flow.
#[derive(Debug)]
pub(crate) struct RtcpFilter {
    /// Sources that report on the flow; if empty, any source may.
    reporters: Vec<u32>,
    format: PacketFormat,
    /// Whether REMB bounds a controller that uses per-packet reports.
    remb: bool,
    /// Whether per-packet reports are read although the controller does not use them.
    additional_reports: bool,
    packets: FeedbackReader,
    foreign: u64,
    unread: u64,
}

impl RtcpFilter {
    pub(crate) fn new(config: &PathConfig) -> Self {
        Self {
            reporters: Vec::new(),
            format: config.packet_format,
            remb: config.remb,
            additional_reports: config.additional_reports,
            packets: FeedbackReader::new(),
            foreign: 0,
            unread: 0,
        }
    }

    pub(crate) fn believe_only(&mut self, reporters: &[u32]) {
        self.reporters = reporters.to_vec();
    }

    /// Whether `message` is about the flow of `streams`, or `None` if it is but comes from a source that does not
    /// report on it.
    pub(crate) fn concerns_flow(&mut self, streams: &SenderStreams, message: &Message<'_>) -> Option<bool> {
        let is_own = |ssrc| streams.find_reported(ssrc).is_some();
        let ours = |block: ReportBlock| streams.find(block.ssrc).is_some();
        let about = match message {
            Message::SenderReport(report) => report.blocks().any(ours),
            Message::ReceiverReport(report) => report.blocks().any(ours),
            Message::Remb(remb) => remb.ssrcs().any(is_own),
            Message::Pli(request) => is_own(request.source),
            Message::Nack(request) => is_own(request.source),
            Message::Nada(report) => is_own(report.source),
            Message::Tfrc(report) => is_own(report.source),
            Message::Twcc(feedback) => streams.shares_transport_with(feedback.source),
            Message::Ccfb(feedback) => feedback.blocks().any(|block| streams.find(block.source).is_some()),
            Message::Dccc(report) => is_own(report.source),
            Message::NadaDelay(report) => is_own(report.source),
            Message::Sbd(report) => is_own(report.source),
            Message::Own(report) => is_own(report.source),
            _ => false,
        };
        let foreign = about && !self.reporters.is_empty() && !self.reporters.contains(&message.ssrc());
        self.foreign += u64::from(foreign);
        (!foreign).then_some(about)
    }

    /// Converts `message`, which is about the flow of `streams` and came at `now`, to a report, with whether the
    /// controller `accepts` it. Returns `None` if the report is not used, or impossible.
    pub(crate) fn read(
        &mut self,
        now: SendTime,
        streams: &mut SenderStreams,
        history: &SendHistory,
        message: &Message<'_>,
        accepts: impl Fn(ReportKind) -> bool,
    ) -> Option<(Report<'_>, bool)> {
        let (kind, form) = match message {
            Message::SenderReport(_) | Message::ReceiverReport(_) => (ReportKind::Reception, None),
            Message::Remb(_) => (ReportKind::Ceiling, None),
            Message::Nada(_) => (ReportKind::Nada, None),
            Message::Tfrc(_) => (ReportKind::Tfrc, None),
            Message::Twcc(_) => (ReportKind::Packets, Some(PacketFormat::TransportWide)),
            Message::Ccfb(_) => (ReportKind::Packets, Some(PacketFormat::Rfc8888)),
            Message::Dccc(_) => (ReportKind::Dccc, None),
            Message::NadaDelay(_) => (ReportKind::NadaDelay, None),
            Message::Own(_) => (ReportKind::Own, None),
            _ => return None,
        };
        let agreed = kind != ReportKind::Ceiling || self.remb || !accepts(ReportKind::Packets);
        let accepted = agreed && accepts(kind);
        // Receiver reports measure round trips for any controller.
        let read = accepted
            || kind == ReportKind::Reception
            || (kind == ReportKind::Packets && self.additional_reports);
        if !read || form.is_some_and(|form| form != self.format) {
            self.unread += 1;
            return None;
        }
        let report = match message {
            Message::SenderReport(report) => Report::Reception(streams.reception(report.blocks())?),
            Message::ReceiverReport(report) => Report::Reception(streams.reception(report.blocks())?),
            Message::Twcc(feedback) => self.packets.read_transport_wide(now, feedback, history)?,
            Message::Ccfb(feedback) => {
                self.packets.read_rfc_8888(now, feedback, streams.numbers()?, history)?
            }
            message => report_of(message)?,
        };
        Some((report, accepted))
    }

    /// Counts of reports refused here, by `streams` and by `history`.
    pub(crate) fn refused(&self, streams: &SenderStreams, history: &SendHistory) -> RefusedReports {
        RefusedReports {
            reporters: self.foreign,
            kinds: self.unread,
            counts: self.packets.refused(),
            numbers: self.packets.unsent(),
            blocks: streams.refused(),
            history: history.refused(),
        }
    }
}
