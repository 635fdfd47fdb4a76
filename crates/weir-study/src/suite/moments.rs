//! Times at which the shares of a run change, from which on `re-convergence` can count.

use super::check::{Check, is_at};
use weir_import::traces::TraceStore;
use weir_measure::metrics::{MeasurePlan, Recorder};
use weir_net::Time;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_units::TimeDelta;

/// Check that counts from a time that has no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untimely {
    /// Index of the check among those of its case.
    pub check: usize,
    /// Description of the mistake.
    pub message: String,
    /// Advice.
    pub help: String,
}

/// First of `checks` that counts from a time outside `scenario`, or at which no media flow gets a new share that lasts.
/// A scenario that cannot be built with `store` is left out, as its run reports the error.
pub(super) fn untimely(checks: &[Check], scenario: &Scenario, store: &TraceStore) -> Option<Untimely> {
    let timed = checks.iter().enumerate().filter_map(|(check, own)| Some((check, own.counts_from()?)));
    let mut events = None;
    for (check, at) in timed {
        let time = TimeDelta::from_secs(i64::from(at));
        if time >= scenario.duration {
            let message = format!("at {time} the run is over: it lasts {}", scenario.duration);
            let help = "write a time before its end, or let it last longer by `set`".to_owned();
            return Some(Untimely { check, message, help });
        }
        if events.is_none() {
            events = Some(events_of(&scenario.build(&RunOptions::new(1), store).ok()?.plan));
        }
        let events = events.as_deref().unwrap_or_default();
        if !events.iter().any(|&event| is_at(event, at)) {
            let message =
                format!("within 1 s of {time} nothing changes that gives a media flow a share for 5 s");
            let help = match in_words(events) {
                None => "name a scenario in which flows pause and return, or capacities change in steps"
                    .to_owned(),
                Some(times) => format!("write a time at which something does: {times}"),
            };
            return Some(Untimely { check, message, help });
        }
    }
    None
}

/// Times in seconds at which media flows get new shares that last long enough to be judged, from a run without any
/// arrival.
fn events_of(plan: &MeasurePlan) -> Vec<f64> {
    let plan = MeasurePlan { window: (Time::ZERO, plan.end), ..plan.clone() };
    let measured = Recorder::new(plan.clone()).finish();
    let flows = plan.flows.iter().zip(&measured.metrics.flows);
    let media = flows.filter(|(flow, _)| flow.is_judged());
    media.flat_map(|(_, own)| own.convergence.iter().filter_map(|event| event.at_seconds)).collect()
}

/// Times in whole seconds, each once and in order, or `None` without any.
fn in_words(events: &[f64]) -> Option<String> {
    let mut seconds: Vec<i64> = events.iter().map(|event| event.round() as i64).collect();
    seconds.sort_unstable();
    seconds.dedup();
    let times: Vec<String> = seconds.into_iter().map(|at| format!("{at}s")).collect();
    (!times.is_empty()).then(|| times.join(", "))
}
