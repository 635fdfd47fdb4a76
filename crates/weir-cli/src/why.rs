//! `weir why`: the reason for a controller's rate.

use std::io::{self, Write};

use serde_json::{Value, json};
use weir_form::advice;
use weir_import::traces::TraceStore;
use weir_measure::metrics::RecordedDecision;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;
use weir_study::comparison::saved::RecordedRun;
use weir_study::comparison::why::{FlowMoment, MissingFlow, RateDecrease, RecordedFlow};

use crate::args::WhyArgs;
use crate::failure::Failure;
use crate::run_folder::{RunFolder, wrong};
use crate::table;
use crate::terminal;

/// Falls that are shown, below a line that names their flow.
const MAX_DECREASES: usize = 4;

/// Prints the answer to the arguments.
pub(crate) fn why(args: &WhyArgs, registry: &Registry) -> Result<(), Failure> {
    let store = args.data.store();
    let mut folder = RunFolder::at(&args.run)?;
    let saved = folder.saved()?;
    let scenario = folder.scenario(registry)?.ok_or_else(|| wrong(&args.run, "has no scenario.toml"))?;
    let names: Vec<&str> = saved.table.rows.iter().map(|row| row.name.as_str()).collect();
    let controller = controller(args, &names)?;
    let seed = args.seed.unwrap_or(scenario.seed);
    let run = recorded(&mut folder, &scenario, controller, seed, &store)?;
    let subject =
        RecordedFlow::of(&run, registry, args.flow.as_deref()).map_err(|error| no_flow(args, &error))?;
    let under = format!("{} under {controller}, seed {seed}", subject.name());
    let width = table::terminal_width();
    let mut out = terminal::stdout();
    let head = json!({
        "scenario": saved.scenario, "controller": controller, "flow": subject.name(), "seed": seed,
    });
    if let Some(at) = args.at {
        let end = subject.end();
        let since_start = u64::try_from(at.nanos()).ok().map(weir_net::Time::from_nanos);
        let time = since_start.filter(|&time| time <= end).ok_or_else(|| Failure::Option {
            option: format!("--at {at}"),
            problem: format!("the run is from 0 s to {} s; give a time in it", end.secs_f64()),
        })?;
        let moment = subject.at(time)?;
        if args.json {
            return print_json(&mut out, head, "moment", moment_json(&moment, &subject));
        }
        for line in moment.lines(&subject, &under) {
            writeln!(out, "{}", table::sentence(&line, width))?;
        }
        return Ok(());
    }
    let decreases = subject.decreases(MAX_DECREASES)?;
    if args.json {
        let decreases = decreases.iter().map(|fall| fall_json(fall, &subject)).collect::<Vec<Value>>();
        return print_json(&mut out, head, "falls", json!(decreases));
    }
    if decreases.is_empty() {
        writeln!(out, "{under}: the rate never fell by 2 % or more.")?;
        return Ok(());
    }
    writeln!(out, "{under}: the deepest falls, the deepest first.")?;
    for fall in &decreases {
        writeln!(out, "{}", fall.line(&subject))?;
    }
    Ok(())
}

/// The requested controller, or the only one.
fn controller<'a>(args: &WhyArgs, names: &[&'a str]) -> Result<&'a str, Failure> {
    let listed = names.join(", ");
    match (&args.controller, names) {
        (None, [only]) => Ok(only),
        (None, _) => Err(Failure::Option {
            option: "--controller".to_owned(),
            problem: format!("several were compared in this run; name one of {listed}"),
        }),
        (Some(name), _) => names.iter().copied().find(|own| own == name).ok_or_else(|| Failure::Option {
            option: format!("--controller {name}"),
            problem: format!("it is not in this run; {}", advice(name, names.iter().copied())),
        }),
    }
}

/// The run of the seed: that of the first as it was written, another one made again.
fn recorded(
    folder: &mut RunFolder,
    scenario: &Scenario,
    controller: &str,
    seed: u64,
    store: &TraceStore,
) -> Result<RecordedRun, Failure> {
    if seed != scenario.seed {
        return RecordedRun::rerun(scenario, controller, seed, store).map_err(Failure::Run);
    }
    let directory = folder.directory.clone();
    let again = "run it again, with --series csv";
    let Some(tables) = folder.tables(controller)? else {
        return Err(wrong(&directory, &format!("has no series of {controller}: {again}")));
    };
    if tables.decisions.is_empty() {
        return Err(wrong(&directory, &format!("has no decisions of {controller}: {again}")));
    }
    RecordedRun::read(scenario, controller, store, &tables)
        .map_err(|error| wrong(&directory, &format!("{controller}: {error}")))
}

fn no_flow(args: &WhyArgs, error: &MissingFlow) -> Failure {
    let option = args.flow.as_ref().map_or_else(|| "RUN".to_owned(), |name| format!("--flow {name}"));
    let help = match error {
        MissingFlow::Unknown { name, known } => advice(name, known.iter().map(String::as_str)),
        MissingFlow::NoMedia => "name a run with media".to_owned(),
    };
    Failure::Option { option, problem: format!("{error}; {help}") }
}

fn print_json(out: &mut impl Write, mut head: Value, key: &str, value: Value) -> Result<(), Failure> {
    head[key] = value;
    writeln!(out, "{}", serde_json::to_string_pretty(&head).map_err(io::Error::from)?)?;
    Ok(())
}

fn moment_json(moment: &FlowMoment, subject: &RecordedFlow<'_>) -> Value {
    let decision = |own: &Option<RecordedDecision>| own.as_ref().map(|own| decision_json(own, subject));
    json!({
        "time_s": moment.time_s,
        "target_bps": moment.target_bps,
        "sent_bps": moment.sent_bps,
        "received_bps": moment.received_bps,
        "capacity_bps": moment.capacity_bps,
        "queue_ms": moment.queue_ms,
        "loss_ratio": moment.loss_ratio,
        "limiting_factor": moment.last.map(|last| last.limiting_factor.name()),
        "limited_since_s": moment.limited_since_s,
        "moved": decision(&moment.moved),
        "next": decision(&moment.next),
    })
}

fn fall_json(fall: &RateDecrease, subject: &RecordedFlow<'_>) -> Value {
    json!({
        "begins_s": fall.begins.secs_f64(),
        "ends_s": fall.ends.secs_f64(),
        "from_bps": fall.whole.from.bps(),
        "to_bps": fall.whole.to.bps(),
        "decision": decision_json(&fall.decision, subject),
    })
}

fn decision_json(decision: &RecordedDecision, subject: &RecordedFlow<'_>) -> Value {
    let signals = subject
        .deciding(decision)
        .map(|(name, own)| json!({ "signal": name, "value": own.value, "threshold": own.threshold }));
    json!({
        "time_s": decision.time.secs_f64(),
        "from_bps": decision.from.bps(),
        "to_bps": decision.to.bps(),
        "reason": decision.reason.name(),
        "limiting_factor": decision.limiting_factor.name(),
        "signals": signals.collect::<Vec<Value>>(),
    })
}
