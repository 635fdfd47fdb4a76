//! Paths into results (`judge::paths`).

use serde_json::json;

use super::*;

#[test]
fn paths_that_results_have_are_right() {
    for path in [
        "flows.*.rate_bps",
        "flows.video-1.sent.bytes",
        "media.queue_wait_ms.p95",
        "links.bottleneck.utilisation.bits",
        "jain.mean_of_instant",
        "windows.late.flows.video-*.loss_ratio",
        "series.flows.*.send_rate_bps",
        "series.flows.video.sender.p.max",
        "series.links.bottleneck.queue_mean_ms",
    ] {
        assert_eq!(problem(path, None), None, "{path}");
    }
}

#[test]
fn a_path_that_results_do_not_have_brings_up_what_is_meant() {
    let help = |path| problem(path, None).map(|(_, help)| help).unwrap_or_default();
    assert_eq!(help("flows.video.rate_bsp"), "did you mean `rate_bps`?");
    assert_eq!(help("link.bottleneck.loss_ratio"), "did you mean `links`?");
    assert_eq!(help("windows.late.jian.of_means"), "did you mean `jain`?");
    assert_eq!(help("series.flows.video.send_rate"), "did you mean `send_rate_bps`?");
    assert_eq!(help("series.flows.video.sender.p.mean"), "known here are `min` and `max`");
    let further = help("links.bottleneck.utilisation");
    let all = ["`time_mean`", "`time_sd`", "`bits`", "`fair_share`"].iter().all(|key| further.contains(key));
    assert!(further.starts_with("it goes on with `") && all, "{further}");
    assert!(help("series.jain").starts_with("write `series."));
}

#[test]
fn quantities_of_a_run_are_found_by_name() {
    let metrics = json!({
        "flows": [{ "name": "tcp", "rate_bps": 5.0 }, { "name": "video-1", "rate_bps": 1.0 }, { "name": "video-2", "rate_bps": null }],
        "jain": { "of_means": 0.9 },
    });
    let found = |path| harvest(path, &metrics, None);
    assert_eq!(found("jain.of_means"), Some(Harvested::Number(0.9)));
    assert_eq!(found("flows.tcp.rate_bps"), Some(Harvested::Number(5.0)));
    let Some(Harvested::Several(values)) = found("flows.video-*.rate_bps") else { panic!("several") };
    assert!(values[0] == 1.0 && values[1].is_nan() && values.len() == 2);
    assert_eq!(found("flows.audio.rate_bps"), None);
    assert_eq!(found("series.flows.tcp.send_rate_bps"), None, "a run without series");
}

#[test]
fn a_series_is_found_by_name_with_its_time() {
    let link = |name: &str, queue: [f64; 3]| LinkSeries {
        name: name.to_owned(),
        capacity_bps: Vec::new(),
        rate_bps: Vec::new(),
        queue_mean_ms: queue.to_vec(),
        queue_max_ms: Vec::new(),
    };
    let links = vec![link("a", [1.0, 2.0, 3.0]), link("b", [4.0, 5.0, 6.0])];
    let mut series =
        Series { time_s: Vec::new(), flows: Vec::new(), links: Vec::new(), couplings: Vec::new() };
    series.time_s = vec![5.0, 5.1, 5.2];
    series.links = links;
    let found = |path| harvest(path, &Value::Null, Some(&series));
    let Some(Harvested::UniformSeries(course)) = found("series.links.b.queue_mean_ms") else {
        panic!("a course")
    };
    assert_eq!((course.from, course.values), (5.0, vec![4.0, 5.0, 6.0]));
    assert!((course.step - 0.1).abs() < 1e-9);
    let Some(Harvested::Courses(courses)) = found("series.links.*.queue_mean_ms") else { panic!("courses") };
    assert_eq!(courses.len(), 2);
}
