//! The explanation of a call: what the viewer got, each fall of the rate with its cause, and the moments to look at.
//!
//! From packets an explanation says what came first before each fall: a queue, loss, silence, a bound of the receiver, the source, the route.
//! From counters once a second it says rate, loss, round trip and freezes, and each sentence carries the word *about*.

mod causes;
pub(crate) mod counters;
mod falls;
#[cfg(test)]
mod made_tests;
mod page;
mod series;
mod terminal;
#[cfg(test)]
mod tests;
mod viewer;

use core::fmt;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use weir_world::RecordedCall;

pub use page::explanation_page;

use crate::clock::{CallTooLong, require_one_day};
use crate::replay::{ReplayPoint, recorded_rate};
use causes::{CauseSign, first_sign, source_falls};
use falls::{RateFall, falls};
use series::{BIN_US, CallSeries};

/// Time before and after which two moments are one, in µs.
const APART_US: i64 = 3_000_000;
/// Weight of the first fall of a cause, beside the share of the rate that it took.
const FIRST_OF_ITS_CAUSE: f64 = 0.5;
/// Moments of an explanation.
const MOMENTS: usize = 3;
/// Longest time that a fall's cause counts for after its lowest rate, in µs.
const LONGEST_EFFECT_US: i64 = 20_000_000;

/// The rows of a table, or the counter, on which a sentence rests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Citation {
    /// Table of the recorded call, or name of a counter.
    pub table: String,
    /// First row.
    pub first_row: usize,
    /// Last row.
    pub last_row: usize,
}

impl Citation {
    pub(crate) fn rows(table: &str, first_row: usize, last_row: usize) -> Self {
        Self { table: table.to_owned(), first_row, last_row }
    }
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first_row == self.last_row {
            write!(f, "{} {}", self.table, self.first_row)
        } else {
            write!(f, "{} {}–{}", self.table, self.first_row, self.last_row)
        }
    }
}

/// The cause of a fall of the rate: the sign that came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FallCause {
    /// A standing queue grew on the path.
    GrowingQueue,
    /// Packets were lost behind a full queue.
    LossInQueue,
    /// Packets were lost without a queue.
    LossWithoutQueue,
    /// The receiver bounded the rate.
    ReceiverLimit,
    /// The source offered less than it was allowed.
    ApplicationLimited,
    /// The encoder made fewer pictures: processor or camera.
    Processor,
    /// A probe failed.
    ProbeFailed,
    /// The route changed.
    RouteChanged,
    /// Feedback did not come.
    FeedbackLost,
}

impl FallCause {
    /// Its name for readers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GrowingQueue => "growing queue",
            Self::LossInQueue => "loss behind a full queue",
            Self::LossWithoutQueue => "loss without a queue",
            Self::ReceiverLimit => "receiver limit",
            Self::ApplicationLimited => "application-limited",
            Self::Processor => "processor or camera",
            Self::ProbeFailed => "probe failed",
            Self::RouteChanged => "route changed",
            Self::FeedbackLost => "feedback lost",
        }
    }
}

/// A freeze of the picture (W3C webrtc-stats, `freezeCount`).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Freeze {
    /// Arrival of the last picture before it, in µs from the begin of the call.
    pub from_us: i64,
    /// Time to the next picture, in µs.
    pub length_us: i64,
    /// Packets of the two pictures.
    pub cites: Citation,
}

/// The freezes of a call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallFreezes {
    /// The freezes, in order.
    pub found: Vec<Freeze>,
    /// Whether the recording has the decoded pictures. Without, freezes are by the arrivals of whole pictures, and the
    /// decoder's may differ.
    pub of_the_decoder: bool,
}

impl CallFreezes {
    /// Length of all freezes together, in s.
    pub fn seconds(&self) -> f64 {
        self.found.iter().map(|freeze| freeze.length_us).sum::<i64>() as f64 / 1e6
    }
}

/// The picture that the viewer got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CallQuality {
    /// Mean rate that left, all headers included, in bit/s; absent without departures.
    pub sent_bps: Option<f64>,
    /// Mean rate that arrived, all headers included, in bit/s; absent where no arrival is known.
    pub received_bps: Option<f64>,
    /// Complete pictures per second, where the recording tells pictures apart.
    pub pictures_per_second: Option<f64>,
    /// Freezes; absent where the recording tells no pictures apart.
    pub freezes: Option<CallFreezes>,
    /// Median time from the departure of a picture's first packet to the arrival of its last, in ms; above the least delay where the clocks
    /// differ.
    pub picture_delay_p50_ms: Option<f64>,
    /// The same, 95th percentile.
    pub picture_delay_p95_ms: Option<f64>,
    /// Share of lost packets, 0 to 1: by arrivals, else by receiver reports; in a recording of the receiver by gaps of the
    /// numbers.
    pub lost_share: Option<f64>,
}

/// A fall of the rate by at least 15 %.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExplainedFall {
    /// Time of its first step, in µs from the begin of the call.
    pub at_us: i64,
    /// Time of the sign that came first; that of the first step where no sign came.
    pub since_us: i64,
    /// Time of the lowest rate.
    pub lowest_us: i64,
    /// Rate before, in bit/s.
    pub from_bps: f64,
    /// Lowest rate.
    pub to_bps: f64,
    /// Whether the sent rate fell under an estimate that stayed.
    pub of_the_source: bool,
    /// The cause; absent where no sign came before.
    pub cause: Option<FallCause>,
    /// Sentences about the cause, each with the rows that it rests on.
    pub evidence: Vec<(String, Citation)>,
}

/// The share of the call that a cause takes, from the fall on until the rate is back, at most 20 s for each fall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CauseShare {
    /// The cause.
    pub cause: FallCause,
    /// Share of the time, 0 to 1.
    pub share: f64,
    /// Falls with this cause.
    pub falls: usize,
}

/// A moment to look at.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Moment {
    /// Time in µs from the begin of the call.
    pub at_us: i64,
    /// The event, as a sentence.
    pub sentence: String,
    /// The rows that the sentence rests on.
    pub cites: Citation,
}

/// A sentence about the call, and the counter that it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CountedFinding {
    /// The sentence.
    pub sentence: String,
    /// The counter and its rows.
    pub cites: Citation,
}

/// The explanation of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// Length of the call in s.
    pub length_s: f64,
    /// The picture that the viewer got, from packets.
    pub quality: Option<CallQuality>,
    /// Falls of the rate, in order.
    pub falls: Vec<ExplainedFall>,
    /// The causes by their share of the time, the largest first.
    pub shares: Vec<CauseShare>,
    /// The cause with the largest share, if any fall has a cause.
    pub main_cause: Option<FallCause>,
    /// The moments to look at, the most important first.
    pub moments: Vec<Moment>,
    /// Findings from counters once a second.
    pub counted: Vec<CountedFinding>,
    /// Remarks of the recording.
    pub remarks: Vec<String>,
}

/// Explains the call from its packets, or from its counters where it has no packets.
///
/// # Errors
/// The call lasts more than a day.
pub fn explain(call: &RecordedCall) -> Result<Explanation, CallTooLong> {
    require_one_day(call)?;
    let mut found = Explanation {
        length_s: call.duration_us as f64 / 1e6,
        counted: counters::findings(call),
        remarks: call.remarks.clone(),
        ..Explanation::default()
    };
    if call.packets.is_empty() {
        found.moments = counters::moments(call);
        return Ok(found);
    }
    let series = CallSeries::of(call);
    let rate = rate_of(call, &series);
    let quality = viewer::quality(call, &series);
    let allowed = |time: i64| crate::replay::rate_at(&rate, time).map(|bps| bps as f64);
    let has_estimate = !recorded_rate(call).is_empty();
    let mut explained: Vec<ExplainedFall> = falls(&rate)
        .iter()
        .map(|fall| {
            let mut explained = explained_fall(fall, first_sign(call, &series, fall), false);
            explained.evidence.extend(detector(call, fall.start_us));
            explained
        })
        .collect();
    if has_estimate {
        let of_source = source_falls(call, &series, &allowed);
        explained.extend(of_source.into_iter().map(|(fall, sign)| explained_fall(&fall, Some(sign), true)));
    }
    explained.sort_by_key(|fall| fall.at_us);
    found.shares = shares(call, &rate, &series, &explained);
    found.main_cause = found.shares.first().map(|share| share.cause);
    found.moments = moments(&explained, &quality, &series);
    found.falls = explained;
    found.quality = Some(quality);
    Ok(found)
}

/// The recorded estimate; without one the rate that left, over a second.
fn rate_of(call: &RecordedCall, series: &CallSeries) -> Vec<ReplayPoint> {
    let recorded = recorded_rate(call);
    if !recorded.is_empty() {
        return recorded;
    }
    let bins = series.bins.len() as i64;
    let point = |bin: i64| {
        let time_us = bin * BIN_US;
        let bps = if call.has_departures() {
            series.sent_bps(time_us - 1_000_000, time_us - 1)
        } else {
            series.arrived_bps(time_us - 1_000_000, time_us - 1)
        };
        ReplayPoint { time_us, bps: bps as u64 }
    };
    // The first second is not whole, and the last one neither.
    (4..bins - 1).map(point).collect()
}

fn explained_fall(fall: &RateFall, sign: Option<CauseSign>, of_the_source: bool) -> ExplainedFall {
    ExplainedFall {
        at_us: fall.start_us,
        since_us: sign.as_ref().map_or(fall.start_us, |sign| sign.since_us),
        lowest_us: fall.lowest_us,
        from_bps: fall.from_bps,
        to_bps: fall.to_bps,
        of_the_source,
        cause: sign.as_ref().map(|sign| sign.cause),
        evidence: sign.map(|sign| (sign.sentence, sign.cites)).into_iter().collect(),
    }
}

/// State of the recorded overuse detector at a fall.
fn detector(call: &RecordedCall, at_us: i64) -> Option<(String, Citation)> {
    let next = call.delay_estimates.time_us.partition_point(|&time| time <= at_us);
    let row = next.checked_sub(1)?;
    let state = call.delay_estimates.row(row).state_name();
    Some((format!("The recorded detector's state is {state}."), Citation::rows("delay_estimates", row, row)))
}

fn shares(
    call: &RecordedCall,
    rate: &[ReplayPoint],
    series: &CallSeries,
    falls: &[ExplainedFall],
) -> Vec<CauseShare> {
    let mut shares: Vec<CauseShare> = Vec::new();
    for (index, fall) in falls.iter().enumerate() {
        let Some(cause) = fall.cause else { continue };
        let next = falls.get(index + 1).map_or(call.duration_us, |next| next.at_us);
        let latest = next.min(fall.lowest_us + LONGEST_EFFECT_US).min(call.duration_us);
        let back = if fall.of_the_source {
            (fall.lowest_us..latest)
                .step_by(BIN_US as usize)
                .find(|&at| series.sent_bps(at, at + 1_000_000) >= 0.9 * fall.from_bps)
        } else {
            // Later points than the next fall are looked through for that one.
            let after = &rate[rate.partition_point(|point| point.time_us <= fall.lowest_us)..];
            let mut until = after.iter().take_while(|point| point.time_us <= latest);
            until.find(|point| point.bps as f64 >= 0.9 * fall.from_bps).map(|point| point.time_us)
        };
        let length = back.map_or(latest, |back| back.min(latest)) - fall.at_us;
        let share = length.max(0) as f64 / call.duration_us.max(1) as f64;
        match shares.iter_mut().find(|known| known.cause == cause) {
            Some(known) => (known.share, known.falls) = (known.share + share, known.falls + 1),
            None => shares.push(CauseShare { cause, share, falls: 1 }),
        }
    }
    shares.sort_by(|one, two| two.share.total_cmp(&one.share));
    shares
}

/// The falls and freezes that cost most, at least three seconds apart.
fn moments(falls: &[ExplainedFall], quality: &CallQuality, series: &CallSeries) -> Vec<Moment> {
    let mut seen: BTreeSet<Option<FallCause>> = BTreeSet::new();
    let of_falls = falls.iter().map(|fall| {
        let cause = fall.cause.map_or("no sign came before", FallCause::name);
        let sentence = format!(
            "the rate fell from {:.0} to {:.0} kbit/s: {cause}",
            fall.from_bps / 1e3,
            fall.to_bps / 1e3
        );
        let cites =
            fall.evidence.first().map_or_else(|| series.packets_near(fall.at_us), |(_, cites)| cites.clone());
        // The first fall of a cause shows how it began.
        let is_first = seen.insert(fall.cause);
        let weight =
            1.0 - fall.to_bps / fall.from_bps.max(1.0) + if is_first { FIRST_OF_ITS_CAUSE } else { 0.0 };
        (weight, Moment { at_us: fall.since_us, sentence, cites })
    });
    let of_freezes = quality.freezes.iter().flat_map(|freezes| &freezes.found).map(|freeze| {
        let length = freeze.length_us as f64 / 1e6;
        let sentence = format!("the picture froze for {length:.1} s");
        // A freeze of a second weighs as much as the loss of half of the rate.
        (0.5 * length, Moment { at_us: freeze.from_us, sentence, cites: freeze.cites.clone() })
    });
    let mut all: Vec<(f64, Moment)> = of_falls.chain(of_freezes).collect();
    all.sort_by(|one, two| two.0.total_cmp(&one.0));
    let mut chosen: Vec<Moment> = Vec::new();
    for (_, moment) in all {
        if chosen.iter().all(|other| (other.at_us - moment.at_us).abs() >= APART_US) {
            chosen.push(moment);
        }
        if chosen.len() == MOMENTS {
            break;
        }
    }
    chosen
}
