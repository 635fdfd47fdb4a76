//! `weir import`: recorded calls from files of one's own.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use weir_import::calls::{self, CallUse, CallUses};
use weir_world::RecordedCall;
use weir_world::recorded::{PacketRow, RecordingSource, StreamKind};

use crate::args::ImportArgs;
use crate::call_file::read_call;
use crate::failure::Failure;
use crate::output::OutputFile;
use crate::terminal;
use crate::trace_import::is_same;

/// Reads the recording, writes the call and prints its content and its uses.
pub(crate) fn import(args: &ImportArgs) -> Result<(), Failure> {
    let Some(file) = args.source.files.first() else { return Ok(()) };
    let path = destination(args, file)?;
    let call = read_call(&args.source)?;
    let out = OutputFile::prepare(&path)?;
    out.write_with(|destination| calls::write(&call, BufWriter::new(destination)))?;
    let facts = CallFacts::of(&call);
    if args.json { print_json(file, &path, &call, &facts) } else { print(file, &path, &call, &facts) }
}

/// The file to write, which is none of those that are read.
fn destination(args: &ImportArgs, file: &Path) -> Result<PathBuf, Failure> {
    let usual = || PathBuf::from(file.file_stem().unwrap_or_default()).with_extension("call.json");
    let path = args.out.clone().unwrap_or_else(usual);
    if !args.source.files.iter().any(|file| is_same(&path, file)) {
        return Ok(path);
    }
    let (option, problem) = if args.out.is_some() {
        (format!("--out {}", path.display()), "this is the file that is read; name another one".to_owned())
    } else {
        let problem =
            format!("the usual name {} is that of a file that is read; name another one", path.display());
        ("--out".to_owned(), problem)
    };
    Err(Failure::Option { option, problem })
}

/// Numbers of a call that are printed.
struct CallFacts {
    /// Packets with a departure, if the recording has departures of its own.
    sent: Option<usize>,
    arrived: usize,
    /// Packets that a report called lost; in a recording of the receiver, gaps of the sequence numbers.
    lost: usize,
    /// Feedback reports that did not come.
    missed_reports: u64,
    uses: CallUses,
}

impl CallFacts {
    fn of(call: &RecordedCall) -> Self {
        let packets = &call.packets;
        let known = |column: &[weir_world::recorded::OptionalInteger]| {
            column.iter().filter(|value| value.is_known()).count()
        };
        // The receiver's recording may have departures by absolute send time; no report is in it.
        let of_receiver = match call.source {
            RecordingSource::EventLogOfReceiver => true,
            RecordingSource::ReadableRtp => !call.has_feedback() && known(&packets.arrived_us) > 0,
            _ => !call.has_departures(),
        };
        let sent = known(&packets.sent_us);
        Self {
            sent: (!of_receiver && sent > 0).then_some(sent),
            arrived: known(&packets.arrived_us),
            lost: if of_receiver {
                call.missing_numbers()
            } else {
                packets.rows().filter(PacketRow::is_lost).count()
            },
            missed_reports: call.feedback.missed.iter().map(|&missed| u64::from(missed)).sum(),
            uses: CallUses::of(call),
        }
    }
}

/// The kind of a recording.
fn source(source: RecordingSource) -> &'static str {
    match source {
        RecordingSource::Weir => "a run of Weir",
        RecordingSource::EventLogOfSender => "RTC event log of the sender",
        RecordingSource::EventLogOfReceiver => "RTC event log of the receiver",
        RecordingSource::ReadableRtp => "RTP with readable RTCP",
        RecordingSource::EncryptedCapture => "capture of SRTP at one end",
        RecordingSource::TwoCaptures => "captures at both ends",
        RecordingSource::Counters => "counters about once a second",
        RecordingSource::Table => "table of values",
        _ => "another recording",
    }
}

fn kind(kind: StreamKind) -> &'static str {
    match kind {
        StreamKind::Video => "video",
        StreamKind::Audio => "audio",
        StreamKind::Retransmission => "retransmissions",
        StreamKind::Unknown => "unknown",
    }
}

fn duration_s(call: &RecordedCall) -> f64 {
    call.duration_us as f64 / 1e6
}

fn print(file: &Path, path: &Path, call: &RecordedCall, facts: &CallFacts) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    writeln!(out, "{}", terminal::bold(&file.display().to_string()))?;
    let mut lines =
        vec![("source", source(call.source).to_owned()), ("length", format!("{:.1} s", duration_s(call)))];
    lines.extend(if call.packets.is_empty() { series_lines(call) } else { packet_lines(call, facts) });
    lines.extend([
        ("replay", use_line(facts.uses.replay)),
        ("infer", use_line(facts.uses.infer)),
        ("explain", use_line(facts.uses.explain)),
    ]);
    for (name, value) in lines {
        writeln!(out, "{name:<10} {value}")?;
    }
    for remark in &call.remarks {
        writeln!(out, "{:<10} {remark}", "note")?;
    }
    writeln!(out, "\nThe call is written to {}.", path.display())?;
    Ok(())
}

/// Lines about the packets of a call and the reports and estimates beside them.
fn packet_lines(call: &RecordedCall, facts: &CallFacts) -> Vec<(&'static str, String)> {
    let kinds: Vec<&str> = call.streams.iter().map(|stream| kind(stream.kind)).collect();
    let arrived = format!("{} arrived, {} lost", facts.arrived, facts.lost);
    let packets = match facts.sent {
        Some(sent) => format!(
            "{sent} sent, {arrived}, {} without a report",
            sent.saturating_sub(facts.arrived + facts.lost)
        ),
        None => format!("{arrived} by gaps of their numbers"),
    };
    let reports = format!(
        "{} of feedback ({} missed), {} of receivers",
        call.feedback.len(),
        facts.missed_reports,
        call.receiver_reports.len()
    );
    let estimates = format!(
        "{} by delay, {} by loss, {} probe clusters",
        call.delay_estimates.len(),
        call.loss_estimates.len(),
        call.probe_clusters.len()
    );
    vec![
        ("streams", format!("{}: {}", kinds.len(), kinds.join(", "))),
        ("packets", packets),
        ("reports", reports),
        ("estimates", estimates),
    ]
}

/// The line about statistics of a call without packets.
fn series_lines(call: &RecordedCall) -> Vec<(&'static str, String)> {
    let counters = call.counters.iter().map(|series| &series.time_us);
    let times: Vec<&Vec<i64>> = counters.chain(call.labels.iter().map(|series| &series.time_us)).collect();
    let span_us = |times: &&Vec<i64>| {
        times.last().zip(times.first()).map_or(0, |(last, first)| last.saturating_sub(*first))
    };
    let longest = times.iter().map(span_us).max().unwrap_or(0);
    let values = times.iter().map(|times| times.len()).max().unwrap_or(0);
    let text =
        format!("{}, the longest with {values} values over {:.1} s", times.len(), longest as f64 / 1e6);
    vec![("series", text)]
}

fn use_line(of: CallUse) -> String {
    format!("{}: {}", if of.possible { "yes" } else { "no" }, of.extent)
}

fn print_json(file: &Path, path: &Path, call: &RecordedCall, facts: &CallFacts) -> Result<(), Failure> {
    let extent = |of: CallUse| json!({ "possible": of.possible, "extent": of.extent });
    let streams: Vec<Value> = call
        .streams
        .iter()
        .map(|stream| json!({ "kind": stream.kind, "clock_hz": stream.clock_hz }))
        .collect();
    let object = json!({
        "file": file.display().to_string(),
        "source": call.source,
        "duration_seconds": duration_s(call),
        "packet_overhead_bytes": call.packet_overhead_bytes,
        "streams": streams,
        "packets": {
            "sent": facts.sent,
            "arrived": facts.arrived,
            "lost": facts.lost,
        },
        "reports": {
            "feedback": call.feedback.len(),
            "missed_feedback": facts.missed_reports,
            "receiver": call.receiver_reports.len(),
        },
        "estimates": {
            "by_delay": call.delay_estimates.len(),
            "by_loss": call.loss_estimates.len(),
            "probe_clusters": call.probe_clusters.len(),
        },
        "uses": {
            "replay": extent(facts.uses.replay),
            "infer": extent(facts.uses.infer),
            "explain": extent(facts.uses.explain),
        },
        "remarks": call.remarks,
        "written": path.display().to_string(),
    });
    writeln!(terminal::stdout(), "{}", serde_json::to_string_pretty(&object).map_err(std::io::Error::from)?)?;
    Ok(())
}
