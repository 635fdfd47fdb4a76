//! `weir explain-call`: the falls of a recorded call, and what came first.

use serde_json::json;
use weir_replay::CallTooLong;
use weir_replay::explain::{explain, explanation_page};
use weir_scenario::registry::Registry;

use crate::args::ExplainCallArgs;
use crate::browser;
use crate::call_file::{call_name, read_call};
use crate::call_page::CallPage;
use crate::failure::Failure;

/// Explains the call, on the terminal and as a page.
pub(crate) fn explain_call(args: &ExplainCallArgs, registry: &Registry) -> Result<(), Failure> {
    browser::is_written(args.output.open, args.output.json, args.output.out.as_deref())?;
    let call = read_call(&args.source)?;
    let name = call_name(&args.source);
    if call.packets.is_empty() && call.counters.is_empty() {
        let problem =
            "the recording has neither packets nor counters; there is nothing to explain".to_owned();
        return Err(Failure::Option { option: args.source.files[0].display().to_string(), problem });
    }
    let refused = |error: CallTooLong| Failure::Option {
        option: args.source.files[0].display().to_string(),
        problem: error.to_string(),
    };
    let found = explain(&call).map_err(refused)?;
    let page = || explanation_page(&format!("What happened in {name}"), &call, &found);
    let shown = CallPage {
        directory: &format!("{name}-explained"),
        name: "explanation",
        page: &page,
        results: json!({ "call": name, "explanation": found }),
    };
    shown.show(&args.output, registry, |out| Ok(write!(out, "{found}")?))
}
