//! Drives a receiver half with arrivals: checks its reports and signals after each of them, and returns the reports in a
//! form that can be compared.

use alloc::vec::Vec;

use weir_units::TimeDelta;

use super::signals::read_signals;
use crate::controller::Receiver;
use crate::packet::{Arrival, Ecn};
use crate::report::{DcccReport, NativeReport, Record, Report};
use crate::time::ArrivalTime;

/// Upper bound of the time to the next report once packets arrive.
const MAX_REPORT_INTERVAL: TimeDelta = TimeDelta::from_secs(5);

/// Content of a report, with times since `zero`.
#[derive(Debug, PartialEq)]
pub(super) enum ReportContent {
    /// A report on packets.
    Packets {
        /// Sequence number, arrival time and ECN field of each packet.
        records: Vec<(u16, Option<TimeDelta>, Ecn)>,
        /// Number of the report.
        number: u8,
        /// Time of the report.
        at: Option<TimeDelta>,
    },
    /// A report of another kind.
    Other(Report<'static>),
}

/// The content of `report`, with times from `zero` on.
fn content(report: &Report<'_>, zero: ArrivalTime) -> ReportContent {
    match *report {
        Report::Packets { records, number, at } => {
            let record = |r: &Record| (r.sequence, r.reception.time().map(|at| at - zero), r.ecn);
            let records = records.iter().map(record).collect();
            ReportContent::Packets { records, number, at: at.map(|at| at - zero) }
        }
        Report::Ceiling(rate) => ReportContent::Other(Report::Ceiling(rate)),
        Report::Reception(report) => ReportContent::Other(Report::Reception(report)),
        Report::Native { report, echo } => {
            ReportContent::Other(Report::Native { report: without_offset(report, zero), echo })
        }
    }
}

/// A controller's own report, with its times converted to a receiver's clock that reads 0 at `zero`.
fn without_offset(report: NativeReport, zero: ArrivalTime) -> NativeReport {
    let offset = zero - ArrivalTime::ZERO;
    match report {
        NativeReport::Dccc(report) => {
            // The delay is a difference of the clocks, too.
            NativeReport::Dccc(DcccReport { delay: report.delay + -offset, at: report.at - offset, ..report })
        }
        NativeReport::Nada(_) | NativeReport::NadaDelay(_) | NativeReport::Tfrc(_) | NativeReport::Own(_) => {
            report
        }
    }
}

/// The reports on `arrivals`, with the checks after each of them; the receiver's clock is ahead by `offset`.
pub(super) fn reports(
    receiver: &mut dyn Receiver,
    arrivals: &[Arrival],
    offset: TimeDelta,
) -> Vec<ReportContent> {
    let zero = ArrivalTime::ZERO + offset;
    let mut contents = Vec::new();
    for packet in arrivals {
        let packet = Arrival { at: packet.at + offset, ..*packet };
        arrive(receiver, &packet, |report| contents.push(content(report, zero)));
    }
    contents
}

/// Delivers a packet to a receiver half; `on_report` gets the reports that were due before it, and then. A half may ignore
/// a packet until one with the next number confirms it, for example after a jump of the numbers. Then the packet of the
/// next number arrives, too.
///
/// # Panics
/// If the next report is more than 5 s off, a report comes before its time, reports come without end, or a signal is
/// infinite.
pub fn arrive(receiver: &mut dyn Receiver, packet: &Arrival, mut on_report: impl FnMut(&Report<'_>)) {
    let at = packet.at;
    if let Some(due) = receiver.next_timeout().filter(|&due| due < at) {
        drain(receiver, due, &mut on_report);
    }
    receiver.on_arrival(packet);
    let is_soon = |due: Option<ArrivalTime>| due.is_some_and(|due| due <= at + MAX_REPORT_INTERVAL);
    if !is_soon(receiver.next_timeout()) {
        // Only a number below the greatest has a next one.
        let id = packet.id.min(u64::MAX - 1);
        receiver.on_arrival(&Arrival { id, ..*packet });
        receiver.on_arrival(&Arrival { id: id + 1, ..*packet });
    }
    let due = receiver.next_timeout();
    assert!(is_soon(due), "{due:?} after an arrival at {at:?}");
    drain(receiver, at, &mut on_report);
    read_signals(receiver.signals(), |out| receiver.read_signals(out));
}

/// Polls the reports that are due at `now`, and checks that none comes before its time.
fn drain(receiver: &mut dyn Receiver, now: ArrivalTime, on_report: &mut impl FnMut(&Report<'_>)) {
    const MOST_AT_ONCE: usize = 10;
    let before = receiver.next_timeout();
    let mut reports = 0;
    while let Some(report) = receiver.poll_report(now) {
        on_report(&report);
        reports += 1;
        assert!(reports <= MOST_AT_ONCE, "it never stops reporting");
    }
    assert!(reports == 0 || before.is_some_and(|due| due <= now), "a report before its time");
    assert!(receiver.next_timeout().is_none_or(|next| next > now));
}
