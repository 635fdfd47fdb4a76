//! `weir detection`: how well shared bottlenecks are detected.

use std::io::Write;

use comfy_table::Cell;
use weir_scenario::registry::Registry;
use weir_study::detection::{CONTROLLERS, DetectionRequest, IntervalCounts, Management, Row, parameters};

use crate::args::{DetectionArgs, Format};
use crate::effective::{each_once, say_repeated, threads};
use crate::failure::Failure;
use crate::terminal;
use crate::{progress, table};

const HEADER: [&str; 11] = [
    "queue",
    "controller",
    "load",
    "shared: together, %",
    "with the guard, %",
    "by interval, %",
    "no bottleneck, %",
    "intervals",
    "packets in one",
    "separate: together, %",
    "chance: together, %",
];

/// Runs the grid and prints it.
pub(crate) fn detection(args: &DetectionArgs, registry: &Registry) -> Result<(), Failure> {
    let config = parameters(&args.set)?;
    say_repeated("--controller", &args.controller);
    let controllers = match args.controller.as_slice() {
        [] => CONTROLLERS.to_vec(),
        some => each_once(some),
    };
    let jobs = threads(args.table.jobs);
    let request =
        DetectionRequest { registry, controllers: &controllers, seeds: u64::from(args.runs), jobs, config };
    let bar = progress::bar(args.table.quiet);
    progress::expect(&bar, "detection", request.runs());
    let rows = request.run(&|| bar.inc(1)).map_err(std::io::Error::other)?;
    bar.finish_and_clear();
    let mut out = terminal::stdout();
    match args.table.format() {
        Format::Table => {
            let cells = rows.iter().map(|row| words(row).map(Cell::new).to_vec()).collect();
            writeln!(out, "{}\n{}", table::plain(&HEADER, cells), summary(&rows))?;
        }
        Format::Markdown => {
            writeln!(out, "| {} |\n|{}", HEADER.join(" | "), "---|".repeat(HEADER.len()))?;
            for row in &rows {
                writeln!(out, "| {} |", words(row).join(" | "))?;
            }
            writeln!(out, "\n{}", summary(&rows))?;
        }
        Format::Json => {
            let text = serde_json::to_string_pretty(&rows).map_err(std::io::Error::from)?;
            writeln!(out, "{text}")?;
        }
    }
    Ok(())
}

/// Results behind the filter; those of single intervals in brackets.
fn words(row: &Row) -> [String; 11] {
    let both = |judged: &IntervalCounts| {
        format!("{} ({})", percent(judged.ratio()), percent(judged.grouped_ratio()))
    };
    let Row { controller, load, queue, shared, separate, chance } = row;
    let queue = match queue {
        Management::DropTail => "drop-tail",
        Management::Codel => "CoDel",
    };
    [
        queue.to_owned(),
        controller.clone(),
        load.to_string(),
        percent(shared.ratio()),
        percent(shared.guarded_ratio()),
        percent(shared.grouped_ratio()),
        percent(shared.neither_ratio()),
        shared.intervals.to_string(),
        format!("{:.0}", shared.packets_per_interval()),
        both(separate),
        both(chance),
    ]
}

fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{:.1}", 100.0 * ratio))
}

/// Drop-tail is judged; CoDel keeps queues short on purpose.
fn summary(rows: &[Row]) -> String {
    let sum = |of: fn(&Row) -> IntervalCounts| {
        let judged = rows.iter().filter(|row| row.queue == Management::DropTail);
        judged.map(of).fold(IntervalCounts::default(), IntervalCounts::with)
    };
    let shared = sum(|row| row.shared);
    format!(
        "Together behind drop-tail: {} % of the intervals of shared pairs ({} % with the guard), {} % of separate ones, {} % by \
         chance.",
        percent(shared.ratio()),
        percent(shared.guarded_ratio()),
        percent(sum(|row| row.separate).ratio()),
        percent(sum(|row| row.chance).ratio())
    )
}
