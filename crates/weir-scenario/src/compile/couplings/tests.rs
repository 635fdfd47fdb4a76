//! The couplings of flows in a run (`compile::couplings`).

use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::{CoupledSpec, DesiredRate, RunSpec, Traffic};

use crate::compile::{Run, RunOptions};
use crate::scenario::Scenario;
use weir_import::traces::TraceStore;
use weir_measure::metrics::CouplingPlan;

const CALL: &str = r#"title = "A call"
duration = "20s"
[links.forward]
from = "left"
to = "right"
rate = "1Mbps"
duplex = true
[flows.video]
kind = "media"
from = "left"
to = "right"
controller = "nada"
call = "meeting"
priority = 2
priorities = [{ at = "5s", priority = 0.5 }]
[flows.slides]
kind = "media"
from = "left"
to = "right"
controller = "nada"
call = "meeting"
[flows.other]
kind = "tcp"
from = "left"
to = "right"
count = 2
every = "1s"
priority = 3
priorities = [{ at = "5s", priority = 4 }]
[flows.alone]
kind = "tcp"
from = "left"
to = "right"
"#;

/// The run of three coupled flows with these keys of the coupling.
fn run(coupling: &str) -> Run {
    let text = format!("{CALL}[coupling.all]\nflows = [\"other\", \"video\", \"slides\"]\n{coupling}");
    let scenario = Scenario::parse("call.toml", &text, &[]).unwrap();
    scenario.build(&RunOptions::default(), &TraceStore::at(None)).unwrap()
}

fn places(spec: &RunSpec) -> Vec<Option<usize>> {
    spec.flows.iter().map(|flow| flow.coupled.as_ref().map(|place| place.coupling)).collect()
}

fn sender(run: &Run, flow: usize) -> String {
    let Traffic::Media(media) = &run.spec.flows[flow].traffic else { panic!("no media") };
    format!("{:?}", media.sender)
}

#[test]
fn each_flow_named_and_each_copy_has_a_place_with_its_weights() {
    let Run { spec, plan, .. } = run("algorithm = \"rfc8699-1\"\ndelay = \"20ms\"\ndesired = \"measured\"");
    assert_eq!(places(&spec), [Some(0), Some(0), Some(0), Some(0), None]);
    let of_video = CoupledSpec {
        priority: 2.0,
        later_priorities: vec![(Time::from_millis(5000), 0.5)],
        desired: DesiredRate::Measured,
        ..CoupledSpec::new(0)
    };
    assert_eq!(spec.flows[0].coupled, Some(of_video));
    let of_second_copy = spec.flows[3].coupled.as_ref().unwrap();
    assert_eq!((of_second_copy.priority, spec.flows[3].name.as_str()), (3.0, "other-2"));
    assert_eq!(of_second_copy.later_priorities, [(Time::from_millis(6000), 4.0)]);
    assert_eq!((spec.couplings.len(), spec.couplings[0].name.as_str()), (1, "all"));
    assert_eq!(spec.couplings[0].delay, TimeDelta::from_millis(20));
    let whole = CouplingPlan { name: "all".to_owned(), flows: vec![0, 1, 2, 3], windows: false };
    assert_eq!(plan.couplings, [whole]);
    assert!(plan.queues);
    assert_eq!(plan.flows[3].later_weights, of_second_copy.later_priorities);
}

#[test]
fn flows_of_one_five_tuple_are_coupled_apart_from_others() {
    let Run { spec, plan, .. } = run("algorithm = \"rfc8699-1\"\ndetection = \"multiplexed\"");
    assert_eq!(places(&spec), [Some(0), Some(0), Some(1), Some(2), None]);
    let names: Vec<&str> = spec.couplings.iter().map(|coupling| coupling.name.as_str()).collect();
    assert_eq!(names, ["all/meeting", "all/other-1", "all/other-2"]);
    assert_eq!(plan.couplings[0].flows, [0, 1]);
}

#[test]
fn a_coupled_controller_has_a_weight_of_one_of_its_own_and_one_left_alone_that_of_the_flow() {
    let coupled = run("algorithm = \"rfc8699-1\"");
    assert_eq!(sender(&coupled, 0), sender(&coupled, 1));
    let alone = run("algorithm = \"none\"");
    assert_eq!(places(&alone.spec), [None; 5]);
    assert!(alone.spec.couplings.is_empty());
    assert_ne!(sender(&alone, 0), sender(&alone, 1));
    // The measurements are the same.
    assert_eq!(alone.plan.couplings, coupled.plan.couplings);
}

#[test]
fn options_reach_the_coupler() {
    let coupler =
        |options| format!("{:?}", run(&format!("algorithm = \"rfc8699-1\"\n{options}")).spec.couplings);
    assert_ne!(coupler(""), coupler("options = { timer_rtts = 3.0 }"));
}

#[test]
fn controllers_without_a_window_are_not_coupled_by_windows() {
    let error = |flows: &str, more: &str| {
        let text = format!("{CALL}[coupling.all]\nflows = [{flows}]\n{more}");
        let error = Scenario::parse("call.toml", &text, &[]).unwrap_err();
        (error.to_string(), error.advice().unwrap_or_default().to_owned())
    };
    let (message, advice) = error("\"other\", \"video\"", "algorithm = \"ctrltcp\"");
    assert_eq!(message, "call.toml:35:19: `ctrltcp` couples windows, and the flow `video` has none");
    assert!(advice.starts_with("leave the flow out, or take "), "{advice}");
    let (message, advice) = error("\"other\"", "algorithm = \"passive\"");
    assert_eq!(message, "call.toml:36:13: `passive` is unsafe outside of testbeds (RFC 8699 appendix C)");
    assert_eq!(advice, "add `testbed = true` if you know that, or take another one");
    let alone = "[coupling.alone]\nflows = [\"video\"]\nalgorithm = \"none\"";
    let coupled = "[coupling.all]\nflows = [\"other\"]\nalgorithm = \"ctrltcp\"";
    let scenario = Scenario::parse("call.toml", &format!("{CALL}{alone}\n{coupled}"), &[]).unwrap();
    let Run { spec, plan, .. } = scenario.build(&RunOptions::default(), &TraceStore::at(None)).unwrap();
    assert_eq!(plan.couplings.iter().map(|coupling| coupling.windows).collect::<Vec<_>>(), [false, true]);
    assert_eq!(places(&spec), [None, None, Some(0), Some(0), None]);
}

#[test]
fn measured_groups_make_flows_report_statistics_at_the_configured_side() {
    let detection = |coupling: &str| {
        let run = run(coupling);
        let Traffic::Media(media) = &run.spec.flows[0].traffic else { panic!("no media") };
        (media.config.detection.map(|detection| detection.place()), media.config.additional_reports.is_some())
    };
    let measured = "algorithm = \"rfc8699-1\"\ndetection = \"measured\"";
    assert_eq!(detection(measured), (Some(weir_media::DetectionSide::Sender), true));
    // The receiver sees every packet, so that the sender needs no feedback on single ones.
    assert_eq!(
        detection(&format!("{measured}\nat = \"receiver\"")),
        (Some(weir_media::DetectionSide::Receiver), false)
    );
    assert_eq!(detection("algorithm = \"rfc8699-1\""), (None, false));
}
