//! Each kind of error in a scenario, and its message: place, problem, and a valid alternative.

mod coupling;
mod flows;
mod media;
mod network;
mod words;

use miette::NarratableReportHandler;
use weir_form::ScenarioError;
use weir_scenario::scenario::Scenario;

/// Every line is tested at its number: do not reflow.
const GOOD: &str = r#"title = "A call"
duration = "20s"
measure = { from = "5s", to = "20s" }
[links.forward]
from = "left"
to = "right"
delay = "25ms"
rate = "1Mbps"
queue = { time = "300ms" }
jitter = { kind = "uniform", max = "3ms" }
loss = 0.01
[links.backward]
from = "right"
to = "left"
steps = [{ at = "0s", rate = "1Mbps" }, { at = "5s", rate = "2Mbps" }]
[flows.video]
kind = "media"
from = "left"
to = "right"
controller = "gcc-2016"
encoder = { preset = "papers", size_noise = 0.1 }
rates = { min = "50kbps", start = "300kbps", max = "2Mbps" }
[flows.cross]
kind = "constant"
from = "left"
to = "right"
rate = "1Mbps"
start = "5s"
stop = "10s"
[flows.bulk]
kind = "tcp"
from = "left"
to = "right"
law = "cubic"
"#;

/// All errors of the scenario `text`.
fn errors_of(text: &str) -> Vec<ScenarioError> {
    let Err(first) = Scenario::parse("call.toml", text, &[]) else { panic!("this is wrong:\n{text}") };
    let others = first.others().to_vec();
    std::iter::once(first).chain(others).collect()
}

/// Replaces `right` in the good scenario by `wrong`; the error must begin with `message` and advise `advice`.
#[track_caller]
fn check(right: &str, wrong: &str, message: &str, advice: &str) {
    assert_eq!(GOOD.matches(right).count(), 1, "`{right}` must be there once");
    let errors = errors_of(&GOOD.replace(right, wrong));
    assert_eq!(errors[0].to_string(), format!("call.toml:{message}"));
    assert_eq!(errors[0].advice().unwrap_or_default(), advice);
    assert_eq!(errors.len(), 1, "one mistake, one error: {errors:#?}");
}

#[test]
fn the_scenario_without_mistakes_is_accepted() {
    Scenario::parse("call.toml", GOOD, &[]).unwrap();
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = GOOD.replace("delay =", "dealy =").replace("law = \"cubic\"", "law = 5");
    let places: Vec<_> = errors_of(&text).iter().map(|e| e.position().unwrap()).collect();
    assert_eq!(places, [(7, 1), (34, 7)]);
}

#[test]
fn the_report_shows_the_line_and_the_remedy() {
    let errors = errors_of(&GOOD.replace("delay =", "dealy ="));
    let mut report = String::new();
    NarratableReportHandler::new().render_report(&mut report, &errors[0]).unwrap();
    for part in ["call.toml:7:1: `links.forward.dealy`", "dealy = \"25ms\"", "did you mean `delay`?"] {
        assert!(report.contains(part), "{part} is not in:\n{report}");
    }
}

#[test]
fn a_file_that_is_not_there_brings_up_the_nearest_scenario() {
    let error = Scenario::open("gcc-2016/three-flow", &[]).unwrap_err();
    assert!(
        error.to_string().starts_with("gcc-2016/three-flow: no scenario ships under this name"),
        "{error}"
    );
    assert_eq!(error.advice(), Some("did you mean `gcc-2016/three-flows`?"));
}
