//! `weir run`: runs a scenario under one controller or several, or the demo.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use indicatif::ProgressBar;
use weir_import::traces::TraceStore;
use weir_measure::metrics;
use weir_measure::results::Summary;
use weir_measure::results::ranking::Ranking;
use weir_report::capture;
use weir_report::page::{self, PageInput, ValueStrip};
use weir_report::parquet;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, Scenario};
use weir_study::comparison::decisions::FlowSignals;
use weir_study::comparison::saved::Saved;
use weir_study::comparison::{
    Captures, Comparison, ComparisonError, ComparisonOptions, ComparisonRequest, RecordedRuns,
};
use weir_study::comparison::{demo, panels, tables};
use weir_study::paired::RunTable;
use weir_study::runs::{CaptureFile, RunError, RunWorld};
use weir_study::testbed::{HostNoise, NoisySimulator};

use crate::args::{RunArgs, SeriesForm, TableForm};
use crate::failure::Failure;
use crate::output::{DECODE_AS, Files, OutputDirectory, TABLE, add_table, json_file, name_among};
use crate::sweep::sweep;
use crate::terminal;
use crate::{browser, calls, differences, effective, progress, table};

/// The name of the file with the report, in the output directory.
pub(crate) const REPORT: &str = "report.html";

/// Runs the arguments.
pub(crate) fn run(args: &RunArgs, registry: &Registry) -> Result<(), Failure> {
    let invocation = Invocation { args, registry, store: args.data.store() };
    let in_parts = args.parts.shard.is_some() || !args.parts.merge.is_empty();
    if in_parts && args.sweep.is_empty() {
        return Err(Failure::Option {
            option: "--shard, --merge".to_owned(),
            problem: "they divide a sweep among machines; give --sweep, or leave them out".to_owned(),
        });
    }
    effective::say_repeated("--controller", &args.changes.controller);
    match &args.scenario {
        Some(name) if !args.sweep.is_empty() => sweep(args, name, registry),
        Some(name) => invocation.single(name),
        None => invocation.demo(),
    }
}

/// Arguments shared by all kinds of runs.
struct Invocation<'a> {
    args: &'a RunArgs,
    registry: &'a Registry,
    store: TraceStore,
}

/// A scenario that was run.
pub(crate) struct Part<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) comparison: &'a mut Comparison,
    /// Suffix of the names of its files.
    pub(crate) suffix: &'a str,
}

impl Invocation<'_> {
    fn single(&self, name: &str) -> Result<(), Failure> {
        self.opens_a_file()?;
        let scenario = effective::scenario(&self.args.changes, self.registry, name, &[], &self.store)?;
        let mut directory = self.output(&scenario.name)?;
        calls::have_a_place(self.args.packets.record, directory.as_ref())?;
        let captures = self.captures(&scenario, directory.as_mut())?;
        let bar = self.bar();
        let mut comparison = self.compare(&scenario, &bar, directory.is_some(), &captures)?;
        bar.finish_and_clear();
        let values = tables::summary_table(&comparison);
        let verdict = comparison.verdict();
        let ranking = comparison.summary.ranking.clone();
        let whole = scenario.with_absolute_traces(&self.store);
        let part = Part { scenario: &whole, comparison: &mut comparison, suffix: "" };
        let beside = match captures.as_slice() {
            [] => Files::new(),
            _ => vec![(DECODE_AS.to_owned(), capture::decode_as_entries().into_bytes())],
        };
        let findings = Findings {
            values: &values,
            ranking: ranking.as_ref(),
            verdict: &verdict,
            notes: &[],
            strips: &[],
        };
        self.add_table(directory.as_mut(), &[&*part.comparison])?;
        write(directory.as_mut(), &mut [part], &findings, &self.args.series, beside)?;
        let notes = comparison.fallback_notes();
        let mut out = terminal::stdout();
        if self.args.json {
            print_json(&mut out, &[&comparison.summary], &notes)?;
            return self.open(directory.as_ref());
        }
        print_tables(&mut out, &scenario, &comparison)?;
        closing(&mut out, directory.as_ref(), &notes, &verdict)?;
        self.open(directory.as_ref())
    }

    fn demo(&self) -> Result<(), Failure> {
        self.opens_a_file()?;
        let all: Vec<Candidate> = self.registry.controller_names().map(Candidate::named).collect();
        let shown = |name: &str| -> Result<Scenario, Failure> {
            let mut scenario =
                effective::scenario(&self.args.changes, self.registry, name, &all, &self.store)?;
            scenario.controllers = demo::candidates(&scenario.controllers);
            Ok(scenario)
        };
        let (alone, beside) = (shown(demo::ALONE)?, shown(demo::BESIDE_CUBIC)?);
        let mut directory = self.output("demo")?;
        let bar = self.bar();
        let mut call = self.compare(&alone, &bar, directory.is_some(), &[])?;
        let mut contest = self.compare(&beside, &bar, false, &[])?;
        bar.finish_and_clear();
        let values = demo::table(&call, &contest);
        let summary = values.summary();
        let ranking = demo::ranking(&call, &contest);
        let verdict = demo::verdict(&call, ranking.as_ref());
        let explained = demo::notes(&call, &values);
        let mut parts = [
            Part { scenario: &alone, comparison: &mut call, suffix: "" },
            Part { scenario: &beside, comparison: &mut contest, suffix: "-beside-cubic" },
        ];
        let findings = Findings {
            values: &values,
            ranking: ranking.as_ref(),
            verdict: &verdict,
            notes: &explained,
            strips: &[],
        };
        self.add_table(directory.as_mut(), &parts.each_ref().map(|part| &*part.comparison))?;
        write(directory.as_mut(), &mut parts, &findings, &self.args.series, Files::new())?;
        let notes = call.fallback_notes();
        let mut out = terminal::stdout();
        if self.args.json {
            print_json(&mut out, &[&call.summary, &contest.summary], &notes)?;
            return self.open(directory.as_ref());
        }
        let width = table::terminal_width();
        writeln!(out, "{}", heading(&alone, &call))?;
        writeln!(out, "share beside CUBIC: the same of {}\n", beside.name)?;
        writeln!(out, "{}", table::summary("controller", &summary, width))?;
        table::write_notes(&mut out, &summary)?;
        differences::write(&mut out, None, &values.differences())?;
        for sentence in &explained {
            writeln!(out, "{}\n", table::sentence(sentence, width))?;
        }
        closing(&mut out, directory.as_ref(), &notes, &verdict)?;
        self.open(directory.as_ref())
    }

    /// Adds the table of all runs to the files, if it is wanted.
    fn add_table(
        &self,
        directory: Option<&mut OutputDirectory>,
        comparisons: &[&Comparison],
    ) -> Result<(), Failure> {
        let Some(directory) = directory else { return Ok(()) };
        let form = self.args.table.unwrap_or(TableForm::None);
        let runs = comparisons.iter().flat_map(|comparison| comparison.table_runs());
        Ok(add_table(directory, form.format(), &[], runs)?)
    }

    /// Whether a file will be written, if one is to be opened.
    fn opens_a_file(&self) -> Result<(), Failure> {
        browser::is_written(self.args.open, self.args.json, self.args.out.as_deref())
    }

    fn open(&self, directory: Option<&OutputDirectory>) -> Result<(), Failure> {
        browser::open(self.args.open, directory.map(|directory| directory.path(REPORT)).as_deref())
    }

    /// The directory of the files, or `None` without files.
    fn output(&self, name: &str) -> Result<Option<OutputDirectory>, Failure> {
        Ok(OutputDirectory::usual(self.args.out.as_deref(), self.args.json, name, self.registry)?)
    }

    fn bar(&self) -> ProgressBar {
        progress::bar(self.args.quiet)
    }

    /// Files of the captured packets: one for each controller.
    fn captures(
        &self,
        scenario: &Scenario,
        directory: Option<&mut OutputDirectory>,
    ) -> Result<Vec<CaptureFile>, Failure> {
        if self.args.packets.pcap.is_empty() {
            return Ok(Vec::new());
        }
        let Some(directory) = directory else {
            let problem = "with --json files are written only with --out; give a directory".to_owned();
            return Err(Failure::Option { option: self.pcap_option(), problem });
        };
        let names = match scenario.controllers.as_slice() {
            [] => vec![scenario.controllers_in_use()],
            several => several.to_vec(),
        };
        let all = || names.iter().map(String::as_str);
        names
            .iter()
            .map(|name| Ok(directory.stream(format!("packets-{}.pcapng", name_among(name, all())))?))
            .collect()
    }

    fn pcap_option(&self) -> String {
        format!("--pcap {}", self.args.packets.pcap.join(","))
    }

    fn compare(
        &self,
        scenario: &Scenario,
        bar: &ProgressBar,
        series: bool,
        captures: &[CaptureFile],
    ) -> Result<Comparison, Failure> {
        let seeds = scenario.seeds();
        let jobs = effective::threads(self.args.jobs);
        let request = ComparisonRequest { scenario, seeds: &seeds, jobs, series };
        progress::expect(bar, &scenario.name, request.runs());
        let links = self.args.packets.pcap.as_slice();
        let captures = (!captures.is_empty()).then_some(Captures { links, files: captures });
        let noise = self.args.host_noise.as_deref().map(host_noise).transpose()?;
        let world = noise.as_ref().map(|noise| NoisySimulator { noise, draw: 1 });
        let world = world.as_ref().map(|world| world as &dyn RunWorld);
        let record = if self.args.packets.record { RecordedRuns::First } else { RecordedRuns::None };
        let options = ComparisonOptions { captures, world, record };
        request.run_with(&self.store, &|| bar.inc(1), options).map_err(|error| match error {
            ComparisonError::Run(error @ RunError::NoLink { .. }) => {
                Failure::Option { option: self.pcap_option(), problem: error.to_string() }
            }
            ComparisonError::Run(RunError::Capture { path, source }) => Failure::Write { path, source },
            other => other.into(),
        })
    }
}

/// The lateness of hosts in the file `log`.
fn host_noise(log: &Path) -> Result<HostNoise, Failure> {
    let refuse =
        |problem: String| Failure::Option { option: format!("--host-noise {}", log.display()), problem };
    let text = fs::read(log).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let noise: HostNoise = serde_json::from_slice(&text)
        .map_err(|error| refuse(format!("{error}; give a file host-noise-*.json of `weir testbed --out`")))?;
    if !noise.is_valid() {
        return Err(refuse("a lateness is not within 0 to 10 s, or has no number".to_owned()));
    }
    Ok(noise)
}

/// The scenario, and the tables of the results.
pub(crate) fn print_tables(
    out: &mut impl Write,
    scenario: &Scenario,
    comparison: &Comparison,
) -> Result<(), Failure> {
    writeln!(out, "{}\n", heading(scenario, comparison))?;
    let width = table::terminal_width();
    if comparison.has_media() {
        let summary = tables::summary_table(comparison).summary();
        writeln!(out, "{}", table::summary("controller", &summary, width))?;
        table::write_notes(out, &summary)?;
    }
    differences::write(out, None, &tables::differences(comparison))?;
    for controller in &comparison.controllers {
        let flows = tables::flow_table(&controller.runs);
        let title = match (comparison.has_media(), flows.rows.len()) {
            (false, _) => "flow".to_owned(),
            (true, 2..) => format!("flows, {}", controller.name),
            (true, _) => continue,
        };
        writeln!(out, "{}", table::summary(&title, &flows, width))?;
        table::write_notes(out, &flows)?;
    }
    Ok(())
}

/// Content of the report.
pub(crate) struct Findings<'a> {
    pub(crate) values: &'a RunTable,
    pub(crate) ranking: Option<&'a Ranking>,
    pub(crate) verdict: &'a str,
    /// Further remarks for the reader.
    pub(crate) notes: &'a [String],
    /// Real values beside simulated ones.
    pub(crate) strips: &'a [ValueStrip],
}

/// Report, results, series and the scenarios as they were run, and the files `beside` them. The report is about the first.
pub(crate) fn write(
    directory: Option<&mut OutputDirectory>,
    parts: &mut [Part<'_>],
    findings: &Findings<'_>,
    forms: &[SeriesForm],
    beside: Files,
) -> Result<(), Failure> {
    let Some(directory) = directory else { return Ok(()) };
    let mut files = beside;
    for part in parts.iter() {
        let suffix = part.suffix;
        let scenario = part.scenario.to_toml().map_err(std::io::Error::other)?;
        files.push((format!("scenario{suffix}.toml"), scenario.into_bytes()));
        files.push((format!("results{suffix}.json"), json_file(&part.comparison.summary)?));
        add_series(directory, &mut files, (part.comparison, &part.scenario.registry), forms)?;
        calls::add(directory, part.comparison)?;
    }
    let Some(first) = parts.first_mut() else { return Ok(()) };
    let mut input: PageInput = panels::report_input(
        first.scenario,
        first.comparison,
        findings.values,
        (findings.ranking, findings.verdict.to_owned()),
    )
    .map_err(std::io::Error::other)?;
    input.notes.extend_from_slice(findings.notes);
    input.strips = findings.strips.to_vec();
    let saved = Saved::of(&first.comparison.summary, findings.values.clone(), findings.ranking, &input);
    let mut table = serde_json::to_vec(&saved).map_err(std::io::Error::from)?;
    table.push(b'\n');
    files.push((TABLE.to_owned(), table));
    files.push((REPORT.to_owned(), page::render(&input).into_bytes()));
    Ok(directory.write(&files)?)
}

/// Time series, decisions and distributions of the first seed, as tables; series and decisions go to the disk at once.
fn add_series(
    directory: &mut OutputDirectory,
    files: &mut Files,
    (comparison, registry): (&Comparison, &Registry),
    forms: &[SeriesForm],
) -> Result<(), Failure> {
    for controller in &comparison.controllers {
        let Some(series) = &controller.sample.series else { continue };
        let name = name_among(&controller.name, comparison.controllers.iter().map(|own| own.name.as_str()));
        let signals = FlowSignals::of(&controller.sample.plan, registry);
        for (form, end) in [(SeriesForm::Csv, "csv"), (SeriesForm::Parquet, "parquet")] {
            if !forms.contains(&form) {
                continue;
            }
            directory.stream_with(format!("series-{name}.{end}"), |out| match form {
                SeriesForm::Csv => series.write_csv(out),
                SeriesForm::Parquet => {
                    parquet::write_series(series, &|flow, side, name| signals.unit(flow, side, name), out)
                }
            })?;
            directory.stream_with(format!("decisions-{name}.{end}"), |out| match form {
                SeriesForm::Csv => series.decisions().write_csv(out),
                SeriesForm::Parquet => parquet::write_decisions(series.decisions(), out),
            })?;
        }
        let mut delays = Vec::new();
        metrics::write_cdf_csv(&mut delays, controller.sample.queuing_delays(), panels::CDF_POINTS)?;
        files.push((format!("queuing-delay-{name}.csv"), delays));
    }
    Ok(())
}

fn heading(scenario: &Scenario, comparison: &Comparison) -> String {
    let title = comparison.titled(&scenario.title);
    format!("{}\n{}", terminal::bold(&title), terminal::printable(&comparison.extent(scenario)))
}

/// Stand-in traces, where the page is, and the sentence to repeat as the last line.
pub(crate) fn closing(
    out: &mut impl Write,
    directory: Option<&OutputDirectory>,
    notes: &[String],
    verdict: &str,
) -> Result<(), Failure> {
    let width = table::terminal_width();
    for note in notes {
        writeln!(out, "{}", table::sentence(note, width))?;
    }
    if let Some(directory) = directory {
        writeln!(out, "Report: {}", browser::link(&directory.path(REPORT)))?;
    }
    writeln!(out, "{}", table::sentence(verdict, width))?;
    Ok(())
}

/// The results alone on standard output, an object for one comparison and an array for several; further remarks on
/// standard error.
fn print_json(out: &mut impl Write, summaries: &[&Summary], notes: &[String]) -> Result<(), Failure> {
    // For a thousand flows it is megabytes, so they are not held in memory.
    let mut text = BufWriter::new(&mut *out);
    let written = match summaries {
        [one] => serde_json::to_writer_pretty(&mut text, one),
        several => serde_json::to_writer_pretty(&mut text, several),
    };
    written.map_err(std::io::Error::from)?;
    writeln!(text)?;
    text.flush()?;
    drop(text);
    for note in notes {
        writeln!(terminal::stderr(), "{note}")?;
    }
    Ok(())
}
