//! `weir explain`: the meaning of a metric, a check or a column of a series, and where to find it.

use std::io::Write;

use serde::Serialize;
use weir_cc::{LimitingFactor, ascii_name};
use weir_form::{KeyInfo, advice_of_many, keys};
use weir_measure::metrics::{DECISION_COLUMNS, SERIES_COLUMNS};
use weir_measure::results::{self, NO_UNIT, UNIT_ENDS};
use weir_report::page::SummaryColumn;
use weir_scenario::registry::Registry;
use weir_study::comparison::glossary;
use weir_study::suite;

use crate::args::ExplainArgs;
use crate::compare::cost_column;
use crate::failure::Failure;
use crate::table;
use crate::terminal;

/// Path of the results of a controller.
const CONTROLLER: &str = "controllers[].";
/// Placeholders in the columns of series for the name of a flow, a link or a coupling.
const OF_ANY: [&str; 3] = ["FLOW", "LINK", "COUPLING"];

/// The glossary: a table of terms with their aliases, meanings and sources.
const GLOSSARY: &str = include_str!("../glossary.md");

/// A meaning of a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Term {
    name: String,
    unit: String,
    definition: String,
    stands_in: String,
}

/// Prints the meaning of a metric or term; all of them without one.
pub(crate) fn explain(args: &ExplainArgs, registry: &Registry) -> Result<(), Failure> {
    let all = terms(registry);
    let name = args.metric.join(" ");
    let meant: Vec<&Term> = all.iter().filter(|term| name.is_empty() || term.is_called(&name)).collect();
    if meant.is_empty() {
        let names = all.iter().flat_map(|term| [term.name.as_str(), term.last()]);
        let mut known: Vec<&str> = Vec::new();
        for name in names.filter(|name| !name.contains('.')) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
        let last = of_bin(&name).rsplit('.').next().unwrap_or(&name);
        let advice = advice_of_many(last, known, "`weir explain` lists all");
        let problem = format!("there is no such metric or term; {advice}");
        return Err(Failure::Option { option: format!("explain {name}"), problem });
    }
    let mut out = terminal::stdout();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&meant).map_err(std::io::Error::from)?)?;
        return Ok(());
    }
    let width = table::terminal_width();
    if name.is_empty() {
        let row =
            |term: &&Term| [&term.name, &term.definition, &term.unit, &term.stands_in].map(Clone::clone);
        let rows: Vec<Vec<String>> = meant.iter().map(|term| row(term).to_vec()).collect();
        writeln!(
            out,
            "{}",
            table::one_line_each(&["name", "what it is", "unit", "stands in"], &rows, width).0
        )?;
        return Ok(());
    }
    for (index, Term { name, unit, definition, stands_in }) in meant.into_iter().enumerate() {
        let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        let before = if index == 0 { "" } else { "\n" };
        writeln!(out, "{before}{}{unit}", terminal::bold(name))?;
        writeln!(out, "{}", table::indented(definition, width))?;
        writeln!(out, "{}", table::indented(stands_in, width))?;
    }
    Ok(())
}

/// Everything that has a name: the columns of tables, the keys of the results, the checks of suites, the columns of series.
fn terms(registry: &Registry) -> Vec<Term> {
    let of_column = |(column, tables): (SummaryColumn, String)| Term {
        name: column.label,
        unit: column.unit,
        definition: column.definition,
        stands_in: format!("tables of {tables}"),
    };
    let cost = (cost_column(), "`weir compare --cost`".to_owned());
    let mut terms: Vec<Term> = glossary::columns().into_iter().chain([cost]).map(of_column).collect();
    let schema = results::results_schema().to_value();
    let keys = keys(&schema);
    terms.extend(keys.iter().filter_map(|key| of_key(key, &keys)));
    terms.extend(suite::quantities().into_iter().map(|[name, unit, definition]| Term {
        name,
        unit,
        definition,
        stands_in: "checks of `weir suite`, and the suites' files".to_owned(),
    }));
    terms.extend(SERIES_COLUMNS.iter().map(|column| Term {
        name: column.name.to_owned(),
        unit: column.unit.to_owned(),
        definition: column.definition.to_owned(),
        stands_in: SERIES.to_owned(),
    }));
    terms.extend(DECISION_COLUMNS.map(|column| Term {
        name: column.name.to_owned(),
        unit: column.unit.to_owned(),
        definition: column.definition.to_owned(),
        stands_in: DECISIONS.to_owned(),
    }));
    terms.extend(LimitingFactor::ALL.map(|factor| Term {
        name: factor.name().to_owned(),
        unit: String::new(),
        definition: format!("a limiting factor, what keeps the rate from rising over the next second: {}", factor.meaning()),
        stands_in: "the ribbon of the report, FLOW.limiting_factor of series, time_per_limiting_factor of results".to_owned(),
    }));
    terms.extend(signals(registry));
    terms.extend(glossary_terms(GLOSSARY));
    terms
}

/// Files with the time series of a run.
const DECISIONS: &str = "decisions-CONTROLLER.csv and .parquet";
const SERIES: &str = "series-CONTROLLER.csv and .parquet";

/// The terms of the table in `text`, one for each alias.
fn glossary_terms(text: &str) -> Vec<Term> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    let rows = text.lines().filter(|line| line.starts_with("| ")).skip(1).map(cells);
    let term = |name: &str, row: &[String]| Term {
        name: name.trim().to_owned(),
        unit: String::new(),
        definition: row[1].replace('`', ""),
        stands_in: format!("glossary; source: {}", row[2].replace('`', "")),
    };
    let rows = rows.filter(|row| row.len() == 3);
    rows.flat_map(|row| row[0].split(',').map(|name| term(name, &row)).collect::<Vec<_>>()).collect()
}

/// The signals of the controllers, those once that several have.
fn signals(registry: &Registry) -> Vec<Term> {
    let mut terms: Vec<(Term, Vec<&str>)> = Vec::new();
    for controller in registry.controller_names() {
        let halves = [
            ("sender", registry.sender_signals(controller)),
            ("receiver", registry.receiver_signals(controller)),
        ];
        for (word, signals) in halves {
            for signal in signals.unwrap_or_default() {
                let name = ascii_name(signal.name);
                let of_paper = if name == signal.name { String::new() } else { format!("{}: ", signal.name) };
                let term = Term {
                    name: format!("FLOW.{word}.{name}"),
                    unit: signal.unit.to_owned(),
                    definition: format!("{of_paper}{}", signal.meaning),
                    stands_in: String::new(),
                };
                match terms.iter_mut().find(|(own, _)| *own == term) {
                    Some((_, controllers)) => controllers.push(controller),
                    None => terms.push((term, vec![controller])),
                }
            }
        }
    }
    let with_controllers = |(term, controllers): (Term, Vec<&str>)| Term {
        stands_in: format!("{SERIES} of {}, behind it .min and .max of the bin", controllers.join(", ")),
        ..term
    };
    terms.into_iter().map(with_controllers).collect()
}

/// The term of a key of the results, if it is a number of a run.
fn of_key(key: &KeyInfo, all: &[KeyInfo]) -> Option<Term> {
    let find = |path: &str| all.iter().find(|other| other.key == path);
    // A number is given as mean and interval over the runs.
    find(&format!("{}.ci95", key.key))?;
    let name = key.key.strip_prefix(CONTROLLER).unwrap_or(&key.key);
    let whole = name.rsplit_once('.').filter(|(above, _)| !above.ends_with("[]"));
    let whole = whole.and_then(|(above, _)| find(&format!("{CONTROLLER}{above}")));
    let words = whole.map(|above| above.description.as_str()).into_iter().chain([key.description.as_str()]);
    // The documentation of a source constant adds no information to its name.
    let words = words.filter(|text| !(text.starts_with("[`") && text.contains("::") && !text.contains(' ')));
    let unit = results::metric_unit(name);
    Some(Term {
        name: name.to_owned(),
        unit: if unit == NO_UNIT { String::new() } else { unit.to_owned() },
        definition: words.collect::<Vec<_>>().join(" ").replace(['[', ']', '`'], ""),
        stands_in: format!("results.json and `weir run --json`: {}, mean and ci95 over the runs", key.key),
    })
}

impl Term {
    /// Whether `name` means it. The name may have that of a flow, a link or a coupling in place of the
    /// placeholder. Of a path the last keys suffice, with or without the unit at their end.
    fn is_called(&self, name: &str) -> bool {
        if let Some((of, rest)) = self.name.split_once('.')
            && OF_ANY.contains(&of)
            && let Some((_, named)) = name.trim().split_once('.')
            && (plain(named) == plain(rest) || self.is_signal() && plain(of_bin(named)) == plain(rest))
        {
            return true;
        }
        let name = plain(if self.is_signal() { of_bin(name) } else { name });
        let own = plain(&self.name);
        let without_unit = |own: &str| {
            let mut units = UNIT_ENDS.iter().map(|(end, _)| end.trim_start_matches('_'));
            units.find_map(|unit| own.strip_suffix(unit).map(|rest| rest.trim_end().to_owned()))
        };
        let is = |own: &str| own == name || without_unit(own).as_ref() == Some(&name);
        let mut ends = self.name.match_indices('.').map(|(at, _)| plain(&self.name[at + 1..]));
        is(&own) || ends.any(|end| is(&end))
    }

    /// Whether it is a signal, of which a series has the least and the greatest value in each bin.
    fn is_signal(&self) -> bool {
        ["FLOW.sender.", "FLOW.receiver."].iter().any(|side| self.name.starts_with(side))
    }

    /// The last key of a path.
    fn last(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// The name of a signal without the suffix of its columns.
fn of_bin(name: &str) -> &str {
    let name = name.trim();
    name.strip_suffix(".min").or(name.strip_suffix(".max")).unwrap_or(name)
}

/// A name, whatever joins its parts.
fn plain(name: &str) -> String {
    ascii_name(name.trim()).to_lowercase().replace(['_', '-'], " ")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn the_results_have_the_metrics_of_the_table_with_the_same_units() {
        let all = terms(&Registry::standard());
        let explained: BTreeMap<&str, &str> = all
            .iter()
            .filter(|term| term.stands_in.starts_with("results.json"))
            .map(|term| (term.name.as_str(), if term.unit.is_empty() { NO_UNIT } else { &term.unit }))
            .collect();
        let metrics = results::table_metrics();
        let of_table = metrics.iter().map(|metric| (metric.name.as_str(), metric.unit)).collect();
        assert_eq!(explained, of_table);
        assert_eq!(explained.len(), metrics.len(), "a name is there twice");
    }

    #[test]
    fn signals_have_different_names_in_ascii_and_units_of_ucum() {
        let registry = weir_scenario::registry::with_references(Registry::standard());
        for controller in registry.known_names() {
            for signals in [registry.sender_signals(controller), registry.receiver_signals(controller)]
                .into_iter()
                .flatten()
            {
                let mut names = BTreeSet::new();
                for signal in signals {
                    let name = ascii_name(signal.name);
                    assert!(
                        name.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()),
                        "{controller}: {name}"
                    );
                    assert!(names.insert(name), "{controller}: {}", signal.name);
                    assert!(results::ucum(signal.unit).is_ascii(), "{controller}: {}", signal.unit);
                }
            }
        }
    }

    #[test]
    fn the_terms_of_the_field_are_known() {
        let terms = glossary_terms(GLOSSARY);
        assert!(
            terms.iter().all(|term| !term.definition.is_empty() && term.stands_in.len() > 18),
            "{terms:?}"
        );
        for name in ["frame delay", "jitter", "queue", "fairness", "bitrate", "limited by", "target", "REMB"]
        {
            assert!(terms.iter().any(|term| term.is_called(name)), "{name}");
        }
        let rows = GLOSSARY.lines().filter(|line| line.starts_with("| ")).count() - 1;
        assert!(rows <= 80 && terms.len() >= rows, "{rows} rows, {} terms", terms.len());
    }
}
