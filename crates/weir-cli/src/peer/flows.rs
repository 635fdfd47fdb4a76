//! The flows of an end, from the options of the command line by way of a scenario.

use std::fmt::Write as _;

use weir_media::MediaConfig;
use weir_peer::hosts::{PlannedFlow, SendPlan};
use weir_peer::offer::{OfferedFlow, OfferedMedia};
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, FlowTraffic, Scenario};
use weir_units::{DataRate, TimeDelta};
use weir_world::{FlowSpec, MediaSpec, Traffic};

use crate::args::FlowArgs;
use crate::failure::{Failure, warn};

/// Longest session without a duration.
const LONGEST: TimeDelta = TimeDelta::from_secs(24 * 3600);
/// The controller of flows without a scenario, unless another one is named.
const DEFAULT_CONTROLLER: &str = "gcc";
/// The source without congestion control.
const CONSTANT: &str = "constant";
/// Its usual rate.
const CONSTANT_RATE: DataRate = DataRate::from_kbps(300);
/// Mean spacing of transport-wide numbers that no packet has, against receivers that lie.
const SKIPPED_NUMBERS: Option<u32> = Some(500);

/// Bounds of the rate of each flow: lowest, first, highest.
pub(super) type FlowRates = [Option<DataRate>; 3];

/// The flows that the options describe.
pub(super) fn plan(
    args: &FlowArgs,
    rates: FlowRates,
    duration: Option<TimeDelta>,
    registry: &Registry,
) -> Result<SendPlan, Failure> {
    let candidate = args.controller.as_deref().map(candidate).transpose()?;
    let mut scenario = scenario(args, rates, duration, registry, candidate.as_ref())?;
    if let Some(candidate) = &candidate {
        scenario.use_controller(&candidate.name)?;
    }
    warn(&scenario);
    let store = args.data.store();
    let spec = scenario.build(&RunOptions::new(args.seed), &store)?.spec;
    let flows = spec.flows.into_iter().map(|flow| planned(&scenario, flow)).collect();
    let plan = SendPlan { flows, couplings: spec.couplings, seed: args.seed };
    plan.check().map_err(|error| Failure::Machine(error.to_string()))?;
    Ok(plan)
}

/// The one controller in the value of `--controller`.
fn candidate(value: &str) -> Result<Candidate, Failure> {
    let wrong = |problem| Failure::Option { option: format!("--controller {value}"), problem };
    let mut list = Candidate::list(value).map_err(wrong)?;
    match (list.len(), list.pop()) {
        (1, Some(candidate)) => Ok(candidate),
        _ => Err(wrong("a session has one controller; start another one for the next".to_owned())),
    }
}

fn scenario(
    args: &FlowArgs,
    rates: FlowRates,
    duration: Option<TimeDelta>,
    registry: &Registry,
    candidate: Option<&Candidate>,
) -> Result<Scenario, Failure> {
    let definition = candidate.and_then(|candidate| candidate.definition.clone());
    let mut overrides: Vec<String> = definition.into_iter().collect();
    overrides.push(format!("duration={}", duration.unwrap_or(LONGEST)));
    overrides.extend(args.set.iter().cloned());
    Ok(match &args.scenario {
        Some(name) => Scenario::open_in(registry, name, &overrides)?,
        None => Scenario::parse_in(registry, "the flows", &text(args, rates), &overrides)?,
    })
}

/// A scenario with the flows of the options. Its links are never used.
fn text(args: &FlowArgs, [min, start, max]: FlowRates) -> String {
    let mut text = "title = \"weir send\"\nduration = \"10s\"\n".to_owned();
    for (name, from, to) in [("forward", "here", "there"), ("back", "there", "here")] {
        let link = format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1Gbps\"\ndelay = \"1ms\"\nqueue = {{ time = \"1s\" }}\n"
        );
        text.push_str(&link);
    }
    let names: Vec<String> = match args.flows {
        1 => vec!["flow".to_owned()],
        count => (1..=count).map(|number| format!("flow-{number}")).collect(),
    };
    for name in &names {
        let _infallible = write!(text, "[flows.{name}]\nfrom = \"here\"\nto = \"there\"\n");
        if args.source == CONSTANT {
            let rate = start.or(max).unwrap_or(CONSTANT_RATE);
            let _infallible = write!(text, "kind = \"constant\"\nrate = \"{rate}\"\n");
            continue;
        }
        // A table stands as it is; a word is the name of a preset.
        let source = &args.source;
        let source =
            if source.trim_start().starts_with('{') { source.clone() } else { format!("{source:?}") };
        let _infallible = write!(
            text,
            "kind = \"media\"\ncall = \"call\"\ncontroller = \"{DEFAULT_CONTROLLER}\"\nencoder = {source}\n"
        );
        for (key, rate) in [("min", min), ("start", start), ("max", max)] {
            if let Some(rate) = rate {
                let _infallible = writeln!(text, "rates.{key} = \"{rate}\"");
            }
        }
    }
    if let Some(coupler) = &args.coupler {
        let _infallible = write!(text, "[coupling.all]\nflows = {names:?}\nalgorithm = \"{coupler}\"\n");
    }
    text
}

/// The flow as it is sent, and as the other end needs to know it.
fn planned(scenario: &Scenario, mut spec: FlowSpec) -> PlannedFlow {
    let offered = match &mut spec.traffic {
        Traffic::Media(MediaSpec { config, receiver, .. }) => {
            // A network that is not simulated needs both protections.
            *config = MediaConfig { breakers: true, leave_out: SKIPPED_NUMBERS, ..*config };
            *receiver = None;
            let (controller, options) = controller_of(scenario, &spec.name);
            let media = OfferedMedia { controller, options, limits: config.limits, config: *config };
            OfferedFlow::Media(Box::new(media))
        }
        Traffic::Constant { rate, .. } => OfferedFlow::Constant(*rate),
        Traffic::Unresponsive(traffic) => {
            let most = traffic.steps.iter().map(|&(_, rate)| rate).max();
            OfferedFlow::Constant(most.unwrap_or_default())
        }
        // Refused by the check of the plan.
        _ => OfferedFlow::Constant(DataRate::ZERO),
    };
    PlannedFlow { spec, offered }
}

/// Controller and options of the flow of this name, which may be a copy.
fn controller_of(scenario: &Scenario, name: &str) -> (String, String) {
    let is_copy = |own: &str| {
        let number = name.strip_prefix(own).and_then(|rest| rest.strip_prefix('-'));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let exact = scenario.flows.get(name);
    let found = exact.or_else(|| scenario.flows.iter().find(|(own, _)| is_copy(own)).map(|(_, flow)| flow));
    let Some(FlowTraffic::Media(media)) = found.map(|flow| &flow.carried) else { return Default::default() };
    let options = media.options.as_ref().filter(|options| !options.0.is_empty());
    let options = options.map(|options| serde_json::to_string(&options.0).unwrap_or_default());
    (media.controller.clone(), options.unwrap_or_default())
}
