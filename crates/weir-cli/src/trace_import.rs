//! `weir trace import`: traces from files of one's own.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use weir_lab::traces::{
    Asked, Finding, ImportForm, Imported, TraceForm, TraceStore, TraceStoreError, import as read, is_path,
};
use weir_units::TimeDelta;

use crate::args::{Delimiter, TraceFormOf, TraceImportArgs};
use crate::failure::Failure;
use crate::output::OutputFile;
use crate::terminal;

/// Rates of opportunities, where they are written as rates, are means over this; longer where there would be too many.
const BIN: TimeDelta = TimeDelta::from_millis(100);

/// Reads the file, says what it found, writes the trace and the link's table for a scenario.
pub(crate) fn import(args: &TraceImportArgs) -> Result<(), Failure> {
    let target = Target::of(args)?;
    let imported = read(&args.file, &asked(args)).map_err(|error| {
        Failure::Trace(TraceStoreError::Malformed { path: args.file.display().to_string(), error })
    })?;
    let text = imported
        .write(target.form, bin(&imported))
        .map_err(|error| option("--to", &target.path, error.to_string()))?;
    let out = OutputFile::prepare(&target.path)?;
    out.write(text.as_bytes())?;
    if args.json { print_json(args, &imported, &target) } else { print(args, &imported, &target) }
}

/// Where the trace goes, and what scenarios call it.
struct Target {
    path: PathBuf,
    form: TraceForm,
    name: String,
}

impl Target {
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

/// Whether both lead to one file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn asked(args: &TraceImportArgs) -> Asked {
    let form = |form| match form {
        TraceFormOf::Mahimahi => ImportForm::Mahimahi,
        TraceFormOf::Csv => ImportForm::Csv,
        TraceFormOf::Json => ImportForm::Json,
        TraceFormOf::Iperf3 => ImportForm::Iperf3,
        TraceFormOf::Pcap => ImportForm::Pcap,
    };
    let delimiter = |delimiter| match delimiter {
        Delimiter::Comma => ',',
        Delimiter::Semicolon => ';',
        Delimiter::Tab => '\t',
    };
    Asked {
        form: args.form.map(form),
        time: args.time.clone(),
        rate: args.rate.clone(),
        time_unit: args.time_unit,
        rate_unit: args.rate_unit,
        delimiter: args.delimiter.map(delimiter),
        decimal_comma: args.decimal_comma,
        flow: args.flow,
    }
}

/// What means are taken over.
fn bin(imported: &Imported) -> TimeDelta {
    weir_lab::traces::forms::bin_from(&imported.trace, BIN)
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
            &weir_lab::traces::forms::rates_over_time(&imported.trace, bin(imported)).unwrap_or_default(),
        ),
    }
}

/// The interval of most rates in s.
fn interval(imported: &Imported) -> Option<f64> {
    let rates = imported.rates.as_ref()?;
    let mut lengths: Vec<f64> = rates.windows(2).map(|pair| pair[1].seconds - pair[0].seconds).collect();
    lengths.sort_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).map(|length| (length * 1e6).round() / 1e6)
}

/// What stands in the table of a link whose delay and queue the file does not tell.
const USUAL_DELAY: TimeDelta = TimeDelta::from_millis(25);
const USUAL_QUEUE: TimeDelta = TimeDelta::from_millis(300);
const USUAL: &str = "a usual value; the file does not tell";

/// The link's table for a scenario, each key with where its value comes from.
fn link(imported: &Imported, target: &Target) -> String {
    let bound = if imported.is_lower_bound { "a lower bound: the path was not always full" } else { "" };
    let or_usual = |value: Option<TimeDelta>, usual, why| value.map_or((usual, USUAL), |value| (value, why));
    let (delay, why_delay) = or_usual(imported.one_way, USUAL_DELAY, "half of the least round trip");
    let longest = imported.longest_wait.map(up_to_ten_millis);
    let (queue, why_queue) = or_usual(longest, USUAL_QUEUE, "the longest wait of a packet");
    // A queue that drops loses packets again in the simulation.
    let lost = imported.loss.filter(|&loss| loss > 0.0);
    let why_loss = lost.map_or_else(String::new, |loss| {
        format!("{loss:.2e} of the transfer was lost: write that if it was not its own queue that dropped it")
    });
    let keys = [
        (format!("trace = {:?}", target.name), bound),
        (format!("delay = \"{delay}\""), why_delay),
        (format!("queue = {{ time = \"{queue}\" }}"), why_queue),
        ("loss = 0".to_owned(), &why_loss),
    ];
    let line = |(key, why): (String, &str)| if why.is_empty() { key } else { format!("{key:<28} # {why}") };
    let head = ["[links.forward]", "from = \"here\"", "to = \"there\""].map(str::to_owned);
    head.into_iter().chain(keys.map(line)).collect::<Vec<String>>().join("\n")
}

/// The next whole ten milliseconds, one ten at least.
fn up_to_ten_millis(wait: TimeDelta) -> TimeDelta {
    TimeDelta::from_millis(((wait.millis_f64() / 10.0).ceil() as i64).max(1) * 10)
}

fn print(args: &TraceImportArgs, imported: &Imported, target: &Target) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    writeln!(out, "{}", terminal::bold(&args.file.display().to_string()))?;
    for Finding { what, is, sure, why } in &imported.findings {
        writeln!(out, "{what:<15} {is} ({}: {why})", if *sure { "sure" } else { "guessed" })?;
    }
    if let Some(interval) = interval(imported) {
        writeln!(out, "{:<15} {interval} s", "interval")?;
    }
    let (least, most) = extremes(imported);
    writeln!(out, "{:<15} {}", "duration", imported.trace.duration())?;
    let mean = imported.trace.mean_rate().bps_f64();
    let mbps = |bps: f64| format!("{:.3}", bps / 1e6);
    writeln!(out, "{:<15} {} Mbit/s, from {} to {}", "mean rate", mbps(mean), mbps(least), mbps(most))?;
    if let Some(delay) = imported.one_way {
        writeln!(out, "{:<15} {delay} each way (guessed: half of the round trip)", "base delay")?;
    }
    let beside = if is_path(&target.name) { ", for a scenario in this directory" } else { "" };
    writeln!(
        out,
        "\nIt is written to {}. The link{beside}; its ends are called as you like:\n\n{}",
        target.path.display(),
        link(imported, target)
    )?;
    Ok(())
}

fn print_json(args: &TraceImportArgs, imported: &Imported, target: &Target) -> Result<(), Failure> {
    let finding = |Finding { what, is, sure, why }: &Finding| json!({ "what": what, "is": is, "sure": sure, "why": why });
    let (least, most) = extremes(imported);
    let object = json!({
        "file": args.file.display().to_string(),
        "findings": imported.findings.iter().map(finding).collect::<Vec<_>>(),
        "interval_seconds": interval(imported),
        "duration_seconds": imported.trace.duration().secs_f64(),
        "mean_rate_bps": imported.trace.mean_rate().bps(),
        "least_rate_bps": least,
        "greatest_rate_bps": most,
        "base_delay_seconds": imported.one_way.map(TimeDelta::secs_f64),
        "longest_wait_seconds": imported.longest_wait.map(TimeDelta::secs_f64),
        "loss": imported.loss,
        "lower_bound": imported.is_lower_bound,
        "written": target.path.display().to_string(),
        "scenario": link(imported, target),
    });
    writeln!(terminal::stdout(), "{}", serde_json::to_string_pretty(&object).map_err(std::io::Error::from)?)?;
    Ok(())
}
