//! `weir replay`: a recorded call under other controllers.

use std::io::Write;

use serde_json::json;
use weir_replay::replay::{ControllerReplay, OPEN_LOOP, ReplayError, ReplayOptions, replay, replay_page};
use weir_scenario::registry::Registry;

use crate::args::ReplayArgs;
use crate::browser;
use crate::call_file::{call_name, read_call};
use crate::call_page::CallPage;
use crate::failure::Failure;
use crate::table;

/// Partings that are shown of each controller.
const SHOWN_PARTINGS: usize = 3;

/// Replays the call under each controller and prints how it agrees with the recording.
pub(crate) fn replay_call(args: &ReplayArgs, registry: &Registry) -> Result<(), Failure> {
    browser::is_written(args.output.open, args.output.json, args.output.out.as_deref())?;
    let call = read_call(&args.source)?;
    let name = format!("{}-replay", call_name(&args.source));
    let lacking =
        |problem: String| Failure::Option { option: args.source.files[0].display().to_string(), problem };
    let options = ReplayOptions::of(&call, args.start, args.max).map_err(|error| Failure::Option {
        option: "--start, --max".to_owned(),
        problem: error.to_string(),
    })?;
    let options = ReplayOptions { feedback_interval: args.source.feedback_interval, ..options };
    let mut replays = Vec::with_capacity(args.controller.len());
    for controller in &args.controller {
        let replayed = replay(&call, registry, (controller, None), &options);
        replays.push(replayed.map_err(|error| match error {
            ReplayError::Registry(error) => Failure::Registry(error),
            ReplayError::Lacking(problem) => lacking(problem),
            ReplayError::TooLong(error) => lacking(error.to_string()),
        })?);
    }
    let page = || replay_page(&format!("Replay of {}", call_name(&args.source)), &call, &replays);
    let shown = CallPage {
        directory: &name,
        name: "replay",
        page: &page,
        results: json!({ "call": name, "replays": replays }),
    };
    shown.show(&args.output, registry, |out| {
        print(out, &replays)?;
        for remark in &call.remarks {
            writeln!(out, "{}", table::sentence(remark, table::terminal_width()))?;
        }
        Ok(())
    })
}

fn print(out: &mut dyn Write, replays: &[ControllerReplay]) -> Result<(), Failure> {
    let none = || "–".to_owned();
    let seconds = |us: i64| format!("{:.1} s", us as f64 / 1e6);
    let rows = replays.iter().map(|replay| {
        let agreement = replay.agreement.as_ref();
        vec![
            replay.controller.clone(),
            agreement.map_or_else(none, |found| format!("{:.1} %", 100.0 * found.within_10_percent)),
            agreement.map_or_else(none, |found| format!("{:.2}", found.median_ratio)),
            replay.diverged_us.map_or_else(none, seconds),
            replay.decisions.len().to_string(),
        ]
    });
    let head = ["controller", "within 10 % of the recording", "median ratio", "diverged at", "decisions"];
    writeln!(out, "{}", table::plain(&head, rows.collect()))?;
    let width = table::terminal_width();
    writeln!(out, "{}", table::sentence(OPEN_LOOP, width))?;
    for replay in replays {
        for remark in &replay.remarks {
            writeln!(out, "{}", table::sentence(&format!("{}: {remark}", replay.controller), width))?;
        }
        for parting in replay.partings.iter().take(SHOWN_PARTINGS) {
            let text = format!(
                "{} parts from {} to {}, with {} instead of {} kbit/s. {}",
                replay.controller,
                seconds(parting.from_us),
                seconds(parting.to_us),
                parting.replayed_bps / 1000,
                parting.recorded_bps / 1000,
                parting.sentence()
            );
            writeln!(out, "{}", table::sentence(&text, width))?;
        }
    }
    Ok(())
}
