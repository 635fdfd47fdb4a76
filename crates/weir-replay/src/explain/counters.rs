//! Findings from counters once a second.

use weir_world::RecordedCall;
use weir_world::recorded::CounterSeries;

use super::{Citation, CountedFinding, Moment};

/// Shares of the sent bytes below which a part is not listed.
const LEAST_SHARE: f64 = 0.01;

/// The counter of one object.
fn of_object<'a>(call: &'a RecordedCall, name: &str, object: u32) -> Option<&'a CounterSeries> {
    call.counters.iter().find(|series| series.name == name && series.object == object)
}

/// The object of the counter `name` that grew most: the video among audio streams, the pair that carries the call.
fn largest_object(call: &RecordedCall, name: &str) -> Option<u32> {
    let of_name = call.counters.iter().filter(|series| series.name == name);
    let size = |series: &&CounterSeries| growth(series).map_or(0.0, |grown| grown.0);
    of_name.max_by(|one, two| size(one).total_cmp(&size(two))).map(|series| series.object)
}

/// A counter of the received video: that of the inbound stream with most bytes.
pub(crate) fn of_video<'a>(call: &'a RecordedCall, name: &str) -> Option<&'a CounterSeries> {
    let object = largest_object(call, "inbound-rtp.bytesReceived")?;
    of_object(call, &format!("inbound-rtp.{name}"), object)
}

/// A counter of the candidate pair that carries the call: the one with most bytes.
pub(crate) fn of_pair<'a>(call: &'a RecordedCall, name: &str) -> Option<&'a CounterSeries> {
    let name = format!("candidate-pair.{name}");
    let object = largest_object(call, "candidate-pair.bytesSent")
        .or_else(|| largest_object(call, "candidate-pair.bytesReceived"))
        .or_else(|| call.counters.iter().find(|series| series.name == name).map(|series| series.object))?;
    of_object(call, &name, object)
}

/// Growth of all outbound streams together, and the longest time; with the first of their counters.
pub(crate) fn sent<'a>(call: &'a RecordedCall, name: &str) -> Option<(&'a CounterSeries, f64, f64)> {
    let name = format!("outbound-rtp.{name}");
    let mut found: Option<(&CounterSeries, f64, f64)> = None;
    for series in call.counters.iter().filter(|series| series.name == name) {
        let Some((grown, seconds)) = growth(series) else { continue };
        found = Some(match found {
            None => (series, grown, seconds),
            Some((first, sum, longest)) => (first, sum + grown, longest.max(seconds)),
        });
    }
    found
}

/// The values of the counter with their times.
pub(crate) fn known(series: &CounterSeries) -> impl DoubleEndedIterator<Item = (i64, f64)> {
    series.time_us.iter().zip(&series.values).filter_map(|(time, value)| Some((*time, (*value)?)))
}

/// Growth of the counter, and its time in s.
pub(crate) fn growth(series: &CounterSeries) -> Option<(f64, f64)> {
    let ((from, first), (to, last)) = (known(series).next()?, known(series).next_back()?);
    (to > from).then(|| ((last - first).max(0.0), (to - from) as f64 / 1e6))
}

/// A sentence that rests on the whole counter.
pub(crate) fn finding(series: &CounterSeries, sentence: String) -> CountedFinding {
    CountedFinding { sentence, cites: Citation::rows(&series.name, 0, series.values.len().saturating_sub(1)) }
}

fn median(series: &CounterSeries) -> Option<f64> {
    let mut values: Vec<f64> = series.values.iter().flatten().copied().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Findings from the counters, each sentence with its counter. Detector states, the order within a second and the capacity are not among it.
pub(super) fn findings(call: &RecordedCall) -> Vec<CountedFinding> {
    let mut found = Vec::new();
    if let Some(counted) = of_video(call, "bytesReceived")
        && let Some((bytes, seconds)) = growth(counted)
    {
        let kbps = bytes * 8e-3 / seconds;
        found.push(finding(counted, format!("About {kbps:.0} kbit/s of video arrived in the mean.")));
    }
    if let Some((counted, bytes, seconds)) = sent(call, "bytesSent") {
        let kbps = bytes * 8e-3 / seconds;
        found.push(finding(counted, format!("About {kbps:.0} kbit/s of media were sent in the mean.")));
    }
    if let Some(counted) = of_pair(call, "availableOutgoingBitrate")
        && let (Some(middle), Some(most)) =
            (median(counted), counted.values.iter().flatten().copied().max_by(f64::total_cmp))
    {
        let sentence = format!(
            "The estimate was about {:.0} kbit/s in the median, at most about {:.0}.",
            middle / 1e3,
            most / 1e3
        );
        found.push(finding(counted, sentence));
    }
    if let Some(counted) = of_pair(call, "currentRoundTripTime")
        .or_else(|| call.counters.iter().find(|series| series.name == "remote-inbound-rtp.roundTripTime"))
        && let (Some(middle), Some(most)) =
            (median(counted), counted.values.iter().flatten().copied().max_by(f64::total_cmp))
    {
        let sentence = format!(
            "The round trip took about {:.0} ms in the median, at most about {:.0} ms.",
            1e3 * middle,
            1e3 * most
        );
        found.push(finding(counted, sentence));
    }
    if let (Some(lost), Some(received)) = (of_video(call, "packetsLost"), of_video(call, "packetsReceived"))
        && let (Some((lost_packets, _)), Some((packets, _))) = (growth(lost), growth(received))
    {
        let share = 100.0 * lost_packets / (packets + lost_packets).max(1.0);
        found.push(finding(lost, format!("About {share:.1} % of the packets were lost.")));
    }
    if let Some(counted) = of_video(call, "freezeCount")
        && let Some((count, _)) = growth(counted)
    {
        let length = of_video(call, "totalFreezesDuration").and_then(growth).map_or(0.0, |grown| grown.0);
        found.push(finding(
            counted,
            format!("The picture froze about {count:.0} times, for about {length:.1} s together."),
        ));
    }
    found.extend(resolution(call));
    found.extend(limitations(call));
    found.extend(overheads(call));
    found
}

fn resolution(call: &RecordedCall) -> Option<CountedFinding> {
    let counted = of_video(call, "frameHeight").or_else(|| {
        let object = largest_object(call, "outbound-rtp.bytesSent")?;
        of_object(call, "outbound-rtp.frameHeight", object)
    })?;
    let known: Vec<f64> = counted.values.iter().flatten().copied().collect();
    let changes = known.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let least = known.iter().copied().min_by(f64::total_cmp)?;
    let most = known.iter().copied().max_by(f64::total_cmp)?;
    Some(finding(
        counted,
        format!("The picture had about {least:.0} to {most:.0} lines, with about {changes} changes."),
    ))
}

/// Share of the time for which each reason limited the quality: by `qualityLimitationDurations`, else by the reason once a second.
fn limitations(call: &RecordedCall) -> Vec<CountedFinding> {
    let object = largest_object(call, "outbound-rtp.bytesSent").unwrap_or(0);
    let durations = ["bandwidth", "cpu", "other"].map(|reason| {
        let counted = of_object(call, &format!("outbound-rtp.qualityLimitationDurations.{reason}"), object)?;
        let (limited, seconds) = growth(counted)?;
        Some((reason, limited / seconds, counted))
    });
    if durations.iter().any(Option::is_some) {
        let limited = durations.into_iter().flatten().filter(|(_, share, _)| *share >= LEAST_SHARE);
        return limited.map(|(reason, share, counted)| finding(counted, limited_by(reason, share))).collect();
    }
    let labels = call.labels.iter().filter(|series| series.name == "outbound-rtp.qualityLimitationReason");
    let Some(labels) = labels.max_by_key(|series| series.values.len()) else { return Vec::new() };
    let all = labels.values.len().max(1) as f64;
    let shares = labels.labels.iter().enumerate().map(|(index, label)| {
        let count = labels.values.iter().filter(|&&value| usize::from(value) == index).count();
        (label, count as f64 / all)
    });
    shares
        .filter(|(label, share)| *share > 0.0 && label.as_str() != "none")
        .map(|(label, share)| CountedFinding {
            sentence: limited_by(label, share),
            cites: Citation::rows(&labels.name, 0, labels.values.len() - 1),
        })
        .collect()
}

fn limited_by(reason: &str, share: f64) -> String {
    format!("For about {:.0} % of the time the quality was limited by {reason}.", 100.0 * share)
}

/// The shares of the sent bytes that went to headers and retransmissions, and the part of the estimate that was not used.
fn overheads(call: &RecordedCall) -> Vec<CountedFinding> {
    let mut found = Vec::new();
    let Some((_, payload, seconds)) = sent(call, "bytesSent") else { return found };
    let headers = sent(call, "headerBytesSent");
    let all = payload + headers.map_or(0.0, |(_, bytes, _)| bytes);
    for (part, what) in [(headers, "headers"), (sent(call, "retransmittedBytesSent"), "retransmissions")] {
        if let Some((counted, bytes, _)) = part
            && bytes / all.max(1.0) >= LEAST_SHARE
        {
            let share = 100.0 * bytes / all;
            found.push(finding(counted, format!("About {share:.0} % of the sent bytes were {what}.")));
        }
    }
    if let Some(estimate) = of_pair(call, "availableOutgoingBitrate") {
        let known: Vec<f64> = estimate.values.iter().flatten().copied().collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let unused = 100.0 * (1.0 - all * 8.0 / seconds / mean.max(1.0));
        if unused >= 100.0 * LEAST_SHARE {
            found.push(finding(estimate, format!("About {unused:.0} % of the estimate was not used.")));
        }
    }
    found
}

/// Seconds in which the received rate fell most, and those with freezes.
pub(super) fn moments(call: &RecordedCall) -> Vec<Moment> {
    let Some(counted) =
        of_video(call, "bytesReceived").or_else(|| sent(call, "bytesSent").map(|(counted, ..)| counted))
    else {
        return Vec::new();
    };
    let known: Vec<(i64, f64)> = known(counted).collect();
    let rates: Vec<(i64, f64)> = known
        .windows(2)
        .filter(|pair| pair[1].0 > pair[0].0)
        .map(|pair| (pair[1].0, (pair[1].1 - pair[0].1).max(0.0) * 8e6 / (pair[1].0 - pair[0].0) as f64))
        .collect();
    let mut falls: Vec<(f64, Moment)> = rates
        .windows(4)
        .enumerate()
        .filter_map(|(row, rates)| {
            let (before, after) =
                (f64::midpoint(rates[0].1, rates[1].1), f64::midpoint(rates[2].1, rates[3].1));
            let fall = 1.0 - after / before.max(1.0);
            (fall >= super::falls::LEAST_FALL).then(|| {
                let sentence = format!(
                    "the rate fell from about {:.0} to about {:.0} kbit/s",
                    before / 1e3,
                    after / 1e3
                );
                (
                    fall,
                    Moment {
                        at_us: rates[2].0,
                        sentence,
                        cites: Citation::rows(&counted.name, row, row + 4),
                    },
                )
            })
        })
        .collect();
    falls.sort_by(|one, two| two.0.total_cmp(&one.0));
    let mut chosen: Vec<Moment> = Vec::new();
    for (_, moment) in falls {
        if chosen.iter().all(|other| (other.at_us - moment.at_us).abs() >= super::APART_US)
            && chosen.len() < super::MOMENTS
        {
            chosen.push(moment);
        }
    }
    chosen
}
