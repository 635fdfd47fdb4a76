//! From runs to a summary, and its form as JSON.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use weir_measure::metrics::{FlowPlan, LinkPlan, MeasurePlan, Recorder};
use weir_measure::results::{FlowKind, RunMetrics, Summary, UnevenRuns, results_schema};
use weir_net::{Service, Time};
use weir_units::{DataRate, TimeDelta};
use weir_world::{Monitor, PacketMeta};

/// A run in which one packet of `bytes` takes `delay_ms`; none if `bytes` is 0.
fn run(bytes: u32, delay_ms: u64) -> RunMetrics {
    let end = Time::from_millis(10_000);
    let flow = FlowPlan::new("video", FlowKind::Media);
    let service = Service::Constant(DataRate::from_mbps(1));
    let link = LinkPlan::bottleneck("forward", service);
    let mut recorder = Recorder::new(MeasurePlan::new(end, vec![flow], vec![link]));
    if bytes > 0 {
        let packet = PacketMeta {
            sent_at: Time::ZERO,
            wait: TimeDelta::ZERO,
            wire_size: bytes,
            payload: bytes,
            frame: PacketMeta::NO_FRAME,
            control: false,
        };
        recorder.sent(Time::ZERO, 0, &packet);
        recorder.delivered(Time::from_millis(delay_ms), 0, &packet);
    }
    recorder.finish().metrics
}

fn summary(runs: &[RunMetrics]) -> Summary {
    let seeds: Vec<u64> = (1..=runs.len() as u64).collect();
    Summary::from_runs("three runs", &seeds, [("gcc", runs)]).unwrap()
}

#[test]
fn statistics_are_over_the_values_of_the_runs() {
    // Rates 800, 1600 and 2400 bit/s: mean 1600, s = 800, half width 4.3027 · 800 / √3 = 1987.3. The percentile of
    // each run is its only delay: mean 20, s = 10, half width 24.84 ms.
    let summary = summary(&[run(1000, 10), run(2000, 20), run(3000, 30)]);
    let flow = &summary.controllers[0].measures.flows[0];
    let rate = flow.rate_bps.unwrap();
    assert_eq!((rate.mean, rate.missing), (1600.0, 0));
    assert!((rate.ci95.unwrap() - 1987.3).abs() < 0.1);
    let p95 = flow.owd_excess_ms.p95.unwrap();
    assert_eq!(p95.mean, 20.0);
    assert!((p95.ci95.unwrap() - 24.84).abs() < 0.01);
}

#[test]
fn a_single_run_has_no_interval() {
    let summary = summary(&[run(1000, 10)]);
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["controllers"][0]["flows"][0]["rate_bps"], json!({ "mean": 800.0, "ci95": null }));
}

#[test]
fn runs_without_a_value_are_counted_and_not_averaged() {
    let summary = summary(&[run(0, 0), run(1000, 10), run(1000, 30)]);
    let flow = &summary.controllers[0].measures.flows[0];
    let mean = flow.owd_excess_ms.mean.unwrap();
    assert_eq!((mean.mean, mean.missing), (20.0, 1));
    // Never defined without frames.
    assert_eq!(flow.frame_delay_ms.p95, None);
    // A rate of zero is a value.
    assert_eq!(flow.rate_bps.unwrap().missing, 0);
}

#[test]
fn windows_are_summarised_by_their_names() {
    let with = |run: RunMetrics, windows: &[(&str, u32)]| {
        let own = |&(name, bytes): &(&str, u32)| (name.to_owned(), self::run(bytes, 10));
        RunMetrics { windows: windows.iter().map(own).collect(), ..run }
    };
    // 2400 and 4000 bit/s in one of them; the others are of one run each.
    let summary = summary(&[
        with(run(1000, 10), &[("talk", 3000), ("first", 2000)]),
        with(run(1000, 10), &[("second", 9000), ("talk", 5000)]),
    ]);
    let windows = &summary.controllers[0].measures.windows;
    let mean = |name: &str| windows[name].flows[0].rate_bps.unwrap().mean;
    assert_eq!(windows.keys().collect::<Vec<_>>(), ["first", "talk"], "those of the first run");
    assert_eq!((mean("talk"), mean("first")), (3200.0, 1600.0));
}

#[test]
fn each_controller_needs_a_run_per_seed() {
    let one = [run(1000, 10)];
    let error = Summary::from_runs("x", &[1, 2], [("gcc", &one[..])]).unwrap_err();
    assert_eq!(error, UnevenRuns { controller: "gcc".to_owned(), runs: 1, seeds: 2 });
    assert!(error.to_string().starts_with("gcc has 1 runs for 2 seeds"));
    assert!(Summary::from_runs("x", &[], [("gcc", &one[..0])]).is_err());
}

#[test]
fn the_keys_are_those_of_the_documentation() {
    let json = serde_json::to_value(summary(&[run(1000, 10)])).unwrap();
    let keys = |json: &Json| json.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&json), ["scenario", "runs", "seeds", "controllers"]);
    let controller = &json["controllers"][0];
    assert_eq!(keys(controller), ["name", "flows", "media", "links", "jain"]);
    assert_eq!(
        keys(&controller["jain"]),
        ["of_means", "mean_of_instant", "sent_of_means", "sent_mean_of_instant"]
    );
    let link = &controller["links"][0];
    assert_eq!(
        keys(link),
        [
            "name",
            "bottleneck",
            "utilisation",
            "loss_ratio",
            "queue_ms",
            "queue_packets",
            "overflows",
            "failed_drains"
        ]
    );
    assert_eq!(keys(&link["queue_packets"]), ["mean", "max"]);
    assert_eq!(keys(&link["utilisation"]), ["time_mean", "time_sd", "bits", "fair_share"]);
    let flow = &controller["flows"][0];
    assert_eq!(flow["kind"], "media");
    assert_eq!(keys(&flow["owd_excess_ms"]), ["mean", "sd", "p5", "p50", "p95", "p99", "max"]);
    let factors: Vec<_> =
        weir_cc::LimitingFactor::ALL.into_iter().map(weir_cc::LimitingFactor::name).collect();
    assert_eq!(keys(&flow["time_per_limiting_factor"]), factors);
    // The page must describe every key that a file of results has.
    let documentation = include_str!("../../../../docs/metrics.md");
    for key in keys(flow)
        .iter()
        .chain(&keys(&controller["media"]))
        .chain(&keys(link))
        .chain(&keys(&controller["jain"]))
    {
        assert!(documentation.contains(&format!("`{key}`")), "{key} is not documented");
    }
}

#[test]
fn a_summary_survives_json() {
    let summary = summary(&[run(0, 0), run(1000, 10), run(1500, 35)]);
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}

#[test]
fn results_conform_to_the_schema() {
    let schema = serde_json::to_value(results_schema()).unwrap();
    for runs in [vec![run(1000, 10)], vec![run(0, 0), run(1000, 10), run(1500, 35)]] {
        let json = serde_json::to_value(summary(&runs)).unwrap();
        assert_eq!(conforms(&json, &schema, &schema), Ok(()));
    }
}

#[test]
fn a_missing_key_or_another_type_does_not_conform() {
    let schema = serde_json::to_value(results_schema()).unwrap();
    let json = serde_json::to_value(summary(&[run(1000, 10)])).unwrap();
    let mut lacking = json.clone();
    lacking["controllers"][0]["flows"][0].as_object_mut().unwrap().remove("name");
    assert!(conforms(&lacking, &schema, &schema).is_err());
    let mut wrong = json;
    wrong["controllers"][0]["flows"][0]["rate_bps"]["mean"] = json!("fast");
    assert!(conforms(&wrong, &schema, &schema).is_err());
}

/// Checks the part of JSON Schema that the results use, and that objects have no other keys than the schema's.
fn conforms(json: &Json, schema: &Json, root: &Json) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).ok_or("dangling reference")?;
        return conforms(json, target, root);
    }
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let fits = choices.iter().any(|choice| conforms(json, choice, root).is_ok());
        return if fits { Ok(()) } else { Err(format!("{json} fits none of {schema}")) };
    }
    if let Some(constant) = schema.get("const") {
        return if json == constant { Ok(()) } else { Err(format!("{json} is not {constant}")) };
    }
    let types: BTreeSet<&str> = match &schema["type"] {
        Json::String(name) => [name.as_str()].into(),
        Json::Array(names) => names.iter().filter_map(Json::as_str).collect(),
        _ => return Err(format!("{schema} has no type")),
    };
    let actual = match json {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) if types.contains("integer") => "integer",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    };
    if !types.contains(actual) {
        return Err(format!("{json} is none of {types:?}"));
    }
    // Schemas of arrays have one schema for all elements.
    for element in json.as_array().into_iter().flatten() {
        conforms(element, &schema["items"], root)?;
    }
    let Some(object) = json.as_object() else { return Ok(()) };
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        object.get(required).ok_or(format!("{required} is missing"))?;
    }
    for (key, value) in object {
        let property = schema["properties"].get(key).ok_or(format!("{key} is unknown"))?;
        conforms(value, property, root).map_err(|error| format!("{key}: {error}"))?;
    }
    Ok(())
}
