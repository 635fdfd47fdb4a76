//! Provenance of results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::row::RowForm;
use crate::shell::command_line;

/// Version of Weir that made the results, the extent of the runs, and the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of Weir.
    pub weir: String,
    /// Commit of the build, with `+` after it if files had been changed since; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Command, with the options on which results depend.
    pub command: String,
    /// Form in which the rows were run; absent for figures with a form of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<RowForm>,
    /// Number of seeds of each row, from 1 on, by `PAPER/ROW`; absent for figures with seeds of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seeds: BTreeMap<String, u32>,
    /// Settings applied to the rows, which then differ from the papers'.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

impl Provenance {
    /// Provenance of results that this build makes by the command of these `words`.
    pub fn of(words: &[String]) -> Self {
        Self {
            weir: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("WEIR_COMMIT").map(str::to_owned),
            command: command_line(words),
            form: None,
            seeds: BTreeMap::new(),
            changed: Vec::new(),
        }
    }

    /// Provenance in a sentence.
    pub fn in_words(&self) -> String {
        let commit = self.commit.as_ref().map_or_else(String::new, |commit| format!(", commit {commit}"));
        let form = match self.form {
            None => String::new(),
            Some(RowForm::Quick) => ", quick form".to_owned(),
            Some(RowForm::Full) => ", full form".to_owned(),
        };
        let seeds = match (self.seeds.values().min(), self.seeds.values().max()) {
            (Some(1), Some(1)) => ", 1 seed".to_owned(),
            (Some(least), Some(most)) if least == most => format!(", {most} seeds"),
            (Some(least), Some(most)) => format!(", {least} to {most} seeds"),
            _ => String::new(),
        };
        format!("Weir {}{commit}{form}{seeds}: {}", self.weir, self.command)
    }

    /// Sentence with the settings that were applied to the rows, or `None` without any.
    pub fn change_in_words(&self) -> Option<String> {
        let changed = self.changed.join(", ");
        (!changed.is_empty()).then(|| {
            format!("Changed rows, with {changed} laid over them: no verdict here is one on the paper.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_is_known() {
        let seeds = |counts: &[u32]| {
            counts.iter().enumerate().map(|(row, &count)| (format!("paper/row{row}"), count)).collect()
        };
        let known = Provenance {
            weir: "1.2.3".to_owned(),
            commit: Some("0123abc+".to_owned()),
            command: "weir reproduce --all".to_owned(),
            form: Some(RowForm::Quick),
            seeds: seeds(&[5, 10]),
            changed: vec!["flows.tcp.every=15s".to_owned()],
        };
        assert_eq!(
            known.in_words(),
            "Weir 1.2.3, commit 0123abc+, quick form, 5 to 10 seeds: weir reproduce --all"
        );
        assert!(known.change_in_words().unwrap().contains("with flows.tcp.every=15s laid over them"));
        let less = Provenance { commit: None, form: None, seeds: seeds(&[]), changed: Vec::new(), ..known };
        assert_eq!(less.in_words(), "Weir 1.2.3: weir reproduce --all");
        assert_eq!(less.change_in_words(), None);
        let json = serde_json::to_string(&less).unwrap();
        assert_eq!(json, r#"{"weir":"1.2.3","command":"weir reproduce --all"}"#);
    }
}
