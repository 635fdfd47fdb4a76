//! Bounds of a path from counters once a second, which give no scenario.

use weir_world::RecordedCall;
use weir_world::recorded::CounterSeries;

use crate::explain::CountedFinding;
use crate::explain::counters::{finding, growth, known, of_pair, of_video, sent};

/// Time over which a rate is a lower bound, in µs: longer than a queue can hold back or add.
const WINDOW_US: i64 = 5_000_000;

/// Bounds of the path behind a recording of counters, each a sentence with the word *about*; empty without such counters.
pub fn counted_bounds(call: &RecordedCall) -> Vec<CountedFinding> {
    let mut found = Vec::new();
    let received = of_video(call, "bytesReceived").and_then(|series| Some((series, fastest(series)?)));
    if let Some((series, bps)) = received {
        let kbps = bps / 1e3;
        let sentence = format!(
            "Capacity: at least about {kbps:.0} kbit/s, as video came so fast over about five seconds."
        );
        found.push(finding(series, sentence));
    } else if let (Some((series, ..)), Some(lost)) = (sent(call, "bytesSent"), lost_share(call))
        && let Some(bps) = fastest(series)
    {
        let kbps = bps * (1.0 - lost.1) / 1e3;
        let sentence = format!(
            "Capacity: at least about {kbps:.0} kbit/s, as media left so fast over about five seconds, less the loss."
        );
        found.push(finding(series, sentence));
    }
    let round_trip = of_pair(call, "currentRoundTripTime")
        .or_else(|| call.counters.iter().find(|series| series.name == "remote-inbound-rtp.roundTripTime"));
    if let Some(series) = round_trip {
        let ends = known(series).map(|(_, value)| value);
        let (least, most) = ends.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), value| {
            (least.min(value), most.max(value))
        });
        if least <= most {
            let half = 500.0 * least;
            found.push(finding(series, format!("Delay: at most about {half:.0} ms each way.")));
            let rise = 1e3 * (most - least);
            found.push(finding(
                series,
                format!("Queue: at least about {rise:.0} ms, as the round trip rose by so much."),
            ));
        }
    }
    if let Some((series, share)) = lost_share(call) {
        let sentence =
            format!("Loss: about {:.1} % of the packets, at random or at a full queue.", 100.0 * share);
        found.push(finding(series, sentence));
    }
    found
}

/// The highest rate of a counter of bytes over five seconds or little more, in bit/s.
fn fastest(series: &CounterSeries) -> Option<f64> {
    let values: Vec<(i64, f64)> = known(series).collect();
    let mut first = 0;
    let mut most = None;
    for &(to, last) in &values {
        // The shortest span up to here that is long enough.
        while values.get(first + 1).is_some_and(|next| to - next.0 >= WINDOW_US) {
            first += 1;
        }
        let (from, begin) = values[first];
        if (WINDOW_US..2 * WINDOW_US).contains(&(to - from)) && last > begin {
            let bps = (last - begin) * 8e6 / (to - from) as f64;
            most = Some(most.map_or(bps, |most: f64| most.max(bps)));
        }
    }
    most
}

/// Share of lost packets by the receiver's counters, else by those of its reports at the sender.
fn lost_share(call: &RecordedCall) -> Option<(&CounterSeries, f64)> {
    let share = |lost: f64, all: f64| (all > 0.0).then(|| (lost / all).min(1.0));
    if let (Some(lost), Some(received)) = (of_video(call, "packetsLost"), of_video(call, "packetsReceived")) {
        let (lost_packets, packets) = (growth(lost)?.0, growth(received)?.0);
        return Some((lost, share(lost_packets, packets + lost_packets)?));
    }
    let lost = call.counters.iter().find(|series| series.name == "remote-inbound-rtp.packetsLost")?;
    let (_, packets, _) = sent(call, "packetsSent")?;
    Some((lost, share(growth(lost)?.0, packets)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(name: &str, value: impl Fn(f64) -> f64) -> CounterSeries {
        CounterSeries {
            name: name.to_owned(),
            object: 0,
            time_us: (0..=30).map(|second| 1_000_000 * second).collect(),
            values: (0..=30).map(|second| Some(value(f64::from(second)))).collect(),
        }
    }

    fn sentences(counters: Vec<CounterSeries>) -> Vec<String> {
        let call = RecordedCall { counters, ..RecordedCall::default() };
        counted_bounds(&call).into_iter().map(|bound| bound.sentence).collect()
    }

    #[test]
    fn counters_bound_the_path_with_about() {
        // 800 kbit/s for ten seconds, one second of 8 Mbit/s in it, and 400 kbit/s after them.
        let bytes = |second: f64| {
            100e3 * second.min(10.0)
                + 50e3 * (second - 10.0).max(0.0)
                + if second > 4.0 { 900e3 } else { 0.0 }
        };
        let found = sentences(vec![
            counter("inbound-rtp.bytesReceived", bytes),
            counter("inbound-rtp.packetsReceived", |second| 95.0 * second),
            counter("inbound-rtp.packetsLost", |second| 5.0 * second),
            counter("candidate-pair.currentRoundTripTime", |second| if second == 7.0 { 0.35 } else { 0.05 }),
        ]);
        assert_eq!(
            found,
            [
                "Capacity: at least about 2240 kbit/s, as video came so fast over about five seconds.",
                "Delay: at most about 25 ms each way.",
                "Queue: at least about 300 ms, as the round trip rose by so much.",
                "Loss: about 5.0 % of the packets, at random or at a full queue."
            ]
        );
    }

    #[test]
    fn sent_bytes_bound_the_capacity_only_with_their_loss() {
        let sent = || counter("outbound-rtp.bytesSent", |second| 125e3 * second);
        let with_loss = vec![
            sent(),
            counter("outbound-rtp.packetsSent", |second| 100.0 * second),
            counter("remote-inbound-rtp.packetsLost", |second| 10.0 * second),
        ];
        assert!(sentences(with_loss)[0].contains("about 900 kbit/s"));
        assert!(sentences(vec![sent()]).is_empty());
    }
}
