//! The traces that a run uses.

use std::path::absolute;

use serde::{Deserialize, Serialize};

use crate::scenario::{Dumbbell, LinkModel, Scenario};
use weir_form::KeyPath;
use weir_import::traces::{DATA_VARIABLE, TraceStore};

/// The trace that a link follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceUse {
    /// The link.
    pub link: String,
    /// The trace that the scenario names.
    pub wanted: String,
    /// The trace in use: the wanted one, or the fallback where its file is missing.
    pub used: String,
}

/// A sentence for each of `traces` in place of which a fallback was used.
pub fn fallback_notes<'a>(traces: impl IntoIterator<Item = &'a TraceUse>) -> Vec<String> {
    let mut notes = Vec::new();
    for TraceUse { wanted, used, .. } in traces.into_iter().filter(|t| t.used != t.wanted) {
        let note = format!(
            "The trace `{wanted}` was not found; `{used}` stood in for it. Give the directory of its \
             `traces/` with --data or {DATA_VARIABLE}."
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

impl Scenario {
    /// The same scenario with absolute paths of traces and of their fallbacks, so that they are valid in any directory.
    pub fn with_absolute_traces(&self, store: &TraceStore) -> Self {
        let mut other = self.clone();
        for (name, link) in other.links.iter_mut() {
            self.make_traces_absolute(&mut link.model, &KeyPath::of(&["links", name]), store);
        }
        if let Some(dumbbell) = &mut other.dumbbell {
            let Dumbbell { bottleneck, access, exit, reverse } = dumbbell;
            let links = [("bottleneck", Some(bottleneck)), ("access", Some(access))];
            let more = [("exit", exit.as_mut()), ("reverse", reverse.as_mut())];
            for (name, link) in links.into_iter().chain(more) {
                if let Some(link) = link {
                    self.make_traces_absolute(link, &KeyPath::of(&["dumbbell", name]), store);
                }
            }
        }
        other
    }

    /// Makes the paths of the trace and of the fallback of a link absolute, where their files are found.
    fn make_traces_absolute(&self, link: &mut LinkModel, path: &KeyPath, store: &TraceStore) {
        for (key, name) in [("trace", &mut link.trace), ("fallback", &mut link.fallback)] {
            let Some(name) = name else { continue };
            let file = store.file_beside(name, self.origin.directory(&path.with(key)));
            if let Some(file) = file.and_then(|file| absolute(file).ok()?.to_str().map(str::to_owned)) {
                *name = file;
            }
        }
    }
}

/// `title` of runs over `traces`, with a remark where fallbacks were used.
pub fn titled<'a>(title: &str, traces: impl IntoIterator<Item = &'a TraceUse>) -> String {
    match names_of_fallbacks(traces) {
        None => title.to_owned(),
        Some(names) => format!("{title} (on the stand-in {names})"),
    }
}

/// The names of the fallbacks used for `traces`, or `None` if there are none.
pub fn names_of_fallbacks<'a>(traces: impl IntoIterator<Item = &'a TraceUse>) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for TraceUse { used, .. } in traces.into_iter().filter(|t| t.used != t.wanted) {
        let name = format!("`{used}`");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}
