//! `weir trace import`: traces from files of one's own.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use weir_import::traces::{
    ImportFinding, ImportForm, Imported, ReadOptions, TraceForm, TraceStore, TraceStoreError, import as read,
    is_path,
};
use weir_units::TimeDelta;

use crate::args::TraceImportArgs;
use crate::failure::Failure;
use crate::output::OutputFile;
use crate::terminal;

/// Averaging length of rates from opportunities; longer if there would be too many.
const BIN: TimeDelta = TimeDelta::from_millis(100);

/// Reads the file, prints its properties, writes the trace and the link's table for a scenario.
pub(crate) fn import(args: &TraceImportArgs) -> Result<(), Failure> {
    let target = TraceDestination::of(args)?;
    let imported = read(&args.file, &read_options(args)).map_err(|error| {
        Failure::Trace(TraceStoreError::Malformed { path: args.file.display().to_string(), error })
    })?;
    let text = imported
        .write(target.form, bin(&imported))
        .map_err(|error| option("--to", &target.path, error.to_string()))?;
    let out = OutputFile::prepare(&target.path)?;
    out.write(text.as_bytes())?;
    if args.json { print_json(args, &imported, &target) } else { print(args, &imported, &target) }
}

/// Destination of the trace, and its name in scenarios.
struct TraceDestination {
    path: PathBuf,
    form: TraceForm,
    name: String,
}

impl TraceDestination {
    fn of(args: &TraceImportArgs) -> Result<Self, Failure> {
        let stem = args.file.file_stem().unwrap_or_default();
        let default = || PathBuf::from(stem).with_extension("trace.csv");
        let to = args.to.clone().unwrap_or_else(default);
        let is_name =
            args.to.is_some() && to.extension().is_none() && to.to_str().is_some_and(|to| !is_path(to));
        let path = if is_name { Self::of_name(args, &to)? } else { to };
        let form = TraceForm::to_write(&path).ok_or_else(|| {
            option("--to", &path, "a trace ends in .csv, .json, .up, .down or .mahi".to_owned())
        })?;
        if is_same(&path, &args.file) {
            return Err(option("--to", &path, "this is the file that is read; name another one".to_owned()));
        }
        let name = if is_name {
            path.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
        } else if path.is_absolute() || path.starts_with(".") || path.starts_with("..") {
            path.display().to_string()
        } else {
            format!("./{}", path.display())
        };
        Ok(Self { path, form, name })
    }

    fn of_name(args: &TraceImportArgs, name: &Path) -> Result<PathBuf, Failure> {
        let store = TraceStore::find(&args.data);
        let nearest = store.nearest().map(|data| data.join("traces")).ok_or_else(|| {
            let problem = "there is no data directory that could have this name; give one with --data, or a path such as";
            option("--to", name, format!("{problem} `./{}.csv`", name.display()))
        })?;
        if !nearest.is_dir() {
            let problem = format!("there is no directory {}; make it, or give a path", nearest.display());
            return Err(option("--to", name, problem));
        }
        Ok(nearest.join(name).with_extension("csv"))
    }
}

fn option(option: &str, path: &Path, problem: String) -> Failure {
    Failure::Option { option: format!("{option} {}", path.display()), problem }
}

/// Whether both paths lead to one file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn read_options(args: &TraceImportArgs) -> ReadOptions {
    ReadOptions {
        time: args.time.clone(),
        rate: args.rate.clone(),
        time_unit: args.time_unit,
        rate_unit: args.rate_unit,
        flow: args.flow,
    }
}

/// The length over which means are taken.
fn bin(imported: &Imported) -> TimeDelta {
    weir_import::traces::forms::bin_from(&imported.trace, BIN)
}

/// Least and greatest rate in bit/s: of the rates as they are, of opportunities over a bin.
fn extremes(imported: &Imported) -> (f64, f64) {
    let least_and_most = |rates: &[f64]| {
        rates
            .iter()
            .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), &rate| (least.min(rate), most.max(rate)))
    };
    match &imported.rates {
        Some(rates) => {
            let rates: Vec<f64> = rates.iter().map(|rate| rate.bits_per_second).collect();
            least_and_most(&rates[..rates.len() - 1])
        }
        None => least_and_most(
            &weir_import::traces::forms::rates_over_time(&imported.trace, bin(imported)).unwrap_or_default(),
        ),
    }
}

/// Delay and queue of a link, which no file states in full.
const USUAL_DELAY: TimeDelta = TimeDelta::from_millis(25);
const USUAL_QUEUE: &str = "300ms";
const USUAL: &str = "a usual value; the file does not tell";

/// The link's table for a scenario, each key with the source of its value.
fn link(imported: &Imported, target: &TraceDestination) -> String {
    let transfer =
        if imported.form == ImportForm::Pcap { "of the transfer; the path may carry more" } else { "" };
    let (delay, why_delay) =
        imported.one_way.map_or((USUAL_DELAY, USUAL), |delay| (delay, "half of the least round trip"));
    let keys = [
        (format!("trace = {:?}", target.name), transfer),
        (format!("delay = \"{delay}\""), why_delay),
        (format!("queue = {{ time = \"{USUAL_QUEUE}\" }}"), USUAL),
    ];
    let line = |(key, why): (String, &str)| if why.is_empty() { key } else { format!("{key:<28} # {why}") };
    let head = ["[links.forward]", "from = \"here\"", "to = \"there\""].map(str::to_owned);
    head.into_iter().chain(keys.map(line)).collect::<Vec<String>>().join("\n")
}

fn print(args: &TraceImportArgs, imported: &Imported, target: &TraceDestination) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    writeln!(out, "{}", terminal::bold(&args.file.display().to_string()))?;
    for ImportFinding { subject, statement } in &imported.findings {
        writeln!(out, "{subject:<15} {statement}")?;
    }
    let (least, most) = extremes(imported);
    writeln!(out, "{:<15} {}", "duration", imported.trace.duration())?;
    let mean = imported.trace.mean_rate().bps_f64();
    let mbps = |bps: f64| format!("{:.3}", bps / 1e6);
    writeln!(out, "{:<15} {} Mbit/s, from {} to {}", "mean rate", mbps(mean), mbps(least), mbps(most))?;
    let beside = if is_path(&target.name) { ", for a scenario in this directory" } else { "" };
    writeln!(
        out,
        "\nIt is written to {}. The link{beside}; its ends are called as you like:\n\n{}",
        target.path.display(),
        link(imported, target)
    )?;
    Ok(())
}

fn print_json(args: &TraceImportArgs, imported: &Imported, target: &TraceDestination) -> Result<(), Failure> {
    let finding =
        |ImportFinding { subject, statement }: &ImportFinding| json!({ "what": subject, "is": statement });
    let (least, most) = extremes(imported);
    let object = json!({
        "file": args.file.display().to_string(),
        "findings": imported.findings.iter().map(finding).collect::<Vec<_>>(),
        "duration_seconds": imported.trace.duration().secs_f64(),
        "mean_rate_bps": imported.trace.mean_rate().bps(),
        "least_rate_bps": least,
        "greatest_rate_bps": most,
        "base_delay_seconds": imported.one_way.map(TimeDelta::secs_f64),
        "written": target.path.display().to_string(),
        "scenario": link(imported, target),
    });
    writeln!(terminal::stdout(), "{}", serde_json::to_string_pretty(&object).map_err(std::io::Error::from)?)?;
    Ok(())
}
