//! Short round trips on an empty link, with every encoder, also from the lowest rate. The controller lets its source send as much
//! as under a fixed target.

use std::collections::BTreeSet;

use weir_measure::results::RunMetrics;
use weir_scenario::scenario::{EncoderChoice, scenario_schema};

use super::verdict::{Finding, assert_as_said, judge};
use super::{Runs, long, of_every_controller, set, simulate};

/// Each encoder that a scenario can name but the ladder.
const ENCODERS: [&str; 11] = [
    "papers",
    "gcc-2016",
    "statistical",
    "rfc8867",
    "interval-noise",
    "trace-driven",
    "hybrid",
    "content-sharing",
    "perfect",
    "greedy",
    "chromium",
];

/// The highest rate of an encoder without a maximum of its own, in kbit/s.
const MOST: u64 = 2500;

/// Rates at which this many streams of the ladder are on: their sum and a tenth of it, in kbit/s.
const STREAMS: [(&str, u64); 3] = [("one stream", 165), ("two streams", 715), ("three streams", 2365)];

const SIMULCAST: &str = "simulcast";

/// The one-way delays, in µs, and the start rates, in kbit/s, the lowest among them.
fn ways() -> Vec<(u64, u64)> {
    let (halves, starts): (&[u64], &[u64]) =
        if long() { (&[2000, 3500, 5000, 7500, 10_000, 15_000], &[300, 50]) } else { (&[5000], &[50]) };
    halves.iter().flat_map(|&half| starts.iter().map(move |&start| (half, start))).collect()
}

/// The encoders that the short form runs: even and uneven frames, and bursts that fill the link for a while.
fn encoders() -> impl Iterator<Item = &'static str> {
    let short = ["papers", "statistical", "trace-driven"];
    ENCODERS.into_iter().filter(move |encoder| long() || short.contains(encoder))
}

/// The highest rate of an encoder, in kbit/s.
fn highest(encoder: &str) -> u64 {
    let preset: EncoderChoice = serde_json::from_value(encoder.into()).expect("it is a preset");
    let own = preset.config().max_rate.bps() / 1000;
    if own > 10 * MOST { MOST } else { own }
}

/// Overrides for a path of 5 Mbit/s and a round trip of twice `half_us` µs; rates in kbit/s.
fn path(encoder: &str, half_us: u64, [min, start, max]: [u64; 3]) -> Vec<String> {
    let mut sets = set(&[
        "duration=180s",
        "measure={ from = \"120s\" }",
        "links.forward.rate=5Mbps",
        &format!("links.forward.delay={half_us}us"),
        &format!("links.back.delay={half_us}us"),
        &format!("flows.video.encoder={encoder}"),
        &format!("flows.video.rates={{ min = \"{min}kbps\", start = \"{start}kbps\", max = \"{max}kbps\" }}"),
    ]);
    if encoder == SIMULCAST {
        // The property is that of the controller alone.
        sets.push("flows.video.climb=false".to_owned());
    }
    sets
}

fn payload_rate(run: &RunMetrics) -> f64 {
    run.flows[0].payload_rate_bps.unwrap_or(0.0)
}

/// The rate of the source under a fixed target of `kbps`, which no controller may exceed.
fn fixed(encoder: &str, half_us: u64, kbps: u64) -> f64 {
    let runs = simulate(&["fixed"], &[path(encoder, half_us, [kbps; 3])]);
    payload_rate(&runs[0]).min(1e3 * kbps as f64)
}

/// The lowest rate among a controller's runs over the rate of its source at a fixed target, over all paths.
fn finding(runs: &Runs, ways: &[(u64, u64)], fixed: f64) -> Finding {
    let rates = runs.metrics.iter().map(payload_rate);
    let worst = rates.zip(ways).min_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a way");
    let (rate, (half, start)) = worst;
    let trip = *half as f64 / 500.0;
    Finding {
        controller: runs.controller,
        figures: format!(
            "least {:.0} of {:.0} kbit/s (round trip {trip} ms, from {start} kbit/s)",
            rate / 1e3,
            fixed / 1e3
        ),
        holds: rate >= 0.9 * fixed,
    }
}

/// Runs of every controller over paths, given by half the round trip in µs and the start rate.
fn over(ways: &[(u64, u64)], encoder: &str, max_kbps: u64) -> Vec<Runs> {
    let variants: Vec<_> =
        ways.iter().map(|&(half, start)| path(encoder, half, [50, start, max_kbps])).collect();
    of_every_controller(&variants)
}

#[test]
fn short_round_trips_carry_what_the_source_sends() {
    let ways = ways();
    let of = |encoder| {
        let most = highest(encoder);
        let (runs, most) = (over(&ways, encoder, most), fixed(encoder, ways[0].0, most));
        let findings = runs.iter().map(|runs| finding(runs, &ways, most)).collect();
        judge(&format!("short round trips, {encoder}"), findings)
    };
    assert_as_said(&encoders().flat_map(of).collect::<Vec<_>>());
}

/// A stream is switched on where the target is a tenth above the rates of it and those below. That is far more than those below
/// send. So each controller has its own highest stream, and keeps the streams that it reaches.
#[test]
fn short_round_trips_switch_on_the_streams_that_the_controller_can_reach() {
    let ways = ways();
    let highest = STREAMS[STREAMS.len() - 1].1;
    let runs = over(&ways, SIMULCAST, highest);
    let of = |(streams, kbps)| {
        let sent = fixed(SIMULCAST, ways[0].0, kbps);
        let findings = runs.iter().map(|runs| finding(runs, &ways, sent)).collect();
        judge(&format!("short round trips, simulcast, {streams}"), findings)
    };
    assert_as_said(&STREAMS.into_iter().flat_map(of).collect::<Vec<_>>());
}

#[test]
fn every_encoder_of_the_scenarios_is_among_them() {
    let encoders: BTreeSet<&str> = ENCODERS.into_iter().chain([SIMULCAST]).collect();
    let presets = &scenario_schema()["$defs"]["EncoderPreset"]["oneOf"];
    let presets =
        presets.as_array().expect("one of").iter().map(|one| one["const"].as_str().expect("a name"));
    assert_eq!(encoders, presets.collect());
}
