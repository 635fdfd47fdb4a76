//! Output of an emulation: a line each second, and the report at the end.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use weir_live::emulate::{DirectionNow, DirectionReport, EmulateReport, Emulation};
use weir_live::interrupts::Terminal;
use weir_units::TimeDelta;

use crate::args::EmulateArgs;
use crate::failure::Failure;
use crate::{table, terminal};

/// Figures of a direction, as JSON.
#[derive(Debug, Serialize)]
struct DirectionFigures {
    packets: u64,
    delivered: u64,
    dropped: u64,
    lost: u64,
    marked: u64,
    bits_per_second: u64,
    loss: f64,
    queue_p50_ms: f64,
    queue_p95_ms: f64,
    queue_max_ms: f64,
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Printed {
    seconds: f64,
    exit_code: u8,
    forward: DirectionFigures,
    back: DirectionFigures,
    emulator_late_ms: [f64; 3],
    emulator_cpu: f64,
    lost_outside: u64,
    unknown: u64,
    not_captured: u64,
    inconclusive: Vec<String>,
    not_realtime: Option<String>,
}

impl DirectionFigures {
    fn of(report: &DirectionReport) -> Self {
        let wait = |share| report.waits.percentile(share).millis_f64();
        Self {
            packets: report.packets,
            delivered: report.delivered,
            dropped: report.dropped,
            lost: report.lost,
            marked: report.marked,
            bits_per_second: report.rate.bps(),
            loss: report.loss(),
            queue_p50_ms: wait(0.5),
            queue_p95_ms: wait(0.95),
            queue_max_ms: report.waits.max().millis_f64(),
        }
    }

    fn row(&self, name: &str) -> Vec<String> {
        vec![
            name.to_owned(),
            self.packets.to_string(),
            rate(self.bits_per_second as f64),
            format!("{:.2} %", 100.0 * self.loss),
            format!("{:.1} ms", self.queue_p50_ms),
            format!("{:.1} ms", self.queue_p95_ms),
        ]
    }
}

fn rate(bits_per_second: f64) -> String {
    if bits_per_second < 1e6 {
        format!("{:.1} kbit/s", bits_per_second / 1e3)
    } else {
        format!("{:.3} Mbit/s", bits_per_second / 1e6)
    }
}

/// Prints the report: as JSON on standard output, else on standard error, as standard output is the program's.
pub(super) fn print(args: &EmulateArgs, report: &EmulateReport, exit_code: u8) -> Result<(), Failure> {
    let [forward, back] = report.directions.each_ref().map(DirectionFigures::of);
    let [p50, p99, max] = report.lateness.summary_ms();
    let cpu = report.cpu.secs_f64() / report.duration.secs_f64().max(1e-9);
    if args.json {
        let printed = Printed {
            seconds: report.duration.secs_f64(),
            exit_code,
            forward,
            back,
            emulator_late_ms: [p50, p99, max],
            emulator_cpu: cpu,
            lost_outside: report.lost_outside,
            unknown: report.unknown,
            not_captured: report.not_captured,
            inconclusive: report.reasons.iter().map(ToString::to_string).collect(),
            not_realtime: report.not_realtime.clone(),
        };
        let mut out = terminal::stdout();
        serde_json::to_writer(&mut out, &printed).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    if args.quiet {
        return Ok(());
    }
    let mut out = terminal::stderr();
    let head = ["direction", "packets", "rate", "loss", "queue p50", "p95"];
    writeln!(out, "{}", table::plain(&head, vec![forward.row("forward"), back.row("back")]))?;
    writeln!(
        out,
        "{:.1} s; emulator late {p50:.2} / {p99:.2} / {max:.1} ms (median / 99 % / most), {:.1} % of a core",
        report.duration.secs_f64(),
        100.0 * cpu
    )?;
    for reason in &report.reasons {
        writeln!(out, "inconclusive: {reason}")?;
    }
    if let Some(refused) = &report.not_realtime {
        writeln!(out, "without real-time scheduling: {refused}")?;
    }
    if report.not_captured > 0 {
        writeln!(out, "{} packets are missing in the capture", report.not_captured)?;
    }
    Ok(())
}

/// A line on a terminal, renewed each second.
pub(super) struct LiveLine {
    bar: Option<ProgressBar>,
    before: [DirectionNow; 2],
    at: TimeDelta,
}

impl LiveLine {
    pub(super) fn new(args: &EmulateArgs) -> Self {
        let wanted = !args.quiet && io::stderr().is_terminal();
        let bar = wanted.then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, before: [DirectionNow::default(); 2], at: TimeDelta::ZERO }
    }

    /// Shows the present state, unless a shell has the terminal.
    pub(super) fn show(&mut self, emulation: &Emulation, own: Option<&Terminal>) {
        let Some(bar) = &self.bar else { return };
        let (at, now) = (emulation.elapsed(), emulation.now());
        let seconds = (at - self.at).secs_f64().max(1e-3);
        let shown = |direction: usize| {
            let (now, before) = (now[direction], self.before[direction]);
            let packets = (now.packets - before.packets).max(1);
            format!(
                "{}, queue {:.0} ms, loss {:.1} %",
                rate((now.bytes - before.bytes) as f64 * 8.0 / seconds),
                now.wait.millis_f64(),
                100.0 * (now.lost - before.lost) as f64 / packets as f64
            )
        };
        if own.is_none_or(Terminal::is_ours) {
            bar.set_message(format!("{:.0} s  forward {}  back {}", at.secs_f64(), shown(0), shown(1)));
        }
        (self.before, self.at) = (now, at);
    }

    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
