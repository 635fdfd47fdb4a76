//! `weir run`: runs a scenario under one controller or several, or the demo.

use std::io::Write;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use indicatif::ProgressBar;
use weir_lab::comparison::{Comparison, Request};
use weir_lab::report::{self, ReportInput, SummaryTable};
use weir_lab::scenario::Scenario;
use weir_lab::traces::TraceStore;
use weir_lab::{demo, metrics, panels, registry, tables};

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::OutputDirectory;
use crate::{progress, table};

/// Where results go unless the caller says otherwise.
const DEFAULT_OUT: &str = "weir-out";
/// Points of a distribution in a file.
const CDF_POINTS: usize = 1000;

/// Runs what the arguments ask for.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    match &args.scenario {
        Some(name) => Session::new(args, name)?.single(name),
        None => Session::new(args, "demo")?.demo(),
    }
}

/// What all kinds of runs share.
struct Session<'a> {
    args: &'a RunArgs,
    store: TraceStore,
    jobs: usize,
    out: Option<OutputDirectory>,
}

impl<'a> Session<'a> {
    fn new(args: &'a RunArgs, name: &str) -> Result<Self, Failure> {
        let jobs = args
            .jobs
            .map_or_else(|| available_parallelism().map_or(1, NonZeroUsize::get), |jobs| jobs.get() as usize);
        let session = Self { args, store: TraceStore::find(args.data.as_deref()), jobs, out: None };
        // Bad input comes before a directory that cannot be written, and both before the first run.
        session.scenario(if args.scenario.is_some() { name } else { demo::ALONE }, &[])?;
        let path = match (&args.out, args.json) {
            (Some(path), _) => Some(path.clone()),
            (None, true) => None,
            (None, false) => Some(Path::new(DEFAULT_OUT).join(directory_name(name))),
        };
        let out = path.map(|path| OutputDirectory::prepare(&path)).transpose()?;
        Ok(Self { out, ..session })
    }

    /// The scenario as it will be run: every argument that changes it is a value laid over it.
    fn scenario(&self, name: &str, controllers: &[String]) -> Result<Scenario, Failure> {
        let mut overrides = self.args.set.clone();
        let mut lay = |path: &str, value: String| overrides.push(format!("{path}={value}"));
        if let Some(duration) = &self.args.duration {
            lay("duration", duration.clone());
        }
        if let Some(runs) = self.args.runs.map(NonZeroU32::get) {
            lay("runs", runs.to_string());
        }
        if let Some(seed) = self.args.seed {
            lay("seed", seed.to_string());
        }
        let controllers = if self.args.controller.is_empty() { controllers } else { &self.args.controller };
        if !controllers.is_empty() {
            lay("controllers", format!("{controllers:?}"));
        }
        let scenario = Scenario::open(name, &overrides)?;
        // What only building finds wrong is found before anything is written.
        for controller in scenario.controllers.iter().map(Some).chain(std::iter::once(None)) {
            let options = weir_lab::scenario::RunOptions {
                seed: scenario.seed,
                controller: controller.map(String::as_str),
                series: false,
            };
            scenario.build(&options, &self.store)?;
        }
        Ok(scenario)
    }

    fn compare(&self, scenario: &Scenario, bar: &ProgressBar, series: bool) -> Result<Comparison, Failure> {
        let seeds = scenario.seeds();
        let request = Request { scenario, seeds: &seeds, jobs: self.jobs, series };
        bar.set_message(scenario.name.to_owned());
        bar.inc_length(request.runs() as u64);
        Ok(request.run(&self.store, &|| bar.inc(1))?)
    }

    fn bar(&self) -> ProgressBar {
        progress::bar(self.args.quiet || self.args.json)
    }

    fn single(&self, name: &str) -> Result<(), Failure> {
        let scenario = self.scenario(name, &[])?;
        let bar = self.bar();
        let comparison = self.compare(&scenario, &bar, self.out.is_some())?;
        bar.finish_and_clear();
        let summary = tables::summary_table(&comparison);
        let verdict = demo::verdict(&comparison);
        let input = self.report(&scenario, &comparison, &summary, &verdict)?;
        self.write(&[(&scenario, &comparison)], input.as_ref())?;
        let mut out = anstream::stdout().lock();
        if self.args.json {
            return print_json(&mut out, &[&comparison]);
        }
        writeln!(out, "{}", heading(&scenario))?;
        if comparison.has_media() {
            writeln!(out, "{}", table::summary("controller", &summary))?;
        }
        for controller in &comparison.controllers {
            let flows = tables::flow_table(&controller.runs);
            if flows.rows.len() > 1 || !comparison.has_media() {
                writeln!(out, "\n{}\n{}", controller.name, table::summary("flow", &flows))?;
            }
        }
        self.closing(&mut out, &[&comparison], &verdict)
    }

    fn demo(&self) -> Result<(), Failure> {
        let all: Vec<String> = registry::controller_names().map(str::to_owned).collect();
        let alone = self.scenario(demo::ALONE, &all)?;
        let beside = self.scenario(demo::BESIDE_CUBIC, &all)?;
        let bar = self.bar();
        let call = self.compare(&alone, &bar, self.out.is_some())?;
        let contest = self.compare(&beside, &bar, false)?;
        bar.finish_and_clear();
        let summary: SummaryTable = demo::table(&call, &contest);
        let verdict = demo::verdict(&call);
        let input = self.report(&alone, &call, &summary, &verdict)?;
        self.write(&[(&alone, &call), (&beside, &contest)], input.as_ref())?;
        let mut out = anstream::stdout().lock();
        if self.args.json {
            return print_json(&mut out, &[&call, &contest]);
        }
        writeln!(out, "{}", heading(&alone))?;
        writeln!(out, "{}", table::summary("controller", &summary))?;
        self.closing(&mut out, &[&call, &contest], &verdict)
    }

    fn report(
        &self,
        scenario: &Scenario,
        comparison: &Comparison,
        summary: &SummaryTable,
        verdict: &str,
    ) -> Result<Option<ReportInput>, Failure> {
        let input = self
            .out
            .is_some()
            .then(|| panels::report_input(scenario, comparison, summary.clone(), verdict.to_owned()));
        Ok(input.transpose().map_err(std::io::Error::other)?)
    }

    /// Report, results, series and the scenarios as they were run.
    fn write(
        &self,
        comparisons: &[(&Scenario, &Comparison)],
        input: Option<&ReportInput>,
    ) -> Result<(), Failure> {
        let (Some(out), Some(input)) = (&self.out, input) else { return Ok(()) };
        for (index, (scenario, comparison)) in comparisons.iter().enumerate() {
            let suffix = if index == 0 { String::new() } else { format!("-{}", index + 1) };
            out.write(
                &format!("scenario{suffix}.toml"),
                scenario.to_toml().map_err(std::io::Error::other)?.as_bytes(),
            )?;
            out.write(&format!("results{suffix}.json"), &json(comparison)?)?;
            for controller in &comparison.controllers {
                let Some(series) = &controller.sample.series else { continue };
                let mut csv = Vec::new();
                series.write_csv(&mut csv)?;
                out.write(&format!("series-{}.csv", controller.name), &csv)?;
                let mut cdf = Vec::new();
                metrics::write_cdf_csv(&mut cdf, controller.sample.queuing_delays(), CDF_POINTS)?;
                out.write(&format!("queuing-delay-{}.csv", controller.name), &cdf)?;
            }
        }
        out.write("report.html", report::render(input).as_bytes())
    }

    /// Stand-in traces, where the files are, and the sentence to repeat as the last line.
    fn closing(
        &self,
        out: &mut impl Write,
        comparisons: &[&Comparison],
        verdict: &str,
    ) -> Result<(), Failure> {
        for note in comparisons.iter().flat_map(|comparison| comparison.stand_ins()).take(1) {
            writeln!(out, "{note}")?;
        }
        if let Some(directory) = &self.out {
            writeln!(out, "report: {}", directory.path("report.html").display())?;
        }
        writeln!(out, "{verdict}")?;
        Ok(())
    }
}

fn heading(scenario: &Scenario) -> String {
    format!(
        "{}: {} · {} runs of {} · mean ± 95 % interval",
        scenario.name, scenario.title, scenario.runs, scenario.duration
    )
}

fn json(comparison: &Comparison) -> Result<Vec<u8>, Failure> {
    let mut text = serde_json::to_vec_pretty(&comparison.summary).map_err(std::io::Error::from)?;
    text.push(b'\n');
    Ok(text)
}

/// One comparison is an object, several are an array.
fn print_json(out: &mut impl Write, comparisons: &[&Comparison]) -> Result<(), Failure> {
    let summaries: Vec<_> = comparisons.iter().map(|comparison| &comparison.summary).collect();
    let text = match summaries.as_slice() {
        [one] => serde_json::to_string_pretty(one),
        several => serde_json::to_string_pretty(several),
    };
    writeln!(out, "{}", text.map_err(std::io::Error::from)?)?;
    Ok(())
}

/// A scenario's name as a directory below the default one.
fn directory_name(name: &str) -> PathBuf {
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    PathBuf::from(stem.trim_start_matches(['.', '/']).chars().map(harmless).collect::<String>())
}
