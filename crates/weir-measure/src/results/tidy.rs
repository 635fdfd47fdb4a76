//! Results of runs as one long table: a row for each metric of each run.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::LazyLock;

use super::RunMetrics;
use super::measures::{FlowMeasures, LinkMeasures, Measures};
use super::over_runs::{NamedMetrics, Value, number_of_names};
use super::units::metric_unit;
use crate::csv_fields::quoted;

/// Version of the table's columns and metrics, `weir.table.version` in the metadata of its files.
pub const TABLE_VERSION: u32 = 1;

/// A metric of the tidy table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricName {
    /// Its path in the results of a controller: `flows[].owd_excess_ms.p95`.
    pub name: String,
    /// Its unit, a UCUM code.
    pub unit: &'static str,
}

/// Every metric of the table, in the order of its rows.
pub fn table_metrics() -> &'static [MetricName] {
    static METRICS: LazyLock<Vec<MetricName>> = LazyLock::new(|| {
        let mut names = Vec::new();
        Measures::<Value>::add_names("", &mut names);
        names.into_iter().map(|name| MetricName { unit: metric_unit(&name), name }).collect()
    });
    &METRICS
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name; `KEY` stands for a swept key.
    pub name: &'static str,
    /// Its type in Parquet: `uint32`, `uint64`, `double` or `string`.
    pub kind: &'static str,
    /// Whether it can be null.
    pub nullable: bool,
    /// Meaning of its values.
    pub definition: &'static str,
}

const fn text(name: &'static str, nullable: bool, definition: &'static str) -> ColumnInfo {
    ColumnInfo { name, kind: "string", nullable, definition }
}

/// The columns of the table, in their order in files.
pub const TABLE_COLUMNS: [ColumnInfo; 13] = [
    ColumnInfo {
        name: "run",
        kind: "uint32",
        nullable: false,
        definition: "index of the run, from 0: places of a sweep, then controllers, then seeds",
    },
    text("scenario", false, "the scenario, SUITE/CASE of a suite, PAPER/ROW of a reproduction"),
    text("variant", false, "name under which the controller was compared, or variant of a row"),
    text("controller", false, "the controller"),
    ColumnInfo { name: "seed", kind: "uint64", nullable: false, definition: "the seed of the run" },
    ColumnInfo {
        name: "at.KEY",
        kind: "double or string",
        nullable: true,
        definition: "value of a swept key; the unit of numbers stands in the metadata under unit.at.KEY, if they have one",
    },
    text("flow", true, "the flow, for metrics of flows"),
    text("link", true, "the link, for metrics of links"),
    text("window", true, "the window of measurement; null for that of the whole run"),
    text("item", true, "index from 0 in the list of a metric such as flows[].convergence[].seconds"),
    text("metric", false, "the metric, by its name in `weir explain`"),
    ColumnInfo {
        name: "value",
        kind: "double",
        nullable: true,
        definition: "the value; null where it is not defined",
    },
    text("unit", false, "unit of the value, a UCUM code"),
];

/// Names of the text columns, in their order.
const TEXTS: [&str; 9] =
    ["scenario", "variant", "controller", "flow", "link", "window", "item", "metric", "unit"];

/// A column of texts: a code per row, the index of its category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextColumn {
    /// The different texts.
    pub categories: Vec<String>,
    /// The category of each row; −1 for null.
    pub codes: Vec<i32>,
}

/// Code of a row without a text.
const NULL: i32 = -1;

impl TextColumn {
    /// The code of `text`, among few categories.
    fn code(&mut self, text: &str) -> i32 {
        let known = self.categories.iter().position(|own| own == text);
        known.unwrap_or_else(|| {
            self.categories.push(text.to_owned());
            self.categories.len() - 1
        }) as i32
    }

    /// The text of a row, or `None` for null.
    pub fn text(&self, row: usize) -> Option<&str> {
        let code = usize::try_from(*self.codes.get(row)?).ok()?;
        self.categories.get(code).map(String::as_str)
    }
}

/// A column of texts with the code of each.
#[derive(Clone, Debug, Default)]
struct CodedTexts {
    column: TextColumn,
    known: HashMap<String, i32>,
}

impl CodedTexts {
    /// The code of `text`.
    fn code(&mut self, text: &str) -> i32 {
        if let Some(&code) = self.known.get(text) {
            return code;
        }
        let code = self.column.categories.len() as i32;
        self.column.categories.push(text.to_owned());
        self.known.insert(text.to_owned(), code);
        code
    }
}

/// A key that a sweep varies, as a column `at.KEY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAxis {
    /// The key.
    pub key: String,
    /// Kind of its values.
    pub kind: AxisKind,
}

/// Kind of the values of a swept key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisKind {
    /// Numbers in a unit, a UCUM code; `None` for a sweep of a paper's row, which has the row's own numbers.
    Numbers(Option<String>),
    /// Texts.
    Texts,
}

/// Value of a swept key in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisValue {
    /// A number in the unit of the axis.
    Number(f64),
    /// A text.
    Text(String),
    /// The run is not part of this sweep.
    Missing,
}

/// A column of a swept key.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisColumn {
    /// Its name: `at.KEY`.
    pub name: String,
    /// The values.
    pub values: AxisValues,
}

/// The values of a swept key, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisValues {
    /// Numbers, NaN for null, in this UCUM unit if they have one.
    Numbers(Vec<f64>, Option<String>),
    /// Texts.
    Texts(TextColumn),
}

/// A run to be added to a table.
#[derive(Clone, Copy, Debug)]
pub struct TidyRun<'a> {
    /// Its index among all runs, in the order of places, variants and seeds.
    pub run: u32,
    /// Name of its scenario, or of the case of a suite.
    pub scenario: &'a str,
    /// Name under which its controller was compared.
    pub variant: &'a str,
    /// The controller.
    pub controller: &'a str,
    /// Its seed.
    pub seed: u64,
    /// The metrics.
    pub metrics: &'a RunMetrics,
}

/// A long table in columns: a row for each metric of each run.
#[derive(Clone, Debug, Default)]
pub struct TidyTable {
    runs: Vec<u32>,
    seeds: Vec<u64>,
    values: Vec<f64>,
    texts: [CodedTexts; TEXTS.len()],
    axes: Vec<AxisColumn>,
}

/// Codes of the columns that are the same for a part of a run's rows.
#[derive(Clone, Copy)]
struct RowCodes {
    run: u32,
    seed: u64,
    texts: [i32; TEXTS.len()],
}

/// Positions in [`TEXTS`].
const SCENARIO: usize = 0;
const VARIANT: usize = 1;
const CONTROLLER: usize = 2;
const FLOW: usize = 3;
const LINK: usize = 4;
const WINDOW: usize = 5;
const ITEM: usize = 6;
const METRIC: usize = 7;
const UNIT: usize = 8;

/// Number of metrics of a flow.
static FLOW_NAMES: LazyLock<usize> = LazyLock::new(number_of_names::<FlowMeasures<Value>>);
/// Number of metrics of a link.
static LINK_NAMES: LazyLock<usize> = LazyLock::new(number_of_names::<LinkMeasures<Value>>);

impl TidyTable {
    /// A table without rows.
    pub fn new() -> Self {
        Self::with_axes(&[])
    }

    /// A table without rows, with a column for each swept key.
    pub fn with_axes(axes: &[TableAxis]) -> Self {
        let column = |axis: &TableAxis| {
            let values = match &axis.kind {
                AxisKind::Numbers(unit) => AxisValues::Numbers(Vec::new(), unit.clone()),
                AxisKind::Texts => AxisValues::Texts(TextColumn::default()),
            };
            AxisColumn { name: format!("at.{}", axis.key), values }
        };
        let mut table = Self { axes: axes.iter().map(column).collect(), ..Self::default() };
        for metric in table_metrics() {
            table.texts[METRIC].code(&metric.name);
            table.texts[UNIT].code(metric.unit);
        }
        table
    }

    /// Adds the rows of a run.
    pub fn push(&mut self, run: TidyRun<'_>) {
        self.push_at(run, &[]);
    }

    /// Adds the rows of a run of a sweep, with the value of each axis; missing ones are null.
    pub fn push_at(&mut self, run: TidyRun<'_>, at: &[AxisValue]) {
        let TidyRun { run, scenario, variant, controller, seed, metrics } = run;
        let mut texts = [NULL; TEXTS.len()];
        for (column, text) in [(SCENARIO, scenario), (VARIANT, variant), (CONTROLLER, controller)] {
            texts[column] = self.texts[column].code(text);
        }
        self.push_measures(RowCodes { run, seed, texts }, metrics);
        for (index, axis) in self.axes.iter_mut().enumerate() {
            axis.fill(at.get(index).unwrap_or(&AxisValue::Missing), self.runs.len());
        }
    }

    fn push_measures(&mut self, row: RowCodes, metrics: &RunMetrics) {
        let Measures { flows, media, links, jain, windows } = metrics;
        let mut first = 0;
        for flow in flows {
            let named = self.with_text(row, FLOW, &flow.name);
            self.push_values(named, first, flow);
        }
        first += *FLOW_NAMES;
        first = self.push_values(row, first, media);
        for link in links {
            let named = self.with_text(row, LINK, &link.name);
            self.push_values(named, first, link);
        }
        first += *LINK_NAMES;
        self.push_values(row, first, jain);
        for (name, window) in windows {
            let named = self.with_text(row, WINDOW, name);
            self.push_measures(named, window);
        }
    }

    fn with_text(&mut self, mut row: RowCodes, column: usize, text: &str) -> RowCodes {
        row.texts[column] = self.texts[column].code(text);
        row
    }

    fn push_values(&mut self, row: RowCodes, first: usize, metrics: &impl NamedMetrics) -> usize {
        let all = table_metrics();
        metrics.each_value(first, &mut |metric, item, value| {
            let mut texts = row.texts;
            texts[METRIC] = metric as i32;
            texts[UNIT] = self.texts[UNIT].code(all[metric].unit);
            if let Some(item) = item {
                texts[ITEM] = self.texts[ITEM].code(&item.to_string());
            }
            self.runs.push(row.run);
            self.seeds.push(row.seed);
            self.values.push(value.filter(|value| value.is_finite()).unwrap_or(f64::NAN));
            for (column, code) in self.texts.iter_mut().zip(texts) {
                column.column.codes.push(code);
            }
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The run of each row.
    pub fn runs(&self) -> &[u32] {
        &self.runs
    }

    /// The seed of each row.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The value of each row; NaN where it is not defined.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The text columns with their names: scenario, variant, controller, flow, link, window, item, metric, unit.
    pub fn text_columns(&self) -> impl Iterator<Item = (&'static str, &TextColumn)> {
        TEXTS.into_iter().zip(self.texts.iter().map(|coded| &coded.column))
    }

    /// The columns of swept keys, in the order of the axes.
    pub fn axis_columns(&self) -> impl Iterator<Item = &AxisColumn> {
        self.axes.iter()
    }

    /// All columns in the order of files, each by its name.
    pub fn columns(&self) -> Vec<(&str, TableColumn<'_>)> {
        let mut columns = vec![("run", TableColumn::Runs(&self.runs))];
        for (name, column) in self.text_columns() {
            if name == "flow" {
                columns.push(("seed", TableColumn::Seeds(&self.seeds)));
                columns.extend(self.axis_columns().map(|axis| (axis.name.as_str(), TableColumn::Axis(axis))));
            }
            if name == "unit" {
                columns.push(("value", TableColumn::Values(&self.values)));
            }
            columns.push((name, TableColumn::Text(column)));
        }
        columns
    }

    /// Writes the table as comma-separated values (RFC 4180); null is an empty cell.
    ///
    /// # Errors
    /// An error of `out`.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.columns();
        let head: Vec<_> = columns.iter().map(|(name, _)| quoted(name)).collect();
        writeln!(out, "{}", head.join(","))?;
        for row in 0..self.len() {
            for (index, (_, column)) in columns.iter().enumerate() {
                if index > 0 {
                    write!(out, ",")?;
                }
                column.write_cell(out, row)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub enum TableColumn<'t> {
    /// Indices of runs.
    Runs(&'t [u32]),
    /// Seeds.
    Seeds(&'t [u64]),
    /// Values, NaN for null.
    Values(&'t [f64]),
    /// Texts.
    Text(&'t TextColumn),
    /// Values of a swept key.
    Axis(&'t AxisColumn),
}

impl TableColumn<'_> {
    fn write_cell(&self, out: &mut impl Write, row: usize) -> io::Result<()> {
        let text = |out: &mut dyn Write, column: &TextColumn| match column.text(row) {
            Some(text) => write!(out, "{}", quoted(text)),
            None => Ok(()),
        };
        let number = |out: &mut dyn Write, values: &[f64]| match values.get(row) {
            Some(value) if value.is_finite() => write!(out, "{value}"),
            _ => Ok(()),
        };
        match self {
            Self::Runs(runs) => write!(out, "{}", runs[row]),
            Self::Seeds(seeds) => write!(out, "{}", seeds[row]),
            Self::Values(values) => number(out, values),
            Self::Text(column) => text(out, column),
            Self::Axis(axis) => match &axis.values {
                AxisValues::Numbers(values, _) => number(out, values),
                AxisValues::Texts(column) => text(out, column),
            },
        }
    }
}

impl AxisColumn {
    /// Extends the column to `rows` rows by `value`.
    fn fill(&mut self, value: &AxisValue, rows: usize) {
        match &mut self.values {
            AxisValues::Numbers(numbers, _) => {
                let number = if let AxisValue::Number(number) = value { *number } else { f64::NAN };
                numbers.resize(rows, number);
            }
            AxisValues::Texts(column) => {
                let code = if let AxisValue::Text(text) = value { column.code(text) } else { NULL };
                column.codes.resize(rows, code);
            }
        }
    }
}
