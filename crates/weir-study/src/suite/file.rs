//! Suites of the user's own: a TOML file with cases and limits.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::LazyLock;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use toml::Table;
use weir_units::TimeDelta;

use super::cases::{Case, SUITES, Suite};
use super::check::{Check, Limit, QUEUE_WAIT, Quantity};
use super::drawn::DRAWN;
use super::moments::Untimely;
use weir_form::{KeyPath, MOST_WRITTEN, Origin, Problem, ScenarioError, Shape, advice, text_of};
use weir_import::traces::TraceStore;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, Carried, Scenario};
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

/// Check: a quantity and its limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckOfFile {
    /// Measured quantity.
    quantity: Measured,
    /// Lower limit, in the quantity's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_least: Option<f64>,
    /// Upper limit, in the quantity's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    /// End of the pause from which on `re-convergence` counts, in whole seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<TimeDelta>,
}

/// Quantity of a check, by its name in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum Measured {
    /// Rate over share from 20 s on, in %, of the media flow with the least ratio.
    #[serde(rename = "rate")]
    Rate,
    /// Rate over share for each stretch between changes of the capacity, in %; the least counts.
    #[serde(rename = "rate after each step")]
    RateAfterEachStep,
    /// Rate over the share of the capacity that short transfers left, in %.
    #[serde(rename = "rate beside transfers")]
    RateBesideTransfers,
    /// Rate over share, in %, from 20 s on until `from`.
    #[serde(rename = "rate before")]
    RateBefore,
    /// Rate of the calls over that of TCP in their place, in %.
    #[serde(rename = "rate against TCP")]
    RateAgainstTcp,
    /// 95th percentile of the packets' waits, in ms.
    #[serde(rename = "queue wait p95")]
    QueueWait,
    /// Packets lost over packets sent, in %, of the media flow with the greatest loss.
    #[serde(rename = "loss")]
    Loss,
    /// Jain's index of rate over share.
    #[serde(rename = "Jain")]
    Jain,
    /// Rate over share, in %, of the flow with the least ratio, TCP included.
    #[serde(rename = "coexistence")]
    Coexistence,
    /// Seconds from `at` until each media flow is back at its share.
    #[serde(rename = "re-convergence")]
    Reconvergence,
    /// Deviation of a flow's part from the part of its priority, in %.
    #[serde(rename = "off priority")]
    OffPriority,
    /// 99th percentile over frames from capture to the last packet's arrival, in ms.
    #[serde(rename = "frame delay p99")]
    FrameDelay,
    /// Payload of frames in time over that of the omniscient sender, in %.
    #[serde(rename = "useful")]
    Useful,
    /// Excess of the frame delay over the omniscient sender's, in ms.
    #[serde(rename = "excess frame delay")]
    ExcessFrameDelay,
    /// Rate over share, in %, of the TCP flow with the least ratio.
    #[serde(rename = "neighbour")]
    Neighbour,
}

/// Quantities of checks: the name of each, its unit, empty for a ratio, and its definition.
pub fn quantities() -> Vec<[String; 3]> {
    let words = suite_schema()["$defs"]["Measured"]["oneOf"].as_array();
    let quantity = |word: &serde_json::Value| {
        let Meaning { name, unit, .. } = Measured::deserialize(&word["const"]).ok()?.meaning(0);
        Some([name, unit, word["description"].as_str()?].map(str::to_owned))
    };
    words.into_iter().flatten().filter_map(quantity).collect()
}

/// Definition of a [`Measured`].
struct Meaning {
    name: &'static str,
    unit: &'static str,
    quantity: Quantity,
    higher_is_better: bool,
}

impl Measured {
    /// Definition of the quantity; `at` is that of re-convergence, in seconds.
    const fn meaning(self, at: u32) -> Meaning {
        let (name, unit, quantity, higher_is_better) = match self {
            Self::Rate => ("rate", "%", Quantity::Rate, true),
            Self::RateAfterEachStep => ("rate after each step", "%", Quantity::RateAfterEachStep, true),
            Self::RateBefore => ("rate before", "%", Quantity::RateBefore, true),
            Self::RateBesideTransfers => ("rate beside transfers", "%", Quantity::RateBesideTransfers, true),
            Self::RateAgainstTcp => ("rate against TCP", "%", Quantity::RateAgainstTcp, true),
            Self::QueueWait => (QUEUE_WAIT, "ms", Quantity::QueueWait, false),
            Self::Loss => ("loss", "%", Quantity::Loss, false),
            Self::Jain => ("Jain", "", Quantity::Jain, true),
            Self::Coexistence => ("coexistence", "%", Quantity::Coexistence, true),
            Self::Reconvergence => ("re-convergence", "s", Quantity::Reconvergence { at }, false),
            Self::OffPriority => ("off priority", "%", Quantity::PriorityShares, false),
            Self::FrameDelay => ("frame delay p99", "ms", Quantity::FrameDelay, false),
            Self::Useful => ("useful", "%", Quantity::Useful, true),
            Self::ExcessFrameDelay => ("excess frame delay", "ms", Quantity::ExcessFrameDelay, false),
            Self::Neighbour => ("neighbour", "%", Quantity::Neighbour, true),
        };
        Meaning { name, unit, quantity, higher_is_better }
    }

    /// Whether the check needs a TCP flow beside the call.
    const fn needs_tcp(self) -> bool {
        matches!(self, Self::RateAgainstTcp)
    }
}

/// JSON Schema of suite files.
pub fn suite_schema() -> &'static serde_json::Value {
    static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| schema_for!(SuiteFile).to_value());
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
        let reader = Reader { registry, origin: &origin, folder };
        let cases = given.cases.iter().enumerate();
        let cases: Vec<Case> =
            cases.map(|(index, case)| reader.case(index, case)).collect::<Result<_, _>>()?;
        let controllers = reader.contestants(&given.controllers, &cases)?;
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
            let problem = Problem::value(&checks, "nothing is asked in this case");
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
    let Meaning { name, higher_is_better, .. } = check.quantity.meaning(0);
    let (right, wrong) = if higher_is_better { ("at_least", "at_most") } else { ("at_most", "at_least") };
    let (limit, other) =
        if higher_is_better { (check.at_least, check.at_most) } else { (check.at_most, check.at_least) };
    let value = |key: &str, message: String| Problem::value(&path.with(key), message);
    if before.iter().any(|earlier| earlier.quantity == check.quantity) {
        let problem = value("quantity", format!("`{name}` is asked twice in this case"));
        return Some(problem.help("leave one of them; a second case can have the other"));
    }
    if other.is_some() {
        let better = if higher_is_better { "higher" } else { "lower" };
        let problem = Problem::key(&path.with(wrong), format!("`{name}` is the better, the {better} it is"));
        return Some(problem.help(format!("write `{right}`")));
    }
    let Some(limit) = limit else {
        return Some(Problem::value(path, format!("`{name}` has no limit")).help(format!("add `{right}`")));
    };
    if !(limit.is_finite() && limit > 0.0) {
        let help = "write a number above 0: margins are told in per cent of it";
        return Some(value(right, format!("{limit} is no limit")).help(help));
    }
    match (check.quantity == Measured::Reconvergence, check.at) {
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

fn whole_seconds(time: TimeDelta) -> Option<u32> {
    let whole = time.nanos() % 1_000_000_000 == 0;
    whole.then(|| u32::try_from(time.nanos() / 1_000_000_000).ok())?
}

impl CheckOfFile {
    /// Check with a limit of the right side.
    fn check(&self) -> Check {
        let Meaning { name, unit, quantity, higher_is_better } =
            self.quantity.meaning(self.at.and_then(whole_seconds).unwrap_or(0));
        let limit = self.at_least.or(self.at_most).unwrap_or(f64::NAN);
        let limit = if higher_is_better { Limit::AtLeast(limit) } else { Limit::AtMost(limit) };
        Check { name, unit, quantity, limit }
    }
}

/// Opens the scenarios of a file's cases.
struct Reader<'a> {
    registry: &'a Registry,
    origin: &'a Origin,
    folder: &'a Path,
}

impl Reader<'_> {
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
        let own = Case {
            name: given.name.clone(),
            title: given.title.clone().unwrap_or_else(|| scenario.title.clone()),
            scenario: name,
            text: None,
            set: given.set.clone(),
            checks: given.checks.iter().map(CheckOfFile::check).collect(),
            preset: given.preset.clone(),
            swept: None,
            from: given.from,
            judges_load: given.judges_load,
            bound_known: false,
        };
        self.origin.check(self.sense(given, &scenario, &path))?;
        // A missing trace is an error of the run; the substitute varies as much.
        if let Some(Untimely { check, message, help }) = own.untimely(&scenario, &TraceStore::at(None)) {
            let path = path.with("checks").item(check).with("at");
            return Err(self.origin.error(Problem::value(&path, message).help(help)));
        }
        Ok(own)
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
        let names = shipped::SCENARIOS.iter().map(|own| own.name);
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
    fn sense(&self, given: &CaseOfFile, scenario: &Scenario, path: &KeyPath) -> Vec<Problem> {
        let has = |wanted: fn(&Carried) -> bool| scenario.flows.iter().any(|(_, flow)| wanted(&flow.carried));
        let mut problems = Vec::new();
        if !has(|carried| matches!(carried, Carried::Media(media) if !media.competitor)) {
            let problem = Problem::value(
                &path.with("scenario"),
                "it has no media flow that a controller could take over",
            );
            problems.push(problem.help("name a scenario with a flow of `kind = \"media\"`"));
        }
        let has_tcp = has(|carried| matches!(carried, Carried::Tcp(_)));
        for (number, check) in given.checks.iter().enumerate() {
            if check.quantity.needs_tcp() && !has_tcp {
                let path = path.with("checks").item(number).with("quantity");
                let name = check.quantity.meaning(0).name;
                let problem = Problem::value(&path, format!("`{name}` asks for a TCP flow beside the call"));
                problems.push(problem.help("ask it of a scenario with a flow of `kind = \"tcp\"`"));
            }
        }
        let has_neighbour =
            has_tcp || has(|carried| matches!(carried, Carried::Media(media) if media.competitor));
        for (number, check) in given.checks.iter().enumerate() {
            if check.quantity == Measured::Neighbour && !has_neighbour {
                let path = path.with("checks").item(number).with("quantity");
                let problem =
                    Problem::value(&path, "`neighbour` asks for a TCP flow or a competitor beside the call");
                let help =
                    "ask it of a scenario with a flow of `kind = \"tcp\"`, or with `competitor = true`";
                problems.push(problem.help(help));
            }
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
    fn contestants(&self, given: &[String], cases: &[Case]) -> Result<Vec<Candidate>, ScenarioError> {
        let mut all: Vec<Candidate> = Vec::new();
        for (index, text) in given.iter().enumerate() {
            let path = KeyPath::of(&["controllers"]).item(index);
            let own =
                Candidate::list(text).map_err(|problem| self.origin.error(Problem::value(&path, problem)))?;
            for contestant in own {
                for case in cases {
                    case.scenario(self.registry, &contestant).map_err(|error| self.moved(&error, &path))?;
                }
                if !all.contains(&contestant) {
                    all.push(contestant);
                }
            }
        }
        Ok(all)
    }
}
