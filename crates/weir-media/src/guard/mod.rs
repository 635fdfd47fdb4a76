//! Guards of a sender against feedback that is forged or missing: which RTCP is believed, how far it may raise the rate,
//! and when media stops.

mod alarm;
mod breakers;
pub(crate) mod filter;
mod refusals;
mod sequence_skipper;
mod trust;

use weir_cc::coupled::Statistics;
use weir_cc::history::SendHistory;
use weir_cc::{Controller, Feedback, RateLimits, Report, ReportKind, SendTime};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::rtcp::{Message, ReportBlock};

use crate::detection::{DetectionSide, StatisticsReader};
use crate::path_config::PathConfig;
use crate::streams::SenderStreams;
use filter::RtcpFilter;
use refusals::RefusalAlarm;
use sequence_skipper::SequenceSkipper;
use trust::{FeedbackTrust, TrustChange};

pub use alarm::Alarm;
pub use breakers::Breaker;
pub(crate) use breakers::Breakers;
pub use refusals::RefusedReports;

/// The guard between incoming RTCP and the history and controller of a flow.
#[derive(Debug)]
pub(crate) struct FeedbackGuard {
    filter: RtcpFilter,
    /// Reader of the statistics that the receiver computes.
    statistics: Option<StatisticsReader>,
    skipper: Option<SequenceSkipper>,
    trust: FeedbackTrust,
    /// Circuit breakers, one for each stream of video.
    breakers: Vec<Breakers>,
    /// Alarms that are due.
    stopped_by: Option<Breaker>,
    doubt: Option<Alarm>,
    refusals: RefusalAlarm,
    /// Time of the last feedback to the controller.
    last_feedback: Option<SendTime>,
}

/// The content of an RTCP message about the flow.
#[derive(Debug)]
pub(crate) enum RtcpContent<'a> {
    /// A report, with whether the controller uses it.
    Report(Report<'a>, bool),
    /// Statistics of the receiver.
    Statistics(Statistics),
    /// A request for a key frame of the stream at this place.
    KeyFrameRequest(usize),
    /// A request for packets of the stream at this place.
    PacketRequest(usize),
    /// Content that is refused or not used.
    Unused,
}

impl FeedbackGuard {
    /// The guard of a flow under `controller`. `seed` is that of the skipped sequence numbers.
    pub(crate) fn new(config: &PathConfig, controller: &dyn Controller, seed: u64) -> Self {
        let detection = config.detection.and_then(|detection| detection.at(DetectionSide::Receiver));
        Self {
            filter: RtcpFilter::new(config),
            statistics: detection.map(|config| StatisticsReader::new(config.interval)),
            skipper: SequenceSkipper::new(config, controller, seed),
            trust: FeedbackTrust::new(config.limits),
            breakers: Vec::new(),
            stopped_by: None,
            doubt: None,
            refusals: RefusalAlarm::default(),
            last_feedback: None,
        }
    }

    /// A stream of video gets these circuit breakers, if any.
    pub(crate) fn add_breakers(&mut self, breakers: Option<Breakers>) {
        self.breakers.extend(breakers);
    }

    /// Restricts the sources that report on the flow; an empty list allows any.
    pub(crate) fn believe_only(&mut self, reporters: &[u32]) {
        self.filter.believe_only(reporters);
    }

    /// The content of `message`, which came at `now`, for a controller that `accepts` these kinds of reports. Returns
    /// `None` if the message is not about the flow.
    pub(crate) fn read<'a>(
        &'a mut self,
        now: SendTime,
        message: &Message<'_>,
        streams: &mut SenderStreams,
        history: &SendHistory,
        accepts: impl Fn(ReportKind) -> bool,
    ) -> Option<RtcpContent<'a>> {
        match self.filter.concerns_flow(streams, message) {
            Some(true) => {}
            Some(false) => return None,
            None => return Some(RtcpContent::Unused),
        }
        let content = match message {
            Message::Pli(request) => streams.find(request.source).map(RtcpContent::KeyFrameRequest),
            Message::Nack(request) => streams.find(request.source).map(RtcpContent::PacketRequest),
            Message::Sbd(report) => {
                let statistics = self.statistics.as_mut().and_then(|reader| reader.read(now, report));
                statistics.map(RtcpContent::Statistics)
            }
            message => {
                let read = self.filter.read(now, streams, history, message, accepts);
                read.map(|(report, accepted)| RtcpContent::Report(report, accepted))
            }
        };
        Some(content.unwrap_or(RtcpContent::Unused))
    }

    /// A report was joined with the history. `accepted` says whether the controller uses it.
    pub(crate) fn on_feedback(&mut self, now: SendTime, rtt: Option<TimeDelta>, accepted: bool) {
        if accepted {
            self.last_feedback = Some(now);
        }
        self.breakers.iter_mut().for_each(|breakers| breakers.on_feedback(now, rtt));
    }

    /// Takes the blocks of `message` on the video for the circuit breakers, which use each one, however old. Returns
    /// whether media must stop. `is_read` says whether the message was read as a report.
    pub(crate) fn on_blocks(
        &mut self,
        now: SendTime,
        message: &Message<'_>,
        streams: &SenderStreams,
        history: &mut SendHistory,
        is_read: bool,
    ) -> bool {
        match message {
            Message::SenderReport(report) => {
                self.check_blocks(now, &report.blocks(), streams, history, is_read)
            }
            Message::ReceiverReport(report) => {
                self.check_blocks(now, &report.blocks(), streams, history, is_read)
            }
            _ => false,
        }
    }

    fn check_blocks(
        &mut self,
        now: SendTime,
        blocks: &(impl Iterator<Item = ReportBlock> + Clone),
        streams: &SenderStreams,
        history: &mut SendHistory,
        is_read: bool,
    ) -> bool {
        let tripped = self.breakers.iter_mut().find_map(|breakers| {
            let mut reports = streams.reports_on(breakers.stream(), blocks.clone());
            reports.find_map(|report| {
                // Totals older than those of other reports, such as forged ones, are refused as feedback, but their
                // round-trip time counts.
                if !is_read
                    && let Some(Feedback::Reception { rtt, .. }) =
                        history.join(now, &Report::Reception(report))
                {
                    breakers.on_feedback(now, rtt);
                }
                breakers.on_block(now, report.highest_sequence, report.fraction_lost)
            })
        });
        self.stop(tripped)
    }

    /// Weighs the reports joined with `history` while the media rate is `rate`. Returns a change of the bounds of the
    /// rate.
    pub(crate) fn weigh(
        &mut self,
        now: SendTime,
        history: &SendHistory,
        rate: DataRate,
    ) -> Option<TrustChange> {
        let (change, alarm) = self.trust.weigh(now, history, rate)?;
        self.doubt = Some(alarm);
        Some(change)
    }

    /// All messages of a compound packet were read.
    pub(crate) fn on_compound_read(&mut self, now: SendTime, streams: &SenderStreams, history: &SendHistory) {
        self.refusals.on_count(now, self.refused_reports(streams, history).suspicious());
    }

    /// Replaces the configured bounds of the rate. Returns those in force.
    pub(crate) fn configure_limits(&mut self, limits: RateLimits) -> RateLimits {
        self.trust.configure(limits);
        self.trust.limits()
    }

    /// Whether to skip a transport-wide sequence number before the packet that is about to leave.
    pub(crate) fn skips_number(&mut self, now: SendTime, history: &SendHistory) -> bool {
        let in_doubt = history.is_receiver_doubted();
        self.skipper.as_mut().is_some_and(|skipper| skipper.next(now, in_doubt))
    }

    /// A packet of the stream at `stream` leaves.
    pub(crate) fn on_sent(&mut self, now: SendTime, stream: usize, size: DataSize) {
        self.breakers.iter_mut().for_each(|breakers| breakers.on_sent(now, stream, size));
    }

    /// No packets leave for a while, or they leave on another route: the circuit breakers begin anew.
    pub(crate) fn rest(&mut self) {
        self.breakers.iter_mut().for_each(Breakers::rest);
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub(crate) fn next_timeout(&self) -> Option<SendTime> {
        self.breakers.iter().filter_map(Breakers::next_timeout).min()
    }

    /// Whether media must stop, as there was no feedback on it for too long.
    pub(crate) fn on_timeout(&mut self, now: SendTime) -> bool {
        let tripped = self.breakers.iter_mut().find_map(|breakers| breakers.on_timeout(now));
        self.stop(tripped)
    }

    fn stop(&mut self, tripped: Option<Breaker>) -> bool {
        self.stopped_by = tripped.or(self.stopped_by);
        tripped.is_some()
    }

    /// Time of the last feedback to the controller.
    pub(crate) fn last_feedback(&self) -> Option<SendTime> {
        self.last_feedback
    }

    /// The next alarm, each returned once.
    pub(crate) fn take_alarm(&mut self) -> Option<Alarm> {
        let refusals = || self.refusals.take().then_some(Alarm::ReportsRefused);
        self.stopped_by.take().map(Alarm::Stopped).or_else(|| self.doubt.take()).or_else(refusals)
    }

    /// Counts of reports refused here, by `streams` and by `history`.
    pub(crate) fn refused_reports(&self, streams: &SenderStreams, history: &SendHistory) -> RefusedReports {
        self.filter.refused(streams, history)
    }

    /// Number of reports of the receiver's statistics with impossible values.
    pub(crate) fn refused_statistics(&self) -> u64 {
        self.statistics.as_ref().map_or(0, StatisticsReader::refused)
    }
}
