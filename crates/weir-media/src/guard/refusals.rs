//! Counts of refused reports, and the alarm on them.

use weir_cc::SendTime;
use weir_cc::history::ImpossibleReports;
use weir_units::TimeDelta;

/// Counts of the RTCP about a flow that was refused. Refused reports are not believed and do not reach the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RefusedReports {
    /// Messages from sources that do not report on the flow
    /// ([`MediaSender::believe_only`](crate::MediaSender::believe_only)).
    pub reporters: u64,
    /// Reports of an unused kind or form, and REMB that was not agreed on
    /// ([`MediaConfig::remb`](crate::MediaConfig::remb)).
    pub kinds: u64,
    /// Per-packet reports on more packets than have left.
    pub counts: u64,
    /// Reports of RFC 8888 that name packets which have not left. The entries of these packets are not believed.
    pub numbers: u64,
    /// Blocks of receiver reports that name packets which have not left, more lost packets than were sent, or a sender
    /// report that did not leave lately.
    pub blocks: u64,
    /// Reports that the send history refused.
    pub history: ImpossibleReports,
}

impl RefusedReports {
    /// Number of all refused reports.
    pub const fn total(&self) -> u64 {
        self.kinds + self.suspicious()
    }

    /// Number of refused reports that no honest peer sends. Reports of an unused kind are not among them: an honest
    /// peer may send those.
    pub const fn suspicious(&self) -> u64 {
        self.reporters + self.counts + self.numbers + self.blocks + self.history.total()
    }
}

/// Times of the alarms on refused reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RefusalAlarm {
    /// Number of refused reports at the last alarm, and its time.
    alarmed: u64,
    at: Option<SendTime>,
    due: bool,
}

/// Minimum time between alarms, so that a flood of refused reports makes no flood of alarms.
const BETWEEN_ALARMS: TimeDelta = TimeDelta::from_secs(1);

impl RefusalAlarm {
    /// Takes the number of reports refused until now.
    pub(super) fn on_count(&mut self, now: SendTime, count: u64) {
        if count > self.alarmed && self.at.is_none_or(|at| now - at >= BETWEEN_ALARMS) {
            *self = Self { alarmed: count, at: Some(now), due: true };
        }
    }

    /// Whether an alarm is due, once.
    pub(super) fn take(&mut self) -> bool {
        core::mem::take(&mut self.due)
    }
}
