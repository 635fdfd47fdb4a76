//! The report in a browser.

use std::path::{Path, absolute};

use supports_hyperlinks::{Stream, on};

use crate::failure::Failure;
use crate::terminal::printable;

/// Whether a file is written that `--open` can open.
pub(crate) fn is_written(open: bool, json: bool, out: Option<&Path>) -> Result<(), Failure> {
    if !open || !json || out.is_some() {
        return Ok(());
    }
    let problem = "with --json files are written only with --out; give a directory".to_owned();
    Err(Failure::Option { option: "--open".to_owned(), problem })
}

/// Opens the file at `path` with the platform's program for it, if `wanted`.
pub(crate) fn open(wanted: bool, path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path.filter(|_| wanted) else { return Ok(()) };
    let whole = absolute(path).unwrap_or_else(|_| path.to_owned());
    open::that_detached(whole).map_err(|source| Failure::Open { path: path.to_owned(), source })
}

/// The path as text; a link where the terminal shows them.
pub(crate) fn link(path: &Path) -> String {
    let text = printable(&path.display().to_string());
    match absolute(path) {
        Ok(whole) if on(Stream::Stdout) => linked(&text, &whole.display().to_string()),
        _ => text,
    }
}

/// `text` as a link to the file at `whole`.
fn linked(text: &str, whole: &str) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let escaped: String = whole
        .bytes()
        .map(|byte| if harmless(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    format!("\u{1b}]8;;file://{escaped}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_the_whole_path_with_what_is_no_part_of_an_address_escaped() {
        let link = linked("out/a b.html", "/home/µ/out/a b.html");
        assert_eq!(
            link,
            "\u{1b}]8;;file:///home/%C2%B5/out/a%20b.html\u{1b}\\out/a b.html\u{1b}]8;;\u{1b}\\"
        );
    }

    #[test]
    fn unwritten_pages_are_not_opened() {
        assert!(is_written(true, true, None).is_err());
        for (open, json, out) in
            [(false, true, None), (true, false, None), (true, true, Some(Path::new("a")))]
        {
            assert!(is_written(open, json, out).is_ok());
        }
    }
}
