//! Suites of the user's own: a TOML file with cases and limits.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use schemars::{JsonSchema, SchemaGenerator, schema_for};
use serde::{Deserialize, Serialize};
use toml::Table;
use weir_units::TimeDelta;

use super::cases::{Case, SUITES, Suite};
use super::check::{Check, JudgedValue, Limit};
use super::drawn::DRAWN;
use super::finding::{OMNISCIENT, RUN};
use super::moments::Untimely;
use super::quantity::Quantity;
use crate::experiments::Row;
use crate::judge::formula::{Formula, FormulaContext, Leaf, Scope, parse_as};
use crate::judge::paths;
use weir_form::{KeyPath, MOST_WRITTEN, Origin, Problem, ScenarioError, Shape, advice, text_of};
use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, FlowTraffic, Scenario};
use weir_scenario::shipped;

/// Suite of the user's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    /// Title, in a line.
    title: String,
    /// Controllers that are judged unless the command names others, such as `gcc` or `gcc{trendline.window=40}`; all
    /// controllers unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    controllers: Vec<String>,
    /// Named formulas, for use in those of checks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    formulas: BTreeMap<String, String>,
    /// Cases, in order.
    cases: Vec<CaseOfFile>,
}

/// Case: a scenario and its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CaseOfFile {
    /// Name of the case in tables and after `--case`.
    name: String,
    /// Title, in a line; the scenario's title unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Shipped scenario, or the path of a file relative to the folder of the suite's file.
    scenario: String,
    /// Settings applied to the scenario: `path=value`, as after `--set`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    set: Vec<String>,
    /// Preset that is used for controllers that have one of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
    /// Time from which on rates, frames and the queue count, the queue right after events as well. Without it rates and
    /// frames count from 20 s on, and the queue outside the 5 s after each event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<TimeDelta>,
    /// Whether a rate is judged beside `useful`, for a case that asks for load.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    judges_load: bool,
    /// Checks of the case.
    checks: Vec<CheckOfFile>,
}

/// Check: a quantity or a formula, and its limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckOfFile {
    /// Measured quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quantity: Option<Quantity>,
    /// Formula over the results of a run, in place of `quantity`: `run:PATH` is a value of the run, `omniscient:PATH`
    /// one of the omniscient sender's run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    /// Name of the formula in tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Unit of the formula's value; a ratio unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// Lower limit, in the unit of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_least: Option<f64>,
    /// Upper limit, in the unit of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    /// End of the pause from which on `re-convergence` counts, in whole seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<TimeDelta>,
}

/// JSON Schema of suites alone, by which a file is checked.
fn suite_schema() -> &'static serde_json::Value {
    static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| schema_for!(SuiteFile).to_value());
    &SCHEMA
}

/// JSON Schema of study files: a suite, or a row with the claims of a paper. Each has a required key that the other
/// lacks.
pub fn study_schema() -> &'static serde_json::Value {
    static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| {
        let mut generator = SchemaGenerator::default();
        let forms = [generator.subschema_for::<SuiteFile>(), generator.subschema_for::<Row>()];
        serde_json::json!({
            "$schema": generator.settings().meta_schema,
            "title": "StudyFile",
            "description": "Suite of cases, or row with the claims of a paper.",
            "oneOf": forms,
            "$defs": generator.definitions(),
        })
    });
    &SCHEMA
}

impl Suite {
    /// Opens the suite in the file at `path`, and all its cases with the controllers of `registry`. The name of the
    /// suite is that of the file without its ending.
    ///
    /// # Errors
    /// The file cannot be read, is no suite, or makes no sense. The error has every mistake with its place and with
    /// advice. Mistakes in a scenario file are shown in that file.
    pub fn open(registry: &Registry, path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let whole = |message: String, help: String| {
            let problem = Problem::value(&KeyPath::default(), message).help(help);
            ScenarioError::new(&file, "", None, problem)
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_drawn = name == DRAWN || name.starts_with(&format!("{DRAWN}-"));
        if is_drawn || SUITES.iter().any(|suite| suite.name == name) {
            let help = "give the file another name: results and folders are called by it".to_owned();
            return Err(whole(format!("a suite called `{name}` ships with weir"), help));
        }
        let text = text_of(path, MOST_WRITTEN).map_err(|error| {
            let names: Vec<&str> = SUITES.iter().map(|suite| suite.name.as_str()).collect();
            let help = format!("name a file, or one of {}, which ship", names.join(", "));
            whole(format!("the suite cannot be read: {error}"), help)
        })?;
        let origin = Origin::of(&file, &text);
        let table: Table =
            toml::from_str(&text).map_err(|error| origin.plain_error(error.span(), error.message()))?;
        origin.check(weir_form::check(&table, Shape::new(suite_schema()), &|_, _| None))?;
        let given: SuiteFile =
            weir_form::read(table).map_err(|message| origin.plain_error(None, &message))?;
        origin.check(of_the_whole(&given))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let reader = ScenarioReader { registry, origin: &origin, folder, formulas: &given.formulas };
        let cases = given.cases.iter().enumerate();
        let cases: Vec<Case> =
            cases.map(|(index, case)| reader.case(index, case)).collect::<Result<_, _>>()?;
        let controllers = reader.candidates(&given.controllers, &cases)?;
        Ok(Self { name, title: given.title, controllers, cases })
    }
}

/// Mistakes in a file that are found before any scenario is opened.
fn of_the_whole(file: &SuiteFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    let cases = KeyPath::of(&["cases"]);
    if file.cases.is_empty() {
        let problem = Problem::value(&cases, "there is no case");
        problems.push(problem.help("add `[[cases]]` with `name`, `scenario` and `[[cases.checks]]`"));
    }
    for (index, case) in file.cases.iter().enumerate() {
        let path = cases.item(index);
        problems.extend(name_problem(case, &file.cases[..index], &path.with("name")));
        let checks = path.with("checks");
        if case.checks.is_empty() {
            let problem = Problem::value(&checks, "the case has no check");
            problems.push(problem.help("add a check such as `{ quantity = \"rate\", at_least = 80 }`"));
        }
        for (number, check) in case.checks.iter().enumerate() {
            problems.extend(check_problem(check, &case.checks[..number], &checks.item(number)));
        }
    }
    problems
}

fn name_problem(case: &CaseOfFile, before: &[CaseOfFile], path: &KeyPath) -> Option<Problem> {
    let name = case.name.as_str();
    let problem = |message: String, help: &str| Some(Problem::value(path, message).help(help));
    if before.iter().any(|other| other.name == name) {
        return problem(format!("two cases are called `{name}`"), "give each a name of its own");
    }
    let is_bare = name.trim() == name && !name.is_empty();
    if !is_bare || name.contains(|c: char| c == ',' || c == '/' || c.is_control()) {
        let help = "write a name without commas and slashes, and without spaces at its ends";
        return problem(format!("`{name}` cannot be named after `--case`"), help);
    }
    None
}

fn check_problem(check: &CheckOfFile, before: &[CheckOfFile], path: &KeyPath) -> Option<Problem> {
    let Some(name) = check.name() else { return Some(without_subject(check, path)) };
    let value = |key: &str, message: String| Problem::value(&path.with(key), message);
    if before.iter().any(|earlier| earlier.name() == Some(name)) {
        let key = if check.quantity.is_some() { "quantity" } else { "name" };
        let problem = value(key, format!("`{name}` is checked twice in this case"));
        return Some(problem.help("leave one of them; a second case can have the other"));
    }
    if let Some(quantity) = check.quantity {
        if let Some((key, _)) = check.of_formula().into_iter().find(|(_, given)| *given) {
            let problem = Problem::key(&path.with(key), format!("`{key}` belongs to a formula"));
            return Some(problem.help("leave it out, or `quantity`"));
        }
        // The quantity decides the direction of its limit; a formula leaves it to the file.
        let (better, right, wrong, other) = if quantity.higher_is_better() {
            ("higher", "at_least", "at_most", check.at_most)
        } else {
            ("lower", "at_most", "at_least", check.at_least)
        };
        if other.is_some() {
            let message = format!("`{name}` is the better, the {better} it is");
            return Some(Problem::key(&path.with(wrong), message).help(format!("write `{right}`")));
        }
        if check.limit().is_none() {
            let problem = Problem::value(path, format!("`{name}` has no limit"));
            return Some(problem.help(format!("add `{right}`")));
        }
    }
    let Some(limit) = check.limit() else {
        let message = format!("`{name}` has no limit, or two of them");
        return Some(Problem::value(path, message).help("write either `at_least` or `at_most`"));
    };
    if !(limit.value().is_finite() && limit.value() > 0.0) {
        let key = if limit.higher_is_better() { "at_least" } else { "at_most" };
        let help = "write a number above 0: margins are shares of it";
        return Some(value(key, format!("{} is no limit", limit.value())).help(help));
    }
    match (check.quantity == Some(Quantity::Reconvergence), check.at) {
        (true, None) => {
            let problem = Problem::value(path, format!("`{name}` counts from a time that is not given"));
            Some(problem.help("add `at`: when the pause ends, such as \"60s\""))
        }
        (true, Some(at)) if whole_seconds(at).is_none() => Some(
            value("at", format!("{at} is no whole number of seconds")).help("write a time such as \"60s\""),
        ),
        (false, Some(_)) => {
            let problem = Problem::key(&path.with("at"), format!("`{name}` has no time"));
            Some(problem.help("leave it out; `re-convergence` has one"))
        }
        _ => None,
    }
}

/// Mistake in a check that has neither a quantity nor a formula with a name.
fn without_subject(check: &CheckOfFile, path: &KeyPath) -> Problem {
    if check.of.is_some() {
        let problem = Problem::value(path, "the formula has no name for tables");
        return problem.help("add `name`, such as \"queue above omniscient\"");
    }
    let help = "add `quantity`, such as \"rate\", or `of`: a formula such as \"run:links.NAME.queue_ms.p95\"";
    Problem::value(path, "nothing is measured").help(help)
}

fn whole_seconds(time: TimeDelta) -> Option<u32> {
    let whole = time.nanos() % 1_000_000_000 == 0;
    whole.then(|| u32::try_from(time.nanos() / 1_000_000_000).ok())?
}

impl CheckOfFile {
    /// Name in tables, or `None` without a quantity and without a named formula.
    fn name(&self) -> Option<&str> {
        let named = self.name.as_deref().filter(|name| self.of.is_some() && !name.is_empty());
        self.quantity.map(Quantity::name).or(named)
    }

    /// Keys that belong to a formula, and whether each is given.
    fn of_formula(&self) -> [(&'static str, bool); 3] {
        [("of", self.of.is_some()), ("name", self.name.is_some()), ("unit", self.unit.is_some())]
    }

    /// The only limit.
    fn limit(&self) -> Option<Limit> {
        match (self.at_least, self.at_most) {
            (Some(limit), None) => Some(Limit::AtLeast(limit)),
            (None, Some(limit)) => Some(Limit::AtMost(limit)),
            _ => None,
        }
    }
}

/// Mistake and advice for a formula that names something no run of a suite has.
fn mistake(formula: &Formula) -> Option<(String, String)> {
    let of_leaf = |leaf: &Leaf| {
        if ![RUN, OMNISCIENT].contains(&leaf.variant.as_str()) {
            let message = format!("there is no run `{}`", leaf.variant);
            return Some((message, advice(&leaf.variant, [RUN, OMNISCIENT])));
        }
        if leaf.path.starts_with("windows.") {
            let message = format!("`{}` is in a window, and a suite measures whole runs", leaf.path);
            return Some((
                message,
                "leave out `windows.NAME.`, or use a time series and `between`".to_owned(),
            ));
        }
        paths::problem(&leaf.path, None)
    };
    let axis = |axis: &str| (format!("there is no sweep `{axis}`"), "write a number in its place".to_owned());
    formula.leaves().into_iter().find_map(of_leaf).or_else(|| formula.axes().first().map(|name| axis(name)))
}

/// Opens the scenarios of a file's cases.
struct ScenarioReader<'a> {
    registry: &'a Registry,
    origin: &'a Origin,
    folder: &'a Path,
    /// Formulas that others can name.
    formulas: &'a BTreeMap<String, String>,
}

impl ScenarioReader<'_> {
    fn case(&self, index: usize, given: &CaseOfFile) -> Result<Case, ScenarioError> {
        let path = KeyPath::of(&["cases"]).item(index);
        let name = self.scenario(&given.scenario, &path.with("scenario"))?;
        // Mistakes in the settings are reported in the suite's file, all others in the scenario's.
        Scenario::open_in(self.registry, &name, &[])?;
        let mut scenario = None;
        for number in 0..=given.set.len() {
            let opened = Scenario::open_in(self.registry, &name, &given.set[..number]);
            let at = || path.with("set").item(number.saturating_sub(1));
            scenario = Some(opened.map_err(|error| self.moved(&error, &at()))?);
        }
        let Some(scenario) = scenario else { unreachable!("the scenario itself was opened") };
        let checks = given.checks.iter().enumerate();
        let checks = checks.map(|(number, check)| self.check(check, &path.with("checks").item(number)));
        let own = Case {
            name: given.name.clone(),
            title: given.title.clone().unwrap_or_else(|| scenario.title.clone()),
            scenario: name,
            text: None,
            set: given.set.clone(),
            checks: checks.collect::<Result<_, _>>()?,
            preset: given.preset.clone(),
            swept: None,
            from: given.from,
            judges_load: given.judges_load,
            bound_known: false,
        };
        self.origin.check(self.sense(given, &own.checks, &scenario, &path))?;
        // A missing trace is an error of the run; the substitute varies as much.
        if let Some(Untimely { check, message, help }) = own.untimely(&scenario, &TraceStore::at(None)) {
            let path = path.with("checks").item(check).with("at");
            return Err(self.origin.error(Problem::value(&path, message).help(help)));
        }
        Ok(own)
    }

    /// Check with its formula read.
    fn check(&self, given: &CheckOfFile, path: &KeyPath) -> Result<Check, ScenarioError> {
        let limit = given.limit().unwrap_or(Limit::AtLeast(f64::NAN));
        let Some(text) = &given.of else {
            let quantity = given.quantity.unwrap_or(Quantity::Rate);
            let at = given.at.and_then(whole_seconds).unwrap_or(0);
            return Ok(Check::named(quantity.name(), quantity, at, limit.value()));
        };
        let path = path.with("of");
        let refuse = |message, help| self.origin.error(Problem::value(&path, message).help(help));
        let reading = FormulaContext { scope: Scope::Place, named: self.formulas };
        let formula = parse_as(text, reading).map_err(|mistake| refuse(mistake.message, mistake.help))?;
        if let Some((message, help)) = mistake(&formula) {
            return Err(refuse(message, help));
        }
        let (name, unit) = (given.name.clone().unwrap_or_default(), given.unit.clone().unwrap_or_default());
        let subject = JudgedValue::Formula(text.clone(), formula);
        Ok(Check { name: name.into(), unit: unit.into(), subject, limit })
    }

    /// Name by which the scenario is opened.
    fn scenario(&self, given: &str, path: &KeyPath) -> Result<String, ScenarioError> {
        if shipped::find(given).is_some() {
            return Ok(given.to_owned());
        }
        let file = self.folder.join(given);
        if file.is_file() {
            return Ok(file.to_string_lossy().into_owned());
        }
        let names = shipped::SCENARIOS.iter().map(|scenario| scenario.name);
        let message = format!("no scenario ships as `{given}`, and there is no file {}", file.display());
        Err(self.origin.error(Problem::value(path, message).help(advice(given, names))))
    }

    /// Error, moved to the place in this file that caused it.
    fn moved(&self, error: &ScenarioError, path: &KeyPath) -> ScenarioError {
        let problem = Problem::value(path, error.message());
        let help = error.advice().map(str::to_owned);
        self.origin.error(Problem { help, ..problem })
    }

    /// Mistakes of the case that only its scenario shows.
    fn sense(
        &self,
        given: &CaseOfFile,
        checks: &[Check],
        scenario: &Scenario,
        path: &KeyPath,
    ) -> Vec<Problem> {
        let has =
            |wanted: fn(&FlowTraffic) -> bool| scenario.flows.iter().any(|(_, flow)| wanted(&flow.carried));
        let mut problems = Vec::new();
        if !has(|carried| matches!(carried, FlowTraffic::Media(media) if !media.competitor)) {
            let problem = Problem::value(
                &path.with("scenario"),
                "it has no media flow that a controller could take over",
            );
            problems.push(problem.help("name a scenario with a flow of `kind = \"media\"`"));
        }
        let has_tcp = has(|carried| matches!(carried, FlowTraffic::Tcp(_)));
        for (number, check) in given.checks.iter().enumerate() {
            if let Some(Quantity::RateAgainstTcp) = check.quantity.filter(|_| !has_tcp) {
                let path = path.with("checks").item(number).with("quantity");
                let name = Quantity::RateAgainstTcp.name();
                let problem = Problem::value(&path, format!("`{name}` needs a TCP flow beside the call"));
                problems.push(problem.help("name a scenario with a flow of `kind = \"tcp\"`"));
            }
        }
        let has_neighbour =
            has_tcp || has(|carried| matches!(carried, FlowTraffic::Media(media) if media.competitor));
        for (number, check) in given.checks.iter().enumerate() {
            if check.quantity == Some(Quantity::Neighbour) && !has_neighbour {
                let path = path.with("checks").item(number).with("quantity");
                let problem =
                    Problem::value(&path, "`neighbour` needs a TCP flow or a competitor beside the call");
                let help = "name a scenario with a flow of `kind = \"tcp\"`, or with `competitor = true`";
                problems.push(problem.help(help));
            }
        }
        // A missing trace is an error of the run.
        let run = scenario.build(&RunOptions::new(1), &TraceStore::at(None));
        for (number, check) in checks.iter().enumerate() {
            let JudgedValue::Formula(_, formula) = &check.subject else { continue };
            let (path, plan) = (path.with("checks").item(number).with("of"), run.as_ref().ok());
            let named = |leaf| plan.and_then(|run| paths::missing_name(&run.plan, leaf, &path));
            problems.extend(formula.leaves().into_iter().find_map(named));
        }
        if let Some(from) = given.from.filter(|&from| from < TimeDelta::ZERO || from >= scenario.duration) {
            let problem = Problem::value(&path.with("from"), format!("{from} is no time of the run"));
            problems
                .push(problem.help(format!("write a time from 0s to before its end, {}", scenario.duration)));
        }
        if let Some(preset) = &given.preset {
            let presets: Vec<&str> = self
                .registry
                .controllers()
                .flat_map(|info| info.presets.iter().map(|own| &*own.name))
                .collect();
            if !presets.contains(&preset.as_str()) {
                let problem =
                    Problem::value(&path.with("preset"), format!("no controller has a preset `{preset}`"));
                problems.push(problem.help(advice(preset, presets)));
            }
        }
        problems
    }

    /// Candidates of `controllers`; each is opened in every case, as the scenario may define it as a variant.
    fn candidates(&self, given: &[String], cases: &[Case]) -> Result<Vec<Candidate>, ScenarioError> {
        let mut all: Vec<Candidate> = Vec::new();
        for (index, text) in given.iter().enumerate() {
            let path = KeyPath::of(&["controllers"]).item(index);
            let own =
                Candidate::list(text).map_err(|problem| self.origin.error(Problem::value(&path, problem)))?;
            for candidate in own {
                for case in cases {
                    case.scenario(self.registry, &candidate).map_err(|error| self.moved(&error, &path))?;
                }
                if !all.contains(&candidate) {
                    all.push(candidate);
                }
            }
        }
        Ok(all)
    }
}
