//! `weir infer`: the path behind a recorded call, as a scenario.

use std::io::Write;

use serde::Serialize;
use serde_json::json;
use weir_import::calls::CallUses;
use weir_import::traces::TraceStore;
use weir_replay::infer::{
    InferOptions, InferredPath, PathEnd, QueueLimit, counted_bounds, infer as infer_path,
};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;
use weir_study::comparison::ComparisonRequest;
use weir_world::RecordedCall;
use weir_world::recorded::RecordingSource;

use crate::args::InferArgs;
use crate::call_file::read_call;
use crate::effective;
use crate::failure::Failure;
use crate::output::OutputFile;
use crate::{table, terminal};

/// Controllers that --check compares.
const CHECKED: [&str; 3] = ["gcc", "nada", "scream-v2"];
/// Seeds of the runs of --check.
const SEEDS: core::ops::RangeInclusive<u64> = 1..=10;

/// Reads the call, infers its path, writes the scenario, and says what is known.
pub(crate) fn infer(args: &InferArgs, registry: &Registry) -> Result<(), Failure> {
    let out = args.out.as_deref().map(OutputFile::prepare).transpose()?;
    let call = read_call(&args.source)?;
    if call.source == RecordingSource::Counters {
        return print_bounds(args, &call);
    }
    let uses = CallUses::of(&call).infer;
    if !uses.possible {
        let option = args.source.files[0].display().to_string();
        return Err(Failure::Option { option, problem: uses.extent.to_owned() });
    }
    let options = InferOptions { extra_bytes: args.extra_bytes, open_end: args.open_end };
    let path = infer_path(&call, &options).map_err(|error| Failure::Option {
        option: args.source.files[0].display().to_string(),
        problem: error.to_string(),
    })?;
    drop(call);
    let scenario = path.scenario(args.end.into());
    let agreement = args.check.then(|| check(&path, registry, args.jobs)).transpose()?;
    if let Some(out) = &out {
        out.write(scenario.as_bytes())?;
    }
    let mut stdout = terminal::stdout();
    if args.json {
        let printed = PrintedPath { path: &path, check: agreement.as_ref() };
        serde_json::to_writer_pretty(&mut stdout, &printed).map_err(std::io::Error::from)?;
        writeln!(stdout)?;
        return Ok(());
    }
    let width = table::terminal_width();
    let Some(file) = &args.out else {
        write!(stdout, "{scenario}")?;
        if let Some(agreement) = agreement {
            writeln!(terminal::stderr(), "{}", table::sentence(&agreement.sentence(), width))?;
        }
        return Ok(());
    };
    for sentence in findings(&path) {
        writeln!(stdout, "{}", table::sentence(&sentence, width))?;
    }
    if let Some(agreement) = agreement {
        writeln!(stdout, "{}", table::sentence(&agreement.sentence(), width))?;
        return Ok(());
    }
    writeln!(stdout, "\nweir run {} --controller {}", file.display(), CHECKED.join(","))?;
    if path.shared() > 0.0 {
        let sentence = format!("It decides nothing for this call: {WITHOUT_OTHERS}.");
        writeln!(stdout, "{}", table::sentence(&sentence, width))?;
    }
    Ok(())
}

/// Prints the bounds that counters give.
fn print_bounds(args: &InferArgs, call: &RecordedCall) -> Result<(), Failure> {
    let refused = |problem: &str| Failure::Option {
        option: args.source.files[0].display().to_string(),
        problem: problem.to_owned(),
    };
    if args.out.is_some() || args.check {
        return Err(refused("counters give bounds and no scenario; leave out --out and --check"));
    }
    let bounds = counted_bounds(call);
    if bounds.is_empty() {
        return Err(refused(
            "no bound follows; bytesReceived, currentRoundTripTime or packetsLost is needed for some seconds",
        ));
    }
    let mut stdout = terminal::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut stdout, &json!({ "bounds": bounds }))
            .map_err(std::io::Error::from)?;
        writeln!(stdout)?;
        return Ok(());
    }
    for bound in &bounds {
        let text = format!("{} [{}]", bound.sentence, bound.cites);
        writeln!(stdout, "{}", table::sentence(&text, table::terminal_width()))?;
    }
    Ok(())
}

/// The path and the outcome of --check as JSON.
#[derive(Serialize)]
struct PrintedPath<'a> {
    #[serde(flatten)]
    path: &'a InferredPath,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<&'a EndAgreement>,
}

/// Why a scenario without the other traffic of the call recommends no controller.
const WITHOUT_OTHERS: &str = "other traffic is not in the scenario";

/// The recommended controllers on both ends of the band.
#[derive(Debug, Default, Serialize)]
struct EndAgreement {
    low: Vec<String>,
    high: Vec<String>,
    /// Whether both ends recommend the same.
    agree: bool,
    /// The reason why no end recommends any.
    #[serde(skip_serializing_if = "Option::is_none")]
    undecided: Option<&'static str>,
}

impl EndAgreement {
    fn sentence(&self) -> String {
        let Self { low, high, agree, undecided } = self;
        if let Some(reason) = undecided {
            return format!("Undecided: {reason}.");
        }
        let names = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(" and ") };
        let all = CHECKED.join(", ");
        if *agree {
            format!("Of {all}, both ends of the band recommend {}.", names(low))
        } else {
            format!(
                "Undecided: of {all}, the lower end of the band recommends {}, the upper end {}.",
                names(low),
                names(high)
            )
        }
    }
}

/// Runs the checked controllers on both ends.
fn check(path: &InferredPath, registry: &Registry, jobs: Option<u32>) -> Result<EndAgreement, Failure> {
    if path.shared() > 0.0 {
        return Ok(EndAgreement { undecided: Some(WITHOUT_OTHERS), ..EndAgreement::default() });
    }
    let recommended = |end: PathEnd| -> Result<Vec<String>, Failure> {
        let changes = [format!("controllers={CHECKED:?}")];
        let scenario = Scenario::parse_in(registry, "inferred", &path.scenario(end), &changes)?;
        let seeds: Vec<u64> = SEEDS.collect();
        let request = ComparisonRequest {
            scenario: &scenario,
            seeds: &seeds,
            jobs: effective::threads(jobs),
            series: false,
        };
        let comparison = request.run(&TraceStore::at(None), &|| {})?;
        let mut names = comparison.summary.ranking.map(|ranking| ranking.recommended).unwrap_or_default();
        names.sort();
        Ok(names)
    };
    let (low, high) = (recommended(PathEnd::Low)?, recommended(PathEnd::High)?);
    let agree = low == high;
    Ok(EndAgreement { low, high, agree, undecided: None })
}

/// Sentences about the estimates.
fn findings(path: &InferredPath) -> Vec<String> {
    let percent = |share: f64| (100.0 * share).round();
    let millis = |us: i64| (us as f64 / 100.0).round() / 10.0;
    let mut sentences = Vec::new();
    let kbps = |bps: f64| (bps / 1e3).round();
    sentences.push(match path.summary() {
        None => "Capacity: unknown; no second has enough packets that queued.".to_owned(),
        Some(known) => format!(
            "Capacity: {} kbit/s in the median, {} to {} in 90 % of the figures. {} % of {} seconds have a figure, with a \
             band of {} % either way in the median.",
            kbps(known.median_bps),
            kbps(known.p5_bps),
            kbps(known.p95_bps),
            percent(path.coverage()),
            path.seconds.len(),
            (50.0 * known.width).round()
        ),
    });
    if let Some((median, most)) = path.bounds() {
        sentences.push(format!(
            "Without a queue: at least {} kbit/s in the median of such seconds, at least {} in one of them.",
            kbps(median),
            kbps(most)
        ));
    }
    if path.shared() > 0.0 {
        sentences.push(format!(
            "Beside other traffic in {} % of the seconds: the figure is the call's share, and the capacity at least that.",
            percent(path.shared())
        ));
    }
    if path.is_weak {
        sentences.push(
            "Departures are unknown: packets of one frame count as sent together, and all figures as lower bounds."
                .to_owned(),
        );
    }
    let delay = path.delay;
    let source = match (delay.is_assumed, delay.is_one_way) {
        (true, _) => "usual values, as no round trip was recorded",
        (false, true) => "least delays of each way",
        (false, false) => "half of the least round trip each",
    };
    sentences.push(format!(
        "Delay: {} ms forward, {} ms back; {source}.",
        millis(delay.forward_us),
        millis(delay.back_us)
    ));
    let limit = match path.queue.limit {
        QueueLimit::Time(us) => format!("{} ms", millis(us)),
        QueueLimit::Bytes(bytes) => format!("{bytes} bytes"),
    };
    sentences.push(if path.queue.was_full {
        format!("Queue: {limit}, by {} losses at a full queue.", path.loss.at_full_queue)
    } else if path.is_weak {
        format!("Queue: at least {limit}.")
    } else {
        format!("Queue: never full; at least {limit}.")
    });
    let (random, or_full) =
        if path.is_weak { ("Loss", ", at random or at a full queue") } else { ("Random loss", "") };
    sentences.push(format!(
        "{random}: {:.2} % of {} packets{or_full}.",
        100.0 * path.loss.share,
        path.loss.packets
    ));
    sentences.push(if path.jitter.sd_us == 0 {
        "Jitter: none found.".to_owned()
    } else {
        format!(
            "Jitter: standard deviation {} ms, at most {} ms.",
            millis(path.jitter.sd_us),
            millis(path.jitter.most_us)
        )
    });
    sentences
}
