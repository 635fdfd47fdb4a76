//! Further problems of a scenario whose form is wrong. The parts with mistakes of form are removed, and the rest is validated as
//! far as possible.

use toml::{Table, Value};

use super::validate;
use crate::registry::Registry;
use crate::scenario::{Scenario, scenario_shape};
use weir_form::{KeyPath, OptionsOf, Problem};

/// Default values of required keys, so that the scenario can be read.
const STAND_INS: [(&str, &str); 2] = [("title", ""), ("duration", "60s")];
/// Keys that refer to something by name; an unknown name is a problem regardless of other keys.
const NAMES: [&str; 8] =
    ["controller", "controllers", "algorithm", "cell", "from", "to", "route", "reverse_route"];
/// Keys of flows that determine their paths.
const TO_WAYS: [&str; 4] = ["from", "to", "route", "reverse_route"];
/// Keys of links that determine paths.
const OF_WAYS: [&str; 4] = ["from", "to", "count", "duplex"];

/// Problems other than of form in `table`, whose problems of form are `problems`.
pub(super) fn problems(
    registry: &Registry,
    mut table: Table,
    options: OptionsOf<'_, '_>,
    problems: &[Problem],
) -> Vec<Problem> {
    for problem in problems {
        remove(&mut table, &problem.path.0);
        // A flow with a controller counts as media, as its kind is wrong.
        if let [section, name, key] = problem.path.0.as_slice()
            && [section.as_str(), key] == ["flows", "kind"]
            && let Some(flow) = table.get_mut(section).and_then(|flows| flows.get_mut(name))
            && let Some(flow) = flow.as_table_mut().filter(|flow| flow.contains_key("controller"))
        {
            flow.insert(key.clone(), Value::from("media"));
        }
    }
    let mut gone: Vec<Vec<String>> = Vec::new();
    // A table that now lacks a required key is removed, at most up to the scenario itself.
    loop {
        let left = weir_form::check(&table, scenario_shape(), options);
        if left.is_empty() {
            break;
        }
        for problem in left {
            let element = element(&problem.path);
            match STAND_INS.iter().find(|(key, _)| problem.path.0 == [*key]) {
                Some((key, value)) => drop(table.insert((*key).to_owned(), Value::from(*value))),
                None if remove(&mut table, element) => gone.push(element.to_vec()),
                // No further part can be removed.
                None => return Vec::new(),
            }
        }
    }
    let Ok(scenario) = weir_form::read::<Scenario>(table) else { return Vec::new() };
    let scenario = Scenario { registry: registry.clone(), ..scenario };
    let judge = ProblemFilter { problems, gone };
    validate::problems(&scenario).into_iter().filter(|found| judge.is_sure_of(found)).collect()
}

/// The link, flow, cell and so on that a path leads into, or the key of the scenario.
fn element(path: &KeyPath) -> &[String] {
    &path.0[..path.0.len().min(2)]
}

/// Removes the value at `keys`; returns whether there was one.
fn remove(table: &mut Table, keys: &[String]) -> bool {
    match keys {
        [] => false,
        [last] => table.remove(last).is_some(),
        [first, rest @ ..] => table.get_mut(first).is_some_and(|value| remove_from(value, rest)),
    }
}

fn remove_from(value: &mut Value, keys: &[String]) -> bool {
    match (value, keys) {
        (Value::Table(table), keys) => remove(table, keys),
        (Value::Array(items), [index, rest @ ..]) => {
            let Some(index) = index.parse().ok().filter(|&index: &usize| index < items.len()) else {
                return false;
            };
            // An array without one of its items would be a different array, so that it is removed as a whole.
            if rest.is_empty() { items.drain(..).count() > 0 } else { remove_from(&mut items[index], rest) }
        }
        _ => false,
    }
}

struct ProblemFilter<'p> {
    problems: &'p [Problem],
    /// The elements that were removed because they lack a required key.
    gone: Vec<Vec<String>>,
}

impl ProblemFilter<'_> {
    /// Whether `found` is a problem whatever the parts with mistakes of form were meant to be.
    fn is_sure_of(&self, found: &Problem) -> bool {
        let path = &found.path;
        let section = path.0.first().map_or("", String::as_str);
        let key = path.0.iter().skip(2).find(|key| NAMES.contains(&key.as_str()));
        let names = section == "controllers" || key.is_some();
        let spoilt = self.spoilt(|own| element(own) == element(path));
        let known = match section {
            // The problem is about the whole, which lacks something, or has too much.
            _ if path.0.len() < 2 => !self.touches(&["links", "dumbbell", "flows", section]),
            "controllers" => !self.touches(&["variants"]),
            "measure" => !self.touches(&["duration"]),
            "coupling" => names && key.is_some_and(|key| key == "algorithm") || !self.touches(&["flows"]),
            "links" if key.is_some_and(|key| key == "cell") => !self.touches(&["cells"]),
            "flows" if path.last() == "call" => !self.touches(&["flows"]),
            "flows" if key.is_some_and(|key| TO_WAYS.contains(&key.as_str())) => self.knows_ways(path),
            _ => true,
        };
        known && (!spoilt || names && !self.problems.iter().any(|own| own.path == *path))
    }

    /// Whether the paths are the intended ones, as far as they depend on links and on the flow of `path`.
    fn knows_ways(&self, path: &KeyPath) -> bool {
        let of_links =
            |own: &KeyPath| own.0[0] == "links" && (own.0.len() < 3 || OF_WAYS.contains(&own.last()));
        let lost = self.gone.iter().any(|gone| ["links", "dumbbell"].contains(&gone[0].as_str()));
        let misspelt = |problem: &Problem| {
            problem.at_key && (element(&problem.path) == element(path) || problem.path.0[0] == "links")
        };
        !lost && !self.touches(&["dumbbell"]) && !self.spoilt(of_links) && !self.problems.iter().any(misspelt)
    }

    fn spoilt(&self, is: impl Fn(&KeyPath) -> bool) -> bool {
        self.problems.iter().any(|problem| !problem.path.0.is_empty() && is(&problem.path))
    }

    /// Whether these sections have a mistake of form, or lost a part because of one.
    fn touches(&self, sections: &[&str]) -> bool {
        let is = |keys: &[String]| keys.first().is_some_and(|key| sections.contains(&key.as_str()));
        self.spoilt(|path| is(&path.0)) || self.gone.iter().any(|gone| is(gone))
    }
}
