//! `weir explain-call`: the falls of a recorded call, and what came first.

use std::io::Write;

use serde_json::json;
use weir_replay::CallTooLong;
use weir_replay::explain::{explain, explanation_page};
use weir_scenario::registry::Registry;

use crate::args::ExplainCallArgs;
use crate::browser;
use crate::call_file::{call_name, read_call};
use crate::failure::Failure;
use crate::output::{OutputDirectory, json_file};
use crate::terminal;

/// Name of the page in the directory.
const PAGE: &str = "explanation.html";

/// Explains the call, on the terminal and as a page.
pub(crate) fn explain_call(args: &ExplainCallArgs, registry: &Registry) -> Result<(), Failure> {
    browser::is_written(args.open, args.json, args.out.as_deref())?;
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
    let results = json!({ "call": name, "explanation": found });
    let mut directory =
        OutputDirectory::usual(args.out.as_deref(), args.json, &format!("{name}-explained"), registry)?;
    if let Some(directory) = &mut directory {
        let page = explanation_page(&format!("What happened in {name}"), &call, &found);
        directory.write(&vec![
            (PAGE.to_owned(), page.into_bytes()),
            ("explanation.json".to_owned(), json_file(&results)?),
        ])?;
    }
    let mut out = terminal::stdout();
    if args.json {
        out.write_all(&json_file(&results)?)?;
    } else {
        write!(out, "{found}")?;
        if let Some(directory) = &directory {
            writeln!(out, "\nPage: {}", browser::link(&directory.path(PAGE)))?;
        }
    }
    browser::open(args.open, directory.map(|directory| directory.path(PAGE)).as_deref())
}
