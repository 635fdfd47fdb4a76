//! Recorded calls of simulated runs, for tests.

use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_sim::Simulation;
use weir_world::{CallMonitor, RecordedCall, Traffic};

/// The call of the first media flow of the scenario `text`, run with `seed`.
pub(crate) fn recorded(text: &str, seed: u64) -> RecordedCall {
    recording(text, seed, false)
}

/// The same, as the sender alone recorded it.
pub(crate) fn recorded_by_sender(text: &str, seed: u64) -> RecordedCall {
    recording(text, seed, true)
}

fn recording(text: &str, seed: u64, of_sender: bool) -> RecordedCall {
    let scenario = Scenario::parse("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = scenario
        .build(&RunOptions::new(seed), &TraceStore::at(None))
        .unwrap_or_else(|error| panic!("{error}"));
    let is_media: Vec<bool> =
        run.spec.flows.iter().map(|flow| matches!(flow.traffic, Traffic::Media(_))).collect();
    let monitor = if of_sender { CallMonitor::at_senders(is_media) } else { CallMonitor::new(is_media) };
    let monitor = Simulation::new(run.spec, monitor).unwrap().run();
    let (_, call) = monitor.finish().next().expect("a media flow");
    call.check().unwrap();
    call
}

/// A scenario of one media flow under `controller` over a link of 25 ms with these `keys`, for `seconds`, with `more` behind it.
pub(crate) fn over_link(controller: &str, keys: &str, seconds: u32, more: &str) -> String {
    between(controller, (keys, "rate = \"100Mbps\""), seconds, more)
}

/// As [`over_link`], with the keys of the link back, too.
pub(crate) fn between(controller: &str, (keys, back): (&str, &str), seconds: u32, more: &str) -> String {
    format!(
        "title = \"t\"\nduration = \"{seconds}s\"\n\
         [links.forward]\nfrom = \"here\"\nto = \"there\"\ndelay = \"25ms\"\n{keys}\n\
         [links.back]\nfrom = \"there\"\nto = \"here\"\ndelay = \"25ms\"\n{back}\n\
         [flows.video]\nkind = \"media\"\nfrom = \"here\"\nto = \"there\"\ncontroller = \"{controller}\"\n{more}\n"
    )
}
