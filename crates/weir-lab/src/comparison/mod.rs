//! A scenario run under several controllers and seeds, and what the runs amount to.

pub mod cost;
pub mod demo;
pub mod panels;
pub mod portrait;
pub mod tables;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use rayon::prelude::*;
use weir_sim::{SimSpec, Simulation, SpecError};

use crate::build::{RunOptions, TraceUse};
use crate::capture::{Captured, PacketCapture};
use crate::form::ScenarioError;
use crate::metrics::{FlowDelays, FlowKind, Histogram, MeasurePlan, Measured, Recorder, Series};
use crate::results::stats::{Estimate, paired_difference};
use crate::results::{RunMetrics, Summary, UnevenRuns};
use crate::scenario::Scenario;
use crate::traces::{DATA_VARIABLE, TraceStore};
use tables::media_sum;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The scenario, which says what its results are called and which controllers to compare.
    pub scenario: &'a Scenario,
    /// One run of each controller per seed, at least one.
    pub seeds: &'a [u64],
    /// Threads; the results do not depend on them.
    pub jobs: usize,
    /// Whether to keep time series of the first seed.
    pub series: bool,
}

/// Which packets to capture, and where to.
#[derive(Clone, Copy, Debug)]
pub struct CaptureRequest<'a> {
    /// The names of the links, in the order of the interfaces in the files.
    pub links: &'a [String],
    /// A file for each controller, in their order: the run of its first seed.
    pub files: &'a [CaptureFile],
}

/// A file that packets are captured into.
#[derive(Debug)]
pub struct CaptureFile {
    /// What is written to.
    pub file: File,
    /// What it is called if it cannot be written.
    pub path: PathBuf,
}

/// The runs of all controllers.
#[derive(Debug)]
pub struct Comparison {
    /// Statistics over the runs.
    pub summary: Summary,
    /// One entry per controller.
    pub controllers: Vec<ControllerRuns>,
    /// The traces in use.
    pub traces: Vec<TraceUse>,
}

/// The runs of one controller.
#[derive(Debug)]
pub struct ControllerRuns {
    /// The controller.
    pub name: String,
    /// Metrics of each run, in the order of the seeds.
    pub runs: Vec<RunMetrics>,
    /// The run of the first seed in detail.
    pub sample: Sample,
}

/// One run in detail.
#[derive(Debug)]
pub struct Sample {
    /// What was measured.
    pub plan: MeasurePlan,
    /// Distributions of delays per flow.
    pub delays: Vec<FlowDelays>,
    /// Time series, if they were asked for.
    pub series: Option<Series>,
}

/// A sentence for each of `traces` that another stood in for.
pub(crate) fn stand_ins<'a>(traces: impl IntoIterator<Item = &'a TraceUse>) -> Vec<String> {
    let mut notes = Vec::new();
    for TraceUse { wanted, used, .. } in traces.into_iter().filter(|t| t.used != t.wanted) {
        let note = format!(
            "The trace `{wanted}` was not found; `{used}` stood in for it. Give the directory of its \
             `traces/` with --data or {DATA_VARIABLE}."
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

impl Comparison {
    /// Whether there is media to judge.
    pub fn has_media(&self) -> bool {
        self.controllers.iter().flat_map(|c| &c.sample.plan.flows).any(|flow| flow.kind == FlowKind::Media)
    }

    /// A sentence for each trace that another stood in for.
    pub fn stand_ins(&self) -> Vec<String> {
        stand_ins(&self.traces)
    }

    /// What the runs amount to, in a sentence: which of several controllers delivered most video in time, by how
    /// much, and how sure that is; of a single one rate, queuing delay and loss; without media how the bottleneck was
    /// used.
    pub fn verdict(&self) -> String {
        let over = self.over();
        self.verdict_as(&Wording { best: "delivered most video in time", alike: "deliver alike", over })
    }

    /// [`Self::verdict`] in the words of an occasion.
    pub(crate) fn verdict_as(&self, wording: &Wording<'_>) -> String {
        let ranking = self.by_useful_rate();
        match ranking.as_slice() {
            [] => "Nothing was compared.".to_owned(),
            _ if !self.has_media() => self.bottleneck_in_words(),
            [_] => self.media_in_words(),
            [best, second, ..] => wording.contest(best, second),
        }
    }

    /// The controllers by the rate of video that came in time, best first, each with its rate in each run in kbit/s.
    fn by_useful_rate(&self) -> Vec<(&str, Vec<f64>)> {
        let useful =
            |run: &RunMetrics| media_sum(run, |flow| flow.useful_rate_bps).map_or(0.0, |bps| bps / 1e3);
        let rates = |c: &ControllerRuns| c.runs.iter().map(useful).collect();
        let mut ranking: Vec<(&str, Vec<f64>)> =
            self.controllers.iter().map(|c| (c.name.as_str(), rates(c))).collect();
        ranking.sort_by(|(_, a), (_, b)| mean(b).total_cmp(&mean(a)));
        ranking
    }

    fn media_in_words(&self) -> String {
        let media = |value: fn(&RunMetrics) -> Option<f64>| self.first_estimate(value);
        let rate = media(|run| run.media.rate_bps.map(|bps| bps / 1e3));
        let delay = media(|run| run.media.owd_excess_ms.p95);
        let loss = media(|run| run.media.loss_ratio.map(|ratio| 100.0 * ratio));
        let name = self.controllers.first().map_or("", |c| c.name.as_str());
        let (Some(rate), Some(delay), Some(loss)) = (rate, delay, loss) else {
            return format!("{name} delivered nothing {}.", self.over());
        };
        format!(
            "{name} carried {} kbit/s at a queuing delay of {} ms (95th percentile) and a loss of {} % {}.",
            in_words(&rate, 0),
            in_words(&delay, 0),
            in_words(&loss, 2),
            self.over_with_interval()
        )
    }

    fn bottleneck_in_words(&self) -> String {
        let bottleneck = |run: &RunMetrics| run.links.iter().find(|link| link.bottleneck).cloned();
        let name = self.controllers.iter().flat_map(|c| &c.runs).find_map(bottleneck).map(|link| link.name);
        let used =
            self.first_estimate(|run| bottleneck(run)?.utilisation.time_mean.map(|share| 100.0 * share));
        let loss = self.first_estimate(|run| bottleneck(run)?.loss_ratio.map(|ratio| 100.0 * ratio));
        let (Some(name), Some(used), Some(loss)) = (name, used, loss) else {
            return "No packet came to a bottleneck.".to_owned();
        };
        format!(
            "The link `{name}` was used to {} % and lost {} % of its packets {}.",
            in_words(&used, 1),
            in_words(&loss, 2),
            self.over_with_interval()
        )
    }

    /// A metric over the runs of the first controller.
    fn first_estimate(&self, value: impl Fn(&RunMetrics) -> Option<f64>) -> Option<Estimate> {
        let values: Vec<f64> = self.controllers.first()?.runs.iter().filter_map(value).collect();
        Estimate::of(&values)
    }

    fn over(&self) -> String {
        match self.summary.runs {
            1 => "in one run".to_owned(),
            runs => format!("over {runs} runs"),
        }
    }

    fn over_with_interval(&self) -> String {
        match self.summary.runs {
            1 => self.over(),
            _ => format!("{} (mean ± 95 % interval)", self.over()),
        }
    }
}

/// How a contest of controllers is told.
#[derive(Clone, Debug)]
pub(crate) struct Wording<'a> {
    /// What the best does where it leads for sure.
    pub(crate) best: &'a str,
    /// What the first two do where it does not.
    pub(crate) alike: &'a str,
    /// Over which runs.
    pub(crate) over: String,
}

impl Wording<'_> {
    fn contest(&self, (best, rates): &(&str, Vec<f64>), (second, others): &(&str, Vec<f64>)) -> String {
        let over = &self.over;
        let amount = format!("{:.0} kbit/s of video within 150 ms", mean(rates));
        match paired_difference(rates, others) {
            Some(lead) if lead.excludes_zero() => format!(
                "{best} {}: {amount} {over}, {} kbit/s (95 % interval) more than {second}.",
                self.best,
                in_words(&lead, 0)
            ),
            Some(lead) if lead.half_width.is_some() => format!(
                "{best} and {second} {}: {amount} by {best} {over}, and its lead of {} kbit/s (95 % interval) includes \
                 zero.",
                self.alike,
                in_words(&lead, 0)
            ),
            _ => format!(
                "{best} delivered {amount} {over}, which says nothing about its difference to {second}."
            ),
        }
    }
}

/// `26 ± 3`, or `26` where there is no interval.
fn in_words(estimate: &Estimate, decimals: usize) -> String {
    match estimate.half_width {
        Some(half) => format!("{:.decimals$} ± {half:.decimals$}", estimate.mean),
        None => format!("{:.decimals$}", estimate.mean),
    }
}

/// The mean; of nothing zero.
fn mean(values: &[f64]) -> f64 {
    crate::results::stats::mean(values).unwrap_or(0.0)
}

impl Sample {
    /// The queuing delay (one-way delay less propagation) of each flow, with its name.
    pub fn queuing_delays(&self) -> impl Iterator<Item = (&str, &Histogram)> {
        self.plan
            .flows
            .iter()
            .zip(&self.delays)
            .map(|(flow, delays)| (flow.name.as_str(), &delays.owd_excess))
    }
}

/// Why a comparison cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// The scenario makes no network.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The simulator refuses it.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// There is no link of that name to capture packets on.
    #[error("there is no link `{link}`; there are {known}")]
    NoLink {
        /// The name.
        link: String,
        /// The names that there are.
        known: String,
    },
    /// A capture cannot be written.
    #[error("{path}: cannot be written: {source}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No seeds.
    #[error(transparent)]
    Runs(#[from] UnevenRuns),
    /// No threads.
    #[error("cannot start {jobs} threads: {problem}")]
    Threads {
        /// How many were wanted.
        jobs: usize,
        /// Why they could not be had.
        problem: String,
    },
}

impl Request<'_> {
    /// How many runs this makes.
    pub fn runs(&self) -> usize {
        self.scenario.controllers.len().max(1) * self.seeds.len()
    }

    /// Runs everything; `done` is called after each run, from any thread.
    ///
    /// # Errors
    /// The scenario names something that is not there, or makes no sense to the simulator.
    pub fn run(&self, store: &TraceStore, done: &(dyn Fn() + Sync)) -> Result<Comparison, ComparisonError> {
        self.run_capturing(store, done, None)
    }

    /// [`Self::run`], and packets are captured on the way. What a capture that fails has written stays in its file.
    ///
    /// # Errors
    /// As [`Self::run`]; that there is no such link, before anything runs; that a file cannot be written.
    pub fn run_capturing(
        &self,
        store: &TraceStore,
        done: &(dyn Fn() + Sync),
        capture: Option<CaptureRequest<'_>>,
    ) -> Result<Comparison, ComparisonError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs)
            .build()
            .map_err(|e| ComparisonError::Threads { jobs: self.jobs, problem: e.to_string() })?;
        let choices: Vec<Option<&str>> = match self.scenario.controllers.as_slice() {
            [] => vec![None],
            some => some.iter().map(|name| Some(name.as_str())).collect(),
        };
        let names = capture.map_or(&[][..], |capture| capture.links);
        if let (Some(&controller), Some(&seed), false) =
            (choices.first(), self.seeds.first(), names.is_empty())
        {
            let options = RunOptions { seed, controller, series: false };
            indices(names, &self.scenario.build(&options, store)?.spec)?;
        }
        let file = |index| capture?.files.get(index);
        let tasks: Vec<Task<'_>> = choices
            .iter()
            .enumerate()
            .flat_map(|(index, &controller)| {
                self.seeds.iter().enumerate().map(move |(run, &seed)| {
                    let first = run == 0;
                    let file = if first { file(index) } else { None };
                    Task { controller, seed, first, links: names, file }
                })
            })
            .collect();
        // Collecting keeps the order of the tasks, whatever the order in which they end.
        let outcomes = pool.install(|| {
            let one = |task: &Task<'_>| {
                let outcome = self.one(task, store);
                done();
                outcome
            };
            tasks.par_iter().map(one).collect::<Result<Vec<Outcome>, ComparisonError>>()
        })?;
        self.collect(&choices, outcomes)
    }

    fn one(&self, task: &Task<'_>, store: &TraceStore) -> Result<Outcome, ComparisonError> {
        let &Task { controller, seed, first, .. } = task;
        let options = RunOptions { seed, controller, series: self.series && first };
        let run = self.scenario.build(&options, store)?;
        let recorder = Recorder::new(run.plan.clone());
        let recorder = match task.file {
            Some(file) => capture(run.spec, recorder, task.links, file)?,
            None => Simulation::new(run.spec, recorder)?.run(),
        };
        let Measured { metrics, delays, series, .. } = recorder.finish();
        let sample = first.then_some(Sample { plan: run.plan, delays, series });
        Ok(Outcome { metrics, sample, traces: run.traces })
    }

    fn collect(
        &self,
        choices: &[Option<&str>],
        outcomes: Vec<Outcome>,
    ) -> Result<Comparison, ComparisonError> {
        let traces = outcomes.first().map(|first| first.traces.clone()).unwrap_or_default();
        let mut outcomes = outcomes.into_iter();
        let mut controllers = Vec::with_capacity(choices.len());
        for choice in choices {
            let name = choice.map_or_else(|| self.scenario.controllers_in_use(), str::to_owned);
            let mut own = outcomes.by_ref().take(self.seeds.len());
            let Some(Outcome { metrics, sample: Some(sample), .. }) = own.next() else {
                return Err(UnevenRuns { controller: name, runs: 0, seeds: self.seeds.len() }.into());
            };
            let runs = std::iter::once(metrics).chain(own.map(|outcome| outcome.metrics)).collect();
            controllers.push(ControllerRuns { name, runs, sample });
        }
        let runs = controllers.iter().map(|c| (c.name.as_str(), c.runs.as_slice()));
        let summary = Summary::from_runs(&self.scenario.name, self.seeds, runs)?;
        Ok(Comparison { summary, controllers, traces })
    }
}

/// One run.
struct Task<'a> {
    controller: Option<&'a str>,
    seed: u64,
    /// Whether it is the first of its controller.
    first: bool,
    /// The links to capture packets on.
    links: &'a [String],
    /// Where those go.
    file: Option<&'a CaptureFile>,
}

/// So many links are named where one is not found.
const MOST_NAMES: usize = 12;

/// The places of the links of these names.
fn indices(names: &[String], spec: &SimSpec) -> Result<Vec<usize>, ComparisonError> {
    let index = |name: &String| {
        spec.links.iter().position(|link| &link.name == name).ok_or_else(|| {
            let shown = spec.links.iter().take(MOST_NAMES).map(|link| format!("`{}`", link.name));
            let mut known: Vec<String> = shown.collect();
            if spec.links.len() > MOST_NAMES {
                known.push(format!("{} more", spec.links.len() - MOST_NAMES));
            }
            let known = known.join(", ");
            ComparisonError::NoLink { link: name.clone(), known }
        })
    };
    names.iter().map(index).collect()
}

/// Simulates, with the packets of some links going to a file.
fn capture(
    spec: SimSpec,
    recorder: Recorder,
    links: &[String],
    into: &CaptureFile,
) -> Result<Recorder, ComparisonError> {
    let links = indices(links, &spec)?;
    let fail = |source| ComparisonError::Capture { path: into.path.clone(), source };
    let capture = PacketCapture::new(BufWriter::new(&into.file), &spec, &links).map_err(fail)?;
    let captured = Simulation::new(spec, Captured::new(recorder, capture))?.run();
    let (recorder, _) = captured.finish().map_err(fail)?;
    Ok(recorder)
}

struct Outcome {
    metrics: RunMetrics,
    sample: Option<Sample>,
    traces: Vec<TraceUse>,
}
