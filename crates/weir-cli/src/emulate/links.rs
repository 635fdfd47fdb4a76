//! The links of an emulated path.

use weir_live::emulate::Path;
use weir_net::{LinkConfig, LossModel, QueueConfig, Service};
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;
use weir_units::TimeDelta;
use weir_world::{LinkSpec, RunSpec};

use crate::args::EmulateArgs;
use crate::failure::Failure;

/// Names of the links without a scenario.
const NAMES: [&str; 2] = ["forward", "back"];
const DELAY: TimeDelta = TimeDelta::from_millis(25);
const QUEUE: TimeDelta = TimeDelta::from_millis(300);

fn wrong(option: &str, problem: &str) -> Failure {
    Failure::Option { option: option.to_owned(), problem: problem.to_owned() }
}

/// The path that the arguments describe.
pub(super) fn path(args: &EmulateArgs, registry: &Registry) -> Result<Path, Failure> {
    let store = args.data.store();
    match (args.links.as_slice(), args.forward.rate) {
        ([], None) => {
            Err(wrong("LINKS", "there are no links; name a scenario or two traces, or give --rate"))
        }
        ([], Some(rate)) => {
            let back = args.back.rate.unwrap_or(rate);
            Ok(between(args, [rate, back].map(Service::Constant)))
        }
        (_, Some(_)) => Err(wrong("--rate", "scenarios and traces have rates of their own; leave it out")),
        ([forward, back], None) => {
            let service = |name: &String| {
                let trace = store.open(name)?;
                Ok::<_, Failure>(Service::Trace { trace, offset: TimeDelta::ZERO, repeat: true })
            };
            Ok(between(args, [service(forward)?, service(back)?]))
        }
        ([name, ..], None) => {
            if has_link_options(args) {
                let problem = "a scenario's links have their own; change the scenario, or leave them out";
                return Err(wrong("--delay, --queue, --loss", problem));
            }
            let scenario = Scenario::open_in(registry, name, &[])?;
            let options = RunOptions { seed: args.seed, controller: None, series: false };
            of_run(name, scenario.build(&options, &store)?.spec)
        }
    }
}

fn has_link_options(args: &EmulateArgs) -> bool {
    let (forward, back) = (&args.forward, &args.back);
    let times = [forward.delay, forward.queue, back.delay, back.queue];
    times.iter().any(Option::is_some) || forward.loss.or(back.loss).is_some()
}

/// A path of one link each way.
fn between(args: &EmulateArgs, services: [Service; 2]) -> Path {
    let (forward, back) = (&args.forward, &args.back);
    let delay = forward.delay.unwrap_or(DELAY);
    let queue = forward.queue.unwrap_or(QUEUE);
    let loss = forward.loss.unwrap_or(0.0);
    let back = (back.delay.unwrap_or(delay), back.queue.unwrap_or(queue), back.loss.unwrap_or(loss));
    let link = |(name, service, (delay, queue, loss)): (&str, Service, (TimeDelta, TimeDelta, f64))| {
        let config = LinkConfig {
            queue: QueueConfig { limit_time: Some(queue), ..QueueConfig::default() },
            loss: if loss > 0.0 { LossModel::Bernoulli(loss) } else { LossModel::None },
            ..LinkConfig::new(service, delay)
        };
        LinkSpec::new(name, config)
    };
    let [there, here] = services;
    let links = [(NAMES[0], there, (delay, queue, loss)), (NAMES[1], here, back)].map(link).to_vec();
    Path { links, routes: [vec![0], vec![1]] }
}

/// The path of the first flow of a run.
fn of_run(name: &str, spec: RunSpec) -> Result<Path, Failure> {
    if let Some(cell) = spec.cells.first() {
        let problem = format!("the Wi-Fi cell `{}` cannot be emulated", cell.name);
        return Err(wrong(name, &problem));
    }
    let first = spec.flows.into_iter().next();
    let (forward, mut back) = first.map(|flow| (flow.forward, flow.reverse)).unwrap_or_default();
    // A flow without feedback has no way back. One more link can only be this.
    if let ([link], true, 2) = (forward.as_slice(), back.is_empty(), spec.links.len()) {
        back = vec![1 - link];
    }
    if forward.is_empty() || back.is_empty() {
        return Err(wrong(name, "its first flow has no way back; put a flow with feedback first"));
    }
    Ok(Path { links: spec.links, routes: [forward, back] })
}
