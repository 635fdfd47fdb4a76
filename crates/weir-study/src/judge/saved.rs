//! Saved studies: results of suites and verdicts on claims, as far as a comparison with a later result needs them.
//!
//! A file has the `cases` of a suite, as `weir suite --save` writes them, or the `claims` of papers, as
//! `weir reproduce --json` prints them. A list of claims alone is read as well; each needs its `id` and its `verdict`.
//! A case has checks by controller. A row of a paper is a case without controllers, and its claims are the checks.
//! Further keys are not read.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use weir_form::{MOST_PRINTED, text_of};
use weir_measure::results::Value;
use weir_scenario::compile::TraceUse;

use super::error::BaselineError;
use super::verdict::Verdict;

/// Judged values of an earlier result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedStudy {
    /// Path of the file, or another name for messages.
    pub(crate) source: String,
    /// Name of the suite; empty for claims.
    pub(crate) suite: String,
    /// The seeds of the runs; empty for claims.
    pub(crate) seeds: Vec<u64>,
    /// Rule by which the media flows skip frames; empty if the file has none.
    pub skip_rule: String,
    /// Cases of the suite, or rows of papers.
    pub(crate) cases: Vec<SavedCase>,
}

/// Case of a suite, or row of a paper (`PAPER/ROW`).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct SavedCase {
    /// Name of the case or row.
    pub(crate) name: String,
    /// Place on a sweep, if any.
    #[serde(default, rename = "swept", deserialize_with = "is_given")]
    pub(crate) is_swept: bool,
    /// Traces of its links.
    #[serde(default)]
    pub(crate) traces: Vec<TraceUse>,
    /// Values by controller; of a row a single one, without a name.
    pub(crate) controllers: Vec<SavedController>,
    /// Whether it was compared with the omniscient sender, as all cases of today are.
    #[serde(default, rename = "omniscient", deserialize_with = "is_given")]
    pub(crate) has_omniscient: bool,
}

/// Judged values of a case under one controller.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct SavedController {
    /// Name of the controller; empty for the claims of a row.
    pub(crate) name: String,
    /// Judged values.
    #[serde(rename = "checks")]
    pub(crate) values: Vec<SavedValue>,
}

/// Judged value: a check, or a claim.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "ValueOfFile")]
pub(crate) struct SavedValue {
    /// Name of the check or claim.
    pub(crate) name: String,
    /// Verdict.
    pub(crate) verdict: Verdict,
    /// Whether the mean keeps to the limit, or the claim is met.
    pub(crate) is_met: bool,
    /// Whether it counts; a check may be excluded for all controllers.
    pub(crate) counts: bool,
    /// Value of each run, in the order of the seeds; empty if the verdict alone is compared.
    pub(crate) runs: Vec<Value>,
    /// Mean of the runs.
    pub(crate) mean: Value,
    /// The limit; 0 for a claim.
    pub(crate) limit: f64,
    /// Whether higher values are better.
    pub(crate) higher_is_better: bool,
    /// Unit of values and limit; empty for a ratio.
    pub(crate) unit: String,
    /// Formula of the values; absent for a quantity and for a claim.
    pub(crate) of: Option<String>,
}

/// [`SavedValue`] as a file has it.
#[derive(Deserialize)]
struct ValueOfFile {
    /// A claim's `PAPER/ROW/CLAIM`.
    id: Option<String>,
    /// A check's name.
    name: Option<String>,
    verdict: Option<Verdict>,
    passed: Option<bool>,
    #[serde(default)]
    open: bool,
    void: Option<Verdict>,
    #[serde(default)]
    values: Vec<Value>,
    mean: Value,
    #[serde(default)]
    limit: f64,
    #[serde(default)]
    higher_is_better: bool,
    #[serde(default)]
    unit: String,
    of: Option<String>,
}

impl TryFrom<ValueOfFile> for SavedValue {
    type Error = &'static str;

    fn try_from(file: ValueOfFile) -> Result<Self, Self::Error> {
        let name = file.id.or(file.name).ok_or("missing field `id` of a claim, or `name` of a check")?;
        // Files of versions with two verdicts have `passed` alone.
        let verdict = match (file.open, file.passed) {
            (_, None) => file.verdict.ok_or("missing field `verdict`, or `passed`")?,
            (true, _) => Verdict::Open,
            (false, Some(true)) => Verdict::Passed,
            (false, Some(false)) => Verdict::Missed,
        };
        Ok(Self {
            name,
            verdict,
            is_met: file.passed.unwrap_or(verdict.is_met()),
            counts: file.void.is_none(),
            runs: file.values,
            mean: file.mean,
            limit: file.limit,
            higher_is_better: file.higher_is_better,
            unit: file.unit,
            of: file.of,
        })
    }
}

/// Content of a file.
#[derive(Default, Deserialize)]
struct StudyOfFile {
    suite: Option<String>,
    seeds: Option<Vec<u64>>,
    #[serde(default)]
    skip_rule: String,
    cases: Option<Vec<SavedCase>>,
    claims: Option<Vec<SavedValue>>,
    #[serde(default)]
    provenance: ProvenanceOfFile,
}

/// Provenance of claims in a file.
#[derive(Default, Deserialize)]
struct ProvenanceOfFile {
    /// Settings applied to the rows.
    #[serde(default)]
    changed: Vec<String>,
}

/// Whether a key has a value.
fn is_given<'de, D: serde::Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Option::<serde::de::IgnoredAny>::deserialize(from).map(|given| given.is_some())
}

impl StudyOfFile {
    fn read(path: &Path) -> Result<(String, Self), BaselineError> {
        let name = path.display().to_string();
        let text = match text_of(path, MOST_PRINTED) {
            Ok(text) => text,
            Err(source) => return Err(BaselineError::Unreadable { path: name, source }),
        };
        let is_list = text.trim_start().starts_with('[');
        let claims = || Ok(Self { claims: Some(serde_json::from_str(&text)?), ..Self::default() });
        let read: Result<Self, serde_json::Error> =
            if is_list { claims() } else { serde_json::from_str(&text) };
        match read {
            Ok(file) => Ok((name, file)),
            Err(error) => Err(BaselineError::Malformed {
                path: name,
                line: error.line(),
                column: error.column(),
                problem: error.to_string(),
            }),
        }
    }
}

impl SavedStudy {
    /// Reads the result of a suite.
    ///
    /// # Errors
    /// The file cannot be read, is no saved study, or has claims of papers.
    pub fn of_suite(path: &Path) -> Result<Self, BaselineError> {
        let (path, file) = StudyOfFile::read(path)?;
        let StudyOfFile { suite, seeds, skip_rule, cases, claims, .. } = file;
        let lacking = match (suite, seeds, cases) {
            (Some(suite), Some(seeds), Some(cases)) => {
                return Ok(Self { source: path, suite, seeds, skip_rule, cases });
            }
            (None, None, None) if claims.is_some() => return Err(BaselineError::ClaimsNotSuite { path }),
            (None, _, _) => "suite",
            (_, None, _) => "seeds",
            (_, _, None) => "cases",
        };
        Err(BaselineError::Incomplete { path, lacking })
    }

    /// Reads the verdicts on claims.
    ///
    /// # Errors
    /// The file cannot be read, is no saved study, is of changed rows, or has the result of a suite.
    pub fn of_claims(path: &Path) -> Result<Self, BaselineError> {
        let (path, file) = StudyOfFile::read(path)?;
        match file.claims {
            Some(_) if !file.provenance.changed.is_empty() => Err(BaselineError::ChangedRows { path }),
            Some(claims) => Ok(Self { source: path, cases: rows(claims), ..Self::default() }),
            None if file.cases.is_some() => Err(BaselineError::SuiteNotClaims { path }),
            None => Err(BaselineError::Incomplete { path, lacking: "claims" }),
        }
    }

    /// Claims with these verdicts, by `PAPER/ROW/CLAIM`.
    pub(crate) fn with_verdicts(source: &str, claims: impl Iterator<Item = (String, Verdict)>) -> Self {
        let claims = claims.map(|(id, verdict)| SavedValue::of_verdict(id, verdict)).collect();
        Self { source: source.to_owned(), cases: rows(claims), ..Self::default() }
    }

    /// All values, each with its case and controller.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&SavedCase, &str, &SavedValue)> {
        let controllers =
            self.cases.iter().flat_map(|case| case.controllers.iter().map(move |own| (case, own)));
        controllers
            .flat_map(|(case, own)| own.values.iter().map(move |value| (case, own.name.as_str(), value)))
    }

    /// Case of this name.
    pub(crate) fn case(&self, name: &str) -> Option<&SavedCase> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// Values of a case under a controller.
    pub(crate) fn controller(&self, case: &str, controller: &str) -> Option<&SavedController> {
        self.case(case)?.controllers.iter().find(|own| own.name == controller)
    }

    /// Value of this name of a case under a controller.
    pub(crate) fn value(&self, case: &str, controller: &str, name: &str) -> Option<&SavedValue> {
        self.controller(case, controller)?.values.iter().find(|value| value.name == name)
    }
}

impl SavedValue {
    /// Value of which the verdict alone is compared.
    fn of_verdict(name: String, verdict: Verdict) -> Self {
        Self {
            name,
            verdict,
            is_met: verdict.is_met(),
            counts: true,
            runs: Vec::new(),
            mean: None,
            limit: 0.0,
            higher_is_better: false,
            unit: String::new(),
            of: None,
        }
    }

    /// Number of runs that lack a value. Runs in which a check does not apply have no value either, but the others then
    /// have a mean.
    pub(crate) fn lacking(&self) -> usize {
        if self.mean.is_some() { 0 } else { self.runs.iter().filter(|value| value.is_none()).count() }
    }
}

/// Rows of claims, each a case with the claims below it.
fn rows(claims: Vec<SavedValue>) -> Vec<SavedCase> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows: Vec<(String, Vec<SavedValue>)> = Vec::new();
    for claim in claims {
        let (row, name) = claim.name.rsplit_once('/').unwrap_or(("", &claim.name));
        let place = *places.entry(row.to_owned()).or_insert(rows.len());
        if place == rows.len() {
            rows.push((row.to_owned(), Vec::new()));
        }
        let name = name.to_owned();
        rows[place].1.push(SavedValue { name, ..claim });
    }
    let of_row = |(name, values)| SavedCase {
        name,
        controllers: vec![SavedController { name: String::new(), values }],
        ..SavedCase::default()
    };
    rows.into_iter().map(of_row).collect()
}
