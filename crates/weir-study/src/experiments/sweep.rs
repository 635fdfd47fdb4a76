//! Sweep of a scenario over values of its own keys, as a row without claims. Runs are planned, made, stored and drawn
//! as those of papers' rows, and measured without a judgement.

use std::collections::BTreeMap;

use super::command_line_sweep::{MeasuredScenario, SweptScenario};
use super::plots::{Axis, LineOf, Plot, PlotKind};
use super::read::{Experiment, read_formula};
use super::reproduce::Reproduced;
use super::row::{ComparedVariant, Row, ScenarioSource, Seeds, Sweep, SweepValues};
use super::row_runs::PlacedRun;
use super::sweep_check::{SweepError, candidates, check_request};
use super::values::GridPoint;
use crate::paired::{RunRow, RunTable};
use crate::runs::{TableRun, axis_value};
use weir_form::{KeyPath, Origin, ScenarioError, Varied};
use weir_import::traces::TraceStore;
use weir_measure::results::Value;
use weir_report::page::{Best, PlacedTable, SummaryColumn, SummaryTable};
use weir_scenario::compile::{RunOptions, fallback_notes, titled};
use weir_scenario::registry::ControllerEdition;
use weir_scenario::scenario::{Candidate, FlowTraffic, Named, Scenario};

/// Quantity that a sweep shows: label, unit, formula after the variant's name, decimals, and whether more is better.
struct Shown {
    id: &'static str,
    label: &'static str,
    unit: &'static str,
    formula: &'static str,
    decimals: usize,
    best: Best,
}

const SHOWN: [Shown; 4] = [
    Shown {
        id: "rate",
        label: "rate",
        unit: "kbit/s",
        formula: "0.001 * V:media.rate_bps",
        decimals: 0,
        best: Best::Highest,
    },
    Shown {
        id: "frame-delay",
        label: "frame delay p95",
        unit: "ms",
        formula: "V:media.frame_delay_ms.p95",
        decimals: 0,
        best: Best::Lowest,
    },
    Shown {
        id: "queuing",
        label: "queuing p95",
        unit: "ms",
        formula: "V:media.owd_excess_ms.p95",
        decimals: 1,
        best: Best::Lowest,
    },
    Shown {
        id: "loss",
        label: "loss",
        unit: "%",
        formula: "100 * V:media.loss_ratio",
        decimals: 2,
        best: Best::Lowest,
    },
];

/// Request of a sweep.
#[derive(Clone, Debug)]
pub struct SweepRequest {
    /// The scenario.
    pub source: SweptScenario,
    /// Name of the scenario.
    pub name: String,
    /// Title of the sweep.
    pub title: String,
    /// Settings applied to the scenario, as after `--set`.
    pub set: Vec<String>,
    /// Keys and values that are varied, in all combinations.
    pub varied: Vec<Varied>,
    /// Controllers that are compared.
    pub candidates: Vec<Candidate>,
    /// Controller of each candidate, which may be a variant of it.
    pub controllers: Vec<String>,
    /// Number of seeds at each place, from 1 on.
    pub runs: u32,
    /// Sentences on traces that were replaced by others.
    pub notes: Vec<String>,
    /// Whether the same request gives the same results anywhere: the executable contains every controller that takes part.
    pub reproducible: bool,
}

/// Table of each place, with its description.
type OfPlaces = Vec<(Vec<String>, SummaryTable)>;

/// Place of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Swept {
    /// Value on each axis, in the order of the sweeps.
    pub at: Vec<f64>,
    /// Values, with a row for each controller.
    pub values: RunTable,
}

impl SweepRequest {
    /// Sweep of `scenario`, which `source` gives with the settings `set`. The candidates are its own unless others are named.
    ///
    /// # Errors
    /// A part of the request does not fit a sweep, or the scenario has a mistake.
    pub fn new(
        source: SweptScenario,
        scenario: &Scenario,
        set: Vec<String>,
        varied: Vec<Varied>,
        named: Vec<Candidate>,
        traces: &TraceStore,
    ) -> Result<Self, SweepError> {
        check_request(scenario, &set, &varied)?;
        let candidates = candidates(scenario, named)?;
        let traces = scenario.build(&RunOptions::new(1), traces)?.traces;
        let controllers: Vec<String> =
            candidates.iter().map(|own| scenario.controller_of(&own.name).to_owned()).collect();
        let is_contained = |name: &str| scenario.registry.edition(name) == ControllerEdition::Executable;
        let fixed = controllers.iter().map(String::as_str).chain(competitors(scenario));
        let reproducible = fixed.chain(varied_controllers(&varied)).all(is_contained);
        Ok(Self {
            name: scenario.name.clone(),
            title: titled(&scenario.title, &traces),
            controllers,
            runs: scenario.runs,
            notes: fallback_notes(&traces),
            source,
            set,
            varied,
            candidates,
            reproducible,
        })
    }

    /// Sweep in the form of a row.
    ///
    /// # Errors
    /// No error that a caller could cause: settings of the scenario are read when its runs are planned.
    pub fn experiment(&self) -> Result<Experiment, ScenarioError> {
        let (row, origin) = (self.row(), Origin::of("--sweep", ""));
        let candidates = 0..self.candidates.len();
        let shown = candidates.flat_map(|index| SHOWN.iter().map(move |shown| formula(shown, index)));
        let read = |text: String| read_formula(&row, &text, false, &KeyPath::default());
        let measured = shown.map(read).collect::<Result<_, _>>().map_err(|problem| origin.error(problem))?;
        let definitions = self.candidates.iter().filter_map(|candidate| candidate.definition.clone());
        let measured_scenario = MeasuredScenario {
            scenario: self.source.clone(),
            set: definitions.chain(self.set.iter().cloned()).collect(),
            varied: self.varied.clone(),
            measured,
        };
        let registry = self.source.registry.clone();
        Ok(Experiment {
            registry,
            measured_scenario: Some(measured_scenario),
            ..Experiment::of("sweep/run", row, origin)?
        })
    }

    fn row(&self) -> Row {
        let variant = |(index, candidate): (usize, &Candidate)| {
            let variant =
                ComparedVariant { controller: Some(candidate.name.clone()), ..ComparedVariant::default() };
            (variant_name(index), variant)
        };
        let sweep = |(index, varied): (usize, &Varied)| {
            let quick = SweepValues::These(varied.values.iter().map(|value| value.at).collect());
            (axis_name(index), Sweep { set: Vec::new(), quick, full: None })
        };
        Row {
            title: self.title.clone(),
            words: String::new(),
            open: String::new(),
            stand_in: None,
            calibration: false,
            cause: None,
            seeds: Seeds { quick: self.runs, full: self.runs },
            scenario: Some(ScenarioSource::Name(self.source.name.clone())),
            set: Vec::new(),
            windows: Named::default(),
            variants: self.candidates.iter().enumerate().map(variant).collect(),
            sweeps: self.varied.iter().enumerate().map(sweep).collect(),
            formulas: BTreeMap::new(),
            claims: Vec::new(),
            tried: Vec::new(),
            plots: self.plots(),
        }
    }

    /// Plots: a curve over one sweep, or for each controller a map over two. Further sweeps stay at their first value.
    fn plots(&self) -> Vec<Plot> {
        let axis = |index: usize| Axis { label: self.varied[index].label(), ..Axis::default() };
        let label = |shown: &Shown| format!("{}, {}", shown.label, shown.unit);
        let line = |shown: &Shown, index: usize| {
            (self.candidates[index].name.clone(), LineOf::Formula(formula(shown, index)))
        };
        let candidates = 0..self.candidates.len();
        if self.varied.len() == 1 {
            let plot = |shown: &Shown| Plot {
                id: shown.id.to_owned(),
                title: shown.label.to_owned(),
                kind: PlotKind::Sweep,
                x: Some(axis(0)),
                y: Axis { label: label(shown), ..Axis::default() },
                along: Some(axis_name(0)),
                lines: candidates.clone().map(|index| line(shown, index)).collect(),
                ..Plot::default()
            };
            return SHOWN.iter().map(plot).collect();
        }
        let map = |shown: &Shown, index: usize| Plot {
            id: format!("{} {}", shown.id, variant_name(index)),
            title: format!("{}: {}", self.candidates[index].name, label(shown)),
            kind: PlotKind::Map,
            x: Some(axis(0)),
            y: axis(1),
            across: Some(axis_name(0)),
            up: Some(axis_name(1)),
            lines: std::iter::once(line(shown, index)).collect(),
            ..Plot::default()
        };
        SHOWN.iter().flat_map(|shown| candidates.clone().map(move |index| map(shown, index))).collect()
    }

    /// Numbers of the sweep, place by place, from the results of the row.
    pub fn numbers(&self, reproduced: &Reproduced) -> Vec<Swept> {
        let of_place =
            |(at, measured): &(GridPoint, Vec<Vec<Value>>)| {
                let row = |((candidate, controller), values): ((&Candidate, &String), &[Vec<Value>])| {
                    RunRow { name: candidate.name.clone(), law: controller.clone(), values: values.to_vec() }
                };
                let rows = self
                    .candidates
                    .iter()
                    .zip(&self.controllers)
                    .zip(measured.chunks(SHOWN.len()))
                    .map(row)
                    .collect();
                let columns = SHOWN.iter().map(Shown::column).collect();
                Swept { at: at.values().copied().collect(), values: RunTable { columns, rows } }
            };
        reproduced.measured.iter().map(of_place).collect()
    }

    /// The runs of the sweep with all of their metrics, if they were kept.
    pub fn table_runs<'r>(&'r self, reproduced: &'r Reproduced) -> impl Iterator<Item = TableRun<'r>> {
        let of_run = |run: PlacedRun<'r>| {
            let index = (0..self.candidates.len()).find(|index| variant_name(*index) == run.variant)?;
            let places = self.varied.iter().zip(run.place.values());
            let at = places.map(|(varied, at)| axis_value(varied, varied.value_at(*at)));
            Some(TableRun {
                scenario: &self.name,
                variant: &self.candidates[index].name,
                controller: &self.controllers[index],
                seed: run.seed,
                at: at.collect(),
                metrics: &run.stored.metrics,
            })
        };
        reproduced.runs.placed().filter_map(of_run)
    }

    /// Tables: a row for each controller at each place, and for several variants of a controller a table of their
    /// differences from the first.
    pub fn tables(&self, numbers: &[Swept]) -> Vec<PlacedTable> {
        let place = |at: &[f64]| -> Vec<String> {
            at.iter().zip(&self.varied).map(|(&value, varied)| varied.text_at(value).to_owned()).collect()
        };
        let own = numbers.iter().map(|swept| (place(&swept.at), swept.values.with_intervals())).collect();
        let mut titled: Vec<(String, OfPlaces)> = vec![("controller".to_owned(), own)];
        for swept in numbers {
            for own in swept.values.differences() {
                let (title, of_place) = (own.title(), (place(&swept.at), own.table));
                match titled.iter_mut().find(|(other, _)| *other == title) {
                    Some((_, tables)) => tables.push(of_place),
                    None => titled.push((title, vec![of_place])),
                }
            }
        }
        let paths: Vec<String> = self.varied.iter().map(|varied| varied.path.clone()).collect();
        titled.into_iter().map(|(title, tables)| PlacedTable::of(&paths, &title, tables)).collect()
    }
}

impl Shown {
    fn column(&self) -> SummaryColumn {
        SummaryColumn {
            label: self.label.to_owned(),
            unit: self.unit.to_owned(),
            definition: "of all media flows together".to_owned(),
            decimals: self.decimals,
            best: self.best,
        }
    }
}

/// Controllers of the media flows that no candidate takes over.
fn competitors(scenario: &Scenario) -> impl Iterator<Item = &str> {
    scenario.flows.iter().filter_map(|(_, flow)| match &flow.carried {
        FlowTraffic::Media(media) if media.competitor => Some(scenario.controller_of(&media.controller)),
        _ => None,
    })
}

/// Names of the controllers among the varied values.
pub fn varied_controllers(varied: &[Varied]) -> impl Iterator<Item = &str> {
    let of_controllers = varied.iter().filter(|axis| axis.path.ends_with(".controller"));
    of_controllers.flat_map(|axis| axis.values.iter().map(|value| base_name(&value.text)))
}

/// Name of a controller without its options and the quotes of TOML.
fn base_name(text: &str) -> &str {
    text.split('{').next().unwrap_or_default().trim().trim_matches(['"', '\''])
}

fn formula(shown: &Shown, candidate: usize) -> String {
    shown.formula.replace("V:", &format!("{}:", variant_name(candidate)))
}

/// Name of a variant in formulas; the names sort in the order of their indices.
fn variant_name(index: usize) -> String {
    format!("controller_{index:03}")
}

fn axis_name(index: usize) -> String {
    format!("axis_{index:03}")
}
