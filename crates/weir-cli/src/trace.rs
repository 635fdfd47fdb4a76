//! `weir trace`: inspection of traces of links, and their creation from others.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use weir_import::traces::forms::rates_over_time;
use weir_import::traces::{BinError, Listed, TraceForm, TraceStatistics, edit};
use weir_net::{Time, Trace};
use weir_report::chart::tick_step;
use weir_units::{DataRate, TimeDelta};

use crate::args::{TraceCommand, TraceConvertArgs, TraceCutArgs, TraceShowArgs, TraceSource};
use crate::failure::Failure;
use crate::output::OutputFile;
use crate::terminal;
use crate::trace_import::{self, is_same};

/// Characters of the small plot on the terminal.
const PLOT_WIDTH: usize = 60;
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Runs one of the commands.
pub(crate) fn trace(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Show(args) => show(args),
        TraceCommand::Convert(args) => write(&args.source, &args.out, |trace| Ok(trace.clone())),
        TraceCommand::Cut(args) => {
            write(&args.source, &args.out, |trace| {
                edit::cut(trace, args.from, args.to.unwrap_or(trace.duration()))
            })?;
            say_if_beyond(args)
        }
        TraceCommand::Scale(args) => write(&args.source, &args.out, |trace| edit::scale(trace, args.rate)),
        TraceCommand::Plot(args) => plot(args),
        TraceCommand::Import(args) => trace_import::import(args),
    }
}

fn open(source: &TraceSource) -> Result<Arc<Trace>, Failure> {
    Ok(source.data.store().open(&source.trace)?)
}

fn write(
    source: &TraceSource,
    out: &Path,
    change: impl FnOnce(&Trace) -> Result<Trace, edit::EditError>,
) -> Result<(), Failure> {
    let form = form_to_write(out)?;
    not_over_itself(source, out)?;
    let trace = change(&*open(source)?)
        .map_err(|error| Failure::Option { option: source.trace.clone(), problem: error.to_string() })?;
    let text = form.write(&trace, source.bin).map_err(|error| too_fine(source, error))?;
    OutputFile::prepare(out)?.write(text.as_bytes())?;
    let silence = trace.duration() - last(&trace);
    if form == TraceForm::Mahimahi && silence > TimeDelta::ZERO {
        let out = out.display();
        writeln!(
            terminal::stderr(),
            "{out}: Mahimahi's form ends with the last opportunity; {silence} of silence after it are lost, which CSV \
             and JSON keep."
        )?;
    }
    Ok(())
}

/// The form that a file's extension selects.
fn form_to_write(out: &Path) -> Result<TraceForm, Failure> {
    let devices = out.starts_with("/dev") || out.starts_with("/proc");
    let form = if devices { Some(TraceForm::of(out)) } else { TraceForm::to_write(out) };
    form.ok_or_else(|| {
        refused(out, "no trace is written in this form; let the name end in .csv, .json, .up, .down or .mahi")
    })
}

/// Refuses to write over the input.
fn not_over_itself(source: &TraceSource, out: &Path) -> Result<(), Failure> {
    let input = Path::new(&source.trace);
    let files = || source.data.store().listed();
    let read =
        |listed: Listed| listed.name == source.trace && listed.file.is_some_and(|file| is_same(&file, out));
    if input.is_file() && is_same(input, out) || files().into_iter().any(read) {
        return Err(refused(out, "this is the trace that is read; name another file"));
    }
    Ok(())
}

fn refused(out: &Path, problem: &str) -> Failure {
    Failure::Option { option: out.display().to_string(), problem: problem.to_owned() }
}

/// Reports the end of a part that was to end later.
fn say_if_beyond(args: &TraceCutArgs) -> Result<(), Failure> {
    let end = open(&args.source)?.duration();
    if let Some(to) = args.to.filter(|to| *to > end) {
        writeln!(
            terminal::stderr(),
            "{}: the trace ends at {end}, before {to}; the part ends there.",
            args.out.display()
        )?;
    }
    Ok(())
}

fn too_fine(source: &TraceSource, error: BinError) -> Failure {
    Failure::Option { option: format!("--bin {}", source.bin), problem: error.to_string() }
}

/// When the last opportunity comes.
fn last(trace: &Trace) -> TimeDelta {
    trace.opportunities().last().map_or(TimeDelta::ZERO, |at| at - Time::ZERO)
}

/// The mean rate of each bin in bit/s.
fn rates(trace: &Trace, source: &TraceSource) -> Result<Vec<f64>, Failure> {
    rates_over_time(trace, source.bin).map_err(|error| too_fine(source, error))
}

/// Duration below which a trace has no statistics.
const MIN_DURATION: TimeDelta = TimeDelta::from_secs(1);
/// Duration above which a trace has no statistics.
const MAX_DURATION: TimeDelta = TimeDelta::from_secs(3600);

/// Properties of a trace to show.
struct Facts {
    opportunities: usize,
    duration: TimeDelta,
    mean: DataRate,
    /// Least, median and greatest rate of the whole bins; of the only one if it is shorter.
    spread: [f64; 3],
    /// Share of these bins without capacity.
    empty: f64,
    /// Longest gap between opportunities, the first one of the next cycle included.
    longest_gap: TimeDelta,
}

impl Facts {
    fn of(trace: &Trace, rates: &[f64], bin: TimeDelta) -> Self {
        let whole = (trace.duration().nanos() / bin.nanos()) as usize;
        let rates = &rates[..whole.clamp(1, rates.len())];
        let mut sorted = rates.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
        let next_cycle = trace.opportunities().take(1).map(|at| at + trace.duration());
        let later = trace.opportunities().skip(1).chain(next_cycle);
        let gaps = trace.opportunities().zip(later).map(|(at, next)| next - at);
        Self {
            opportunities: trace.len(),
            duration: trace.duration(),
            mean: trace.mean_rate(),
            spread: [at(0.0), at(0.5), at(1.0)],
            empty: rates.iter().filter(|&&rate| rate == 0.0).count() as f64 / rates.len() as f64,
            longest_gap: gaps.max().unwrap_or_default(),
        }
    }
}

fn show(args: &TraceShowArgs) -> Result<(), Failure> {
    let trace = open(&args.source)?;
    let rates = rates(&trace, &args.source)?;
    let facts = Facts::of(&trace, &rates, args.source.bin);
    let has_statistics = (MIN_DURATION..=MAX_DURATION).contains(&trace.duration());
    let statistics = has_statistics.then(|| TraceStatistics::of(&trace));
    let mut out = terminal::stdout();
    if args.json {
        let [least, median, greatest] = facts.spread;
        let object = json!({
            "trace": args.source.trace,
            "opportunities": facts.opportunities,
            "duration_seconds": facts.duration.secs_f64(),
            "mean_rate_bps": facts.mean.bps(),
            "bin_seconds": args.source.bin.secs_f64(),
            "bins": { "least_bps": least, "median_bps": median, "greatest_bps": greatest, "empty": facts.empty },
            "longest_gap_seconds": facts.longest_gap.secs_f64(),
            "statistics": statistics,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&object).map_err(std::io::Error::from)?)?;
        return Ok(());
    }
    let mbps = facts.spread.map(|bps| bps / 1e6);
    writeln!(out, "{}", terminal::bold(&args.source.trace))?;
    writeln!(out, "opportunities   {} of 1500 bytes in {}", facts.opportunities, facts.duration)?;
    writeln!(out, "mean rate       {:.3} Mbit/s", facts.mean.bps_f64() / 1e6)?;
    writeln!(
        out,
        "over {:<10} {:.2} to {:.2} Mbit/s, median {:.2}",
        args.source.bin.to_string(),
        mbps[0],
        mbps[2],
        mbps[1]
    )?;
    writeln!(
        out,
        "nothing         in {:.1} % of them; longest gap {}",
        100.0 * facts.empty,
        facts.longest_gap
    )?;
    if let Some(statistics) = statistics {
        describe(&mut out, &statistics)?;
    }
    writeln!(out, "\n{}", bars(&rates))?;
    Ok(())
}

/// How much and for how long the rate varies, and how often it is low or zero.
fn describe(out: &mut impl Write, statistics: &TraceStatistics) -> io::Result<()> {
    let [tenth, second, ten] = statistics.autocorrelation.map(|own| number(own, 2));
    writeln!(
        out,
        "over 100ms      deviation {:.2} Mbit/s, correlated by {tenth} after 0.1 s, {second} after 1 s, {ten} after 10 s",
        statistics.deviation_mbps
    )?;
    let TraceStatistics { fades_per_minute, outages_per_minute, .. } = statistics;
    writeln!(
        out,
        "fades           {fades_per_minute:.1} per minute below a quarter of the mean, {} s long, down to {} of it",
        number(statistics.fade_seconds, 2),
        number(statistics.fade_depth, 2),
    )?;
    writeln!(
        out,
        "outages         {outages_per_minute:.1} per minute of 0.2 s or more, {} s long",
        number(statistics.outage_seconds, 2)
    )
}

/// A number, or a dash where it is not defined.
fn number(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}") } else { "–".to_owned() }
}

/// The rates as a line of bars, as high as their mean in each column.
fn bars(rates: &[f64]) -> String {
    let columns = PLOT_WIDTH.min(rates.len());
    let mean = |column: usize| {
        let part = &rates[column * rates.len() / columns..(column + 1) * rates.len() / columns];
        part.iter().sum::<f64>() / part.len() as f64
    };
    let means: Vec<f64> = (0..columns).map(mean).collect();
    let top = means.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    means.iter().map(|mean| BARS[((mean / top) * (BARS.len() - 1) as f64).ceil() as usize]).collect()
}

fn plot(args: &TraceConvertArgs) -> Result<(), Failure> {
    let end = args.out.extension().map(OsStr::to_ascii_lowercase);
    if end.is_some_and(|end| end != "svg") {
        return Err(refused(&args.out, "a plot is SVG; let the name end in .svg"));
    }
    not_over_itself(&args.source, &args.out)?;
    let trace = open(&args.source)?;
    let rates = rates(&trace, &args.source)?;
    let svg = svg(&args.source, &rates, &trace);
    Ok(OutputFile::prepare(&args.out)?.write(svg.as_bytes())?)
}

/// Size of the drawing, and the margins around the curve for its axes.
const SIZE: (f64, f64) = (900.0, 320.0);
const LEFT: f64 = 60.0;
const BELOW: f64 = 40.0;
const ABOVE: f64 = 30.0;

/// Round values from 0 up to `top`, about six, with their texts.
fn ticks(top: f64) -> Vec<(f64, String)> {
    let step = tick_step(top, 6.0);
    // Steps are 1, 2 or 5 times a power of ten.
    let tens = std::iter::successors(Some(step), |step| Some(step * 10.0)).take(9);
    let decimals = tens.take_while(|step| *step < 0.999).count();
    let count = (top / step + 1e-9).floor() as u32;
    (0..=count).map(|n| (f64::from(n) * step, format!("{:.decimals$}", f64::from(n) * step))).collect()
}

fn svg(source: &TraceSource, rates: &[f64], trace: &Trace) -> String {
    let duration = trace.duration();
    let (width, height) = SIZE;
    let top = rates.iter().copied().fold(1.0, f64::max) / 1e6;
    let (right, ground) = (width - 20.0, height - BELOW);
    let x = |share: f64| LEFT + share * (right - LEFT);
    let y = |mbps: f64| ground - mbps / top * (ground - ABOVE);
    let mut steps = String::new();
    for (index, bps) in rates.iter().enumerate() {
        let share = |bins: usize| (bins as f64 * source.bin.secs_f64() / duration.secs_f64()).min(1.0);
        let (from, to) = (share(index), share(index + 1));
        let level = y(bps / 1e6);
        let _ = write!(steps, "{:.1},{level:.1} {:.1},{level:.1} ", x(from), x(to));
    }
    let name: String = source.trace.chars().filter(|c| !"<>&\"'".contains(*c)).collect();
    let mean_mbps = trace.mean_rate().bps_f64() / 1e6;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#1f2937\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"18\" font-weight=\"bold\">{name}</text>\n"
    );
    for (mbps, said) in ticks(top) {
        let level = y(mbps);
        let _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{level:.1}\" y2=\"{level:.1}\" stroke=\"#e5e7eb\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{said}</text>",
            LEFT - 6.0,
            level + 4.0,
        );
    }
    for (seconds, said) in ticks(duration.secs_f64()) {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{said}</text>",
            x(seconds / duration.secs_f64()),
            ground + 16.0,
        );
    }
    let level = y(mean_mbps);
    let _ = writeln!(
        text,
        "<polyline fill=\"none\" stroke=\"#332288\" points=\"{}\"/>\n<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{level:.1}\" \
         y2=\"{level:.1}\" stroke=\"#d55e00\" stroke-dasharray=\"4 3\"/>\n<text x=\"{right}\" y=\"18\" text-anchor=\"end\">\
         Mbit/s over seconds; mean {mean_mbps:.2}</text>\n</svg>",
        steps.trim_end()
    );
    text
}

#[cfg(test)]
mod tests {
    use super::ticks;

    #[test]
    fn ticks_are_round() {
        let texts = |top| ticks(top).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(20.9), ["0", "5", "10", "15", "20"]);
        assert_eq!(texts(120.0), ["0", "20", "40", "60", "80", "100", "120"]);
        assert_eq!(texts(0.9), ["0.0", "0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(texts(3.4), ["0", "1", "2", "3"]);
    }
}
