//! Rows by name, and rows from files.

use std::path::Path;

use super::catalogue::{ROWS, ShippedRow};
use super::read::Experiment;
use weir_form::{KeyPath, Problem, ScenarioError, advice_of_many};
use weir_scenario::registry::Registry;

/// Opens the shipped rows of these names or of this paper, in order, or all of them without either. Rows from files,
/// whose names end in `.toml`, come after them. Their scenarios can name the controllers of `registry`.
///
/// # Errors
/// An unknown name or paper, a missing or invalid file, or two rows of one name.
pub fn open(
    registry: &Registry,
    names: &[String],
    paper: Option<&str>,
) -> Result<Vec<Experiment>, ScenarioError> {
    let is_file = |name: &&String| Path::new(name).extension().is_some_and(|end| end == "toml");
    let (files, named): (Vec<&String>, Vec<&String>) = names.iter().partition(is_file);
    let named: Vec<String> = named.into_iter().cloned().collect();
    let shipped = if named.is_empty() && !files.is_empty() && paper.is_none() {
        Vec::new()
    } else {
        select(&named, paper)?
    };
    let files = files.into_iter().map(|file| Experiment::open(Path::new(file)));
    let rows = shipped.into_iter().map(Experiment::shipped).chain(files);
    let among = |row: Experiment| Experiment { registry: registry.clone(), ..row };
    let rows: Vec<Experiment> = rows.map(|row| row.map(among)).collect::<Result<_, _>>()?;
    match rows
        .iter()
        .enumerate()
        .find(|(index, row)| rows[..*index].iter().any(|other| other.name == row.name))
    {
        None => Ok(rows),
        Some((_, twice)) => {
            let problem =
                Problem::value(&KeyPath::default(), format!("two rows are called `{}`", twice.name));
            let help = "a row that is a file is called as its folder and itself: rename one, or leave it out";
            Err(ScenarioError::new("row", &twice.name, None, problem.help(help)))
        }
    }
}

/// Shipped rows of these names or of this paper, in order; all of them without either.
///
/// # Errors
/// An unknown name or paper.
pub(super) fn select(
    names: &[String],
    paper: Option<&str>,
) -> Result<Vec<&'static ShippedRow>, ScenarioError> {
    let missing = |option: &str, name: &str, known: Vec<&str>| {
        let problem = Problem::value(&KeyPath::default(), format!("there is no `{name}`"));
        let problem = problem.help(advice_of_many(name, known, "docs/reproduction.md has all"));
        ScenarioError::new(option, name, Some((0, name.len())), problem)
    };
    let all = || ROWS.iter().map(|row| row.name);
    if let Some(wrong) = names.iter().find(|name| !all().any(|own| own == **name)) {
        return Err(missing("row", wrong, all().collect()));
    }
    let of_paper = |row: &str, paper: &str| row.split('/').next() == Some(paper);
    if let Some(wrong) = paper.filter(|paper| !all().any(|row| of_paper(row, paper))) {
        let mut papers: Vec<&str> = all().filter_map(|row| row.split('/').next()).collect();
        papers.dedup();
        return Err(missing("--paper", wrong, papers));
    }
    let wanted = |row: &&ShippedRow| {
        let all = names.is_empty() && paper.is_none();
        all || names.iter().any(|name| name == row.name)
            || paper.is_some_and(|paper| of_paper(row.name, paper))
    };
    Ok(ROWS.iter().filter(wanted).collect())
}
