//! Whom a sender believes, and of what: RTCP that is about a flow, from who reports on it, of a kind that somebody reads.

use weir_cc::history::{Refused, SendHistory};
use weir_cc::{PacketFormat, Report, ReportKind, SendTime};
use weir_wire::rtcp::{Message, ReportBlock};

use crate::config::MediaConfig;
use crate::feedback::FeedbackReader;
use crate::report_codec::report_of;
use crate::streams::Streams;

/// How much of the RTCP about a flow was refused: of it nothing is believed, and no law hears of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusedReports {
    /// Messages from who does not report on the flow ([`MediaSender::believe_only`](crate::MediaSender::believe_only)).
    pub reporters: u64,
    /// Reports of a kind or in a form that nobody reads here, and REMB that was not agreed on ([`MediaConfig::remb`]).
    pub kinds: u64,
    /// Per-packet reports on more packets than have left.
    pub counts: u64,
    /// Reports of RFC 8888 that name packets which have not left. Of these packets nothing is believed.
    pub numbers: u64,
    /// Blocks of receiver reports: of packets that have not left, of more lost than were sent, of a sender report that did not
    /// leave lately.
    pub blocks: u64,
    /// What the send history refuses.
    pub history: Refused,
}

impl RefusedReports {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.kinds + self.suspicious()
    }

    /// Those that no honest peer sends: one may well send kinds of report that nobody reads here.
    pub const fn suspicious(&self) -> u64 {
        self.reporters + self.counts + self.numbers + self.blocks + self.history.total()
    }
}

/// What comes in about a flow, and what of it is read.
#[derive(Debug)]
pub(crate) struct RtcpFilter {
    /// Who reports on the flow; anybody where nobody is named.
    reporters: Vec<u32>,
    format: PacketFormat,
    /// Whether a law that goes by per-packet reports is bounded by REMB besides.
    remb: bool,
    /// Whether per-packet reports are wanted beside what the law hears.
    witness: bool,
    packets: FeedbackReader,
    foreign: u64,
    unread: u64,
}

impl RtcpFilter {
    pub(crate) fn new(config: &MediaConfig) -> Self {
        Self {
            reporters: Vec::new(),
            format: config.packet_format,
            remb: config.remb,
            witness: config.witness.is_some(),
            packets: FeedbackReader::new(),
            foreign: 0,
            unread: 0,
        }
    }

    pub(crate) fn believe_only(&mut self, reporters: &[u32]) {
        self.reporters = reporters.to_vec();
    }

    /// Whether `message` is about the flow of `streams`; `None` if it is, and comes from who does not report on it.
    pub(crate) fn is_about(&mut self, streams: &Streams, message: &Message<'_>) -> Option<bool> {
        let (sources, video) = (streams.sources(), streams.sources().video);
        let ours = |block: ReportBlock| sources.kind(block.ssrc).is_some();
        let about = match message {
            Message::SenderReport(report) => report.blocks().any(ours),
            Message::ReceiverReport(report) => report.blocks().any(ours),
            Message::Remb(remb) => remb.ssrcs().any(|ssrc| ssrc == video),
            Message::Pli(request) => request.source == video,
            Message::Nada(report) => report.source == video,
            Message::Tfrc(report) => report.source == video,
            Message::Twcc(feedback) => feedback.source == video,
            Message::Ccfb(feedback) => feedback.blocks().any(|block| sources.kind(block.source).is_some()),
            Message::Dccc(report) => report.source == video,
            Message::NadaDelay(report) => report.source == video,
            Message::Sbd(report) => report.source == video,
            Message::Own(report) => report.source == video,
            _ => false,
        };
        let foreign = about && !self.reporters.is_empty() && !self.reporters.contains(&message.ssrc());
        self.foreign += u64::from(foreign);
        (!foreign).then_some(about)
    }

    /// What `message`, which is about the flow of `streams` and came at `now`, reports, and whether the law `accepts` it. `None` if
    /// nobody reads it, or it cannot be.
    pub(crate) fn read(
        &mut self,
        now: SendTime,
        streams: &mut Streams,
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
        let heard = agreed && accepts(kind);
        // Receiver reports measure round trips, whatever the law goes by.
        let read = heard || kind == ReportKind::Reception || (kind == ReportKind::Packets && self.witness);
        if !read || form.is_some_and(|form| form != self.format) {
            self.unread += 1;
            return None;
        }
        let report = match message {
            Message::SenderReport(report) => Report::Reception(streams.reception(report.blocks())?),
            Message::ReceiverReport(report) => Report::Reception(streams.reception(report.blocks())?),
            Message::Twcc(feedback) => self.packets.read_transport_wide(now, feedback, history)?,
            Message::Ccfb(feedback) => {
                self.packets.read_rfc_8888(now, feedback, streams.numbers(), history)?
            }
            message => report_of(message)?,
        };
        Some((report, heard))
    }

    /// What was refused here, and what `streams` and `history` refused.
    pub(crate) fn refused(&self, streams: &Streams, history: &SendHistory) -> RefusedReports {
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
