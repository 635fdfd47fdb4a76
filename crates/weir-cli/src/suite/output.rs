//! The output of a suite's run: on the terminal, in its folder, and in the requested files.

use std::io::Write;
use std::path::{Path, PathBuf};

use weir_form::Varied;
use weir_scenario::registry::Registry;
use weir_study::judge::Verdict;
use weir_study::suite::{CheckChanges, ControllerResult, MATRIX, RESULT, Suite, SuiteResult, SuiteRun};

use super::{LEADERS, LEADERS_HEAD, LEGEND, changes, junit, markdown};
use crate::args::{SuiteArgs, TableForm};
use crate::browser;
use crate::differences;
use crate::failure::Failure;
use crate::output::{DEFAULT_OUT, OutputDirectory, OutputFile, RUNS, json_file};
use crate::table;
use crate::terminal;

/// All results of a run.
pub(super) struct SuiteFindings<'a> {
    pub(super) suite: &'a Suite,
    pub(super) run: &'a SuiteRun,
    /// Further remarks for the reader.
    pub(super) notes: &'a [String],
    /// Changes since the base.
    pub(super) changes: Option<&'a CheckChanges>,
}

impl SuiteFindings<'_> {
    fn title(&self) -> String {
        self.run.result.titled(&self.suite.title)
    }

    fn json(&self) -> Result<Vec<u8>, Failure> {
        Ok(json_file(&self.run.result)?)
    }

    fn markdown(&self) -> String {
        let matrix = markdown::matrix(&self.title(), &self.run.result, self.notes);
        let changes = self.changes.map(markdown::changes);
        changes.map_or(matrix.clone(), |changes| format!("{matrix}\n{changes}"))
    }
}

/// Form of the printed result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputForm {
    Table,
    Markdown,
    Json,
}

/// Destinations of the output.
pub(super) struct OutputDestinations {
    form: OutputForm,
    directory: Option<OutputDirectory>,
    /// Whether the directory keeps runs.
    keeps_runs: bool,
    save: Option<OutputFile>,
    junit: Option<OutputFile>,
    markdown: Option<OutputFile>,
    /// Form of the table of all runs.
    table: TableForm,
    /// The keys that are varied.
    varied: Vec<Varied>,
    /// The arguments that repeat the suite over the same traces.
    repeat: Vec<String>,
}

impl OutputDestinations {
    /// Checks that all files of `args` can be written; `cases` are those of `suite` that are run, all if empty.
    ///
    /// # Errors
    /// An error if a file cannot be written, or would overwrite the base or another file of this run.
    pub(super) fn prepare(
        args: &SuiteArgs,
        registry: &Registry,
        suite: &Suite,
        cases: &[&str],
    ) -> Result<Self, Failure> {
        let to_stdout = args.markdown.as_deref() == Some(Path::new("-"));
        if to_stdout && args.json {
            let problem = "--json prints to the same place; leave out one of them, or name a file".to_owned();
            return Err(Failure::Option { option: "--markdown -".to_owned(), problem });
        }
        let markdown = args.markdown.as_deref().filter(|_| !to_stdout);
        let out = directory(args, suite, cases);
        let result = out.as_ref().map(|out| out.join(RESULT));
        let runs = args.out.as_ref().map(|out| out.join(RUNS));
        let written = [
            (args.save.as_deref(), "--save"),
            (args.junit.as_deref(), "--junit"),
            (markdown, "--markdown"),
            (result.as_deref(), "--out"),
            (runs.as_deref(), "--out"),
        ];
        each_in_its_place(&written)?;
        is_kept("--baseline", args.baseline.as_deref(), &written)?;
        is_kept("suite", args.file(), &written)?;
        let prepare = |path: Option<&Path>| path.map(OutputFile::prepare).transpose();
        let form = match (args.json, to_stdout) {
            (true, _) => OutputForm::Json,
            (false, true) => OutputForm::Markdown,
            (false, false) => OutputForm::Table,
        };
        Ok(Self {
            form,
            save: prepare(args.save.as_deref())?,
            junit: prepare(args.junit.as_deref())?,
            markdown: prepare(markdown)?,
            table: args.table,
            varied: args.sweep.clone(),
            repeat: args.repeated(suite),
            keeps_runs: args.out.is_some(),
            directory: out.as_deref().map(|path| OutputDirectory::prepare(path, registry)).transpose()?,
        })
    }

    /// Writes every file, each whole or not at all, whether others fail or not.
    ///
    /// # Errors
    /// The error of the first one that could not be written.
    pub(super) fn write(&mut self, findings: &SuiteFindings<'_>) -> Result<(), Failure> {
        let mut first = Ok(());
        if let Some(directory) = &mut self.directory {
            let shown = (findings.suite.title.as_str(), self.repeat.as_slice());
            let written = findings.run.write(directory, self.table.format(), &self.varied, shown);
            first = written.map_err(Failure::from);
        }
        if first.is_err() {
            // The directory does not exist, so no message may name it.
            self.directory = None;
        }
        if let Some(save) = &self.save {
            let saved = findings.json().and_then(|json| Ok(save.write(&json)?));
            first = first.and(saved);
        }
        if let Some(file) = &self.junit {
            let report = junit::report(&findings.title(), &findings.run.result).map_err(Failure::from);
            first = first.and(report.and_then(|report| Ok(file.write(&report)?)));
        }
        if let Some(file) = &self.markdown {
            first = first.and(file.write(findings.markdown().as_bytes()).map_err(Failure::from));
        }
        first
    }

    /// Whether a table of all runs is written.
    pub(super) fn has_table(&self) -> bool {
        self.directory.is_some() && self.table != TableForm::None
    }

    /// The directory that keeps the runs, if requested.
    pub(super) fn keeping(&self) -> Option<&OutputDirectory> {
        self.directory.as_ref().filter(|_| self.keeps_runs)
    }

    /// Where the matrix is, if it was written.
    pub(super) fn matrix(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.path(MATRIX))
    }

    /// Prints the result, and its changes.
    ///
    /// # Errors
    /// An error if the reader has closed the stream.
    pub(super) fn print(&self, findings: &SuiteFindings<'_>) -> Result<(), Failure> {
        let mut out = terminal::stdout();
        match self.form {
            OutputForm::Json => {
                let printed = out.write_all(&findings.json()?).map_err(Failure::from);
                printed.and(changes::print(&mut terminal::stderr(), findings.notes, findings.changes))
            }
            OutputForm::Markdown => Ok(out.write_all(findings.markdown().as_bytes())?),
            OutputForm::Table => {
                matrix(&mut out, &findings.title(), &findings.run.result)?;
                if let Some(directory) = &self.directory {
                    let (cases, all) = (findings.run.result.cases.len(), findings.suite.cases.len());
                    let some = if cases < all { format!(" ({cases} of {all} cases)") } else { String::new() };
                    writeln!(out, "Matrix: {}{some}", browser::link(&directory.path(MATRIX)))?;
                }
                changes::print(&mut out, findings.notes, findings.changes)
            }
        }
    }
}

/// The directory of the page, or `None` without one. A run of some cases does not overwrite the matrix of all of
/// them.
fn directory(args: &SuiteArgs, suite: &Suite, cases: &[&str]) -> Option<PathBuf> {
    let some = if !args.sweep.is_empty() {
        "-sweep"
    } else if cases.is_empty() || cases.len() == suite.cases.len() {
        ""
    } else {
        "-some"
    };
    let usual = || Path::new(DEFAULT_OUT).join(format!("suite-{}{some}", suite.name));
    args.out.clone().or_else(|| (!args.json).then(usual))
}

/// A file to write, and the option that names it.
type WrittenFile<'a> = (Option<&'a Path>, &'a str);

/// The canonical location of a file, however its path is written: its folder in one spelling, and its name.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// An error if two files of this run are one.
fn each_in_its_place(written: &[WrittenFile<'_>]) -> Result<(), Failure> {
    for (index, (path, option)) in written.iter().enumerate() {
        let Some(path) = path else { continue };
        // A device accepts any number of outputs.
        let there = |other: &Path| place(other) == place(path) && !path.starts_with("/dev");
        let same = |(other, _): &&WrittenFile<'_>| other.is_some_and(there);
        if let Some((_, other)) = written[..index].iter().find(same) {
            let problem = format!("{other} writes there, too; name another file");
            return Err(Failure::Option { option: format!("{option} {}", path.display()), problem });
        }
    }
    Ok(())
}

/// An error if a run would overwrite its base, which would hide a regression from the next run, or its own suite.
fn is_kept(what: &str, base: Option<&Path>, written: &[WrittenFile<'_>]) -> Result<(), Failure> {
    let Some(base) = base else { return Ok(()) };
    for (path, advice) in written {
        let same =
            |path: &&Path| matches!((path.canonicalize(), base.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if path.as_ref().is_some_and(same) {
            let problem =
                format!("this run would write over it; keep a copy of it, or give another {advice}");
            return Err(Failure::Option { option: format!("{what} {}", base.display()), problem });
        }
    }
    Ok(())
}

fn matrix(out: &mut impl Write, title: &str, result: &SuiteResult) -> Result<(), Failure> {
    writeln!(out, "{}", terminal::bold(title))?;
    writeln!(out, "{} runs per case and controller; {}", result.seeds.len(), result.skip_rule)?;
    writeln!(out, "{}\n", table::sentence(LEGEND, table::terminal_width()))?;
    let names: Vec<&str> = result.controllers().collect();
    let mut rows: Vec<(String, Vec<String>)> = result
        .cases
        .iter()
        .map(|case| (case.name.clone(), case.controllers.iter().map(cell).collect()))
        .collect();
    rows.extend(result.totals().into_iter().map(|(label, figures)| (label.to_owned(), figures)));
    writeln!(out, "{}", table::words("case", &names, &rows, table::terminal_width()))?;
    if result.is_drawn() {
        let cases = result.cases.iter().map(|case| vec![case.name.clone(), case.title.clone()]);
        writeln!(out, "{}\n", table::plain(&super::CASES_HEAD, cases.collect()))?;
    }
    let leaders = result.leaders();
    if !leaders.is_empty() {
        writeln!(out, "{}\n", table::sentence(LEADERS, table::terminal_width()))?;
        writeln!(out, "{}\n", table::plain(&LEADERS_HEAD, leaders.into_iter().map(Vec::from).collect()))?;
    }
    for case in &result.cases {
        differences::write(out, Some(&case.name), &case.differences())?;
    }
    Ok(())
}

/// `✓ rate 93 % (+16, +3 %)`, green, red or yellow.
fn cell(result: &ControllerResult) -> String {
    let verdict = result.verdict();
    let colour = match verdict {
        Verdict::Missed | Verdict::TwoKinds => 31,
        Verdict::Open => 33,
        verdict if verdict.is_met() => 32,
        _ => 0,
    };
    let words = terminal::printable(&result.in_words());
    format!("\u{1b}[{colour}m{}\u{1b}[0m {words}", verdict.mark())
}
