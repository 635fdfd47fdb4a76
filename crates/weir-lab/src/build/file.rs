//! Scenario files: text, and not more of it than somebody writes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

/// What stands for standard input.
pub(super) const STANDARD_INPUT: &str = "-";
/// Most bytes of a scenario; those that ship have a few thousand.
const MOST_BYTES: u64 = 16_000_000;

/// Why there is no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It cannot be read, in words.
    Missing(String),
    /// It is none, and what would be one.
    NoText {
        /// What it is.
        message: String,
        /// What would be right.
        advice: String,
    },
}

/// The text of the file at `path`.
pub(super) fn text(path: &Path) -> Result<String, Refused> {
    if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        return Err(no_text("this is a directory", "name a file in it"));
    }
    File::open(path).map_err(|error| Refused::Missing(error.to_string())).and_then(all_of)
}

/// The text on standard input, which is read once, however often a scenario is made of it.
pub(super) fn standard_input() -> Result<String, Refused> {
    static TEXT: OnceLock<Result<String, Refused>> = OnceLock::new();
    TEXT.get_or_init(|| all_of(io::stdin().lock())).clone()
}

fn all_of(from: impl Read) -> Result<String, Refused> {
    let mut bytes = Vec::new();
    let mut limited = from.take(MOST_BYTES + 1);
    limited.read_to_end(&mut bytes).map_err(|error| Refused::Missing(error.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("this is longer than {} MB", MOST_BYTES / 1_000_000);
        return Err(no_text(&message, "a scenario is a TOML file of some lines: docs/scenarios.md"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|&byte| byte == b'\n').count();
        no_text(&format!("line {line} is no UTF-8 text"), "write the file as UTF-8: docs/scenarios.md")
    })
}

fn no_text(message: &str, advice: &str) -> Refused {
    Refused::NoText { message: message.to_owned(), advice: advice.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_of_some_length_is_read() {
        assert_eq!(all_of("title = \"µ\"".as_bytes()), Ok("title = \"µ\"".to_owned()));
        let refused = |bytes: &[u8]| match all_of(bytes) {
            Err(Refused::NoText { message, .. }) => message,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(b"a = 1\nb = \"\xff\""), "line 2 is no UTF-8 text");
        assert_eq!(all_of(io::repeat(b' ').take(MOST_BYTES)).map(|text| text.len()), Ok(16_000_000));
        assert_eq!(refused(&vec![b' '; MOST_BYTES as usize + 1]), "this is longer than 16 MB");
        assert_eq!(
            all_of(io::repeat(0)).unwrap_err(),
            no_text(
                "this is longer than 16 MB",
                "a scenario is a TOML file of some lines: docs/scenarios.md"
            )
        );
    }
}
