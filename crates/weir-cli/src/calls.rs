//! Recorded calls of a comparison, as files.

use std::io;

use weir_study::comparison::{Comparison, ControllerRuns, RecordedFlowCall};

use crate::failure::Failure;
use crate::output::{OutputDirectory, file_name, name_among};

/// Refuses to record where no file is written.
pub(crate) fn have_a_place(record: bool, directory: Option<&OutputDirectory>) -> Result<(), Failure> {
    if record && directory.is_none() {
        let problem = "with --json files are written only with --out; give a directory".to_owned();
        return Err(Failure::Option { option: "--record".to_owned(), problem });
    }
    Ok(())
}

/// Writes the calls of each controller, `call-CONTROLLER-FLOW.call.json`; of several runs with the seed before the flow.
pub(crate) fn add(directory: &mut OutputDirectory, comparison: &Comparison) -> Result<(), Failure> {
    for ControllerRuns { name, calls, sample, .. } in &comparison.controllers {
        let several = calls.iter().any(|one| one.seed != calls[0].seed);
        for RecordedFlowCall { seed, flow, call } in calls {
            let flow = sample.plan.flows.get(*flow).map_or("flow", |flow| flow.name.as_str());
            let all = comparison.controllers.iter().map(|own| own.name.as_str());
            let (name, flow) = (name_among(name, all), file_name(flow));
            let seed = if several { format!("{seed}-") } else { String::new() };
            directory.stream_with(format!("call-{name}-{seed}{flow}.call.json"), |out| {
                serde_json::to_writer(out, call).map_err(io::Error::from)
            })?;
        }
    }
    Ok(())
}
