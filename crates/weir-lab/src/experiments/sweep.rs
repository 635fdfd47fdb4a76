//! A scenario over values of its own keys, as a row without claims: planned, run, kept and drawn as papers' rows are, and
//! measured without being judged.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::asked::Asked;
use super::plots::{Axis, LineOf, Plot, PlotKind};
use super::read::{Experiment, read_formula};
use super::reproduce::Reproduced;
use super::row::{Row, Seeds, Source, Sweep, Values, Variant};
use super::values::Place;
use crate::form::{KeyPath, Origin, ScenarioError};
use crate::page::{Best, Column};
use crate::paired::{RunRow, RunTable};
use crate::registry::Registry;
use crate::scenario::{Contestant, Named};
use weir_measure::results::Value;

/// One key that is varied: `links.forward.delay=10ms,50ms,200ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    /// The key, as after `--set`.
    pub path: String,
    /// Its values …
    pub values: Vec<f64>,
    /// … in this unit; empty of a number.
    pub unit: String,
}

impl FromStr for Varied {
    type Err = String;

    /// `PATH=VALUE,VALUE,…`, numbers with one unit.
    fn from_str(text: &str) -> Result<Self, String> {
        const USAGE: &str = "write `PATH=VALUE,VALUE`, such as `links.forward.delay=10ms,50ms`";
        let (path, values) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` has no `=`; {USAGE}"))?;
        if path.trim().is_empty() {
            return Err(format!("`{text}` names no key; {USAGE}"));
        }
        let mut varied = Self { path: path.trim().to_owned(), values: Vec::new(), unit: String::new() };
        for (index, word) in values.split(',').map(str::trim).enumerate() {
            let end = word.find(|c: char| c.is_ascii_alphabetic() && c != 'e').unwrap_or(word.len());
            let (number, unit) = word.split_at(end);
            let value: f64 = number.trim().parse().map_err(|_| {
                format!(
                    "`{word}` is no number with a unit; {USAGE}; words are compared with --set, one run each"
                )
            })?;
            if !value.is_finite() {
                return Err(format!("`{word}` is no number that a scenario can have; {USAGE}"));
            }
            if index == 0 {
                unit.clone_into(&mut varied.unit);
            } else if unit != varied.unit {
                return Err(format!("`{word}` has another unit than the first value; write all in one"));
            }
            if varied.values.contains(&value) {
                return Err(format!("`{word}` is there twice; write each value once"));
            }
            varied.values.push(value);
        }
        if varied.values.len() < 2 {
            return Err(format!("`{text}` has one value; --set sets it, a sweep needs two at least"));
        }
        Ok(varied)
    }
}

/// What of a run a sweep shows: label, unit, formula behind the variant's name, decimals, and whether more is better.
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

/// A sweep that is asked for.
#[derive(Clone, Debug)]
pub struct SweepRequest<'a> {
    /// Where the controllers come from.
    pub registry: &'a Registry,
    /// A shipped scenario or a file.
    pub scenario: &'a str,
    /// What it is called.
    pub title: &'a str,
    /// What is laid over it, as after `--set`.
    pub set: &'a [String],
    /// What is varied, all with all.
    pub varied: &'a [Varied],
    /// The controllers that are compared.
    pub contestants: &'a [Contestant],
    /// Seeds at each place, from 1 on.
    pub runs: u32,
}

/// A place of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Swept {
    /// Where: the value on each axis, in the order of the sweeps.
    pub at: Vec<f64>,
    /// A row for each controller.
    pub values: RunTable,
}

impl SweepRequest<'_> {
    /// The sweep as a row.
    ///
    /// # Errors
    /// None that a caller could make: what is laid over the scenario is read when its runs are planned.
    pub fn experiment(&self) -> Result<Experiment, ScenarioError> {
        let (row, origin) = (self.row(), Origin::of("--sweep", ""));
        let contestants = 0..self.contestants.len();
        let shown = contestants.flat_map(|index| SHOWN.iter().map(move |shown| formula(shown, index)));
        let read = |text: String| read_formula(&row, &text, false, &KeyPath::default());
        let measured = shown.map(read).collect::<Result<_, _>>().map_err(|problem| origin.error(problem))?;
        let definitions = self.contestants.iter().filter_map(|contestant| contestant.definition.clone());
        let asked = Asked {
            scenario: self.scenario.to_owned(),
            set: definitions.chain(self.set.iter().cloned()).collect(),
            keys: self.varied.iter().map(|varied| (varied.path.clone(), varied.unit.clone())).collect(),
            measured,
        };
        let registry = self.registry.clone();
        Ok(Experiment { registry, asked: Some(asked), ..Experiment::of("sweep/run", row, origin)? })
    }

    fn row(&self) -> Row {
        let variant = |(index, contestant): (usize, &Contestant)| {
            let variant = Variant { controller: Some(contestant.name.clone()), ..Variant::default() };
            (variant_name(index), variant)
        };
        let sweep = |(index, varied): (usize, &Varied)| {
            let quick = Values::These(varied.values.clone());
            (axis_name(index), Sweep { set: Vec::new(), quick, full: None })
        };
        Row {
            title: self.title.to_owned(),
            words: String::new(),
            open: String::new(),
            stand_in: None,
            calibration: false,
            cause: None,
            seeds: Seeds { quick: self.runs, full: self.runs },
            scenario: Some(Source::Name(self.scenario.to_owned())),
            set: Vec::new(),
            windows: Named::default(),
            variants: self.contestants.iter().enumerate().map(variant).collect(),
            sweeps: self.varied.iter().enumerate().map(sweep).collect(),
            further: None,
            formulas: BTreeMap::new(),
            claims: Vec::new(),
            plots: self.plots(),
        }
    }

    /// A curve over one sweep, a map over two for each controller; of more sweeps the others at their first value.
    fn plots(&self) -> Vec<Plot> {
        let axis = |index: usize| {
            let Varied { path, unit, .. } = &self.varied[index];
            let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
            Axis { label: format!("{path}{unit}"), ..Axis::default() }
        };
        let label = |shown: &Shown| format!("{}, {}", shown.label, shown.unit);
        let line = |shown: &Shown, index: usize| {
            (self.contestants[index].name.clone(), LineOf::Formula(formula(shown, index)))
        };
        let contestants = 0..self.contestants.len();
        if self.varied.len() == 1 {
            let plot = |shown: &Shown| Plot {
                id: shown.id.to_owned(),
                title: shown.label.to_owned(),
                kind: PlotKind::Sweep,
                x: Some(axis(0)),
                y: Axis { label: label(shown), ..Axis::default() },
                along: Some(axis_name(0)),
                lines: contestants.clone().map(|index| line(shown, index)).collect(),
                ..Plot::default()
            };
            return SHOWN.iter().map(plot).collect();
        }
        let map = |shown: &Shown, index: usize| Plot {
            id: format!("{} {}", shown.id, variant_name(index)),
            title: format!("{}: {}", self.contestants[index].name, label(shown)),
            kind: PlotKind::Map,
            x: Some(axis(0)),
            y: axis(1),
            across: Some(axis_name(0)),
            up: Some(axis_name(1)),
            lines: std::iter::once(line(shown, index)).collect(),
            ..Plot::default()
        };
        SHOWN.iter().flat_map(|shown| contestants.clone().map(move |index| map(shown, index))).collect()
    }

    /// The numbers, place by place, out of what the row came to.
    pub fn numbers(&self, reproduced: &Reproduced) -> Vec<Swept> {
        let of_place = |(at, measured): &(Place, Vec<Vec<Value>>)| {
            let row = |(contestant, values): (&Contestant, &[Vec<Value>])| RunRow {
                name: contestant.name.clone(),
                values: values.to_vec(),
            };
            let rows = self.contestants.iter().zip(measured.chunks(SHOWN.len())).map(row).collect();
            let columns = SHOWN.iter().map(Shown::column).collect();
            Swept { at: at.values().copied().collect(), values: RunTable { columns, rows } }
        };
        reproduced.measured.iter().map(of_place).collect()
    }
}

impl Shown {
    fn column(&self) -> Column {
        Column {
            label: self.label.to_owned(),
            unit: self.unit.to_owned(),
            definition: "of all media flows together".to_owned(),
            decimals: self.decimals,
            best: self.best,
        }
    }
}

fn formula(shown: &Shown, contestant: usize) -> String {
    shown.formula.replace("V:", &format!("{}:", variant_name(contestant)))
}

/// Names that formulas can have, in the order of the alphabet.
fn variant_name(index: usize) -> String {
    format!("controller_{index:03}")
}

fn axis_name(index: usize) -> String {
    format!("axis_{index:03}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_its_values_and_one_unit() {
        let varied: Varied = "links.forward.delay=10ms, 50ms,200ms".parse().unwrap();
        assert_eq!((varied.path.as_str(), varied.unit.as_str()), ("links.forward.delay", "ms"));
        assert_eq!(varied.values, [10.0, 50.0, 200.0]);
        let plain: Varied = "flows.video.options.trendline.window=1e1,40".parse().unwrap();
        assert_eq!((plain.values, plain.unit), (vec![10.0, 40.0], String::new()));
        for (text, told) in [
            ("links.forward.delay", "has no `=`"),
            ("=1,2", "names no key"),
            ("a=1ms", "needs two"),
            ("a=1ms,2s", "another unit"),
            ("a=1,1.0", "twice"),
            ("a=red,codel", "no number"),
            ("a=nan,1", "no number"),
            ("a=1,,2", "no number"),
        ] {
            let error = text.parse::<Varied>().unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
