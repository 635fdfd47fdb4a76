//! Texts without control characters.

/// Replacement of a control character.
pub const REPLACEMENT: char = '\u{fffd}';

/// Whether the character controls a terminal or the display of bidirectional text (C0, DEL and C1; UAX #9 §2).
pub fn controls(character: char) -> bool {
    let directs = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    directs || character.is_control()
}

/// A text of one line without control characters: each is U+FFFD.
pub fn printable(text: &str) -> String {
    text.replace(controls, "\u{fffd}")
}

/// The same of a text that may have several lines and tabs.
pub fn printable_lines(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_end = character == '\r' && characters.peek() == Some(&'\n');
        let kept = is_end || matches!(character, '\n' | '\t') || !controls(character);
        printable.push(if kept { character } else { REPLACEMENT });
    }
    printable
}

/// A text of one line in bold, without control characters of its own.
pub fn bold(text: &str) -> String {
    format!("\u{1b}[1m{}\u{1b}[0m", printable(text))
}
