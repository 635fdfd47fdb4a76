//! Reader of rows: from a text to a valid experiment.

use std::collections::BTreeSet;
use std::mem;
use std::path::{Path, PathBuf};

use toml::Table;

use super::catalogue::ShippedRow;
use super::claim::{Claim, Class, OverPlaces, Trend};
use super::command_line_sweep::MeasuredScenario;
use super::plots::{self, PlotFormulas};
use super::row::{Row, ScenarioSource, Sweep, SweepValues, Tried, row_shape};
use crate::judge::formula::{Formula, FormulaContext, Kind, Leaf, Scope, fill, parse_any, parse_as};
use crate::judge::paths;
use weir_form::{KeyPath, MOST_WRITTEN, Origin, Problem, SET, ScenarioError, advice, list, text_of};
use weir_scenario::registry::Registry;
use weir_theory::analysis::{self, Entry};

/// Valid row of a paper.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Name of the row: `PAPER/ROW`.
    pub name: String,
    /// Contents of its file.
    pub row: Row,
    /// Formulas of its claims, in their order.
    pub(super) formulas: Vec<Formulas>,
    /// Formulas of its plots, in their order.
    pub(super) plots: Vec<PlotFormulas>,
    /// Formulas of its figures with settings changed, in their order.
    pub(super) tried: Vec<Formulas>,
    /// Sweep of a command line, in place of the row's scenario and settings.
    pub(super) measured_scenario: Option<MeasuredScenario>,
    /// Settings applied to the scenarios of all variants, after all others.
    pub(super) laid: Vec<Setting>,
    /// Text of the inline scenario, with each line at its line number in the file.
    pub(super) inline: Option<String>,
    /// Folder of templates that the row may name besides the shipped ones, for a row from a file.
    pub(super) templates: Option<PathBuf>,
    pub(super) origin: Origin,
    /// Controllers that its scenarios can name.
    pub(super) registry: Registry,
}

/// Setting `path=value` that is applied to a scenario.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Text of the setting.
    pub(super) text: String,
    /// Place in the row's file, or `None` for a setting of a command line.
    pub(super) at: Option<KeyPath>,
}

/// Formulas of a claim.
#[derive(Clone, Debug, Default)]
pub(super) struct Formulas {
    /// Place of the claim's formula, or of the name of a formula, in the row's file.
    pub(super) at: KeyPath,
    /// Formula of the claim; absent if a test shows it.
    pub(super) of: Option<Formula>,
    /// Formulas of quantities that must not exceed those of the paper where a value is better.
    pub(super) no_more: Vec<Formula>,
}

impl Formulas {
    pub(super) fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.of.iter().chain(&self.no_more).flat_map(Formula::leaves)
    }
}

impl Experiment {
    /// Parses `text` as an experiment; `file` is its name in errors.
    ///
    /// # Errors
    /// All mistakes in the text, each with its place and with advice. Mistakes in its scenarios are found when runs are
    /// planned.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, ScenarioError> {
        let origin = Origin::of(file, text);
        let table: Table =
            toml::from_str(text).map_err(|error| origin.plain_error(error.span(), error.message()))?;
        origin.check(weir_form::check(&table, row_shape(), &|_, _| None))?;
        let row: Row = weir_form::read(table).map_err(|message| origin.plain_error(None, &message))?;
        let inline = matches!(row.scenario, Some(ScenarioSource::Inline(_))).then(|| scenario_lines(text));
        Ok(Self { inline, ..Self::of(name, row, origin)? })
    }

    /// Experiment of a row, which comes from `origin`.
    pub(super) fn of(name: &str, row: Row, origin: Origin) -> Result<Self, ScenarioError> {
        let mut problems = Vec::new();
        let formulas: Vec<Formulas> = row
            .claims
            .iter()
            .enumerate()
            .map(|(index, claim)| read_claim(&row, claim, &claim_path(index), &mut problems))
            .collect();
        let tried: Vec<Formulas> = row
            .tried
            .iter()
            .enumerate()
            .map(|(index, tried)| read_tried(&row, tried, &tried_path(index), &mut problems))
            .collect();
        let plots = plots::read(&row, &|text, scope, path| read_any(&row, text, scope, path), &mut problems);
        problems.extend(settings(&row));
        problems.extend(super::sense::of_row(&row));
        problems.extend(sources(&row));
        if row.scenario.is_none() && !row.variants.names().all(|name| row.is_by_itself(name)) {
            let problem = Problem::key(&KeyPath::of(&["variants"]), "there is no scenario to be run");
            problems.push(problem.help("add `scenario`: the name of one, or a table"));
        }
        origin.check(problems)?;
        Ok(Self {
            name: name.to_owned(),
            row,
            formulas,
            plots,
            tried,
            measured_scenario: None,
            laid: Vec::new(),
            inline: None,
            templates: None,
            origin,
            registry: Registry::standard(),
        })
    }

    /// Opens a shipped row.
    ///
    /// # Errors
    /// As for [`Self::parse`]; a test checks that shipped rows have no errors.
    pub fn shipped(row: &ShippedRow) -> Result<Self, ScenarioError> {
        Self::parse(row.name, &format!("experiments/{}.toml", row.name), row.text)
    }

    /// Opens the row in the file at `path`. The names of its folder and of the file give its name `PAPER/ROW`.
    /// Templates are looked up first in `templates/` beside its folder.
    ///
    /// # Errors
    /// The file cannot be read, or one of the errors of [`Self::parse`].
    pub fn open(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = text_of(path, MOST_WRITTEN).map_err(|error| {
            let problem = Problem::value(&KeyPath::default(), format!("the row cannot be read: {error}"));
            ScenarioError::new(
                &file,
                "",
                None,
                problem.help("name a row that ships, or a file that ends in `.toml`"),
            )
        })?;
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = whole.parent();
        let last = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{}/{}", last(folder.and_then(Path::file_name)), last(whole.file_stem()));
        let templates = folder.and_then(Path::parent).map(|above| above.join("templates"));
        Ok(Self { templates, ..Self::parse(&name, &file, &text)? })
    }

    /// Copy with `set` applied to the scenarios of all variants, after all others; each is a `path=value`, as after
    /// `--set`.
    #[must_use]
    pub fn changed(mut self, set: &[String]) -> Self {
        self.laid.extend(set.iter().map(|text| Setting { text: text.clone(), at: None }));
        self
    }

    /// Copy without the plots, and without the claims reported beside others that need variants of their own.
    #[must_use]
    pub fn without_further_variants(mut self) -> Self {
        let claims = || self.row.claims.iter().zip(&self.formulas);
        let variants =
            |formulas: &Formulas| formulas.leaves().map(|leaf| leaf.variant.clone()).collect::<Vec<_>>();
        let counted: BTreeSet<String> = claims()
            .filter(|(claim, _)| !claim.beside)
            .flat_map(|(_, formulas)| variants(formulas))
            .collect();
        let stays = |(claim, formulas): (&Claim, &Formulas)| {
            !claim.beside || variants(formulas).iter().all(|variant| counted.contains(variant))
        };
        let mut stays = claims().map(stays).collect::<Vec<bool>>().into_iter();
        let (claims, formulas) = (mem::take(&mut self.row.claims), mem::take(&mut self.formulas));
        let kept = claims.into_iter().zip(formulas).filter(|_| stays.next() == Some(true));
        (self.row.claims, self.formulas) = kept.unzip();
        self.row.plots.clear();
        self.plots.clear();
        self
    }

    /// Error of a setting, at its place.
    pub(super) fn refuse(&self, setting: &Setting, message: &str, help: &str) -> ScenarioError {
        let problem = |path: &KeyPath| Problem::value(path, message).help(help);
        let text = &setting.text;
        setting.at.as_ref().map_or_else(
            || ScenarioError::new(SET, text, Some((0, text.len())), problem(&KeyPath::default())),
            |at| self.origin.error(problem(at)),
        )
    }

    /// Whether one of its sweeps is the axis of a grid.
    pub fn has_a_grid(&self) -> bool {
        let is_grid = |sweep: &Sweep| matches!(sweep.quick, SweepValues::Grid(_));
        self.row.sweeps.iter().any(|(_, sweep)| is_grid(sweep))
    }

    /// Paper of the row.
    pub fn paper(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

fn claim_path(index: usize) -> KeyPath {
    KeyPath::of(&["claims"]).item(index)
}

pub(super) fn tried_path(index: usize) -> KeyPath {
    KeyPath::of(&["tried"]).item(index)
}

pub(super) fn plot_path(index: usize) -> KeyPath {
    KeyPath::of(&["plots"]).item(index)
}

fn read_claim(row: &Row, claim: &Claim, path: &KeyPath, problems: &mut Vec<Problem>) -> Formulas {
    problems.extend(judged_by(claim, path));
    problems.extend(super::sense::of_claim(claim, path));
    problems.extend(places(row, claim, path));
    let all = claim.over_places == OverPlaces::All;
    let mut read = |text: &str, path: &KeyPath| match read_formula(row, text, all, path) {
        Ok(formula) => Some(formula),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    let of = claim.of.as_ref().and_then(|text| read(text, &path.with("of")));
    let better = claim.better.iter().flat_map(|better| better.at.iter().enumerate());
    let at = path.with("better").with("at");
    let no_more = better.filter_map(|(index, own)| read(&own.of, &at.item(index).with("of"))).collect();
    Formulas { at: path.with("of"), of, no_more }
}

fn read_tried(row: &Row, tried: &Tried, path: &KeyPath, problems: &mut Vec<Problem>) -> Formulas {
    let before = problems.len();
    problems.extend(super::sense::of_tried(row, tried, path));
    let own = tried.row(row);
    let claim = &own.claims[0];
    problems.extend(places(&own, claim, path));
    let at = path.with(if tried.of.is_some() { "of" } else { "claim" });
    let text = claim.of.as_ref().filter(|_| problems.len() == before);
    let of = text.map(|text| read_formula(&own, text, claim.over_places == OverPlaces::All, &at));
    match of.transpose() {
        Ok(of) => Formulas { at, of, no_more: Vec::new() },
        Err(problem) => {
            problems.push(problem);
            Formulas::default()
        }
    }
}

pub(super) fn read_formula(
    row: &Row,
    text: &str,
    over_places: bool,
    path: &KeyPath,
) -> Result<Formula, Problem> {
    let scope = if over_places { Scope::AllPlaces } else { Scope::Place };
    let formula = parse_as(text, FormulaContext { scope, named: &row.formulas });
    let formula = formula.map_err(|mistake| Problem::value(path, mistake.message).help(mistake.help))?;
    look_up(row, &formula, path)?;
    Ok(formula)
}

/// Reads a formula of any kind, and returns the kind as well.
fn read_any(row: &Row, text: &str, scope: Scope, path: &KeyPath) -> Result<(Formula, Kind), Problem> {
    let part = parse_any(text, FormulaContext { scope, named: &row.formulas });
    let part = part.map_err(|mistake| Problem::value(path, mistake.message).help(mistake.help))?;
    look_up(row, &part.0, path)?;
    Ok(part)
}

/// Checks that all names in a formula exist.
fn look_up(row: &Row, formula: &Formula, path: &KeyPath) -> Result<(), Problem> {
    let problem = |message: String, help: String| Problem::value(path, message).help(help);
    for leaf in formula.leaves() {
        if row.variants.get(&leaf.variant).is_none() {
            let help = advice(&leaf.variant, row.variants.names());
            return Err(problem(format!("there is no variant `{}`", leaf.variant), help));
        }
        let analysis = row.own_analysis(&leaf.variant).and_then(analysis::find);
        if let Some((message, help)) = paths::problem(&leaf.path, analysis) {
            return Err(problem(message, help));
        }
    }
    if let Some(axis) = formula.axes().into_iter().find(|axis| row.sweeps.get(axis).is_none()) {
        return Err(problem(format!("there is no sweep `{axis}`"), advice(axis, row.sweeps.names())));
    }
    Ok(())
}

/// Checks that exactly one key judges the claim.
fn judged_by(claim: &Claim, path: &KeyPath) -> Option<Problem> {
    let mut by = Vec::new();
    by.extend(claim.accept.map(|_| "accept"));
    by.extend(claim.order.map(|_| "order"));
    by.extend(claim.trend.as_ref().map(|_| "trend"));
    by.extend((!claim.tests.is_empty()).then_some("tests"));
    let problem = |message: &str, help: &str| Some(Problem::key(path, message).help(help));
    match (claim.class, by.as_slice()) {
        (_, []) => problem(
            "nothing judges this claim",
            "add `accept`, `order`, `trend` or, for a mechanism, `tests`",
        ),
        (_, [_, _, ..]) => {
            let message = format!("{} judge the same claim", list(&by));
            problem(&message, "leave one; a second claim can have the other")
        }
        (Class::Struct, ["tests"]) => None,
        (Class::Struct, _) => {
            problem("a mechanism is shown by a test", "name it in `tests`, or give another `class`")
        }
        (_, ["tests"]) => problem("a test shows a mechanism, not a result", "write `class = \"STRUCT\"`"),
        _ if claim.of.is_none() => problem("there is nothing to judge", "add `of`: a formula"),
        _ => None,
    }
}

/// Checks that the claim names existing sweeps and values.
fn places(row: &Row, claim: &Claim, path: &KeyPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    let known = |name: &str, path: &KeyPath| {
        let missing = row.sweeps.get(name).is_none();
        missing.then(|| {
            let help = advice(name, row.sweeps.names());
            Problem::key(path, format!("there is no sweep `{name}`")).help(help)
        })
    };
    for (name, selection) in &claim.selection {
        let path = path.with("where").with(name);
        problems.extend(known(name, &path));
        let Some(sweep) = row.sweeps.get(name) else { continue };
        if !sweep.quick.list(None).iter().any(|&value| selection.has(value)) {
            let help = "choose one of `quick`, so that the quick form has something to judge";
            problems.push(Problem::value(&path, format!("no value of `{name}` is meant")).help(help));
        }
    }
    if let Some(Trend { along, .. }) = &claim.trend {
        problems.extend(known(along, &path.with("trend")));
        let meant = |value: &f64| claim.selection.get(along).is_none_or(|own| own.has(*value));
        let steps = |values: &SweepValues| values.list(None).iter().filter(|value| meant(value)).count();
        let lists = row.sweeps.get(along).into_iter().flat_map(|own| [Some(&own.quick), own.full.as_ref()]);
        if lists.flatten().any(|values| steps(values) == 1) {
            let problem =
                Problem::value(&path.with("trend"), format!("one value of `{along}` is no way to go"));
            problems.push(problem.help("choose two at least, of `quick` and of `full`"));
        }
    }
    problems
}

/// Mistakes in the sources of variants.
fn sources(row: &Row) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, variant) in row.variants.iter() {
        let path = KeyPath::of(&["variants", name]);
        problems.extend(variant.on.as_ref().and_then(|on| stands_on(row, name, on, &path.with("on"))));
        let Some(analysis) = &variant.analysis else { continue };
        if variant.scenario.is_some() {
            let problem = Problem::key(&path.with("scenario"), "an analysis runs no scenario");
            problems.push(problem.help("leave one of `analysis` and `scenario`"));
        }
        if analysis::find(analysis).is_none() {
            let problem =
                Problem::value(&path.with("analysis"), format!("there is no analysis `{analysis}`"));
            problems.push(problem.help(advice(analysis, analysis::all().map(Entry::name))));
        }
    }
    problems
}

/// Mistake in the variant on which another is based.
fn stands_on(row: &Row, name: &str, on: &str, path: &KeyPath) -> Option<Problem> {
    let grounds = || row.variants.iter().filter(|(own, variant)| *own != name && variant.on.is_none());
    if grounds().any(|(own, _)| own == on) {
        return None;
    }
    let problem = Problem::value(path, format!("no variant `{on}` stands by itself"));
    Some(problem.help(advice(on, grounds().map(|(own, _)| own))))
}

/// Mistakes in the settings that can be found without the scenario.
fn settings(row: &Row) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut look = |set: &[String], path: &KeyPath| {
        for (index, text) in set.iter().enumerate() {
            let value = |formula: &Formula| {
                let known = formula.leaves().is_empty()
                    && formula.axes().iter().all(|axis| row.sweeps.get(axis).is_some());
                known.then_some(1.0)
            };
            if let Err(mistake) = fill(text, value) {
                problems.push(Problem::value(&path.item(index), mistake.message).help(mistake.help));
            }
        }
    };
    look(&row.set, &KeyPath::of(&["set"]));
    for (name, sweep) in row.sweeps.iter() {
        look(&sweep.set, &KeyPath::of(&["sweeps", name, "set"]));
    }
    for (index, tried) in row.tried.iter().enumerate() {
        look(&tried.set, &tried_path(index).with("set"));
    }
    for (name, variant) in row.variants.iter() {
        look(&variant.set, &KeyPath::of(&["variants", name, "set"]));
    }
    problems
}

/// Text with only the lines of the inline scenario, at their line numbers. Its tables lose the `scenario.` before their
/// names.
fn scenario_lines(text: &str) -> String {
    let mut within = false;
    let line = |line: &str| {
        let head = line.trim_start_matches('[');
        let is_head =
            line.len() - head.len() > 0 && head.starts_with(|c: char| c.is_ascii_alphabetic() || c == '"');
        if is_head {
            within = head.starts_with("scenario]") || head.starts_with("scenario.");
        }
        match (within, is_head) {
            (false, _) => String::new(),
            (true, false) => line.to_owned(),
            (true, true) if head.starts_with("scenario]") => String::new(),
            (true, true) => line.replacen("scenario.", "         ", 1),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
