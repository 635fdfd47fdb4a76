//! The language of the sources: documentation sentences with a subject, and definitions that a grep in the field's words finds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{crates, name, root};

/// First words of sentences without a subject.
const PRONOUNS: [&str; 14] = [
    "What", "Whatever", "Who", "Whoever", "Whose", "Which", "Those", "Nothing", "Nobody", "None", "One",
    "It", "Such", "Whom",
];
/// The share of such sentences that a crate may have.
const MOST: f64 = 0.02;
/// The most hits of a command that answers a question.
const MOST_HITS: usize = 5;

/// Adds the Rust files of `folder` and its subfolders to `files`.
fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// The sentences of the documentation comments in `text`, without code blocks, headings and tables.
fn sentences(text: &str) -> Vec<String> {
    let (mut found, mut paragraph, mut is_code) = (Vec::new(), String::new(), false);
    for line in text.lines().map(str::trim_start).chain([""]) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let content = comment.filter(|content| !content.starts_with('/')).map(str::trim);
        is_code = match content {
            Some(content) if content.starts_with("```") => !is_code,
            Some(_) => is_code,
            None => false,
        };
        let is_prose = |content: &&str| {
            !content.is_empty() && !content.starts_with(['#', '|']) && !content.starts_with("```") && !is_code
        };
        let Some(content) = content.filter(is_prose) else {
            found.extend(split(&paragraph));
            paragraph.clear();
            continue;
        };
        if let Some(item) = content.strip_prefix("* ").or_else(|| content.strip_prefix("- ")) {
            found.extend(split(&paragraph));
            item.clone_into(&mut paragraph);
        } else {
            paragraph.push(' ');
            paragraph.push_str(content);
        }
    }
    found
}

/// The sentences of `paragraph`.
fn split(paragraph: &str) -> Vec<String> {
    let ends = |&(at, c): &(usize, char)| {
        matches!(c, '.' | '?' | '!') && paragraph[at + 1..].starts_with(char::is_whitespace)
    };
    let mut sentences = Vec::new();
    let mut from = 0;
    for (at, _) in paragraph.char_indices().filter(ends) {
        sentences.push(paragraph[from..=at].trim().to_owned());
        from = at + 1;
    }
    sentences.push(paragraph[from..].trim().to_owned());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Whether the first word of `sentence` is a pronoun without a subject.
fn has_no_subject(sentence: &str) -> bool {
    let first = sentence.trim_start_matches(|c: char| !c.is_alphabetic());
    let word: String = first.chars().take_while(|c| c.is_alphabetic()).collect();
    PRONOUNS.contains(&word.as_str())
}

#[test]
fn sentences_are_found_and_judged_by_their_first_word() {
    let text = "/// The rate. What it was\n/// before.\n///\n/// ```\n/// It\n/// ```\n/// * None of these\nfn a() {}\n// It is no doc.\n";
    let found = sentences(text);
    assert_eq!(found, ["The rate.", "What it was before.", "None of these"]);
    let without: Vec<bool> = found.iter().map(|sentence| has_no_subject(sentence)).collect();
    assert_eq!(without, [false, true, true]);
}

#[test]
fn documentation_sentences_have_a_subject() {
    for folder in crates() {
        let mut files = Vec::new();
        rust_files(&folder, &mut files);
        let all: Vec<String> =
            files.iter().flat_map(|file| sentences(&fs::read_to_string(file).expect("UTF-8"))).collect();
        let without: Vec<&String> = all.iter().filter(|sentence| has_no_subject(sentence)).collect();
        let share = without.len() as f64 / all.len().max(1) as f64;
        assert!(
            share <= MOST,
            "{}: {:.1} %, such as {:?}",
            name(&folder),
            100.0 * share,
            &without[..5.min(without.len())]
        );
    }
}

/// Whether these lines begin within the documentation of a function or of a type, not of a field or a variant.
fn documents_definition(lines: &[&str]) -> bool {
    let item = lines.iter().find(|line| !line.starts_with("///") && !line.starts_with("#["));
    let words =
        item.map_or("", |line| line.trim_start_matches("pub(super) ").trim_start_matches("pub(crate) "));
    let words = words.trim_start_matches("pub ").trim_start_matches("const ");
    lines[0].starts_with("///")
        && ["fn ", "struct ", "enum ", "trait "].iter().any(|kind| words.starts_with(kind))
}

#[test]
fn each_question_of_contributing_is_answered_by_one_grep_that_finds_the_definition() {
    let contributing = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("it is there");
    let quoted = |line: &str| {
        Some(line.split_once("`grep -rni \"")?.1.split_once("\" crates/*/src`")?.0.to_lowercase())
    };
    let questions: Vec<String> = contributing.lines().filter_map(quoted).collect();
    assert_eq!(questions.len(), 10, "{questions:?}");
    let mut hits: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    for folder in crates() {
        let mut files = Vec::new();
        rust_files(&folder.join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("UTF-8").to_lowercase();
            for question in &questions {
                let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
                for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.contains(question.as_str())) {
                    let (number, defined) = hits.entry(question).or_default();
                    *number += 1;
                    *defined |= documents_definition(&lines[at..]);
                }
            }
        }
    }
    for question in &questions {
        let (number, defined) = hits.get(question.as_str()).copied().unwrap_or_default();
        assert!((1..=MOST_HITS).contains(&number), "`{question}` has {number} hits");
        assert!(defined, "`{question}` is found on no function or type that does it");
    }
}
