//! Output of commands, made safe for terminals. Text of files, of names of files and of traces may hold control
//! characters, and a terminal must not obey those of a foreign file.

use std::io::{self, IsTerminal, StderrLock, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};
use weir_report::text::REPLACEMENT;

pub(crate) use weir_report::text::{bold, printable, printable_lines};

/// Begins an escape sequence.
const ESCAPE: char = '\u{1b}';
/// Codes of text attributes (ECMA-48 §8.3.117) that commands use: plain, bold, faint, italic, underlined, and
/// colours of text.
const DRAWN: [&str; 10] = ["", "0", "1", "2", "3", "4", "31", "32", "33", "36"];
/// Begin and end of a link's address.
const LINK: (&str, &str) = ("\u{1b}]8;;", "\u{1b}\\");

/// Standard output.
pub(crate) fn stdout() -> Screen<AutoStream<StdoutLock<'static>>> {
    let stream = anstream::stdout();
    let guarded = io::stdout().is_terminal() || stream.current_choice() != ColorChoice::Never;
    Screen { stream: stream.lock(), guarded, line: Vec::new() }
}

/// Standard error.
pub(crate) fn stderr() -> Screen<AutoStream<StderrLock<'static>>> {
    let stream = anstream::stderr();
    let guarded = io::stderr().is_terminal() || stream.current_choice() != ColorChoice::Never;
    Screen { stream: stream.lock(), guarded, line: Vec::new() }
}

/// A stream that shows control characters as U+FFFD if a terminal would obey them, except those by which commands
/// draw. The stream writes whole lines.
pub(crate) struct Screen<W: Write> {
    stream: W,
    guarded: bool,
    /// The begin of a line.
    line: Vec<u8>,
}

impl<W: Write> Screen<W> {
    /// Writes a text unchanged that was made printable before it was drawn.
    pub(crate) fn write_drawn(&mut self, text: &str) -> io::Result<()> {
        self.flush()?;
        self.stream.write_all(text.as_bytes())
    }

    /// Writes `count` bytes of the pending ones.
    fn emit(&mut self, count: usize) -> io::Result<()> {
        let bytes: Vec<u8> = self.line.drain(..count).collect();
        self.stream.write_all(shown(&String::from_utf8_lossy(&bytes)).as_bytes())
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.guarded {
            return self.stream.write(bytes);
        }
        let before = self.line.len();
        self.line.extend_from_slice(bytes);
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            self.emit(before + end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.emit(self.line.len())?;
        self.stream.flush()
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        // If the stream is closed, no action remains.
        let _: io::Result<()> = self.flush();
    }
}

/// The text with its control characters as U+FFFD, but for those by which commands draw.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPE) {
        shown += &printable_lines(&rest[..at]);
        rest = &rest[at..];
        let length = drawing(rest);
        match length {
            Some(length) => shown += &rest[..length],
            None => shown.push(REPLACEMENT),
        }
        rest = &rest[length.unwrap_or(ESCAPE.len_utf8())..];
    }
    shown + &printable_lines(rest)
}

/// The length of the sequence at the begin of `text`, if it is one by which commands draw.
fn drawing(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix("\u{1b}[") {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != ';')
            .filter(|&end| rest[end..].starts_with('m'))?;
        return rest[..end].split(';').all(|code| DRAWN.contains(&code)).then_some(end + "\u{1b}[m".len());
    }
    let rest = text.strip_prefix(LINK.0)?;
    let end = rest.find(LINK.1)?;
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-._~/%".contains(c);
    let is_file = rest[..end].strip_prefix("file://").is_some_and(|path| path.chars().all(harmless));
    (end == 0 || is_file).then_some(LINK.0.len() + end + LINK.1.len())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use weir_report::text::controls;

    use super::*;

    /// The text that reaches a terminal from these pieces.
    fn written(pieces: &[&[u8]]) -> String {
        let mut stream = Vec::new();
        let mut screen = Screen { stream: &mut stream, guarded: true, line: Vec::new() };
        for piece in pieces {
            screen.write_all(piece).unwrap();
        }
        drop(screen);
        String::from_utf8(stream).unwrap()
    }

    #[test]
    fn control_characters_of_c0_and_c1_and_of_bidirectional_text_are_replaced() {
        for control in
            (0..0x20).chain(0x7f..0xa0).chain([0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069])
        {
            let text = format!("a{}b", char::from_u32(control).unwrap());
            assert_eq!(printable(&text), "a\u{fffd}b", "{control:x}");
            let kept = matches!(control, 9 | 10);
            assert_eq!(written(&[text.as_bytes()]), if kept { &text } else { "a\u{fffd}b" }, "{control:x}");
        }
        assert_eq!(printable("Zürich 📈 עברית"), "Zürich 📈 עברית");
        assert_eq!(printable_lines("a\r\n\tb\rc\n"), "a\r\n\tb\u{fffd}c\n");
    }

    #[test]
    fn styles_and_links_of_commands_alone_are_printed() {
        let link = "\u{1b}]8;;file:///a%20b.html\u{1b}\\a b.html\u{1b}]8;;\u{1b}\\";
        for own in ["\u{1b}[1mname\u{1b}[0m", "\u{1b}[32m✓\u{1b}[0m", link] {
            assert_eq!(written(&[own.as_bytes()]), own);
        }
        for foreign in [
            "\u{1b}]52;c;ZWNobw==\u{7}",
            "\u{1b}[2J",
            "\u{1b}[8m",
            "\u{1b}[1",
            "\u{1b}",
            "\u{1b}]8;;https://example.org\u{1b}\\",
            "\u{1b}]0;title\u{1b}\\",
            "\u{1b}Pq\u{1b}\\",
            "\u{9b}31m",
        ] {
            let expected: String =
                foreign.chars().map(|c| if controls(c) { REPLACEMENT } else { c }).collect();
            assert_eq!(written(&[foreign.as_bytes()]), expected, "{foreign:?}");
        }
        assert_eq!(bold("a\u{1b}[31mb\n"), "\u{1b}[1ma\u{fffd}[31mb\u{fffd}\u{1b}[0m");
    }

    #[test]
    fn a_sequence_or_a_character_may_come_in_pieces() {
        assert_eq!(written(&[b"\x1b", b"[1", b"mna\xc3", b"\xbc\x1b[0", b"m\n"]), "\u{1b}[1mnaü\u{1b}[0m\n");
        assert_eq!(written(&[b"\x1b]5", b"2;c;\x07\n", b"b"]), "\u{fffd}]52;c;\u{fffd}\nb");
    }

    /// Every command prints through this module.
    #[test]
    fn other_modules_do_not_print() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut read = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("terminal.rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    read += 1;
                    for other in ["anstream::stdout", "anstream::stderr", "print!(", "println!("] {
                        assert!(!text.contains(other), "{}: {other}", path.display());
                    }
                    let direct = |line: &&str| line.contains("io::stdout()") || line.contains("io::stderr()");
                    let asks = |line: &&str| line.contains("is_terminal()") || line.contains("::choice(");
                    // Exceptions: output to a device by its file name, and manual pages.
                    let allowed = path.ends_with("output/file.rs") || path.ends_with("manual.rs");
                    let found = text.lines().filter(direct).find(|line| !asks(line) && !allowed);
                    assert_eq!(found, None, "{}", path.display());
                }
            }
        }
        assert!(read > 30, "{read}");
    }
}
