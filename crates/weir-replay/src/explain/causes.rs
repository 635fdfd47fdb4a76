//! The cause of a fall: the sign that came first.

use weir_world::RecordedCall;
use weir_world::recorded::RecordingSource;

use super::falls::RateFall;
use super::series::{BIN_US, CallBin, CallSeries};
use super::{Citation, FallCause};

/// Time before a fall in which a sign counts as its cause.
const BEFORE_US: i64 = 3_000_000;
/// Time after the first step of a fall in which a sign still counts: reports come late.
const AFTER_US: i64 = 300_000;
/// Time for which a change of route explains what follows.
const ROUTE_US: i64 = 5_000_000;
/// Share of lost packets from which loss counts.
const LOSS: f64 = 0.02;
/// Fewest lost packets that count.
const FEWEST_LOST: usize = 3;
/// Shortest time without feedback that counts.
const SHORTEST_SILENCE_US: i64 = 500_000;
/// Delay of a queue that is no short one, in µs.
const DEEP_QUEUE_US: i64 = 60_000;
/// Packets without a report in time that do not count as silence.
const MOST_UNREPORTED: usize = 5;
/// Most rows of a table that are looked through for a fall.
const MOST_ROWS: usize = 1000;
/// Share of the rate before below which a source limits it.
const OFFERED: f64 = 0.75;

/// A sign of a cause: its begin, and a sentence with what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CauseSign {
    pub(super) cause: FallCause,
    pub(super) since_us: i64,
    pub(super) sentence: String,
    pub(super) cites: Citation,
}

/// The first sign before the fall; `None` if there is none. A queue counts at most from three seconds before the fall on.
pub(super) fn first_sign(call: &RecordedCall, series: &CallSeries, fall: &RateFall) -> Option<CauseSign> {
    let signs = [
        route(call, fall),
        silence(call, series, fall),
        receiver(call, fall),
        probe(call, fall),
        loss(series, call, fall),
        queue(series, fall),
        application(call, series, fall),
    ];
    let mut signs: Vec<CauseSign> = signs.into_iter().flatten().collect();
    let earliest = series.bin(fall.start_us - BEFORE_US) as i64 * BIN_US;
    let counts_from = |sign: &CauseSign| sign.since_us.max(earliest);
    // A deep queue drops when it is full: it grew before. A short one drops at once.
    if let Some(queue) = signs.iter().find(|sign| sign.cause == FallCause::GrowingQueue) {
        let since = counts_from(queue);
        let deep = series.queue_p99_us >= DEEP_QUEUE_US;
        signs.retain(|sign| {
            sign.cause != FallCause::LossInQueue || (!deep && counts_from(sign) < since + BIN_US)
        });
    }
    // A sender that may not send more is not limited by its source.
    if signs.iter().any(|sign| !matches!(sign.cause, FallCause::ApplicationLimited | FallCause::Processor)) {
        signs.retain(|sign| !matches!(sign.cause, FallCause::ApplicationLimited | FallCause::Processor));
    }
    // Stable: of two signs at once the one named first above.
    signs.into_iter().min_by_key(|sign| match sign.cause {
        FallCause::GrowingQueue => counts_from(sign),
        _ => sign.since_us,
    })
}

/// Number of the times up to `time_us`.
fn until(times: &[i64], time_us: i64) -> usize {
    times.partition_point(|&at| at <= time_us)
}

fn seconds(us: i64) -> f64 {
    us as f64 / 1e6
}

fn within(fall: &RateFall, time_us: i64) -> bool {
    (fall.start_us - BEFORE_US..=fall.start_us + AFTER_US).contains(&time_us)
}

fn route(call: &RecordedCall, fall: &RateFall) -> Option<CauseSign> {
    // The first route is that of the call's begin.
    let row = until(&call.route_changes.time_us, fall.start_us).checked_sub(1).filter(|&row| row > 0)?;
    let at = call.route_changes.time_us[row];
    if fall.start_us - at > ROUTE_US {
        return None;
    }
    Some(CauseSign {
        cause: FallCause::RouteChanged,
        since_us: at,
        sentence: format!("The route changed at {:.1} s.", seconds(at)),
        cites: Citation::rows("route_changes", row, row),
    })
}

/// A gap between reports that ends at the fall, or in which it lies.
fn silence(call: &RecordedCall, series: &CallSeries, fall: &RateFall) -> Option<CauseSign> {
    let reports = &call.feedback.time_us;
    let usual = series.usual_gap_us?;
    let longest = SHORTEST_SILENCE_US.max(6 * usual);
    let next = reports.partition_point(|&at| at <= fall.start_us);
    // The gap around the fall, and the one before it.
    let ends = [next, next.saturating_sub(1)];
    let row = ends.into_iter().find(|&row| {
        let Some(before) = row.checked_sub(1).map(|before| reports[before]) else { return false };
        let end = reports.get(row).copied().unwrap_or(call.duration_us);
        // Without packets there is no feedback.
        let sends = || series.unreported(call, before, end) > MOST_UNREPORTED;
        end - before >= longest && end + AFTER_US >= fall.start_us && sends()
    })?;
    let begin = reports[row - 1];
    let end = reports.get(row).copied().unwrap_or(call.duration_us);
    Some(CauseSign {
        cause: FallCause::FeedbackLost,
        since_us: begin,
        sentence: format!(
            "No feedback came for {:.1} s from {:.1} s on; it usually comes each {} ms.",
            seconds(end - begin),
            seconds(begin),
            usual / 1000
        ),
        cites: Citation::rows("feedback", row - 1, row.min(reports.len() - 1)),
    })
}

/// Whether no feedback on packets came for a while between two times.
fn is_silent(call: &RecordedCall, series: &CallSeries, from_us: i64, to_us: i64) -> bool {
    let reports = &call.feedback.time_us;
    let first = reports.partition_point(|&at| at < from_us).saturating_sub(1);
    let mut pairs = reports[first..].windows(2).take_while(|pair| pair[0] < to_us);
    pairs.any(|pair| {
        pair[1] - pair[0] >= SHORTEST_SILENCE_US
            && series.unreported(call, pair[0], pair[1]) > MOST_UNREPORTED
    })
}

/// An upper bound by the receiver that is new and near the rate after the fall.
fn receiver(call: &RecordedCall, fall: &RateFall) -> Option<CauseSign> {
    let end = until(&call.ceilings.time_us, fall.start_us + AFTER_US);
    let rows = (end.saturating_sub(MOST_ROWS)..end).map(|row| (row, call.ceilings.row(row)));
    let (row, ceiling) = rows.rev().find(|(_, row)| {
        let near = row.bps as f64 <= 1.1 * fall.from_bps && row.bps as f64 >= 0.7 * fall.to_bps;
        within(fall, row.time_us) && near && (row.bps as f64) < 0.95 * fall.from_bps
    })?;
    Some(CauseSign {
        cause: FallCause::ReceiverLimit,
        since_us: ceiling.time_us,
        sentence: format!(
            "The receiver allowed {} kbit/s (REMB) at {:.1} s.",
            ceiling.bps / 1000,
            seconds(ceiling.time_us)
        ),
        cites: Citation::rows("ceilings", row, row),
    })
}

fn probe(call: &RecordedCall, fall: &RateFall) -> Option<CauseSign> {
    let end = until(&call.probe_outcomes.time_us, fall.start_us);
    let rows = (end.saturating_sub(MOST_ROWS)..end).map(|row| (row, call.probe_outcomes.row(row)));
    let (row, outcome) = rows.rev().find(|(_, row)| {
        row.failure != 0 && (row.time_us..=row.time_us + 1_000_000).contains(&fall.start_us)
    })?;
    let why = [
        "",
        "its packets came at no valid interval",
        "it came faster than it was sent",
        "too few of its packets came",
    ];
    Some(CauseSign {
        cause: FallCause::ProbeFailed,
        since_us: outcome.time_us,
        sentence: format!(
            "Probe {} failed at {:.1} s: {}.",
            outcome.id,
            seconds(outcome.time_us),
            why.get(usize::from(outcome.failure)).unwrap_or(&"unknown")
        ),
        cites: Citation::rows("probe_outcomes", row, row),
    })
}

fn loss(series: &CallSeries, call: &RecordedCall, fall: &RateFall) -> Option<CauseSign> {
    let (from, to) = (fall.start_us - BEFORE_US, fall.start_us + AFTER_US);
    let time = |row: u32| call.packets.row(row as usize).order_us();
    let first = series.lost.partition_point(|&row| time(row) < from);
    let end = series.lost.partition_point(|&row| time(row) <= to);
    let lost = &series.lost[first..end.max(first)];
    let since = time(*lost.first()?);
    // The second from the first loss on has the share.
    let span = series.between(since, (since + 1_000_000).max(fall.start_us));
    let sum = |of: fn(&CallBin) -> u32| span.iter().map(|bin| u64::from(of(bin))).sum::<u64>();
    let share = sum(|bin| bin.lost) as f64 / sum(|bin| bin.packets).max(1) as f64;
    if lost.len() < FEWEST_LOST || share < LOSS {
        return None;
    }
    let in_queue = series.met_a_full_queue(call, lost);
    let (cause, with) = if in_queue {
        (FallCause::LossInQueue, "behind a full queue")
    } else {
        (FallCause::LossWithoutQueue, "without a queue")
    };
    Some(CauseSign {
        cause,
        since_us: since,
        sentence: format!(
            "{} packets were lost {with} from {:.1} s on, {:.1} % of those sent.",
            lost.len(),
            seconds(since),
            100.0 * share
        ),
        cites: Citation::rows("packets", lost[0] as usize, lost[lost.len() - 1] as usize),
    })
}

/// A standing queue that leads up to the fall.
fn queue(series: &CallSeries, fall: &RateFall) -> Option<CauseSign> {
    let last = series.bin(fall.start_us + AFTER_US);
    // The last bin with a queue, at most half a second before the fall, and the bins before it without a gap.
    let of_bin = |bin: usize| Some((bin, series.bins[bin].queue_begin? as usize));
    let (newest, first) = (series.bin(fall.start_us - 2 * BIN_US)..=last).rev().find_map(of_bin)?;
    let since_us = first as i64 * BIN_US;
    let peak = series.bins[newest].queue_peak_us;
    let earliest = series.bin(fall.start_us - BEFORE_US).max(first);
    let recent = series.bins[earliest..=newest].iter().filter_map(|bin| bin.standing_us).max()?;
    let length = if recent == peak {
        format!(" and grew to {} ms", peak / 1000)
    } else {
        format!(", of {} ms at most, and of {} ms before the fall", peak / 1000, recent / 1000)
    };
    Some(CauseSign {
        cause: FallCause::GrowingQueue,
        since_us,
        sentence: format!("A queue stood from {:.1} s on{length}.", seconds(since_us)),
        cites: Citation::rows(
            "packets",
            series.bins[first].first_row as usize,
            series.bins[newest].last_row as usize,
        ),
    })
}

/// A source that sent less before the fall than it was allowed.
fn application(call: &RecordedCall, series: &CallSeries, fall: &RateFall) -> Option<CauseSign> {
    let before = series.sent_bps(fall.start_us - 1_500_000, fall.start_us - BIN_US);
    if before >= OFFERED * fall.from_bps || fall.start_us < 2 * BEFORE_US {
        return None;
    }
    let cites = match limited_within(call, fall.start_us - 1_500_000, fall.start_us) {
        RecordedLimit::Off => return None,
        RecordedLimit::On(row) => Citation::rows("application_limits", row, row),
        RecordedLimit::Unknown => {
            let bins = series.between(fall.start_us - 1_500_000, fall.start_us);
            Citation::rows("packets", bins.first()?.first_row as usize, bins.last()?.last_row as usize)
        }
    };
    Some(CauseSign {
        cause: source_cause(call, series, fall.start_us),
        since_us: fall.start_us - 1_500_000,
        sentence: format!(
            "The source sent {:.0} kbit/s and was allowed {:.0}.",
            before / 1e3,
            fall.from_bps / 1e3
        ),
        cites,
    })
}

/// The record whether the source limits the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordedLimit {
    /// No such record.
    Unknown,
    /// It does not.
    Off,
    /// It does, by this row of the table.
    On(usize),
}

/// The record between two times: its last row with a begin.
fn limited_within(call: &RecordedCall, from_us: i64, to_us: i64) -> RecordedLimit {
    let limits = &call.application_limits;
    if limits.is_empty() {
        // A log of Chromium has each begin.
        let is_log = call.source == RecordingSource::EventLogOfSender;
        return if is_log { RecordedLimit::Off } else { RecordedLimit::Unknown };
    }
    let end = until(&limits.time_us, to_us);
    // The row before the span holds in it.
    let first = until(&limits.time_us, from_us).saturating_sub(1).max(end.saturating_sub(MOST_ROWS));
    let begun = (first..end).rev().find(|&row| limits.limited[row] != 0);
    begun.map_or(RecordedLimit::Off, RecordedLimit::On)
}

/// Fewer pictures mean a processor or a camera that cannot follow, smaller ones a source with less to send.
fn source_cause(call: &RecordedCall, series: &CallSeries, at_us: i64) -> FallCause {
    let limitation = call.labels.iter().find(|series| series.name.ends_with("qualityLimitationReason"));
    if let Some(series) = limitation {
        let next = series.time_us.partition_point(|&time| time <= at_us + 1_000_000);
        let label = next.checked_sub(1).map(|last| &series.labels[usize::from(series.values[last])]);
        if label.is_some_and(|label| label == "cpu") {
            return FallCause::Processor;
        }
    }
    let before = series.pictures_per_second(at_us - 8_000_000, at_us - 3_000_000);
    let now = series.pictures_per_second(at_us - 1_500_000, at_us);
    if before > 5.0 && now < 0.6 * before { FallCause::Processor } else { FallCause::ApplicationLimited }
}

/// Falls of the sent rate of at least 30 % for two seconds under an estimate that stays: the source sent less.
pub(super) fn source_falls(
    call: &RecordedCall,
    series: &CallSeries,
    allowed: &dyn Fn(i64) -> Option<f64>,
) -> Vec<(RateFall, CauseSign)> {
    const WINDOW_US: i64 = 2_000_000;
    const LEAST: f64 = 0.3;
    const LEAST_RATE: f64 = 100e3;
    let mut found: Vec<(RateFall, CauseSign)> = Vec::new();
    let mut at = 3 * WINDOW_US;
    let drop_at = |at: i64| {
        let (before, after) =
            (series.sent_bps(at - WINDOW_US, at - 1), series.sent_bps(at + BIN_US, at + WINDOW_US));
        let (allowed_before, allowed_after) = (allowed(at - WINDOW_US)?, allowed(at + WINDOW_US)?);
        let stays = allowed_after >= 0.9 * allowed_before && after < OFFERED * allowed_after;
        let quiet = !series
            .between(at - WINDOW_US, at + WINDOW_US)
            .iter()
            .any(|bin| bin.lost > 2 || bin.queue_begin.is_some());
        let falls = before > LEAST_RATE && after <= (1.0 - LEAST) * before;
        let may_limit = || limited_within(call, at, at + 2 * BIN_US) != RecordedLimit::Off;
        let is_silent = || is_silent(call, series, at - WINDOW_US, at + WINDOW_US);
        (stays && quiet && falls && may_limit() && !is_silent()).then_some((before, after, allowed_after))
    };
    while at + WINDOW_US <= call.duration_us {
        if drop_at(at).is_none() {
            at += BIN_US;
            continue;
        }
        // The steepest place within the next seconds is the begin.
        let places = (0..2 * WINDOW_US / BIN_US).map(|step| at + step * BIN_US);
        let steepest = places
            .filter_map(|place| drop_at(place).map(|drop| (place, drop)))
            .min_by(|(_, one), (_, two)| (one.1 / one.0).total_cmp(&(two.1 / two.0)));
        if let Some((start_us, (before, after, allowed))) = steepest {
            let fall =
                RateFall { start_us, lowest_us: start_us + WINDOW_US, from_bps: before, to_bps: after };
            let rows = series.between(start_us, start_us + WINDOW_US).iter().filter(|bin| bin.packets > 0);
            let (first, last) =
                (rows.clone().map(|bin| bin.first_row).min(), rows.map(|bin| bin.last_row).max());
            let sign = CauseSign {
                cause: source_cause(call, series, start_us + WINDOW_US),
                since_us: start_us,
                sentence: format!(
                    "The source sent {:.0} kbit/s instead of {:.0}, and was allowed {:.0}.",
                    after / 1e3,
                    before / 1e3,
                    allowed / 1e3
                ),
                cites: Citation::rows("packets", first.unwrap_or(0) as usize, last.unwrap_or(0) as usize),
            };
            found.push((fall, sign));
        }
        at += 3 * WINDOW_US;
    }
    found
}
