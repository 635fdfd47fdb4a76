//! A stand-in for the tidy table of `weir-measure`.

use serde_json::Value;
use weir_measure::results::RunMetrics;

/// A run to be added to a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TidyRun<'a> {
    pub(crate) run: u32,
    pub(crate) scenario: &'a str,
    pub(crate) variant: &'a str,
    pub(crate) controller: &'a str,
    pub(crate) seed: u64,
    pub(crate) metrics: &'a RunMetrics,
}

/// A column of texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextColumn {
    pub(crate) categories: Vec<String>,
    pub(crate) codes: Vec<i32>,
}

impl TextColumn {
    fn push(&mut self, text: Option<&str>) {
        let code = text.map_or(-1, |text| {
            let known = self.categories.iter().position(|own| own == text);
            known.unwrap_or_else(|| {
                self.categories.push(text.to_owned());
                self.categories.len() - 1
            }) as i32
        });
        self.codes.push(code);
    }
}

const TEXTS: [&str; 9] =
    ["scenario", "variant", "controller", "flow", "link", "window", "item", "metric", "unit"];

/// A long table.
#[derive(Clone, Debug, Default)]
pub(crate) struct TidyTable {
    runs: Vec<u32>,
    seeds: Vec<u64>,
    values: Vec<f64>,
    texts: [TextColumn; 9],
}

impl TidyTable {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn push(&mut self, run: TidyRun<'_>) {
        let metrics = serde_json::to_value(run.metrics).unwrap_or_default();
        let place = [None; 2];
        self.walk(run, place, "", &metrics);
    }

    fn walk(&mut self, run: TidyRun<'_>, place: [Option<&str>; 2], path: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    self.walk(run, place, &path, value);
                }
            }
            Value::Array(items) => {
                for item in items {
                    let name = item.get("name").and_then(Value::as_str);
                    let place = match path {
                        "flows" => [name, None],
                        "links" => [None, name],
                        _ => place,
                    };
                    self.walk(run, place, &format!("{path}[]"), item);
                }
            }
            Value::Number(_) | Value::Null => {
                self.runs.push(run.run);
                self.seeds.push(run.seed);
                self.values.push(value.as_f64().unwrap_or(f64::NAN));
                let texts = [
                    Some(run.scenario),
                    Some(run.variant),
                    Some(run.controller),
                    place[0],
                    place[1],
                    None,
                    None,
                    Some(path),
                    None,
                ];
                self.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
            }
            _ => {}
        }
    }

    pub(crate) fn runs(&self) -> &[u32] {
        &self.runs
    }

    pub(crate) fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn text_columns(&self) -> impl Iterator<Item = (&'static str, &TextColumn)> {
        TEXTS.into_iter().zip(&self.texts)
    }
}
